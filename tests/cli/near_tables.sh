#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tables of near-copies: made unasked or asked for, of both forms, kept, removed; the answers of the scan; what is said
# where they do not reach; new against old by them.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

tables_of() { find "$1" -name 'tables-*' | wc -l; }
counted='kernel #, # threads'

"$NIGH" generate -q -n 40000 --bits 64 --seed 4 -o rows.npy || fail generate
"$NIGH" generate -q -n 40000 --bits 64 --seed 4 --queries 300 -o queries.npy || fail generate
"$NIGH" generate -q -n 3000 --bits 64 --seed 9 -o more.npy || fail generate
"$NIGH" generate -q -n 70000 --bits 256 --seed 3 -o wide.npy || fail generate

# Unasked where there are many of 64 to 128 bits; not of few, of wide ones, nor in spite of --no-tables or --lists none.
expect 0 '' ANY -- "$NIGH" index a.nigh rows.npy --threads 1 --stats s.json
contains .err 'tables: of 1 segment, '
contains .err '4 tables, by which nothing within 3 bits is missed; '
contains s.json "\"table_bytes\":$(cat a.nigh/tables-* | wc -c)"
expect 0 '' ANY -- "$NIGH" index a.nigh more.npy
[[ $(tables_of a.nigh) == 1 ]] || fail 'tables of few'
expect 0 '' ANY -- "$NIGH" index wide.nigh wide.npy --lists none
expect 0 '' ANY -- "$NIGH" index without.nigh rows.npy --no-tables
expect 0 '' ANY -- "$NIGH" index none.nigh rows.npy --lists none
[[ $(tables_of wide.nigh)$(tables_of without.nigh)$(tables_of none.nigh) == 000 ]] || fail 'tables that nobody asked for'
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect 0 '' ANY -- "$NIGH" index none.nigh --lists tables --threads 3
cmp -s a.nigh/tables-*1 none.nigh/tables-*1 || fail 'threads make other tables'
expect_unchanged none.nigh 0 '' ANY -- "$NIGH" index none.nigh --lists tables
contains .err 'tables already exist: '

# The answers of the scan, for any threads and batches, and it is said; without them a search says how to get some.
for k in '' '-k 2'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" search -q --output tsv -r 3 $k --method exact a.nigh queries.npy > scan
    [[ -s scan ]] || fail 'nothing is near'
    for options in '' '--method tables' '--threads 1 --batch 7' '--threads 3' '--exact --load --verify'; do
        # shellcheck disable=SC2086 # several words
        "$NIGH" search -q --output tsv -r 3 $k $options a.nigh queries.npy > got
        same scan got
    done
done
expect 0 ANY "exact, by tables; 300 queries in # s (#/s), $counted" -- "$NIGH" search -r 2 none.nigh queries.npy --stats s.json
contains s.json '"probes":1200'
expect 0 ANY ANY -- "$NIGH" search -r 3 without.nigh queries.npy
contains .err "what is within a few bits is found faster, and as exactly, by tables: 'nigh index without.nigh --lists tables --radius 3'"
expect 0 ANY ANY -- "$NIGH" search -r 4 none.nigh queries.npy
contains .err "the tables of 'none.nigh' find all within 3 bits, so every document was compared: 'nigh index none.nigh --lists tables --radius 4' makes them reach"
expect 2 '' "nigh: 'none.nigh': its tables find all within 3 bits, not 4" -- "$NIGH" search -r 4 --method tables none.nigh queries.npy
expect 2 '' "nigh: 'without.nigh': has no tables: add them ('nigh index COLLECTION --lists tables'), or search without ('--method auto')" \
    -- "$NIGH" search -r 3 --method tables without.nigh queries.npy
expect 2 '' ANY -- "$NIGH" search --method tables none.nigh queries.npy
contains .err 'tables find all within a radius: give one'
expect 0 '' ANY -- "$NIGH" index none.nigh --lists tables --blocks 6 --leading 2
contains .err '15 tables, by which nothing within 4 bits is missed; '
expect 0 ANY ANY -- "$NIGH" search -r 4 --output tsv none.nigh queries.npy
mv .out got
"$NIGH" search -q --output tsv -r 4 --method exact none.nigh queries.npy > scan
same scan got

# New against old: the same matches as by a finder, with nothing loaded.
"$NIGH" against -q -r 3 --output tsv without.nigh queries.npy > there
expect 0 ANY ANY -- "$NIGH" against -r 3 --output tsv none.nigh queries.npy
contains .err 'exact (tables of the collection, 6 choose 2)'
same there .out

# Told.
expect 0 ANY '' -- "$NIGH" info a.nigh
contains .out '  tables        of 1 segment; '
expect 0 ANY '' -- "$NIGH" info a.nigh --output jsonl
contains .out '"table_segments":1,"damaged_tables":0,"table_bytes":'
contains .out '"tables":4,"table_form":"permuted","table_radius":3,"table_probes":0,"table_bytes":'

# Sorted ones: half the room and less, for queries that know how sure their bits are.
python3 - << 'END'
import random
random.seed(5)
with open("texts.txt", "w") as out:
    for _ in range(3000):
        words = ["word%d" % random.randrange(900) for _ in range(60)]
        out.write(" ".join(words) + "\n")
END
head -n 200 texts.txt | sed 's/$/ more/' > asked.txt
"$NIGH" index -q texts.nigh texts.txt --format lines --scheme simhash --bits 64 --lists sorted || fail 'index --lists sorted'
expect 0 '' ANY -- "$NIGH" index texts.nigh --lists sorted
contains .err '1 table of sorted signatures, '
"$NIGH" search -q --output tsv -r 3 --method exact texts.nigh --format lines asked.txt | cut -f 1-3 | sort > scan
expect 0 ANY ANY -- "$NIGH" search --output tsv -r 3 --method tables texts.nigh --format lines asked.txt
contains .err 'approximate: exact for 0 of 200 queries'
cut -f 1-3 .out | sort > got
[[ $(comm -13 scan got | wc -l) == 0 ]] || fail 'sorted tables find what is not there'
(($(wc -l < got) * 100 >= $(wc -l < scan) * 90)) || fail "sorted tables find $(wc -l < got) of $(wc -l < scan)"
expect 2 '' ANY -- "$NIGH" search -r 3 --exact --method tables texts.nigh --format lines asked.txt
contains .err 'cannot give certain answers'

# Damaged ones are told, and made anew by the same command; removed.
printf 'x' | dd of="$(echo a.nigh/tables-*1)" bs=1 seek=9000 conv=notrunc status=none
expect 2 ANY ANY -- "$NIGH" check a.nigh
contains .err 'a.nigh/tables-00000000000000000001'
expect 0 '' ANY -- "$NIGH" index a.nigh --lists tables
contains .err 'tables: of 2 segments, '
truncate -s 100 a.nigh/tables-*2
expect 0 ANY "nigh: 'a.nigh': the tables of 1 segment cannot be used; see 'nigh check'" -- "$NIGH" info a.nigh
expect 0 '' ANY -- "$NIGH" index a.nigh --lists tables
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect 0 '' 'tables: removed' -- "$NIGH" index a.nigh --no-tables
[[ $(tables_of a.nigh) == 0 ]] || fail 'tables are left'
expect 0 '' ANY -- "$NIGH" index none.nigh --lists none
contains .err 'tables: removed'

hint="try 'nigh index --help'"
expect 2 '' "nigh index: --radius goes with --lists tables or --lists sorted
$hint" -- "$NIGH" index a.nigh --lists slices --radius 3
expect 2 '' "nigh index: --lists tables and --no-tables exclude each other
$hint" -- "$NIGH" index a.nigh --lists tables --no-tables
expect 2 '' "nigh index: --leading must be below --blocks
$hint" -- "$NIGH" index a.nigh --lists tables --blocks 3 --leading 3
expect_unchanged a.nigh 2 '' "nigh: tables of 64 bits find all within 15 bits at most, not 20" -- "$NIGH" index a.nigh --lists tables --radius 20

finish

# What they take is known before.
bytes=$(cat a.nigh/tables-* | wc -c)
expect 0 ANY '' -- "$NIGH" plan -q --tables a.nigh --output tsv
awk -F '\t' -v bytes="$bytes" '{ exit !($1 > bytes * .97 && $1 <= bytes) }' .out || fail "planned $(cat .out), not $bytes"
expect 2 '' ANY -- "$NIGH" plan --tables --columns a.nigh
