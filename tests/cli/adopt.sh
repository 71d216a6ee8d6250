#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh adopt: parts that were made apart become one collection, as if made at once.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON'
import json, random
generator = random.Random(7)
words = ["word%d" % i for i in range(500)]
for name in ("one", "two", "three"):
    with open(name + ".jsonl", "w") as file:
        for number in range(60):
            text = " ".join(generator.choices(words, k=generator.randint(5, 60)))
            file.write(json.dumps({"id": f"{name}-{number}", "text": text}) + "\n")
PYTHON

# Each part is counted, signed with the counts of all, and adopted: the collection that one machine would have made.
for part in one two three; do "$NIGH" sign -q --make-vocabulary $part.words $part.jsonl; done
"$NIGH" vocabulary merge -q -o all.words one.words two.words three.words
for part in one two three; do "$NIGH" index -q $part.nigh $part.jsonl --vocabulary all.words --columns; done
"$NIGH" index -q once.nigh one.jsonl two.jsonl three.jsonl
expect 0 '' ANY -- "$NIGH" adopt all.nigh one.nigh two.nigh three.nigh
contains .err "'all.nigh' took over 180 documents in 3 segments, and now has 180"
expect 0 ANY '' -- "$NIGH" check all.nigh
"$NIGH" export -q once.nigh -o once.txt
"$NIGH" export -q all.nigh -o all.txt
cmp once.txt all.txt || fail 'the parts are not the whole'
[[ $(find all.nigh -name 'columns-*' | wc -l) == 3 ]] || fail 'columns were not taken over'
for asked in word1 'word7 word9 word11'; do
    "$NIGH" search -q once.nigh --text "$asked" > once.out
    "$NIGH" search -q all.nigh --text "$asked" | cmp once.out - || fail "answers to '$asked' differ"
done

# Without being adopted they answer as one, too, and say where a document is.
for asked in word1 'word7 word9 word11'; do
    "$NIGH" search -q once.nigh --text "$asked" --output tsv > once.out
    "$NIGH" search -q one.nigh two.nigh three.nigh --text "$asked" --output tsv > parts.out
    cut -f 1-6 parts.out | cmp once.out - || fail "parts answer '$asked' otherwise"
    awk -F '\t' '$7 != substr($2, 1, index($2, "-") - 1) ".nigh" { exit 1 }' parts.out || fail 'a wrong collection'
done
expect 0 ANY '' -- "$NIGH" search -q one.nigh two.nigh --id two-3 -k 1 --output jsonl
contains .out '"document":"two-3","collection":"two.nigh","distance":0'
expect 0 ANY '' -- "$NIGH" search -q one.nigh two.nigh --id two-3 -k 1
contains .out 'two-3  in two.nigh'
expect 0 ANY '' -- "$NIGH" search -q one.nigh two.nigh three.jsonl -k 1 --output trec
contains .out 'three-0 Q0 '
expect 2 '' ANY -- "$NIGH" search one.nigh two.nigh one.nigh --id one-1
contains .err "this segment is in 'one.nigh' already"
"$NIGH" index -q other.nigh three.jsonl
expect 2 '' ANY -- "$NIGH" search one.nigh other.nigh --id one-1
contains .err "'other.nigh': it keeps another vocabulary than 'one.nigh'"

expect 0 '' ANY -- "$NIGH" merge all.nigh
cmp once.nigh/segment-* all.nigh/segment-* || fail 'merged, it is not the file made at once'
"$NIGH" export -q all.nigh -o merged.txt
cmp once.txt merged.txt || fail 'merging lost something'

# What has been adopted can be added to and adopted from.
printf '{"id": "late", "text": "word1 word2 word3"}\n' | "$NIGH" index -q all.nigh - --format jsonl
expect 0 '' ANY -- "$NIGH" adopt again.nigh all.nigh
expect 0 ANY '' -- "$NIGH" check again.nigh

# What does not fit is refused, and nothing changes.
expect_unchanged again.nigh 2 '' ANY -- "$NIGH" adopt again.nigh one.nigh
contains .err "'one-0' is in 'again.nigh' already"
expect_unchanged again.nigh 2 '' ANY -- "$NIGH" adopt again.nigh all.nigh
contains .err 'already'
"$NIGH" index -q other.nigh three.jsonl
expect_unchanged one.nigh 2 '' ANY -- "$NIGH" adopt one.nigh other.nigh
contains .err "'other.nigh': "
"$NIGH" index -q narrow.nigh three.jsonl --bits 512
expect_unchanged one.nigh 2 '' ANY -- "$NIGH" adopt one.nigh narrow.nigh
expect 2 '' ANY -- "$NIGH" adopt new.nigh nothing.nigh
[[ ! -e new.nigh ]] || fail 'a collection was made of nothing'
expect 2 '' ANY -- "$NIGH" adopt new.nigh two.nigh two.nigh
[[ ! -e new.nigh ]] || fail 'a collection was made of the same twice'
expect 2 '' "nigh adopt: no OTHER collection given
try 'nigh adopt --help'" -- "$NIGH" adopt one.nigh
printf '\xff' | dd of="$(find two.nigh -name 'segment-*')" bs=1 seek=4200 conv=notrunc status=none
expect_unchanged one.nigh 2 '' ANY -- "$NIGH" adopt one.nigh two.nigh
contains .err 'two.nigh/segment-'

# Rows that go by number follow those that are there.
"$NIGH" generate -q --count 20 --bits 64 --seed 1 -o a.npy
"$NIGH" generate -q --count 20 --bits 64 --seed 2 -o b.npy
"$NIGH" index -q a.nigh a.npy
"$NIGH" index -q b.nigh b.npy
"$NIGH" index -q both.nigh a.npy b.npy
"$NIGH" adopt -q a.nigh b.nigh
"$NIGH" export -q both.nigh -o both.hex --format hex
"$NIGH" export -q a.nigh -o a.hex --format hex
cmp both.hex a.hex || fail 'rows are not in order'
