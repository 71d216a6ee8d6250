#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh sign: what is signed, how it is written, and that nothing but the text and the options changes a bit.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

cat > few.jsonl << 'END'
{"id":"fox","text":"The quick brown fox jumps over the lazy dog"}
{"id":"none"}
{"id":"dog","text":"Lazy dogs sleep all day"}
this is not JSON
{"id":"stop","text":"the, of - and ... !"}
{"id":"empty","text":""}
{"id":7,"text":"a number is an id too"}
{"text":"no id at all"}
END
skipped="nigh: skipped: 'few.jsonl', line 4: not JSON: "
left_out='2 records without text; 1 document without words; 1 malformed part'

# What has no text or no word has no signature, and is counted.
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash few.jsonl --stats stats.json
contains .err "$skipped"
contains .err "signed 4 documents of 0.0 MB of text with 64 bits each; "
contains .err "$left_out"
cut -f1 .out > ids
compare 'the ids' $'fox\ndog\n7\nfew.jsonl:8:c1466e8f4127' ids
cp .out few.hex
for count in '"documents":4' '"records":8' '"missing_text":2' '"empty":1' '"malformed":1' '"files":1' '"width_bits":64'; do
    contains stats.json "$count"
done
expect 0 "$(cat few.hex)" '' -- "$NIGH" sign -q --scheme simhash few.jsonl

# How much is borne.
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --strict few.jsonl
contains .err "nigh: 'few.jsonl', line 4: not JSON: "
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --max-errors 0 few.jsonl
contains .err "nigh: 'few.jsonl': more than 0 malformed parts in the input; --max-errors allows no more"
expect 1 ANY ANY -- "$NIGH" sign --scheme simhash --max-document 20 few.jsonl
contains .err 'bytes; --max-document allows no more'
expect 0 "$(cat few.hex)" '' -- "$NIGH" sign -q --scheme simhash --max-errors 1 few.jsonl
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --strict few.jsonl -o strict.hex
[[ -e strict.hex || -e strict.hex.nigh.tmp ]] && fail 'a file was left'
for ((i = 0; i < 15; i++)); do echo '{'; done > broken.jsonl
expect 1 '' ANY -- "$NIGH" sign --scheme simhash --format jsonl broken.jsonl
[[ $(grep -c "skipped: 'broken.jsonl', line" .err) == 10 ]] || fail 'ten of the fifteen are shown'
contains .err '15 malformed parts'

# A first pass to count words says nothing of what the second will say.
expect 0 ANY ANY -- "$NIGH" sign few.jsonl
[[ $(grep -c 'line 4' .err) == 1 ]] || fail 'a malformed part is not shown once'

# Nothing to sign: exit 1.
mkdir nothing
: > empty.txt
expect 1 '' ANY -- "$NIGH" sign --scheme simhash nothing
expect 1 '' ANY -- "$NIGH" sign --scheme simhash empty.txt
expect 1 '' '' -- from /dev/null "$NIGH" sign -q --scheme simhash -
expect 2 '' "nigh: 'nowhere': cannot open: No such file or directory" -- "$NIGH" sign --scheme simhash nowhere
expect 2 '' "nigh: 'nowhere': cannot open: No such file or directory" -- "$NIGH" sign nowhere

# The other forms hold the same rows.
for format in npy u8bin raw hex; do
    expect 0 '' '' -- "$NIGH" sign -q --scheme simhash few.jsonl -o "few-file.$format"
    expect 0 '' '' -- "$NIGH" sign -q --scheme simhash few.jsonl -o few-other --to "$format"
    same "few-file.$format" few-other
done
for format in raw hex; do
    expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash few.jsonl --to "$format"
    same "few-file.$format" .out
done
for format in npy u8bin; do # how many rows will there be?
    expect 2 '' "nigh: 'standard output': $format begins with the number of rows, which is not known yet; write it to a file" \
        -- "$NIGH" sign -q --scheme simhash few.jsonl --to "$format"
done
same few.hex few-file.hex
python3 - << 'PYTHON' || fail 'the forms differ'
rows = bytes.fromhex("".join(line.split("\t")[1] for line in open("few.hex")))
assert open("few-file.raw", "rb").read() == rows
assert open("few-file.npy", "rb").read().endswith(rows) and open("few-file.u8bin", "rb").read()[8:] == rows
PYTHON
# What comes out goes in.
expect 0 '' '' -- "$NIGH" index -q rows.nigh few-file.hex
expect 0 "$(cat few.hex)" '' -- "$NIGH" export -q rows.nigh -o -

# JSON: the same signature, and how sure each bit is.
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash --json few.jsonl
cp .out few-weights.jsonl
expect 0 '' '' -- "$NIGH" sign -q --scheme simhash --json few.jsonl -o few-file.jsonl
same few-weights.jsonl few-file.jsonl
python3 - << 'PYTHON' || fail 'the JSON'
import json
lines = [json.loads(line) for line in open("few-weights.jsonl")]
assert [f'{line["id"]}\t{line["signature"]}\n' for line in lines] == list(open("few.hex"))
for line in lines:
    assert set(line) == {"id", "signature", "weights"} and len(line["weights"]) == 64
    assert all(0 <= weight <= 255 for weight in line["weights"]) and any(line["weights"])
PYTHON

# Bytes that are not UTF-8 become U+FFFD, which separates words; the rest is signed.
printf 'caf\xe9 cream\n' > latin.txt
printf 'caf cream\n' > clean.txt
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash latin.txt
contains .err "nigh: repaired: 'latin.txt', offset 3: bytes that are not UTF-8 were replaced"
contains .err '1 malformed part'
signature=$(cut -f2 .out)
expect 0 "clean.txt	$signature" '' -- "$NIGH" sign -q --scheme simhash clean.txt
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --strict latin.txt

# Standard input, as it is and through a pipe, is found out as a file is.
for format in few.jsonl clean.txt; do
    "$NIGH" sign -q --scheme simhash "$format" | cut -f2 > expected
    from "$format" "$NIGH" sign -q --scheme simhash - | cut -f2 > got
    same expected got
    piped "$format" "$NIGH" sign -q --scheme simhash - | cut -f2 > got
    same expected got
    gzip -c "$format" | "$NIGH" sign -q --scheme simhash - | cut -f2 > got
    same expected got
done
expect 2 '' "nigh: these weights need a first pass to count words, and a pipe can be read only once; give --vocabulary FILE, --weights log, or a file" \
    -- from few.jsonl "$NIGH" sign -
# Lines only where asked for.
printf 'first line here\nsecond line here\n\nfourth line\n' > lines.txt
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash lines.txt
[[ $(wc -l < .out) == 1 ]] || fail 'a file is a document'
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash --format lines lines.txt
cut -f1 .out > ids
compare 'ids of lines' $'lines.txt:1:401a8bd8236f\nlines.txt:2:57def2914f75\nlines.txt:4:a183543c2281' ids

# Many documents, of very different lengths, so that threads come to them out of order.
python3 - "$([[ -n ${NIGH_SANITIZE-} ]] && echo 1000 || echo 4000)" << 'PYTHON'
import json, random, sys
generator = random.Random(3)
words = ["word%d" % i for i in range(500)] + "the of and running runner runs naïve straße 東京都 данные".split()
with open("many.jsonl", "w") as file, open("broken-lines", "w") as broken:
    for number in range(int(sys.argv[1])):
        length = generator.choice((0, 1, 3, 20, 100, 100, 3000 if number % 50 == 0 else 10))
        file.write(json.dumps({"id": f"d{number}", "text": " ".join(generator.choices(words, k=length))}) + "\n")
        if number % 197 == 0 and number < 1000:
            file.write("{broken\n")
            broken.write(f"line {number + number // 197 + 2}\n")
PYTHON
schemes=('--scheme simhash' '--scheme topsig' '--scheme minhash' '--scheme simhash --features chars:5 --weights tf-idf --bits 256'
    '--scheme simhash --features ngrams:2 --split sentence --max-terms 40' '--split hard --max-terms 16 --density 3')
for scheme in "${schemes[@]}"; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" sign -q $scheme --threads 1 many.jsonl > one || fail "sign $scheme"
    for threads in 2 3 8; do
        # shellcheck disable=SC2086
        expect 0 ANY '' -- "$NIGH" sign -q $scheme --threads $threads many.jsonl
        same one .out
    done
    for kernel in $(kernels); do
        # shellcheck disable=SC2086
        expect 0 ANY '' -- env NIGH_KERNEL="$kernel" "$NIGH" sign -q $scheme many.jsonl
        same one .out
    done
done
# What is said is in order too, whatever the threads.
for threads in 1 2 8; do
    expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --threads $threads many.jsonl
    grep -o 'line [0-9]*' .err > lines
    same broken-lines lines
done

# Shards: together the whole.
"$NIGH" sign -q --scheme simhash many.jsonl | sort > whole
for shards in 1 2 7; do
    for ((shard = 0; shard < shards; shard++)); do
        "$NIGH" sign -q --scheme simhash --shard "$shard/$shards" many.jsonl
    done | sort > together
    same whole together
done
expect 1 '' '' -- "$NIGH" sign -q --scheme simhash --shard 1/4 few.jsonl # records 1 and 5 have no text
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --shard 4/4 few.jsonl
expect 2 ANY ANY -- "$NIGH" sign --scheme simhash --shard 1 few.jsonl

# The first N.
"$NIGH" sign -q --scheme simhash many.jsonl > whole
for limit in 1 10 1000 100000; do
    for threads in 1 2; do
        expect 0 "$(head -n "$limit" whole)" '' -- "$NIGH" sign -q --scheme simhash --limit "$limit" --threads "$threads" many.jsonl
    done
done

# Options that change the bits, and those that say the default.
differ() {
    checks=$((checks + 1))
    "$NIGH" sign -q --scheme simhash "$@" few.jsonl > other || fail "sign $*"
    cmp -s few.hex other && fail "$* changes nothing"
}
differ --seed 1
differ --stemming off
differ --stop-words off
differ --language none
differ --features ngrams:2
differ --features chars:3
differ --bits 128
for same in '--seed 0' '--stemming on' '--stop-words on' '--language en' '--language english' '--features words' '--bits 64' '--weights log'; do
    # shellcheck disable=SC2086
    expect 0 "$(cat few.hex)" '' -- "$NIGH" sign -q --scheme simhash $same few.jsonl
done

# Passages are named by where they stand in the text.
printf 'One two three four. Five six seven eight. Nine ten eleven twelve.' > long.txt
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash --language none --split hard --min-terms 4 --max-terms 4 long.txt
cut -f1 .out > ids
python3 - << 'PYTHON' || fail 'the passages'
text = open("long.txt").read()
pieces = [tuple(map(int, line.strip().split("#")[1].split("-"))) for line in open("ids")]
assert len(pieces) == 3 and pieces[0][0] == 0 and pieces[-1][1] == len(text), pieces
assert all(a[1] == b[0] for a, b in zip(pieces, pieces[1:])), pieces
assert [len(text[a:b].split()) for a, b in pieces] == [4, 4, 4], pieces
PYTHON

expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --language none --split hard --min-terms 4 --max-terms 4 long.txt
contains .err 'signed 3 passages of'

# Wrong use.
hint="try 'nigh sign --help'"
expect 2 '' "nigh sign: no INPUT given; '-' is standard input
$hint" -- "$NIGH" sign
expect 2 '' "nigh sign: --bits must be at least 1
$hint" -- "$NIGH" sign --bits 0 few.jsonl
expect 2 '' "nigh sign: --features takes words, ngrams:N or chars:N, not 'letters'
$hint" -- "$NIGH" sign --features letters few.jsonl
expect 2 '' "nigh sign: --shard takes I/N with I below N, such as 0/4, not '4/4'
$hint" -- "$NIGH" sign --shard 4/4 few.jsonl
expect 2 '' "nigh sign: --json and --to do not go together
$hint" -- "$NIGH" sign --json --to npy few.jsonl
expect 2 '' "nigh sign: standard input ('-') can be read only once
$hint" -- "$NIGH" sign - -
expect 2 '' "nigh: there is no language 'xx'" -- "$NIGH" sign --scheme simhash --language xx few.jsonl
expect 2 '' 'nigh: minhash takes a set of features and knows no weights' -- "$NIGH" sign --scheme minhash --weights tf few.jsonl
expect 2 '' 'nigh: only topsig has a density' -- "$NIGH" sign --scheme simhash --density 3 few.jsonl

# No output takes the place of an input, by whatever name.
# own_input SAID ARGUMENT...
own_input() {
    expect_unchanged clean.txt 2 ANY "nigh sign: $1 are the same file
$hint" -- "${@:2}"
}
ln -s clean.txt link.txt
own_input "-o 'clean.txt' and the input 'clean.txt'" "$NIGH" sign --scheme simhash few.jsonl clean.txt -o clean.txt
own_input "-o './clean.txt' and the input 'clean.txt'" "$NIGH" sign --scheme simhash --json clean.txt -o ./clean.txt
own_input "-o 'link.txt' and the input 'clean.txt'" "$NIGH" sign --scheme simhash clean.txt -o link.txt
own_input "--stats 'clean.txt' and the input 'link.txt'" "$NIGH" sign --scheme simhash link.txt --stats clean.txt
own_input "--make-vocabulary 'clean.txt' and the input 'clean.txt'" "$NIGH" sign clean.txt --make-vocabulary clean.txt
own_input "-o 'clean.txt' and the input '-'" from clean.txt "$NIGH" sign --scheme simhash - -o clean.txt
after() { "${@:2}" >> "$1"; }
own_input "standard output and the input 'clean.txt'" after clean.txt "$NIGH" sign --scheme simhash clean.txt
# A name that says nothing is refused; .txt is one of the endings of hex.
expect 0 '' '' -- "$NIGH" sign -q --scheme simhash few.jsonl -o ending.txt
same few.hex ending.txt
expect 2 '' ANY -- "$NIGH" sign -q --scheme simhash few.jsonl -o ending.unknown

finish
