#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A seed that is drawn: another one each time, told, kept with the collection, and never in the way of who adds.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf '{"id":"a","text":"the quick brown fox jumps over the lazy dog"}\n{"id":"b","text":"ships sail on the sea"}\n' > in.jsonl
printf '{"id":"c","text":"birds fly south in autumn"}\n' > more.jsonl
two_columns() { "$@" | cut -f 1-2; }
seed_of() { "$NIGH" info --output jsonl "$1" | grep -oE '"seed": ?"[0-9]+"' | grep -oE '[0-9]+'; }

# By default everybody has the same.
"$NIGH" index -q plain.nigh in.jsonl || fail index
[[ $(seed_of plain.nigh) == 0 ]] || fail "the default is $(seed_of plain.nigh)"
for name in one two; do "$NIGH" index -q --seed random $name.nigh in.jsonl || fail index; done
[[ $(seed_of one.nigh) != "$(seed_of two.nigh)" ]] || fail 'two draws are the same'
[[ $(seed_of one.nigh) != 0 ]] || fail 'no seed was drawn'

# What is there has its seed, and keeps to it.
kept=$(seed_of one.nigh)
expect 0 '' '' -- "$NIGH" index -q one.nigh more.jsonl
expect 0 '' '' -- "$NIGH" index -q --seed random one.nigh <(sed 's/"c"/"d"/' more.jsonl) --format jsonl
[[ $(seed_of one.nigh) == "$kept" ]] || fail 'the seed has changed'
expect 0 $'birds fly south\tc' ANY -- two_columns "$NIGH" search -q one.nigh --text 'birds fly south' -k 1 --output tsv

# A run of dedup can be repeated.
expect 0 '' ANY -- "$NIGH" dedup in.jsonl more.jsonl --seed random -o out.jsonl --stats stats.json
drawn=$(grep -oE '"seed":[0-9]+' stats.json | grep -oE '[0-9]+')
contains .err "'--seed $drawn' gives the same again"
expect 0 '' '' -- "$NIGH" dedup -q in.jsonl more.jsonl --seed "$drawn" -o again.jsonl
same out.jsonl again.jsonl
expect 2 '' ANY -- "$NIGH" dedup in.jsonl --seed rnadom -o out.jsonl
expect 2 '' ANY -- "$NIGH" dedup in.jsonl --threads random -o out.jsonl

finish
