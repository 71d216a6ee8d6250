#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Pages of --report: search, tune and eval write what they say, escaped, whole or not at all.
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

# sound FILE: elements end in the order in which they began, nothing is loaded or run, and all places are numbers.
sound() {
    python3 - "$1" << 'PYTHON' || fail "$1 is not sound"
import html.parser, re, sys
class Page(html.parser.HTMLParser):
    open = []
    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        assert tag not in ("script", "img", "link", "iframe", "object", "base"), tag
        assert not [name for name in names if name.startswith("on") or name in ("src", "href", "style")], names
        if tag != "meta":
            self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.open.pop()
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
assert page.open == [] and text.endswith("</html>\n"), page.open
assert not re.search(r"\burl\(|@import|[\" ,-](nan|inf)\b", text, re.IGNORECASE), "nan, inf or a place elsewhere"
PYTHON
}

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

sound page.html

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
[[ $(grep -o '<circle[^>]*><title>' tune.html | wc -l) == $((2 * settings)) ]] || fail 'a point is missing'
[[ $(grep -c '^<tr' tune.html) == "$settings" ]] || fail 'a row is missing'
chosen=$(sed -n 's/^  chosen *//p' tuned)
has tune.html "<b>Chosen: $chosen</b>"
[[ $(grep -c '<tr class="chosen">' tune.html) -ge 1 ]] || fail 'no row is the one chosen'
"$NIGH" tune -q rows.nigh --report quiet.html > silent
grep -q 'every document compared .*recall' silent && fail '--report alone lists settings'
sound tune.html
refused '--remove goes with nothing else' tune --remove rows.nigh --report x.html

# ------------------------------------------------------------------------ eval --

# Near-copies, classes and judgements, in a file of a hostile name.
hostile='<img src=x onerror=alert(1)>&.jsonl'
python3 - << 'PYTHON' > "$hostile"
import json, random
random.seed(5)
for i in range(160):
    label = i % 4
    if i % 8 < 5:
        words = [f"own{label}x{random.randrange(60)}" if random.random() < .5 else f"all{random.randrange(300)}" for _ in range(60)]
    else:
        words[random.randrange(60)] = f"new{i}"
    print(json.dumps({"id": f"<b>{i}", "text": " ".join(words), "label": f"<i>{label}"}))
PYTHON
for ((i = 0; i < 20; i++)); do printf 'q1 0 <b>%d 1\nq2 0 <b>%d 1\n' $((4 * i)) $((4 * i + 1)); done > qrels
printf '%s\n' '{"id":"q1","text":"own0x1 own0x2 own0x3 own0x4"}' '{"id":"q2","text":"own1x1 own1x2 own1x3 own1x4"}' > asked.jsonl

# measured KIND OPTION...: the page beside an answer that does not depend on it.
measured() {
    local kind=$1
    shift
    "$NIGH" eval "$kind" -q "$@" --report "$kind.html" > "$kind.txt" || fail "eval $kind: exit $?"
    sound "$kind.html"
    if [[ $kind == nearest ]]; then
        has "$kind.html" '<h1><bdi>rows.nigh</bdi></h1>'
    else
        has "$kind.html" '<h1><bdi>&lt;img src=x onerror=alert(1)&gt;&amp;.jsonl</bdi></h1>'
    fi
}

measured signatures --scheme simhash "$hostile"
compare 'answers do not depend on the page' "$("$NIGH" eval signatures -q --scheme simhash "$hostile")" signatures.txt
"$NIGH" eval signatures -q --scheme simhash --threads 1 --report again.html "$hostile" > again.txt
cmp -s signatures.html again.html || fail 'the same measurement gives another page'
radius=$(sed -n 's/^\* *\([0-9]*\) .*/\1/p' signatures.txt)
has signatures.html ">best F1 at $radius</text>"
f1=$(sed -n 's/^\*.* \([0-9.]*\)$/\1/p' signatures.txt)
has signatures.html "<td>all</td><td class=\"number\">$radius</td>"
has signatures.html "<td>$f1<svg"
[[ $(grep -c '<figure>' signatures.html) == 4 ]] || fail 'not four charts of signatures'

measured ranked --judgements qrels --queries asked.jsonl "$hostile"
while read -r asking _ _ map precision _; do
    has ranked.html "<h2>${asking^} as queries</h2>"
    has ranked.html "<td>all bits</td><td>$map<svg"
    has ranked.html "<td>$precision<svg"
done < <(grep '^topics\|^documents' ranked.txt)
[[ $(grep -c '<td>q[12]</td>' ranked.html) == 4 ]] || fail 'not each topic twice, by itself and by its documents'
[[ $(grep -c '>q[12]: [+-][0-9.]*</title>' ranked.html) == 8 ]] || fail 'not each topic in each chart'

printf '<b>5\t<b>4\t0.97\n<b>6\t<b>4\t0.9\n' > labels.tsv
measured duplicates --labels labels.tsv "$hostile"
[[ $(grep -c '<tr><td>' duplicates.html) == $(sed -n '/^method/,/^$/p' duplicates.txt | grep -c ' [0-9]\.[0-9]* ') ]] || fail 'a method is missing'
recall=$(sed -n 's/^nigh dedup   *\([0-9.]*\) .*/\1/p' duplicates.txt)
has duplicates.html "<td>nigh dedup</td><td>$recall<svg"
has duplicates.html 'Recall by work'
[[ $(grep -c ': recall [0-9.]*, precision ' duplicates.html) == $(grep -c '<tr><td>' duplicates.html) ]] || fail 'a method has no point'
has duplicates.html 'Labelled pairs that nigh dedup finds'

measured psm "$hostile"
has psm.html 'Attempts until the right bits are flipped'

measured nearest --no-cache --method sketch -k 5 --candidates 20 rows.nigh
recall=$(awk '$1 == "sketch" {print $3}' nearest.txt)
has nearest.html "<td>sketch</td><td>$recall<svg"
has nearest.html 'Recall by the time of a query'
grep -q 'Ring by ring' nearest.html && fail 'rings that nobody asked for'
"$NIGH" index -q rows.nigh --lists slices
measured nearest --no-cache --rings 2 -k 5 rows.nigh
has nearest.html 'Ring by ring'
has nearest.html '<tr><td class="number">2</td>'

measured terms --ratios 2,4 "$hostile"
[[ $(grep -c '<tr><td class="number">' terms.html) == 6 ]] || fail 'a filter is missing'

measured learned --methods simhash,chi --widths 8,16 --seeds 1 "$hostile"
[[ $(grep -c '<tr><td>' learned.html) == 7 ]] || fail 'a method of learning is missing'
has learned.html '<td>tf-idf cosine, all features</td>'

expect 2 '' "nigh eval signatures: --plot and --report name the same file
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures --plot p --report p "$hostile"
expect 2 '' "nigh eval nearest: --report 'c.nigh/page.html' is in the folder 'c.nigh', which is read
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest c.nigh --report c.nigh/page.html
expect 2 '' "nigh: 'gone/page.html': cannot write: No such file or directory" -- "$NIGH" eval ranked -q --judgements qrels --report gone/page.html "$hostile"
expect 2 '' ANY -- "$NIGH" eval signatures -q --report none.html missing.jsonl
[[ ! -e none.html ]] || fail 'there is a page after an error'

finish
