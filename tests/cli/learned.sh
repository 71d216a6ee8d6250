#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signing by a model: in every command, from the collection where it keeps one, and what a wrong or damaged model gets.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"
labelled() { python3 "$NIGH_SOURCE_DIR/tests/cli/_labelled.py" "$@"; }

labelled docs.jsonl 4 240 1
labelled more.jsonl 4 40 2
for method in codewords s3h ssh; do
    "$NIGH" train -q docs.jsonl --method $method -o $method.model || fail train
done
"$NIGH" train -q docs.jsonl --seed 5 -o other.model || fail train
"$NIGH" train -q docs.jsonl --bits 64 --method s3h -o wide.model || fail train

# Documents of one label find each other, by every method.
for method in codewords s3h ssh; do
    expect 0 '' ANY -- "$NIGH" index $method.nigh docs.jsonl --scheme learned:$method.model
    expect 0 ANY ANY -- "$NIGH" search $method.nigh more.jsonl -k 10 --output jsonl
    METHOD=$method python3 - << 'PYTHON' || fail "the answers of $method"
import json, os
topic = {}
for name in ("docs.jsonl", "more.jsonl"):
    topic.update((r["id"], r["label"]) for r in map(json.loads, open(name)))
answers = [json.loads(line) for line in open(".out")]
right = sum(topic[a["query"]] == topic[a["document"]] for a in answers)
assert len(answers) == 400 and right > (150 if os.environ["METHOD"] == "ssh" else 300), (len(answers), right)
PYTHON
done

# What sign gives is what index keeps, whatever the threads; JSON has weights.
"$NIGH" sign -q docs.jsonl more.jsonl --scheme learned:codewords.model > expected || fail sign
for threads in 1 3; do
    expect 0 "$(cat expected)" '' -- "$NIGH" sign -q docs.jsonl more.jsonl --scheme=learned:codewords.model --threads $threads
done
expect 0 ANY '' -- "$NIGH" sign -q more.jsonl --scheme learned:codewords.model --json
python3 - << 'PYTHON' || fail 'the weights'
import json
rows = [json.loads(line) for line in open(".out")]
assert all(len(row["weights"]) == 32 and len(row["signature"]) == 8 for row in rows), rows[0]
assert any(weight for row in rows for weight in row["weights"])
PYTHON

# The collection keeps the model: nobody needs the file any more.
mv codewords.model elsewhere.model
expect 0 '' '' -- "$NIGH" index -q codewords.nigh more.jsonl
"$NIGH" export -q codewords.nigh -o got.hex
same expected got.hex
expect 0 ANY ANY -- "$NIGH" search codewords.nigh --text 'sailingword1 sailingword2' -k 3
expect 0 ANY '' -- "$NIGH" check codewords.nigh
expect 0 ANY '' -- "$NIGH" info codewords.nigh
contains .out '  model         codewords, 32 bits, '
contains .out 'kind = learned'
contains .out '% of the documents have that of an earlier one'
name=$("$NIGH" info elsewhere.model | sed -n 's/^  name *//p')
contains .out "name $name"
expect 0 ANY '' -- "$NIGH" info codewords.nigh --top 3
contains .out 'feature'
expect 0 ANY '' -- "$NIGH" info codewords.nigh --output jsonl
NAME=$name python3 -c '
import json, os
info = json.load(open(".out"))
assert info["model"]["name"] == os.environ["NAME"] and info["model"]["top"] == [], info' || fail 'the object of info'
mv elsewhere.model codewords.model

# It may be named; another is an error that says so, and changes nothing.
expect 0 ANY ANY -- "$NIGH" search codewords.nigh more.jsonl --scheme learned:codewords.model
expect 0 ANY ANY -- "$NIGH" pairs codewords.nigh --radius 0 --scheme learned:codewords.model
labelled third.jsonl 4 8 3
expect 0 '' '' -- "$NIGH" index -q codewords.nigh third.jsonl --scheme learned:codewords.model
for command in index search against; do
    expect_unchanged codewords.nigh 2 '' ANY -- "$NIGH" $command codewords.nigh more.jsonl --scheme learned:other.model
    contains .err "'codewords.nigh' was signed with another model (codewords, 32 bits, "
    contains .err "than 'other.model' (codewords, 32 bits, "
done
expect 2 '' ANY -- "$NIGH" pairs codewords.nigh --radius 0 --scheme learned:wide.model
contains .err 'another model'
expect 2 '' "nigh: 'codewords.nigh' holds learned signatures, not simhash" -- "$NIGH" search codewords.nigh more.jsonl --scheme simhash
expect_unchanged codewords.nigh 2 '' "nigh: 'codewords.nigh' holds learned signatures; they cannot be mixed with simhash" -- "$NIGH" index codewords.nigh more.jsonl --scheme simhash
"$NIGH" index -q plain.nigh docs.jsonl --scheme simhash
expect_unchanged plain.nigh 2 '' "nigh: 'plain.nigh' holds simhash signatures; they cannot be mixed with learned" -- "$NIGH" index plain.nigh more.jsonl --scheme learned:codewords.model
expect 2 '' "nigh: 'plain.nigh' holds simhash signatures, not learned" -- "$NIGH" search plain.nigh more.jsonl --scheme learned:codewords.model

# Bits, language and the like are the model's: what is asked for must agree.
expect 0 ANY '' -- "$NIGH" sign -q more.jsonl --scheme learned:codewords.model --bits 32 --language en
for wrong in '--bits 64' '--language de' '--features ngrams:2' '--stemming off' '--stop-words off'; do
    read -ra words <<< "$wrong"
    expect 2 '' ANY -- "$NIGH" sign more.jsonl --scheme learned:codewords.model "${words[@]}"
    grep -q '^nigh: ' .err || fail "nothing is said of $wrong"
    expect 2 '' ANY -- "$NIGH" index new.nigh more.jsonl --scheme learned:codewords.model "${words[@]}"
    [[ -e new.nigh ]] && fail 'a collection was made'
done
expect_unchanged codewords.nigh 2 '' ANY -- "$NIGH" index codewords.nigh more.jsonl --bits 64
expect_unchanged codewords.nigh 2 '' ANY -- "$NIGH" index codewords.nigh more.jsonl --language de

# Words that the model does not know count for nothing.
printf '{"id":"u1","text":"wholly unheard of"}\n{"id":"u2","text":"sailingword3 wholly unheard of"}\n{"id":"u3","text":"sailingword3"}\n' > unknown.jsonl
expect 0 ANY ANY -- "$NIGH" sign unknown.jsonl --scheme learned:codewords.model
contains .err 'signed 2 documents'
contains .err '1 document without a word that the model knows'
[[ $(cut -f2 .out | sort -u | wc -l) == 1 ]] || fail 'unknown words count'
expect 1 '' ANY -- "$NIGH" search codewords.nigh --text 'wholly unheard of'
contains .err "no word that the model knows in 'wholly unheard of'"
expect 1 '' ANY -- "$NIGH" index nothing.nigh --scheme learned:codewords.model <(head -1 unknown.jsonl)
[[ -e nothing.nigh ]] && fail 'an empty collection was made'

# Near-copies by learned bits: --radius must be said; bits have weights, so psm works.
expect 2 '' "nigh against: 'codewords.nigh' holds learned signatures; say with --radius how many bits may differ
try 'nigh against --help'" -- "$NIGH" against codewords.nigh more.jsonl
expect 0 ANY ANY -- "$NIGH" against --radius 0 codewords.nigh more.jsonl
expect 0 ANY ANY -- "$NIGH" against --radius 2 --method psm codewords.nigh more.jsonl
expect 0 ANY ANY -- "$NIGH" pairs codewords.nigh --radius 1
for command in search against pairs; do
    input=more.jsonl
    [[ $command != pairs ]] || input=
    # shellcheck disable=SC2086
    expect 2 '' "nigh $command: --radius 33 is more than the 32 bits there are
try 'nigh $command --help'" -- "$NIGH" $command codewords.nigh $input --radius 33
done
expect 2 '' "nigh search: -k must be at least 1
try 'nigh search --help'" -- "$NIGH" search codewords.nigh more.jsonl -k 0
labelled fresh.jsonl 4 12 9
expect 0 ANY ANY -- "$NIGH" against --add --radius 0 codewords.nigh fresh.jsonl --scheme learned:codewords.model
# Chunks keep no scheme, and take 64 bits.
"$NIGH" against -q --add --radius 0 prints.chunks fresh.jsonl --scheme learned:wide.model > /dev/null
[[ -s prints.chunks ]] || fail 'no chunks'
expect 0 ANY ANY -- "$NIGH" against --radius 0 prints.chunks fresh.jsonl --scheme learned:wide.model
expect 2 '' ANY -- "$NIGH" against --radius 0 prints.chunks fresh.jsonl --scheme learned:codewords.model
contains .err '64'

# dedup: candidates by the model, copies by their text; without a look at the text one of each kind stays.
cat docs.jsonl docs.jsonl > twice.jsonl
expect 0 ANY ANY -- "$NIGH" dedup twice.jsonl --method simhash --scheme learned:codewords.model --distance 4 -o kept.jsonl
same docs.jsonl kept.jsonl
expect 0 ANY ANY -- "$NIGH" dedup docs.jsonl --method simhash --scheme learned:codewords.model --distance 8 --no-verify -o kinds.jsonl
contains .err 'what goes is of one kind by the model'
(($(wc -l < kinds.jsonl) < 60)) || fail "$(wc -l < kinds.jsonl) kinds of documents"
for method in minhash exact; do
    expect 2 '' "nigh dedup: --method $method makes signatures of its own; --scheme learned goes with --method simhash
try 'nigh dedup --help'" -- "$NIGH" dedup docs.jsonl --method $method --scheme learned:codewords.model -o no.jsonl
done
expect 2 '' "nigh dedup: --distance 40 is more than the 32 bits there are
try 'nigh dedup --help'" -- "$NIGH" dedup docs.jsonl --method simhash --scheme learned:codewords.model --distance 40 -o no.jsonl
expect_unchanged codewords.model 2 '' ANY -- "$NIGH" dedup docs.jsonl --method simhash --scheme learned:codewords.model -o codewords.model

# eval takes it as any scheme.
expect 0 ANY ANY -- "$NIGH" eval signatures --scheme learned:codewords.model --plot plot.svg docs.jsonl
contains plot.svg 'learned, 32 bits'
"$NIGH" train -q docs.jsonl --bits 64 --method simhash --features chars:4 -o letters.model || fail train
cat docs.jsonl docs.jsonl | sed 's/common1[0-9]* //' > edited.jsonl
expect 0 ANY ANY -- "$NIGH" eval psm --scheme learned:letters.model docs.jsonl edited.jsonl
expect 2 '' ANY -- "$NIGH" eval psm --scheme learned:codewords.model docs.jsonl
contains .err '64'
printf '1 0 1-0 1\n1 0 1-4 1\n' > judgements
expect 0 ANY ANY -- "$NIGH" eval ranked --judgements judgements --scheme learned:codewords.model docs.jsonl

# A scheme that is none is told, with those that are.
for scheme in learned learned: leaned:codewords.model codewords.model; do
    expect 2 '' "nigh sign: --scheme takes one of auto, topsig, simhash, minhash, learned:FILE; not '$scheme'
try 'nigh sign --help'" -- "$NIGH" sign docs.jsonl --scheme "$scheme"
done

# Models that are none, or damaged: exit 2, the file named.
expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:nowhere.model
contains .err "'nowhere.model'"
expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:docs.jsonl
contains .err "'docs.jsonl'"
expect 2 '' "nigh: 'docs.jsonl' is neither a collection nor a model nor a file of chunks" -- "$NIGH" info docs.jsonl
expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:codewords.nigh
for model in codewords s3h; do
    size=$(stat -c %s $model.model)
    for offset in 0 5 8 12 16 20 24 28 32 36 40 48 56 64 200 $((size / 2)) $((size - 1)); do
        cp $model.model broken.model
        byte=$(dd if=broken.model bs=1 skip="$offset" count=1 status=none | od -An -tu1)
        printf '%b' "\\x$(printf '%02x' $(((byte + 91) % 256)))" | dd of=broken.model bs=1 seek="$offset" conv=notrunc status=none
        expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:broken.model
        contains .err "'broken.model'"
        expect 2 '' ANY -- "$NIGH" info broken.model
        contains .err "'broken.model'"
        expect 2 '' ANY -- "$NIGH" index new.nigh docs.jsonl --scheme learned:broken.model
        [[ -e new.nigh ]] && fail 'a collection was made'
    done
    for length in 0 7 63 64 1000 $((size - 1)); do
        head -c "$length" $model.model > broken.model
        expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:broken.model
    done
    cat $model.model $model.model > broken.model
    expect 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:broken.model
done

# A collection whose model is damaged still says what else it holds.
cp -r codewords.nigh broken.nigh
python3 - << 'END' || fail 'no model in the collection'
path = "broken.nigh/segment-00000000000000000001"
data = bytearray(open(path, "rb").read())
data[data.index(b"\x89NIGHL\r\n") + 200] ^= 1
open(path, "wb").write(data)
END
expect 2 ANY ANY -- "$NIGH" info broken.nigh
contains .err 'the model fails its checksum'
contains .out '  documents '
expect 2 '' ANY -- "$NIGH" search broken.nigh --text 'any'
contains .err 'the model fails its checksum'

expect_unchanged codewords.model 2 '' ANY -- "$NIGH" sign docs.jsonl --scheme learned:codewords.model -o codewords.model

finish
