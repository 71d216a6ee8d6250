#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh tune: what it stores and says, that search goes by it, what cannot be had, and wrong use.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 9000 --bits 512 -o rows.u8bin || fail generate
"$NIGH" generate -q -n 9000 --bits 512 --queries 60 -o queries.u8bin || fail generate
"$NIGH" generate -q -n 9000 --bits 512 --queries 30 -o few.u8bin || fail generate
"$NIGH" index -q c.nigh rows.u8bin || fail index

# Nothing is stored by a dry run, and nothing by what cannot be had.
expect_unchanged c.nigh 0 ANY 'not stored; it would be for queries of any kind' -- "$NIGH" tune c.nigh --sample 60 --dry-run
grep -q '^  chosen        ' .out || fail 'no choice is shown'
expect_unchanged c.nigh 1 '' ANY -- "$NIGH" tune c.nigh --sample 60 --memory 1K
grep -q '^nigh: 1024 bytes of memory are too few: the signatures alone take [0-9]*$' .err || fail 'not why'
# Where the scan happens to be fastest it is chosen, and no sample is too small for what is exact.
code=0
"$NIGH" tune -q c.nigh --dry-run --sample 60 --within 0.00001 --target-recall 0.5 --latency 1s > .out 2> .err || code=$?
if grep -q '^  chosen        every document' .out; then
    ((code == 0)) || fail "exit $code of what is exact"
else
    ((code == 1)) || fail "exit $code where the sample is too small"
    grep -q '^nigh: to tell it within +-0.00001 takes a sample of .* queries$' .err || fail 'not how many queries'
fi

expect_unchanged c.nigh 1 ANY ANY -- "$NIGH" tune -q c.nigh --sample 60 --latency 0.001us
grep -q '^  best          ' .out || fail 'the best that can be had is not shown'
grep -q '^nigh: the targets cannot be met; the best is a recall of ' .err || fail 'not that it cannot be had'

# What is chosen is stored, shown by info, sound to check, and gone by.
expect 0 ANY "stored: 'nigh search' uses it for queries of any kind" -- "$NIGH" tune c.nigh --target-recall 0.8 --sample 200 --all
[[ -f c.nigh/tuning ]] || fail 'no tuning is stored'
grep -q 'recall 1.0000  CDR 1.0000' .out || fail 'the scan was not tried'
expect 0 ANY '' -- "$NIGH" info c.nigh
grep -q '^  tuned         ' .out || fail 'info does not know it'
grep -q 'tuned anew' .out && fail 'it is not old'
expect 0 ANY '' -- "$NIGH" info c.nigh --output jsonl
python3 -c '
import json, sys
tuning = json.loads(open(".out").read())["tuning"]
assert tuning["k"] == 10 and tuning["documents"] == 9000 and tuning["queries"] == 100 and not tuning["old"], tuning
assert tuning["recall_low"] <= tuning["recall"] <= tuning["recall_high"] and tuning["recall_high"] >= 0.8' || fail 'not this tuning'
expect 0 ANY ANY -- "$NIGH" check c.nigh

# One object for programs; queries of a file.
expect 0 ANY '' -- "$NIGH" tune -q c.nigh --queries queries.u8bin --target-cdr 0.9 -k 5 --output jsonl
python3 -c '
import json
told = json.loads(open(".out").read())
assert told["met"] and told["stored"] and told["k"] == 5 and told["queries"] == 30 and told["for"] == "signatures", told' || fail 'not this object'

# Searching by sketches, asked for; what is near is certain.
expect 0 ANY ANY -- "$NIGH" search c.nigh queries.u8bin --method sketch --sketch-bits 128 --candidates 50 --output jsonl
grep -q '"exact":false,"below":' .out || fail 'an approximate answer does not say so'
expect 0 ANY ANY -- four "$NIGH" search c.nigh queries.u8bin --method sketch --candidates 9000 --output tsv
mv .out sketched
expect 0 ANY ANY -- four "$NIGH" search c.nigh queries.u8bin --method exact --output tsv
cmp -s .out sketched || fail 'with every document a candidate the answer is not exact'

# Grown by more than a tenth it should be tuned anew.
"$NIGH" generate -q -n 1000 --bits 512 --seed 7 -o more.u8bin || fail generate
"$NIGH" index -q c.nigh more.u8bin || fail index
expect 0 ANY '' -- "$NIGH" info c.nigh
grep -q 'with 9,000 documents; it should be tuned anew' .out || fail 'nobody says that it is old'

# A damaged one: info and check say it, searches go on.
printf 'x' | dd of=c.nigh/tuning bs=1 seek=70 conv=notrunc status=none
expect 0 ANY "nigh: 'c.nigh': the tuning cannot be used; see 'nigh check'" -- "$NIGH" info c.nigh
expect 2 ANY ANY -- "$NIGH" check c.nigh
grep -q 'c.nigh/tuning' .out .err || fail 'the check does not name the file'
expect 0 ANY ANY -- "$NIGH" search c.nigh queries.u8bin
expect 0 '' "'nigh search' uses its defaults" -- "$NIGH" tune --remove c.nigh
[[ -e c.nigh/tuning ]] && fail 'it is still there'
expect 0 ANY ANY -- "$NIGH" check c.nigh

# --build: lists of several widths and a graph, also of few documents; what cannot be had leaves them, and says so.
"$NIGH" generate -q -n 1500 --bits 256 -o small.u8bin || fail generate
"$NIGH" index -q small.nigh small.u8bin --lists slices --slice-width 16 || fail index
expect 0 ANY ANY -- "$NIGH" tune small.nigh --build --all --sample 80 --target-recall 0.5
grep -q '^  graph, effort ' .out || fail 'no graph was tried'
[[ $(grep -c '^  slice lists, breadth 0, 64 candidates' .out) == 4 ]] || fail 'not the usual width, one narrower, one wider, and the one there was'
expect 0 ANY '' -- "$NIGH" info small.nigh
grep -q '^  graph         of 1 segment' .out || fail 'no graph was made'
grep -q '^  slice lists   of 1 segment' .out || fail 'there are no lists'
"$NIGH" index -q fresh.nigh small.u8bin || fail index
expect 1 ANY ANY -- "$NIGH" tune fresh.nigh --build --sample 80 --target-recall 1 --latency 0.001us
grep -q '^lists and graph that --build made stay' .err || fail 'nobody says what was left'
[[ -e fresh.nigh/tuning ]] && fail 'what cannot be had is stored'
"$NIGH" index -q fresh.nigh --lists none --no-graph || fail 'what was left cannot be removed as it says'
[[ $(ls fresh.nigh | wc -l) == 2 ]] || fail 'something is left'
"$NIGH" generate -q -n 5 --bits 256 -o five.u8bin || fail generate
"$NIGH" index -q five.nigh five.u8bin || fail index
expect_unchanged five.nigh 2 '' 'nigh: too few documents to tune with: 5, and 40 are needed' -- "$NIGH" tune five.nigh --build

# Where it cannot be stored, what was measured is shown all the same.
mkdir c.nigh/tuning
expect 2 ANY "nigh: 'c.nigh': cannot rename: Is a directory" -- "$NIGH" tune c.nigh --sample 60
grep -q '^  chosen        ' .out || fail 'what was measured is lost'
rmdir c.nigh/tuning

hint="try 'nigh tune --help'"
expect 2 '' "nigh tune: give one COLLECTION, not 0
$hint" -- "$NIGH" tune
expect 2 '' "nigh tune: --latency takes a time such as 500us, 2ms or 1s, not '3'
$hint" -- "$NIGH" tune c.nigh --latency 3
expect 2 '' "nigh tune: --target-recall takes a number above 0 and up to 1, not '2'
$hint" -- "$NIGH" tune c.nigh --target-recall 2
expect 2 '' "nigh tune: --build stores what it makes; not --dry-run
$hint" -- "$NIGH" tune c.nigh --build --dry-run
expect 2 '' "nigh tune: --remove goes with nothing else
$hint" -- "$NIGH" tune c.nigh --remove --build
expect 2 '' 'nigh: too few queries to tune with: 30, and 40 are needed' -- \
    "$NIGH" tune c.nigh --queries few.u8bin
expect 2 '' "nigh search: --sketch-bits takes 64, 128, 192 or 256, not 100
try 'nigh search --help'" -- "$NIGH" search c.nigh queries.u8bin --method sketch --sketch-bits 100
expect 2 '' 'nigh: a search of sketches needs a k: how many documents at most' -- \
    "$NIGH" search c.nigh queries.u8bin --method sketch --radius 9
expect 2 '' 'nigh: a search of sketches cannot go on until it is certain; scan instead' -- \
    "$NIGH" search c.nigh queries.u8bin --method sketch --exact

# Documents and texts ask too, and what they were measured for goes by it, and nothing else.
python3 - << 'END'
import random
random.seed(7)
def text(): return " ".join("word%d" % random.randrange(400) for _ in range(60))
with open("many.txt", "w") as out: out.writelines(text() + "\n" for _ in range(3000))
with open("asked.txt", "w") as out: out.writelines(text() + "\n" for _ in range(100))
END
"$NIGH" index -q texts.nigh many.txt --format lines --scheme simhash --bits 256 || fail index
expect 0 ANY "stored: 'nigh search' uses it for queries that are documents or texts" \
    -- "$NIGH" tune texts.nigh --queries asked.txt --format lines --target-recall 0.5
expect 0 ANY '' -- "$NIGH" info -q texts.nigh --output jsonl
contains .out '"for":"texts"'
"$NIGH" sign -q --scheme simhash --bits 256 --format lines asked.txt -o asked.hex || fail sign
expect 0 ANY "stored: 'nigh search' uses it for queries that are signatures" \
    -- "$NIGH" tune texts.nigh --queries asked.hex --target-recall 0.5
# Texts of topsig are ranked by weights; without columns there is but the scan for them.
"$NIGH" index -q short.nigh many.txt --format lines --bits 8192 || fail index
expect 0 ANY "stored: 'nigh search' uses it for documents and texts, which are ranked by weights" \
    -- "$NIGH" tune short.nigh --queries asked.txt --format lines
contains .out '  chosen        every document compared'
[[ -f short.nigh/tuning-ranked && ! -e short.nigh/tuning ]] || fail 'not stored for texts'
expect 0 ANY "stored: 'nigh search' uses it for queries of any kind" -- "$NIGH" tune short.nigh --sample 60
[[ -f short.nigh/tuning-ranked && -f short.nigh/tuning ]] || fail 'not both are stored'

finish
