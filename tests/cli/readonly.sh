#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A directory that may not be written: refused, and byte for byte as it was.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

tool=("$NIGH")
folder=$PWD
if [[ $(id -u) == 0 ]]; then # permissions do not stop root, so someone else tries
    command -v setpriv > /dev/null || skip 'run by root, and no setpriv to become someone else with'
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    chmod 755 "$folder"
    cp "$NIGH" "$folder/nigh"
    cd "$folder" || exit 2
    mkdir -m 777 profile # in a build that counts lines, everybody writes counts
    export GCOV_PREFIX=$folder/profile
    tool=(setpriv --reuid=65534 --regid=65534 --clear-groups "$folder/nigh")
    "${tool[@]}" --version > /dev/null 2>&1 || skip 'run by root, and nobody else may run the tool'
fi
printf '00\n01\n' > a.hex
"$NIGH" index -q c.nigh a.hex || fail index
chmod -R a+rX-w c.nigh
mkdir closed
chmod 555 closed
touch .out .err .err.plain .expected

expect_unchanged c.nigh 2 '' ANY -- "${tool[@]}" index c.nigh a.hex
contains .err 'Permission denied'
contains .err "nigh: 'c.nigh"
expect_unchanged closed 2 '' "nigh: 'closed/new.nigh': cannot create: Permission denied" -- "${tool[@]}" index closed/new.nigh a.hex
expect_unchanged closed 2 '' "nigh: 'closed/x.npy.nigh.tmp': cannot create: Permission denied" -- "${tool[@]}" export c.nigh -o closed/x.npy
expect_unchanged closed 2 '' "nigh: 'closed/ids': cannot open: Permission denied" \
    -- "${tool[@]}" export c.nigh -o /dev/null --ids closed/ids
# Reading needs no more than reading.
expect 0 ANY '' -- "${tool[@]}" info c.nigh
expect 0 ANY '' -- "${tool[@]}" check c.nigh
expect 0 $'0\t0\t0\t1\n0\t1\t1\t2' '' -- four "${tool[@]}" search -q --output tsv c.nigh --id 0
expect 0 $'00\n01' '' -- "${tool[@]}" export -q c.nigh -o -

chmod a-r c.nigh/segment-*
expect 2 '' ANY -- "${tool[@]}" info c.nigh
contains .err 'Permission denied'

chmod -R u+w c.nigh closed
finish
