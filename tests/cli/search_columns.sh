#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Searching columns: the answers of the scan, what a slack may miss, what is said, what is tuned, and what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

counted='kernel #, # threads'
hint="try 'nigh search --help'"

python3 - << 'END'
import random
random.seed(11)
words = ["word%d" % i for i in range(4000)]
shares = [(i + 1) ** .5 for i in range(4000)]
def text(n): return " ".join(random.choices(words, cum_weights=shares, k=n))
with open("many.txt", "w") as out: out.writelines(text(12) + "\n" for _ in range(34000))
with open("asked.txt", "w") as out: out.writelines(text(4) + "\n" for _ in range(120))
END
"$NIGH" index -q texts.nigh many.txt --format lines --bits 512 --no-columns || fail index
"$NIGH" generate -q -n 3000 --bits 256 -o rows.npy || fail generate
"$NIGH" generate -q -n 3000 --bits 256 --queries 20 -o queries.npy || fail generate
"$NIGH" index -q --lists none rows.nigh rows.npy || fail index

# Without: who demands columns hears how to get some, and who asks a large collection by text hears of them, once.
expect 2 '' "nigh: 'texts.nigh': has no columns: add them ('nigh index COLLECTION --columns'), or search without ('--method auto')" \
    -- "$NIGH" search --method columns texts.nigh --text 'word7 word12'
suggestion="texts are answered faster, and as exactly, by columns: 'nigh index texts.nigh --columns'"
expect 0 ANY ANY -- "$NIGH" search --batch 10 texts.nigh --format lines asked.txt
[[ $(grep -c "^$suggestion$" .err) == 1 ]] || fail 'columns are not suggested once'
for options in -q '--all-bits' '--method exact'; do
    # shellcheck disable=SC2086 # several words
    expect 0 ANY ANY -- "$NIGH" search $options texts.nigh --format lines asked.txt
    grep -q "by columns" .err && fail "columns are suggested with $options"
done
expect 0 ANY ANY -- "$NIGH" search rows.nigh queries.npy
grep -q 'by columns' .err && fail 'columns are suggested to few signatures'

for rank in weighted bits; do
    "$NIGH" search -q --output tsv --rank $rank --method exact texts.nigh --format lines asked.txt > "scan-$rank"
done
"$NIGH" search -q --output tsv --rank bits -k 20 -r 30 --method exact texts.nigh --format lines asked.txt > scan-radius
"$NIGH" index -q texts.nigh --columns || fail 'index --columns'

# With them the same answers, for any threads and batches, asked for or not; and nothing is suggested.
for rank in weighted bits; do
    for options in '' '--method columns' '--method columns --threads 1 --batch 7' '--threads 3' '--exact' '--load --verify'; do
        # shellcheck disable=SC2086 # several words
        "$NIGH" search -q --output tsv --rank $rank $options texts.nigh --format lines asked.txt > got
        same "scan-$rank" got
    done
done
"$NIGH" search -q --output tsv --rank bits -k 20 -r 30 --method columns texts.nigh --format lines asked.txt > got
same scan-radius got
expect 0 ANY "exact; 120 queries in # s (#/s), $counted" -- "$NIGH" search texts.nigh --format lines asked.txt --stats s.json
python3 -c '
import json
stats = json.load(open("s.json"))
assert stats["exact"] == 1 and stats["distances"] < 120 * 34000 / 2, stats' || fail 'statistics'
checks=$((checks + 1))

# Signatures too, where they are asked for.
"$NIGH" search -q --output tsv --method exact rows.nigh queries.npy > scan
"$NIGH" index -q rows.nigh --columns || fail 'index --columns'
"$NIGH" search -q --output tsv --method columns rows.nigh queries.npy > got
same scan got

# A slack says that nothing is certain, is the same for any threads and batches, and misses few.
"$NIGH" search -q --output jsonl --slack 1 texts.nigh --format lines asked.txt > slack
grep -q '"exact":false,"below":0' slack || fail 'what is certain is not said'
for options in '--threads 1' '--batch 1 --threads 2' '--threads 3 --batch 40 --method columns'; do
    # shellcheck disable=SC2086 # several words
    "$NIGH" search -q --output jsonl --slack 1 $options texts.nigh --format lines asked.txt > got
    same slack got
done
expect 0 ANY "approximate: exact for 0 of 120 queries; nearer documents may have been missed; 120 queries in # s (#/s), $counted" \
    -- "$NIGH" search --slack 1 --output tsv texts.nigh --format lines asked.txt
checks=$((checks + 1))
python3 - << 'END' || fail 'much is missed'
rows = lambda name: [line.split("\t") for line in open(name)]
worst = {row[0]: int(row[2]) for row in rows("scan-weighted")}
found = sum(int(row[2]) <= worst[row[0]] for row in rows(".out"))
assert found >= 0.9 * 1200, found
END
"$NIGH" search -q --output tsv --slack 100 texts.nigh --format lines asked.txt > got
same scan-weighted got

# Tuned for texts: what is stored is gone by for texts, and stands beside that for signatures.
expect 0 ANY "stored: 'nigh search' uses it for documents and texts, which are ranked by weights" \
    -- "$NIGH" tune texts.nigh --queries asked.txt --format lines --target-recall 0.8 --all
contains .out '  columns, slack '
contains .out '  every document compared '
[[ -f texts.nigh/tuning-ranked && ! -e texts.nigh/tuning ]] || fail 'not stored for texts'
expect 0 ANY '' -- "$NIGH" info texts.nigh
contains .out '  tuned, texts  '
expect 0 ANY '' -- "$NIGH" info texts.nigh --output jsonl
contains .out '"tuning_ranked":{"method":"'
contains .out '"for":"ranked"'
expect 0 ANY ANY -- "$NIGH" check texts.nigh
printf 'x' | dd of=texts.nigh/tuning-ranked bs=1 seek=70 conv=notrunc status=none
expect 0 ANY "nigh: 'texts.nigh': the tuning for texts cannot be used; see 'nigh check'" -- "$NIGH" info texts.nigh
expect 2 ANY ANY -- "$NIGH" check texts.nigh
contains .err 'texts.nigh/tuning-ranked'
expect 0 '' "'nigh search' uses its defaults" -- "$NIGH" tune --remove texts.nigh
[[ -e texts.nigh/tuning-ranked ]] && fail 'it is still there'
# --build makes columns for these.
"$NIGH" index -q texts.nigh --no-columns || fail 'index --no-columns'
expect 0 ANY ANY -- "$NIGH" tune texts.nigh --queries asked.txt --format lines --build --all
[[ -f texts.nigh/columns-00000000000000000001 ]] || fail '--build made no columns'
contains .out '  columns '

# Damaged columns: who leaves the choice is told, and gets the scan; who demands them is told how to mend them.
"$NIGH" tune -q --remove texts.nigh
truncate -s 5000 texts.nigh/columns-*
expect 0 ANY ANY -- "$NIGH" search --output tsv texts.nigh --format lines asked.txt
contains .err "nigh: 'texts.nigh': the columns of 1 segment cannot be used; see 'nigh check'"
same scan-weighted .out
expect 2 '' ANY -- "$NIGH" search --method columns texts.nigh --text 'word7 word12'
contains .err 'columns-00000000000000000001'

# Wrong use.
expect 2 '' "nigh search: --slack takes a number such as 0.1 or 3, not 'much'
$hint" -- "$NIGH" search --slack much rows.nigh queries.npy
expect 2 '' "nigh search: --slack takes a number such as 0.1 or 3, not '-1'
$hint" -- "$NIGH" search --slack -1 rows.nigh queries.npy
expect 2 '' "nigh search: --slack may miss some: leave out --exact
$hint" -- "$NIGH" search --slack 1 --exact rows.nigh queries.npy
expect 2 '' "nigh search: --slack may miss some: leave out --stop
$hint" -- "$NIGH" search --slack 1 --stop certain rows.nigh queries.npy
expect 2 '' "nigh search: --slack may miss some: leave out --radius, or give -k too
$hint" -- "$NIGH" search --slack 1 --radius 20 rows.nigh queries.npy
expect 2 '' "nigh search: --slack goes with --method columns, or auto
$hint" -- "$NIGH" search --slack 1 --method graph rows.nigh queries.npy
expect 2 '' 'nigh: slack must be from 0 to 1000' -- "$NIGH" search --slack 1001 --method columns rows.nigh queries.npy

finish
