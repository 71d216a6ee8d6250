#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh search on documents: by text, by file, by id; signed as the collection was.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON'
import json, random
generator = random.Random(11)
words = ["word%d" % i for i in range(4000)]
with open("docs.jsonl", "w") as file:
    for number in range(500):
        topic = generator.sample(words, 40)
        text = " ".join(generator.choices(topic, k=120))
        file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
        if number % 10 == 0: # a near-copy
            copy = text.split()
            copy[5:7] = ["changed"]
            file.write(json.dumps({"id": f"d{number}-copy", "text": " ".join(copy)}) + "\n")
PYTHON
sed -n 's/.*"id": "d20", "text": "\(.*\)"}/\1/p' docs.jsonl > d20.txt

for scheme in topsig simhash minhash; do
    expect 0 '' '' -- "$NIGH" index -q $scheme.nigh docs.jsonl --scheme $scheme --keep-weights
    # The same text by any way is at distance 0, and its near-copy is next.
    for query in "--id d20" d20.txt; do
        # shellcheck disable=SC2086 # an option and its value
        expect 0 ANY '' -- four "$NIGH" search -q $scheme.nigh $query -k 2 --output tsv
        cut -f2 .out > found
        compare "what $query finds by $scheme" $'d20\nd20-copy' found
        [[ $(head -1 .out | cut -f3) == 0 ]] || fail "$query is not at distance 0 by $scheme"
    done
    expect 0 ANY '' -- four "$NIGH" search -q $scheme.nigh --text "$(cat d20.txt)" -k 2 --output tsv
    awk -F '\t' '{ print $2, $4 }' .out > found
    compare "what the text finds by $scheme" $'d20 1\nd20-copy 2' found
    expect 0 ANY '' -- four from d20.txt "$NIGH" search -q $scheme.nigh - -k 1 --output tsv
    [[ $(cut -f2,3 .out) == $'d20\t0' ]] || fail "standard input by $scheme"
    # Every document finds itself, in order, whatever the threads; so do its signatures.
    four "$NIGH" search -q $scheme.nigh docs.jsonl -k 3 --output tsv > whole || fail search
    [[ $(awk -F '\t' '$4 == 1 && $3 == 0' whole | wc -l) == 550 ]] || fail "not all find themselves by $scheme"
    for threads in 1 3; do
        expect 0 ANY '' -- four "$NIGH" search -q $scheme.nigh docs.jsonl -k 3 --output tsv --threads $threads
        same whole .out
    done
    # Signatures do not say which of their bits a text touches, so all are compared.
    four "$NIGH" search -q $scheme.nigh docs.jsonl -k 3 --all-bits --output tsv > whole || fail search
    "$NIGH" export -q $scheme.nigh -o rows.hex
    expect 0 ANY '' -- four "$NIGH" search -q $scheme.nigh rows.hex -k 3 --output tsv
    same whole .out
done

# A few words find the document that has them, not others that are as short; distances count the bits they touch.
printf '%s\n' '{"id":"long","text":"Falconry is the hunting of wild animals by means of a trained bird of prey, and takes years to learn."}' \
    '{"id":"short","text":"Dummy package."}' '{"id":"shorter","text":"Transitional."}' > short.jsonl
expect 0 '' '' -- "$NIGH" index -q short.nigh short.jsonl
expect 0 ANY '' -- four "$NIGH" search -q short.nigh --text 'trained falconry birds' -k 1 --output tsv
[[ $(cut -f2 .out) == long ]] || fail 'a short text finds another short text'
touched=$(cut -f3 .out)
expect 0 ANY '' -- four "$NIGH" search -q short.nigh --text 'trained falconry birds' -k 3 --all-bits --output tsv
[[ $(awk -F '\t' '$2 == "long" { print $3 }' .out) -gt $touched ]] || fail '--all-bits compares no more bits'

# For people: rank, distance, similarity, id, and the first words.
printf '{"id":"one","text":"Boats on the\\n river"}\n{"id":"two","text":"Cats in the sun"}\n' > two.jsonl
"$NIGH" index -q two.nigh two.jsonl --scheme simhash || fail index
distance=$(four "$NIGH" search -q two.nigh --id one --output tsv | sed -n 's/.*two\t\([0-9]*\)\t2/\1/p')
expect 0 "query boats on the river
     rank  distance  similarity  document
        1         0     100.00%  one
                                 Boats on the river
        2        $distance      $(awk "BEGIN { printf \"%.2f\", int((64 - $distance) * 10000 / 64) / 100 }")%  two
                                 Cats in the sun" '' -- "$NIGH" search -q two.nigh --text 'boats on the river'
expect 0 '{"query":"boats river","document":"one","distance":0,"rank":1,"similarity":1.000000,"bits":64,"text":"Boats on the river"}' '' \
    -- "$NIGH" search -q two.nigh --text 'boats river' -k 1 --output jsonl
# A line break or a tab in a question breaks no line of the answer.
expect 0 $'boats on  river\tone\t0\t1' '' -- four "$NIGH" search -q two.nigh --text $'boats\non\t river' -k 1 --output tsv
# Ids first, then texts, then files, each in order.
printf 'cats and sun' > cats.txt
expect 0 $'two\ttwo\t0\t1\none\tone\t0\t1\nriver boats\tone\t0\t1\nsun cats\ttwo\t0\t1\ncats.txt\ttwo\t0\t1' '' \
    -- four "$NIGH" search -q two.nigh -k 1 --output tsv cats.txt --text 'river boats' --id two --text 'sun cats' --id one
# Control characters of a document do nothing to a terminal.
printf '{"id":"bell","text":"ring \\u001b[31m the \\u0007 bell"}\n' > bell.jsonl
"$NIGH" index -q bell.nigh bell.jsonl --scheme simhash
expect 0 ANY '' -- "$NIGH" search -q bell.nigh --id bell
grep -q '[[:cntrl:]]' .out && fail 'a control character came through'

# Nothing to ask: said, and exit 1; other questions are still asked.
expect 1 '' "nigh: no word to search for in 'the ...'
no query was asked" -- "$NIGH" search two.nigh --text 'the ...'
expect 0 $'cats\ttwo\t'"$("$NIGH" search -q two.nigh --text cats -k 1 --output tsv | cut -f3)"$'\t1' ANY \
    -- four "$NIGH" search -q two.nigh --text '!' --text cats -k 1 --output tsv
: > nothing.txt
expect 1 ANY ANY -- "$NIGH" search two.nigh nothing.txt
contains .err 'not asked: 1 record without text'
printf '{"id":"x","text":"boats"}\n{broken\n' > broken.jsonl
expect 0 ANY ANY -- "$NIGH" search two.nigh broken.jsonl
contains .err "nigh: skipped: 'broken.jsonl', line 2: "
expect 2 ANY ANY -- "$NIGH" search two.nigh broken.jsonl --strict
expect 0 ANY '' -- four "$NIGH" search -q topsig.nigh docs.jsonl --limit 3 -k 1 --output tsv
[[ $(cut -f1 .out | tr '\n' ' ') == 'd0 d0-copy d1 ' ]] || fail 'the first three'
expect 0 ANY '' -- four "$NIGH" search -q topsig.nigh docs.jsonl --shard 1/3 --limit 2 -k 1 --output tsv
[[ $(cut -f1 .out | tr '\n' ' ') == 'd0-copy d3 ' ]] || fail 'the first two of a shard'

# What is shown of a long text or snippet, or said of one without words, ends with a whole character.
python3 -c 'print("x" + "\u00e9" * 300)' > accents.txt
python3 -c 'print("x" + "\u00e9" * 3000)' > longer.txt
"$NIGH" index -q --scheme simhash --snippet 65536 accents.nigh longer.txt
expect 0 ANY '' -- "$NIGH" search -q accents.nigh --text "$(cat accents.txt)" --output jsonl
python3 - << 'PYTHON' || fail 'a character was cut'
import json
match = json.loads(open(".out", encoding="utf-8").read())
assert match["query"] == "x" + "\u00e9" * 99, match
assert match["text"] == "x" + "\u00e9" * 2047, match
PYTHON
expect 1 '' "nigh: no word to search for in '!$(python3 -c 'print("\u2026" * 19)')'" \
    -- "$NIGH" search -q accents.nigh --text "!$(python3 -c 'print("\u2026" * 40)')"

# A collection of signatures takes signatures only.
printf '0000000000000000\n' > row.hex
"$NIGH" index -q rows.nigh row.hex
expect 2 '' "nigh: 'rows.nigh': holds signatures that nigh did not make from text; give queries as signatures" \
    -- "$NIGH" search rows.nigh --text boats
expect 2 '' ANY -- "$NIGH" search rows.nigh two.jsonl --format jsonl
expect 2 '' ANY -- "$NIGH" search two.nigh cats.txt row.hex
contains .err 'looks like'
expect 0 ANY '' -- "$NIGH" search -q two.nigh row.hex

# Passages: a question is asked as a whole, and finds the passage.
python3 - << 'PYTHON'
import random
generator = random.Random(1)
parts = [" ".join(f"t{topic}w{generator.randrange(30)}" for _ in range(99)) + "." for topic in range(6)]
open("long.txt", "w").write(" ".join(parts))
open("part.txt", "w").write(parts[3])
PYTHON
expect 0 '' '' -- "$NIGH" index -q --scheme simhash --split hard --min-terms 99 --max-terms 99 passages.nigh long.txt
expect 0 ANY '' -- four "$NIGH" search -q passages.nigh part.txt -k 1 --output tsv
begin=$(python3 -c 'print(open("long.txt").read().index(open("part.txt").read()))')
[[ $(cut -f2 .out) =~ ^long.txt#([0-9]+)-([0-9]+)$ ]] || fail 'no passage'
((BASH_REMATCH[1] <= begin && BASH_REMATCH[1] >= begin - 2)) || fail "passage at ${BASH_REMATCH[1]}, not $begin"

# How near, and by how many bits; a text that has nothing to do with the documents is told so.
printf '{"id":"one","text":"Boats on the river"}\n{"id":"two","text":"Cats in the sun"}\n' > known.jsonl
"$NIGH" index -q known.nigh known.jsonl || fail index
expect 0 $'one\tone\t0\t1\t1.000000\t1024' '' -- "$NIGH" search -q known.nigh --id one -k 1 --output tsv
expect 1 '' "nigh: nothing like 'zyzzyva quixotry': none of its words is in 'known.nigh'" \
    -- "$NIGH" search -q known.nigh --text 'zyzzyva quixotry' --output tsv
printf 'zyzzyva quixotry\n' > strange.txt
expect 1 '' "nigh: nothing like 'strange.txt': none of its words is in 'known.nigh'" -- "$NIGH" search -q known.nigh strange.txt
# Words that came later are in no vocabulary, and found all the same.
printf '{"id":"three","text":"zyzzyva quixotry"}\n' > three.jsonl
"$NIGH" index -q known.nigh three.jsonl || fail index
expect 0 ANY ANY -- four "$NIGH" search -q known.nigh --text 'zyzzyva quixotry' -k 1 --output tsv
contains .out $'zyzzyva quixotry\tthree\t0\t1'
contains .err "warning: none of the words of 'zyzzyva quixotry' is in the vocabulary of 'known.nigh'"

finish
