#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same pages as text, HTML, JSON, TREC, in archives and in a crawl of a web server: the same signatures and answers.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

pages=$NIGH_SOURCE_DIR/tests/cli/_pages.py
python3 "$pages" make || exit 2

inputs=(texts site pages.jsonl pages.jsonl.gz pages.jsonl.bz2 pages.jsonl.xz crlf.jsonl pages.trec pages.zip pages.tar pages.tar.gz)
if command -v zstd > /dev/null; then
    zstd -q pages.tar
    zstd -q pages.jsonl
    inputs+=(pages.tar.zst pages.jsonl.zst)
fi

# crawl: wget fetches the pages from a server of our own, and writes what it gets as WARC.
crawl() {
    local server
    python3 "$pages" serve port &
    server=$!
    wait_for test -e port
    printf "http://127.0.0.1:$(< port)/%s\n" site/*.html | sed 's,/site/,/,' > urls
    wget -q --no-config --no-proxy -i urls -P fetched --warc-file=crawl || fail 'wget'
    wget -q --no-config --no-proxy -i urls -P fetched-again --no-warc-compression --warc-file=plain || fail 'wget'
    kill "$server"
    wait "$server" 2> /dev/null
    inputs+=(crawl.warc.gz plain.warc)
}
if command -v wget > /dev/null; then crawl; else echo 'there is no wget here: without a crawl'; fi

# by_page: ids of any input made names of pages, in their order.
by_page() { sed -E 's,(^|\t)[^\t]*(page-[0-9]+)[^\t]*,\1\2,g' | sort; }

# alike OPTION...: all inputs have the signatures of the texts.
alike() {
    local input
    "$NIGH" sign -q "$@" texts | by_page > expected
    [[ $(wc -l < expected) == 40 && $(cut -f2 expected | sort -u | wc -l) == 40 ]] || fail 'not forty signatures'
    for input in "${inputs[@]}"; do
        checks=$((checks + 1))
        "$NIGH" sign -q "$@" "$input" | by_page > got
        cmp -s expected got || fail "$input is not signed as the texts by: $*"
    done
    "$NIGH" sign -q "$@" deep.jsonl --text-key page.body --id-key meta.name | by_page > got
    same expected got
}
alike --scheme simhash
alike --scheme simhash --features chars:4 --bits 128
alike --scheme minhash
alike # topsig, and what it counts in a first pass
alike --weights tf-idf --language none

# Ids as the formats have them.
"$NIGH" sign -q --scheme simhash pages.trec | head -1 | grep -q '^page-00	' || fail 'the id of TREC'
"$NIGH" sign -q --scheme simhash pages.tar.gz | head -1 | grep -q '^pages.tar.gz/deep/er/page-00.html	' || fail 'the id of a member'
"$NIGH" sign -q --scheme simhash site | head -1 | grep -q '^site/page-00.html	' || fail 'the id of a file in a folder'
if [[ -e crawl.warc.gz ]]; then
    "$NIGH" sign -q --scheme simhash crawl.warc.gz | head -1 | grep -q '^http://127.0.0.1:[0-9]*/page-00.html	' || fail 'the id of a WARC'
fi

# Indexed, they are the same collection but for ids and snippets, and answer the same.
"$NIGH" index -q texts.nigh texts || fail index
"$NIGH" search -q texts.nigh texts -k 5 --output tsv | by_page > expected
for input in "${inputs[@]}"; do
    rm -rf c.nigh
    expect 0 '' '' -- "$NIGH" index -q c.nigh "$input"
    "$NIGH" search -q c.nigh "$input" -k 5 --output tsv | by_page > got
    same expected got
    expect 0 ANY '' -- "$NIGH" check c.nigh
done

# All of them together, in one command, are as many documents of forty signatures; crawls repeat URIs and archives do not.
expect 0 '' ANY -- "$NIGH" index --scheme minhash all.nigh texts site pages.tar.gz pages.zip pages.jsonl
contains .err 'added 200 documents (40 distinct)'
expect 0 ANY '' -- four "$NIGH" search -q all.nigh --id page-07 --radius 0 --output tsv
[[ $(by_page < .out | cut -f2 | sort | uniq -c) == '      5 page-07' ]] || fail 'not five times page 7'

finish
