#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inputs made to take all memory, all time or all disk: a message that names the file, and little of either.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

mkdir tmp in
export TMPDIR=$PWD/tmp

python3 - << 'PYTHON' || exit 2
import gzip, io, tarfile, zipfile, zlib
million = 1000000

def write(name, *parts):
    with open("in/" + name, "wb") as file:
        for part in parts:
            file.write(part)

good = b'{"id":"good","text":"a few good words"}\n'
for times, size in (("", million), ("-four", 4 * million)):
    write(f"brackets{times}.jsonl", good.replace(b"good\"", b"early\""), b"[" * size, b"\n", good)
    write(f"tags{times}.html", b"<html><body>", b"<b>" * size, b"deep")
write("arrays.jsonl", b'{"text":', b"[" * million, b"]" * million, b"}\n", good)
write("objects.jsonl", b'{"a":' * million, b"1", b"}" * million, b"\n", good)
write("closed.html", b"<html><body>", b"<div>" * million, b"deep words", b"</div>" * million)
write("attributes.html", b"<html><body><p", b" a=b" * million, b">words")
write("angles.html", b"<html><body>", b"<" * million, b" words")
write("marks.txt", b"e", "\u0301\u0323".encode() * million, b" words")
write("word.txt", b"w" * (8 * million), b" words")

# A gibibyte of zeros: blocks that stand for 16 MiB each, 64 of them in one stream; and as 64 streams.
zeros = bytes(1 << 24)
packer = zlib.compressobj(9, zlib.DEFLATED, -15)
block = packer.compress(zeros) + packer.flush(zlib.Z_FULL_FLUSH)
checksum = 0
for _ in range(64):
    checksum = zlib.crc32(zeros, checksum)
write("zeros.gz", bytes.fromhex("1f8b08000000000000ff"), *[block] * 64, b"\3\0", checksum.to_bytes(4, "little"),
      (1 << 30).to_bytes(4, "little"))
write("members.gz", *[gzip.compress(zeros, 9)] * 64)
# A zstd frame whose header asks for a window of 2 GiB, and one block: a byte, a thousand times.
write("window.zst", bytes.fromhex("28b52ffd00a8"), (1 | 1 << 1 | 1000 << 3).to_bytes(3, "little"), b"x")

with zipfile.ZipFile("in/zeros.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
    for number in range(2):
        archive.writestr(f"{number}.txt", bytes(1 << 26))
with tarfile.open("in/many.tar.gz", "w:gz") as archive:
    for number in range(2000):
        archive.addfile(tarfile.TarInfo(f"{number}.txt"), io.BytesIO(b""))
# A member that says it has an exabyte, in a tar that ends.
info = tarfile.TarInfo("huge.txt")
info.size = 1 << 60
write("huge.tar", info.tobuf(tarfile.GNU_FORMAT), b"words " * 100)
PYTHON

on_disk() { find in tmp \( -type d -printf '%p\n' \) -o -printf '%p %y %s %T@\n' | sort; }

# defused EXIT MESSAGE INPUT [OPTION]...: as expect; with little memory, and nothing left on the disk.
defused() {
    local code=$1 message=$2 before memory
    shift 2
    before=$(on_disk)
    expect "$code" ANY ANY -- python3 "$NIGH_SOURCE_DIR/tests/cli/_peak.py" peak "$NIGH" sign --scheme simhash "$@"
    contains .err "$message"
    read -r memory seconds < peak
    # A sanitizer keeps what was freed.
    [[ -n ${NIGH_SANITIZE-} ]] || ((memory < 512 << 20)) || fail "$memory bytes of memory for: $*"
    [[ $(on_disk) == "$before" ]] || fail "something was left on the disk by: $*"
}

for threads in 1 2; do
    defused 0 "nigh: skipped: 'in/brackets.jsonl', line 2: " in/brackets.jsonl --threads $threads
    compare 'the lines around' $'early\t'"$(cut -f2 .out | head -1)"$'\ngood\t'"$(cut -f2 .out | tail -1)" .out
    defused 0 "nigh: skipped: 'in/arrays.jsonl', line 1: nested deeper than 512" in/arrays.jsonl --threads $threads
    defused 0 "nigh: skipped: 'in/objects.jsonl', line 1: nested deeper than 512" in/objects.jsonl --threads $threads
    defused 1 "nigh: skipped: 'in/tags.html', offset 0: nested deeper than 512" in/tags.html --threads $threads
    defused 1 "nigh: skipped: 'in/closed.html', offset 0: nested deeper than 512" in/closed.html --threads $threads
    defused 2 "nigh: 'in/zeros.gz', offset " in/zeros.gz --threads $threads
    contains .err 'unpacks to more than 1000 times its size'
    contains .err '; --max-expansion allows no more'
done
defused 0 '' in/attributes.html
defused 0 '' in/angles.html
defused 0 '' in/marks.txt
defused 0 '' in/word.txt

# However it is read.
for format in plain lines jsonl html warc trec; do
    defused 2 "nigh: 'in/zeros.gz', offset " in/zeros.gz --format $format
done
defused 2 "nigh: 'in/members.gz', offset " in/members.gz
expect 2 '' ANY -- from in/zeros.gz "$NIGH" sign --scheme simhash -
contains .err 'unpacks to more than 1000 times its size'
defused 2 "nigh: 'in/zeros.zip" in/zeros.zip
defused 2 "nigh: 'in/window.zst', offset 0: " in/window.zst
contains .err 'too much memory'
defused 2 "nigh: 'in/many.tar.gz" in/many.tar.gz --max-members 1000
contains .err 'more than 1000 members; --max-members allows no more'
defused 2 "nigh: 'in/huge.tar" in/huge.tar
defused 1 "nigh: skipped: 'in/huge.tar" in/huge.tar --allow-loss

# One of them among good files ends the command, and a collection is not made; --strict ends it sooner.
expect 2 '' ANY -- "$NIGH" index c.nigh in/word.txt in/zeros.gz in/marks.txt
contains .err "nigh: 'in/zeros.gz', offset "
expect 2 '' ANY -- "$NIGH" index c.nigh --strict in/brackets.jsonl
contains .err "nigh: 'in/brackets.jsonl', line 2: "
[[ -e c.nigh ]] && fail 'a collection was made'
[[ -z $(ls tmp) ]] || fail 'something was left'

# With more allowed, it is read to the end.
defused 1 "nigh: skipped: 'in/zeros.gz'" in/zeros.gz --max-expansion 2000

# Four times the bomb takes four times as long, not sixteen.
for bomb in brackets.jsonl tags.html; do
    seconds=
    "$NIGH" sign -q --scheme simhash "in/$bomb" > /dev/null # warms up
    defused "$([[ $bomb == tags.html ]] && echo 1 || echo 0)" '' "in/$bomb"
    once=$seconds
    defused "$([[ $bomb == tags.html ]] && echo 1 || echo 0)" '' "in/${bomb/./-four.}"
    checks=$((checks + 1))
    awk "BEGIN { exit !($seconds < 8 * $once + 2) }" || fail "$bomb: $once s, and $seconds s for four times as much"
done

finish
