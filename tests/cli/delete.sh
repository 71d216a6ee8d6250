#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh delete, nigh index --replace and nigh search --among: what every command sees afterwards.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t00000000000000ff\nb\t00000000000000fe\nc\t00000000000000ff\nd\tff00000000000000\n' > in.hex
printf 'e\t00000000000000ff\n' > more.hex
printf 'q\t00000000000000ff\n' > q.hex
"$NIGH" index -q c.nigh in.hex || fail index
"$NIGH" index -q c.nigh more.hex || fail 'index more'

nearest() { "$NIGH" search -q --output tsv -k 10 "$@" | cut -f 2 | tr '\n' ' '; }
[[ $(nearest c.nigh q.hex) == 'a c e b d ' ]] || fail 'before'

# The first of several copies: the order is that of those that are left.
expect 0 '' "deleted 1 document from 'c.nigh', which now has 4" -- "$NIGH" delete c.nigh a
[[ $(nearest c.nigh q.hex) == 'c e b d ' ]] || fail 'without a'
expect 1 '' "nigh: not there: 'a'
deleted 1 document from 'c.nigh', which now has 3; some were not there" -- "$NIGH" delete c.nigh a d
[[ $(nearest c.nigh q.hex) == 'c e b ' ]] || fail 'without a and d'
expect 1 '' "nigh: not there: 'a'
nigh: not there: 'x'
nigh: not there: 'y'; more such are counted, not shown
deleted 0 documents from 'c.nigh', which now has 3; some were not there" -- "$NIGH" delete c.nigh a x y z
expect 0 ANY ANY -- "$NIGH" check c.nigh
expect 2 '' "nigh: 'c.nigh': no document 'a'" -- "$NIGH" search -q c.nigh --id a
expect 0 'b	00000000000000fe
c	00000000000000ff
e	00000000000000ff' '' -- "$NIGH" export -q c.nigh -o -
expect 0 ANY '' -- "$NIGH" info c.nigh
grep -q '^  documents     3$' .out || fail 'info: documents'
grep -q '^  deleted       2, which still take their space$' .out || fail 'info: deleted'
"$NIGH" info --output jsonl c.nigh | grep -q '"documents":3,"deleted":2,' || fail 'info as JSON'
expect 0 'c	e	0' '' -- bash -c "\"$NIGH\" pairs -q --radius 0 --output tsv c.nigh | cut -f 1-3"

# A deleted id is free again; --replace puts a new one in the place of what is there.
printf 'a\t0000000000000001\nb\t0000000000000002\n' > again.hex
expect 2 '' "nigh: 'again.hex', row 2: the id 'b' already exists, with another signature; nothing was added" -- "$NIGH" index c.nigh again.hex
"$NIGH" index -q --replace c.nigh again.hex || fail replace
expect 0 'c	00000000000000ff
e	00000000000000ff
a	0000000000000001
b	0000000000000002' '' -- "$NIGH" export -q c.nigh -o -
expect 0 ANY ANY -- "$NIGH" check c.nigh

# From files and from a pipe, with ids as tables write them.
printf 'x\\ty\t0000000000000003\nplain\t0000000000000004\nz\t0000000000000005\n' > odd.hex
"$NIGH" index -q odd.nigh odd.hex || fail 'index odd ids'
printf 'x\\ty\r\n\n' > ids
expect 0 '' "deleted 1 document from 'odd.nigh', which now has 2" -- "$NIGH" delete odd.nigh --ids ids
expect 0 '' "deleted 1 document from 'odd.nigh', which now has 1
merged 1 segment of 'odd.nigh'" -- bash -c "echo z | \"$NIGH\" delete odd.nigh -"
expect 0 'plain	0000000000000004' '' -- "$NIGH" export -q odd.nigh -o -

# Documents without ids go by number, and keep it.
printf '00000000000000ff\n00000000000000fe\n00000000000000fc\n' > rows.hex
"$NIGH" index -q rows.nigh rows.hex || fail 'index rows'
"$NIGH" delete -q rows.nigh 1 || fail 'delete by number'
[[ $(nearest rows.nigh q.hex) == '0 2 ' ]] || fail 'by number'

# Among some.
printf 'e\nb\n' > among
[[ $(nearest c.nigh q.hex --among among) == 'e b ' ]] || fail 'among'
echo nobody > wrong
expect 2 '' "nigh: 'c.nigh': no document 'nobody'" -- "$NIGH" search -q c.nigh q.hex --among wrong

# New against old: what is deleted is nowhere, by bits and by texts.
printf 'n\tff00000000000000\nm\t00000000000000ff\n' > new.hex
expect 0 'm	c	0	collection
m	e	0	collection' '' -- "$NIGH" against -q -r 0 --output tsv c.nigh new.hex
text='one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen'
printf '{"id":"old","text":"%s"}\n' "$text" > old.jsonl
printf '{"id":"new","text":"%s"}\n' "$text" > new.jsonl
"$NIGH" index -q texts.nigh old.jsonl --scheme minhash || fail 'index texts'
expect 0 ANY '' -- "$NIGH" against -q --fail-if-new texts.nigh new.jsonl
"$NIGH" delete -q texts.nigh old || fail 'delete a text'
expect 1 ANY '' -- "$NIGH" against -q --fail-if-new texts.nigh new.jsonl
expect 0 ANY ANY -- "$NIGH" against --add texts.nigh new.jsonl
expect 0 ANY ANY -- "$NIGH" index --replace texts.nigh new.jsonl
grep -q '1 of them in the place of earlier ones' .err || fail 'told what was replaced'
expect 0 ANY ANY -- "$NIGH" check texts.nigh
[[ $("$NIGH" search -q --output tsv --text "$text" texts.nigh | cut -f 2) == new ]] || fail 'the new text alone'

# Wrong use changes nothing.
before=$(cat c.nigh/* | cksum)
expect 2 '' ANY -- "$NIGH" delete c.nigh
expect 2 '' ANY -- "$NIGH" delete
expect 2 '' "nigh: 'nothing': cannot open: No such file or directory" -- "$NIGH" delete nothing a
expect 2 '' "nigh: 'missing': cannot open: No such file or directory" -- "$NIGH" delete c.nigh --ids missing
[[ -e nothing ]] && fail 'a collection was made'
[[ $(cat c.nigh/* | cksum) == "$before" ]] || fail 'something changed'
finish
