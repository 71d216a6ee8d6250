#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# JSON arrays and tables are read as records: the same documents as from JSON lines with the same keys.
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# signed INPUT [OPTION]...: "ID<TAB>SIGNATURE" of its documents.
signed() { "$NIGH" sign -q --scheme simhash "$@"; }

cat > in.jsonl << 'EOF'
{"id":"a","title":"One \"quoted\", and more","body":"the river runs\nbelow the hill","n":3}
{"id":"b","title":"Two","body":"a text; with {brackets], and \\ signs","n":10.5}
{"id":"c","title":"Grün","body":"the last of these texts","n":-1}
EOF
signed --text-key body --text-key title in.jsonl > expected

python3 - << 'EOF'
import csv, json
rows = [json.loads(line) for line in open("in.jsonl", encoding="utf-8")]
def put(name, text):
    open(name, "w", encoding="utf-8", newline="").write(text)
put("indented.json", json.dumps(rows, indent=4))
put("compact.json", json.dumps(rows, ensure_ascii=False, separators=(",", ":")))
put("array.txt", "\n  " + json.dumps(rows))
put("values.json", "\n".join(json.dumps(row, indent=1) for row in rows))
put("lines.json", open("in.jsonl", encoding="utf-8").read())
for name, options in (("unix.csv", {"lineterminator": "\n"}), ("dos.csv", {}), ("semicolons.csv", {"delimiter": ";"}),
                      ("tabs.tsv", {"delimiter": "\t"}), ("all.csv", {"quoting": csv.QUOTE_ALL})):
    with open(name, "w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys(), **options)
        writer.writeheader()
        writer.writerows(rows)
put("mark.csv", "\ufeff" + open("unix.csv", encoding="utf-8", newline="").read())
put("blank.csv", open("unix.csv", encoding="utf-8", newline="").read().replace("\nb", "\n\n  \nb").rstrip("\n"))
EOF
gzip -k unix.csv indented.json
tar -cf tables.tar tabs.tsv
for input in indented.json compact.json array.txt values.json lines.json unix.csv dos.csv semicolons.csv tabs.tsv all.csv \
    mark.csv blank.csv unix.csv.gz indented.json.gz tables.tar; do
    checks=$((checks + 1))
    signed --text-key body --text-key title "$input" > got
    same expected got
done
signed --format csv --text-key body --text-key title - < unix.csv > got
same expected got
signed --format json --text-key body --text-key title - < indented.json > got
same expected got

# Without an id, items are numbered and rows go by their lines.
printf '[{"text":"one text"}, {"text":"another text"}]' > numbered.json
signed numbered.json | cut -f1 | cut -d: -f1,2 > got
compare 'ids' $'numbered.json:1\nnumbered.json:2' got
printf 'text\nriver text\n"hill\nlines"\nvalley\n' > numbered.csv
signed numbered.csv | cut -f1 | cut -d: -f1,2 > got
compare 'ids' $'numbered.csv:2\nnumbered.csv:3\nnumbered.csv:5' got

# What is malformed costs no more than itself.
printf '[{"id":"a","text":"river"}, {"id":"b" "text":"hill"}, 7, {"id":"c","text":"valley"}]' > bad.json
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash bad.json
cut -f1 .out > got
compare 'ids' $'a\nc' got
contains .err '1 record without text; 1 malformed part'
printf 'id,text\na,river,more\nb\nc,caf\xe9 bar\n' > bad.csv
expect 0 ANY ANY -- "$NIGH" sign --scheme simhash bad.csv
cut -f1 .out > got
compare 'ids' $'a\nc' got
contains .err "repaired: 'bad.csv'"
contains .err '1 record without text; 1 malformed part'

# What breaks off is lost.
printf '[{"text":"one"}, {"text":"two' > cut.json
expect 2 ANY ANY -- "$NIGH" sign cut.json
contains .err "'cut.json', offset 17: the file ends inside this record"
printf '[{"text":"one"}' > cut.json
expect 2 ANY ANY -- "$NIGH" sign cut.json
printf 'text\nhill\n"two\nthree\n' > cut.csv
expect 2 ANY ANY -- "$NIGH" sign cut.csv
contains .err "'cut.csv', offset 10: the file ends inside a quoted field"
expect 0 ANY ANY -- "$NIGH" sign --allow-loss cut.csv
{ printf 'text\n"' && yes 'a line without an end' | head -c 3000000; } > open.csv
expect 2 ANY ANY -- "$NIGH" sign --max-document 1M open.csv
contains .err 'maybe a quote has no end'

# Keys are columns, and a wrong one is told.
expect 1 ANY ANY -- "$NIGH" sign unix.csv
contains .err "no record has 'text'; the first has id, title, n, body: --text-key body"

# Deduplication writes JSON lines.
expect 0 '' ANY -- "$NIGH" dedup --text-key body unix.csv indented.json -o out.jsonl --keep score:n
[[ $(wc -l < out.jsonl) == 3 ]] || fail 'other than three were kept'
python3 -c 'import json; assert [json.loads(l)["id"] for l in open("out.jsonl")] == ["a", "b", "c"]' || fail 'kept others'
printf 'id,text,n\na,the same text of five words,9\nb,the same text of five words,10\n' > score.csv
expect 0 '' ANY -- "$NIGH" dedup score.csv -o out.jsonl --keep score:n
compare 'the higher score' '{"id":"b","text":"the same text of five words","n":"10"}' out.jsonl

# Shards and threads change nothing.
python3 - << 'EOF'
import json
rows = [{"id": str(i), "text": "text number %d of many, \u00fc" % i} for i in range(20000)]
json.dump(rows, open("large.json", "w"), indent=1)
open("large.csv", "w", encoding="utf-8").write("id,text\n" + "".join('%s,"%s"\n' % (r["id"], r["text"]) for r in rows))
open("large.jsonl", "w").write("".join(json.dumps(r) + "\n" for r in rows))
EOF
signed large.jsonl > expected
for input in large.json large.csv; do
    signed --threads 1 "$input" > got
    same expected got
    signed --threads 4 "$input" > got
    same expected got
    for shard in 0 1 2; do signed --shard $shard/3 "$input"; done | sort > got
    same <(sort expected) got
done

finish
