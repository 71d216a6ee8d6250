#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh dedup: forms of input and output (WARC, TREC, lines, files, signatures), and what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

words() { seq -s ' ' -f 'word%g' "$1" "$2"; }

# WARC in, WARC out: records whole, with those that are no documents.
warc() { # TYPE URI TEXT
    printf 'WARC/1.0\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n' \
        "$1" "$2" "${#3}" "$3"
}
{ warc warcinfo '' 'software: x'; warc conversion u:1 "$(words 1 50)"; warc request u:1 'GET /'; } > head.warc
warc conversion u:2 "$(words 1 51)" > gone.warc
warc conversion u:3 "$(words 90 99)" > tail.warc
cat head.warc gone.warc tail.warc > in.warc
cat head.warc tail.warc > expected.warc
expect 0 '' ANY -- "$NIGH" dedup in.warc -o out.warc
same expected.warc out.warc
expect 0 '' '' -- "$NIGH" dedup -q in.warc -o out.warc.gz
gzip -dc out.warc.gz | cmp - expected.warc || fail 'the compressed WARC is another'
[[ $(gzip -dc out.warc.gz | wc -c) == $(wc -c < expected.warc) ]] || fail 'lengths differ'
expect 0 '' ANY -- "$NIGH" dedup out.warc.gz -o again.warc
contains .err '2 documents: no two are alike, all kept; --threshold below 0.8 finds looser near-copies'
same expected.warc again.warc

# TREC, lines.
printf '<DOC><DOCNO>1</DOCNO>%s</DOC>\n<DOC><DOCNO>2</DOCNO>%s</DOC>\n<DOC>\n<DOCNO>3</DOCNO>other text</DOC>\n' \
    "$(words 1 50)" "$(words 1 51)" > in.trec
expect 0 '' '' -- "$NIGH" dedup -q in.trec -o out.trec
sed 2d in.trec > expected.trec
same expected.trec out.trec
printf '%s\r\n\n%s\n%s' "$(words 1 50)" "$(words 0 50)" "$(words 70 90)" > in.txt
expect 0 '' '' -- "$NIGH" dedup -q --format lines in.txt -o out.txt
{ sed 3d in.txt; echo; } > expected.txt
same expected.txt out.txt

# Files and pages become JSON lines; so does a mix of these with JSON lines.
mkdir pages
printf '<p>%s' "$(words 1 50)" > pages/a.html
words 1 50 > pages/b.txt
echo 'something else' > pages/c.txt
expect 0 '' '' -- "$NIGH" dedup -q pages -o pages.jsonl
printf '{"id":"pages/a.html","text":"%s"}\n{"id":"pages/c.txt","text":"something else\\n"}\n' "$(words 1 50)" > expected.jsonl
same expected.jsonl pages.jsonl
tar -cf pages.tar pages
expect 0 '' '' -- "$NIGH" dedup -q pages.tar pages.jsonl -o mixed.jsonl
sed 's|pages/|pages.tar/pages/|' expected.jsonl > expected2.jsonl
same expected2.jsonl mixed.jsonl

# Several forms do not go into one file, but pairs can be had of them.
expect 2 '' 'nigh: the inputs are of several forms that do not go into one file; write each by itself' -- \
    "$NIGH" dedup -q in.warc in.trec -o never
[[ -e never || -e never.nigh.tmp ]] && fail 'a file is left'
expect 0 ANY '' -- "$NIGH" dedup -q in.warc in.trec --pairs -
[[ -s .out ]] || fail 'no pairs'
expect 2 '' 'nigh: only JSON lines, plain files and pages can be annotated' -- "$NIGH" dedup -q --annotate in.warc -o never

# Several inputs of one form, one after the other; the last line of the first has no end.
printf '{"text":"%s"}' "$(words 1 50)" > 1.jsonl
printf '{"text":"%s"}\n{"text":"x"}' "$(words 1 50)" > 2.jsonl
expect 0 "{\"text\":\"$(words 1 50)\"}
{\"text\":\"x\"}" '' -- "$NIGH" dedup -q 1.jsonl 2.jsonl -o -

# Signatures.
printf 'a\t0000000000000000\nb\tffffffffffffffff\nc\t0000000000000007\nd\t000000000000000f\n' > in.hex
expect 0 $'a\t0000000000000000\nb\tffffffffffffffff\nd\t000000000000000f' ANY -- "$NIGH" dedup in.hex -o -
contains .err '4 signatures: 3 kept, 1 removed'
expect 0 $'a\t0000000000000000\nb\tffffffffffffffff' '' -- "$NIGH" dedup -q --distance 4 in.hex -o -
expect 0 ANY '' -- "$NIGH" dedup -q in.hex --pairs - --clusters sig.clusters
contains .out '{"id1":"a","id2":"c","similarity":null,"distance":3,"number1":0,"number2":2}'
contains sig.clusters '{"id":"c","cluster":"a","keep":false,"number":2,"cluster_number":0}'
expect 0 '' '' -- "$NIGH" dedup -q in.hex -o out.npy --report sig.html
expect 0 ANY '' -- "$NIGH" dedup -q out.npy -o - --format npy
# What has no place for ids is written without, which is said; what is named as compressed is refused.
expect 0 '' ANY -- "$NIGH" dedup in.hex -o out.npy
contains .err "warning: npy has no place for ids, so 'out.npy' is without them; use --clusters, or a name ending in .hex"
expect 0 '' ANY -- "$NIGH" dedup out.npy -o again.npy
grep -q warning .err && fail 'a warning of ids where there are none'
expect 2 '' "nigh dedup: signatures are not compressed; name 'out.gz' without its ending
try 'nigh dedup --help'" -- "$NIGH" dedup in.hex -o out.gz
# No more bits can differ than there are.
expect 2 '' "nigh dedup: --distance 65 is more than the 64 bits there are
try 'nigh dedup --help'" -- "$NIGH" dedup in.hex --distance 65 -o never
expect 0 ANY '' -- "$NIGH" dedup -q in.hex --distance 64 -o -
printf '{"id":"a","text":"one two three"}\n' > one.jsonl
expect 2 '' "nigh dedup: --distance 65 is more than the 64 bits there are
try 'nigh dedup --help'" -- "$NIGH" dedup one.jsonl --method simhash --distance 65 -o never
expect 0 '' '' -- "$NIGH" dedup -q one.jsonl --method simhash --bits 128 --distance 65 -o far.jsonl
[[ -e never || -e out.gz ]] && fail 'something was written'
: > none.hex
expect 1 '' ANY -- "$NIGH" dedup none.hex -o none.out --format hex
expect 2 '' ANY -- "$NIGH" dedup in.hex --threshold 0.5 -o never
contains .err 'signatures go by --distance'
expect 2 '' ANY -- "$NIGH" dedup in.hex --annotate -o never

# What is refused, before any work and with the input as it was.
ln 1.jsonl hard.jsonl
for out in 1.jsonl ./1.jsonl hard.jsonl; do
    expect_unchanged 1.jsonl 2 '' ANY -- "$NIGH" dedup 1.jsonl -o $out
    contains .err 'are the same file'
done
expect_unchanged pages 2 '' ANY -- "$NIGH" dedup pages -o pages/out.jsonl
contains .err "is in the folder 'pages', which is read"
expect_unchanged pages 2 '' ANY -- "$NIGH" dedup pages --report pages/out.html
expect 2 '' "nigh: 'no/where': cannot write: No such file or directory" -- "$NIGH" dedup 1.jsonl -o no/where
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl
contains .err 'nothing to write: give -o FILE, --pairs, --clusters or --report'
expect 2 '' ANY -- "$NIGH" dedup
contains .err 'no INPUT given'
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl -o a --pairs a
contains .err '-o and --pairs name the same file'
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl -o - --pairs -
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl --annotate --pairs x
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl --report -
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl --distance 3 -o never
contains .err '--distance goes with --method simhash'
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl --method exact --no-verify -o never
expect 2 '' ANY -- "$NIGH" dedup 1.jsonl --pairs-per-cluster tree -o never
expect 2 '' "nigh: 'nowhere': cannot open: No such file or directory" -- "$NIGH" dedup nowhere -o never
expect 2 '' ANY -- "$NIGH" dedup --strict in.txt --format jsonl -o never
[[ -e never || -e never.nigh.tmp ]] && fail 'a file is left'

# No space: an error, no file, and what was there before is still there.
if [[ -c /dev/full ]]; then
    expect_unchanged 1.jsonl 2 '' "nigh: '/dev/full': cannot write: No space left on device" -- "$NIGH" dedup -q 1.jsonl -o /dev/full
fi
echo before > limited.jsonl
seq -s ' ' 200000 | fold -w 500 | sed 's/.*/{"text":"&"}/' > big.jsonl
(
    ulimit -f 300
    trap '' XFSZ
    expect_unchanged limited.jsonl 2 '' ANY -- "$NIGH" dedup big.jsonl -o limited.jsonl
    contains .err 'cannot write'
    ((failures == 0))
) || failures=$((failures + 1))
[[ -e limited.jsonl.nigh.tmp ]] && fail 'a temporary file is left'

# Stopped while it works: no file is left, and none that was there changes.
mkfifo slow.pipe
"$NIGH" dedup -q slow.pipe -o limited.jsonl 2> stopped.err &
pid=$!
exec 9> slow.pipe
echo '{"text":"a"}' >&9
sleep 0.3
kill -TERM $pid
exec 9>&-
wait $pid && fail 'stopped, and yet well'
compare 'the file that was there' before limited.jsonl
[[ -e limited.jsonl.nigh.tmp ]] && fail 'a temporary file is left'

finish
