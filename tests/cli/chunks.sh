#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Files of chunks: they record how they were signed and refuse others; info and check know them.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

words() { for ((i = $1; i < $1 + 60; i++)); do printf 'word%d ' $((i * 7919 % 409)); done; }
for ((n = 0; n < 50; n++)); do printf '{"id":"d%d","text":"%s"}\n' "$n" "$(words $((n * 61)))"; done > day1.jsonl
head -20 day1.jsonl > day2.jsonl

# By weights that need counts: the file keeps them, so that what is the same is found, whatever else is in the input.
expect 0 '' ANY -- "$NIGH" against --add --weights tf-idf t.chunks day1.jsonl
contains .err '50 new, 50 added'
for options in '' '--weights tf-idf' '--scheme simhash' '--bits 64'; do
    # shellcheck disable=SC2086 # several words
    expect_unchanged t.chunks 0 ANY ANY -- "$NIGH" against $options t.chunks day2.jsonl
    contains .err '20 there, 0 new'
    # shellcheck disable=SC2086
    expect 0 ANY ANY -- piped day2.jsonl "$NIGH" against $options t.chunks -
    contains .err '20 there, 0 new'
done
expect 0 ANY ANY -- "$NIGH" against --add t.chunks day2.jsonl
contains .err '20 there, 0 new, 0 added'

# Others are refused, and both are named.
# refused GIVEN ARGUMENT...
refused() {
    local given=$1
    shift
    expect_unchanged t.chunks 2 '' ANY -- "$NIGH" against "$@"
    contains .err "'t.chunks': its signatures were made by kind=simhash"
    contains .err ", and these by kind=$given"
}
refused 'simhash weights=log' --weights log t.chunks day2.jsonl
refused minhash --scheme minhash t.chunks day2.jsonl
"$NIGH" sign -q --scheme simhash --weights tf-idf --make-vocabulary few.counts day2.jsonl || fail sign
refused 'simhash vocabulary=' --vocabulary few.counts t.chunks day2.jsonl
"$NIGH" sign -q --scheme simhash day2.jsonl -o day2.hex || fail sign
refused signatures --add t.chunks day2.hex
expect_unchanged t.chunks 0 ANY ANY -- "$NIGH" against t.chunks day2.hex # only held against it
contains .err 'signatures against 50'

"$NIGH" against -q --add seeded.chunks day1.jsonl --seed 7 || fail against
expect_unchanged seeded.chunks 2 '' "nigh: 'seeded.chunks': its signatures were made by kind=simhash seed=7, and these by kind=simhash seed=8" \
    -- "$NIGH" against seeded.chunks day1.jsonl --seed 8

# Signatures of one's own.
expect 0 ANY ANY -- "$NIGH" against --add own.chunks day2.hex
for options in '' '--scheme simhash'; do
    # shellcheck disable=SC2086
    expect_unchanged own.chunks 2 '' "nigh: 'own.chunks': holds signatures that nigh did not make from text; give signatures" \
        -- "$NIGH" against $options own.chunks day2.jsonl
done

# A file of an older version does not say: that is told, and it is gone on with as before.
cp "$NIGH_SOURCE_DIR/tests/golden/v1-silent.chunks" old.chunks
expect_unchanged old.chunks 0 ANY ANY -- "$NIGH" against old.chunks day2.jsonl
contains .err "'old.chunks' does not say how its signatures were made"
expect 0 ANY ANY -- "$NIGH" against --add old.chunks day2.jsonl
contains .err "'old.chunks' does not say how its signatures were made"
expect 0 ANY '' -- "$NIGH" check old.chunks

# ------------------------------------------------------------- info and check --

expect 0 ANY '' -- "$NIGH" info t.chunks
for line in 'signatures    50' 'chunks        1' 'width         64 bits' 'vocabulary    ' 'a signature' 'weights = tf-idf'; do
    contains .out "$line"
done
expect 0 ANY '' -- "$NIGH" info --output jsonl t.chunks
for part in '"signatures":50' '"chunks":1' '"width_bits":64' '"bytes_a_signature":' '"kind":"simhash"'; do contains .out "$part"; done
expect 0 ANY '' -- "$NIGH" info old.chunks
contains .out 'scheme        not said'
expect 0 ANY '' -- "$NIGH" info --output jsonl old.chunks
contains .out '"scheme":null'
expect 0 ANY '' -- "$NIGH" check t.chunks
contains .out "'t.chunks' is sound: 50 documents in 1 file"

# damaged OFFSET MESSAGE: a byte there is turned.
damaged() {
    cp t.chunks bad.chunks
    printf '\xee' | dd of=bad.chunks bs=1 seek="$1" conv=notrunc status=none
    expect 2 ANY ANY -- "$NIGH" check bad.chunks
    contains .err "$2"
    expect 2 '' ANY -- "$NIGH" against --add bad.chunks day2.jsonl
}
length=$(stat -c %s t.chunks)
damaged 24 'offset 0: the header'
damaged 12290 'offset 12288: it does not say here how it was signed'
damaged 12300 "offset 12288: the checksum of the origin's header is wrong"
damaged 12360 "offset 12352: the scheme's checksum is wrong"
damaged $((length - 900)) "offset"
damaged $((length - 500)) "the block's checksum is wrong"
head -c $((length - 64)) t.chunks > bad.chunks
expect 2 '' ANY -- "$NIGH" info bad.chunks
contains .err 'the file ends here'
expect 2 ANY ANY -- "$NIGH" check bad.chunks
# One of two states.
cp t.chunks bad.chunks
printf '\xee' | dd of=bad.chunks bs=1 seek=4100 conv=notrunc status=none
expect 2 ANY ANY -- "$NIGH" check bad.chunks
contains .err 'offset 4096: this state is damaged; the other one counts'
expect 0 ANY ANY -- "$NIGH" against bad.chunks day2.jsonl
# What an append left that was cut off.
cp t.chunks left.chunks
printf 'left over' >> left.chunks
expect 0 ANY '' -- "$NIGH" check left.chunks
contains .out 'harmless'
expect 0 ANY ANY -- "$NIGH" check --tidy left.chunks
same t.chunks left.chunks

finish
