#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A reader who leaves is no error; a full disk is one.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 20000 --bits 256 -o a.npy
"$NIGH" index -q c.nigh a.npy || fail index

# quietly COMMAND...: its reader takes a line and goes; it ends with 0 and says nothing.
quietly() {
    checks=$((checks + 1))
    { "$@" 2> .err; echo $? > .code; } | head -1 > /dev/null
    [[ $(cat .code) == 0 ]] || fail "exit $(cat .code) of: $*"
    [[ -s .err ]] && fail "said something: $(head -1 .err)"
}
quietly "$NIGH" export c.nigh -o -
quietly "$NIGH" export c.nigh -o - --format npy
quietly "$NIGH" export c.nigh -o x.npy --ids -
quietly "$NIGH" generate -n 100000000 -o -
quietly "$NIGH" search -k 1000 c.nigh a.npy --output tsv
quietly "$NIGH" search -k 1000 c.nigh a.npy --output jsonl
quietly "$NIGH" search -k 1000 c.nigh a.npy
quietly "$NIGH" search -r 256 c.nigh a.npy --output tsv
# Where the ids could not be written, no signatures appear beside them.
[[ -e x.npy.nigh.tmp ]] && fail 'a temporary file was left'

without_output() { "$@" >&-; }
without_input() { "$@" <&-; }
to_full() { "$@" > /dev/full; }

# Standard output that is closed, or full.
expect 2 '' 'nigh: cannot write standard output: Bad file descriptor' -- without_output "$NIGH" info c.nigh
expect 2 '' 'nigh: cannot write standard output: Bad file descriptor' -- without_output "$NIGH" --help
expect 0 '' '' -- without_input without_output "$NIGH" index -q d.nigh a.npy
expect 2 '' ANY -- without_input "$NIGH" index e.nigh - --bits 64
contains .err "nigh: 'standard input': "
[[ -e e.nigh ]] && fail 'a collection was made'

if [[ -e /dev/full ]]; then
    full='nigh: cannot write standard output: No space left on device'
    for command in --help --version 'info c.nigh' 'check c.nigh' 'search -q c.nigh --id 3' 'search -q c.nigh a.npy' \
        'export -q c.nigh -o -' 'export -q c.nigh -o - --format npy' 'generate -q -n 10000 -o -' 'manual search' \
        'completion bash' 'info c.nigh --stats -'; do
        # shellcheck disable=SC2086 # several words
        expect 2 '' "$full" -- to_full "$NIGH" $command
    done
    expect 2 '' "nigh: '/dev/full': cannot write: No space left on device" -- "$NIGH" export c.nigh -o /dev/full
    expect 2 '' "nigh: '/dev/full': cannot write: No space left on device" -- "$NIGH" export c.nigh -o y.npy --ids /dev/full
    [[ -e y.npy || -e y.npy.nigh.tmp ]] && fail 'a file was left'
fi

# Devices stay devices.
expect 0 '' '' -- "$NIGH" export -q c.nigh -o /dev/null
expect 0 '' '' -- "$NIGH" generate -q -n 10 -o /dev/null --format npy
[[ -c /dev/null ]] || fail '/dev/null is gone'

finish
