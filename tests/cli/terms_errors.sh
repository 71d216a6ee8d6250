#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh terms with bad input: a clear error, exit 2, nothing written.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# refused ERROR -- "$NIGH" terms COMMAND...: wrong use of that command, or of terms itself.
refused() {
    local command='terms'
    case ${5-} in index | search | info | check) command+=" $5" ;; esac
    expect 2 '' "nigh $command: $1"$'\n'"try 'nigh $command --help'" "${@:2}"
}
# nothing_written PATH
nothing_written() {
    checks=$((checks + 1))
    [[ ! -e $1 ]] || fail "'$1' was written"
}

cat > notes.jsonl << 'END'
{"id": "n1", "text": "knead the dough and bake the bread in a hot oven"}
{"id": "n2", "text": "a wet dough gives bread a good crust"}
{"id": "n3", "text": "weigh the anchor and leave the harbour with the tide"}
END
"$NIGH" terms index -q notes.terms notes.jsonl || fail index
"$NIGH" index -q notes.nigh notes.jsonl || fail collection

# --------------------------------------------------------------- wrong use

refused 'say what to do: index, search, info or check' -- "$NIGH" terms
refused "unknown command 'terms serach'; did you mean 'terms search'?" -- "$NIGH" terms serach notes.terms bread
refused "there is index, search, info and check, not 'frobnicate'" -- "$NIGH" terms frobnicate notes.terms
refused 'no FILE given' -- "$NIGH" terms search
refused 'no WORD given, nor --queries' -- "$NIGH" terms search notes.terms
refused "no INPUT given; '-' is standard input" -- "$NIGH" terms index notes.terms
refused 'give one FILE, not 2' -- "$NIGH" terms info notes.terms notes.terms
refused '--queries takes the place of words' -- "$NIGH" terms search notes.terms bread --queries notes.jsonl
refused "--verify goes with 'search'" -- "$NIGH" terms info notes.terms --verify
refused "--method goes with 'index'" -- "$NIGH" terms search notes.terms bread --method bloom
for option in '--text-key body' '--format jsonl' '--max-errors 3' '--shard 0/2' --strict; do
    # shellcheck disable=SC2086 # an option and its value
    refused "${option%% *} goes with 'index'" -- "$NIGH" terms search notes.terms bread --verify $option
    # shellcheck disable=SC2086
    refused "${option%% *} goes with 'index'" -- "$NIGH" terms info notes.terms $option
done
refused "--limit goes with 'index' and 'search'" -- "$NIGH" terms check notes.terms --limit 3
refused "--output goes with 'search' and 'info'" -- "$NIGH" terms check notes.terms --output jsonl
refused "--output takes one of auto, table, jsonl; not 'tsv'" -- "$NIGH" terms info notes.terms --output tsv
refused '--theta and --frequent-hashes go with --method hybrid' -- "$NIGH" terms index new.terms notes.jsonl --method bloom --theta 3
refused 'give --false-positives or --bits-per-term: each follows from the other' -- \
    "$NIGH" terms index new.terms notes.jsonl --false-positives 0.1 --bits-per-term 4
refused "--goal takes one of frequency, uniform, queries:FILE; not 'queries'" -- \
    "$NIGH" terms index new.terms notes.jsonl --goal queries
nothing_written new.terms

# ------------------------------------------------- filters that cannot be

refused '--hashes must be at least 1' -- "$NIGH" terms index new.terms notes.jsonl --hashes 0
refused '--block must be at least 1' -- "$NIGH" terms index new.terms notes.jsonl --block 0
refused '--frequent-hashes must be at least 1' -- "$NIGH" terms index new.terms notes.jsonl --frequent-hashes 0
for bits in 0 -1 65 nan x ''; do
    refused "--bits-per-term takes a number above 0 and up to 64, not '$bits'" -- \
        "$NIGH" terms index new.terms notes.jsonl --bits-per-term "$bits"
done
for share in 0 1 -0.5 2 nan x; do
    refused "--false-positives takes a number above 0 and below 1, not '$share'" -- \
        "$NIGH" terms index new.terms notes.jsonl --false-positives "$share"
done
expect 2 '' ANY -- "$NIGH" terms index new.terms notes.jsonl --method bloom --false-positives 1e-30
contains .err 'a share of false positives of 1e-30 takes more than 64 bits a term; with these it is '
expect 2 '' ANY -- "$NIGH" terms index new.terms notes.jsonl --hashes 3 --frequent-hashes 4
expect 2 '' ANY -- "$NIGH" terms index new.terms notes.jsonl --goal queries:missing.txt
contains .err 'missing.txt'
echo 'submarine' > queries.txt
expect 2 '' ANY -- "$NIGH" terms index new.terms notes.jsonl --goal queries:queries.txt
expect 2 '' ANY -- "$NIGH" terms index new.terms notes.jsonl --language klingon
contains .err klingon
nothing_written new.terms

# --------------------------------------------------- documents without words

: > nothing.jsonl
printf '{"id":"e1","text":""}\n{"id":"e2"}\n' > empty.jsonl
printf '{"id":"e1","text":"the and of"}\n{"id":"e2","text":"?!"}\n' > wordless.jsonl
for input in nothing.jsonl empty.jsonl wordless.jsonl; do
    expect 2 '' ANY -- "$NIGH" terms index new.terms "$input"
    contains .err 'nothing was written'
    nothing_written new.terms
done
for input in nothing.jsonl empty.jsonl; do
    expect_unchanged notes.terms 2 '' ANY -- "$NIGH" terms index notes.terms "$input"
done
expect 2 '' ANY -- "$NIGH" terms index new.terms missing.jsonl
contains .err missing.jsonl
nothing_written new.terms
# One of them among others is no error: it is there, and has no word.
cat notes.jsonl wordless.jsonl > some.jsonl
expect 0 '' ANY -- "$NIGH" terms index some.terms some.jsonl
expect 0 $'n1\nn2' '' -- "$NIGH" terms search -q some.terms bread --verify

# ------------------------------------------------------------------- queries

expect 2 '' ANY -- "$NIGH" terms search notes.terms the and of
contains .err 'all are stop words, or not words'
expect 2 '' ANY -- "$NIGH" terms search notes.terms ''
expect 2 '' ANY -- "$NIGH" terms search notes.terms '?!'
expect 2 '' ANY -- "$NIGH" terms search notes.terms 'bread OR'
expect 2 '' "nigh: '-word' needs --verify: a filter cannot tell that a word is not there" -- \
    "$NIGH" terms search notes.terms 'bread -oven'
expect 2 '' ANY -- "$NIGH" terms search notes.terms --verify -- -oven
contains .err 'beside words that must not be there, a query needs one that must be there'
expect 2 '' ANY -- "$NIGH" terms search notes.terms "$(printf 'x%.0s' {1..300})"
contains .err 'is longer than 255 bytes'
expect 2 '' ANY -- "$NIGH" terms search notes.terms --queries missing.txt
contains .err 'missing.txt'
# A document may have such a word, and the words beside it are found.
printf '{"id":"long","text":"bread %s oven"}\n' "$(printf 'x%.0s' {1..300})" > long.jsonl
expect 0 '' ANY -- "$NIGH" terms index long.terms long.jsonl
expect 0 long '' -- "$NIGH" terms search -q long.terms bread oven --verify

# ----------------------------------------- what is there already, and is not

expect_unchanged notes.terms 2 '' ANY -- "$NIGH" terms index notes.terms notes.jsonl --method bloom
contains .err 'kind'
for other in '--block 7' '--hashes 31' '--theta 77' '--bits-per-term 60' '--false-positives 1e-12' '--language de' \
    '--stemming off' '--stop-words off' '--seed 5'; do
    # shellcheck disable=SC2086 # an option and its value
    expect_unchanged notes.terms 2 '' ANY -- "$NIGH" terms index notes.terms notes.jsonl $other
    contains .err notes.terms
done
expect 2 '' ANY -- "$NIGH" terms search missing.terms bread
contains .err missing.terms
expect 2 '' ANY -- "$NIGH" terms info missing.terms
expect 2 '' ANY -- "$NIGH" terms check missing.terms

# ------------------------------------------------- one thing for the other

for verb in 'search notes.nigh bread' 'info notes.nigh' 'check notes.nigh' 'index notes.nigh notes.jsonl'; do
    # shellcheck disable=SC2086
    expect_unchanged notes.nigh 2 '' ANY -- "$NIGH" terms $verb
    contains .err 'collection'
    contains .err 'notes.nigh'
done
for command in 'search notes.terms --text bread' 'index notes.terms notes.jsonl' 'export notes.terms -o out.npy'; do
    # shellcheck disable=SC2086
    expect_unchanged notes.terms 2 '' ANY -- "$NIGH" $command
    contains .err 'term signature file'
done
nothing_written out.npy
expect 2 '' ANY -- "$NIGH" terms search notes.jsonl bread
mkdir strange && echo hello > strange/file
expect_unchanged strange 2 '' ANY -- "$NIGH" terms index strange notes.jsonl
expect_unchanged strange 2 '' ANY -- "$NIGH" terms info strange

# ----------------------------------------------------------------- damage

# The group of another file, sound in itself: the manifest knows its own.
"$NIGH" terms index -q other.terms long.jsonl || fail other
"$NIGH" terms index -q twin.terms notes.jsonl --seed 9 || fail twin
for from in other twin; do
    rm -rf swapped.terms
    cp -r notes.terms swapped.terms
    group=$(cd notes.terms && echo terms-*)
    cp "$from.terms/$group" "swapped.terms/$group"
    for verb in 'search swapped.terms bread' 'info swapped.terms' 'index swapped.terms notes.jsonl'; do
        # shellcheck disable=SC2086
        expect_unchanged swapped.terms 2 '' ANY -- "$NIGH" terms $verb
        contains .err "$group"
    done
    expect 2 ANY ANY -- "$NIGH" terms check swapped.terms
    expect 2 ANY ANY -- "$NIGH" check swapped.terms
done

# A flipped byte is found by the check wherever it is; asking is an error or an answer, never a crash.
size=$(stat -c %s "notes.terms/$group")
for ((at = 3; at < size; at += size / 41)); do
    rm -rf hurt.terms
    cp -r notes.terms hurt.terms
    byte=$(od -An -tu1 -j "$at" -N 1 "notes.terms/$group")
    # shellcheck disable=SC2059 # an escape is made of it
    printf "\\x$(printf %x $((byte ^ 255)))" | dd of="hurt.terms/$group" bs=1 seek="$at" conv=notrunc status=none
    expect 2 ANY ANY -- "$NIGH" terms check hurt.terms
    contains .err "$group"
    "$NIGH" terms search -q hurt.terms bread > .out 2> .err
    (($? <= 2)) || fail "byte $at: exit $?"
done
for keep in 0 63 100 5000 $((size - 1)); do
    head -c "$keep" "notes.terms/$group" > "hurt.terms/$group"
    expect 2 ANY ANY -- "$NIGH" terms check hurt.terms
    expect 2 '' ANY -- "$NIGH" terms search hurt.terms bread
    contains .err "$group"
done

# ---------------------------------------------------------------- verifying

cp notes.jsonl moved.jsonl
"$NIGH" terms index -q moved.terms moved.jsonl || fail moved
sed 's/bread/soup/' notes.jsonl > moved.jsonl
expect 2 '' ANY -- "$NIGH" terms search moved.terms bread --verify
contains .err 'moved.jsonl'
rm moved.jsonl
expect 2 '' ANY -- "$NIGH" terms search moved.terms bread --verify
contains .err 'moved.jsonl'
expect 0 $'n1\nn2' '' -- "$NIGH" terms search -q moved.terms bread
expect 0 '' ANY -- from notes.jsonl "$NIGH" terms index piped.terms -
expect 2 '' ANY -- "$NIGH" terms search piped.terms bread --verify

finish
