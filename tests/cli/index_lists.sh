#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Slice lists: made with the documents or later, in another width, removed; what they take is what was predicted.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# seconds FILE: without the time that the lists took.
seconds() { sed -E 's/; [0-9]+\.[0-9]+ s$//' "$1"; }
# said TEXT: the last command said this of the lists.
said() {
    checks=$((checks + 1))
    seconds .err | grep -qxF -e "$1" || fail "not said: $1; but: $(cat .err)"
}
lists_of() { find "$1" -name 'slices-*' | wc -l; }
list_bytes() { cat "$1"/slices-* | wc -c; }

"$NIGH" generate -q -n 3000 --bits 256 -o small.npy
"$NIGH" generate -q -n 70000 --bits 256 --seed 3 -o large.npy
"$NIGH" generate -q -n 70000 --bits 64 --seed 4 -o narrow.npy

# By themselves, where there are enough and they are wide enough.
expect 0 '' ANY -- "$NIGH" index a.nigh small.npy
[[ $(wc -l < .err) == 1 && $(lists_of a.nigh) == 0 ]] || fail 'lists of little'
expect 0 '' ANY -- "$NIGH" index a.nigh large.npy --stats s.json
said 'slice lists: 19 slices of 14 and 13 bits, 6.0 MB'
[[ $(lists_of a.nigh) == 1 ]] || fail "$(lists_of a.nigh) lists"
contains s.json '"list_seconds":'
contains s.json "\"list_bytes\":$(list_bytes a.nigh)"
expect 0 '' ANY -- "$NIGH" index n.nigh narrow.npy
[[ $(lists_of n.nigh) == 0 ]] || fail 'lists of 64 bits'
expect 0 '' ANY -- "$NIGH" index none.nigh large.npy --lists none --stats s.json
[[ $(wc -l < .err) == 1 && $(lists_of none.nigh) == 0 ]] || fail 'lists in spite of none'
contains s.json '"list_bytes":0'

# Asked for: also of little; later additions do not touch them.
expect 0 '' ANY -- "$NIGH" index b.nigh small.npy --lists slices --slice-width 8
said 'slice lists: 32 slices of 8 bits, 404 KB'
before=$(state b.nigh/slices-*)
expect 0 '' ANY -- "$NIGH" index b.nigh large.npy
said 'slice lists: of 2 segments, 6.4 MB'
[[ $(state b.nigh/slices-*1) == "$before" ]] || fail 'lists were made anew'
expect 0 '' ANY -- "$NIGH" index b.nigh small.npy --lists none
[[ $(lists_of b.nigh) == 2 ]] || fail 'lists were lost'
expect 0 ANY ANY -- "$NIGH" check b.nigh

# Without an INPUT: added, there, in another width, removed.
documents=$(state a.nigh/segment-* a.nigh/manifest-*)
expect 0 '' ANY -- "$NIGH" index a.nigh --lists slices
said 'slice lists: of 2 segments, 6.4 MB'
[[ $(lists_of a.nigh) == 2 ]] || fail 'not all have lists'
expect_unchanged a.nigh 0 '' 'slice lists already exist: of 2 segments, 6.4 MB' -- "$NIGH" index a.nigh --lists slices
expect 0 '' ANY -- "$NIGH" index a.nigh --lists slices --slice-width 16 --stats s.json
said 'slice lists: 16 slices of 16 bits, 13 MB'
contains s.json "\"list_bytes\":$(list_bytes a.nigh)"
expect 0 ANY ANY -- "$NIGH" check a.nigh
expect 0 '' 'slice lists: removed, 13 MB' -- "$NIGH" index a.nigh --lists none
[[ $(lists_of a.nigh) == 0 ]] || fail 'lists are left'
expect_unchanged a.nigh 0 '' 'slice lists: there were none' -- "$NIGH" index a.nigh --lists none
[[ $(state a.nigh/segment-* a.nigh/manifest-*) == "$documents" ]] || fail 'documents have changed'
expect 0 '' '' -- "$NIGH" index -q a.nigh --lists slices

# The same bytes from any number of threads.
expect 0 '' '' -- "$NIGH" index -q none.nigh --lists slices --slice-width 12 --threads 1
mv none.nigh/slices-* one.lists
expect 0 '' '' -- "$NIGH" index -q none.nigh --lists slices --slice-width 12 --threads 3
same none.nigh/slices-* one.lists

# As predicted.
"$NIGH" plan -q none.nigh --lists slices --output tsv > plan.tsv
for width in 4 7 12 16 20; do
    expect 0 '' '' -- "$NIGH" index -q none.nigh --lists slices --slice-width $width
    awk -F '\t' -v w=$width -v bytes="$(list_bytes none.nigh)" \
        '$1 == w { found = 1; if ($3 < 0.9 * bytes || $3 > 1.1 * bytes) exit 1 } END { exit !found }' plan.tsv ||
        fail "at width $width: $(list_bytes none.nigh) bytes, not as predicted"
done
signatures=$("$NIGH" info none.nigh | sed -n 's/^  signatures *\([0-9,]*\).*/\1/p' | tr -d ,)
"$NIGH" plan -q -n "$signatures" --bits 256 --lists slices --output tsv > counted.tsv
same plan.tsv counted.tsv
"$NIGH" plan -q a.nigh --lists slices --output tsv > two.tsv
expect 0 '' '' -- "$NIGH" index -q a.nigh --lists slices --slice-width 10
[[ $(awk -F '\t' '$1 == 10 { print $3 }' two.tsv) == "$(list_bytes a.nigh)" ]] || fail 'two segments not as predicted'

# The forms of the prediction: one least, one usual; memory falls up to it and grows from it on.
[[ $(awk -F '\t' '{ least += $14; usual += $15 } NF != 15 { exit } END { print least, usual }' plan.tsv) == '1 1' ]] ||
    fail 'marks of the prediction'
awk -F '\t' 'NR > 1 && (($3 < last) != !past) { exit 1 } { last = $3; past = past || $14 }' plan.tsv || fail 'no minimum'
expect 0 ANY '' -- "$NIGH" plan -n 1M --bits 1024 --lists slices
grep -q '^\*    18      57   287 MB .*  usual$' .out || fail 'usual at a million'
grep -q '^     17      61   273 MB .*  least memory$' .out || fail 'least memory at a million'
expect 0 ANY '' -- "$NIGH" plan -n 1000000 --bits 1024 --lists slices --output jsonl --stats s.json
contains .out '{"slice_width":16,"slices":64,"bytes":272781632,"signature_bytes":272.8,"list_length":15.2588,"lists":[64,1088,8768,44608],"postings":['
contains s.json '"settings":25'
expect 0 ANY '' -- "$NIGH" plan -n 1 --bits 8 --lists slices
[[ $(grep -c '^[* ] ' .out) == 4 ]] || fail 'slices of eight bits'

# What does not go.
expect 2 '' "nigh index: --slice-width must be at least 4
try 'nigh index --help'" -- "$NIGH" index a.nigh --lists slices --slice-width 3
expect 2 '' "nigh index: --slice-width takes a whole number from 4 to 28, not '29'
try 'nigh index --help'" -- "$NIGH" index a.nigh --lists slices --slice-width 29
expect 2 '' "nigh index: --slice-width goes with --lists slices
try 'nigh index --help'" -- "$NIGH" index a.nigh small.npy --slice-width 12
expect 2 '' "nigh index: no INPUT given
try 'nigh index --help'" -- "$NIGH" index a.nigh
expect 2 '' ANY -- "$NIGH" index missing.nigh --lists slices
[[ -e missing.nigh ]] && fail 'a collection was made'
expect 2 '' ANY -- "$NIGH" index missing.nigh --lists none
printf '0123\n4567\n' > two.hex
expect 2 '' 'nigh: slices of 20 bits cannot be cut from signatures of 16; nothing was added' -- \
    "$NIGH" index t.nigh two.hex --lists slices --slice-width 20
[[ -e t.nigh ]] && fail 'a collection was made'
expect 0 '' '' -- "$NIGH" index -q t.nigh two.hex
expect_unchanged t.nigh 2 '' ANY -- "$NIGH" index t.nigh --lists slices --slice-width 20
grep -q 'slices of 20 bits' .err || fail "$(cat .err)"
: > empty.hex
expect 0 '' '' -- "$NIGH" index -q e.nigh empty.hex --bits 128
expect 0 '' 'slice lists: none, there are no signatures' -- "$NIGH" index e.nigh --lists slices
expect 2 '' "nigh plan: --lists slices goes with -n and --bits, or a COLLECTION, and nothing else
try 'nigh plan --help'" -- "$NIGH" plan -n 1M --lists slices --radius 3
expect 2 '' ANY -- "$NIGH" plan -n 5000M --bits 64 --lists slices
contains .err 'several segments'
expect 2 '' ANY -- "$NIGH" plan --lists slices

# Where lists fail the documents are there all the same, nothing is left over, and one is told what to do.
too_large() { (trap '' XFSZ; ulimit -f 10240; exec "$NIGH" "$@"); }
expect 3 '' ANY -- too_large index f.nigh large.npy --lists slices --slice-width 24
contains .err "not all slice lists were made; 'nigh index f.nigh --lists slices' makes them"
[[ $(lists_of f.nigh) == 0 ]] || fail 'half of the lists are left'
expect 0 ANY ANY -- "$NIGH" check f.nigh
contains .out '70,000 documents'

# The same for Ctrl-C.  A background job of a script ignores SIGINT, so it gets it back by way of python.
expect 0 '' '' -- "$NIGH" index -q i.nigh small.npy
python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$NIGH" index i.nigh large.npy --lists slices --slice-width 26 > out 2> err &
pid=$!
wait_for test -e i.nigh/slices-00000000000000000001.tmp
kill -s INT "$pid"
wait "$pid"
[[ $? == 130 ]] || fail 'not interrupted'
contains err 'nigh: interrupted'
contains err "the documents are in 'i.nigh': "
"$NIGH" check -q --tidy i.nigh || fail tidy # what it had no time to remove
[[ $(lists_of i.nigh) == 0 ]] || fail 'half of the lists are left'
expect 0 ANY ANY -- "$NIGH" check i.nigh
contains .out '73,000 documents'

finish
