#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Nearest, within a radius, both; by file and by id; the exact bytes of each form.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000\nb\t0100\nc\t0300\nd\tffff\ne\t0000\n' > docs.hex
printf 'first\t0000\nsecond\tff7f\n' > queries.hex
"$NIGH" index -q c.nigh docs.hex || fail index

expect 0 'query first
     rank  distance  similarity  document
        1         0     100.00%  a
        2         0     100.00%  e
        3         1      93.75%  b

query second
     rank  distance  similarity  document
        1         1      93.75%  d
        2        13      18.75%  c
        3        14      12.50%  b' \
    'exact: every one of 5 documents compared; 2 queries in # s (#/s), kernel #, # threads' \
    -- "$NIGH" search -k 3 c.nigh queries.hex

expect 0 $'first\ta\t0\t1\nfirst\te\t0\t2\nsecond\td\t1\t1\nsecond\tc\t13\t2' '' \
    -- four "$NIGH" search -q -k 2 --output tsv c.nigh queries.hex
expect 0 '{"query":"first","document":"a","distance":0,"rank":1,"similarity":1.000000,"bits":16}
{"query":"second","document":"d","distance":1,"rank":1,"similarity":0.937500,"bits":16}' '' -- "$NIGH" search -q -k 1 --output jsonl c.nigh queries.hex
expect 0 'first Q0 a 1 1.000000 nigh
first Q0 e 2 1.000000 nigh
second Q0 d 1 0.937500 nigh
second Q0 c 2 0.187500 nigh' '' -- "$NIGH" search -q -k 2 --output trec c.nigh queries.hex

# Radius alone: all within; with -k: the nearest of them.
expect 0 $'first\ta\t0\t1\nfirst\te\t0\t2\nfirst\tb\t1\t3\nfirst\tc\t2\t4\nsecond\td\t1\t1' '' \
    -- four "$NIGH" search -q --radius 2 --output tsv c.nigh queries.hex
expect 0 $'first\ta\t0\t1\nfirst\te\t0\t2\nsecond\td\t1\t1' '' \
    -- four "$NIGH" search -q -r 2 -k 2 --output tsv c.nigh queries.hex
expect 0 $'first\ta\t0\t1\nfirst\te\t0\t2' '' -- four "$NIGH" search -q -r 0 --output tsv c.nigh queries.hex
expect 0 'query first
     rank  distance  similarity  document
        1         0     100.00%  a
        2         0     100.00%  e

query second
     nothing found' '' -- "$NIGH" search -q -r 0 c.nigh queries.hex

# Nothing at all: exit 1.
printf 'lost\t0ff0\n' > lost.hex
expect 1 '' '' -- four "$NIGH" search -q -r 3 --output tsv c.nigh lost.hex
expect 1 'query lost
     nothing found' 'exact: every one of 5 documents compared; 1 query in # s (#/s), kernel #, # threads' \
    -- "$NIGH" search -r 3 c.nigh lost.hex
: > none.hex
expect 1 '' 'no query was asked' \
    -- "$NIGH" search c.nigh none.hex

# More asked for than there is.
expect 0 $'first\ta\t0\t1\nfirst\te\t0\t2\nfirst\tb\t1\t3\nfirst\tc\t2\t4\nfirst\td\t16\t5' '' \
    -- four from <(head -1 queries.hex) "$NIGH" search -q -k 4294967293 --output tsv c.nigh -

# By id, before the files and in the order given.
expect 0 $'c\tc\t0\t1\na\ta\t0\t1\nfirst\ta\t0\t1\nsecond\td\t1\t1' '' \
    -- four "$NIGH" search -q -k 1 --id c --output tsv c.nigh queries.hex --id=a
expect 2 '' "nigh: 'c.nigh': no document 'nobody'" -- "$NIGH" search c.nigh --id nobody

# Queries without ids are numbered on through the files.
printf '0000\n0100\n' > unnamed1.hex
printf 'ffff\n' > unnamed2.hex
expect 0 $'0\ta\t0\t1\n1\tb\t0\t1\nfirst\ta\t0\t1\nsecond\td\t1\t1\n2\td\t0\t1' '' \
    -- four "$NIGH" search -q -k 1 --output tsv c.nigh unnamed1.hex queries.hex unnamed2.hex

# The size of the batch, the method and --verify change nothing in the answer.
four "$NIGH" search -q --output tsv c.nigh queries.hex unnamed1.hex > whole
for options in '--batch 1' '--batch 2' '--batch 65536' --exact '--method exact' '--method auto' --verify '--bits 16'; do
    # shellcheck disable=SC2086 # two words
    expect 0 "$(cat whole)" '' -- four "$NIGH" search -q --output tsv $options c.nigh queries.hex unnamed1.hex
done

# Widths that do not fit.
printf '00\n' > narrow.hex
expect 2 '' "nigh: 'narrow.hex', line 1: signatures have 8 bits, 16 were asked for
nigh: 'c.nigh' holds signatures of 16 bits" -- "$NIGH" search c.nigh narrow.hex
expect 2 '' "nigh: 'c.nigh' holds signatures of 16 bits, not 8" -- "$NIGH" search --bits 8 c.nigh narrow.hex
expect 2 '' "nigh search: there is no file 'two words'; to search for a text, give --text 'two words'
try 'nigh search --help'" -- "$NIGH" search c.nigh 'two words'
expect 2 '' "nigh: 'c': cannot open: No such file or directory; did you mean 'c.nigh'?" -- "$NIGH" info c
expect 2 '' "nigh: 'missing.hex': cannot open: No such file or directory" -- "$NIGH" search c.nigh missing.hex

# A radius beyond the width means nothing; all of it does.
expect 2 '' "nigh search: --radius 17 is more than the 16 bits there are
try 'nigh search --help'" -- "$NIGH" search --radius 17 c.nigh queries.hex
expect 0 ANY '' -- "$NIGH" search -q --radius 16 c.nigh queries.hex
finish
