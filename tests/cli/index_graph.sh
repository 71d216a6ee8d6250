#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs: made with the documents or later, kept, removed; the same for any number of threads.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

graphs_of() { find "$1" -name 'graph-*' | wc -l; }

"$NIGH" generate -q -n 3000 --bits 256 -o small.npy
"$NIGH" generate -q -n 2500 --bits 256 --seed 3 -o more.npy

expect 0 '' ANY -- "$NIGH" index a.nigh small.npy
[[ $(graphs_of a.nigh) == 0 ]] || fail 'a graph that nobody asked for'
documents=$(state a.nigh/segment-* a.nigh/manifest-*)
expect 0 '' ANY -- "$NIGH" index a.nigh --graph --threads 1 --stats s.json
contains .err 'graph: of 1 segment, '
contains s.json "\"graph_bytes\":$(cat a.nigh/graph-* | wc -c)"
[[ $(graphs_of a.nigh) == 1 ]] || fail "$(graphs_of a.nigh) graphs"
[[ $(state a.nigh/segment-* a.nigh/manifest-*) == "$documents" ]] || fail 'documents have changed'
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect_unchanged a.nigh 0 '' ANY -- "$NIGH" index a.nigh --graph
contains .err 'graph already exists'

# Others: with the documents, by other threads, and only for what is new.
expect 0 '' ANY -- "$NIGH" index b.nigh small.npy --graph --threads 3
cmp -s a.nigh/graph-*1 b.nigh/graph-*1 || fail 'threads make another graph'
expect 0 '' ANY -- "$NIGH" index b.nigh more.npy --graph
[[ $(graphs_of b.nigh) == 2 ]] && cmp -s a.nigh/graph-*1 b.nigh/graph-*1 || fail 'made anew'

expect 0 ANY '' -- "$NIGH" info b.nigh
contains .out '  graph         of 2 segments; '
contains .out 'recall@10 '
expect 0 ANY '' -- "$NIGH" info b.nigh --output jsonl
contains .out '"graph_segments":2'

# Lists and graphs do not need each other.
expect 0 '' ANY -- "$NIGH" index b.nigh --lists slices --no-graph
[[ $(graphs_of b.nigh) == 0 && $(find b.nigh -name 'slices-*' | wc -l) == 2 ]] || fail 'not as asked for'
expect 0 ANY ANY -- "$NIGH" check b.nigh

# What they take is predicted: at most a third more, and never too little by a twentieth.  Of several segments it adds
# up, but for the memory to make them.
predicted() { "$NIGH" plan -q "$@" --graph --output tsv; }
bytes=$(cat a.nigh/graph-* | wc -c)
signatures=$("$NIGH" info a.nigh | sed -n 's/^  signatures *\([0-9,]*\).*/\1/p' | tr -d ,)
predicted a.nigh > one.tsv
awk -F '\t' -v bytes="$bytes" '{ exit !($1 > .95 * bytes && $1 < 1.34 * bytes && $3 > $1) }' one.tsv ||
    fail "$bytes bytes, predicted: $(cat one.tsv)"
predicted -n "$signatures" --bits 256 > counted.tsv
same one.tsv counted.tsv
predicted b.nigh > two.tsv
paste one.tsv two.tsv | awk -F '\t' '{ exit !($4 > 1.5 * $1 && $6 == $3) }' || fail "two: $(cat one.tsv two.tsv)"
expect 0 ANY '' -- "$NIGH" plan -n 10M --bits 1024 --graph --stats s.json
contains .out '10,000,000 signatures of 1024 bits'
contains .out '  to make it '
contains s.json '"graph_build_bytes":'
expect 0 ANY '' -- "$NIGH" plan -n 10M --bits 1024 --graph --output jsonl
contains .out '"build_bytes":'
expect 2 '' "nigh plan: --graph goes with -n and --bits, or a COLLECTION, and nothing else
try 'nigh plan --help'" -- "$NIGH" plan -n 1M --graph --radius 3
expect 2 '' ANY -- "$NIGH" plan -n 1M --graph --lists slices
expect 2 '' ANY -- "$NIGH" plan -n 5000M --graph
contains .err 'several segments'

expect 2 '' ANY -- "$NIGH" index b.nigh --graph --no-graph
contains .err 'exclude each other'
expect_unchanged a.nigh 2 '' ANY -- "$NIGH" index a.nigh

finish
