#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests of the tool share.  A test sources this file, runs the tool
# through `expect`, and ends with `finish`.  It needs NIGH, the tool, and works
# in the current folder, or in a fresh one where that is not empty.
set -u

: "${NIGH:?must name the tool}"
NIGH=$(realpath "$NIGH")
NIGH_SOURCE_DIR=$(realpath "${BASH_SOURCE[0]%/*}/../..")
export NIGH_SOURCE_DIR
unset NIGH_KERNEL NO_COLOR
export LC_ALL=C

if [[ -n $(ls -A) ]]; then
    scratch=$(mktemp -d)
    trap 'chmod -R u+rwx "$scratch"; rm -rf "$scratch"' EXIT
    cd "$scratch" || exit 2
fi

failures=0
checks=0

# fail WHAT: counts, and says where in the test.
fail() {
    local depth=0
    while [[ ${BASH_SOURCE[depth]} == */_lib.sh ]]; do
        depth=$((depth + 1))
    done
    echo "${BASH_SOURCE[depth]##*/}:${BASH_LINENO[depth - 1]}: $1"
    failures=$((failures + 1))
}

# compare WHAT EXPECTED ACTUAL-FILE: exact bytes; EXPECTED lacks only the last newline.
compare() {
    [[ $2 == ANY ]] && return
    if [[ -n $2 ]]; then printf '%s\n' "$2"; fi > .expected
    if ! cmp -s .expected "$3"; then
        fail "$1 differs"
        diff -u --label expected --label got .expected "$3" | cat -A | head -40
    fi
}

# Times, rates and the kernel differ from run to run and from machine to machine.
plain() {
    sed -E -e 's/[0-9]+\.[0-9]+ s \([0-9,]+\/s\)/# s (#\/s)/' -e 's/kernel [a-z0-9_]+, [0-9]+ threads?/kernel #, # threads/' "$1"
}

# expect EXIT STDOUT STDERR -- COMMAND...
#
# Runs the command and compares its exit code and all it prints.  STDOUT and
# STDERR are exact but for the last newline; ANY stands for anything.
expect() {
    local code=$1 out=$2 err=$3 got
    shift 4
    checks=$((checks + 1))
    "$@" > .out 2> .err
    got=$?
    plain .err > .err.plain
    if [[ $got != "$code" ]]; then
        fail "exit $got, not $code, of: $*"
        head -5 .err
    fi
    compare "standard output of '$*'" "$out" .out
    compare "standard error of '$*'" "$err" .err.plain
}

# four COMMAND...: the first four columns of what it prints: query, document, distance and rank of answers.
four() {
    local code
    "$@" > .columns
    code=$?
    cut -f 1-4 .columns
    return $code
}

# state PATH...: what is in there, for comparing before and after.
state() { find "$@" -printf '%p %y %s\n' -type f -exec sha256sum {} \; | sort; }

# expect_unchanged PATH EXIT STDOUT STDERR -- COMMAND...: as expect, and PATH stays byte for byte as it was.
expect_unchanged() {
    local path=$1 before
    shift
    before=$(state "$path" 2>&1)
    expect "$@"
    [[ $(state "$path" 2>&1) == "$before" ]] || fail "'$path' has changed"
}

# same FILE FILE: byte for byte.
same() {
    checks=$((checks + 1))
    cmp "$1" "$2" || fail "$1 and $2 differ"
}

# contains FILE TEXT
contains() {
    checks=$((checks + 1))
    grep -qF -e "$2" -- "$1" || fail "$1 does not mention: $2"
}

# wait_for COMMAND...: until it succeeds, ten seconds at most.
wait_for() {
    local try
    for ((try = 0; try < 200; try++)); do
        "$@" > /dev/null 2>&1 && return
        sleep 0.05
    done
    fail "waited in vain for: $*"
}

# from FILE COMMAND..., piped FILE COMMAND...: the file as standard input, as it is or through a pipe.
from() { "${@:2}" < "$1"; }
# shellcheck disable=SC2002 # the pipe is the point
piped() { cat "$1" | "${@:2}"; }

# skip WHY: this machine cannot run the test.
skip() {
    echo "skipped: $1"
    exit 77
}

# The kernels this CPU can run.
kernels() {
    "$NIGH" --version | sed -n 's/^kernel .* has //p' | tr ',' '\n' | grep -v 'not for this CPU' | tr -d ' '
}

finish() {
    if ((failures > 0)); then
        echo "$failures of $checks checks failed"
        exit 1
    fi
    if ((checks == 0)); then
        echo "nothing was checked"
        exit 1
    fi
    echo "$checks checks passed"
}
