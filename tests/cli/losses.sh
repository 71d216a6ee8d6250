#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Input that is lost is an error of every command that reads documents, and nothing is added; malformed lines,
# binary files and damaged inputs are three words and three counts.
. "${BASH_SOURCE[0]%/*}/_lib.sh"

for ((i = 0; i < 3000; i++)); do
    echo "{\"id\":\"d$i\",\"label\":\"l$((i % 2))\",\"text\":\"document number $i of the $((i * 7919 % 3001)) river $((i * 31 % 97))\"}"
done > whole.jsonl
gzip -k whole.jsonl
head -c $(($(stat -c %s whole.jsonl.gz) / 2)) whole.jsonl.gz > cut.jsonl.gz
zstd -q whole.jsonl -o whole.jsonl.zst
head -c $(($(stat -c %s whole.jsonl.zst) / 2)) whole.jsonl.zst > cut.jsonl.zst
split -l 1000 whole.jsonl part- --additional-suffix=.jsonl
tar -cf parts.tar part-*.jsonl
head -c $(($(stat -c %s parts.tar) * 2 / 3)) parts.tar > cut.tar
xz -k whole.jsonl
head -c $(($(stat -c %s whole.jsonl.xz) / 2)) whole.jsonl.xz > cut.jsonl.xz
printf 'WARC/1.0\r\nWARC-Type: conversion\r\nContent-Length: 400\r\n\r\nthe end is missing' > cut.warc

"$NIGH" index -q made.nigh part-aa.jsonl
cp -r made.nigh before.nigh

for input in cut.jsonl.gz cut.jsonl.zst cut.jsonl.xz cut.tar cut.warc; do
    expect_unchanged made.nigh 2 '' ANY -- "$NIGH" index made.nigh "$input"
    contains .err "$input"
    contains .err '--allow-loss goes on without it'
    [[ $input == cut.warc ]] || contains .err 'it is cut short'
    expect 2 '' ANY -- "$NIGH" index new.nigh "$input"
    [[ ! -e new.nigh ]] || fail "'$input': a collection was made"
    expect_unchanged made.nigh 2 ANY ANY -- "$NIGH" against made.nigh --radius 10 --add "$input"
    contains .err '--allow-loss'
    expect 2 '' ANY -- "$NIGH" terms index new.terms "$input"
    [[ ! -e new.terms ]] || fail "'$input': a term file was made"
    contains .err '--allow-loss'
    expect 2 '' ANY -- "$NIGH" sign "$input" -o signed.npy
    [[ ! -e signed.npy ]] || fail "'$input': signatures were written"
    expect 2 '' ANY -- "$NIGH" train "$input" -o model
    [[ ! -e model ]] || fail "'$input': a model was written"
    expect 2 ANY ANY -- "$NIGH" dedup "$input" --clusters -
done

# What there is can be had, and is counted.
expect 0 '' ANY -- "$NIGH" index some.nigh cut.jsonl.gz --allow-loss --stats stats.json
contains .err "skipped: 'cut.jsonl.gz'"
contains .err '1 damaged input'
! grep -q -e '--allow-loss' .err || fail 'the hint was given to one who follows it'
contains stats.json '"malformed":0,"binary":0,"damaged":1'
expect 0 '' ANY -- "$NIGH" terms index some.terms cut.tar --allow-loss --stats stats.json
contains stats.json '"damaged":1'
expect 0 '' ANY -- "$NIGH" sign cut.jsonl.gz --allow-loss -o signed.npy
contains .err '1 damaged input'
expect 0 ANY ANY -- "$NIGH" dedup cut.jsonl.gz --allow-loss --clusters - --stats stats.json
contains stats.json '"damaged":1'

# A limit that ends before the damage loses nothing.
expect 0 '' ANY -- "$NIGH" index few.nigh cut.jsonl.gz --limit 5

# The three are told apart.
mkdir mixed
cp part-aa.jsonl cut.jsonl.gz mixed
printf 'no\0text' > mixed/b.bin
printf '{"id":"x","text":\n' > mixed/lines.jsonl
expect 0 '' ANY -- "$NIGH" index mixed.nigh mixed --allow-loss --stats stats.json --format auto
contains .err '1 malformed part; 1 binary file; 1 damaged input'
contains stats.json '"malformed":1,"binary":1,"damaged":1'

# Whatever the number of binary files, they end nothing.
mkdir cache
for ((i = 0; i < 1100; i++)); do printf '\0%s' "$i" > "cache/$i.pyc"; done
echo 'a text among them' > cache/readme.txt
expect 0 '' ANY -- "$NIGH" index cache.nigh cache
contains .err '1,100 binary files'
[[ $(grep -c binary .err) -lt 6 ]] || fail 'binary files fill the screen'
expect 0 '' ANY -- "$NIGH" index strict.nigh cache/readme.txt cache/1.pyc --strict

finish
