#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A collection that is cut short while it is searched is an error with the file's name, not the end by a signal.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -n 20000 --bits 256 -o rows.npy -q || fail generate
"$NIGH" index -q c.nigh rows.npy || fail index

# The query comes only after the cut: the collection is open by then.
late_query() {
    sleep 1
    truncate -s 5000 c.nigh/segment-*
    printf '%064d\n' 0
}
searched() { late_query | timeout 60 "$NIGH" search c.nigh "$@"; }
expect 2 ANY ANY -- searched - --format hex --method exact
contains .err "c.nigh/segment-00000000000000000001'"

finish
