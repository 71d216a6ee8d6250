#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What killed writers leave is removed by the next one, and by 'nigh check --tidy', which says what.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -n 200000 --bits 256 -o rows.npy -q || fail generate
"$NIGH" generate -n 100 --bits 256 -o few.npy -q || fail generate

"$NIGH" index -q c.nigh few.npy || fail index
state c.nigh > before
# A pipe that never ends: the writer is killed in the middle.  Files do not become more with every time.
for _ in 1 2 3 4; do
    "$NIGH" index -q c.nigh - --format npy < <(exec 2> /dev/null; cat rows.npy; exec sleep 5) &
    writer=$!
    for _ in $(seq 100); do # until its own segment, not that of the one before, has grown
        readlink "/proc/$writer/fd/"* 2> /dev/null | grep -q '/segment-[0-9]*$' &&
            [[ $(find c.nigh -name 'segment-*' -size +100k | wc -l) -gt 0 ]] && break
        sleep 0.05
    done
    kill -KILL "$writer"
    wait "$writer" 2> /dev/null
    left=$(find c.nigh -type f | wc -l)
    [[ $left -le 3 ]] || fail "$left files after a writer was killed"
done
checks=$((checks + 1))
expect 0 ANY '' -- "$NIGH" check c.nigh
contains .out 'harmless, the next'
expect 0 ANY ANY -- "$NIGH" check --tidy c.nigh
contains .err "removed 'segment-"
[[ $(state c.nigh) == "$(cat before)" ]] || fail 'it is not what it was'
expect 0 ANY '' -- "$NIGH" check --tidy c.nigh

# Of term signature files; and nothing is removed where something is damaged, or somebody writes.
echo words > text.txt
"$NIGH" terms index -q t.terms text.txt || fail terms
: > t.terms/terms-00000000000000000009.tmp
expect 0 ANY ANY -- "$NIGH" terms check --tidy t.terms
contains .err "removed 'terms-00000000000000000009.tmp'"
: > t.terms/terms-00000000000000000009.tmp
exec 9< t.terms
flock 9
expect 2 ANY ANY -- "$NIGH" terms check --tidy t.terms
contains .err 'another process is writing to it'
exec 9<&-
printf x >> t.terms/manifest-00000000000000000001
expect 2 ANY ANY -- "$NIGH" terms check --tidy t.terms
[[ -e t.terms/terms-00000000000000000009.tmp ]] || fail 'a damaged file was tidied'

# ------------------------------------------------- outputs of one command go together

for i in 1 2 3; do echo "{\"id\":\"d$i\",\"text\":\"words of a document, the same in all of them\"}"; done > docs.jsonl
for name in out.jsonl.gz pairs clusters report.html; do echo old > "$name"; done
chmod 600 pairs
outputs=(-o out.jsonl.gz --pairs pairs --clusters clusters --report report.html)
before=$(state . | grep -v '\.err\|\.out\|\.expected')
expect 2 ANY ANY -- bash -c 'ulimit -f 1; exec "$@"' - "$NIGH" dedup docs.jsonl "${outputs[@]}"
contains .err 'File too large'
[[ $(state . | grep -v '\.err\|\.out\|\.expected') == "$before" ]] || fail 'some outputs were replaced'
expect 0 ANY ANY -- "$NIGH" dedup docs.jsonl "${outputs[@]}"
[[ $(zcat out.jsonl.gz | wc -l) == 1 && $(wc -l < clusters) == 3 && $(stat -c %a pairs) == 600 ]] || fail 'outputs'
contains report.html '<html'
find . -name '.nigh-new*' | grep . && fail 'something is left'

# --------------------------------------------- a scheme of a stranger's costs what is usual

expect 0 '' ANY -- "$NIGH" index wide.nigh docs.jsonl --bits 65536
echo '{"id":"d4","text":"more words"}' > more.jsonl
expect_unchanged wide.nigh 2 '' ANY -- "$NIGH" index wide.nigh more.jsonl
contains .err 'signatures of 65536 bits (bits), above 16384; give --bits or --max-terms too, if you mean it'
expect 0 '' ANY -- "$NIGH" index wide.nigh more.jsonl --bits 65536
expect 0 '' ANY -- "$NIGH" index cut.nigh docs.jsonl --split hard --max-terms 1 --min-terms 1
expect_unchanged cut.nigh 2 '' ANY -- "$NIGH" index cut.nigh more.jsonl
contains .err 'makes 1024 bits of every 1 words (max-terms), above 512 bits a word'
expect 0 '' ANY -- "$NIGH" index cut.nigh more.jsonl --max-terms 1
# The same where new documents are held against it, with --add and without; signatures cost nothing.
echo '{"id":"d5","text":"and other words"}' > fifth.jsonl
for add in '' --add; do
    # shellcheck disable=SC2086 # nothing, or one word
    expect_unchanged wide.nigh 2 '' ANY -- "$NIGH" against $add -r 10 wide.nigh fifth.jsonl
    contains .err "'wide.nigh': its scheme makes signatures of 65536 bits (bits), above 16384; give --bits or --max-terms too, if you mean it"
    # shellcheck disable=SC2086
    expect_unchanged cut.nigh 2 '' ANY -- "$NIGH" against $add -r 10 cut.nigh fifth.jsonl
    contains .err "'cut.nigh': its scheme makes 1024 bits of every 1 words (max-terms), above 512 bits a word"
done
expect 0 ANY ANY -- "$NIGH" against --add -r 10 wide.nigh fifth.jsonl --bits 65536
expect 0 ANY ANY -- "$NIGH" against --add -r 10 cut.nigh fifth.jsonl --max-terms 1
expect_unchanged cut.nigh 2 '' ANY -- "$NIGH" against -r 10 cut.nigh fifth.jsonl --max-terms 2

finish
