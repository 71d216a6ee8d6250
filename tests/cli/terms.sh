#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh terms: what it finds, in which form, and what it says; the bytes do not depend on threads.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

cat > notes.jsonl << 'END'
{"id": "n1", "text": "knead the dough, let it rise, and bake the bread in a hot oven"}
{"id": "n2", "text": "a hot oven and a wet dough give bread a good crust"}
{"id": "n3", "text": "simmer the soup with salt, then serve it with bread"}
{"id": "n4", "text": "salt the soup late; taste it, simmer, and taste again"}
{"id": "n5", "text": "reef the sail before the wind, not after, and watch the tide"}
{"id": "n6", "text": "with the tide against the wind the anchor may drag"}
{"id": "n7", "text": "hoist the sail, weigh the anchor, and leave the harbour with the tide"}
{"id": "n8", "text": "a second anchor holds the boat when the wind turns in the harbour"}
END

# Words of letters only, so that grep -w is the truth: every document has its own, and some of forty others.
awk 'BEGIN {
    srand(7); split("abcdefghijklmnopqrstuvwxyz", letter, "")
    for (i = 0; i < 300; i++) {
        text = "own" letter[1 + int(i / 26)] letter[1 + i % 26]
        for (w = 0; w < 40; w++) if (rand() < 0.02 + w / 100) text = text " word" letter[1 + int(w / 26)] letter[1 + w % 26]
        printf "{\"id\":\"d%d\",\"text\":\"%s\"}\n", i, text
    }
}' > words.jsonl
plain_words=(--language none --stemming off --stop-words off)

# truth WORD...: ids of the documents that have all, from the lines as they are.
truth() {
    local lines=words.jsonl word
    cp "$lines" .lines
    for word in "$@"; do
        grep -w -e "$word" .lines > .fewer
        mv .fewer .lines
    done
    sed 's/.*"id":"\([^"]*\)".*/\1/' .lines
}

# The time of a search differs from run to run.
still() { sed -E 's/[0-9]+\.[0-9]+ m?s$/# ms/' "$@"; }

# in_folder FOLDER COMMAND...
in_folder() { (cd "$1" && "${@:2}"); }

# ------------------------------------------------------------ a first file

expect 0 '' ANY -- "$NIGH" terms index notes.terms notes.jsonl
contains .err "made 'notes.terms' of 8 documents; "
contains .err 'hybrid, '
contains .err 'expected error '
expect 0 $'n1\nn2' ANY -- "$NIGH" terms search notes.terms bread oven --verify
contains .err '2 documents, verified, of '
expect 0 ANY ANY -- "$NIGH" terms search notes.terms bread oven
contains .err ' documents, some may be false; '
expect 0 n1 ANY -- "$NIGH" terms search notes.terms baking
contains .err '1 document, exact; 0 rows'
expect 0 $'n1\nn2' '' -- "$NIGH" terms search --quiet notes.terms 'oven bread' --verify
expect 0 $'n1' '' -- "$NIGH" terms search -q notes.terms BAKING --verify
expect 0 $'n3\nn4\nn5\nn7' '' -- "$NIGH" terms search -q notes.terms sail tide OR soup --verify
expect 0 n3 '' -- "$NIGH" terms search -q notes.terms --verify 'bread -oven'
expect 0 n3 '' -- "$NIGH" terms search -q --verify notes.terms -- bread -oven
expect 0 n1 '' -- "$NIGH" terms search -q --limit 1 notes.terms bread oven --verify
expect 1 '' ANY -- "$NIGH" terms search notes.terms submarine
contains .err 'nothing found; 1 word that no document has; '
expect 0 ANY ANY -- "$NIGH" terms search notes.terms the soup
contains .err '; 1 stop word left out; '

# -------------------------------------------------- nothing is ever missed

for method in hybrid bloom coca; do
    expect 0 '' ANY -- "$NIGH" terms index "$method.terms" words.jsonl --method "$method" "${plain_words[@]}" --block 7 \
        --threads 1
    expect 0 '' ANY -- "$NIGH" terms index "$method-3.terms" words.jsonl --method "$method" "${plain_words[@]}" --block 7 \
        --threads 3
    diff -r "$method.terms" "$method-3.terms" || fail "$method: threads change the bytes"
    for words in wordaa wordbn ownaa ownlm 'wordbm wordbn' 'wordaz wordbl wordbn' 'wordab ownaf' 'wordbi wordbj wordbk wordbl wordbm'; do
        # shellcheck disable=SC2086 # several words
        truth $words > expected
        # shellcheck disable=SC2086
        "$NIGH" terms search -q "$method.terms" $words > found
        checks=$((checks + 1))
        grep -qvxF -f found expected && fail "$method misses documents of '$words'"
        code=0
        [[ -s expected ]] || code=1
        # shellcheck disable=SC2086
        expect $code "$(cat expected)" '' -- "$NIGH" terms search -q "$method.terms" $words --verify
    done
done
"$NIGH" terms index -q small.terms words.jsonl "${plain_words[@]}" --bits-per-term 2 || fail small
"$NIGH" terms index -q large.terms words.jsonl "${plain_words[@]}" --bits-per-term 12 || fail large
"$NIGH" terms search -q small.terms --output jsonl wordbd wordbe > small.json
"$NIGH" terms search -q large.terms --output jsonl wordbd wordbe > large.json
python3 - << 'END' || fail 'more bits do not help'
import json
small, large = (json.load(open(name)) for name in ("small.json", "large.json"))
assert small["documents"] > large["documents"] and "expected_false" not in small
END

# ------------------------------------------------------------------- forms

"$NIGH" terms search hybrid.terms wordbd wordbe --verify > ids 2> /dev/null
count=$(wc -l < ids)
expect 0 "$(cat ids)" ANY -- "$NIGH" terms search hybrid.terms wordbd wordbe --verify --output ids
expect 0 "$(sed 's/^/wordbd wordbe\t/' ids)" ANY -- "$NIGH" terms search hybrid.terms wordbd wordbe --verify --output tsv
expect 0 ANY '' -- "$NIGH" terms search hybrid.terms wordbd wordbe --verify --output table
still .out > table
contains table 'query wordbd wordbe'
contains table "$count documents, verified, of "
contains table '# ms'
[[ $(sed -n 's/^  //p' table) == "$(cat ids)" ]] || fail 'the table has other ids'
expect 0 ANY ANY -- "$NIGH" terms search hybrid.terms wordbd wordbe --verify --output jsonl --stats stats.json
python3 - .out stats.json ids << 'END' || fail 'jsonl or stats'
import json, sys
answer, stats = (json.load(open(name)) for name in sys.argv[1:3])
ids = open(sys.argv[3]).read().split()
assert answer["query"] == "wordbd wordbe" and answer["ids"] == ids and answer["documents"] == len(ids)
assert answer["verified"] is True and answer["candidates"] >= len(ids)
assert answer["rows"] > 0 and answer["bytes"] > 0 and "seconds" not in answer
assert stats["command"] == "terms" and stats["queries"] == 1 and stats["matches"] == len(ids)
assert stats["documents"] == 300 and stats["rows"] == answer["rows"] and "verify_seconds" in stats
END

# People get the table, programs the ids.
if command -v script > /dev/null && script -qec true /dev/null > /dev/null 2>&1 < /dev/null; then
    script -qec "$NIGH terms search hybrid.terms wordbd wordbe" typescript > /dev/null < /dev/null
    contains typescript 'query wordbd wordbe'
    contains typescript ' rows of bits, '
fi

# ------------------------------------------------------------ many queries

printf 'wordbd wordbe\n\nownaa\r\nnowhere\n' > queries.txt
"$NIGH" terms search -q hybrid.terms --verify ownaa > own
(sed 's/^/wordbd wordbe\t/' ids; sed 's/^/ownaa\t/' own) > expected
expect 0 "$(cat expected)" ANY -- "$NIGH" terms search hybrid.terms --queries queries.txt --verify
contains .err '3 queries, 2 with an answer: '
expect 0 "$(cat expected)" ANY -- from queries.txt "$NIGH" terms search hybrid.terms --queries - --verify
expect 1 '' ANY -- from /dev/null "$NIGH" terms search hybrid.terms --queries -
# One that cannot be asked is said, and the others are answered.
printf 'wordbd wordbe\n-wordaa\nwordaa OR\nownaa\n' > mixed.txt
expect 2 "$(cat expected)" ANY -- "$NIGH" terms search hybrid.terms --queries mixed.txt --verify
contains .err 'nigh: mixed.txt: line 2: '
contains .err 'nigh: mixed.txt: line 3: '
contains .err '2 queries, 2 with an answer, 2 refused: '

# ------------------------------------------------------------------ adding

head -200 words.jsonl > first.jsonl
tail -100 words.jsonl > second.jsonl
for method in hybrid bloom coca; do
    expect 0 '' ANY -- "$NIGH" terms index "grown-$method.terms" first.jsonl --method "$method" "${plain_words[@]}" --block 7
    # It says itself how it was made.
    expect 0 '' ANY -- "$NIGH" terms index "grown-$method.terms" second.jsonl
    contains .err "added 100 documents to 'grown-$method.terms', which now has 300; "
    for words in wordaa ownaa ownlm 'wordbm wordbn'; do
        # shellcheck disable=SC2086
        truth $words > expected
        # shellcheck disable=SC2086
        expect 0 "$(cat expected)" '' -- "$NIGH" terms search -q "grown-$method.terms" $words --verify
    done
done
expect 0 '' ANY -- from second.jsonl "$NIGH" terms index piped.terms - "${plain_words[@]}"
contains .err "made 'piped.terms' of 100 documents; "
expect 0 "$(tail -1 second.jsonl | sed 's/.*"id":"\([^"]*\)".*/\1/')" '' -- \
    "$NIGH" terms search -q piped.terms "$(tail -1 second.jsonl | grep -o 'own[a-z]*')"

# A seed stays too, and so do words that are kept.
"$NIGH" terms index -q seeded.terms first.jsonl --seed 9 --stop-words off || fail seeded
expect 0 '' ANY -- "$NIGH" terms index seeded.terms second.jsonl
expect 0 d299 '' -- "$NIGH" terms search -q seeded.terms --verify "$(tail -1 second.jsonl | grep -o 'own[a-z]*')"
# Little memory makes several groups, of the same documents.
expect 0 '' ANY -- "$NIGH" terms index groups.terms words.jsonl "${plain_words[@]}" --memory 100K
expect 0 "$(truth wordbm wordbn)" '' -- "$NIGH" terms search -q groups.terms wordbm wordbn --verify

# Many queries are a log to choose filters by.
expect 0 '' ANY -- "$NIGH" terms index logged.terms words.jsonl "${plain_words[@]}" --goal queries:queries.txt
expect 0 "$(truth wordbm wordbn)" '' -- "$NIGH" terms search -q logged.terms wordbm wordbn --verify

# How the inputs were read, and where they are, is kept.
sed 's/"text"/"body"/' notes.jsonl > bodies.txt
expect 0 '' ANY -- "$NIGH" terms index bodies.terms bodies.txt --format jsonl --text-key body
mkdir -p elsewhere
expect 0 $'n1\nn2' '' -- in_folder elsewhere "$NIGH" terms search -q ../bodies.terms bread oven --verify

# ---------------------------------------------------------- info and check

expect 0 ANY '' -- "$NIGH" terms info grown-hybrid.terms
cp .out info
for line in 'documents     300' 'method        hybrid' 'groups        2' 'language = none' 'rows of bits' dictionary; do
    contains info "$line"
done
expect 0 "$(cat info)" '' -- "$NIGH" info grown-hybrid.terms
expect 0 ANY '' -- "$NIGH" terms info --output jsonl grown-bloom.terms
python3 - .out << 'END' || fail 'info as JSON'
import json, sys
info = json.load(open(sys.argv[1]))
assert info["method"] == "bloom" and info["documents"] == 300 and info["groups"] == 2 and info["block_terms"] == 7
assert info["analysis"]["language"] == "none" and info["row_bytes"] + info["document_bytes"] < info["bytes"]
END
cp .out json
expect 0 "$(cat json)" '' -- "$NIGH" info --output jsonl grown-bloom.terms
expect 0 ANY '' -- "$NIGH" terms check grown-hybrid.terms
contains .out "'grown-hybrid.terms' is sound: 300 documents in "
cp .out checked
expect 0 "$(cat checked)" '' -- "$NIGH" check grown-hybrid.terms
expect 0 '' '' -- "$NIGH" terms check --quiet grown-hybrid.terms

finish
