#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# On a terminal: a progress bar that goes away, bold headings, no binary.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

command -v script > /dev/null || skip "no 'script' to make a terminal with"
export TERM=xterm

# on_terminal COMMAND: both outputs on a terminal, kept in `typescript`.
on_terminal() { script -qec "stty cols 100 rows 40; $1" typescript > /dev/null < /dev/null; }
on_terminal true 2> /dev/null || skip "no pseudo-terminal to be had here"

on_terminal "$NIGH --help"
contains typescript $'\033[1mcommands:'
NO_COLOR=1 on_terminal "$NIGH --help"
grep -q $'\033' typescript && fail 'NO_COLOR is not honoured'
on_terminal "stty cols 60; $NIGH search --help"
[[ $(tr -d '\r' < typescript | grep -v '^  nigh\|^Script' | sed 's/\x1b\[[0-9]*m//g' | awk 'length > 60' | wc -l) == 0 ]] || fail 'help is not wrapped to the terminal'

# Long enough for the bar to appear; the thread sanitizer makes everything longer.
rows=2000000 said=2,000,000
[[ ${NIGH_SANITIZE-} != *thread* ]] || rows=200000 said=200,000
on_terminal "$NIGH generate -n $rows -o /dev/null"
contains typescript 'generating  ['
contains typescript "of $said documents"
contains typescript $'\r\033[K'"wrote $said signatures"
on_terminal "$NIGH generate --quiet -n $rows -o /dev/null"
grep -q generating typescript && fail '--quiet draws'
TERM=dumb on_terminal "$NIGH generate -n $rows -o /dev/null"
grep -q generating typescript && fail 'a dumb terminal is drawn on'
"$NIGH" generate -n "$rows" -o /dev/null 2> err
compare 'what a file gets' "wrote $said signatures of 1,024 bits to /dev/null; # s (#/s)" <(plain err)

# Binary is not for a terminal.
printf '00\n' > a.hex
"$NIGH" index -q c.nigh a.hex
on_terminal "$NIGH export c.nigh -o - --format npy; echo \"exit \$?\""
contains typescript 'nigh export: npy is not for a terminal; name a file, or take --format hex'
contains typescript 'exit 2'
echo 'some words' > words.txt
on_terminal "$NIGH sign words.txt --scheme simhash --to npy"
contains typescript 'nigh sign: npy is not for a terminal; name a file, or take --to hex'
on_terminal "$NIGH export -q c.nigh -o -"
contains typescript '00'

finish
