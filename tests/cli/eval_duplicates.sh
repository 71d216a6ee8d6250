#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Measuring how near-copies are found: what a handful of texts must give, and what is refused.
# shellcheck source=/dev/null disable=SC2016
. "${BASH_SOURCE[0]%/*}/_lib.sh"


# Ten families: a text, an exact copy of it, one with a word changed near its end, one that shares little.
python3 - << 'END' > texts.jsonl
import json
for family in range(10):
    words = [f"word{family * 100 + i}" for i in range(40)]
    edited = words[:-1] + [f"edit{family}"]
    other = words[:8] + [f"other{family * 100 + i}" for i in range(32)]
    for name, text in (("a", words), ("copy", words), ("b", edited), ("c", other)):
        print(json.dumps({"id": f"{family}{name}", "text": " ".join(text)}))
END

# 38 shingles each, 37 of them shared: a Jaccard index of 37 / 39, and one pair a family.
"$NIGH" eval duplicates -q --output tsv texts.jsonl > rows.tsv || fail "exit $?"
for method in 'nigh dedup' 'nigh dedup --method exact' 'MinHash LSH 32 x 8 of 256'; do
    expect 0 "method	$method	1.000000	1.000000	1.000000	10" '' \
        -- awk -F '\t' -v "method=$method" 'BEGIN { OFS = "\t" } $2 == method { print $1, $2, $5, $6, $7, $8 }' rows.tsv
done
expect 0 '4' '' -- awk -F '\t' '$2 == "MinHash bits" && $3 == 256 { n++ } END { print n }' rows.tsv
expect 0 '2' '' -- awk -F '\t' '$2 == "simhash of words" && $3 == 64 && ($4 == 3 || $4 == 6) { n++ } END { print n }' \
    rows.tsv
"$NIGH" eval duplicates texts.jsonl > table 2> note || fail "exit $?"
contains table '30 documents, 10 exact copies left out; 10 pairs have a Jaccard index of 0.8 or more'
contains table 'nigh dedup --no-verify'
contains note 'measured 40 documents'
"$NIGH" eval duplicates -q --output jsonl texts.jsonl > rows.jsonl || fail "exit $?"
python3 - << 'END' || fail 'rows.jsonl'
import json
rows = [json.loads(line) for line in open("rows.jsonl")]
assert rows[0]["method"] == "nigh dedup" and rows[0]["recall"] == 1 and rows[0]["precision"] == 1, rows[0]
assert all(0 <= row["recall"] <= 1 and row["bytes"] > 0 for row in rows)
END

# What is alike is the caller's choice: of features, and how much.
"$NIGH" eval duplicates -q --threshold 0.96 texts.jsonl > table
[[ $? == 1 ]] || fail 'nothing is that much alike, and it was not said'
contains table '0 pairs have a Jaccard index of 0.96 or more'
"$NIGH" eval duplicates -q --features words --threshold 1 texts.jsonl > table
contains table '0 pairs have a Jaccard index of 1 or more'
"$NIGH" eval duplicates -q --features chars:3 --threshold 0.2 texts.jsonl > table
contains table 'nigh dedup --method exact                  1.0000     1.0000  1.0000'

# Labels; a copy is found, whatever the method.
printf '0a\t0b\t0.949\n0a\t0copy\t1\n1a\t1c\t0.55\n2a\tgone\t0.9\n' > pairs.tsv
measure_labels() { "$NIGH" eval duplicates --output tsv --labels pairs.tsv texts.jsonl | grep ^label; }
expect 0 'label	0.50	0.60	1	0	0	0	0
label	0.60	0.70	0	0	0	0	0
label	0.70	0.80	0	0	0	0	0
label	0.80	0.85	0	0	0	0	0
label	0.85	0.90	0	0	0	0	0
label	0.90	0.95	1	1	1	1	1
label	0.95	1.00	1	1	1	1	1' ANY -- measure_labels
contains .err 'left out: 1 label of a document that is not there'
printf 'a\tb\n' > short.tsv
expect 2 '' "nigh: 'short.tsv', line 1: not ID, ID and VALUE with tabs between" \
    -- "$NIGH" eval duplicates -q --labels short.tsv texts.jsonl

# Weak bits: near-copies of long texts, a word apart.
python3 - << 'END' > long.jsonl
import json, random
random.seed(5)
for family in range(60):
    words = [f"word{random.randrange(3000)}" for _ in range(300)]
    for version in range(3):
        print(json.dumps({"id": f"{family}.{version}", "text": " ".join(words)}))
        words[random.randrange(300)] = f"edit{family}.{version}"
END
expect 0 ANY '' -- "$NIGH" eval psm -q --plot weak.svg long.jsonl
contains .out 'within 1, 2, 3 deviations'
contains .out 'attempts until the right bits of 64 are flipped'
contains .out 'k=256'
python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('weak.svg')" || fail 'weak.svg is no XML'
contains weak.svg 'Weak bits of simhash, 64 bits: long.jsonl'
"$NIGH" eval psm -q --output tsv long.jsonl > weak.tsv || fail "exit $?"
"$NIGH" eval psm -q --output tsv --threads 1 long.jsonl > again.tsv || fail "exit $?"
same weak.tsv again.tsv
expect 0 '40 1.000' '' -- awk '$1 == "spread" { n++; sum += $3 } END { printf "%d %.3f\n", n, sum }' weak.tsv
expect 0 '6 126' '' -- awk '$1 == "attempts" { a++ } $1 == "recall" { r++ } END { print a, r }' weak.tsv
# More probes never find less, nor do more leading bits find more; any is at least as easy as all.
expect 0 '' '' -- awk '$1 == "recall" { if ($4 > 1 && $5 < last) print; last = $5; if ($6 > 1) print }' weak.tsv
"$NIGH" eval psm -q --output jsonl --probes 16 long.jsonl > weak.jsonl || fail "exit $?"
python3 - << 'END' || fail 'weak.jsonl'
import json
rows = [json.loads(line) for line in open("weak.jsonl")]
attempts = [row for row in rows if "flips" in row]
assert len(attempts) == 6 and all(row["mean"] < row["combinations"] / 3 for row in attempts), attempts
assert max(row["probes"] for row in rows if "probes" in row) == 16
END
expect 1 ANY '' -- "$NIGH" eval psm -q --limit 1 long.jsonl

# Wrong use.
expect 2 '' "nigh eval duplicates: --threshold takes a number above 0 and up to 1, not '80'
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates --threshold 80 texts.jsonl
expect 2 '' "nigh eval duplicates: the inputs are read many times; standard input cannot be
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates -
expect 2 '' "nigh eval duplicates: --bits goes with 'signatures', 'ranked', 'psm' and 'learned'
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates --bits 128 texts.jsonl
expect 2 '' "nigh eval duplicates: --plot goes with 'signatures', 'psm', 'nearest', 'learned' and 'terms'
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates --plot x.svg texts.jsonl
expect 2 '' "nigh eval psm: --labels goes with 'duplicates'
try 'nigh eval psm --help'" -- "$NIGH" eval psm --labels pairs.tsv texts.jsonl
expect 2 '' "nigh eval duplicates: --probes goes with 'psm'
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates --probes 3 texts.jsonl
expect 2 '' "nigh eval psm: this measures 64 bits
try 'nigh eval psm --help'" -- "$NIGH" eval psm --bits 128 texts.jsonl
expect 2 '' "nigh eval psm: this goes by the weights of simhash, or of a model; there is no other --scheme for it
try 'nigh eval psm --help'" -- "$NIGH" eval psm --scheme minhash texts.jsonl
expect 2 '' "nigh eval duplicates: --truth goes with 'signatures'
try 'nigh eval duplicates --help'" -- "$NIGH" eval duplicates --truth pairs.tsv texts.jsonl
expect 2 '' "nigh: '/dev/stdin': is read many times, which a pipe cannot be" \
    -- piped texts.jsonl "$NIGH" eval duplicates -q /dev/stdin
expect 2 '' "nigh: 'none.jsonl': cannot open: No such file or directory" -- "$NIGH" eval duplicates -q none.jsonl
[[ ! -e x.svg ]] || fail 'a refused run has written something'

finish
