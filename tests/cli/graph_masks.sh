#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs of masks: where documents keep weights and texts ask in some of the bits; told, kept, searched.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

words=(river stone lamp cloud copper violet engine harbour willow ember saddle quartz meadow lantern orchid timber
    falcon glacier pepper velvet anchor cobalt thistle marble)
for ((i = 0; i < 900; i++)); do
    text=
    for ((w = 0; w < 3 + i % 7; w++)); do text+="${words[(i * 7 + w * w * 5 + i / 11 * w) % 24]} "; done
    echo "{\"id\":\"d$i\",\"text\":\"$text number$((i % 50))\"}"
done > docs.jsonl
echo '{"id":"more","text":"copper lantern and much else"}' > more.jsonl

# Where it is not kept which bits count, a graph is one of all bits.
expect 0 '' ANY -- "$NIGH" index plain.nigh docs.jsonl
expect 0 '' ANY -- "$NIGH" index plain.nigh --graph --threads 1
contains .err 'graph: of 1 segment, '
expect 0 ANY '' -- "$NIGH" info plain.nigh --output jsonl
contains .out '"masked_graphs":0'
contains .out '"masks":false'

# With the documents it is: masks are kept, and a graph of them made.
expect 0 '' ANY -- "$NIGH" index a.nigh docs.jsonl --graph --threads 1
contains .err 'graph of masks: of 1 segment, '
expect 0 ANY '' -- "$NIGH" info a.nigh
contains .out '; of masks'
contains .out '  masks         which bits every document touches'
expect 0 ANY '' -- "$NIGH" info a.nigh --output jsonl
contains .out '"masked_graphs":1'
contains .out '"masks":true'
contains .out '"weights":false'
contains .out '"graph_masked":true'
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect_unchanged a.nigh 0 '' ANY -- "$NIGH" index a.nigh --graph
contains .err 'graph already exists'

# The same for any number of threads, later as with the documents, and from weights as from masks.  What is kept goes on
# being kept.
for kept in masks weights; do
    expect 0 '' ANY -- "$NIGH" index "$kept.nigh" docs.jsonl "--keep-$kept"
    expect 0 '' ANY -- "$NIGH" index "$kept.nigh" --graph --threads 3
    cmp -s <(tail -c +65 a.nigh/graph-*1 | head -c -128) <(tail -c +65 "$kept.nigh"/graph-*1 | head -c -128) ||
        fail "another graph by $kept"
    expect 0 '' ANY -- "$NIGH" index "$kept.nigh" more.jsonl
    expect 0 ANY '' -- "$NIGH" info "$kept.nigh" --output jsonl
    contains .out "\"$kept\":true"
done

# Other schemes have no masks, weights or not.
expect 0 '' ANY -- "$NIGH" index s.nigh docs.jsonl --scheme simhash --keep-weights --graph
contains .err 'graph: of 1 segment, '

# A graph is one of the ways to choose from for texts.
expect 0 ANY ANY -- "$NIGH" tune a.nigh --queries docs.jsonl --target-recall 0.5 --all --dry-run
contains .out 'graph, effort '

# Texts ask both kinds of graph, by weights and by bits; with an effort of all documents the answer is that of the scan.
for c in a.nigh plain.nigh; do
    for rank in weighted bits; do
        ask=("$NIGH" search -q --output tsv --rank "$rank" -k 5 "$c" --text 'copper willow number7' --text lantern)
        "${ask[@]}" --method exact > scan || fail scan
        "${ask[@]}" --method graph --effort 900 --patience 0 > walk || fail walk
        cut -f 1,3 scan > scan.distances
        cut -f 1,3 walk > walk.distances
        same scan.distances walk.distances
    done
done
finish
