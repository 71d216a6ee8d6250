#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pages of --report: search and tune write what they say, escaped, whole or not at all.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

refused() {
    local message=$1
    shift
    expect 2 '' "nigh $1: $message
try 'nigh $1 --help'" -- "$NIGH" "$@"
}

# has FILE TEXT
has() { grep -qF -- "$2" "$1" || fail "$1 has no '$2'"; }

printf '%s\n' '{"id":"<img src=x onerror=alert(1)>","text":"<script>alert(1)</script> the old bridge over the river & the mill"}' \
    '{"id":"storm","text":"a storm took the roofs of the houses by the harbour"}' > in.jsonl
"$NIGH" index -q c.nigh in.jsonl

# ---------------------------------------------------------------------- search --

"$NIGH" search -q c.nigh --text "bridge <b>river" --text "harbour storm" --report page.html > plain
"$NIGH" search -q c.nigh --text "bridge <b>river" --text "harbour storm" > without
compare 'answers do not depend on the page' "$(cat without)" plain
has page.html '<h2>query <bdi class="id">bridge &lt;b&gt;river</bdi></h2>'
has page.html '<bdi class="id">&lt;img src=x onerror=alert(1)&gt;</bdi>'
has page.html '&lt;script&gt;alert(1)&lt;/script&gt; the old bridge over the river &amp; the mill'
has page.html 'exact; by chance the nearest of 2 unrelated documents would agree in'
has page.html 'How near the nearest are'
has page.html 'exact: every one of 2 documents compared'
grep -q '<script\|<img' page.html && fail 'the page has the text of a document as markup'
[[ $(grep -c '<section>' page.html) == 2 && $(grep -c '</section>' page.html) == 2 && $(tail -1 page.html) == '</html>' ]] ||
    fail 'the page is not whole'

# The similarity of the page is that of the answers.
similarity=$("$NIGH" search -q c.nigh --text "harbour storm" -k 1 | sed -n 's/^ *1  *[0-9,]*  *\([0-9.]*%\).*/\1/p')
has page.html "<td>$similarity<svg"

# Several collections, and a page that is not there after an error, or keeps what was there.
head -1 in.jsonl | "$NIGH" index -q --scheme simhash b.nigh -
tail -1 in.jsonl | "$NIGH" index -q --scheme simhash d.nigh -
"$NIGH" search -q b.nigh d.nigh --text storm --report two.html > out
has two.html 'Nearest documents in several collections, first'
has two.html '<small>in d.nigh</small>'
expect 2 '' "nigh: 'missing.jsonl': cannot open: No such file or directory" -- "$NIGH" search c.nigh missing.jsonl --report none.html
[[ ! -e none.html ]] || fail 'there is a page after an error'
refused "--report 'c.nigh/page.html' is in the folder 'c.nigh', which is read" search c.nigh --text storm --report c.nigh/page.html
refused "--report 'in.jsonl' and the input 'in.jsonl' are the same file" search c.nigh in.jsonl --report in.jsonl

# Beyond what a page should hold, further queries are counted.
for ((i = 0; i < 510; i++)); do printf '{"id":"q%d","text":"a storm by the harbour"}\n' "$i"; done > many.jsonl
"$NIGH" search -q c.nigh many.jsonl --report many.html > out
has many.html '10 more queries are not shown.'
[[ $(grep -c '<section>' many.html) == 500 ]] || fail 'not 500 queries are shown'

# ------------------------------------------------------------------------ tune --

"$NIGH" generate -q -n 3000 --bits 256 --seed 3 -o rows.npy
"$NIGH" index -q rows.nigh rows.npy
"$NIGH" tune -q rows.nigh --all --report tune.html > tuned || fail 'tune failed'
settings=$(grep -c ' recall .* CDR ' tuned)
((settings > 1)) || fail "only $settings settings were measured"
[[ $(grep -o '<circle' tune.html | wc -l) == "$settings" ]] || fail 'a point is missing'
[[ $(grep -c '^<tr' tune.html) == "$settings" ]] || fail 'a row is missing'
chosen=$(sed -n 's/^  chosen *//p' tuned)
has tune.html "<b>Chosen: $chosen</b>"
[[ $(grep -c '<tr class="chosen">' tune.html) -ge 1 ]] || fail 'no row is the one chosen'
"$NIGH" tune -q rows.nigh --report quiet.html > silent
grep -q 'every document compared .*recall' silent && fail '--report alone lists settings'
refused '--remove goes with nothing else' tune --remove rows.nigh --report x.html

finish
