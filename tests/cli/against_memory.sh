#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Millions of matches against a collection or chunks, within --memory: all are given, the same as with plenty of it, and
# the peak is that of a run without matches and what --memory says.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

[[ -n ${NIGH_SANITIZE:-} ]] && { echo 'skipped: sanitizers need memory of their own'; exit 77; }

python3 - << 'END' || exit 2
import itertools
import random
random.seed(1)
base = 0x0123456789abcdef

def write(name, rows):
    with open(name, "w") as file:
        for number, row in enumerate(rows):
            file.write("%s%d\t%016x\n" % (name[0], number, row))

# Copies of one, on both sides.
write("copies.hex", [base] * 1500)
write("more.hex", [base ^ 1] * 1400)
# 2,016 that all differ from each other, and 1,000 that are within 3 bits of each of them.
near = [base ^ 1 << a ^ 1 << b for a, b in itertools.combinations(range(64), 2)]
write("near.hex", near)
write("queries.hex", [base ^ (1 << random.randrange(64) if n % 3 else 0) for n in range(1000)])
# As many that match nothing.
write("far.hex", [random.getrandbits(64) for _ in range(2000)])
END

# peak NAME ARGUMENT...: the bytes of a run, whose output has the checksum NAME.sum.
peak() {
    local name=$1
    shift
    python3 "$NIGH_SOURCE_DIR/tests/cli/_peak.py" bytes "$NIGH" against -q --threads 2 --output tsv "$@" > out.tsv || fail "$*"
    cksum < out.tsv > "$name.sum"
    wc -l < out.tsv > "$name.count"
    cut -d ' ' -f 1 bytes
}

# within MIB PLACE INPUT OPTION...
within() {
    local limit=$1 place=$2 input=$3 least most
    shift 3
    least=$(peak least "$place" far.hex "$@" --memory "${limit}M")
    peak plenty "$place" "$input" "$@" --memory 4G > /dev/null
    most=$(peak little "$place" "$input" "$@" --memory "${limit}M")
    checks=$((checks + 1))
    same plenty.sum little.sum
    [[ $(cat little.count) -ge 2000000 ]] || fail "$(cat little.count) matches: $place $input $*"
    echo "$((most >> 20)) MiB, $((least >> 20)) without matches, --memory ${limit}M: $place $input $*"
    [[ $most -le $((least + (limit << 20))) ]] || fail "$((most >> 20)) MiB: $place $input $*"
}

for name in copies near; do
    "$NIGH" index -q $name.nigh $name.hex || fail index
done
# Chunks take what matches nothing; so a file of copies is made of single ones.
"$NIGH" against -q -r 0 --add near.chunks near.hex > /dev/null || fail against
within 8 copies.nigh more.hex -r 3
within 8 near.nigh queries.hex -r 3 --method tables
within 8 near.nigh queries.hex -r 3 --method scan
within 8 near.chunks queries.hex -r 3
within 8 near.chunks queries.hex -r 3 --method scan

finish
