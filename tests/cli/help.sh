#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Help is there for every command, and mentions every option.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

expect 0 ANY '' -- "$NIGH" --help
cp .out overview
# every_command: each a line, those inside another with both words.
every_command() {
    local command
    for command in $("$NIGH" commands); do
        echo "$command"
        "$NIGH" commands "$command" | sed "s/^/$command /"
    done
}
while read -r command word; do
    words=("$command" ${word:+"$word"})
    name=$command${word:+-$word}
    if [[ -z $word ]]; then contains overview "$command"; else contains "$command.help" "  $word "; fi
    expect 0 ANY '' -- "$NIGH" "${words[@]}" --help
    cp .out "$name.help"
    for option in --threads --quiet --stats --help; do
        contains "$name.help" "$option"
    done
    expect 0 ANY '' -- "$NIGH" "${words[@]}" -h
    [[ $(wc -l < .out) -le 24 ]] || fail "the short help of $name has $(wc -l < .out) lines"
    [[ $(awk 'length > 100' .out) == '' ]] || fail "the short help of $name has long lines"
    contains .out "usage: nigh"
    contains .out "'nigh $command${word:+ $word} --help' says more."
    expect 0 "$(cat "$name.help")" '' -- "$NIGH" help "${words[@]}"
    [[ $(awk 'length > 80' "$name.help" | grep -v '^  nigh') == '' ]] || fail "help of $name is wider than 80"
done < <(every_command)

for option in --format --bits --ids; do contains index.help "$option"; done
for option in '-k N' --radius --id --exact --method --batch --output --format --bits --verify; do
    contains search.help "$option"
done
contains info.help --output
for option in '-o FILE' --format --ids; do contains export.help "$option"; done
for option in '-o FILE' '-n, --count' --bits --seed --queries --format; do contains generate.help "$option"; done
for option in '-o FILE' --method --bits --label-key --part-key --max-features; do contains train.help "$option"; done
contains sign.help learned:FILE
for option in --method --false-positives --bits-per-term --goal --block; do contains terms-index.help "$option"; done
for option in --verify --queries --output; do contains terms-search.help "$option"; done
# A command inside another shows its own options alone.
for option in '-k N' --breadth --effort --rings --plot; do contains eval-nearest.help "$option"; done
for option in --judgements --scheme --text-key --ratios; do
    grep -q -e "^ *$option " eval-nearest.help && fail "help of eval nearest shows $option"
done
grep -q -e --usual plan.help && fail 'help shows a name of before'
contains overview NIGH_KERNEL
expect 0 ANY '' -- "$NIGH" dedup -h
contains .out 'examples:'
contains .out 'options:'

expect 0 "$(cat overview)" '' -- "$NIGH" help
expect 0 "$(cat overview)" '' -- "$NIGH" -h
expect 2 '' "$(cat overview)" -- "$NIGH"

# Help answers whatever else stands there, and before anything is done.
expect 0 "$(cat search.help)" '' -- "$NIGH" search --help nothing.nigh
# Commands for packagers have help too, but are not listed.
expect 0 ANY '' -- "$NIGH" manual --help
grep -q '^  manual' overview && fail 'an internal command is listed'

expect 0 'signatures
ranked
duplicates
psm
nearest
learned
terms' '' -- "$NIGH" commands eval
expect 0 '' '' -- "$NIGH" commands search
expect 0 'index
search
dedup
against
pairs
sign
train
terms
vocabulary
eval
tune
plan
info
delete
merge
adopt
check
serve
export
generate' '' -- "$NIGH" commands

"$NIGH" export --help > export-help
contains export-help 'Metadata is not'

finish
