#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The same bytes for any number of threads, any kernel and any batch.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

for bits in 64 136 1024; do
    "$NIGH" generate -q -n 3000 --bits "$bits" -o a.npy
    "$NIGH" generate -q -n 3000 --bits "$bits" --queries 100 -o q.npy
    rm -rf c.nigh
    # Two segments, and in the second everything again: ties everywhere.
    for _ in 1 2; do
        "$NIGH" index -q c.nigh a.npy || fail index
    done
    for ask in '-k 10' "--radius $((bits / 3))" "-k 3 --radius $((bits / 4))"; do
        # shellcheck disable=SC2086 # two words and more
        NIGH_KERNEL=generic "$NIGH" search -q --threads 1 $ask --output tsv c.nigh q.npy > expected
        [[ -s expected ]] || fail "nothing found: $bits bits, $ask"
        for kernel in $(kernels); do
            for threads in 1 2 3 7; do
                checks=$((checks + 1))
                # shellcheck disable=SC2086
                NIGH_KERNEL=$kernel "$NIGH" search -q --threads $threads --batch $((threads * 9)) $ask --output tsv \
                    c.nigh q.npy > got || fail "search: $kernel, $threads threads"
                cmp -s expected got || fail "other answer: $bits bits, $ask, $kernel, $threads threads"
            done
        done
    done
done

# The same collection, byte for byte, whatever it was made with.
"$NIGH" index -q --threads 1 one.nigh a.npy
"$NIGH" index -q --threads 3 three.nigh a.npy
diff -r one.nigh three.nigh || fail 'collections differ'
checks=$((checks + 1))

# Exact means exact: an independent count agrees.
"$NIGH" generate -q -n 200 --bits 64 -o small.hex
"$NIGH" index -q small.nigh small.hex
"$NIGH" search -q -k 20 --output tsv small.nigh small.hex | cut -f 1-4 > got
python3 - << 'PYTHON' > expected || fail python
rows = [int(line, 16) for line in open("small.hex")]
for query, a in enumerate(rows):
    near = sorted((bin(a ^ b).count("1"), document) for document, b in enumerate(rows))[:20]
    for rank, (distance, document) in enumerate(near, 1):
        print(query, document, distance, rank, sep="\t")
PYTHON
same expected got

finish
