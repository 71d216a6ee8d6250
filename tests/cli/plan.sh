#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Predictions: the forms, what is recommended and why, wrong use.  With constants of this machine: plan_measured.sh.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# The table: a line for each setting, one of them marked.
expect 0 ANY ANY -- "$NIGH" plan --default-costs -n 10M
grep -q '^tables [45]/[12], [0-9]* tables: the fastest and misses nothing$' .err || fail "$(cat .err)"
contains .out '  method  setting             recall   memory    build     queries/s   compared'
[[ $(grep -c '^\*' .out) == 1 ]] || fail 'not one recommended'
[[ $(wc -l < .out) -ge 13 ]] || fail 'fewer than 12 settings'
grep -q '^  psm .* misses some$' .out || fail 'psm fits a recall of 1'

# Tab-separated and JSON: the same settings.
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 10000000 --output tsv
cp .out plan.tsv
awk -F '\t' 'NF != 13 { exit 1 }' plan.tsv || fail 'columns'
[[ $(awk -F '\t' '$13 == 1 { print $1, $7, $12 }' plan.tsv) == 'tables 1.0000 1' ]] || fail 'recommended'
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 10M --output jsonl
[[ $(wc -l < .out) == $(wc -l < plan.tsv) ]] || fail 'lines'
[[ $(grep -c '"recommended":true' .out) == 1 ]] || fail 'not one recommended'
contains .out '{"method":"scan","blocks":0,"leading":0,"prefix":0,"probes":0,"tables":0,"recall":1.0000,"bytes":80000000,'
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 10M --output jsonl --stats s.json
contains s.json '"settings":'

# Memory, recall and few queries change the choice.
expect 0 ANY 'scan: the fastest that fits into 100M and misses nothing' -- "$NIGH" plan --default-costs -n 10M --memory 100M
expect 0 ANY ANY -- "$NIGH" plan --default-costs -n 10M --memory 200M --recall 0.95
grep -q '^psm [0-9]*:[0-9]* x1: the fastest that fits into 200M and finds enough$' .err || fail "$(cat .err)"
grep -q '^  tables .* too large$' .out || fail 'tables fit into 200M'
expect 0 ANY 'scan: the fastest and misses nothing, building included, for 1 query' -- "$NIGH" plan --default-costs -n 1M --queries 1
expect 1 ANY 'nothing fits into 10K' -- "$NIGH" plan --default-costs -n 10M --memory 10K
expect 0 ANY ANY -- "$NIGH" plan --default-costs -n 100K --bits 256 --radius 36 --find first
if grep -q tables .out; then fail 'tables of a radius beyond them'; fi

# Who stops at a match compares less, the more so the more queries have one.
compared() { "$NIGH" plan -q --default-costs --output tsv -n 10M --recall 0.95 --find any --matched "$1" | grep '^psm' | tail -1 | cut -f 11; }
[[ $(compared 0.9 | cut -d . -f 1) -lt $(($(compared 0.01 | cut -d . -f 1) * 2 / 3)) ]] || fail "compared: $(compared 0.9), $(compared 0.01)"
expect 2 '' "nigh plan: --matched goes with --find any, which stops at a match
try 'nigh plan --help'" -- "$NIGH" plan -n 10M --matched 0.5
expect 2 '' "nigh plan: '--first' is now '--find first'
try 'nigh plan --help'" -- "$NIGH" plan -n 10M --first

# A collection tells how many and how wide.
printf 'a\t0000\nb\t0100\nc\t0300\nd\tffff\ne\t0000\n' > docs.hex
"$NIGH" index -q c.nigh docs.hex || fail index
expect 0 ANY '' -- "$NIGH" plan -q --default-costs --output tsv c.nigh
[[ $(head -1 .out | cut -f 8,11) == $'32\t4.0' ]] || fail "not 4 rows of one word: $(head -1 .out)"

# Measured: finders beside their predictions.
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 3000 --measure --output tsv --memory 4M
[[ $(awk -F '\t' 'NF == 17' .out | wc -l) -ge 10 ]] || fail 'measured too little'
awk -F '\t' 'NF == 17 && ($14 < 0.5 || $14 > 1 || $16 <= 0 || $17 <= 0) { exit 1 }' .out || fail 'strange measurements'
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 1000 --measure
contains .out 'predicted / measured '

# Batches against a file: predicted; measured, with a file that is gone afterwards.
expect 0 ANY 'tables 4/1, 4 tables: the fastest and misses nothing' -- "$NIGH" plan --default-costs -n 60M --batch 1M
grep -q '^  psm .* misses some$' .out || fail 'no psm for a batch'
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 60M --batch 1M --output tsv
cp .out fast.tsv
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 60M --batch 1M --output tsv --disk 1M
[[ $(awk -F '\t' '$1 == "tables" && $2 == 4 { print $10 }' .out) == 0.0006866 ]] || fail 'not 720 MB at 1 MB/s'
if cmp -s .out fast.tsv; then fail 'the disk does not matter'; fi
mkdir scratch
expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 6000 --batch 2000 --measure --temporary scratch --output tsv
[[ $(awk -F '\t' 'NF == 17' .out | wc -l) -ge 8 ]] || fail 'measured too few batches'
awk -F '\t' 'NF == 17 && ($14 < 0.5 || $14 > 1 || $15 != 0 || $17 <= 0) { exit 1 }' .out || fail 'strange batches'
[[ -z $(ls -A scratch) ]] || fail 'a file is left'
expect 2 '' "nigh: 'nowhere': cannot make a folder in: No such file or directory" \
    -- "$NIGH" plan -q --default-costs -n 6000 --batch 2000 --measure --temporary nowhere
expect 2 '' "nigh plan: --disk and --temporary go with --batch
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --disk 1G
expect 2 '' "nigh plan: --batch says how many queries there are; leave --queries out
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --batch 2 --queries 7
expect 2 '' 'nigh: chunks hold rows of 64 bits, not 128' -- "$NIGH" plan -n 5 --batch 2 --bits 128

# What is found takes time: so much for each match.
for matches in 0 1 2; do
    expect 0 ANY '' -- "$NIGH" plan -q --default-costs -n 1M --matches $matches --output tsv
    awk -F '\t' '$1 == "tables" && $2 == 4 { print $10 * 1e12 }' .out
done > times.txt
awk '{ t[NR] = $1 } END { exit !(t[2] - t[1] > 50000 && (t[3] - t[2]) / (t[2] - t[1]) > 0.99 && \
    (t[3] - t[2]) / (t[2] - t[1]) < 1.01) }' times.txt || fail "$(cat times.txt)"
expect 2 '' "nigh plan: --matches takes a number such as 0.1 or 3, not '-1'
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --matches=-1
expect 2 '' 'nigh: 6 matches for a query, of 5 rows' -- "$NIGH" plan -n 5 --matches 6

# Wrong use.
expect 2 '' "nigh plan: give -n N or a COLLECTION
try 'nigh plan --help'" -- "$NIGH" plan
expect 2 '' "nigh plan: give -n N or a COLLECTION
try 'nigh plan --help'" -- "$NIGH" plan -n 5 c.nigh
expect 2 '' "nigh plan: -n takes a whole number such as 60000 or 10M, not 'many'
try 'nigh plan --help'" -- "$NIGH" plan -n many
expect 2 '' "nigh plan: -n takes a whole number such as 60000 or 10M, not '0'
try 'nigh plan --help'" -- "$NIGH" plan -n 0
expect 2 '' "nigh plan: --memory takes a number of bytes such as 500M or 2G, not '99999999T'
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --memory 99999999T
expect 2 '' "nigh plan: --recall takes a number above 0 and up to 1, not '0'
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --recall 0
expect 2 '' 'nigh: a radius of 65 in 64 bits' -- "$NIGH" plan -n 5 --radius 65
expect 2 '' 'nigh: a finder holds at most 4294967294 rows' -- "$NIGH" plan -n 5G
expect 2 '' "nigh plan: --bits must be at least 1
try 'nigh plan --help'" -- "$NIGH" plan -n 5 --bits 0
expect 2 '' "nigh: 'no.nigh': cannot open: No such file or directory" -- "$NIGH" plan no.nigh

finish
