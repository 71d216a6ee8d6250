#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Completion: the scripts parse, and bash completes what it should.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" completion bash > nigh.bash || fail bash
"$NIGH" completion zsh > _nigh || fail zsh
bash -n nigh.bash || fail 'bash does not parse it'
if command -v shellcheck > /dev/null; then
    shellcheck -s bash nigh.bash || fail 'shellcheck'
fi
if command -v zsh > /dev/null; then
    zsh -n _nigh || fail 'zsh does not parse it'
fi
[[ $(head -1 _nigh) == '#compdef nigh' ]] || fail 'zsh does not know whose completion it is'
for command in $("$NIGH" commands); do
    contains _nigh "        $command)"
    for subcommand in $("$NIGH" commands "$command"); do
        contains _nigh "        $subcommand)"
    done
done

# shellcheck source=/dev/null
. ./nigh.bash
touch corpus.nigh queries.npy 'with blank.npy'

# completes EXPECTED WORD...: the last word is being typed.
completes() {
    local expected=$1
    shift
    checks=$((checks + 1))
    COMP_WORDS=(nigh "$@")
    COMP_CWORD=$#
    _nigh 2> /dev/null # outside of a completion compopt complains
    [[ ${COMPREPLY[*]} == "$expected" ]] || fail "'$*' completes to '${COMPREPLY[*]}', not '$expected'"
}
completes 'search' sea
completes 'index info' i
completes '--help --version' --
completes 'export' help ex
completes '--radius' search --rad
completes 'table jsonl tsv trec' search --output ''
completes 'jsonl' search --output j
completes 'tsv' search --output = ts
completes 'table jsonl tsv trec' search --output =
completes 'table jsonl' info --output ''
completes 'topsig trec tsv' index --format t
completes '' export --format t
completes 'auto topsig simhash minhash learned:' index --scheme ''
completes 'learned:' sign --scheme l
completes 'corpus.nigh' sign --scheme learned : co
completes 'corpus.nigh' sign --scheme = learned : co
completes 's3h s3h-f simhash ssh' train --method s
completes 'auto hybrid bloom coca' terms index --method ''
completes 'corpus.nigh' terms index --goal queries : co
completes 'index search info check --help' terms ''
completes 'search' terms s
completes 'nearest' help eval n
completes '--breadth' eval nearest --br
completes '' eval psm --br
completes 'auto ball directed' eval nearest --probe ''
completes 'corpus.nigh' eval nearest co
completes '--default-costs' plan --default
completes '' plan --us
completes 'corpus.nigh' search co
completes 'queries.npy' index corpus.nigh q
completes 'with blank.npy' index corpus.nigh w
completes 'queries.npy' index --ids q
completes '' search -k ''
completes '' search --threads ''

finish
