#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Searching slice lists: what each method answers, what it says the answer is worth, and what it refuses.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

counted='kernel #, # threads'

# Two slices of 8 bits.  far shares neither with the query 0000, and none is one bit away.
printf 'a\t0000\nb\t0100\nc\t0300\nfar\tffff\nmid\t0f0f\n' > docs.hex
printf 'first\t0000\n' > first.hex
"$NIGH" index -q --lists none c.nigh docs.hex || fail index

# Without lists: auto compares every document, and who demands lists hears how to get them.
expect 0 ANY "exact: every one of 5 documents compared; 1 query in # s (#/s), $counted" -- "$NIGH" search c.nigh first.hex
for method in slices slices-plain; do
    expect 2 '' "nigh: 'c.nigh': has no slice lists: add them ('nigh index COLLECTION --lists slices'), or search without ('--method exact')" \
        -- "$NIGH" search --method "$method" c.nigh first.hex
done

"$NIGH" index -q --lists slices --slice-width 8 c.nigh || fail 'index --lists'

# A collection as small as this takes less to compare; said so.
expect 0 ANY "exact: every one of 5 documents compared; 1 query in # s (#/s), $counted" -- "$NIGH" search c.nigh first.hex
expect 0 ANY "exact: every one of 5 documents compared, which takes less than the lists; 1 query in # s (#/s), $counted" \
    -- "$NIGH" search --method slices c.nigh first.hex

# By lists whatever it takes: breadth 0 sees all that share a slice, b and c by their second byte.
lists=(--method slices --budget all)
expect 0 'query first
     rank  distance  similarity  document
        1         0     100.00%  a
        2         1      93.75%  b
        3         2      87.50%  c
     approximate: nothing nearer than 2 bits was missed' \
    "approximate: exact for 0 of 1 query; every document nearer than 2 bits was seen; 1 query in # s (#/s), $counted" \
    -- "$NIGH" search "${lists[@]}" --breadth 0 c.nigh first.hex
expect 0 'query first
     rank  distance  similarity  document
        1         0     100.00%  a
        2         1      93.75%  b' \
    "exact, 1 of 1 query by slice lists alone; 1 query in # s (#/s), $counted" \
    -- "$NIGH" search "${lists[@]}" --breadth 0 -k 2 c.nigh first.hex
expect 0 '{"query":"first","document":"a","distance":0,"rank":1,"similarity":1.000000,"bits":16,"exact":false,"below":2}
{"query":"first","document":"b","distance":1,"rank":2,"similarity":0.937500,"bits":16,"exact":false,"below":2}
{"query":"first","document":"c","distance":2,"rank":3,"similarity":0.875000,"bits":16,"exact":false,"below":2}' '' \
    -- "$NIGH" search -q "${lists[@]}" --breadth 0 --output jsonl c.nigh first.hex
expect 0 '{"query":"first","document":"a","distance":0,"rank":1,"similarity":1.000000,"bits":16,"exact":true}' '' \
    -- "$NIGH" search -q "${lists[@]}" --breadth 0 -k 1 --output jsonl c.nigh first.hex
expect 0 $'first\ta\t0\t1\nfirst\tb\t1\t2\nfirst\tc\t2\t3' '' \
    -- four "$NIGH" search -q "${lists[@]}" --breadth 0 --output tsv c.nigh first.hex

# Within a radius: what the breadth guarantees is exact, beyond it the answer says so.
expect 0 $'query first\n     rank  distance  similarity  document\n        1         0     100.00%  a\n        2         1      93.75%  b' '' \
    -- "$NIGH" search -q "${lists[@]}" --breadth 0 -r 1 c.nigh first.hex
expect 0 $'first\ta\t0\t1\nfirst\tb\t1\t2\nfirst\tc\t2\t3' \
    "approximate: exact for 0 of 1 query; every document nearer than 2 bits was seen; 1 query in # s (#/s), $counted" \
    -- four "$NIGH" search "${lists[@]}" --breadth 0 -r 8 --output tsv c.nigh first.hex

# Certain is the scan's answer, always.
"$NIGH" generate -q -n 20000 --bits 256 -o many.npy || fail generate
"$NIGH" generate -q -n 20000 --bits 256 --queries 40 -o queries.npy || fail generate
"$NIGH" index -q --lists slices --slice-width 12 many.nigh many.npy || fail index
for options in '-k 1' '-k 10' '-k 200' '-r 30' '-r 90' '-r 40 -k 3' '-k 30000'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" search -q --output tsv --method exact $options many.nigh queries.npy > scan
    for way in --exact '--stop certain --method slices' '--exact --method slices --budget all --slices 22' \
        '--exact --breadth 0 --batch 7 --threads 1' '--exact --candidates 30000'; do
        # shellcheck disable=SC2086 # several words
        "$NIGH" search -q --output tsv $options $way many.nigh queries.npy > certain
        same scan certain
    done
done

# Batches and threads change nothing.
"$NIGH" search -q "${lists[@]}" --output jsonl many.nigh queries.npy > whole
grep -q '"exact":true' whole || fail 'nothing exact'
grep -q '"exact":false' whole || fail 'nothing approximate'
for options in '--batch 1' '--batch 3 --threads 3' '--threads 1'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" search -q "${lists[@]}" --output jsonl $options many.nigh queries.npy > parts
    same whole parts
done

# What it took.
expect 0 ANY '' -- "$NIGH" search -q "${lists[@]}" --breadth 1 --slices 4 --stats stats.json many.nigh queries.npy
checks=$((checks + 1))
python3 - << 'PYTHON' || fail 'statistics'
import json
stats = json.load(open("stats.json"))
assert stats["lists"] == 40 * 4 * (1 + 12), stats
assert stats["postings"] > 0 and stats["skipped_lists"] == 0 and stats["scanned"] == 0, stats
assert 0 <= stats["exact_queries"] < 40 and stats["exact"] == 0, stats
PYTHON
expect 0 ANY '' -- "$NIGH" search -q --method slices-plain --budget 1K --stats stats.json many.nigh queries.npy
checks=$((checks + 1))
python3 - << 'PYTHON' || fail 'statistics'
import json
stats = json.load(open("stats.json"))
assert 0 < stats["postings"] <= 40 * 1000 and stats["skipped_lists"] > 0, stats
PYTHON

# Wrong use.
expect 2 '' "nigh: a breadth of 13 is more than the 12 bits of a slice" \
    -- "$NIGH" search --breadth 13 many.nigh queries.npy
expect 2 '' "nigh: signatures admitted up to 2 bits, beyond the breadth of 1" \
    -- "$NIGH" search --breadth 1 --admit 2 many.nigh queries.npy
expect 2 '' "nigh: 5 candidates cannot give 10 documents" -- "$NIGH" search --candidates 5 many.nigh queries.npy
expect 2 '' "nigh: 23 slices asked for, and signatures are cut into 22" \
    -- "$NIGH" search --slices 23 many.nigh queries.npy
expect 2 '' "nigh search: --stop seen is for --method slices-plain only
try 'nigh search --help'" -- "$NIGH" search --stop seen many.nigh queries.npy
expect 2 '' ANY -- "$NIGH" search --budget some many.nigh queries.npy
contains .err "--budget takes"
expect 2 '' ANY -- "$NIGH" search --slices 0 many.nigh queries.npy
expect 2 '' ANY -- "$NIGH" search --method lists many.nigh queries.npy

# Texts that ask a topsig collection are compared in some bits only.
printf 'the quick brown fox\n' > fox.txt
printf 'a lazy dog sleeps all day\n' > dog.txt
"$NIGH" index -q --scheme topsig --lists slices --slice-width 16 texts.nigh fox.txt dog.txt || fail 'index texts'
expect 0 ANY '' -- "$NIGH" search -q texts.nigh --text 'brown fox'
expect 2 '' 'nigh: slice lists cannot be searched in some of the bits only; give --all-bits, or another --method' \
    -- "$NIGH" search -q --method slices texts.nigh --text 'brown fox'
expect 0 ANY '' -- "$NIGH" search -q --method slices --all-bits texts.nigh --text 'brown fox'

# Damaged lists: who demands them hears it, others do without.
lists_file=$(echo many.nigh/slices-*)
printf 'x' | dd of="$lists_file" bs=1 seek=45 conv=notrunc status=none
expect 2 '' ANY -- "$NIGH" search --method slices many.nigh queries.npy
contains .err "$lists_file"
"$NIGH" search -q --output tsv --method exact many.nigh queries.npy > scan
"$NIGH" search -q --output tsv many.nigh queries.npy > auto 2> err
same scan auto
contains err "nigh: 'many.nigh': the slice lists of 1 segment cannot be used; see 'nigh check'"

# Nothing has no lists, and nothing is near it.
: > empty.hex
"$NIGH" index -q --lists slices --bits 256 empty.nigh empty.hex || fail 'index nothing'
for method in auto exact slices slices-plain; do
    expect 1 ANY ANY -- "$NIGH" search --method $method empty.nigh queries.npy
done

finish
