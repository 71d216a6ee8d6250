#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Generated signatures: a pure function of the options.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

expect 0 '' 'wrote 100 signatures of 1,024 bits to a.hex; # s (#/s)' -- "$NIGH" generate -n 100 -o a.hex
"$NIGH" generate -q --count=100 --bits 1024 --seed 1 -o - > b.hex
same a.hex b.hex
[[ $(wc -l < a.hex) == 100 && $(head -1 a.hex | wc -c) == 257 ]] || fail 'rows and width'
"$NIGH" generate -q -n 2K --bits 64 -o thousands.hex
"$NIGH" generate -q -n 2000 --bits 64 -o digits.hex
same thousands.hex digits.hex
"$NIGH" generate -q -n 100 --seed 2 -o c.hex
cmp -s a.hex c.hex && fail 'another seed, the same signatures'

# Queries are near the collection but not of it.
"$NIGH" generate -q -n 5000 --bits 256 -o docs.hex
"$NIGH" generate -q -n 5000 --bits 256 --queries 50 -o queries.hex
expect 0 '' 'wrote 1 signature of 256 bits to one.hex; # s (#/s)' -- "$NIGH" generate -n 5000 --bits 256 --queries 1 -o one.hex
head -1 queries.hex > first.hex
same one.hex first.hex
# (A near-copy may, by chance, have lost its difference.)
[[ $(comm -12 <(sort -u docs.hex) <(sort -u queries.hex) | wc -l) -lt 10 ]] || fail 'the queries are documents'
[[ $(sort docs.hex | uniq -d | wc -l) -gt 20 ]] || fail 'no exact copies'
"$NIGH" index -q c.nigh docs.hex
"$NIGH" search -q -k 1 --output tsv c.nigh queries.hex | awk '$3 < 100 { near++ } END { exit near < 40 }' || fail 'queries far from all'

expect 2 '' ANY -- "$NIGH" generate -q -o no/such/file.npy
expect 2 '' "nigh: 'x': the name does not end in that of a signature format, such as .npy" -- "$NIGH" generate -o x
[[ -e x || -e x.nigh.tmp ]] && fail 'a file was left'

# A file that was there is replaced whole, or not at all.
expect 0 '' '' -- "$NIGH" generate -q -n 3 -o a.hex
[[ $(wc -l < a.hex) == 3 ]] || fail 'not replaced'

finish
