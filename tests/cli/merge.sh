#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh merge, and what nigh index merges by itself.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# row NUMBER: a line of hex digits.
row() { printf 'd%d\t%016x\n' "$1" $(($1 * 2654435761)); }
segments() { find "$1" -name 'segment-*' | wc -l; }

for i in $(seq 23); do row "$i"; done > all.hex
"$NIGH" index -q once.nigh all.hex
for i in $(seq 23); do row "$i" | "$NIGH" index -q --no-merge apart.nigh -; done
for i in $(seq 23); do row "$i" | "$NIGH" index -q few.nigh -; done
[[ $(segments apart.nigh) == 23 ]] || fail 'with --no-merge each commit stays a segment'
[[ $(segments few.nigh) == 5 ]] || fail "$(segments few.nigh) segments where ten of a tier become one"
"$NIGH" export -q once.nigh -o once.txt

# Documents, their order and the answers stay as they were.
for collection in apart.nigh few.nigh; do
    "$NIGH" search -q "$collection" --id d7 -k 5 > before.txt
    expect 0 '' ANY -- "$NIGH" merge "$collection"
    [[ $(segments "$collection") == 1 ]] || fail "$collection was not merged"
    "$NIGH" export -q "$collection" -o merged.txt
    cmp once.txt merged.txt || fail 'merging changed the documents'
    cmp once.nigh/segment-* "$collection"/segment-* || fail 'the file is not the one made at once'
    "$NIGH" search -q "$collection" --id d7 -k 5 | cmp before.txt - || fail 'merging changed an answer'
    expect 0 ANY '' -- "$NIGH" check "$collection"
    expect_unchanged "$collection" 0 '' "nigh: '$collection' has 1 segment, and nothing to merge" \
        -- "$NIGH" merge "$collection"
done

# What index says of it, and what it counts.
for i in $(seq 9); do row "$i" | "$NIGH" index -q told.nigh -; done
row 10 | "$NIGH" index told.nigh - --stats json 2> told.err > told.out
grep -q "merged 10 segments of 'told.nigh'" told.err || fail 'index does not say what it merged'
[[ $(segments told.nigh) == 1 ]] || fail 'ten commits of one document are one segment'

# Lists, a graph and columns of the largest segment come along.
"$NIGH" generate --count 3000 --bits 256 --seed 1 -o g1.npy -q
"$NIGH" generate --count 500 --bits 256 --seed 2 -o g2.npy -q
"$NIGH" index -q beside.nigh g1.npy
"$NIGH" index -q beside.nigh --lists slices --graph --columns
"$NIGH" index -q beside.nigh g2.npy --lists none
"$NIGH" index -q beside.nigh --lists slices
expect 0 '' ANY -- "$NIGH" merge beside.nigh
for kind in slices graph columns; do
    [[ $(find beside.nigh -name "$kind-*" | wc -l) == 1 ]] || fail "the merged segment has no $kind"
done
expect 0 ANY '' -- "$NIGH" check beside.nigh

# What is asked for wrongly.
expect 2 '' "nigh merge: give one COLLECTION, not 0" -- "$NIGH" merge
expect 2 '' ANY -- "$NIGH" merge nothing.nigh
[[ ! -e nothing.nigh ]] || fail 'merging made a collection'
mkdir other && echo text > other/file
expect_unchanged other 2 '' ANY -- "$NIGH" merge other

# Damage is not given a good checksum.
"$NIGH" index -q --no-merge hurt.nigh once.nigh/../all.hex
row 99 | "$NIGH" index -q --no-merge hurt.nigh -
first=$(find hurt.nigh -name 'segment-*1')
printf '\xff' | dd of="$first" bs=1 seek=4100 conv=notrunc status=none
expect_unchanged hurt.nigh 2 '' ANY -- "$NIGH" merge hurt.nigh

# Many small batches get what a large one gets by itself, once they are merged.
"$NIGH" generate -q --count 20000 --bits 64 --seed 3 -o wide.raw --format raw
split -b 16000 -d -a 2 wide.raw piece-
for piece in piece-*; do "$NIGH" index -q pieces.nigh "$piece" --format raw --bits 64; done
[[ $(segments pieces.nigh) == 1 ]] || fail "$(segments pieces.nigh) segments of ten pieces"
[[ $(find pieces.nigh -name 'tables-*' | wc -l) == 1 ]] || fail 'what was merged has no tables'
expect 0 ANY '' -- "$NIGH" check pieces.nigh

# While documents are in a log only, nobody else may change what it goes with: they would be lost.
cp -r "$NIGH_SOURCE_DIR/tests/golden/v1-log.nigh" logged.nigh
"$NIGH" index -q part.nigh all.hex
for command in 'merge logged.nigh' 'adopt logged.nigh part.nigh' 'delete logged.nigh a'; do
    # shellcheck disable=SC2086
    expect_unchanged logged.nigh 2 '' ANY -- "$NIGH" $command
    contains .err 'there is a log of documents that are in no segment yet'
done

# Deleting most of a segment writes it anew at once, and says so.
for i in $(seq 20); do row "$i"; done > twenty.hex
"$NIGH" index -q hollow.nigh twenty.hex
expect 0 '' ANY -- "$NIGH" delete hollow.nigh $(seq -f 'd%g' 11)
contains .err "merged 1 segment of 'hollow.nigh'"
[[ ! -e $(find hollow.nigh -name 'deleted-*') ]] || fail 'what is deleted is still there'
expect 0 ANY '' -- "$NIGH" check hollow.nigh
