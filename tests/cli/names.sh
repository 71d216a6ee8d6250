#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ids of any bytes: what each form of the answer does with those that would break it.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'plain\nwith blank\nqu"ote\\\ntab\x07bell\nlatin-\xe9\nutf-\xc3\xa9\n\xed\xa0\x80\n\xc2\x9bcsi\n' > ids
printf '00\n01\n03\n07\n0f\n1f\n3f\n7f\n' > docs.hex
expect 0 '' '' -- "$NIGH" index -q c.nigh docs.hex --ids ids
printf '00\n' > query.hex

expect 0 $'0\tplain\t0\t1\n0\twith blank\t1\t2\n0\tqu"ote\\\\\t2\t3\n0\ttab\\x07bell\t3\t4\n0\tlatin-\\xe9\t4\t5\n0\tutf-\xc3\xa9\t5\t6\n0\t\\xed\\xa0\\x80\t6\t7\n0\t\\xc2\\x9bcsi\t7\t8' '' \
    -- four "$NIGH" search -q --output tsv c.nigh query.hex
expect 0 $'0 Q0 plain 1 1.000000 nigh\n0 Q0 with_blank 2 0.875000 nigh\n0 Q0 qu"ote\\ 3 0.750000 nigh\n0 Q0 tab_bell 4 0.625000 nigh\n0 Q0 latin-\xe9 5 0.500000 nigh\n0 Q0 utf-\xc3\xa9 6 0.375000 nigh\n0 Q0 \xed\xa0\x80 7 0.250000 nigh\n0 Q0 _csi 8 0.125000 nigh' '' \
    -- "$NIGH" search -q --output trec c.nigh query.hex
replaced=$'\xef\xbf\xbd'
e_acute=$'\xc3\xa9'
expect 0 "{\"query\":\"0\",\"document\":\"plain\",\"distance\":0,\"rank\":1,\"similarity\":1.000000,\"bits\":8}
{\"query\":\"0\",\"document\":\"with blank\",\"distance\":1,\"rank\":2,\"similarity\":0.875000,\"bits\":8}
{\"query\":\"0\",\"document\":\"qu\\\"ote\\\\\",\"distance\":2,\"rank\":3,\"similarity\":0.750000,\"bits\":8}
{\"query\":\"0\",\"document\":\"tab\\u0007bell\",\"distance\":3,\"rank\":4,\"similarity\":0.625000,\"bits\":8}
{\"query\":\"0\",\"document\":\"latin-$replaced\",\"distance\":4,\"rank\":5,\"similarity\":0.500000,\"bits\":8}
{\"query\":\"0\",\"document\":\"utf-$e_acute\",\"distance\":5,\"rank\":6,\"similarity\":0.375000,\"bits\":8}
{\"query\":\"0\",\"document\":\"$replaced$replaced$replaced\",\"distance\":6,\"rank\":7,\"similarity\":0.250000,\"bits\":8}
{\"query\":\"0\",\"document\":\"\\u009bcsi\",\"distance\":7,\"rank\":8,\"similarity\":0.125000,\"bits\":8}" '' \
    -- "$NIGH" search -q --output jsonl c.nigh query.hex
while read -r line; do
    python3 -m json.tool > /dev/null <<< "$line" || fail "no JSON: $line"
done < .out

# On a terminal no id may move the cursor.
"$NIGH" search -q c.nigh query.hex > table
grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' table && fail 'control characters in the table'
contains table 'tab\x07bell'
contains table '\xc2\x9bcsi'
contains table 'latin-\xe9'

# Nor turn what follows round; what stands beside these characters is shown.
python3 -c 'print("a\u200eb\u200fc\u202ad\u202ee\u2066f\u2069g\u200dh\u2030i\u2065j")' > turned.ids
expect 0 '' '' -- "$NIGH" index -q turned.nigh query.hex --ids turned.ids
expect 0 ANY '' -- "$NIGH" search -q turned.nigh query.hex
contains .out $'a\\xe2\\x80\\x8eb\\xe2\\x80\\x8fc\\xe2\\x80\\xaad\\xe2\\x80\\xaee\\xe2\\x81\\xa6f\\xe2\\x81\\xa9g\xe2\x80\x8dh\xe2\x80\xb0i\xe2\x81\xa5j'
expect 2 '' ANY -- "$NIGH" search -q turned.nigh $'no\xe2\x80\xaewhere'
contains .err "'no\xe2\x80\xaewhere'"

# The longest id goes in and comes out.
python3 -c 'print("x" * 65535)' > long.ids
python3 -c 'print("x" * 65536)' > longer.ids
printf 'ff\n' > one.hex
expect 0 '' '' -- "$NIGH" index -q long.nigh one.hex --ids long.ids
"$NIGH" export -q long.nigh -o long.hex --ids long.out || fail export
same long.ids long.out
expect 2 '' ANY -- "$NIGH" index -q longer.nigh one.hex --ids longer.ids
[[ -e longer.nigh ]] && fail 'a collection was made'

finish
