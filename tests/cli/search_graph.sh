#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Searching a graph of near neighbours: what is found, what is said of it, and what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

counted='kernel #, # threads'

"$NIGH" generate -q -n 6000 --bits 256 -o many.npy || fail generate
"$NIGH" generate -q -n 6000 --bits 256 --queries 40 -o queries.npy || fail generate
"$NIGH" index -q --lists none many.nigh many.npy || fail index

# Without: who demands a graph hears how to get one.
expect 2 '' "nigh: 'many.nigh': has no graph: add one ('nigh index COLLECTION --graph'), or search without ('--method auto')" \
    -- "$NIGH" search --method graph many.nigh queries.npy
"$NIGH" index -q --graph many.nigh || fail 'index --graph'

# With an effort as large as the collection every node is compared.
"$NIGH" search -q --output tsv --method exact many.nigh queries.npy > scan
expect 0 ANY "approximate: exact for 0 of 40 queries; nearer documents may have been missed; 40 queries in # s (#/s), $counted" \
    -- "$NIGH" search --method graph --effort 50 --patience 0 many.nigh queries.npy
for k in 1 10 300; do
    "$NIGH" search -q --output tsv -k $k --method exact many.nigh queries.npy > scan
    "$NIGH" search -q --output tsv -k $k --method graph --effort 6000 --patience 0 many.nigh queries.npy > walked
    python3 - "$k" << 'PYTHON' || fail "poor answers for k = $k"
import sys
scan = {tuple(line.split("\t")[:2]) for line in open("scan")}
graph = {tuple(line.split("\t")[:2]) for line in open("walked")}
assert len(scan) == len(graph) == 40 * int(sys.argv[1]), (len(scan), len(graph))
assert len(scan & graph) >= 0.99 * len(scan), len(scan & graph)
PYTHON
    checks=$((checks + 1))
done

# The more effort the more is found, batches, threads and where it lies change nothing, and the distances are true.
"$NIGH" search -q --output jsonl --method graph --effort 20 many.nigh queries.npy > whole
grep -q '"exact":false,"below":0' whole || fail 'what is certain is not said'
for options in '--batch 1' '--batch 3 --threads 3' '--threads 1' '--threads 2 --batch 40' '--load' '--load --verify --threads 2'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" search -q --output jsonl --method graph --effort 20 $options many.nigh queries.npy > parts
    same whole parts
done

# A radius beside -k.
"$NIGH" search -q --output tsv --method graph -k 10 -r 60 many.nigh queries.npy > near
python3 - << 'PYTHON' || fail 'beyond the radius'
assert all(int(line.split("\t")[2]) <= 60 for line in open("near"))
PYTHON
checks=$((checks + 1))

# What it took.
expect 0 ANY '' -- "$NIGH" search -q --method graph --effort 50 --stats stats.json many.nigh queries.npy
python3 - << 'PYTHON' || fail 'statistics'
import json
stats = json.load(open("stats.json"))
assert 40 * 10 < stats["steps"] < 40 * 6000, stats
assert stats["steps"] < stats["distances"] <= 40 * 6000 and stats["lists"] == 0 and stats["exact"] == 0, stats
PYTHON
checks=$((checks + 1))

# A collection as small as this takes less to compare; exact answers are never by the graph.
for options in '' '--exact' '-r 60' '--method exact'; do
    # shellcheck disable=SC2086 # several words
    expect 0 ANY "exact: every one of 6,000 documents compared; 40 queries in # s (#/s), $counted" \
        -- "$NIGH" search $options many.nigh queries.npy
done

# Segments without a graph are searched within the same search.
"$NIGH" generate -q -n 500 --seed 9 --bits 256 -o more.npy || fail generate
"$NIGH" index -q --lists none many.nigh more.npy || fail 'index more'
"$NIGH" search -q --output tsv --method exact many.nigh more.npy > scan
"$NIGH" search -q --output tsv --method graph --effort 6000 --patience 0 many.nigh more.npy > walked
checks=$((checks + 1))
python3 - << 'PYTHON' || fail 'two segments'
scan = [line.split("\t") for line in open("scan")]
graph = [line.split("\t") for line in open("walked")]
assert [row[:2] for row in scan if row[3].strip() == "1"] == [row[:2] for row in graph if row[3].strip() == "1"]
PYTHON

# Wrong use.
expect 2 '' 'nigh: an effort of 5 cannot give 10 documents' -- "$NIGH" search --method graph --effort 5 many.nigh queries.npy
expect 2 '' 'nigh: a graph finds the nearest, not all within a radius: give k' \
    -- "$NIGH" search --method graph -r 60 many.nigh queries.npy
expect 2 '' 'nigh: answers of a graph are never certain' -- "$NIGH" search --method graph --exact many.nigh queries.npy
expect 2 '' ANY -- "$NIGH" search --method graph --effort 0 many.nigh queries.npy
expect 2 '' ANY -- "$NIGH" search --method graph --patience -1 many.nigh queries.npy

# A damaged graph: who demands it hears it, others do without.
graph_file=$(echo many.nigh/graph-*)
printf 'x' | dd of="$graph_file" bs=1 seek=45 conv=notrunc status=none
expect 2 '' ANY -- "$NIGH" search --method graph many.nigh queries.npy
contains .err "$graph_file"
"$NIGH" search -q --output tsv --method exact many.nigh queries.npy > scan
"$NIGH" search -q --output tsv many.nigh queries.npy > auto 2> err
same scan auto
contains err "nigh: 'many.nigh': the graphs of 1 segment cannot be used; see 'nigh check'"

# Nothing has no graph, and nothing is near it.
: > empty.hex
"$NIGH" index -q --bits 256 empty.nigh empty.hex || fail 'index nothing'
expect 1 ANY ANY -- "$NIGH" search --method graph empty.nigh queries.npy

finish
