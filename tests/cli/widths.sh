#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signatures whose width is no multiple of 8: every command takes them, every format carries them, and bits that are
# set past the width are an error that changes nothing.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# The first 63 of the 64 bits that would be generated, in whole bytes.
"$NIGH" generate -q -n 6000 --bits 63 -o a.hex || fail generate
"$NIGH" generate -q -n 6000 --bits 64 -o whole.hex || fail generate
python3 - << 'PYTHON' || fail 'these are not the first 63 bits'
for narrow, wide in zip(open("a.hex"), open("whole.hex")):
    bits = int.from_bytes(bytes.fromhex(wide), "little") & (1 << 63) - 1
    assert bytes.fromhex(narrow) == bits.to_bytes(8, "little")
PYTHON
head -40 a.hex > queries.hex

# Every format in and out again.
expect 0 '' '' -- "$NIGH" index -q c.nigh a.hex --bits 63
for format in npy u8bin raw hex; do
    expect 0 '' '' -- "$NIGH" export -q c.nigh -o "out.$format"
    expect 0 '' '' -- "$NIGH" index -q "$format.nigh" "out.$format" --bits 63
    diff -r c.nigh "$format.nigh" > /dev/null || fail "$format.nigh is not c.nigh"
done
same a.hex out.hex
"$NIGH" info c.nigh > .info
contains .info 'width         63 bits'
expect 0 '' ANY -- "$NIGH" index c.nigh out.npy
expect 0 ANY '' -- "$NIGH" check c.nigh
rm -r c.nigh npy.nigh u8bin.nigh raw.nigh

# Every way to search.  Lists cut 63 bits into slices of 8 bits and one of 7.
expect 0 '' '' -- "$NIGH" index -q c.nigh a.hex --bits 63 --lists slices --slice-width 8 --graph
"$NIGH" search -q c.nigh queries.hex -k 5 --method exact --output tsv > exact.tsv || fail search
[[ $(wc -l < exact.tsv) == 200 ]] || fail 'not five for each'
[[ $(cut -f 6 exact.tsv | sort -u) == 63 ]] || fail 'other bits were compared'
for way in 'slices --stop certain' 'slices-plain --stop certain' 'graph --effort 2000' 'sketch' 'auto'; do
    # shellcheck disable=SC2086
    "$NIGH" search -q c.nigh queries.hex -k 5 --method $way --output tsv > way.tsv || fail "$way"
    same exact.tsv way.tsv
done
expect 0 ANY '' -- "$NIGH" eval nearest -q c.nigh --ask 20 --method exact
contains .out '6,000 documents of 63 bits'
expect 0 ANY ANY -- "$NIGH" tune c.nigh -q --sample 60

# Pairs, and what is the same, by a double loop.
python3 - << 'PYTHON' > pairs.expected
rows = [int(line, 16) for line in open("a.hex")][:1500]
for i, a in enumerate(rows):
    for j in range(i + 1, len(rows)):
        if bin(a ^ rows[j]).count("1") <= 3:
            print(i, j, bin(a ^ rows[j]).count("1"))
PYTHON
head -1500 a.hex > part.hex
expect 0 '' '' -- "$NIGH" index -q part.nigh part.hex --bits 63
"$NIGH" pairs -q part.nigh --radius 3 | sed -E 's/.*"id1":"([0-9]+)","id2":"([0-9]+)","distance":([0-9]+).*/\1 \2 \3/' |
    sort -n -k 1,1 -k 2,2 > pairs.got
same pairs.expected pairs.got
expect 0 '' '' -- "$NIGH" dedup -q part.hex --bits 63 --distance 3 -o kept.hex
for format in npy u8bin raw; do
    "$NIGH" export -q part.nigh -o "part.$format" || fail export
    expect 0 '' '' -- "$NIGH" dedup -q "part.$format" --bits 63 --distance 3 -o "kept.$format"
    expect 0 '' '' -- "$NIGH" index -q kept.nigh "kept.$format" --bits 63
    "$NIGH" export -q kept.nigh -o kept-again.hex || fail export
    same kept.hex kept-again.hex
    rm -r kept.nigh
done
expect 0 ANY '' -- "$NIGH" against -q part.nigh queries.hex --radius 0
[[ $(sed -E 's/.*"id1":"([0-9]+)".*/\1/' .out | sort -un | wc -l) == 40 ]] || fail 'not all of them are there'
expect 0 ANY ANY -- "$NIGH" plan -n 1M --bits 63 --radius 3

# Bits past the width, in every format; the file and the row are named, and nothing is made.
printf '%s\n' 0011223344556677 00112233445566f7 > bad.hex
"$NIGH" index -q bad.nigh bad.hex || fail index
for format in npy u8bin raw hex; do
    [[ $format == hex ]] || "$NIGH" export -q bad.nigh -o "bad.$format" || fail export
    why="nigh: 'bad.$format': row 2 has bits set past the width of 63"
    expect 2 '' "$why" -- "$NIGH" index -q never.nigh "bad.$format" --bits 63
    expect 2 '' "$why" -- "$NIGH" index -q part.nigh "bad.$format"
    expect 2 '' "$why" -- "$NIGH" search -q part.nigh "bad.$format"
    expect 2 ANY "$why" -- "$NIGH" against -q part.nigh "bad.$format" --radius 3 --add
    expect 2 '' "$why" -- "$NIGH" dedup -q "bad.$format" --bits 63 -o "never.$format"
    [[ ! -e never.nigh && ! -e never.$format ]] || fail "something was made of bad.$format"
done
"$NIGH" export -q part.nigh -o part-again.hex || fail export
same part.hex part-again.hex

# The width must be of as many bytes, and that of the collection.
expect 2 '' "nigh: 'a.hex', line 1: signatures have 64 bits, 56 were asked for" -- "$NIGH" index -q never.nigh a.hex --bits 56
expect 2 '' "nigh: 'out.npy': signatures have 64 bits, 65 were asked for" -- "$NIGH" index -q never.nigh out.npy --bits 65
expect 2 '' "nigh: 'part.nigh' holds signatures of 63 bits, not 64" -- "$NIGH" index -q part.nigh a.hex --bits 64
expect 2 '' "nigh: 'part.nigh' holds signatures of 63 bits, not 62" -- "$NIGH" search -q part.nigh queries.hex --bits 62

# Documents: the bits of simhash and minhash are the first of those of wider ones.
printf '{"id":"%s","text":"%s"}\n' a 'the quick brown fox jumps over the lazy dog' b 'a stitch in time saves nine of them' \
    c 'the quick brown fox jumped over a lazy dog' > texts.jsonl
for scheme in simhash minhash; do
    "$NIGH" sign -q texts.jsonl --scheme "$scheme" --bits 128 > wide.hex || fail "sign by $scheme"
    for bits in 1 7 63 65; do
        "$NIGH" sign -q texts.jsonl --scheme "$scheme" --bits "$bits" > narrow.hex || fail "sign by $scheme"
        python3 - "$bits" << 'PYTHON' || fail "$scheme: not the first $bits bits"
import sys
width = int(sys.argv[1])
lines = zip(open("narrow.hex").read().split(), open("wide.hex").read().split())
for narrow, wide in list(lines)[1::2]:
    bits = int.from_bytes(bytes.fromhex(wide), "little") & (1 << width) - 1
    assert bytes.fromhex(narrow) == bits.to_bytes((width + 7) // 8, "little"), (narrow, wide)
PYTHON
    done
done
expect 2 '' 'nigh: a width of 1 bit; topsig needs 2 at least' -- "$NIGH" sign -q texts.jsonl --weights log --bits 1
for scheme in simhash topsig; do
    expect 0 '' '' -- "$NIGH" index -q "$scheme.nigh" texts.jsonl --scheme "$scheme" --weights log --bits 63
    expect 0 ANY '' -- "$NIGH" search -q "$scheme.nigh" --text 'the quick brown fox jumps over the lazy dog' -k 1 --output tsv
    [[ $(cut -f 2,3 .out) == $'a\t0' ]] || fail "$scheme finds another: $(cat .out)"
    "$NIGH" check -q "$scheme.nigh" || fail check
done
expect 0 ANY '' -- "$NIGH" against -q simhash.nigh texts.jsonl --radius 0
finish
