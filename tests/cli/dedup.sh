#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh dedup: what goes and what stays, what it says, and that the rest is byte for byte what it was.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

words() { seq -s ' ' -f 'word%g' "$1" "$2"; }

# a, its exact copy, a near-copy (one word of fifty more), a longer near-copy of that, and strangers.
{
    printf '{ "id" : "a",\t"text":"%s", "stars": 1}\r\n' "$(words 1 50)"
    printf '{"id":"copy","id":"twice","text":"%s","stars":5}\n' "$(words 1 50)"
    printf '\n'
    printf '{"id":"near","text":"%s","stars":3.5} \n' "$(words 1 51)"
    printf 'malformed {\n'
    printf '{"id":"other","text":"%s"}\n' "$(words 100 150)"
    printf '{"id":"longest","text":"%s"}\n' "$(words 1 54)"
    printf '{"no":"text"}\n'
    printf '{"id":"short","text":"one two"}'
} > in.jsonl
line() { sed -n "$1p" in.jsonl; }
kept() { for number; do line "$number"; done; }

expect 0 '' ANY -- "$NIGH" dedup in.jsonl -o out.jsonl --stats stats.json
{ kept 1 3 5 6 8; printf '%s\n' "$(line 9)"; } > expected
same expected out.jsonl
contains .err '6 documents: 3 kept, 3 removed (1 exact copy, 2 near-copies)'
contains .err '1 cluster; the largest has 4 documents'
contains .err '2 records without a text, or malformed, were left as they are'
contains .err 'MB/s)'
for count in '"documents":6' '"kept":3' '"copies":1' '"near":2' '"clusters":1' '"largest":4' '"unread":2' '"lost":0'; do
    contains stats.json "$count"
done
[[ -e out.jsonl.nigh.tmp ]] && fail 'a temporary file is left'

# The same from standard input, to standard output, with any threads, and from what is compressed.
expect 0 "$(cat expected)" '' -- from in.jsonl "$NIGH" dedup -q - -o -
expect 0 "$(cat expected)" '' -- piped in.jsonl "$NIGH" dedup -q - -o -
expect 0 "$(cat expected)" '' -- "$NIGH" dedup -q in.jsonl -o /dev/stdout --threads 4 --memory 20M
gzip -k in.jsonl
expect 0 "$(cat expected)" '' -- "$NIGH" dedup -q in.jsonl.gz -o -
piped in.jsonl "$NIGH" dedup -q <(cat in.jsonl) -o fifo.jsonl || fail 'of a pipe with a name'
same expected fifo.jsonl
for method in exact minhash; do
    expect 0 "$(cat expected)" '' -- "$NIGH" dedup -q --method $method in.jsonl -o -
done

# Compressed by the name; the same bytes each time.
for ending in gz zst xz bz2; do
    expect 0 '' '' -- "$NIGH" dedup -q in.jsonl -o out.$ending
    cp out.$ending first.$ending
    expect 0 '' '' -- "$NIGH" dedup -q in.jsonl -o out.$ending
    same first.$ending out.$ending
    expect 0 '' '' -- "$NIGH" dedup -q out.$ending -o again.jsonl
    same expected again.jsonl
done
gzip -dc out.gz | cmp - expected || fail 'gzip reads something else'

# Which one stays.
ids() { sed -n 's/.*"id" \{0,1\}: \{0,1\}"\([a-z]*\)".*/\1/p' "$1" | tr '\n' ' '; }
keeps() { # RULE EXPECTED
    expect 0 '' '' -- "$NIGH" dedup -q --keep "$1" in.jsonl -o keep.jsonl
    [[ $(ids keep.jsonl) == "$2 " ]] || fail "--keep $1 keeps $(ids keep.jsonl)"
}
keeps first 'a other short'
keeps longest 'other longest short'
keeps shortest 'a other short'
keeps score:stars 'twice other short'
keeps score:nothing 'a other short'
expect 0 '' ANY -- "$NIGH" dedup --keep score:nothing in.jsonl -o keep.jsonl
contains .err "warning: no document has a number under 'nothing', so the first of each cluster is kept"
expect 2 '' ANY -- "$NIGH" dedup --keep best in.jsonl -o x
contains .err "--keep takes first, longest, shortest or score:KEY, not 'best'"

# Thresholds.
expect 0 '' ANY -- "$NIGH" dedup --threshold 0.95 in.jsonl -o t.jsonl
contains .err '6 documents: 4 kept'
expect 0 '' ANY -- "$NIGH" dedup --threshold 1 in.jsonl -o t.jsonl
contains .err '6 documents: 5 kept, 1 removed (1 exact copy, 0 near-copies)'
for bad in 0 1.1 x -1 ''; do
    expect 2 '' ANY -- "$NIGH" dedup --threshold "$bad" in.jsonl -o x
done

# All of them, marked.
expect 0 '' ANY -- "$NIGH" dedup --annotate in.jsonl -o marked.jsonl
contains .err '3 to keep, 3 to go'
python3 - << 'END' || fail 'what is annotated is wrong'
import json
lines = open("in.jsonl", newline="").read().split("\n")
marked = open("marked.jsonl", newline="").read().split("\n")
assert marked[-1] == "" and len(marked) == len(lines) + 1, marked
want = {0: ("a", True), 1: ("a", False), 3: ("a", False), 5: ("other", True), 6: ("a", False), 8: ("short", True)}
for i, line in enumerate(lines):
    if i not in want:
        assert marked[i] == line, (i, marked[i])
        continue
    got = json.loads(marked[i])
    assert (got.pop("nigh_cluster"), got.pop("nigh_keep")) == want[i], marked[i]
    assert got == json.loads(line)
    tail = ',"nigh_cluster":"%s","nigh_keep":%s}' % (want[i][0], str(want[i][1]).lower())
    assert marked[i] == line[:line.rindex("}")] + tail + line[line.rindex("}") + 1:], marked[i]
END
# Once more, the marks are replaced.
expect 0 '' ANY -- "$NIGH" dedup --annotate marked.jsonl -o twice.jsonl
same marked.jsonl twice.jsonl

# Pairs and clusters.
expect 0 '' '' -- "$NIGH" dedup -q in.jsonl --pairs pairs.jsonl --clusters clusters.jsonl
python3 - << 'END' || fail 'pairs or clusters are wrong'
import json
pairs = [json.loads(line) for line in open("pairs.jsonl")]
assert all(list(pair) == ["id1", "id2", "similarity", "distance", "number1", "number2"] for pair in pairs)
assert [(p["id1"], p["id2"]) for p in pairs] == [
    ("a", "twice"), ("a", "near"), ("a", "longest"), ("twice", "near"), ("twice", "longest"), ("near", "longest")], pairs
assert pairs[0]["similarity"] == 1 and abs(pairs[1]["similarity"] - 48 / 49) < 1e-4, pairs
clusters = [json.loads(line) for line in open("clusters.jsonl")]
assert [(c["id"], c["cluster"], c["keep"]) for c in clusters] == [
    ("a", "a", True), ("twice", "a", False), ("near", "a", False), ("other", "other", True), ("longest", "a", False),
    ("short", "short", True)], clusters
END
expect 0 ANY '' -- "$NIGH" dedup -q in.jsonl --pairs - --pairs-per-cluster tree
[[ $(wc -l < .out) == 3 ]] || fail 'a tree of four has three pairs'

# The report: one page, and nothing in it that a document could have slipped in.
evil='{"id":"<img src=x onerror=alert(1)>","text":"<script>alert(1)</script> some words more"}'
printf '%s\n%s\n' "$evil" "${evil/more/of it}" > evil.jsonl
expect 0 '' '' -- "$NIGH" dedup -q --threshold 0.3 evil.jsonl in.jsonl --report report.html
contains report.html '<!DOCTYPE html>'
contains report.html 'onerror=alert(1)'
grep -q '<script>alert\|<img src=x' report.html && fail 'the report has the text of a document as markup'
[[ -e report.html.nigh.tmp ]] && fail 'a temporary file is left'

# Nothing verified: said, with what it costs.
expect 0 '' ANY -- "$NIGH" dedup --no-verify in.jsonl -o nv.jsonl
contains .err 'nothing was verified'

# Little to do: nothing, one document, all the same.
: > empty.jsonl
expect 1 '' ANY -- "$NIGH" dedup empty.jsonl -o none.jsonl
contains .err 'no documents'
same empty.jsonl none.jsonl
expect 1 '' '' -- "$NIGH" dedup -q empty.jsonl --report none.html --pairs none.pairs --clusters none.clusters
contains none.html '</html>'
line 1 > one.jsonl
expect 0 '' ANY -- "$NIGH" dedup one.jsonl -o out1.jsonl --report one.html
contains .err '1 document: no two are alike, all kept'
same one.jsonl out1.jsonl
yes "$(line 2)" | head -n 3000 > equal.jsonl
expect 0 '' ANY -- "$NIGH" dedup equal.jsonl -o equal.out --pairs equal.pairs --report equal.html
contains .err '3,000 documents: 1 kept, 2,999 removed (2,999 exact copies, 0 near-copies)'
contains .err 'warning: one cluster has 3,000 documents'
line 2 | cmp - equal.out || fail 'of equal ones not the first'

contains .err 'pairs of copies were left out: '

# What cannot be in the output is an error, with nothing written, unless it is allowed.
# loses COUNT ARGUMENT...
loses() {
    local count=$1
    shift
    echo before > limit.jsonl
    expect 2 '' ANY -- "$NIGH" dedup -q "$@" -o limit.jsonl --clusters limit.clusters --stats limit.json
    contains .err "nigh: nothing was written: $count of the input would be missing"
    contains .err '; --allow-loss goes on without '
    contains .err ', --max-document N raises the limit'
    compare 'the file that was there' before limit.jsonl
    [[ -e limit.clusters || -e limit.json ]] && fail 'something was written'
    expect 0 '' ANY -- "$NIGH" dedup -q --allow-loss "$@" -o limit.jsonl
    contains .err "nigh: $count of the input "
    contains .err ' missing from the output: '
}
loses '5 records' --max-document 100 --format jsonl in.jsonl
seq 20000 | sed 's/.*/{"id":"&","text":"some words and &"}/' | gzip > long.jsonl.gz
head -c 20000 long.jsonl.gz > cut.jsonl.gz
loses '1 record' cut.jsonl.gz
expect 0 '' '' -- "$NIGH" dedup -q --limit 2 in.jsonl -o limited.jsonl
line 1 | cmp - limited.jsonl || fail '--limit 2 is not the first two'

finish
