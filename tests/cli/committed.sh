#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An error that comes after the commit has an exit code of its own, says what was committed, and leaves it there.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -n 20000 --bits 512 --seed 3 -o rows.npy -q || fail generate
for i in 1 2 3; do echo "{\"id\":\"d$i\",\"text\":\"words of document number $i\"}"; done > documents.jsonl

# limited KIB COMMAND...: files may not become larger.
limited() { (ulimit -f "$1" && exec "${@:2}"); }

# Lists are larger than the segment: there is room for the one, not for the other.
expect 3 '' ANY -- limited 2600 "$NIGH" index rows.nigh rows.npy --lists slices
contains .err 'File too large'
contains .err "not all slice lists were made; 'nigh index rows.nigh --lists slices' makes them"
contains .err "nigh: the documents are in 'rows.nigh': 20,000 were added, it now has 20,000"
expect 0 ANY ANY -- "$NIGH" check rows.nigh
compgen -G 'rows.nigh/*tmp*' && fail 'temporary files are left'
expect 0 '' ANY -- "$NIGH" index rows.nigh --lists slices
# Before the commit the error is an ordinary one, and nothing is left.
expect 2 '' ANY -- limited 100 "$NIGH" index none.nigh rows.npy
contains .err 'File too large'
[[ -e none.nigh ]] && fail 'something is left of none.nigh'

# Statistics that cannot be written; documents that are there already are not added twice.
expect 3 '' ANY -- "$NIGH" index documents.nigh documents.jsonl --stats /dev/full
contains .err "nigh: the documents are in 'documents.nigh': 3 were added, it now has 3"
expect 3 '' ANY -- "$NIGH" index documents.nigh documents.jsonl --stats /dev/full
contains .err "nigh: the documents are in 'documents.nigh': 0 were added, it now has 3"
expect 3 '' ANY -- "$NIGH" terms index documents.terms documents.jsonl --stats /dev/full
contains .err "nigh: the documents are in 'documents.terms': 3 were added, it now has 3"
expect 2 '' ANY -- "$NIGH" terms index documents.terms documents.jsonl
contains .err "'documents.terms': has these inputs already, unchanged; --again adds them once more"
expect 0 '' ANY -- "$NIGH" terms index documents.terms documents.jsonl --again
contains .err 'which now has 6'
echo '{"id":"d4","text":"more"}' >> documents.jsonl
expect 0 '' ANY -- "$NIGH" terms index documents.terms documents.jsonl
contains .err 'which now has 10'
expect 0 '' ANY -- "$NIGH" terms index halves.terms documents.jsonl --shard 0/2
expect 0 '' ANY -- "$NIGH" terms index halves.terms documents.jsonl --shard 1/2

finish
