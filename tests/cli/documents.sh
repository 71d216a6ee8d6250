#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh index on documents: files, folders, archives, standard input; and more of them later.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

mkdir -p notes/b notes/a/deep
printf 'Apples and pears grow on trees in the garden.\n' > notes/apples.txt
printf '# Boats\n\nSailing boats and rowing boats cross the river.\n' > notes/b/boats.md
printf '<title>Cats</title><body>Cats sleep in the sun all day.<script>var x</script></body>' > notes/a/cats.html
printf '{"id":"dogs","text":"Dogs run in the park with their owners."}\n{"id":"eels","text":"Eels swim in the river at night."}\n' > notes/a/deep/more.jsonl
printf 'Foxes hunt at night in the garden, near the trees.\n' > foxes.txt

# A folder is everything in it, sorted; whatever it is called, a text is a document.
expect 0 '' "added 5 documents (5 distinct) to 'c.nigh', which now has 5; # s (#/s)" -- "$NIGH" index c.nigh notes --scheme simhash
expect 0 ANY '' -- "$NIGH" export -q c.nigh -o -
cut -f1 .out > ids
compare 'the ids' $'notes/a/cats.html\ndogs\neels\nnotes/apples.txt\nnotes/b/boats.md' ids
"$NIGH" sign -q --scheme simhash notes > signed
same signed .out

# More later: signed alike without a word about how.
expect 0 '' "added 1 document (1 distinct) to 'c.nigh', which now has 6; # s (#/s)" -- "$NIGH" index c.nigh foxes.txt
"$NIGH" sign -q --scheme simhash foxes.txt >> signed
expect 0 "$(cat signed)" '' -- "$NIGH" export -q c.nigh -o -
expect 0 '' '' -- "$NIGH" index -q c.nigh foxes.txt --scheme simhash --bits 64 --language en --weights log # again: nothing new
expect 0 "$(cat signed)" '' -- "$NIGH" export -q c.nigh -o -

# And not otherwise.
for options in '--scheme minhash' '--scheme topsig' '--bits 128' '--language de' '--weights tf' '--features ngrams:2' '--seed 5' \
    '--stemming off' '--stop-words off' '--split hard'; do
    # shellcheck disable=SC2086 # two words
    expect_unchanged c.nigh 2 '' ANY -- "$NIGH" index c.nigh $options notes
    contains .err 'nigh: '
done
# mixed WHAT OPTION...: refused, and it is said in what the two differ.
mixed() {
    expect_unchanged c.nigh 2 '' "nigh: 'c.nigh'$1" -- "$NIGH" index c.nigh "${@:2}" notes
}
mixed ' holds simhash signatures; they cannot be mixed with topsig' --scheme topsig
mixed ' holds simhash signatures; they cannot be mixed with minhash' --scheme minhash --bits 256 --language de
mixed ': its signatures have weights=log; they cannot be mixed with weights=tf-idf' --weights tf-idf
mixed ': its signatures have language=en; they cannot be mixed with language=de' --language de
mixed ': its signatures have features=words; they cannot be mixed with features=ngrams:2' --features ngrams:2
mixed ': its signatures have seed=0; they cannot be mixed with seed=5' --seed 5 --bits 64
mixed ': its signatures have no split; they cannot be mixed with split=hard' --split hard
printf 'x\t0000000000000000\n' > row.hex
expect_unchanged c.nigh 2 '' ANY -- "$NIGH" index c.nigh row.hex
"$NIGH" index -q rows.nigh row.hex || fail index
expect_unchanged rows.nigh 2 '' ANY -- "$NIGH" index rows.nigh notes
expect_unchanged rows.nigh 2 '' "nigh: 'rows.nigh': the signatures were not made from text by nigh" \
    -- "$NIGH" index rows.nigh notes --format plain

# Ids that are there already: skipped and said, or the end.
printf '{"id":"gulls","text":"Gulls fly over the sea."}\n{"id":"dogs","text":"Other dogs."}\n{"id":"gulls","text":"Gulls again."}\n' > repeats.jsonl
expect_unchanged c.nigh 2 '' "nigh: 'repeats.jsonl': the id 'dogs' already exists, with another text; nothing was added" \
    -- "$NIGH" index c.nigh --strict repeats.jsonl
expect 0 '' "nigh: skipped: 'repeats.jsonl': the id 'dogs' already exists, with another text
nigh: skipped: 'repeats.jsonl': the id 'gulls' already exists, with another text
added 1 document (1 distinct) to 'c.nigh', which now has 7; # s (#/s); 2 ids are there with another text, and left out" \
    -- "$NIGH" index c.nigh repeats.jsonl --stats stats.json
contains stats.json '"repeated_ids":2'

# Snippets: the first words, white space made one; as much as asked for; never half a character.
printf '  Line one\n\tand   line two\n' > spaces.txt
python3 -c 'print("é" * 300)' > accents.txt
expect 0 '' '' -- "$NIGH" index -q --scheme simhash snippets.nigh spaces.txt accents.txt
expect 0 ANY '' -- "$NIGH" search -q snippets.nigh --id spaces.txt -k 2 --output jsonl
python3 - << 'PYTHON' || fail 'the snippets'
import json
texts = {match["document"]: match["text"] for match in map(json.loads, open(".out"))}
assert texts == {"spaces.txt": "Line one and line two", "accents.txt": "é" * 100}, texts
PYTHON
expect 0 '' '' -- "$NIGH" index -q --scheme simhash --snippet 7 short.nigh spaces.txt accents.txt
expect 0 ANY '' -- "$NIGH" search -q short.nigh --id accents.txt -k 2 --output jsonl
contains .out '"text":"Line on"'
contains .out '"text":"ééé"'
expect 0 '' '' -- "$NIGH" index -q --scheme simhash --snippet 0 bare.nigh spaces.txt accents.txt
expect 0 ANY '' -- "$NIGH" search -q bare.nigh --id accents.txt -k 2 --output jsonl
grep -q '"text"' .out && fail 'a snippet'

# The weights of the bits are kept where asked for, and change nothing else.
expect 0 '' '' -- "$NIGH" index -q --scheme simhash --keep-weights weighted.nigh notes
expect 0 ANY '' -- "$NIGH" info weighted.nigh
contains .out 'of every bit of every document'
expect 0 ANY '' -- "$NIGH" check weighted.nigh
"$NIGH" sign -q --scheme simhash notes > signed
expect 0 "$(cat signed)" '' -- "$NIGH" export -q weighted.nigh -o -
# Where all documents have them, so have those that come later; where some have none, it is said.
with_weights() { "$NIGH" info "$1" | grep -q 'weights  *of every bit of every document'; }
expect 0 '' "added 1 document (1 distinct) to 'weighted.nigh', which now has 6; # s (#/s)" -- "$NIGH" index weighted.nigh foxes.txt
with_weights weighted.nigh || fail 'a document was added without weights'
expect 0 '' '' -- "$NIGH" index -q --scheme simhash unweighted.nigh notes
expect 0 '' "added 1 document (1 distinct) to 'unweighted.nigh', which now has 6; # s (#/s)
'unweighted.nigh' has documents without weights from before; --keep-weights is for new ones only" \
    -- "$NIGH" index unweighted.nigh --keep-weights foxes.txt

# Passages are called so, also where only the collection says that documents are cut.
expect 0 '' "added 2 passages (2 distinct) to 'passages.nigh', which now has 2; # s (#/s)" \
    -- "$NIGH" index --scheme simhash --language none --split hard --min-terms 5 --max-terms 5 passages.nigh foxes.txt
expect 0 '' ANY -- "$NIGH" index passages.nigh notes/apples.txt
contains .err 'added 1 passage '

# Standard input and archives.
tar -cf notes.tar notes
gzip -k notes.tar
for input in notes.tar notes.tar.gz; do
    expect 0 '' '' -- "$NIGH" index -q --scheme simhash "of-$input.nigh" "$input"
    expect 0 '' '' -- from "$input" "$NIGH" index -q --scheme simhash "from-$input.nigh" -
    for collection in "of-$input.nigh" "from-$input.nigh"; do
        "$NIGH" export -q "$collection" -o - | cut -f2 | sort > got
        same <(cut -f2 signed | sort) got
    done
done
expect 0 '' '' -- from foxes.txt "$NIGH" index -q --scheme simhash stdin.nigh -
# A member that is broken is skipped where that is allowed, and those before it stay.
head -c 4000 notes.tar > cut.tar
expect 0 '' ANY -- "$NIGH" index --scheme simhash --allow-loss cut.nigh cut.tar
contains .err "nigh: skipped: 'cut.tar"
contains .err '1 damaged input'
expect 2 '' ANY -- "$NIGH" index --scheme simhash --allow-loss --strict strict.nigh cut.tar
[[ -e strict.nigh ]] && fail 'a collection was made'

# Documents are told from signatures by looking, whatever their names.
cp foxes.txt prose.tsv
cp foxes.txt 'no ending'
for name in prose.tsv 'no ending' foxes.txt notes/b/boats.md; do
    rm -rf x.nigh
    expect 0 '' '' -- "$NIGH" index -q --scheme simhash x.nigh "$name"
    expect 0 ANY '' -- "$NIGH" export -q x.nigh -o -
    [[ $(wc -l < .out) == 1 && $(cut -f1 .out) == "$name" ]] || fail "'$name' is no document"
    expect 0 ANY '' -- "$NIGH" search -q x.nigh "$name"
done
mkdir folder.npy folder.hex
cp foxes.txt folder.npy
cp foxes.txt folder.hex
for name in folder.npy folder.hex; do
    rm -rf x.nigh
    expect 0 '' '' -- "$NIGH" index -q --scheme simhash x.nigh "$name"
    expect 0 ANY '' -- "$NIGH" export -q x.nigh -o -
    [[ $(cut -f1 .out) == "$name/foxes.txt" ]] || fail "the folder '$name' is not taken for documents"
done
cp row.hex row.txt
expect 0 '' '' -- "$NIGH" index -q rows-txt.nigh row.txt
expect 0 $'x\t0000000000000000' '' -- "$NIGH" export -q rows-txt.nigh -o -
expect 2 '' ANY -- "$NIGH" index both.nigh foxes.txt row.hex
contains .err 'looks like'
expect 0 '' '' -- "$NIGH" index -q --scheme simhash said.nigh row.txt --format plain # what is said counts
expect 0 ANY '' -- "$NIGH" export -q said.nigh -o -
[[ $(cut -f1 .out) == row.txt ]] || fail 'no document'

# Nothing to index makes nothing.
mkdir nothing
expect 1 '' "nigh: no document to index was found; 'n.nigh' was not made" -- "$NIGH" index n.nigh nothing --scheme simhash
expect 1 '' ANY -- "$NIGH" index n.nigh nothing
[[ -e n.nigh ]] && fail 'a collection was made'
expect 0 '' "added 0 documents (0 distinct) to 'c.nigh', which now has 7; # s (#/s)" -- "$NIGH" index c.nigh nothing
expect 2 '' ANY -- "$NIGH" index n.nigh notes missing --scheme simhash
contains .err "'missing'"
[[ -e n.nigh ]] && fail 'a collection was made'

# A binary file among them is said and passed over.
printf '\x7fELF\x02\x01\x01\x00\x00\x00' > notes/program
expect 0 '' ANY -- "$NIGH" index --scheme simhash mixed.nigh notes
grep -qx "nigh: skipped: 'notes/program': looks binary" .err || fail 'a binary file'
contains .err 'added 5 documents'

# Parquet files are for Python, and the tool says so.
printf 'PAR1\x15\x00\x00\x01\x02 words\x00PAR1' > table.parquet
expect 1 '' ANY -- "$NIGH" index tables.nigh table.parquet
contains .err "'table.parquet': looks binary; Parquet files are read from Python: python -m nigh dedup FILE -o FOLDER"

finish
