#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tier: full
# Peak memory by command on documents of 16 MiB, all of whose words differ, with two threads: what SECURITY.md says.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

[[ -n ${NIGH_SANITIZE:-} ]] && { echo 'skipped: sanitizers need memory of their own'; exit 77; }

python3 - << 'END' || exit 2
import json
words, size = [], 0
while size < (16 << 20) - 40:
    words.append(f"word{len(words):x}")
    size += len(words[-1]) + 1
with open("large.jsonl", "w") as file:
    for number in range(3):
        file.write(json.dumps({"id": str(number), "text": " ".join(words)}) + "\n")
END

# within MIB COMMAND...
within() {
    local limit=$1 bytes seconds
    shift
    expect 0 ANY ANY -- python3 "$NIGH_SOURCE_DIR/tests/cli/_peak.py" peak "$NIGH" "$@" --threads 2
    read -r bytes seconds < peak
    echo "$((bytes >> 20)) of $limit MiB, $seconds s: $*"
    [[ $((bytes >> 20)) -le $limit ]] || fail "$((bytes >> 20)) MiB and not $limit at most: $*"
}

within 512 sign large.jsonl -o a.hex
within 512 sign large.jsonl -o b.hex --scheme simhash
within 512 sign large.jsonl -o c.hex --scheme minhash
within 512 index c.nigh large.jsonl
within 512 search c.nigh large.jsonl
within 512 dedup large.jsonl -o kept.jsonl
within 512 dedup large.jsonl -o kept.jsonl --method simhash
within 1024 terms index t.terms large.jsonl
within 512 terms search t.terms wordff --verify

finish
