#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Evaluation: exact bytes of what is measured on a handful of texts, and what is refused.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

hint="try 'nigh eval --help'"
cat > texts.jsonl << 'END'
{"id":"a","text":"apple banana cherry date elder fig"}
{"id":"b","text":"apple banana cherry date elder fig"}
{"id":"c","text":"ink jade kite lamp mint nest"}
END
simhash=(--scheme simhash --weights tf --language none)

# Two equal texts and one that shares nothing: a pair at distance 0, two far away; all from the definition.
"$NIGH" sign -q "${simhash[@]}" texts.jsonl | cut -f 2 > rows.hex
far=$(python3 -c "rows = [int(x, 16) for x in open('rows.hex')]; print(bin(rows[0] ^ rows[2]).count('1'))")
expect 0 "all	0	1	1	1.000000	1.000000	1.000000	1.000000	0.000000
all	$far	2	0	0.333333	1.000000	0.500000	0.000000	0.000000
1-31	0	1	1	1.000000	1.000000	1.000000		
1-31	$far	2	0	0.333333	1.000000	0.500000		" '' \
    -- "$NIGH" eval signatures -q --output tsv "${simhash[@]}" texts.jsonl
expect 0 '{"words":"all","distance":0,"pairs":1,"alike":1,"precision":1.000000,"recall":1.000000,"f1":1.000000,"cosine":1.000000,"cosine_error":0.000000}
{"words":"1-31","distance":0,"pairs":1,"alike":1,"precision":1.000000,"recall":1.000000,"f1":1.000000}' '' \
    -- "$NIGH" eval signatures -q --output jsonl --limit 2 "${simhash[@]}" texts.jsonl
expect 0 '3 documents of 64 bits, 3 pairs; 1 is alike, with a cosine of 0.9 or more

 distance           pairs   cosine        alike   others within  precision  recall      F1
*       0               1    1.000            1               0     1.0000  1.0000  1.0000
* the radius of the best F1

   words           pairs        alike   best radius  precision  recall      F1
    1-31               3            1             0     1.0000  1.0000  1.0000
  32-127               0            0             -
 128-511               0            0             -
    512+               0            0             -
words of the shorter text of a pair' 'measured 3 documents of 0.0 MB of text; # s (#/s)' \
    -- "$NIGH" eval signatures "${simhash[@]}" texts.jsonl

# --data is one more input; folders are read through; threads change nothing.
mkdir folder
cp texts.jsonl folder/
"$NIGH" eval signatures -q --output tsv texts.jsonl > once
expect 0 "$(cat once)" '' -- "$NIGH" eval signatures -q --output tsv --data folder
expect 0 "$(cat once)" '' -- "$NIGH" eval signatures -q --output tsv --threads 1 folder

# Labels.
measure_labels() { "$NIGH" eval signatures --output tsv "${simhash[@]}" --truth pairs.tsv texts.jsonl | grep ^all; }
printf 'a\tc\t0.85\na\tb\t0.1\na\tgone\t0.9\n' > pairs.tsv
expect 0 "all	0	1	0	0.000000	0.000000	0.000000	1.000000	0.000000
all	$far	2	1	0.333333	1.000000	0.500000	0.000000	0.000000" ANY \
    -- measure_labels
contains .err 'left out: 1 label of a document that is not there'
printf 'a\tc\n' > short.tsv
expect 2 '' "nigh: 'short.tsv', line 1: not ID, ID and VALUE with tabs between" \
    -- "$NIGH" eval signatures -q --truth short.tsv "${simhash[@]}" texts.jsonl
expect 2 '' "nigh: 'none.tsv': cannot open: No such file or directory" \
    -- "$NIGH" eval signatures -q --truth none.tsv "${simhash[@]}" texts.jsonl

# The plot is well-formed, and takes its name when it is whole.
expect 0 ANY '' -- "$NIGH" eval signatures -q --plot plot.svg "${simhash[@]}" texts.jsonl
python3 -c "import xml.dom.minidom; xml.dom.minidom.parse('plot.svg')" || fail 'plot.svg is no XML'
contains plot.svg 'simhash, 64 bits: texts.jsonl'
expect 2 ANY "nigh: 'missing/plot.svg': cannot write: No such file or directory" \
    -- "$NIGH" eval signatures -q --plot missing/plot.svg "${simhash[@]}" texts.jsonl
[[ $(echo plot*) == plot.svg ]] || fail 'something was left behind'

# Ranked: q asks for a; of the features a and b are first, and a is the earlier one.
printf '{"id":"q","text":"banana fig"}\n' > queries.jsonl
printf 'q 0 a 1\nq 0 b 1\nq 0 c 0\n' > qrels
"$NIGH" eval ranked -q --output tsv "${simhash[@]}" --judgements qrels --queries queries.jsonl texts.jsonl > ranked.tsv
expect 0 'topics	1	1	1.000000	0.200000
documents	1	2	1.000000	0.100000' '' -- cut -f 1-3,10,11 ranked.tsv
expect 0 'documents	1	2	1.000000	0.100000	1.000000	0.100000	1.000000	0.100000	1.000000	0.100000	1.000000	0.100000' '' \
    -- "$NIGH" eval ranked -q --output tsv "${simhash[@]}" --judgements qrels texts.jsonl
expect 0 '                               all bits        touched bits    weighted        unrounded       features
queries      topics  rankings     MAP    P@10     MAP    P@10     MAP    P@10     MAP    P@10     MAP    P@10
documents         1         2  1.0000  0.1000  1.0000  0.1000  1.0000  0.1000  1.0000  0.1000  1.0000  0.1000' '' \
    -- "$NIGH" eval ranked -q "${simhash[@]}" --judgements qrels texts.jsonl
expect 0 '{"queries":"documents","topics":1,"rankings":2,"map":1.000000,"precision_at_10":0.100000,"touched_map":1.000000,"touched_precision_at_10":0.100000,"weighted_map":1.000000,"weighted_precision_at_10":0.100000,"vector_map":1.000000,"vector_precision_at_10":0.100000,"unrounded_map":1.000000,"unrounded_precision_at_10":0.100000}' '' \
    -- "$NIGH" eval ranked -q --output jsonl "${simhash[@]}" --judgements qrels texts.jsonl
printf 'q 0 a\n' > bad
expect 2 '' "nigh: 'bad', line 1: not QUERY, 0, DOCUMENT and GRADE" \
    -- "$NIGH" eval ranked -q "${simhash[@]}" --judgements bad texts.jsonl
: > empty
expect 1 'documents	0	0	0.000000	0.000000	0.000000	0.000000	0.000000	0.000000	0.000000	0.000000	0.000000	0.000000' '' \
    -- "$NIGH" eval ranked -q --output tsv "${simhash[@]}" --judgements empty texts.jsonl

# Statistics; nothing to compare.
expect 0 ANY '' -- "$NIGH" eval signatures -q --stats stats.json "${simhash[@]}" texts.jsonl
python3 - << 'END' || fail 'stats.json'
import json
stats = json.load(open("stats.json"))
assert (stats["command"], stats["documents"], stats["pairs"], stats["alike"]) == ("eval", 3, 3, 1), stats
END
expect 1 ANY '' -- "$NIGH" eval signatures -q --limit 1 "${simhash[@]}" texts.jsonl

# Wrong use.
expect 2 '' "nigh eval: say what to measure: signatures, ranked, duplicates, psm, nearest, learned or terms
$hint" -- "$NIGH" eval
expect 2 '' "nigh eval: there is signatures, ranked, duplicates, psm, nearest, learned and terms, not 'texts.jsonl'
$hint" -- "$NIGH" eval texts.jsonl
expect 2 '' "nigh eval: unknown command 'eval rankd'; did you mean 'eval ranked'?
$hint" -- "$NIGH" eval rankd texts.jsonl
# The table is that of the second word; an option is looked for in the others.
expect 2 '' "nigh eval: --judgements comes after 'ranked'
$hint" -- "$NIGH" eval --judgements qrels ranked texts.jsonl
expect 2 '' "nigh eval: --plot comes after 'signatures', 'psm', 'nearest', 'learned' or 'terms'
$hint" -- "$NIGH" eval --plot=p.svg
expect 2 '' "nigh eval signatures: -k goes with 'nearest'
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures -k 3 texts.jsonl
expect 2 '' "nigh eval nearest: --text-key goes with 'signatures', 'ranked', 'duplicates', 'psm', 'learned' and 'terms'
try 'nigh eval nearest --help'" -- "$NIGH" eval nearest --text-key t c.nigh
expect 0 "$(cat once)" '' -- "$NIGH" eval -q --output=tsv signatures texts.jsonl
expect 2 '' "nigh eval signatures: no INPUT given; '-' is standard input
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures
expect 2 '' "nigh eval signatures: --cosine takes a number above 0 and up to 1, not '90'
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures --cosine 90 texts.jsonl
expect 2 '' "nigh eval signatures: --truth goes by labels, and leaves no --cosine to ask for
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures --cosine 0.5 --truth pairs.tsv texts.jsonl
expect 2 '' "nigh eval signatures: --jaccard goes with --truth
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures --jaccard 0.5 texts.jsonl
expect 2 '' "nigh eval ranked: no --judgements given
try 'nigh eval ranked --help'" -- "$NIGH" eval ranked texts.jsonl
expect 2 '' "nigh eval signatures: --judgements goes with 'ranked'
try 'nigh eval signatures --help'" -- "$NIGH" eval signatures --judgements qrels texts.jsonl
expect 2 '' "nigh eval ranked: --plot goes with 'signatures', 'psm', 'nearest', 'learned' and 'terms'
try 'nigh eval ranked --help'" -- "$NIGH" eval ranked --judgements qrels --plot p.svg texts.jsonl
# Documents are measured as a whole.
expect 2 '' ANY -- "$NIGH" eval signatures --split hard texts.jsonl
contains .err "nigh eval signatures: unknown option '--split'"

finish
