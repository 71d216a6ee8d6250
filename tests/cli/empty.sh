#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Zero documents work wherever the width is known.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

: > none.hex
expect 2 '' "nigh index: no input says how wide the signatures are; give --bits
try 'nigh index --help'" -- "$NIGH" index c.nigh none.hex
[[ -e c.nigh ]] && fail 'a collection was made'

expect 0 '' "added 0 documents (0 distinct) to 'c.nigh', which now has 0; # s (#/s)" -- "$NIGH" index c.nigh none.hex --bits 64
"$NIGH" generate -q -n 0 --bits 128 -o none.npy
"$NIGH" generate -q -n 0 --bits 128 -o none.u8bin
expect 0 '' '' -- "$NIGH" index -q npy.nigh none.npy
expect 0 '' '' -- "$NIGH" index -q u8bin.nigh none.u8bin
expect 0 '' '' -- "$NIGH" index -q null.nigh /dev/null --bits 8 --format hex

for collection in c npy u8bin null; do
    expect 0 ANY '' -- "$NIGH" info "$collection.nigh"
    contains .out 'documents     0'
    expect 0 ANY '' -- "$NIGH" check "$collection.nigh"
    contains .out 'is sound: 0 documents'
    expect 0 '' '' -- "$NIGH" export -q "$collection.nigh" -o -
done
"$NIGH" export -q npy.nigh -o again.npy
same none.npy again.npy

# Nothing to find: exit 1.
printf '0000000000000000\n' > query.hex
expect 1 'query 0
     nothing found' 'exact: every one of 0 documents compared; 1 query in # s (#/s), kernel #, # threads' \
    -- "$NIGH" search c.nigh query.hex
expect 2 '' "nigh: 'c.nigh': no document '0'" -- "$NIGH" search c.nigh --id 0

# Documents come later, and nothing may come to documents.
expect 0 '' '' -- "$NIGH" index -q c.nigh query.hex
expect 0 '' '' -- "$NIGH" index -q c.nigh none.hex
expect 0 $'0\t0\t0\t1' '' -- four "$NIGH" search -q --output tsv c.nigh query.hex
# An input without a line says nothing; the next one does.
expect 0 '' '' -- "$NIGH" index -q later.nigh none.hex query.hex
expect 0 '0000000000000000' '' -- "$NIGH" export -q later.nigh -o -

finish
