#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help is there for every command, and mentions every option.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

expect 0 ANY '' -- "$NIGH" --help
cp .out overview
for command in $("$NIGH" commands); do
    contains overview "$command"
    expect 0 ANY '' -- "$NIGH" "$command" --help
    cp .out "$command.help"
    for option in --threads --quiet --stats --help; do
        contains "$command.help" "$option"
    done
    expect 0 "$(cat "$command.help")" '' -- "$NIGH" "$command" -h
    expect 0 "$(cat "$command.help")" '' -- "$NIGH" help "$command"
    [[ $(awk 'length > 80' "$command.help" | grep -v '^  nigh') == '' ]] || fail "help of $command is wider than 80"
done

for option in --format --bits --ids; do contains index.help "$option"; done
for option in '-k N' --radius --id --exact --method --batch --output --format --bits --verify; do
    contains search.help "$option"
done
contains info.help --output
for option in '-o FILE' --format --ids; do contains export.help "$option"; done
for option in '-o FILE' '-n, --count' --bits --seed --queries --format; do contains generate.help "$option"; done
for option in '-o FILE' --method --bits --label-key --part-key --max-features; do contains train.help "$option"; done
contains sign.help learned:FILE
for option in --method --false-positives --bits-per-term --goal --block --verify --queries --output; do contains terms.help "$option"; done
contains overview NIGH_KERNEL

expect 0 "$(cat overview)" '' -- "$NIGH" help
expect 0 "$(cat overview)" '' -- "$NIGH" -h
expect 2 '' "$(cat overview)" -- "$NIGH"

# Help answers whatever else stands there, and before anything is done.
expect 0 "$(cat search.help)" '' -- "$NIGH" search --help nothing.nigh
# Commands for packagers have help too, but are not listed.
expect 0 ANY '' -- "$NIGH" manual --help
grep -q '^  manual' overview && fail 'an internal command is listed'

expect 0 'index
search
dedup
against
pairs
sign
train
terms
eval
tune
plan
info
check
export
generate' '' -- "$NIGH" commands

"$NIGH" export --help > export-help
contains export-help 'Metadata is not'

finish
