#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What info says, to people and to programs.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000\nb\t0100\nc\t0000\n' > docs.hex
printf 'd\tffff\n' > more.hex
"$NIGH" index -q c.nigh docs.hex || fail index
bytes=$(stat -c %s c.nigh/segment-*)
expect 0 "c.nigh
  documents     3
  signatures    2 distinct; 33.3% of the documents are exact copies
  width         16 bits
  ids           yes
  metadata      none
  bytes         $(printf "%'d" "$bytes" | sed ':a;s/\B[0-9]\{3\}\>/,&/;ta'); $(python3 -c "print('%.1f' % ($bytes / 3))") a document
  sequence      1
  scheme        bits = 16
                kind = signatures

     segment      documents     signatures               bytes
           1              3              2               $(printf '%5s' "$(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<< "$bytes")")" '' \
    -- "$NIGH" info c.nigh
expect 0 "{\"collection\":\"c.nigh\",\"documents\":3,\"signatures\":2,\"width_bits\":16,\"ids\":true,\"metadata\":false,\"weights\":false,\"masks\":false,\"text_bytes\":0,\"keys\":0,\"vocabulary_bytes\":0,\"bytes\":$bytes,\"sequence\":1,\"damaged_manifests\":0,\"sliced_segments\":0,\"damaged_lists\":0,\"list_bytes\":0,\"fitted_segments\":0,\"graph_segments\":0,\"damaged_graphs\":0,\"graph_bytes\":0,\"masked_graphs\":0,\"graph_recall\":0.0000,\"column_segments\":0,\"damaged_columns\":0,\"column_bytes\":0,\"table_segments\":0,\"damaged_tables\":0,\"table_bytes\":0,\"logs\":0,\"log_documents\":0,\"log_bytes\":0,\"scheme\":{\"bits\":\"16\",\"kind\":\"signatures\"},\"segments\":[{\"number\":1,\"documents\":3,\"signatures\":2,\"bytes\":$bytes,\"slices\":0,\"slice_width\":0,\"list_bytes\":0,\"graph_degree\":0,\"graph_edges\":0,\"graph_bytes\":0,\"graph_recall\":0.0000,\"graph_masked\":false,\"column_bytes\":0,\"tables\":0,\"table_form\":\"none\",\"table_radius\":0,\"table_probes\":0,\"table_bytes\":0}]}" '' \
    -- "$NIGH" info --output jsonl c.nigh

"$NIGH" index -q c.nigh more.hex || fail index
expect 0 ANY '' -- "$NIGH" info c.nigh
contains .out '3 distinct within their segments; 25.0% of the documents are exact copies'
expect 0 ANY '' -- "$NIGH" info --output=jsonl c.nigh
python3 - << 'PYTHON' || fail 'the object of info'
import json
info = json.load(open(".out"))
assert info["documents"] == 4 and info["sequence"] == 2 and len(info["segments"]) == 2, info
assert [s["documents"] for s in info["segments"]] == [3, 1], info
assert sum(s["bytes"] for s in info["segments"]) == info["bytes"], info
PYTHON

# Slice lists, of those segments that have some; where they cannot be used, it is told and nothing else changes.
"$NIGH" generate -q -n 300 --bits 64 -o wide.hex
"$NIGH" index -q --lists none s.nigh wide.hex || fail index
expect 0 ANY '' -- "$NIGH" index -q s.nigh --lists slices --slice-width 8
expect 0 ANY '' -- "$NIGH" info s.nigh
contains .out '  slice lists   of 1 segment; '
contains .out 'bytes  slice width          list bytes'
expect 0 ANY '' -- "$NIGH" info --output jsonl s.nigh
python3 - << 'PYTHON' || fail 'the lists in the object of info'
import glob, json, os
info = json.load(open(".out"))
bytes = sum(os.path.getsize(name) for name in glob.glob("s.nigh/slices-*"))
assert (info["sliced_segments"], info["damaged_lists"], info["list_bytes"]) == (1, 0, bytes), info
segment = info["segments"][0]
assert (segment["slices"], segment["slice_width"], segment["list_bytes"]) == (8, 8, bytes), info
assert info["bytes"] == os.path.getsize(glob.glob("s.nigh/segment-*")[0]), info
PYTHON
truncate -s 5000 s.nigh/slices-*
expect 0 ANY "nigh: 's.nigh': the slice lists of 1 segment cannot be used; see 'nigh check'" -- "$NIGH" info s.nigh
contains .out 'documents     300'

# A newer manifest that cannot be read is told of; the state before still serves.
newest=$(printf '%s\n' c.nigh/manifest-* | tail -1)
cp "$newest" saved
printf 'x' | dd of="$newest" bs=1 seek=40 conv=notrunc status=none
expect 0 ANY "nigh: 'c.nigh': 1 newer manifest is unreadable; this is the state before it; see 'nigh check'" -- "$NIGH" info c.nigh
contains .out 'documents     3'
cp saved "$newest"
expect 0 ANY '' -- "$NIGH" info c.nigh

# Documents of a log, which are in no segment yet; damage in it is told, and the rest all the same.
cp -r "$NIGH_SOURCE_DIR/tests/golden/v1-log.nigh" logged.nigh
expect 0 ANY '' -- "$NIGH" info logged.nigh
grep -q '^  log           [1-9][0-9]* documents in no segment yet; [0-9,]* bytes' .out || fail 'the log is not told'
expect 0 ANY '' -- "$NIGH" info --output jsonl logged.nigh
python3 - << 'PYTHON' || fail 'the log in the object of info'
import glob, json, os
info = json.load(open(".out"))
assert info["logs"] == 1 and info["log_documents"] > 1, info
assert info["log_bytes"] == os.path.getsize(glob.glob("logged.nigh/log-*")[0]), info
PYTHON

finish
