#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pairs within a collection and between two, in both forms; the radius that goes without saying; what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000\nb\t0100\nc\t0000\nd\tffff\n' > first.hex
printf 'e\tfffe\nf"\t00ff\n' > second.hex
"$NIGH" index -q c.nigh first.hex || fail index
"$NIGH" index -q c.nigh second.hex || fail index

expect 0 '{"id1":"a","id2":"b","distance":1}
{"id1":"a","id2":"c","distance":0}
{"id1":"b","id2":"c","distance":1}
{"id1":"d","id2":"e","distance":1}' '4 pairs within 1 bit, among 6 documents; # s (#/s)' -- "$NIGH" pairs c.nigh --radius 1
expect 0 'a	c	0' '' -- "$NIGH" pairs -q -r 0 --output tsv c.nigh
expect 0 '0	2	0' '' -- "$NIGH" pairs -q -r 0 --output tsv --numbers c.nigh
expect 0 ANY '' -- "$NIGH" pairs -q -r 8 c.nigh
contains .out '"id2":"f\""'
expect 0 'a	b	1
a	c	0' '2 pairs within 1 bit and perhaps more, among 6 documents; # s (#/s)' \
    -- "$NIGH" pairs c.nigh -r 1 --limit 2 --output tsv

expect 2 '' "nigh pairs: --radius 17 is more than the 16 bits there are
try 'nigh pairs --help'" -- "$NIGH" pairs -r 17 c.nigh
expect 0 ANY '' -- "$NIGH" pairs -q -r 16 c.nigh

# Nothing found is not an error, and not success.
printf '0000\nffff\n' > far.hex
"$NIGH" index -q far.nigh far.hex || fail index
expect 1 '' '0 pairs within 3 bits, among 2 documents; # s (#/s)' -- "$NIGH" pairs -r 3 far.nigh
# Without ids documents go by number; between two collections there are no pairs of one.
expect 0 '{"id1":"0","id2":"a","distance":0}
{"id1":"0","id2":"c","distance":0}
{"id1":"1","id2":"d","distance":0}' '' -- "$NIGH" pairs -q -r 0 far.nigh c.nigh

# Of many copies only the pairs with the first.
for ((i = 0; i < 50; i++)); do echo 1234; done > copies.hex
"$NIGH" index -q copies.nigh copies.hex || fail index
expect 0 ANY '49 pairs within 0 bits, among 50 documents; # s (#/s)
not listed: 1,176 pairs of documents with equal signatures; --copies lists more' \
    -- "$NIGH" pairs -r 0 --copies 10 copies.nigh

# The answer depends neither on the threads nor on the memory, and nothing is left behind.
"$NIGH" generate -q -n 60000 --bits 64 -o many.npy || fail generate
"$NIGH" index -q many.nigh many.npy || fail index
mkdir temporary
expect 0 ANY '' -- "$NIGH" pairs -q -r 3 many.nigh
cp .out whole
for threads in 1 2 3; do
    expect 0 ANY '' -- "$NIGH" pairs -q -r 3 --threads "$threads" --memory 1M --temporary temporary --stats stats many.nigh
    same .out whole
done
python3 -c '
import json
stats = json.load(open("stats"))
assert stats["disk_bytes"] > 0 and stats["tables"] == 4 and stats["truncated"] == 0, stats
assert stats["documents"] == 60000 and stats["pairs"] == sum(1 for _ in open("whole")), stats
' || fail 'the statistics'
[[ -z $(ls -A temporary) ]] || fail 'temporary files are left'
expect 2 '' ANY -- "$NIGH" pairs -r 3 --memory 1M --temporary nowhere many.nigh
contains .err 'nowhere/'
expect 2 '' ANY -- env TMPDIR=neverland "$NIGH" pairs -r 3 --memory 1M many.nigh
contains .err 'neverland/'
expect 0 ANY '' -- env TMPDIR=neverland "$NIGH" pairs -q -r 3 --memory 1M --temporary temporary many.nigh

# Signatures made for near-copies have a radius of their own.
printf '{"id":"%s","text":"one two three four five six"}\n' x y > texts.jsonl
"$NIGH" index -q --scheme minhash min.nigh texts.jsonl || fail index
expect 0 ANY ANY -- "$NIGH" pairs min.nigh
contains .err 'within 36 bits'
"$NIGH" index -q --scheme simhash sim.nigh texts.jsonl || fail index
expect 0 ANY ANY -- "$NIGH" pairs sim.nigh
contains .err 'within 3 bits'

# What goes wrong.
expect 2 '' "nigh pairs: give --radius: how many of the 16 bits may differ depends on how the signatures of 'c.nigh' were made
try 'nigh pairs --help'" -- "$NIGH" pairs c.nigh
expect 2 '' "nigh pairs: no COLLECTION given
try 'nigh pairs --help'" -- "$NIGH" pairs
expect 2 '' ANY -- "$NIGH" pairs -r 1 a b c
expect 2 '' ANY -- "$NIGH" pairs -r 1 nothing.nigh
expect 2 '' ANY -- "$NIGH" pairs -r 1 c.nigh many.nigh
contains .err '16 bits'
expect 2 '' ANY -- "$NIGH" pairs -r 1 --memory lots c.nigh
expect 2 '' ANY -- "$NIGH" pairs -r 1 --output xml c.nigh

finish
