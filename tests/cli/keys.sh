#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A collection remembers by which keys its documents were read.
. "${BASH_SOURCE[0]%/*}/_lib.sh"

lines() {
    local i
    for ((i = $1; i < $2; i++)); do
        echo "{\"uid\":\"d$i\",\"title\":\"Number $i\",\"body\":\"the river $((i * 7919 % 997)) runs below hill $i\"}"
    done
}
lines 0 20 > first.jsonl
lines 20 30 > second.jsonl
lines 30 40 > third.jsonl
keys=(--id-key uid --text-key title --text-key body)

expect 0 '' ANY -- "$NIGH" index made.nigh first.jsonl "${keys[@]}"
expect 0 ANY ANY -- "$NIGH" info made.nigh
contains .out 'text-key'

# Later ones are read by them.
expect 0 '' ANY -- "$NIGH" index made.nigh second.jsonl
contains .err 'added 10 documents'
"$NIGH" index -q whole.nigh first.jsonl second.jsonl "${keys[@]}"
"$NIGH" export -q --format hex made.nigh -o made.hex
"$NIGH" export -q --format hex whole.nigh -o whole.hex
cut -f1 made.hex > got
cut -f1 whole.hex > expected
same expected got
grep -q '^d25' got || fail 'ids were not read by their key'

# The same keys are fine, others are told.
expect 0 '' ANY -- "$NIGH" index made.nigh third.jsonl "${keys[@]}"
grep -q 'read from' .err && fail 'the same keys are told as others'
lines 40 50 > fourth.jsonl
expect 0 '' ANY -- "$NIGH" index made.nigh fourth.jsonl --id-key uid --text-key title
contains .err "the text is read from 'title', but that of the collection was read from 'body'; without --text-key and --id-key they are read alike"

# So does nigh against.
lines 50 60 > fifth.jsonl
expect 0 ANY ANY -- "$NIGH" against made.nigh --radius 5 --add fifth.jsonl
expect 0 ANY ANY -- "$NIGH" search made.nigh --id d55
lines 0 5 > day.jsonl
lines 60 62 >> day.jsonl
expect 0 ANY ANY -- "$NIGH" against copies.nigh --add first.jsonl "${keys[@]}"
expect 0 ANY ANY -- "$NIGH" against copies.nigh --add day.jsonl
contains .err '5 there, 2 new, 2 added'
expect 0 ANY ANY -- "$NIGH" search copies.nigh --id d61

# Queries are read by them too, and others are taken where they are given.
lines 3 6 > queries.jsonl
expect 0 ANY ANY -- "$NIGH" search made.nigh queries.jsonl -k 1 --output tsv
cut -f1,2 .out > got
compare 'each query and what is nearest' $'d3\td3\nd4\td4\nd5\td5' got
mv .out by_kept
expect 0 ANY '' -- "$NIGH" search -q made.nigh queries.jsonl -k 1 --output tsv "${keys[@]}"
same by_kept .out
sed 's/"body"/"words"/' queries.jsonl > words.jsonl
expect 0 ANY ANY -- "$NIGH" search made.nigh words.jsonl -k 1 --output tsv --text-key title --text-key words
contains .err "the text is read from 'words', but that of the collection was read from 'body'"
same by_kept .out
lines 100 150 > many.jsonl
"$NIGH" index -q --scheme simhash tuned.nigh many.jsonl "${keys[@]}"
expect 0 ANY ANY -- "$NIGH" tune tuned.nigh --queries many.jsonl --sample 50
grep -q 'no record has' .err && fail 'the queries were read by other keys'

# Keys make no difference to what can be compared.
sed 's/"body"/"text"/; s/"uid"/"id"/' first.jsonl > usual.jsonl
"$NIGH" index -q --scheme simhash a.nigh first.jsonl --id-key uid --text-key body
"$NIGH" index -q --scheme simhash b.nigh usual.jsonl
expect 0 ANY ANY -- "$NIGH" pairs a.nigh b.nigh --radius 0
[[ $(wc -l < .out) -ge 20 ]] || fail 'copies were not found'

# Usual keys are not kept: a collection of such is as ever.
expect 0 ANY ANY -- "$NIGH" info b.nigh
grep -q 'text-key' .out && fail 'usual keys were kept'

finish
