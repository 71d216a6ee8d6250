#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Columns: made with the documents or later, kept, removed, made unasked of many texts; the same for any number of threads.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

columns_of() { find "$1" -name 'columns-*' | wc -l; }

"$NIGH" generate -q -n 3000 --bits 256 -o small.npy
"$NIGH" generate -q -n 2500 --bits 256 --seed 3 -o more.npy

expect 0 '' ANY -- "$NIGH" index a.nigh small.npy
[[ $(columns_of a.nigh) == 0 ]] || fail 'columns that nobody asked for'
documents=$(state a.nigh/segment-* a.nigh/manifest-*)
expect 0 '' ANY -- "$NIGH" index a.nigh --columns --threads 1 --stats s.json
contains .err 'columns: of 1 segment, '
contains s.json "\"column_bytes\":$(cat a.nigh/columns-* | wc -c)"
[[ $(columns_of a.nigh) == 1 ]] || fail "$(columns_of a.nigh) files of columns"
[[ $(state a.nigh/segment-* a.nigh/manifest-*) == "$documents" ]] || fail 'documents have changed'
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect_unchanged a.nigh 0 '' ANY -- "$NIGH" index a.nigh --columns
contains .err 'columns already exist'

# Others: with the documents, by other threads, and only for what is new.
expect 0 '' ANY -- "$NIGH" index b.nigh small.npy --columns --threads 3
cmp -s a.nigh/columns-*1 b.nigh/columns-*1 || fail 'threads make other columns'
expect 0 '' ANY -- "$NIGH" index b.nigh more.npy --columns
[[ $(columns_of b.nigh) == 2 ]] && cmp -s a.nigh/columns-*1 b.nigh/columns-*1 || fail 'made anew'

expect 0 ANY '' -- "$NIGH" info b.nigh
contains .out "  columns       of 2 segments; $(printf "%'d" "$(cat b.nigh/columns-* | wc -c)" | sed ':a;s/\([0-9]\)\([0-9]\{3\}\)\($\|,\)/\1,\2\3/;ta') bytes"
expect 0 ANY '' -- "$NIGH" info b.nigh --output jsonl
contains .out '"column_segments":2,"damaged_columns":0,"column_bytes":'
python3 -c '
import json, os, sys
told = json.load(open(".out"))
sizes = [os.path.getsize("b.nigh/columns-%020d" % n) for n in (1, 2)]
assert [s["column_bytes"] for s in told["segments"]] == sizes and told["column_bytes"] == sum(sizes), told' || fail 'not these bytes'

# What they take is predicted, but for header and footer.
"$NIGH" plan -q b.nigh --columns --output tsv > plan.tsv
awk -F '\t' -v bytes="$(cat b.nigh/columns-* | wc -c)" '{ exit !($1 + 2 * 4160 == bytes) }' plan.tsv || fail "predicted: $(cat plan.tsv)"
expect 0 ANY '' -- "$NIGH" plan -n 10M --bits 1024 --columns --stats s.json
contains .out '  columns        1.3 GB    128; mapped from disk'
contains s.json '"column_bytes":1282'
expect 0 ANY '' -- "$NIGH" plan -n 10M --bits 1024 --columns --output jsonl
contains .out '"signature_bytes":128.3}'
expect 2 '' "nigh plan: --lists slices, --graph, --columns and --tables: one at a time
try 'nigh plan --help'" -- "$NIGH" plan -n 1M --columns --graph
expect 2 '' "nigh plan: --columns goes with -n and --bits, or a COLLECTION, and nothing else
try 'nigh plan --help'" -- "$NIGH" plan -n 1M --columns --radius 3

# Damaged ones are told, and made anew by the same command.
printf 'x' | dd of="$(echo b.nigh/columns-*1)" bs=1 seek=9000 conv=notrunc status=none
expect 2 ANY ANY -- "$NIGH" check b.nigh
contains .err 'b.nigh/columns-00000000000000000001'
truncate -s 100 b.nigh/columns-*2
expect 0 ANY "nigh: 'b.nigh': the columns of 1 segment cannot be used; see 'nigh check'" -- "$NIGH" info b.nigh
expect 0 '' ANY -- "$NIGH" index b.nigh --columns
contains .err 'columns: of 2 segments, '
expect 0 ANY ANY -- "$NIGH" check b.nigh

# Lists, graphs and columns do not need each other.
expect 0 '' ANY -- "$NIGH" index b.nigh --lists slices --no-columns
contains .err 'columns: removed'
[[ $(columns_of b.nigh) == 0 && $(find b.nigh -name 'slices-*' | wc -l) == 2 ]] || fail 'not as asked for'
expect 0 ANY ANY -- "$NIGH" check b.nigh

expect 2 '' ANY -- "$NIGH" index b.nigh --columns --no-columns
contains .err '--columns and --no-columns exclude each other'
expect_unchanged a.nigh 2 '' ANY -- "$NIGH" index a.nigh

# Many texts get them unasked, which ask in some of the bits only; other documents, few and those of --no-columns do not.
python3 - << 'END'
import random
random.seed(5)
with open("many.txt", "w") as out:
    out.writelines(" ".join("word%d" % random.randrange(3000) for _ in range(5)) + "\n" for _ in range(34000))
END
expect 0 '' ANY -- "$NIGH" index many.nigh many.txt --format lines --bits 256
contains .err 'columns: of 1 segment, '
[[ $(columns_of many.nigh) == 1 ]] || fail 'many texts have no columns'
head -n 1000 many.txt | sed 's/$/ more/' > few.txt
expect 0 '' ANY -- "$NIGH" index many.nigh few.txt --format lines
[[ $(columns_of many.nigh) == 1 ]] || fail 'few texts have columns'
expect 0 '' ANY -- "$NIGH" index none.nigh many.txt --format lines --bits 256 --no-columns
[[ $(columns_of none.nigh) == 0 ]] || fail 'columns in spite of --no-columns'
expect 0 '' ANY -- "$NIGH" index simhash.nigh many.txt --format lines --bits 256 --scheme simhash
[[ $(columns_of simhash.nigh) == 0 ]] || fail 'simhash documents have columns'

finish
