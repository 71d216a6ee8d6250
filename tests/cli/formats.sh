#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every format in and out again, from files, pipes and standard input.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

"$NIGH" generate -q -n 300 --bits 72 -o a.npy || fail generate
for format in u8bin raw hex; do
    "$NIGH" generate -q -n 300 --bits 72 -o "a.$format" || fail generate
done
"$NIGH" index -q whole.nigh a.npy || fail index
"$NIGH" export -q whole.nigh -o whole.hex || fail export
same a.hex whole.hex

for format in npy u8bin raw hex; do
    bits=()
    [[ $format == raw ]] && bits=(--bits 72)
    # By name, by --format, through a pipe, through standard input, from a fifo.
    expect 0 '' '' -- "$NIGH" index -q "$format.nigh" "a.$format" "${bits[@]}"
    cp "a.$format" nameless
    expect 0 '' '' -- "$NIGH" index -q "$format-said.nigh" nameless --format "$format" "${bits[@]}"
    expect 0 '' '' -- piped "a.$format" "$NIGH" index -q "$format-piped.nigh" - --format "$format" "${bits[@]}"
    expect 0 '' '' -- from "a.$format" "$NIGH" index -q "$format-stdin.nigh" - --format "$format" "${bits[@]}"
    mkfifo fifo
    cat "a.$format" > fifo &
    expect 0 '' '' -- "$NIGH" index -q "$format-fifo.nigh" fifo --format "$format" "${bits[@]}"
    wait
    rm fifo
    for way in '' -said -piped -stdin -fifo; do
        diff -r whole.nigh "$format$way.nigh" > /dev/null || fail "$format$way.nigh is not whole.nigh"
    done
    # Out again: to a file, to standard output, and through what is no plain file.
    expect 0 '' "wrote 300 documents to out.$format; # s (#/s)" -- "$NIGH" export whole.nigh -o "out.$format"
    same "a.$format" "out.$format"
    "$NIGH" export -q whole.nigh -o - --format "$format" > "stdout.$format" || fail 'export to standard output'
    same "a.$format" "stdout.$format"
    "$NIGH" export -q whole.nigh -o /dev/stdout --format "$format" > "device.$format" || fail 'export to /dev/stdout'
    same "a.$format" "device.$format"
    : > target
    ln -s target "link.$format"
    "$NIGH" export -q whole.nigh -o "link.$format" || fail 'export through a link'
    [[ -L link.$format ]] || fail 'the link was replaced'
    same "a.$format" target
    "$NIGH" generate -q -n 300 --bits 72 --format "$format" -o - > "generated.$format" || fail 'generate to standard output'
    same "a.$format" "generated.$format"
done

# What says itself what it is needs no name.
for format in npy u8bin hex; do
    cp "a.$format" nameless
    expect 0 '' '' -- "$NIGH" index -q "$format-found.nigh" nameless
    diff -r whole.nigh "$format-found.nigh" > /dev/null || fail "$format was not recognised"
done
for format in npy hex; do
    expect 0 '' '' -- from "a.$format" "$NIGH" index -q "$format-found-stdin.nigh" -
    diff -r whole.nigh "$format-found-stdin.nigh" > /dev/null || fail "$format was not recognised on standard input"
done

# The reference for .npy is NumPy's own description of it.
python3 - << 'PYTHON' || fail 'a.npy is not what NumPy writes'
import ast
data = open("a.npy", "rb").read()
assert data[:8] == b"\x93NUMPY\x01\x00"
length = int.from_bytes(data[8:10], "little")
header = ast.literal_eval(data[10:10 + length].decode("latin-1"))
assert header == {"descr": "|u1", "fortran_order": False, "shape": (300, 9)}, header
assert (10 + length) % 64 == 0 and data[10 + length - 1] == 10
rows = data[10 + length:]
assert rows == open("a.raw", "rb").read() and len(rows) == 2700
assert rows.hex() == open("a.hex").read().replace("\n", "")
assert open("a.u8bin", "rb").read() == (300).to_bytes(4, "little") + (9).to_bytes(4, "little") + rows
PYTHON

# TopSig's files are read, not written.
python3 - << 'PYTHON'
import struct
with open("t.sig", "wb") as file:
    file.write(struct.pack("<5i", 84, 1, 15, 64, 21) + b"TRADITIONAL".ljust(64, b"\0"))
    for name, row in ((b"one", b"\0" * 8), (b"two", b"\1" + b"\0" * 7)):
        file.write(name.ljust(16, b"\0") + struct.pack("<8i", *range(8)) + row)
PYTHON
expect 0 '' "added 2 documents (2 distinct) to 'topsig.nigh', which now has 2; # s (#/s)" -- "$NIGH" index topsig.nigh t.sig
expect 0 $'one\t0000000000000000\ntwo\t0100000000000000' '' -- "$NIGH" export -q topsig.nigh -o -
expect 2 '' ANY -- "$NIGH" export -q topsig.nigh -o t2.sig
[[ -e t2.sig || -e t2.sig.nigh.tmp ]] && fail 'a file was left'

# An ending that says nothing is asked about, not guessed.
expect 2 '' "nigh: 'out.xyz': the name does not end in that of a signature format, such as .npy" \
    -- "$NIGH" export whole.nigh -o out.xyz
expect 2 '' "nigh: 'a.raw': raw signatures do not say how wide they are; give --bits" -- "$NIGH" index raw2.nigh a.raw
cp a.raw upper.RAW
expect 2 '' "nigh: 'upper.RAW': raw signatures do not say how wide they are; give --bits" -- "$NIGH" index raw2.nigh upper.RAW
expect 2 '' "nigh: 'standard input': raw signatures do not say how wide they are; give --bits" \
    -- from a.raw "$NIGH" index raw2.nigh --format raw -
# But where the collection knows its width, it is known.
expect 0 '' '' -- "$NIGH" index -q raw.nigh a.raw
expect 0 ANY '' -- "$NIGH" search -q raw.nigh a.raw

# Endings mean the same in any case, also where the file is written through.
ln -s target upper.NPY
expect 0 '' '' -- "$NIGH" export -q whole.nigh -o upper.NPY
same a.npy target
ln -s target link.sig
expect 2 '' "nigh: 'link.sig': TopSig files are read but not written" -- "$NIGH" export -q whole.nigh -o link.sig
expect 2 '' "nigh: '': cannot create: the path is empty" -- "$NIGH" export -q whole.nigh -o ''
expect 2 '' "nigh: '': cannot open: No such file or directory" -- "$NIGH" export -q whole.nigh -o x.npy --ids ''
[[ -e .tmp || -e x.npy ]] && fail 'a file was left'

# A pipe that is never opened to the end leaves nothing behind.
expect 2 '' "nigh: 'missing/x.npy.nigh.tmp': cannot create: No such file or directory" -- "$NIGH" export whole.nigh -o missing/x.npy

# Bits that are not packed are no signatures: said, with the way out.
if python3 -c 'import numpy' 2> /dev/null; then
    python3 - << 'END'
import numpy
bits = numpy.random.default_rng(1).integers(0, 2, (20, 64), dtype=numpy.uint8)
numpy.save("bits.npy", bits)
numpy.save("truth.npy", bits.astype(bool))
numpy.save("packed.npy", numpy.packbits(bits, axis=1))
numpy.save("zero.npy", numpy.zeros((20, 64), dtype=numpy.uint8))
END
    expect 2 '' "nigh: 'bits.npy': holds nothing but 0 and 1, a byte for each bit; pack them with numpy.packbits(array, axis=1)" \
        -- "$NIGH" index unpacked.nigh bits.npy
    expect 2 '' "nigh: 'truth.npy': holds truth values, a byte for each bit; pack them with numpy.packbits(array, axis=1)" \
        -- "$NIGH" index unpacked.nigh truth.npy
    [[ -e unpacked.nigh ]] && fail 'a collection was made'
    expect 0 '' '' -- "$NIGH" index -q packed.nigh packed.npy
    expect 0 '' '' -- "$NIGH" index -q zero.nigh zero.npy
fi

finish
