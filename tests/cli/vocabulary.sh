#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Counting words: in a first pass, into a file, as a sketch; whichever way, what they weigh is the same.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON'
import json, random
generator = random.Random(5)
words = ["word%d" % i for i in range(3000)]
weights = [1 / (i + 1) for i in range(len(words))]
for name, count in (("one", 700), ("two", 300)):
    with open(name + ".jsonl", "w") as file:
        for number in range(count):
            text = " ".join(generator.choices(words, weights, k=generator.randint(0, 80)))
            file.write(json.dumps({"id": f"{name}-{number}", "text": text}) + "\n")
PYTHON

# A file of counts gives what a first pass gives, also to standard input, which cannot be read twice.
expect 0 '' ANY -- "$NIGH" sign --make-vocabulary words one.jsonl two.jsonl --stats stats.json
contains .err " into 'words'; "
python3 - << 'PYTHON' || fail 'the counts'
import json
texts = [json.loads(line)["text"].split() for name in ("one", "two") for line in open(name + ".jsonl")]
stats = json.load(open("stats.json"))
assert stats["occurrences"] == sum(map(len, texts)), stats
assert stats["terms"] == len(set(word for text in texts for word in text)), stats
assert stats["documents"] == sum(1 for text in texts if text) and stats["sketch"] == 0, stats
import os
assert stats["vocabulary_bytes"] == os.path.getsize("words")
PYTHON
for weights in likelihood tf-idf; do
    "$NIGH" sign -q --weights $weights one.jsonl two.jsonl > expected || fail sign
    expect 0 ANY '' -- "$NIGH" sign -q --weights $weights --vocabulary words one.jsonl two.jsonl
    same expected .out
    cat one.jsonl two.jsonl | "$NIGH" sign -q --weights $weights --vocabulary words - > got
    same expected got
    # The counts of one half are others.
    "$NIGH" sign -q --weights $weights one.jsonl > half
    cmp -s half <(head -n "$(wc -l < half)" expected) && fail 'counts do not matter'
done
# Weights that need no counts leave the file alone.
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash --vocabulary nowhere one.jsonl

# Threads and the order of the documents change no byte of it.
for threads in 1 2 3; do
    expect 0 '' '' -- "$NIGH" sign -q --make-vocabulary again two.jsonl one.jsonl --threads $threads
    same words again
done
# A sketch neither.
expect 0 '' ANY -- "$NIGH" sign --make-vocabulary sketch one.jsonl two.jsonl --vocabulary-memory 65536 --stats stats.json
contains .err '(a sketch)'
contains stats.json '"sketch":1'
for threads in 1 2; do
    expect 0 '' '' -- "$NIGH" sign -q --make-vocabulary again two.jsonl one.jsonl --vocabulary-memory 65536 --threads $threads
    same sketch again
done
"$NIGH" sign -q --vocabulary-memory 65536 one.jsonl two.jsonl > expected
expect 0 ANY '' -- "$NIGH" sign -q --vocabulary sketch one.jsonl two.jsonl
same expected .out

# It fits only what it was made for.
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary words --language de one.jsonl
contains .err 'the vocabulary was made with other features, another language or another seed'
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary words --features ngrams:2 one.jsonl
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary words --seed 1 one.jsonl
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary nowhere one.jsonl
contains .err "'nowhere'"

# Damaged or foreign files are told from good ones, at every place.
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary one.jsonl one.jsonl
contains .err "'one.jsonl'"
size=$(stat -c %s words)
for offset in 0 8 12 16 24 40 48 64 200 $((size - 1)); do
    cp words broken
    printf '\xa5' | dd of=broken bs=1 seek="$offset" conv=notrunc status=none
    expect 2 '' ANY -- "$NIGH" sign -q --vocabulary broken one.jsonl
    contains .err "'broken'"
done
for length in 0 7 63 64 1000 $((size - 1)); do
    head -c "$length" words > broken
    expect 2 '' ANY -- "$NIGH" sign -q --vocabulary broken one.jsonl
done
cat words words > broken
expect 2 '' ANY -- "$NIGH" sign -q --vocabulary broken one.jsonl

# A collection keeps its own, also one given by file; what is added later is weighed alike.
expect 0 '' '' -- "$NIGH" index -q given.nigh one.jsonl --vocabulary words
expect 0 '' '' -- "$NIGH" index -q given.nigh two.jsonl
"$NIGH" export -q given.nigh -o got.hex
"$NIGH" sign -q --vocabulary words one.jsonl two.jsonl > expected
same expected got.hex
expect 0 '' '' -- "$NIGH" index -q first.nigh one.jsonl
expect 0 '' '' -- "$NIGH" index -q first.nigh two.jsonl
"$NIGH" sign -q --make-vocabulary half one.jsonl
"$NIGH" sign -q --vocabulary half one.jsonl two.jsonl > expected
"$NIGH" export -q first.nigh -o got.hex
same expected got.hex
expect 0 ANY '' -- "$NIGH" info first.nigh
contains .out 'vocabulary '
expect_unchanged first.nigh 2 '' ANY -- "$NIGH" index -q first.nigh --vocabulary words two.jsonl

# Nothing is left of a count that fails, and what was there stays.
printf '{"text":"word1"}\n{broken\n' > broken.jsonl
expect_unchanged words 2 '' ANY -- "$NIGH" sign --make-vocabulary words --strict broken.jsonl
compgen -G 'words.*' > /dev/null && fail 'a file was left'
expect 2 '' "nigh sign: --make-vocabulary signs nothing; leave -o, --to and --json out
try 'nigh sign --help'" -- "$NIGH" sign --make-vocabulary v -o x.npy one.jsonl
expect 2 '' ANY -- "$NIGH" sign --make-vocabulary no/where one.jsonl
# It is written aside and then put in place, which is not for what is no file.
ln -s words link
mkfifo pipe
mkdir folder
for place in link pipe folder /dev/null; do
    expect_unchanged words 2 '' "nigh sign: --make-vocabulary takes a new or regular file, which '$place' is not
try 'nigh sign --help'" -- "$NIGH" sign --make-vocabulary "$place" one.jsonl
done
[[ -L link && -p pipe && -c /dev/null ]] || fail 'something was replaced'
expect_unchanged words 2 '' "nigh sign: -o and --vocabulary name the same file
try 'nigh sign --help'" -- "$NIGH" sign --vocabulary words one.jsonl -o words

finish

# Counted in parts and merged: the same bytes, exact or not; other analyses are refused.
for memory in 1G 65536; do
    for part in one two; do
        "$NIGH" sign -q --make-vocabulary $part.words $part.jsonl --vocabulary-memory $memory
    done
    "$NIGH" sign -q --make-vocabulary both.words one.jsonl two.jsonl --vocabulary-memory $memory
    expect 0 '' ANY -- "$NIGH" vocabulary merge one.words two.words -o merged.words --vocabulary-memory $memory
    contains .err "nigh: merged 2 vocabularies into 'merged.words': "
    cmp both.words merged.words || fail "merged is not counted at once, with $memory"
done
"$NIGH" sign -q --make-vocabulary pairs.words one.jsonl --features ngrams:2
expect 2 '' ANY -- "$NIGH" vocabulary merge one.words pairs.words -o other.words
contains .err 'another analysis'
[[ ! -e other.words ]] || fail 'a file was made all the same'
expect 2 '' ANY -- "$NIGH" vocabulary merge one.words
expect 2 '' ANY -- "$NIGH" vocabulary merge one.jsonl -o other.words
