#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages for all commands, that roff reads without a complaint.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" manual > nigh.1 || fail manual
pages=(nigh.1)
for command in $("$NIGH" commands); do
    "$NIGH" manual "$command" > "nigh-$command.1" || fail "manual $command"
    pages+=("nigh-$command.1")
    contains nigh.1 "nigh\\-$command"
    # Every option that help shows is in the page.
    for option in $("$NIGH" "$command" --help | grep -oE '^  (-.,|   ) --[-a-z0-9]+|^  -. ' | grep -oE -- '-[-a-z0-9]+$|-[a-z] ?$'); do
        contains "nigh-$command.1" "\\fB${option//-/\\-}\\fR"
    done
done

for page in "${pages[@]}"; do
    for heading in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' ENVIRONMENT 'SEE ALSO'; do
        contains "$page" ".SH $heading"
    done
    contains "$page" 'NIGH_KERNEL'
    if command -v groff > /dev/null; then
        checks=$((checks + 1))
        groff -man -Tascii -ww -z "$page" > roff.log 2>&1
        [[ -s roff.log ]] && fail "$page: $(head -3 roff.log)"
    fi
    if command -v man > /dev/null; then
        checks=$((checks + 1))
        man --warnings -l "$page" > /dev/null 2> man.log < /dev/null || fail "man -l $page"
        [[ -s man.log ]] && fail "$page: $(head -3 man.log)"
    fi
done

# The same tool, the same page.
"$NIGH" manual > again.1
same nigh.1 again.1
finish
