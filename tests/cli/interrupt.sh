#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ctrl-C: exit 130, a word about it, and nothing left behind.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# interrupted SIGNAL EXIT WORKING COMMAND...: waits until WORKING says the command is at work, sends the signal.
# A background job of a script ignores SIGINT, so the command gets it back by way of python.
interrupted() {
    local signal=$1 code=$2 working=$3 pid got
    shift 3
    checks=$((checks + 1))
    python3 -c '
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$@" > out 2> err &
    pid=$!
    wait_for "$working" "$pid"
    sleep 0.2
    kill -s "$signal" "$pid"
    wait "$pid"
    got=$?
    [[ $got == "$code" ]] || fail "exit $got, not $code, of: $*"
    compare "what was said by '$*'" 'nigh: interrupted' err
}

is_generating() { [[ -e x.npy.nigh.tmp ]]; }
is_indexing() { [[ -e new.nigh ]]; }
is_searching() { grep -q 'c.nigh/segment-' "/proc/$1/maps"; }

interrupted INT 130 is_generating "$NIGH" generate -n 4000000000 -o x.npy
interrupted TERM 143 is_generating "$NIGH" generate -n 4000000000 -o x.npy
[[ -e x.npy || -e x.npy.nigh.tmp ]] && fail 'a file was left'

# While it waits for input.
mkfifo input
(printf '0000000000000000\n'; sleep 60) > input &
feeder=$!
interrupted INT 130 is_indexing "$NIGH" index new.nigh input
[[ -e new.nigh ]] && fail 'a collection was left'
kill "$feeder"
wait "$feeder" 2> /dev/null
rm input

# While it searches: the library stops in the middle of a batch.
"$NIGH" generate -q -n 200000 -o a.npy
"$NIGH" generate -q -n 200000 --queries 60000 -o q.npy
"$NIGH" index -q c.nigh a.npy || fail index
if [[ -d /proc/self ]]; then
    before=$(state c.nigh)
    interrupted INT 130 is_searching "$NIGH" search --threads 1 --batch 60000 --output tsv c.nigh q.npy
    [[ $(state c.nigh) == "$before" ]] || fail 'the collection has changed'
fi

finish
