#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Directed probes: who knows how sure the bits of a query are, and what is said to those who do not.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON' || fail 'documents'
import json, random
random.seed(5)
words = ["w%d" % i for i in range(400)]
with open("docs.jsonl", "w") as out:
    for i in range(600):
        topic = words[i % 40 * 10:][:10]
        out.write(json.dumps({"id": "d%d" % i, "text": " ".join(random.choices(topic, k=25) + random.choices(words, k=5))}) + "\n")
PYTHON
for kept in --keep-weights ''; do
    # shellcheck disable=SC2086 # none, or one
    "$NIGH" index -q $kept --scheme simhash --bits 256 --lists slices --slice-width 8 "c$kept.nigh" docs.jsonl || fail index
done
expect 0 ANY '' -- "$NIGH" info c--keep-weights.nigh
contains .out '  probes        directed by a model fitted to 1 segment'
expect 0 ANY '' -- "$NIGH" info c.nigh
contains .out '  probes        directed by the usual model'
"$NIGH" check -q c--keep-weights.nigh || fail check

directed=(--method slices --budget all --probe directed)
for probes in 40 300; do
    expect 0 ANY '' -- "$NIGH" search -q "${directed[@]}" --probes $probes --stats s.json c--keep-weights.nigh --id d7
    checks=$((checks + 1))
    python3 -c "import json; s = json.load(open('s.json')); assert s['lists'] == $probes and s['exact'] == 0, s" || fail stats
done
# A document finds itself first, by its kept weights, as a text and as a file; the model may be the usual one.
four "$NIGH" search -q "${directed[@]}" --output tsv -k 1 c--keep-weights.nigh --id d7 > found
printf 'd7\td7\t0\t1\n' > wanted
same wanted found
grep '"d7"' docs.jsonl > one.jsonl
four "$NIGH" search -q "${directed[@]}" --output tsv -k 1 c.nigh one.jsonl > found
same wanted found
expect 0 ANY '' -- "$NIGH" search -q "${directed[@]}" c.nigh --text 'w1 w2 w3'

# Without weights: the ball by itself, an error where directed probes are demanded.
for way in '--id d7' 'q.hex'; do
    printf '%064d\n' 0 > q.hex
    # shellcheck disable=SC2086 # two words
    expect 2 '' ANY -- "$NIGH" search "${directed[@]}" c.nigh $way
    contains .err '--probe directed needs to know how sure each bit of a query is'
    # shellcheck disable=SC2086 # two words
    "$NIGH" search -q --method slices --budget all --output tsv c.nigh $way > auto
    # shellcheck disable=SC2086 # two words
    "$NIGH" search -q --method slices --budget all --probe ball --output tsv c.nigh $way > ball
    same auto ball
done
# Some queries with and some without, whatever the batch.
"$NIGH" search -q --method slices --budget all --output tsv c--keep-weights.nigh --id d7 --id d9 q.hex > whole
"$NIGH" search -q --method slices --budget all --output tsv --batch 1 c--keep-weights.nigh --id d7 --id d9 q.hex > parts
same whole parts

expect 2 '' ANY -- "$NIGH" search "${directed[@]}" --exact c--keep-weights.nigh --id d7
contains .err '--probe directed proves nothing'
expect 2 '' 'nigh: directed probes have no breadth' -- "$NIGH" search "${directed[@]}" --breadth 1 c--keep-weights.nigh --id d7
expect 2 '' ANY -- "$NIGH" search --probe ring c--keep-weights.nigh --id d7
expect 2 '' ANY -- "$NIGH" search --probes 0 c--keep-weights.nigh --id d7

expect 0 ANY '' -- "$NIGH" eval nearest -q --no-cache --ask 20 --method slices --probe directed --budget 1K,all --output tsv c--keep-weights.nigh
contains .out 'slices, directed, budget 1000'
expect 2 ANY ANY -- "$NIGH" eval nearest -q --no-cache --ask 20 --method slices --probe directed c.nigh
expect 2 '' ANY -- "$NIGH" eval nearest -q --budget x c.nigh
contains .err '--budget takes'

finish
