#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tier: full
# A hundred thousand documents of mixed kinds: all are signed, the same by any number of threads, and found again.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

documents=${MIXED_DOCUMENTS:-100000}
python3 "$NIGH_SOURCE_DIR/tests/cli/_mixed.py" "$documents" || exit 2
read -r broken silent < counts

# every OPTION...: signs them all; what is broken is counted, and the rest is there once.
every() {
    expect 0 '' ANY -- "$NIGH" sign in "$@" -o rows.hex --stats stats.json
    for count in "\"documents\":$documents," "\"missing_text\":$silent," '"empty":0' "\"malformed\":$broken,"; do
        contains stats.json "$count"
    done
    [[ $(cut -f1 rows.hex | sort -u | wc -l) == "$documents" ]] || fail 'ids repeat, or are missing'
}
every --scheme simhash --threads 3
mv rows.hex simhash.hex
every --scheme simhash --threads 1
same simhash.hex rows.hex
every --scheme minhash --threads 2

# Indexed in two steps, with a vocabulary, weights and snippets; and sound.
expect 0 '' ANY -- "$NIGH" index c.nigh in/a.jsonl.gz in/b.trec in/c.tar.xz --keep-weights --threads 3
expect 0 '' ANY -- "$NIGH" index c.nigh in/d.zip in/e.warc.gz in/f --keep-weights --threads 2
contains .err "which now has $(sed ':a;s/\B[0-9]\{3\}\>/,&/;ta' <<< "$documents");"
expect 0 ANY '' -- "$NIGH" check c.nigh
contains .out 'is sound'

# Each of a sample finds itself, by its text, at distance 0; so it does by id.
expect 0 ANY ANY -- four "$NIGH" search -q c.nigh in --shard 7/997 -k 1 --output tsv --threads 2
[[ $(awk -F '\t' '$3 != 0' .out | wc -l) == 0 ]] || fail 'a document is not at distance 0 from itself'
(($(wc -l < .out) >= documents / 1000)) || fail 'queries are missing'
for id in json-5 trec-5 in/c.tar.xz/page-6.html in/d.zip/page-7.html http://example.org/5 in/f/0/5.txt; do
    expect 0 ANY '' -- four "$NIGH" search -q c.nigh --id "$id" -k 1 --output tsv
    [[ $(cut -f3 .out) == 0 ]] || fail "$id does not find itself"
done

finish
