#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# check: silent about what is sound, precise about what is not.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 50 --bits 64 -o a.hex
"$NIGH" index -q c.nigh a.hex || fail index
files=$(find c.nigh -type f | wc -l)
bytes=$(cat c.nigh/* | wc -c)
expect_unchanged c.nigh 0 "'c.nigh' is sound: 50 documents in $files files, $(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<< "$bytes") bytes checked" '' \
    -- "$NIGH" check c.nigh
expect 0 '' '' -- "$NIGH" check --quiet c.nigh

# One flipped bit in a checked section: named with file and offset, by check and by --verify; not seen by a plain open.
segment=$(echo c.nigh/segment-*)
cp -r c.nigh damaged.nigh
segment=damaged.nigh/${segment##*/}
printf 'x' | dd of="$segment" bs=1 seek=4100 conv=notrunc status=none
expect_unchanged damaged.nigh 2 ANY "nigh: '$segment', offset 4096: section 2 fails its checksum" -- "$NIGH" check damaged.nigh
contains .out "'damaged.nigh' is damaged, 1 problem: 50 documents in"
expect 2 '' "nigh: '$segment', offset 4096: section 2 fails its checksum" -- "$NIGH" check -q damaged.nigh
expect 2 '' "nigh: '$segment', offset 4096: section 2 fails its checksum" -- "$NIGH" search --verify damaged.nigh --id 3
expect 0 ANY '' -- "$NIGH" search -q damaged.nigh --id 3

# A cut file, a missing file, a header of another kind.
cp -r c.nigh cut.nigh
truncate -s 5000 cut.nigh/segment-*
for command in info check 'search --id 0' 'export -o -'; do
    # shellcheck disable=SC2086 # several words
    expect_unchanged cut.nigh 2 ANY ANY -- "$NIGH" $command cut.nigh
    contains .err "nigh: 'cut.nigh/segment-"
done
cp -r c.nigh missing.nigh
rm missing.nigh/segment-*
for command in info check 'search --id 0' 'export -o -'; do
    # shellcheck disable=SC2086 # several words
    expect_unchanged missing.nigh 2 ANY ANY -- "$NIGH" $command missing.nigh
    contains .err "nigh: 'missing.nigh"
done
cp -r c.nigh magic.nigh
printf 'NOPE' | dd of="$(echo magic.nigh/segment-*)" bs=1 conv=notrunc status=none
expect_unchanged magic.nigh 2 ANY ANY -- "$NIGH" check magic.nigh
contains .err 'not a nigh segment: wrong magic'
# A writer leaves what is damaged alone.
expect_unchanged cut.nigh 2 '' ANY -- "$NIGH" index cut.nigh a.hex

# What a dead writer left is harmless, and the next one removes it.
cp -r c.nigh leftover.nigh
cp leftover.nigh/segment-00000000000000000001 leftover.nigh/segment-00000000000000000002
expect_unchanged leftover.nigh 0 ANY '' -- "$NIGH" check leftover.nigh
contains .out "1 leftover file of an unfinished commit: harmless, the next 'nigh index' removes it"
expect 0 '' '' -- "$NIGH" index -q leftover.nigh a.hex
expect 0 ANY '' -- "$NIGH" check leftover.nigh
grep -q leftover.file .out && fail 'the leftover is still there'

# Slice lists: a flipped bit is named, --verify refuses it, a plain open does not see it; cut short, they are left out.
cp -r c.nigh sliced.nigh
expect 0 ANY '' -- "$NIGH" index -q sliced.nigh --lists slices --slice-width 8
expect_unchanged sliced.nigh 0 ANY '' -- "$NIGH" check sliced.nigh
contains .out "50 documents in $((files + 1)) files, $(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<< "$(cat sliced.nigh/* | wc -c)") bytes checked"
slices=$(echo sliced.nigh/slices-*)
cp "$slices" lists
printf 'x' | dd of="$slices" bs=1 seek=4200 conv=notrunc status=none
expect_unchanged sliced.nigh 2 ANY "nigh: '$slices', offset 4096: section 1 fails its checksum" -- "$NIGH" check sliced.nigh
contains .out "'sliced.nigh' is damaged, 1 problem: 50 documents in"
expect 2 '' "nigh: '$slices', offset 4096: section 1 fails its checksum" -- "$NIGH" search --verify sliced.nigh --id 3
head -c 6000 lists > "$slices"
expect_unchanged sliced.nigh 2 ANY ANY -- "$NIGH" check sliced.nigh
contains .err "nigh: '$slices', offset 24: the file has 6000 bytes, its header says"
expect 2 '' ANY -- "$NIGH" search --verify sliced.nigh --id 3
expect 0 ANY ANY -- "$NIGH" search -q sliced.nigh --id 3
# Made anew, they are what they were.
expect 0 ANY ANY -- "$NIGH" index -q sliced.nigh --lists slices --slice-width 8
cmp -s "$slices" lists || fail 'lists made anew are others'
expect 0 ANY '' -- "$NIGH" check sliced.nigh
# What a build left that died.
cp lists "$slices.tmp"
expect 0 ANY '' -- "$NIGH" check sliced.nigh
contains .out '1 leftover file of an unfinished commit'
expect 0 ANY '' -- "$NIGH" index -q sliced.nigh --lists slices --slice-width 8
[[ -e $slices.tmp ]] && fail 'the leftover of a build is still there'

# Statistics are written for damage too.
expect 2 ANY ANY -- "$NIGH" check -q --stats stats.json damaged.nigh
python3 -c 'import json; assert json.load(open("stats.json"))["problems"] == 1' || fail 'problems in the statistics'

finish
