#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Manual pages for all commands, that roff reads without a complaint.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" manual > nigh.1 || fail manual
pages=(nigh.1)
# page WORD...: the page of a command, or of one inside another, with every option that its help shows.
page() {
    local page="nigh-$*.1" option
    page=${page// /-}
    "$NIGH" manual "$@" > "$page" || fail "manual $*"
    pages+=("$page")
    for option in $("$NIGH" "$@" --help | grep -oE '^  (-.,|   ) --[-a-z0-9]+|^  -. ' | grep -oE -- '-[-a-z0-9]+$|-[a-z] ?$'); do
        contains "$page" "\\fB${option//-/\\-}\\fR"
    done
}
for command in $("$NIGH" commands); do
    page "$command"
    contains nigh.1 "nigh\\-$command"
    for word in $("$NIGH" commands "$command"); do
        page "$command" "$word"
        contains "nigh-$command.1" "nigh\\-$command\\-$word"
        contains "nigh-$command-$word.1" "nigh\\-$command (1)"
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
