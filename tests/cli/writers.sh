#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two writers at once: the second is refused, the first is not disturbed; readers see the state before.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000000000000000\n' > a.hex
printf 'b\t0000000000000001\n' > b.hex

# locked PATH: someone holds the lock of a collection.
locked() { grep -q ":$(stat -c %i "$1") " /proc/locks; }
[[ -r /proc/locks ]] || skip 'no /proc/locks to see the first writer by'

for collection in new.nigh old.nigh; do
    [[ $collection == old.nigh ]] && "$NIGH" index -q old.nigh a.hex
    mkfifo input
    "$NIGH" index -q "$collection" input > first.out 2> first.err &
    first=$!
    exec 3> input
    printf 'c\t0000000000000002\n' >&3
    wait_for locked "$collection"
    expect_unchanged "$collection" 2 '' "nigh: '$collection': another process is writing to it" \
        -- "$NIGH" index "$collection" b.hex
    if [[ $collection == old.nigh ]]; then
        expect 0 $'a\t0000000000000000' '' -- "$NIGH" export -q old.nigh -o -
        expect 0 ANY '' -- "$NIGH" check old.nigh
    fi
    printf 'd\t0000000000000003\n' >&3
    exec 3>&-
    wait "$first" || fail 'the first writer failed'
    compare 'what the first writer said' '' first.err
    rm input
done
expect 0 $'c\t0000000000000002\nd\t0000000000000003' '' -- "$NIGH" export -q new.nigh -o -
expect 0 $'a\t0000000000000000\nc\t0000000000000002\nd\t0000000000000003' '' -- "$NIGH" export -q old.nigh -o -
# The lock is gone with its process.
expect 0 '' '' -- "$NIGH" index -q old.nigh b.hex

# Killed in the middle: the state before, and the next writer goes on.
mkfifo input
"$NIGH" index -q old.nigh input > /dev/null 2>&1 &
first=$!
exec 3> input
printf 'e\t0000000000000004\n' >&3
wait_for locked old.nigh
kill -9 "$first"
wait "$first" 2> /dev/null
exec 3>&-
expect 0 $'a\t0000000000000000\nc\t0000000000000002\nd\t0000000000000003\nb\t0000000000000001' '' -- "$NIGH" export -q old.nigh -o -
expect 0 ANY '' -- "$NIGH" check old.nigh
printf 'f\t0000000000000005\n' > f.hex
expect 0 '' '' -- "$NIGH" index -q old.nigh f.hex
expect 0 ANY '' -- "$NIGH" check old.nigh
grep -q 'leftover file' .out && fail 'leftovers of the dead writer are still there'

finish
