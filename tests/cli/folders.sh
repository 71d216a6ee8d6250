#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Folders are walked as ripgrep does it: what .gitignore, .ignore and a dot before the name leave out is left out,
# links are not followed, and what is no text is no error.
. "${BASH_SOURCE[0]%/*}/_lib.sh"


# read_as EXPECTED OPTION... INPUT: the last parts of the paths, in one line.
read_as() {
    local expected=$1 got
    shift
    checks=$((checks + 1))
    got=$("$NIGH" dedup --clusters - "$@" 2> .err | sed -E 's/^\{"id":"([^"]*)".*/\1/' | sed 's,^tree/,,' | tr '\n' ' ')
    [[ ${got% } == "$expected" ]] || fail "read '${got% }', not '$expected', with: $*"
}

make() {
    mkdir -p "$(dirname "$1")"
    echo "the text of $1 is about $RANDOM$RANDOM rivers and $RANDOM hills" > "$1"
}

for name in a.txt b.log c.txt .hidden.txt .config/x.txt build/out.txt docs/a.txt docs/deep/b.txt docs/build/y.txt \
    keep.log sub/z.tmp sub/keep.tmp .shown.txt; do make "tree/$name"; done
printf '%s\n' '# a comment' '' '*.log' '!keep.log' '/build/' 'docs/**/b.txt' '!.shown.txt' > tree/.gitignore
printf '%s\n' '*.tmp' > tree/sub/.gitignore
printf '%s\n' '!keep.tmp' > tree/sub/.ignore

read_as '.shown.txt a.txt c.txt docs/a.txt docs/build/y.txt keep.log sub/keep.tmp' tree
read_as '.shown.txt a.txt c.txt docs/a.txt docs/build/y.txt keep.log sub/keep.tmp' tree/
read_as '.gitignore .hidden.txt .shown.txt a.txt c.txt docs/a.txt docs/build/y.txt keep.log' --hidden \
    --exclude 'sub' --exclude '.config/' tree
read_as 'a.txt b.log build/out.txt c.txt docs/a.txt docs/build/y.txt docs/deep/b.txt keep.log sub/keep.tmp sub/z.tmp' \
    --no-ignore tree
read_as 'a.txt docs/a.txt' --include 'a.*' tree
read_as 'docs/a.txt docs/build/y.txt' --include '/docs/**' tree
read_as 'a.txt c.txt docs/a.txt' --include '*.txt' --exclude 'docs/build' --exclude '.*' tree
read_as 'keep.log' --include 'kee[o-q].l?g' --exclude '*.txt' tree

# What is named is read, whatever is said of it.
read_as 'b.log' tree/b.log
read_as '.config/x.txt' tree/.config
read_as 'build/out.txt' tree/build

# Rules of the folders above count inside a repository.
mkdir -p above/.git above/in/deep
make above/in/a.log
make above/in/b.txt
make above/in/deep/c.txt
printf '%s\n' '*.log' '/in/deep' > above/.gitignore
read_as 'above/in/b.txt' above/in
read_as 'above/in/deep/c.txt' above/in/deep

# Links, sockets, pipes and dangling links are passed over and counted.
make outside.txt
make beyond/far.txt
mkdir links
make links/near.txt
ln -s ../outside.txt links/shadow.txt
ln -s ../beyond links/away
ln -s nowhere links/dangling
ln -s . links/circle
mkfifo links/pipe
expect 0 '' ANY -- "$NIGH" index links.nigh links --stats stats.json
contains .err '5 links, special files or collections'
contains stats.json '"documents":1,'
contains stats.json '"skipped":5'
expect 0 '' ANY -- "$NIGH" index followed.nigh links --follow --stats stats.json
contains stats.json '"documents":3,'
contains stats.json '"skipped":3'
tar -cf links.tar --exclude links/pipe links
expect 0 '' ANY -- "$NIGH" index tarred.nigh links.tar --stats stats.json
contains stats.json '"documents":1,'
contains stats.json '"skipped":4'

# A file that is named may be a link.
expect 0 '' ANY -- "$NIGH" index named.nigh links/shadow.txt --stats stats.json
contains stats.json '"documents":1,'

# Collections and term files in the folder are none of its documents.
mkdir work
make work/a.txt
"$NIGH" index -q work/made.nigh work/a.txt
"$NIGH" terms index -q work/made.terms work/a.txt
read_as 'work/a.txt' --hidden --no-ignore work
contains .err '1 document'
expect 0 '' ANY -- "$NIGH" index again.nigh work --stats stats.json
contains stats.json '"binary":0,'

# Nor is the one that is being made there.
expect 0 '' ANY -- "$NIGH" index work/now.nigh work --scheme simhash --stats stats.json
contains stats.json '"missing_text":0'
contains stats.json '"documents":1,'
rm -r work/now.nigh

# A pattern that cannot be meant is told.
expect 2 '' "nigh: the pattern '[ab' has a '[' without a ']'" -- "$NIGH" index pattern.nigh work --include '[ab'
expect 2 '' "nigh: the pattern 'x[!]' has a '[' without a ']'" -- "$NIGH" index pattern.nigh work --exclude 'x[!]'
expect 0 '' ANY -- "$NIGH" index pattern.nigh work --include '[]a]*' --exclude '\[x'

# Binary files do not stand in the way of deduplication, unless they were named.
printf 'no\0text' > work/b.bin
expect 0 ANY ANY -- "$NIGH" dedup work -o kept.jsonl
[[ $(wc -l < kept.jsonl) == 1 ]] || fail 'a binary file was written'
expect 2 ANY ANY -- "$NIGH" dedup work/a.txt work/b.bin -o kept.jsonl
expect 0 ANY ANY -- "$NIGH" dedup work/a.txt work/b.bin -o kept.jsonl --allow-loss

# The sources of nigh are a folder as any other: binary files, and a repository around them.
expect 0 ANY ANY -- "$NIGH" dedup --pairs - --features chars:8 "$NIGH_SOURCE_DIR"

# Members of archives go by the same patterns.
tar -cf tree.tar -C tree .
expect 0 '' ANY -- "$NIGH" index tar.nigh tree.tar --include '*.log' --stats stats.json
contains stats.json '"documents":2,'

# A file that cannot be opened is lost.
if [[ $(id -u) != 0 ]]; then
    mkdir locked
    make locked/a.txt
    make locked/b.txt
    chmod 000 locked/b.txt
    expect 2 '' ANY -- "$NIGH" index locked.nigh locked
    expect 0 '' ANY -- "$NIGH" index locked.nigh locked --allow-loss
    expect 0 '' ANY -- "$NIGH" index locked2.nigh locked --exclude b.txt
fi

# Term files remember how they were read, and verify by it.
expect 0 '' ANY -- "$NIGH" terms index walked.terms tree --exclude docs --hidden
expect 0 ANY ANY -- "$NIGH" terms search walked.terms --verify 'rivers'
grep -q 'docs' .out && fail 'what was left out was found'
make tree/docs/new.txt
expect 0 ANY ANY -- "$NIGH" terms search walked.terms --verify 'rivers'
make tree/new.txt
expect 2 ANY ANY -- "$NIGH" terms search walked.terms --verify 'rivers'

# Links are followed to verify only where that is said again: the file may be a stranger's.
expect 0 '' ANY -- "$NIGH" terms index followed.terms links --follow
expect 2 ANY ANY -- "$NIGH" terms search followed.terms --verify --source-root . 'rivers'
expect 0 ANY ANY -- "$NIGH" terms search followed.terms --verify --follow --source-root . 'rivers'

finish
