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
contains .err 'graph is there already'

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

expect 2 '' ANY -- "$NIGH" index b.nigh --graph --no-graph
contains .err 'exclude each other'
expect_unchanged a.nigh 2 '' ANY -- "$NIGH" index a.nigh

finish
