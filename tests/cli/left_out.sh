#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What is left out on request: documents of few bytes, of few words, in another language; words that are short, or
# numbers; passages beyond the first.  It is counted and told, by every command that reads documents.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

python3 - << 'PYTHON'
import json

ENGLISH = "The old man went down to the river with his dog, and there he sat for the rest of the day. "
GERMAN = "Der alte Mann ging mit seinem Hund an den Fluss, und dort saß er für den Rest des Tages. "
POLISH = "Stary człowiek poszedł ze swoim psem nad rzekę i siedział tam przez resztę dnia, aż zaszło słońce. "
documents = [("english", ENGLISH + "One 1984."), ("german", GERMAN + "Zwei 1984."), ("polish", POLISH + "Trzy."),
             ("short", "the end"), ("table", "shr 28 cts vs 50 cts net 2,301 vs 4,120 revs 1,984"),
             ("more", ENGLISH + "He had come there in the year of 2001 and was never seen again in the village.")]
with open("docs.jsonl", "w") as out:
    for name, text in documents:
        label = "a" if name in ("english", "german", "short") else "b"
        print(json.dumps({"id": name, "text": text, "label": label}, ensure_ascii=False), file=out)
    print(json.dumps({"id": "textless", "label": "a"}), file=out)
PYTHON
ids() { cut -f1 .out | tr '\n' ' '; }

# ------------------------------------------------------------- documents --

expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --min-bytes 51 docs.jsonl
[[ $(ids) == 'english german polish more ' ]] || fail "of 51 bytes: $(ids)"
contains .err '; 1 record without text; 2 documents left out by --min-bytes'
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --min-bytes 50 docs.jsonl
[[ $(ids) == 'english german polish table more ' ]] || fail "of 50 bytes: $(ids)"
contains .err '; 1 document left out by --min-bytes'
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --min-words 3 docs.jsonl
[[ $(ids) == 'english german polish table more ' ]] || fail "of 3 words: $(ids)"
contains .err '; 1 document left out by --min-words'
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --language none --min-words 2 docs.jsonl
[[ $(ids) == 'english german polish short table more ' ]] || fail "of 2 words, a stop word among them: $(ids)"

# What cannot be told is kept.
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --language none --only-language en docs.jsonl
[[ $(ids) == 'english short table more ' ]] || fail "in English: $(ids)"
contains .err '; 2 documents left out by --only-language'
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --language none --only-language german docs.jsonl
[[ $(ids) == 'german table ' || $(ids) == 'german short table ' ]] || fail "in German: $(ids)"

# The first reason counts, and --stats has them all.
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash --min-bytes 10 --min-words 16 --only-language en --stats s.json docs.jsonl
python3 - << 'PYTHON' || fail 'the counts'
import json
counts = json.load(open("s.json"))
assert (counts["too_few_bytes"], counts["too_few_words"], counts["other_language"]) == (1, 1, 2), counts
assert counts["missing_text"] == 1 and counts["records"] == 7, counts
PYTHON

# Any number of threads, and every command.
for threads in 1 2 7; do
    expect 0 ANY '' -- "$NIGH" sign -q --threads "$threads" --scheme simhash --language none --only-language en docs.jsonl
    [[ $(ids) == 'english short table more ' ]] || fail "by $threads threads: $(ids)"
done
expect 0 '' ANY -- "$NIGH" index made.nigh docs.jsonl --only-language en --min-words 3
contains .err '1 document left out by --min-words; 2 documents left out by --only-language'
expect 0 ANY ANY -- "$NIGH" info made.nigh
contains .out 'documents     3'
expect 0 ANY ANY -- "$NIGH" against made.nigh docs.jsonl --radius 100 --only-language de --min-words 3
contains .err 'left out by --only-language'
expect 0 '' ANY -- "$NIGH" terms index made.terms docs.jsonl --only-language en
contains .err '2 documents left out by --only-language'
expect 0 ANY ANY -- "$NIGH" train docs.jsonl -o made.model --min-documents 1 --min-words 3
contains .err '1 document left out by --min-words'
expect 0 ANY ANY -- "$NIGH" search made.nigh docs.jsonl --only-language de
contains .err 'left out by --only-language'

# What is left out is not in the output of dedup, and a record without text still is.
expect 0 '' ANY -- "$NIGH" dedup docs.jsonl -o kept.jsonl --only-language en --min-bytes 8 --stats s.json
contains .err '1 document left out by --min-bytes; 2 documents left out by --only-language'
contains .err '1 record without a text'
[[ $(grep -o '"id": "[a-z]*"' kept.jsonl | tr '\n' ' ') == '"id": "english" "id": "table" "id": "more" "id": "textless" ' ]] ||
    fail "dedup: $(cat kept.jsonl)"
grep -q '"other_language": *2' s.json || fail 'dedup: the counts'
mkdir folder && echo 'the end' > folder/a.txt && echo 'the beginning of it all, and the end of the day' > folder/b.txt
expect 0 '' ANY -- "$NIGH" dedup folder -o kept.jsonl --min-words 3
[[ $(wc -l < kept.jsonl) == 1 ]] || fail "dedup of a folder: $(cat kept.jsonl)"
expect 0 '' ANY -- "$NIGH" against --add new.nigh docs.jsonl -o fresh.jsonl --only-language en --min-words 3
contains .err 'left out by --only-language'
[[ $(wc -l < fresh.jsonl) == 4 ]] || fail "against: $(cat fresh.jsonl)"

# ----------------------------------------------------------------- words --

sign() { "$NIGH" sign -q --scheme simhash --language none "$@" | cut -f2; }
echo 'in 1984 the x86 was 32 years old' > numbers.txt
echo 'in the x86 was years old' > none.txt
echo 'in 1984 the x86 was years old' > some.txt
[[ $(sign --no-numbers numbers.txt) == "$(sign none.txt)" ]] || fail 'numbers are left out'
[[ $(sign numbers.txt) != "$(sign none.txt)" ]] || fail 'numbers are kept'
[[ $(sign --min-word-length 3 numbers.txt) == "$(sign --min-word-length 3 some.txt)" ]] || fail 'short words are left out'
[[ $(sign --min-word-length 1 numbers.txt) == "$(sign numbers.txt)" ]] || fail 'one character is what every word has'

# A collection keeps it, and what is added and asked is read so.  One without it has no such line.
expect 0 '' ANY -- "$NIGH" index words.nigh docs.jsonl --scheme simhash --no-numbers --min-word-length 3
expect 0 ANY '' -- "$NIGH" info words.nigh
contains .out 'min-word-length = 3'
contains .out 'numbers = out'
expect 0 '' ANY -- "$NIGH" index words.nigh numbers.txt
expect 0 ANY ANY -- "$NIGH" search words.nigh -k 1 --output tsv none.txt
[[ $(cut -f2,3 .out) == $'numbers.txt\t0' ]] || fail "the same without its number: $(cat .out)"
expect 2 '' ANY -- "$NIGH" index words.nigh none.txt --min-word-length 4
contains .err 'min-word-length'
expect 0 '' ANY -- "$NIGH" index plain.nigh docs.jsonl --scheme simhash --min-word-length 1
expect 0 ANY '' -- "$NIGH" info plain.nigh
grep -q 'min-word-length\|numbers =' .out && fail 'a line that nobody asked for'
expect 2 '' ANY -- "$NIGH" index plain.nigh none.txt --no-numbers

# So do term signature files and models.
expect 0 '' ANY -- "$NIGH" terms index words.terms docs.jsonl --no-numbers --min-word-length 4
expect 0 '' ANY -- "$NIGH" terms index words.terms numbers.txt
expect 2 '' ANY -- "$NIGH" terms index words.terms none.txt --min-word-length 5
contains .err 'it has min-word-length=4; documents cannot be added with min-word-length=5'
expect 2 '' ANY -- "$NIGH" terms search words.terms 1984
contains .err 'no word of the query'
expect 0 ANY ANY -- "$NIGH" terms search words.terms years
expect 0 '' ANY -- "$NIGH" terms index plain.terms numbers.txt
expect 2 '' ANY -- "$NIGH" terms index plain.terms none.txt --no-numbers
contains .err 'it has numbers=in; documents cannot be added with numbers=out'
expect 0 ANY ANY -- "$NIGH" train docs.jsonl -o words.model --min-documents 1 --no-numbers --min-word-length 4
expect 0 ANY '' -- "$NIGH" info words.model
grep -qw '1984\|the' .out && fail 'the model knows a number, or a short word'
expect 0 ANY '' -- "$NIGH" sign -q --scheme learned:words.model docs.jsonl
[[ $(ids) == 'english german polish table more ' ]] || fail "by the model: $(ids)"
expect 2 '' 'nigh: the model was learned with min-word-length=4, and min-word-length=3 is asked for' -- \
    "$NIGH" index learned.nigh docs.jsonl --scheme learned:words.model --min-word-length 3

# -------------------------------------------------------------- passages --

yes 'One two three four. Five six seven eight.' | head -500 > long.txt
passages=(--scheme simhash --language none --split hard --min-terms 4 --max-terms 4)
expect 0 ANY ANY -- "$NIGH" sign "${passages[@]}" --limit-passages 7 long.txt docs.jsonl
[[ $(wc -l < .out) == 7 ]] || fail "passages signed: $(wc -l < .out)"
contains .err 'signed 7 passages of'
expect 0 '' ANY -- "$NIGH" index passages.nigh "${passages[@]}" --limit-passages 300 long.txt docs.jsonl
contains .err '300 passages'
expect 0 ANY '' -- "$NIGH" sign -q --scheme simhash --limit-passages 2 docs.jsonl
[[ $(ids) == 'english german ' ]] || fail "documents that are not cut: $(ids)"
expect 0 ANY '' -- "$NIGH" sign -q "${passages[@]}" --limit 1 --limit-passages 2000 long.txt docs.jsonl
[[ $(wc -l < .out) == 1000 ]] || fail "the passages of one document: $(wc -l < .out)"

# ------------------------------------------------------------- wrong use --

codes='da, nl, en, fi, fr, de, it, no, pt, ru, es, sv'
for command in 'sign' 'index bad.nigh' 'dedup -o bad.jsonl' 'terms index bad.terms' 'train -o bad.model' 'search made.nigh'; do
    for language in xx pl '' EN; do
        # shellcheck disable=SC2086
        expect 2 '' ANY -- "$NIGH" $command docs.jsonl --only-language "$language"
        contains .err "the language '$language' cannot be recognised; these can: $codes"
    done
done
[[ ! -e bad.nigh && ! -e bad.jsonl && ! -e bad.terms && ! -e bad.model ]] || fail 'something was made'
for option in '--min-bytes -1' '--min-bytes x' '--min-words -1' '--min-words 1.5' '--min-word-length 0' \
    '--min-word-length 64' '--min-word-length -3' '--limit-passages 0' '--no-numbers=yes' '--min-bytes 5000000000'; do
    # shellcheck disable=SC2086
    expect 2 '' ANY -- "$NIGH" sign $option docs.jsonl
    contains .err "${option%%[ =]*}"
done
expect 2 '' "nigh sign: --min-terms is of passages and goes with --split; --min-words leaves out short documents
try 'nigh sign --help'" -- "$NIGH" sign --min-terms 3 docs.jsonl
"$NIGH" sign -q --scheme simhash docs.jsonl > rows.hex
for option in '--min-bytes 1' '--min-words 1' '--only-language en'; do
    # shellcheck disable=SC2086
    expect 2 '' 'nigh: --min-bytes, --min-words and --only-language are for documents, not for signatures' -- \
        "$NIGH" index bad.nigh rows.hex $option
done

finish
