#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# nigh dedup on a crowd: what --budget and --pairs-limit leave out is told, and nothing else changes an answer.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

# A template of 100 words with one to three of them replaced in each of 600 documents, and 40 copies of one text.
python3 - << 'END' > crowd.jsonl || fail 'no documents'
import json, random
rng = random.Random(3)
template = ["word%d" % i for i in range(100)]
for i in range(600):
    words = list(template)
    for _ in range(rng.randint(1, 3)):
        words[rng.randrange(100)] = "other%d" % rng.randrange(10**9)
    print(json.dumps({"id": i, "text": " ".join(words)}))
for i in range(40):
    print(json.dumps({"id": 600 + i, "text": " ".join("copy%d" % w for w in range(50))}))
END

count() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" stats.json; }

# Pairs: the list is complete up to the limit, and what is kept does not depend on it.
expect 0 '' ANY -- "$NIGH" dedup crowd.jsonl -o all.jsonl --pairs all.pairs --stats stats.json
[[ $(count pairs_cut) == 0 && $(count pairs_untold) == 0 ]] || fail 'some are left out below the limit'
grep -q 'not looked at\|left out' .err && fail 'it says that some are left out'
all=$(count pairs)
[[ $all == $(wc -l < all.pairs) ]] || fail 'not as many pairs as it says'
[[ $all -gt 5000 ]] || fail "only $all pairs of a crowd"
expect 0 '' ANY -- "$NIGH" dedup crowd.jsonl -o some.jsonl --pairs some.pairs --pairs-limit 2000 --stats stats.json
same all.jsonl some.jsonl
some=$(count pairs)
[[ $some -gt 600 && $some -lt 5000 ]] || fail "$some pairs, with a limit of 2,000 to list only"
[[ $(count pairs_cut) -gt 0 && $(count pairs_untold) == 741 ]] || fail "cut $(count pairs_cut), untold $(count pairs_untold)"
[[ $((some + $(count pairs_cut) + 741)) -ge $all ]] || fail 'fewer are told of than are left out'
contains .err '741 pairs of copies were left out: of many copies of one text only those with the first are listed'
grep -q '^warning: up to [0-9,]* pairs of large groups were not looked at, so --pairs does not have all' .err ||
    fail "$(cat .err)"
# What is listed is a part of all, in the same order.
diff all.pairs some.pairs | grep -q '^>' && fail 'a pair that was not there'
expect 0 '' '' -- "$NIGH" dedup -q crowd.jsonl --pairs again.pairs --pairs-limit 2000 --threads 4 --memory 1M
same some.pairs again.pairs

# The budget: said where it is reached; whatever goes is a near-copy all the same.
kept=$(wc -l < all.jsonl)
for method in minhash exact simhash; do
    expect 0 '' ANY -- "$NIGH" dedup --method $method --budget 1000000 crowd.jsonl -o whole.jsonl --stats stats.json
    [[ $(count truncated) == 0 ]] || fail "$method: truncated within the budget"
    grep -q 'see --budget' .err && fail "$method: it says that some may be left"
    expect 0 '' ANY -- "$NIGH" dedup --method $method --budget 20 crowd.jsonl -o cut.jsonl --stats stats.json
    [[ $(count truncated) -gt 0 ]] || fail "$method: not truncated"
    grep -q '^warning: [0-9,]* groups\{0,1\} w[aser]* too large to compare all of them.*see --budget$' .err ||
        fail "$method: $(cat .err)"
    [[ $(wc -l < cut.jsonl) -ge $kept ]] || fail "$method: more gone than there are near-copies"
    for more in '--threads 1' '--threads 4'; do
        # shellcheck disable=SC2086
        expect 0 '' '' -- "$NIGH" dedup -q --method $method --budget 20 $more crowd.jsonl -o again.jsonl
        same cut.jsonl again.jsonl
    done
done
for method in minhash simhash; do
    expect 0 '' '' -- "$NIGH" dedup -q --method $method --budget 20 crowd.jsonl -o large.jsonl
    expect 0 '' '' -- "$NIGH" dedup -q --method $method --budget 20 --memory 1M crowd.jsonl -o small.jsonl
    same large.jsonl small.jsonl
done

# Wrong use.
expect 2 '' "nigh dedup: --pairs-limit goes with --pairs, where all are listed
try 'nigh dedup --help'" -- "$NIGH" dedup crowd.jsonl -o x --pairs-limit 5
expect 2 '' "nigh dedup: --pairs-limit goes with --pairs, where all are listed
try 'nigh dedup --help'" -- "$NIGH" dedup crowd.jsonl --pairs x --pairs-per-cluster tree --pairs-limit 5
for option in --pairs-limit --budget; do
    for bad in 0 -1 x ''; do
        expect 2 '' ANY -- "$NIGH" dedup crowd.jsonl --pairs x "$option=$bad"
        contains .err "nigh dedup: $option "
    done
done

finish
