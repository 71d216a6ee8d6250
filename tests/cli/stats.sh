#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --stats: one JSON object, from every command, with what design promises.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# fields NAME...: the last statistics are one object on one line and have these, as numbers or texts of sense.
fields() {
    checks=$((checks + 1))
    python3 -m json.tool stats.json > /dev/null || fail 'no JSON'
    python3 - "$@" << 'PYTHON' || fail 'fields of the statistics'
import json, sys
text = open("stats.json").read()
stats = json.loads(text)
assert text.endswith("}\n") and text.count("\n") == 1, text
for name in ["command", "version", "seconds", "documents", "queries", "rate", "peak_bytes", "threads", "kernel"]:
    assert name in stats, name
for name in sys.argv[1:]:
    key, _, value = name.partition("=")
    assert key in stats and (value == "" or str(stats[key]) == value), (name, stats.get(key))
assert stats["seconds"] >= 0 and stats["peak_bytes"] > 100000 and stats["threads"] >= 1, stats
work = [name for name in stats if name in ("work_seconds", "search_seconds")]
assert len(work) == 1 and 0 <= stats[work[0]] <= stats["seconds"] + 0.001, stats
PYTHON
}

expect 0 '' '' -- "$NIGH" generate -q -n 500 --bits 256 -o a.npy --stats stats.json
fields command=generate documents=500 queries=0 width_bits=256 work_seconds
expect 0 '' '' -- "$NIGH" index -q c.nigh a.npy --stats stats.json
fields command=index documents=500 collection_documents=500 distinct collection_bytes work_seconds
expect 0 ANY '' -- "$NIGH" search -q -k 7 --threads 2 c.nigh a.npy --stats stats.json
fields command=search documents=500 queries=500 matches=3500 exact=1 threads=2 batches=8 distances bytes_scanned search_seconds
expect 1 '' '' -- four "$NIGH" search -q -r 0 c.nigh --stats stats.json --output tsv - < <(printf '%064d\n' 0)
fields command=search queries=1 matches=0
expect 0 ANY '' -- "$NIGH" info c.nigh --stats stats.json
fields command=info documents=500 work_seconds
expect 0 ANY '' -- "$NIGH" check c.nigh --stats stats.json
fields command=check documents=500 problems=0 leftovers=0 files bytes
expect 0 '' '' -- "$NIGH" export -q c.nigh -o b.npy --stats stats.json
fields command=export documents=500

# What is distinct is so among the new: copies of what was there count.
printf '%064d\n%064d\n%064d\n' 0 0 1 > copies.hex
expect 0 '' "added 3 documents (2 distinct) to 'c.nigh', which now has 503; # s (#/s)" -- "$NIGH" index c.nigh copies.hex
expect 0 '' "added 3 documents (2 distinct) to 'c.nigh', which now has 506; # s (#/s)" -- "$NIGH" index c.nigh copies.hex
: > nothing.hex
expect 0 '' "added 0 documents (0 distinct) to 'c.nigh', which now has 506; # s (#/s)" -- "$NIGH" index c.nigh nothing.hex

# Answers that could be millions are made of fewer queries at a time, unless --batch says how many.
expect 0 '' '' -- "$NIGH" generate -q -n 70000 --bits 64 -o many.npy
expect 0 '' '' -- "$NIGH" generate -q -n 20 --bits 64 -o few.npy
expect 0 '' '' -- "$NIGH" index -q many.nigh many.npy --no-tables
# batches N OPTION...: the search takes N of them, and finds what it finds in one.
batches() {
    local count=$1
    shift
    "$NIGH" search -q --batch 64 --output tsv "$@" many.nigh few.npy > in-one
    "$NIGH" search -q --output tsv "$@" many.nigh few.npy --stats stats.json > in-some
    fields command=search queries=20 "batches=$count"
    same in-one in-some
}
batches 1
batches 1 -k 60000 -r 2
batches 3 -k 66000 -r 2
batches 3 -r 2
batches 1 -r 2 --batch 20
batches 20 -r 2 --batch 1
# With tables, of which an answer takes little, batches grow while few documents match.
expect 0 '' '' -- "$NIGH" index -q many.nigh --lists tables
batches 2 -r 2
batches 20 -r 2 --batch 1

# To standard output, after the answer; through a device; not after a failure.
"$NIGH" search -q -k 1 --output jsonl c.nigh --id 0 --stats - > out
[[ $(wc -l < out) == 2 ]] || fail 'two lines'
tail -1 out > stats.json
fields command=search queries=1
expect 0 ANY '' -- "$NIGH" info c.nigh --stats /dev/null
[[ -c /dev/null ]] || fail '/dev/null is gone'
rm stats.json
expect 2 '' ANY -- "$NIGH" info nowhere.nigh --stats stats.json
[[ -e stats.json ]] && fail 'statistics of a failure'
expect 2 ANY "nigh: 'no/stats.json': cannot write: No such file or directory" -- "$NIGH" info c.nigh --stats no/stats.json
if [[ -e /dev/full ]]; then
    expect 2 ANY "nigh: '/dev/full': cannot write: No space left on device" -- "$NIGH" info c.nigh --stats /dev/full
fi

finish
