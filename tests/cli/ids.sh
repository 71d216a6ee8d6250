#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ids from the file, from --ids, or numbers; duplicates are refused and change nothing.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t00\nb\t01\n' > named.hex
printf '00\n01\n' > unnamed.hex
printf 'x\ny\n' > two.ids

expect 0 '' "added 2 documents (2 distinct) to 'named.nigh', which now has 2; # s (#/s)" -- "$NIGH" index named.nigh named.hex
expect 0 '' "added 2 documents (2 distinct) to 'named.nigh', which now has 4; # s (#/s)" \
    -- "$NIGH" index named.nigh unnamed.hex --ids two.ids
expect 0 $'a\t00\nb\t01\nx\t00\ny\t01' '' -- "$NIGH" export -q named.nigh -o -
expect 0 '' '' -- "$NIGH" export -q named.nigh -o all.u8bin --ids all.ids
compare 'the ids' $'a\nb\nx\ny' all.ids
expect 0 '' '' -- "$NIGH" index -q numbers.nigh unnamed.hex
expect 0 '' '' -- "$NIGH" export -q numbers.nigh -o all.u8bin --ids all.ids
compare 'the numbers' $'0\n1' all.ids
expect 0 $'0\n1' '' -- "$NIGH" export -q numbers.nigh -o all.u8bin --ids -

# --ids overrides those of the file.
expect 0 '' '' -- "$NIGH" index -q renamed.nigh named.hex --ids two.ids
expect 0 $'x\t00\ny\t01' '' -- "$NIGH" export -q renamed.nigh -o -

# As expect, for a command that would make new.nigh and must not.
expect_nothing_made() {
    expect "$@"
    [[ -e new.nigh ]] && fail 'a collection was made'
}

# Duplicates: in the collection, in the same file, in another file of the same command.
printf 'c\t02\na\t03\n' > again.hex
printf 'c\t02\nd\t03\nc\t04\n' > twice.hex
printf 'c\t02\nd\t03\n' > fresh.hex
expect_unchanged named.nigh 2 '' "nigh: 'again.hex', row 2: the id 'a' already exists, with another signature; nothing was added" \
    -- "$NIGH" index named.nigh again.hex
expect_unchanged named.nigh 2 '' "nigh: 'twice.hex', row 3: the id 'c' already exists, with another signature; nothing was added" \
    -- "$NIGH" index named.nigh twice.hex
expect_unchanged named.nigh 2 '' "nigh: 'twice.hex', row 1: the id 'c' already exists; nothing was added" \
    -- "$NIGH" index named.nigh fresh.hex twice.hex
expect_nothing_made 2 '' "nigh: 'twice.hex', row 3: the id 'c' already exists, with another signature; nothing was added" \
    -- "$NIGH" index new.nigh twice.hex
expect_unchanged named.nigh 2 '' "nigh: 'standard input', row 2: the id 'a' already exists, with another signature; nothing was added" \
    -- from again.hex "$NIGH" index named.nigh -

# All have ids or none has.
expect_unchanged named.nigh 2 '' ANY -- "$NIGH" index named.nigh unnamed.hex
contains .err "nigh: 'unnamed.hex', row 1: "
expect_unchanged numbers.nigh 2 '' ANY -- "$NIGH" index numbers.nigh named.hex
contains .err "nigh: 'named.hex', row 1: "

# As many ids as rows.
printf 'x\n' > one.ids
printf 'x\ny\nz\n' > three.ids
expect_nothing_made 2 '' "nigh: 'one.ids': 1 ids, but more signatures" -- "$NIGH" index new.nigh unnamed.hex --ids one.ids
expect_nothing_made 2 '' "nigh: 'three.ids': 3 ids for 2 signatures" -- "$NIGH" index new.nigh unnamed.hex --ids three.ids
expect_nothing_made 2 '' "nigh: 'missing.ids': cannot open: No such file or directory" \
    -- "$NIGH" index new.nigh unnamed.hex --ids missing.ids

finish
