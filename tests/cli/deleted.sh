#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A collection deleted, or added to, under a reader: the reader keeps what it opened.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 2000 --bits 128 -o a.hex
"$NIGH" generate -q -n 2000 --bits 128 --queries 40 -o q.hex
"$NIGH" index -q c.nigh a.hex || fail index
"$NIGH" search -q -k 5 --output tsv c.nigh q.hex > before
[[ -d /proc/self ]] || skip 'no /proc to see when the reader has opened the collection'

mapped() { grep -q 'c.nigh/segment-' "/proc/$1/maps"; }

for change in delete add; do
    mkfifo queries
    "$NIGH" search -q -k 5 --batch 10 --output tsv c.nigh queries > after 2> after.err &
    reader=$!
    exec 3> queries
    wait_for mapped "$reader"
    head -20 q.hex >&3
    if [[ $change == delete ]]; then
        mv c.nigh aside.nigh
        cp -r aside.nigh c2.nigh
        rm -r aside.nigh
        mv c2.nigh moved.nigh
    else
        "$NIGH" index -q c.nigh a.hex
    fi
    tail -20 q.hex >&3
    exec 3>&-
    wait "$reader" || fail "the reader failed after: $change"
    compare "what the reader said after: $change" '' after.err
    same before after
    rm queries
    [[ $change == delete ]] && mv moved.nigh c.nigh
done

expect 0 ANY '' -- "$NIGH" info c.nigh
contains .out 'documents     4,000'
finish
