#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Version, compiler, kernel; and the environment variable that forces one.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

version=$(sed -n 's/^#define NIGH_VERSION_[A-Z]* //p' "$NIGH_SOURCE_DIR/include/nigh/base.h" | paste -sd .)
expect 0 ANY '' -- "$NIGH" --version
[[ $(sed -n 1p .out) == "nigh $version" ]] || fail 'first line'
[[ $(sed -n 2p .out) == "library   $version" ]] || fail 'second line'
grep -qE '^commit    ([0-9a-f]{40}(, with changes)?|unknown)$' .out || fail 'commit'
grep -qE '^compiler  (gcc|clang) [0-9]+' .out || fail 'compiler'
grep -qE '^kernel    [a-z0-9_]+; this build has .*generic' .out || fail 'kernel'
grep -qE '^parts     (core only|[a-z ]+)$' .out || fail 'parts'
[[ $(wc -l < .out) == 6 ]] || fail 'six lines'
cp .out version
expect 0 "$(cat version)" '' -- "$NIGH" -V

for kernel in $(kernels); do
    NIGH_KERNEL=$kernel expect 0 ANY '' -- "$NIGH" --version
    contains .out "kernel    $kernel; this build has"
done
NIGH_KERNEL=none expect 2 '' "nigh: no kernel 'none' in this build, or not on this CPU" -- "$NIGH" --version
NIGH_KERNEL='' expect 0 "$(cat version)" '' -- "$NIGH" --version

finish
