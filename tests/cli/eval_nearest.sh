#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh eval nearest: what it says of searches, the truth it keeps, and wrong use.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 20000 --bits 256 -o rows.u8bin || fail generate
"$NIGH" generate -q -n 20000 --bits 256 --queries 50 -o queries.u8bin || fail generate
"$NIGH" index -q c.nigh rows.u8bin --lists slices --slice-width 12 || fail index

# lines TEXT: column 1 of what came out, joined by ';'.
first_column() { cut -f1 .out | tr '\n' ';'; }

# The scan is the truth, which is kept beside the collection.
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --method exact --output tsv
[[ $(cut -f2,3,4,5 .out) == $'1.000000\t1.000000\t1.000000\t1.0000' ]] || fail 'the scan is not the truth'
[[ -f c.nigh.truth-10-of-200-0 ]] || fail 'no truth is kept'

# A line for each breadth; a wider one finds more.
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --method slices --budget all --breadth 0,2-3 --output tsv --plot p.svg
[[ $(first_column) == 'slices, breadth 0;slices, breadth 2;slices, breadth 3;' ]] || fail 'not these breadths'
awk -F'\t' '{ if ($2 + 0 < last + 0) exit 1; last = $2 }' .out || fail 'a wider breadth finds less'
grep -q '^<svg' p.svg || fail 'the plot is no drawing'

# Breadths with each number to admit up to them.
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --method slices-plain --breadth 0-1 --admit 0,1 --output tsv --no-cache
[[ $(first_column) == 'slices-plain, breadth 0, admit 0;slices-plain, breadth 1, admit 0;slices-plain, breadth 1, admit 1;' ]] ||
    fail 'not these settings'

# Queries of a file, exact in the end; and the last ring has seen everything.
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --queries queries.u8bin --ask 20 -k 5 --certain --output jsonl --rings 12
grep -q '"cdr":1.000000.*"exact":1.0000' .out || fail 'certain is not exact'
grep -q '"ring":12,.*"seen_percent":100.0000,"determined":1.0000' .out || fail 'the last ring has not seen all'
python3 - << 'END' || fail 'what is compared'
import json
rings = [row for row in map(json.loads, open(".out")) if "ring" in row]
assert len(rings) == 13
assert all(5 <= row["by_distance"] <= row["by_pessimistic"] for row in rings[1:]), rings
assert rings[12]["by_distance"] < 10, rings
END

# A truth of other documents is not used, nor a damaged one.
cp c.nigh.truth-10-of-200-0 before
"$NIGH" index -q c.nigh queries.u8bin --lists auto || fail index
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --method exact --output tsv
cmp -s before c.nigh.truth-10-of-200-0 && fail 'an old truth was kept'
printf 'x' | dd of=c.nigh.truth-10-of-200-0 bs=1 seek=100 conv=notrunc status=none
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --method exact --output tsv
[[ $(cut -f2 .out) == 1.000000 ]] || fail 'a damaged truth was used'

# Nor what is no file; and a name that is no text, or markup, is drawn as text.
rm c.nigh.truth-10-of-200-0
mkfifo c.nigh.truth-10-of-200-0
expect 0 ANY ANY -- timeout 60 "$NIGH" eval nearest c.nigh --method exact --output tsv
odd=$'a\xff<b>&\xe2\x82\x01.nigh'
cp -r c.nigh "$odd"
expect 0 ANY '' -- "$NIGH" eval nearest -q "$odd" --no-cache --ask 5 --plot odd.svg
checks=$((checks + 1))
python3 -c '
import sys, xml.etree.ElementTree as tree
title = tree.parse("odd.svg").getroot().find("{http://www.w3.org/2000/svg}text").text
assert title.startswith("a\ufffd<b>&\ufffd"), title' || fail 'the plot is no XML'

expect 2 '' "nigh eval nearest: give one COLLECTION, not 0
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest
expect 2 '' "nigh eval nearest: give one COLLECTION, not 2
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest c.nigh d.nigh
for list in 3-1 29 1,,2 x ''; do
    expect 2 '' "nigh eval nearest: --breadth takes numbers up to 28 such as 0,1,3 or 0-4, not '$list'
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest c.nigh --breadth "$list"
done
expect 2 '' "nigh eval nearest: no --breadth is as large as --admit
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest c.nigh --breadth 0,1 --admit 2
for option in --certain "--budget all" "--probe ball" --no-cache; do
    expect 2 '' ANY -- "$NIGH" eval psm $option rows.u8bin
    contains .err "${option%% *} goes with 'nearest'"
done
expect 2 '' ANY -- "$NIGH" eval nearest c.nigh --judgements x
contains .err "--judgements goes with 'ranked'"
expect 2 '' ANY -- "$NIGH" eval nearest missing.nigh
expect 2 ANY ANY -- "$NIGH" eval nearest c.nigh --rings 13
expect 2 '' ANY -- "$NIGH" eval psm --breadth 1 rows.u8bin
finish
