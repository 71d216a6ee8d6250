#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh eval terms: what a small collection must give in every form, and wrong use.
# shellcheck source=/dev/null disable=SC2016
. "${BASH_SOURCE[0]%/*}/_lib.sh"


# Words in topics, some of all, many of one text only.
python3 - << 'END' > texts.jsonl
import json, random
random.seed(4)
for i in range(500):
    topic = i % 12
    words = [f"all{random.randrange(40)}" if random.random() < 0.3 else f"t{topic}x{random.randrange(60)}" for _ in range(30)]
    words += [f"own{i}x{n}" for n in range(4)]
    print(json.dumps({"id": str(i), "text": " ".join(words)}))
END

# Tables: errors, their distribution, by frequency, queries, bytes.
expect 0 ANY '' -- "$NIGH" eval terms -q --block 20 --ratios 2,6.5 --queries-of 50 --plot plot.svg texts.jsonl
contains .out '500 documents, '
contains .out '2,000 of them in one block'
contains .out 'an inverted index of the same blocks: '
contains .out 'at the best k (Figures 1, 2 and 4)'
contains .out 'its distribution over blocks (Figure 3)'
contains .out 'false blocks and precision of queries of 1, 2, 3 and 5 words'
contains .out '   6.5  hybrid'
contains .out 'the least error of any filter: all blocks alike; knowing words,'
contains .out 'error of queries of 2 words, and how many'
python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('plot.svg')" || fail 'plot.svg is no XML'
contains plot.svg 'Term filters: texts.jsonl, blocks of 20 words'

measure() { "$NIGH" eval terms -q --block 20 --ratios 2,6.5 --queries-of 50 "$@" texts.jsonl; }
measure --output jsonl --sample 0 > rows.jsonl || fail "exit $?"
python3 - << 'END' || fail 'rows.jsonl'
import json, math
rows = [json.loads(line) for line in open("rows.jsonl")]
assert [(row["kind"], row["ratio"]) for row in rows] == \
    [(kind, ratio) for kind in ("bloom", "coca", "hybrid") for ratio in (2, 6.5)] + [("inverted", 0)], rows
for row in rows[:6]:
    assert 0 <= row["least"] <= row["quantiles"][0] <= row["quantiles"][1] <= row["quantiles"][2] <= row["most"] <= 1, row
    assert row["least"] <= row["error"] <= row["most"] and 0 < row["fill"] < 1, row
    assert abs(row["bound"] - 2 ** -row["ratio"]) < 1e-8, row
    assert all(0 < p <= 1 and f >= 0 for p, f in zip(row["precision"], row["false_blocks"])), row
    assert 0 <= row["bound_pairs"] <= row["bound_words"] < row["bound"], row
    assert row["bound_pairs"] <= row["error"], row
    assert sum(row["queries_by_pair"]) == 50 and all(0 <= e <= 1 for e in row["by_pair"]), row
    assert row["hashes"] >= 1 and (row["theta"] > 0) == (row["kind"] == "hybrid"), row
    assert (row["dictionary_bytes"] > 0) == (row["kind"] != "bloom"), row
for kind in range(3):
    assert rows[2 * kind + 1]["error"] < rows[2 * kind]["error"], rows
assert 0.8 < rows[1]["error"] / rows[1]["theory"] < 1.6, rows
assert rows[3]["error"] < rows[1]["error"] and rows[5]["error"] < rows[1]["error"], rows
assert rows[5]["by_frequency"][0] == 0, rows
assert rows[6]["error"] == 0 and rows[6]["precision"] == [1, 1, 1, 1] and rows[6]["bytes"] > 0, rows
END

# The same for any number of threads, but for the time; other seeds are other filters, and other queries.
measure --output tsv | cut -f1-30 > rows.tsv
measure --output tsv --threads 1 | cut -f1-30 > again.tsv
same rows.tsv again.tsv
expect 0 '7' '' -- grep -c . rows.tsv
expect 0 '41' '' -- awk -F '\t' 'NR == 1 { print NF }' <(measure --output tsv)
measure --output tsv --seed 9 | cut -f1-30 > again.tsv
! cmp -s rows.tsv again.tsv || fail 'the seed changes nothing'
measure --output tsv --sample-seed 9 | cut -f1-30 > again.tsv
! cmp -s rows.tsv again.tsv || fail 'the seed of the sample changes nothing'

# Another goal: k for words as often as blocks have them errs less on these.
measure --output tsv --sample 0 | awk -F '\t' '$1 == "coca" && $2 == 6.5 { print $25 }' > uniform
measure --output tsv --sample 0 --goal frequency | awk -F '\t' '$1 == "coca" && $2 == 6.5 { print $25 }' > frequent
expect 0 '1' '' -- awk 'NR == FNR { uniform = $1 } NR != FNR { print ($1 <= uniform) }' uniform frequent
printf 'all1 all2\nt3x4\n' > log.txt
expect 0 ANY '' -- "$NIGH" eval terms -q --ratios 4 --goal queries:log.txt texts.jsonl

# Short texts have no queries of many words.
printf 'one two\nthree two\n' > short.txt
expect 0 ANY '' -- "$NIGH" eval terms -q --format lines --ratios 4 --output jsonl short.txt
contains .out '"precision":[1,1,-1,-1]'

# The statistics.
expect 0 ANY '' -- "$NIGH" eval terms -q --ratios 4 --stats stats.json texts.jsonl
python3 - << 'END' || fail 'stats.json'
import json
stats = json.load(open("stats.json"))
assert stats["documents"] == 500 and stats["blocks"] == 500 and stats["terms"] > 2000, stats
END

# Nothing to measure by.
: > empty.txt
expect 2 '' ANY -- "$NIGH" eval terms -q --format lines empty.txt
contains .err 'there are no documents to measure filters by'
echo '...' > wordless.txt
expect 2 '' ANY -- "$NIGH" eval terms -q --format lines wordless.txt
contains .err 'no document has a word to measure filters by'
expect 2 '' ANY -- "$NIGH" eval terms -q --goal queries:empty.txt texts.jsonl
expect 2 '' ANY -- "$NIGH" eval terms -q missing.jsonl

# Wrong use.
for list in 0 65 4,2 2,2 2,,4 x '' nan -1; do
    expect 2 '' "nigh eval terms: --ratios takes ascending numbers above 0 and up to 64 such as 2,4,8, not '$list'
try 'nigh eval terms --help'" -- "$NIGH" eval terms "--ratios=$list" texts.jsonl
done
expect 2 '' ANY -- "$NIGH" eval terms --block 0 texts.jsonl
expect 2 '' ANY -- "$NIGH" eval terms --scheme simhash texts.jsonl
contains .err "--scheme goes with 'signatures', 'ranked' and 'psm'"
expect 2 '' ANY -- "$NIGH" eval terms --features chars:3 texts.jsonl
contains .err "--features goes with 'signatures', 'ranked', 'duplicates', 'psm' and 'learned'"
expect 2 '' "nigh eval psm: --block goes with 'terms'
try 'nigh eval psm --help'" -- "$NIGH" eval psm --block 100 texts.jsonl
expect 2 '' ANY -- "$NIGH" eval terms --plot log.txt --goal queries:log.txt texts.jsonl
finish
