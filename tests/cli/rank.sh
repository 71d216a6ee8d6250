#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh search --rank: which ranking is usual, what each form of answer tells, all held against the definition.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON'
import json, random
generator = random.Random(4)
words = ["word%d" % i for i in range(900)]
with open("docs.jsonl", "w") as file:
    for number in range(300):
        topic = words[number % 30 * 30:][:30]
        text = " ".join(generator.choices(topic, k=generator.randrange(5, 60)) + generator.choices(words, k=9))
        file.write(json.dumps({"id": f"d{number}", "text": text}) + "\n")
PYTHON
printf '%s\n' '{"id":"q0","text":"word3 word7 word7 word11 word500"}' '{"id":"q1","text":"word100 word101 word880"}' \
    '{"id":"q2","text":"word31"}' > queries.jsonl
"$NIGH" sign -q --make-vocabulary words docs.jsonl || fail vocabulary
"$NIGH" index -q --vocabulary words --keep-weights c.nigh docs.jsonl || fail index
for set in docs queries; do
    "$NIGH" sign -q --json --vocabulary words $set.jsonl > $set.signed || fail sign
done

# What include/nigh/search.h says of NIGH_RANK_WEIGHTED, and of bits: query, document, distance, rank, similarity, bits.
cat > oracle.py << 'PYTHON'
import json, sys
def signed(name):
    rows = [json.loads(line) for line in open(name)]
    return [(r["id"], int.from_bytes(bytes.fromhex(r["signature"]), "little"), r["weights"]) for r in rows]
def levels(weights, how):
    if how == "bits": return [int(w > 0) for w in weights]
    heaviest = max(weights)
    return [min((0, 1, 2, 3, 4, 5, 6, 8), key=lambda v: (abs(8 * w - v * heaviest), v)) for w in weights]
how, name, k = sys.argv[1], sys.argv[2], int(sys.argv[3])
documents = signed("docs.signed")
for query, bits, weights in signed(name):
    counts = levels(weights, how)
    ranking = []
    for number, (document, other, _) in enumerate(documents):
        differing = bits ^ other
        ranking.append((sum(c for i, c in enumerate(counts) if differing >> i & 1), number, document))
    for rank, (distance, _, document) in enumerate(sorted(ranking)[:k], 1):
        similarity = 1 - distance / sum(counts)
        touched = sum(w > 0 for w in weights)
        print(query, document, distance, rank, "%.6f" % similarity, touched, sep="\t")
PYTHON
python3 oracle.py weighted queries.signed 7 > weighted.tsv || fail oracle
python3 oracle.py bits queries.signed 7 > bits.tsv || fail oracle
cmp -s weighted.tsv bits.tsv && fail 'the rankings do not differ, and nothing is tested'
head -5 docs.jsonl > some.jsonl
head -5 docs.signed > some.signed
python3 oracle.py weighted some.signed 4 > some.tsv || fail oracle
python3 oracle.py bits some.signed 4 > some.bits || fail oracle

# Weighted is usual, for documents and for texts, whatever the batch and the threads; bits are those that are touched.
for how in '' '--rank auto' '--rank weighted' '--method exact' '--exact' '--batch 1' '--threads 3'; do
    # shellcheck disable=SC2086 # an option and its value
    expect 0 ANY '' -- "$NIGH" search -q $how -k 7 --output tsv c.nigh queries.jsonl
    same weighted.tsv .out
done
expect 0 ANY '' -- "$NIGH" search -q --rank bits -k 7 --output tsv c.nigh queries.jsonl
same bits.tsv .out
for way in auto bits; do
    "$NIGH" search -q --rank $way -k 7 --output tsv c.nigh --text 'word3 word7 word7 word11 word500' | cut -f 2- > text
    head -7 "$([[ $way == auto ]] && echo weighted.tsv || echo bits.tsv)" | cut -f 2- > wanted
    same wanted text
done
# A stored document whose weights are kept asks as its text does.
ids=(--id d0 --id d1 --id d2 --id d3 --id d4)
for asked in "${ids[*]}" some.jsonl; do
    # shellcheck disable=SC2086 # several words
    expect 0 ANY '' -- "$NIGH" search -q -k 4 --output tsv c.nigh $asked
    same some.tsv .out
    # shellcheck disable=SC2086 # several words
    expect 0 ANY '' -- "$NIGH" search -q -k 4 --output tsv --rank bits c.nigh $asked
    same some.bits .out
done
expect 0 ANY '' -- "$NIGH" search -q -k 4 --output tsv --all-bits c.nigh --id d0
[[ $(cut -f 6 .out | sort -u) == 1024 ]] || fail '--all-bits leaves bits out'
expect 2 '' 'nigh: slice lists cannot be searched in some of the bits only; give --all-bits, or another --method' \
    -- "$NIGH" search -q --method slices c.nigh --id d0

# A radius counts bits, unless it is said that it does not.
radius=$(sed -n 3p bits.tsv | cut -f 3)
expect 0 ANY '' -- "$NIGH" search -q --radius "$radius" --output tsv c.nigh --text 'word3 word7 word7 word11 word500'
head -7 bits.tsv | awk -F '\t' -v r="$radius" '$3 <= r' | cut -f 2- > wanted
cut -f 2- .out > got
same wanted got
radius=$(sed -n 3p weighted.tsv | cut -f 3)
expect 0 ANY '' -- "$NIGH" search -q --rank weighted --radius "$radius" --output tsv c.nigh \
    --text 'word3 word7 word7 word11 word500'
head -7 weighted.tsv | awk -F '\t' -v r="$radius" '$3 <= r' | cut -f 2- > wanted
cut -f 2- .out > got
same wanted got

# JSON: what the distance is out of, and what chance would reach, as a similarity; nothing of it where bits count.
"$NIGH" search -q -k 2 --output jsonl c.nigh queries.jsonl > answers
python3 - << 'PYTHON' || fail 'jsonl'
import json, statistics
answers = [json.loads(line) for line in open("answers")]
table = [line.rstrip("\n").split("\t") for line in open("weighted.tsv")]
wanted = {(row[0], row[1]): row for row in table}
assert len(answers) == 6
for a in answers:
    row = wanted[a["query"], a["document"]]
    assert a["distance"] == int(row[2]) and "%.6f" % a["similarity"] == row[4] and a["bits"] == int(row[5]), a
    assert abs(1 - a["distance"] / a["whole"] - a["similarity"]) < 1e-6, a
    assert .5 < a["chance"] < .8, a
PYTHON
"$NIGH" search -q -k 2 --output jsonl --rank bits c.nigh queries.jsonl > answers
grep -q '"whole"\|"chance"' answers && fail 'bits have a chance'
# trec: the similarity is the score.
expect 0 "$(head -1 weighted.tsv | awk -F '\t' '{ print $1, "Q0", $2, 1, $5, "nigh" }')" '' \
    -- "$NIGH" search -q -k 1 --output trec --limit 1 c.nigh queries.jsonl
# For people: one line more, and only where bits count by their weights.
expect 0 ANY '' -- "$NIGH" search -q -k 2 c.nigh --text 'word3 word7'
[[ $(grep -cE '^     by chance the nearest of 300 unrelated documents would agree in [5-7][0-9]%$' .out) == 1 ]] || fail chance
[[ $(tail -1 .out) == *'by chance'* ]] || fail 'chance stands at the end'
for how in '--rank bits' '--all-bits' '--radius 300'; do
    # shellcheck disable=SC2086 # an option and its value
    expect 0 ANY '' -- "$NIGH" search -q -k 2 $how c.nigh --text 'word3 word7'
    grep -q chance .out && fail "chance with $how"
done

# Other schemes are as ever; what has weights can be ranked by them.
for scheme in simhash minhash; do
    "$NIGH" index -q --scheme $scheme --keep-weights $scheme.nigh docs.jsonl || fail index
    for asked in '--id d0' some.jsonl; do
        # shellcheck disable=SC2086 # an option and its value
        "$NIGH" search -q -k 4 --output jsonl $scheme.nigh $asked > usual
        # shellcheck disable=SC2086 # an option and its value
        expect 0 ANY '' -- "$NIGH" search -q -k 4 --output jsonl --rank bits $scheme.nigh $asked
        same usual .out
        grep -q '"whole"' usual && fail "$scheme is weighted unasked"
    done
done
expect 0 ANY '' -- "$NIGH" search -q -k 4 --output jsonl --rank weighted simhash.nigh some.jsonl
contains .out '"whole"'

# What cannot be.
needs='needs to know how sure each bit of a query is: ask with documents or texts, or with --id of a collection made with --keep-weights'
"$NIGH" export -q c.nigh -o rows.hex
expect 2 '' "nigh: --rank weighted $needs" -- "$NIGH" search --rank weighted c.nigh rows.hex
"$NIGH" index -q rows.nigh rows.hex
expect 2 '' "nigh: --rank weighted $needs" -- "$NIGH" search --rank weighted rows.nigh rows.hex
"$NIGH" index -q plain.nigh docs.jsonl
expect 2 '' "nigh: --rank weighted $needs" -- "$NIGH" search --rank weighted plain.nigh --id d0
expect 2 '' "nigh: 'minhash.nigh' holds minhash signatures, whose bits have no weights to rank by; leave out --rank weighted" \
    -- "$NIGH" search --rank weighted minhash.nigh --text word3
hint="try 'nigh search --help'"
expect 2 '' "nigh search: --rank weighted counts the bits that a text touches: leave out --all-bits
$hint" -- "$NIGH" search --rank weighted --all-bits c.nigh --text word3
expect 2 '' "nigh search: --rank weighted does not go with this: leave out --method, or give --method exact, columns or graph
$hint" -- "$NIGH" search --rank weighted --method sketch c.nigh --text word3
expect 2 '' "nigh search: --rank weighted does not go with this: leave out --probe directed
$hint" -- "$NIGH" search --rank weighted --probe directed c.nigh --text word3
expect 2 '' ANY -- "$NIGH" search --rank heavy c.nigh --text word3

# A text that says nothing is no question: no known word, or words that all documents have.
expect 1 '' "nigh: nothing like 'zyzzyva': none of its words is in 'plain.nigh'" \
    -- "$NIGH" search -q plain.nigh --text zyzzyva
# Words that cancel each other out: few bits and a search for two such words make it likely.
for scheme in topsig simhash; do
    python3 -c 'for i in range(70):
    for j in range(i): print("{\"id\":\"w%dx w%dx\",\"text\":\"w%dx w%dx\"}" % (i, j, i, j))' > pairs.jsonl
    nothing=$("$NIGH" sign -q --json --scheme $scheme --bits 8 --weights tf pairs.jsonl | grep -m 1 '"weights":\[0,0,0,0,0,0,0,0\]' |
        sed 's/.*"id":"\([^"]*\)".*/\1/')
    [[ -n $nothing ]] || fail "no text without weights by $scheme"
    "$NIGH" index -q --scheme $scheme --bits 8 --weights tf --keep-weights --limit 40 eight-$scheme.nigh pairs.jsonl
    printf '{"id":"%s","text":"%s"}\n' "$nothing" "$nothing" > nothing-$scheme.jsonl
    "$NIGH" index -q eight-$scheme.nigh nothing-$scheme.jsonl
    for asked in --id --text; do
        expect 1 '' "nigh: nothing like '$nothing': its words cancel each other out in every bit" \
            -- "$NIGH" search -q --rank weighted eight-$scheme.nigh $asked "$nothing"
    done
done
expect 1 '' ANY -- "$NIGH" search -q eight-topsig.nigh nothing-topsig.jsonl
expect 0 ANY '' -- "$NIGH" search -q eight-simhash.nigh --id "$nothing" # all bits count, as ever
# Signatures beside documents: each is ranked as it can be.
head -1 rows.hex > row.hex
expect 0 ANY '' -- "$NIGH" search -q -k 1 --output jsonl c.nigh --id d0 row.hex
[[ $(grep -c '"whole"' .out) == 1 && $(wc -l < .out) == 2 ]] || fail 'a document and a signature'

finish
