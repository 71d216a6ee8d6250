#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh terms search --verify trusts no term signature file: limits are the caller's, inputs are read below folders
# the caller allows; and a log that has grown is read up to where it was indexed.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

in_folder() { (cd "$1" && "${@:2}"); }

mkdir data elsewhere store
printf 'the quick fox\na lazy dog\nthe fox again\n' > data/log.txt
"$NIGH" terms index -q store/log.terms data/log.txt --format lines || fail index

# ------------------------------------------------------------ where inputs are

# Below the folder at hand, or the one that the file lies in.
expect 0 $'log.txt:1\nlog.txt:3' '' -- sh -c "'$NIGH' terms search -q store/log.terms fox --verify | sed 's,.*/,,' | cut -d: -f1,2"
expect 2 '' ANY -- in_folder elsewhere "$NIGH" terms search -q ../store/log.terms fox --verify
contains .err "data/log.txt': is outside of the folders whose files may be read again; --source-root allows others"
for root in "$PWD/data" .. /; do
    expect 0 ANY '' -- in_folder elsewhere "$NIGH" terms search -q ../store/log.terms fox --verify --source-root "$root"
done
expect 2 '' ANY -- "$NIGH" terms search -q store/log.terms fox --verify --source-root elsewhere
expect 2 '' ANY -- "$NIGH" terms search -q store/log.terms fox --verify --source-root nowhere
contains .err "'nowhere'"
cp -r store/log.terms data/
expect 0 ANY '' -- in_folder elsewhere "$NIGH" terms search -q ../data/log.terms fox --verify
rm -r data/log.terms
# A link does not lead out of a folder, and '..' does not either.
ln -s ../data elsewhere/inside
expect 0 ANY '' -- in_folder elsewhere "$NIGH" terms index -q linked.terms inside/log.txt --format lines
expect 2 '' ANY -- in_folder elsewhere "$NIGH" terms search -q linked.terms fox --verify
contains .err 'is outside of the folders'
expect 0 ANY '' -- in_folder elsewhere "$NIGH" terms index -q up.terms ../data/log.txt --format lines
expect 2 '' ANY -- in_folder elsewhere "$NIGH" terms search -q up.terms fox --verify
contains .err 'is outside of the folders'

# --------------------------------------------------------------------- limits

# What was indexed with larger limits is read with those of the command.
python3 -c 'print("large " * 4000, end="")' > data/large.txt
expect 0 '' ANY -- "$NIGH" terms index large.terms data/large.txt --max-document 64M
expect 2 '' ANY -- "$NIGH" terms search -q large.terms large --verify --max-document 20K
contains .err 'was indexed with larger limits, of 67108864 bytes a document'
contains .err '; --max-document allows no more'
expect 0 ANY '' -- "$NIGH" terms search -q large.terms large --verify
(python3 -c 'print(("." * 1000000 + "\n") * 70, end="")'; echo small words) | gzip > data/bomb.gz
expect 0 '' ANY -- "$NIGH" terms index bomb.terms data/bomb.gz --format lines --max-expansion 10000
expect 2 '' ANY -- "$NIGH" terms search -q bomb.terms small --verify --max-expansion 10
contains .err '--max-expansion allows no more'

# Which files of a folder are read is said by the file, since records are counted over all of them.
mkdir folder
for name in .hidden.txt a.txt b.txt c.log; do echo "a fox of $name" > "folder/$name"; done
expect 0 '' ANY -- "$NIGH" terms index folder.terms folder --hidden --exclude 'a.*'
expect 0 3 '' -- sh -c "'$NIGH' terms search -q folder.terms fox --verify | wc -l"

# ----------------------------------------------------------------- what grows

printf 'a fox jumped over the ' >> data/log.txt
"$NIGH" terms index -q grown.terms data/log.txt --format lines || fail index
"$NIGH" terms search -q grown.terms fox --verify > before
"$NIGH" terms search -q grown.terms fence --verify && fail 'no word of this line is there yet'
printf 'fence\nyet another fox\n' >> data/log.txt
expect 0 "$(cat before)" '' -- "$NIGH" terms search -q grown.terms fox --verify
expect 0 "$(tail -1 before)" '' -- "$NIGH" terms search -q grown.terms jumped --verify
# Packed logs grow by members.
gzip -c data/log.txt > data/log.gz
"$NIGH" terms index -q packed.terms data/log.gz --format lines || fail index
"$NIGH" terms search -q packed.terms fox --verify > before
printf 'one more fox\n' | gzip >> data/log.gz
expect 0 "$(cat before)" '' -- "$NIGH" terms search -q packed.terms fox --verify
# What grew, and is another before its old end, is told as before.
sed 's/quick fox/slow fox/; s/^/longer lines now /' data/log.txt > changed && cat changed > data/log.txt
expect 2 '' ANY -- "$NIGH" terms search -q grown.terms fox --verify
contains .err 'is not the document that was indexed'

# --------------------------------------------------------- what cannot be asked

cat > notes.jsonl << 'END'
{"id": "n1", "text": "bake the bread in a hot oven"}
{"id": "n2", "text": "an oven that is hot, and bread"}
{"id": "n3", "text": "soup and bread"}
END
"$NIGH" terms index -q notes.terms notes.jsonl --stop-words off || fail index
refused() { # QUERY MESSAGE
    expect 2 '' ANY -- "$NIGH" terms search notes.terms --verify "$1"
    contains .err "$2"
}
refused '"hot oven"' 'phrases cannot be found'
refused 'bread "hot oven" bake' 'phrases cannot be found'
refused $'\xe2\x80\x9chot oven\xe2\x80\x9d' 'phrases cannot be found'
refused 'bak*' "'bak*' has a '*'"
refused '*' "'*' has a '*'"
refused '(soup OR oven) bread' "'(soup' has a '('"
refused 'bread (soup)' "'(soup)' has a '('"
refused 'soup | oven' "'|' has a '|'"
refused 'bread !soup' "'!soup' has a '!'"
refused 'bred~' "'bred~' has a '~'"
refused 'bread NOT' "'NOT' needs a word after it"
refused 'bread NOT OR soup' "'NOT' needs a word after it"
refused 'bread AND' "'AND' needs words on both sides"
refused 'AND bread' "'AND' needs words on both sides"
refused 'bread AND OR soup' "'AND' needs words on both sides"
expect 0 $'n1\nn2' '' -- "$NIGH" terms search -q notes.terms --verify bread AND oven
expect 0 $'n3' '' -- "$NIGH" terms search -q notes.terms --verify bread NOT oven
expect 0 $'n3' '' -- "$NIGH" terms search -q notes.terms --verify bread AND NOT oven
expect 2 '' ANY -- "$NIGH" terms search -q notes.terms bread NOT oven
contains .err 'needs --verify'
expect 0 ANY '' -- "$NIGH" terms search -q notes.terms bread, oven?
expect 1 '' ANY -- "$NIGH" terms search -q notes.terms 'f(x)' "don't"

finish
