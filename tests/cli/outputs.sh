#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files that are written: under a name of their own until they are whole, and never two to one place.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000\nb\t0001\n' > docs.hex
"$NIGH" index -q c.nigh docs.hex || fail index

# What is there under a temporary name, a link included, is somebody else's.
echo mine > out.hex.tmp
echo precious > precious
ln -s precious out.hex.1.tmp
ln -s precious ids.tmp
ln -s nowhere stats.json.tmp
expect 0 '' '' -- "$NIGH" export -q c.nigh -o out.hex --ids ids --stats stats.json
same docs.hex out.hex
compare 'the ids' $'a\nb' ids
[[ $(wc -l < stats.json) == 1 ]] || fail 'no statistics'
compare 'a file of the user' mine out.hex.tmp
compare 'what a link leads to' precious precious
[[ -L out.hex.1.tmp && -L ids.tmp && -L stats.json.tmp && ! -e nowhere ]] || fail 'a link was followed or replaced'
[[ -e out.hex.2.tmp || -e ids.1.tmp || -e stats.json.1.tmp ]] && fail 'a temporary file was left'

# What a killed writer left is taken away by the next; what somebody has locked is not.
mkdir killed
for name in x.hex ids; do for number in '' .1 .2; do echo half > "killed/$name.nigh$number.tmp"; done; done
expect 0 '' '' -- "$NIGH" export -q c.nigh -o killed/x.hex --ids killed/ids
[[ -e killed/x.hex.nigh.tmp || -e killed/ids.nigh.tmp ]] && fail 'a leftover is still there'
echo theirs > killed/x.hex.nigh.tmp
exec 9< killed/x.hex.nigh.tmp
flock 9
expect 0 '' '' -- "$NIGH" export -q c.nigh -o killed/x.hex
exec 9<&-
compare 'the file of another writer' theirs killed/x.hex.nigh.tmp
[[ -e killed/x.hex.nigh.1.tmp ]] && fail 'a leftover is still there'

# All names taken, by what is no file: refused, and nothing changed.
mkdir full
for ((i = 1; i < 100; i++)); do mkdir "full/a.hex.nigh.$i.tmp" "full/ids.nigh.$i.tmp"; done
mkdir full/a.hex.nigh.tmp full/ids.nigh.tmp
expect_unchanged full 2 '' "nigh: 'full/a.hex.nigh.99.tmp': cannot create: File exists" \
    -- "$NIGH" export -q c.nigh -o full/a.hex
expect_unchanged full 2 '' "nigh: 'full/ids': cannot open: File exists" -- "$NIGH" export -q c.nigh -o b.hex --ids full/ids
[[ -e b.hex || -e b.hex.nigh.tmp ]] && fail 'a file was left'

# Two writers of one file: both end well, and the file is that of one of them.
"$NIGH" generate -q -n 20000 --bits 256 --seed 1 -o one.npy
"$NIGH" generate -q -n 20000 --bits 256 --seed 2 -o two.npy
for ((round = 0; round < 15; round++)); do
    "$NIGH" generate -q -n 20000 --bits 256 --seed 1 -o both.npy &
    first=$!
    "$NIGH" generate -q -n 20000 --bits 256 --seed 2 -o both.npy || fail 'the second writer'
    wait "$first" || fail 'the first writer'
    checks=$((checks + 1))
    cmp -s one.npy both.npy || cmp -s two.npy both.npy || fail 'the file is of neither writer'
done
compgen -G 'both.npy.*' > /dev/null && fail 'a temporary file was left'

# same_file COMMAND PAIR ARGUMENT...: refused before anything is written.
same_file() {
    local command=$1 pair=$2
    shift 2
    expect 2 '' "nigh $command: $pair name the same file
try 'nigh $command --help'" -- "$NIGH" "$command" "$@"
}
ln -s old.npy link.npy
echo old > old.npy
same_file export '-o and --ids' c.nigh -o new.npy --ids new.npy
same_file export '-o and --ids' c.nigh -o new.npy --ids ./new.npy
same_file export '-o and --ids' c.nigh -o old.npy --ids link.npy
same_file export '-o and --stats' c.nigh -o new.npy --stats new.npy
same_file export '--ids and --stats' c.nigh -o new.npy --ids ids --stats ids
same_file generate '-o and --stats' -n 5 -o new.npy --stats "$PWD/new.npy"
compare 'the file that was there' old old.npy
[[ -e new.npy || -e new.npy.nigh.tmp ]] && fail 'something was written'
expect 2 '' "nigh generate: -o and --stats cannot both be standard output
try 'nigh generate --help'" -- "$NIGH" generate -n 5 -o - --stats -
into() { "${@:2}" > "$1"; }
expect 2 '' "nigh export: -o and --ids name the same file
try 'nigh export --help'" -- into redirected "$NIGH" export c.nigh -o - --ids redirected
# What keeps nothing may be named twice; so may names that only look alike.
expect 0 '' '' -- "$NIGH" export -q c.nigh -o /dev/null --ids /dev/null --stats /dev/null
mkdir folder
expect 0 '' '' -- "$NIGH" export -q c.nigh -o new.npy --ids folder/new.npy --stats stats.json
compare 'the ids in a folder' $'a\nb' folder/new.npy

finish
