#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Documents without an id get one that never means another document; ids of any bytes stay as they are.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

index() { "$NIGH" index -q "$@"; }
ids() { "$NIGH" export -q "$1" -o /dev/null --format raw --ids -; }

# From run to run: the first line of one pipe is not the first of another.
printf '{"text":"the first day of the flood"}\n' | index pipe.nigh - --weights log || fail 'the first pipe'
printf '{"text":"a concert in the park on sunday"}\n' | index pipe.nigh - --weights log || fail 'the second pipe'
[[ $(ids pipe.nigh | wc -l) == 2 ]] || fail 'the second document was dropped'
[[ $(ids pipe.nigh | grep -cE '^-:1:[0-9a-f]{12}$') == 2 ]] || fail "ids of a pipe: $(ids pipe.nigh)"

# The same input is the same documents, and two with one text are two.
printf 'one two three\none two three\nfour five six\n' > k.txt
index k.nigh k.txt --format lines
index k.nigh k.txt --format lines
[[ $(ids k.nigh | wc -l) == 3 ]] || fail "ids of lines: $(ids k.nigh)"
[[ $(ids k.nigh | cut -d: -f1,2 | tr '\n' ' ') == 'k.txt:1 k.txt:2 k.txt:3 ' ]] || fail "ids of lines: $(ids k.nigh)"
printf 'seven eight nine\none two three\n' > k.txt
expect 0 '' ANY -- "$NIGH" index k.nigh k.txt --format lines
contains .err 'added 1 document (1 distinct)'
[[ $(ids k.nigh | grep -c '^k.txt:1:') == 2 ]] || fail 'a line that has changed is another document'

# A file goes by its path; a text on standard input has none.
mkdir folder
echo 'apples and pears' > folder/a.txt
index files.nigh folder
[[ $(ids files.nigh) == folder/a.txt ]] || fail "id of a file: $(ids files.nigh)"
echo 'quite another text' | index files.nigh - --format plain
echo 'rivers and mountains' | index files.nigh - --format plain
[[ $(ids files.nigh | grep -cE '^-:[0-9a-f]{12}$') == 2 ]] || fail "ids of texts: $(ids files.nigh)"

# An id that is there with another text is said as such, also with --quiet; the same again is not.
echo 'completely new content here' > folder/a.txt
expect 0 '' "nigh: skipped: 'folder/a.txt': the id 'folder/a.txt' already exists, with another text" \
    -- "$NIGH" index -q files.nigh folder
expect 0 '' ANY -- "$NIGH" index files.nigh folder --stats stats.json
contains .err '; 1 id is there with another text, and left out'
contains stats.json '"changed_ids":1'
expect 2 '' "nigh: 'folder/a.txt': the id 'folder/a.txt' already exists, with another text; nothing was added" \
    -- "$NIGH" index --strict files.nigh folder
printf 'a\t00\nb\t01\n' > ab.hex
index ab.nigh ab.hex
printf 'a\t05\n' > a.hex
expect 2 '' "nigh: 'a.hex', row 1: the id 'a' already exists, with another signature; nothing was added" \
    -- "$NIGH" index ab.nigh a.hex

# Any bytes: none becomes another, and every form says which it is.
cat > odd.jsonl << 'END'
{"id":"a\tb","text":"one two three four"}
{"id":"a\nb","text":"five six seven eight"}
{"id":"a?b","text":"nine ten eleven twelve"}
{"id":"a\\tb","text":"some words of another kind"}
{"id":"\u001b[31mred\u009b\u202e","text":"the colours of autumn leaves"}
{"id":"nul\u0000byte","text":"empty bottles of green glass"}
END
expect 0 '' ANY -- "$NIGH" index odd.nigh odd.jsonl
contains .err 'added 6 documents'
escaped=$'a\\tb\na\\nb\na?b\na\\\\tb\n\\x1b[31mred\\xc2\\x9b\\xe2\\x80\\xae\nnul\\x00byte'
expect 0 "$escaped" '' -- ids odd.nigh
expect 0 ANY ANY -- "$NIGH" check odd.nigh
for id in 'a\tb' $'a\tb' 'a\nb' 'a?b' 'a\\tb' '\x1b[31mred\xc2\x9b\xe2\x80\xae' 'nul\x00byte'; do
    expect 0 ANY '' -- "$NIGH" search -q odd.nigh --id "$id" -k 1 --output tsv
    cut -f1 .out > query
    cut -f2 .out > document
    cmp -s query document || fail "'$id' does not find itself"
done
expect 0 ANY '' -- "$NIGH" search -q odd.nigh --id 'a\nb' -k 1 --output jsonl
contains .out '{"query":"a\nb","document":"a\nb",'
expect 0 ANY '' -- "$NIGH" search -q odd.nigh --id '\x1b[31mred\xc2\x9b\xe2\x80\xae' -k 1 --output jsonl
contains .out '"document":"\u001b[31mred\u009b\u202e"'
"$NIGH" search -q odd.nigh --text 'the colours of autumn' > table || fail 'no answer'
LC_ALL=C grep -q $'\x1b\|\xc2\x9b\|\xe2\x80\xae' table && fail 'a control character in a table'

# What we write we read: hex lines, files of ids, and pairs as labels.
"$NIGH" export -q odd.nigh -o odd.hex
index again.nigh odd.hex
expect 0 "$escaped" '' -- ids again.nigh
"$NIGH" export -q odd.nigh -o odd.npy --ids odd.ids
index named.nigh odd.npy --ids odd.ids
expect 0 "$escaped" '' -- ids named.nigh
"$NIGH" sign -q odd.jsonl -o signed.hex
cmp -s <(cut -f1 signed.hex) <(echo "$escaped") || fail 'ids of signed documents'

# Older versions must not take such a segment for a damaged one, nor we any segment of theirs.
# Bit 0 of the incompatible features says so; bit 1, that the lookup has a key, is set in all that have ids.
[[ $(od -An -tu4 -j20 -N4 odd.nigh/segment-*1 | tr -d ' ') == 3 ]] || fail 'the segment does not say that its ids are any'
[[ $(od -An -tu4 -j20 -N4 ab.nigh/segment-*1 | tr -d ' ') == 2 ]] || fail 'a segment says that its ids are any'

# Several documents with one id are told apart.
cat > same.jsonl << 'END'
{"id":"x","text":"the quick brown fox jumps over the lazy dog near the river"}
{"id":"y","text":"a completely different text about the weather in autumn"}
{"id":"x","text":"the quick brown fox jumps over the lazy dog near the river bank"}
{"id":"x","text":"a completely different text about the weather in autumn"}
END
expect 0 '' ANY -- "$NIGH" dedup same.jsonl --pairs same.pairs --clusters same.clusters --threshold 0.5 --stats stats.json
contains .err 'warning: 2 documents have the id of an earlier one; --pairs and --clusters tell them apart by number'
contains stats.json '"repeated_ids":2'
contains same.pairs '"number1":0,"number2":2}'
contains same.pairs '"number1":1,"number2":3}'
contains same.clusters '{"id":"x","cluster":"x","keep":false,"number":2,"cluster_number":0}'
contains same.clusters '{"id":"x","cluster":"y","keep":false,"number":3,"cluster_number":1}'

# What is new, and what is not, is told in the same way.
printf '%s\n' '{"id":"new\nid","text":"one two three four"}' '{"id":"n\tw","text":"trains leave the station at noon"}' > new.jsonl
expect 0 ANY ANY -- "$NIGH" against -q odd.nigh new.jsonl --radius 0 --output tsv --new new.ids
contains .out $'new\\nid\ta\\tb\t0\tcollection'
compare 'the ids of new ones' 'n\tw' new.ids

finish
