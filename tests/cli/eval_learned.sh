#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh eval learned: what a handful of classes must give in every form, and wrong use.
# shellcheck source=/dev/null disable=SC2016
. "${BASH_SOURCE[0]%/*}/_lib.sh"


# Five classes with words of their own among words of all; a header that tells the class.
python3 - << 'END' > texts.jsonl
import json, random
random.seed(3)
for i in range(400):
    label = i % 5
    words = [f"own{label}x{random.randrange(20)}" if random.random() < 0.4 else f"all{random.randrange(200)}" for _ in range(20)]
    print(json.dumps({"id": str(i), "text": f"Group: group{label}\n\n" + " ".join(words), "label": label,
                      "topics": [f"t{label}"], "split": "test" if i % 4 == 0 else "train"}))
END

# Methods by bits; learning is better than chance and than simhash.
expect 0 ANY '' -- "$NIGH" eval learned -q --part-key split --methods s3h,simhash --widths 16,32 --seeds 2 --strip-headers \
    --plot plot.svg texts.jsonl
contains .out '300 documents to learn from, 0 of them without a label; 100 ask; 5 classes'
contains .out 'MAP over the full ranking (Figure 1), by bits'
contains .out 'tf-idf cosine, all features'
contains .out 'at 32 bits: mean distance within a class and between two'
python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('plot.svg')" || fail 'plot.svg is no XML'
contains plot.svg 'Learned signatures: texts.jsonl, radius 3'

measure() { "$NIGH" eval learned -q --part-key split --methods s3h,simhash --widths 16,32 --seeds 2 --strip-headers "$@" texts.jsonl; }
measure --output jsonl > rows.jsonl || fail "exit $?"
python3 - << 'END' || fail 'rows.jsonl'
import json
rows = [json.loads(line) for line in open("rows.jsonl")]
names = [(row["method"], row["bits"]) for row in rows]
assert names == [("s3h", 16), ("s3h", 32), ("simhash", 16), ("simhash", 32), ("inverted list", 0), ("tf-idf cosine", 0),
                 ("tf-idf cosine, all features", 0)], names
assert all(row["seeds"] == (2 if row["bits"] else 1) for row in rows), rows
assert rows[1]["map"] > rows[3]["map"] > 0.2 and rows[5]["map"] > 0.3, rows
assert all(row["intra"] < row["inter"] and row["seconds"] >= 0 and row["peak_bytes"] > 0 for row in rows[:4]), rows
assert all(row["iterations"] > 0 and row["collapsed"] == 0 for row in rows[:2]), rows
END

# The same for any number of threads, but for what time and memory it took.
measure --output tsv | cut -f1-12 > rows.tsv
measure --output tsv --threads 1 | cut -f1-12 > again.tsv
same rows.tsv again.tsv
expect 0 '7' '' -- grep -c . rows.tsv

# Hash lookup, as well and alone: the same documents by tables as by counting all distances, and times beside it.
measure --lookup too --output jsonl > too.jsonl || fail "exit $?"
measure --lookup only --output jsonl > only.jsonl || fail "exit $?"
python3 - << 'END' || fail 'lookup'
import json
rows, too, only = ([json.loads(line) for line in open(name)] for name in ("rows.jsonl", "too.jsonl", "only.jsonl"))
timed = ("lookup_seconds", "scan_seconds", "lookup_bytes", "tables")
assert all(row[name] == 0 for row in rows for name in timed), rows
for a, b, c in zip(rows, too, only, strict=True):
    assert a["method"] == b["method"] == c["method"]
    assert a["map"] == b["map"] and a["intra"] == b["intra"] and c["map"] == c["intra"] == c["inter"] == 0, (a, b, c)
    if not a["method"].startswith("tf-idf"):
        assert all(a[name] == b[name] == c[name] for name in ("precision", "returned", "empty")), (a, b, c)
    for row in b, c:
        assert row["lookup_seconds"] > 0 and row["lookup_bytes"] > 0 and (row["scan_seconds"] > 0) == (row["bits"] > 0), row
assert only[-1]["returned"] == 10 and only[-1]["precision"] > 0.3, only[-1]
END
expect 0 ANY '' -- measure --lookup only
contains .out 'lookup within 3 bits and inverted lists'
if grep -q 'MAP' .out; then fail 'a ranking that was left out'; fi

# The header gives the class away, unless it is left out.
"$NIGH" eval learned -q --part-key split --methods s3h --bits 32 --seeds 1 --output tsv texts.jsonl | tail -1 | cut -f5 > with
measure --output tsv | tail -1 | cut -f5 > without
expect 0 '1' '' -- awk 'NR == FNR { with = $1 } NR != FNR { print (with > $1) }' with without

# Lists of labels; without parts some ask; several numbers of features.
expect 0 ANY '' -- "$NIGH" eval learned -q --label-key topics --methods chi --bits 16 --seeds 1 --max-features 20,80 --ask 30 \
    --labelled 0.5 --output tsv texts.jsonl
[[ $(cut -f1,2,3 .out | tr '\t\n' ' ;') == 'chi 20 16;inverted list 20 0;tf-idf cosine 20 0;chi 80 16;'* ]] ||
    fail 'not these rows'

# More features than there are, twice: each table has its own rows.
expect 0 ANY '' -- "$NIGH" eval learned -q --methods chi --bits 16 --seeds 1 --max-features 5000,6000 --ask 30 texts.jsonl
mv .out table
expect 0 '8' '' -- grep -c '^ chi ' table

# What 'nigh train' takes of pairs, l1 and anchors is taken here too, and matters.
for method_option in 's3h --pairs-alike 50' 's3h --pairs-different 50' 's3h --l1 100' 'klsh --anchors 20' 'klsh --anchor-sample 5'; do
    read -r method option value <<< "$method_option"
    few=("$NIGH" eval learned -q --part-key split --bits 32 --seeds 1 --output tsv --methods "$method" texts.jsonl)
    "${few[@]}" | head -1 | cut -f5,7 > usual
    "${few[@]}" "$option" "$value" | head -1 | cut -f5,7 > other
    [[ $(cat usual other | wc -w) == 4 ]] || fail "nothing was measured with $option"
    cmp -s usual other && fail "$option changes nothing"
done

# What cannot be learned from.
expect 2 '' "nigh: none of 400 documents has a label under 'nothing'" -- "$NIGH" eval learned -q --label-key nothing texts.jsonl
expect 2 '' ANY -- "$NIGH" eval learned -q --part-key label --methods chi --bits 16 texts.jsonl
contains .err 'there are no documents to learn from: none is of the part "train"'

# Wrong use.
expect 2 '' "nigh eval learned: --methods takes some of codewords,s3h,s3h-f,simhash,chi,ssh,klsh, each once, not 's3h,s4h'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --methods s3h,s4h texts.jsonl
for list in 0 8,,16 8,8 2048 x ''; do
    expect 2 '' "nigh eval learned: --widths takes numbers from 1 to 1024 such as 16,32,64, not '$list'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --widths "$list" texts.jsonl
done
expect 2 '' "nigh eval learned: --max-features takes numbers such as 10000 or 1000,3000,10000, not '0'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --max-features 0 texts.jsonl
expect 2 '' "nigh eval learned: --l1 takes a number above 0, such as 0.1 or 3, not '-1'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --l1 -1 texts.jsonl
expect 2 '' "nigh eval learned: --labelled takes a number above 0 and up to 1, not 'nan'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --labelled nan texts.jsonl
expect 2 '' "nigh eval learned: --lookup takes one of off, too, only; not 'fast'
try 'nigh eval learned --help'" -- "$NIGH" eval learned --lookup fast texts.jsonl
expect 2 '' 'nigh: a radius of 17 bits is beyond signatures of 16 bits' -- "$NIGH" eval learned -q --widths 32,16 --radius 17 texts.jsonl
expect 2 '' "nigh eval learned: --radius must be at least 1
try 'nigh eval learned --help'" -- "$NIGH" eval learned --radius 0 texts.jsonl
for wrong in 0 -1 nan; do
    expect 2 '' "nigh eval learned: --l2 takes a number above 0, such as 0.1 or 3, not '$wrong'
try 'nigh eval learned --help'" -- "$NIGH" eval learned "--l2=$wrong" texts.jsonl
done
expect 2 '' "nigh eval learned: give --bits or --widths
try 'nigh eval learned --help'" -- "$NIGH" eval learned --bits 8 --widths 16 texts.jsonl
expect 2 '' ANY -- "$NIGH" eval learned --scheme simhash texts.jsonl
contains .err "--scheme goes with 'signatures', 'ranked' and 'psm'"
expect 2 '' ANY -- "$NIGH" eval psm --seeds 3 texts.jsonl
contains .err "--seeds goes with 'learned'"
expect 2 '' "nigh eval psm: --ask goes with 'nearest' and 'learned'
try 'nigh eval psm --help'" -- "$NIGH" eval psm --ask 3 texts.jsonl
finish
