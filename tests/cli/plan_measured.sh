#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tier: full
# Predictions beside measurements, of more rows than tests/cli/plan.sh has the time for, and a disk that cannot be
# measured.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 20000 --measure --output tsv --memory 20M
[[ $(awk -F '\t' 'NF == 17' .out | wc -l) -ge 10 ]] || fail 'measured too little'
awk -F '\t' 'NF == 17 && ($14 < 0.5 || $14 > 1 || $16 <= 0 || $17 <= 0) { exit 1 }' .out || fail 'strange measurements'
expect 0 ANY '' -- "$NIGH" plan -q -n 20000
[[ $(grep -c '^\*' .out) == 1 ]] || fail 'not one recommended'

mkdir scratch
expect 0 ANY ANY -- "$NIGH" plan -n 30000 --batch 10000 --measure --temporary scratch --output tsv
grep -q '^the disk reads [0-9][0-9]* MB/s$' .err || fail "$(cat .err)"
[[ $(awk -F '\t' 'NF == 17' .out | wc -l) -ge 8 ]] || fail 'measured too few batches'
awk -F '\t' 'NF == 17 && ($14 < 0.5 || $14 > 1 || $15 != 0 || $17 <= 0) { exit 1 }' .out || fail 'strange batches'
[[ -z $(ls -A scratch) ]] || fail 'a file is left'
expect 0 ANY ANY -- "$NIGH" plan -n 30000 --batch 10000 --temporary nowhere
contains .err 'the disk cannot be measured: 500 MB/s'

finish
