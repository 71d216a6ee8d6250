#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What info --plot draws is what the signatures say; a sample is that of its seed; nothing is drawn of what is no collection.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# By hand: distances 0, 8, 8, 16, 16, 8, and the nearest of each 0, 0, 8, 8.
printf 'a\t0000\nb\t0000\nc\t00ff\nd\tffff\n' > few.hex
"$NIGH" index -q few.nigh few.hex
"$NIGH" info --plot few.nigh > out
"$NIGH" info few.nigh > without
compare 'info without --plot comes first' "$(cat without)" <(head -"$(wc -l < without)" out)
compare 'what is drawn' "
distances in bits of 16: all 4 documents

       bits  the nearest of each          any two
          0  ####################      2  #######                      1
          1
          2
          3
          4
          5
          6
          7
          8  ####################      2  ####################         3
          9
         10
         11
         12
         13
         14
         15
         16                               #############                2

  Any two documents differ in 8 bits in the median;
  9 of 10 pairs in 0 to 16.
  The nearest of a document differs in 0 bits in the median." <(tail -n +"$(($(wc -l < without) + 1))" out)

# All documents, deleted ones apart, against a plain count.
"$NIGH" generate -q -n 150 --bits 104 --seed 5 -o rows.hex
"$NIGH" index -q rows.nigh rows.hex
"$NIGH" delete -q rows.nigh 0 149 || fail 'delete'
"$NIGH" info --plot --output jsonl rows.nigh > all.json
python3 - << 'PYTHON' || fail 'distances of all documents'
import json
rows = [int(line.split()[-1], 16) for line in open("rows.hex")][1:149]
pairs, nearest = [0] * 105, [0] * 105
for i, a in enumerate(rows):
    away = [bin(a ^ b).count("1") for j, b in enumerate(rows) if j != i]
    nearest[min(away)] += 1
    for distance in away[i:]:
        pairs[distance] += 1
told = json.load(open("all.json"))["distances"]
assert told == {"sampled": 148, "seed": 0, "nearest": nearest, "pairs": pairs}, told
PYTHON

# A sample: as large as asked for, the same by the same seed whatever the threads, another by another seed.
"$NIGH" info --plot --sample 40 --output jsonl --threads 1 rows.nigh > one.json
"$NIGH" info --plot --sample 40 --output jsonl --threads 2 rows.nigh > two.json
"$NIGH" info --plot --sample 40 --sample-seed 1 --output jsonl rows.nigh > other.json
cmp -s one.json two.json || fail 'threads change the sample'
python3 - << 'PYTHON' || fail 'samples'
import json
one, other = (json.load(open(name))["distances"] for name in ("one.json", "other.json"))
assert one["sampled"] == other["sampled"] == sum(one["nearest"]) == 40, one
assert sum(one["pairs"]) == 40 * 39 // 2, one
assert one["seed"] == 0 and other["seed"] == 1 and one["pairs"] != other["pairs"], other
PYTHON
"$NIGH" info --plot --sample 60 --sample-seed 7 rows.nigh > out
contains out 'distances in bits of 104: 60 of 148 documents, drawn by --sample-seed 7'
python3 -c "
for i in range(80): print(f'{i}\t{i * 0x9e3779b97f4a7c15 % 2**64:016x}')" > apart.hex
"$NIGH" index -q apart.nigh apart.hex
"$NIGH" info --plot apart.nigh > out
grep -q '^  At most 1 pair in 1,000 is within [0-9]* bits; [0-9.]*% of the documents$' out || fail 'a rare distance is not told'
[[ $(awk '/^distances/ {on = 1} on && length > 72' out | wc -l) == 0 ]] || fail 'the drawing is too wide'

# Where near-copies are is known of simhash; crowds are told of.
for ((i = 0; i < 90; i++)); do echo "{\"id\":\"$i\",\"text\":\"one text of many words that are all the same $((i / 30))\"}"; done |
    "$NIGH" index -q --scheme simhash texts.nigh -
"$NIGH" info --plot texts.nigh > out
contains out '  Near-copies are within 3 bits: 100.0% of the documents have one.'
contains out '  More than 1 pair in 1,000 is equal: there are crowds of copies.'

# One document, and none.
printf 'a\t00\n' > one.hex
"$NIGH" index -q one.nigh one.hex
"$NIGH" info --plot one.nigh > out
contains out '  there are no two documents to compare'
"$NIGH" delete -q one.nigh a
"$NIGH" info --plot one.nigh > out
contains out '  there are no two documents to compare'

expect 2 '' "nigh info: --sample and --sample-seed go with --plot
try 'nigh info --help'" -- "$NIGH" info --sample 10 rows.nigh
expect 2 '' "nigh info: --plot is for a collection, and 'rows.hex' is none
try 'nigh info --help'" -- "$NIGH" info --plot rows.hex

# Blocks on a terminal of UTF-8, '#' on others.
if command -v script > /dev/null && script -qec true typescript > /dev/null 2>&1 < /dev/null; then
    on_terminal() { env -u LC_CTYPE -u LANG TERM="$1" LC_ALL="$2" script -qec "$NIGH info --plot few.nigh" typescript > /dev/null < /dev/null; }
    on_terminal xterm C.UTF-8
    contains typescript '          0  ████████████████████      2  ██████▋                      1'
    on_terminal xterm C
    contains typescript '          0  ####################      2  #######                      1'
    on_terminal dumb C.UTF-8
    contains typescript '          0  ####################      2  #######                      1'
fi

finish
