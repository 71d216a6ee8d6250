#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Inputs that are not what they should be: the exact message, exit 2, nothing changed.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf '0000000000000000\n' > good.hex
"$NIGH" index -q c.nigh good.hex || fail index

# refused MESSAGE INPUT [OPTION]...: neither an old collection nor a new one takes it.
refused() {
    local message=$1
    shift
    expect_unchanged c.nigh 2 '' "$message" -- "$NIGH" index c.nigh "$@"
    [[ -e new.nigh ]] && fail 'a collection was there'
    expect 2 '' ANY -- "$NIGH" index new.nigh "$@"
    [[ -e new.nigh ]] && fail 'a collection was made'
}

# refused_here: the same of what is no document to a collection of signatures, but to a new one where nobody says otherwise.
refused_here() {
    local message=$1
    shift
    expect_unchanged c.nigh 2 '' "$message" -- "$NIGH" index c.nigh "$@"
    refused "$message" "$@" --format hex
}

# What picks among documents does not pass over signatures unsaid.
for option in '--limit 1' '--shard 1/2'; do
    whole="nigh: --limit and --shard are for documents, not for signatures"
    # shellcheck disable=SC2086 # an option and its value
    {
        refused "$whole" $option good.hex
        expect 2 '' "$whole" -- "$NIGH" search c.nigh $option good.hex
        expect_unchanged c.nigh 2 '' "$whole" -- "$NIGH" against c.nigh --add --radius 3 $option good.hex
        expect 2 '' "$whole" -- "$NIGH" dedup $option good.hex -o kept.hex
    }
done
[[ -e kept.hex ]] && fail 'a file was written'

# npy HEADER: a NumPy file of eight bytes with that header.
npy() {
    python3 -c '
import sys
header = sys.argv[1].encode() + b" " * 20 + b"\n"
sys.stdout.buffer.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))' "$1"
}

npy "{'descr': '<u8', 'fortran_order': False, 'shape': (1, 1), }" > dtype.npy
npy "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 8), }" > order.npy
npy "{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }" > shape.npy
npy "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 8), }" > good.npy
npy "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 8), }" > short.npy
printf '\x93NUMPY\x01' > cut.npy
for file in dtype order shape short cut; do
    refused ANY "$file.npy"
    contains .err "nigh: '$file.npy'"
done
expect 0 '' '' -- "$NIGH" index -q npy.nigh good.npy

printf '0000000000000000\n00000000000000000\n' > odd.hex
printf '0000000000000000\n000000000000000g\n' > digit.hex
printf '0000000000000000\n00000000\n' > width.hex
printf '0000000000000000\n\n0000000000000000\n' > blank.hex
printf 'a\t0000000000000000\n0000000000000000\n' > mixed.hex
for file in odd digit width blank mixed; do
    refused ANY "$file.hex"
    contains .err "nigh: '$file.hex', line 2: "
done
refused "nigh: 'digit.hex', line 2: 'g' in column 16 is not a hex digit" digit.hex

# Widths.
printf '00\n' > narrow.hex
expect_unchanged c.nigh 2 '' "nigh: 'narrow.hex', line 1: signatures have 8 bits, 64 were asked for
nigh: 'c.nigh' holds signatures of 64 bits" -- "$NIGH" index c.nigh narrow.hex
expect_unchanged c.nigh 2 '' "nigh: 'narrow.hex', line 1: signatures have 8 bits, 64 were asked for
nigh: 'c.nigh' holds signatures of 64 bits" -- "$NIGH" index c.nigh good.hex narrow.hex
expect_unchanged c.nigh 2 '' "nigh: 'c.nigh' holds signatures of 64 bits, not 8" -- "$NIGH" index c.nigh narrow.hex --bits 8
expect 2 '' "nigh: 'good.hex', line 1: signatures have 64 bits, 8 were asked for" -- "$NIGH" index new.nigh good.hex --bits 8
expect 2 '' "nigh: 'narrow.hex', line 1: signatures have 8 bits, 64 were asked for
nigh: 'good.hex' holds signatures of 64 bits" -- "$NIGH" index new.nigh good.hex narrow.hex
: > nothing.hex
expect 2 '' "nigh: 'narrow.hex', line 1: signatures have 8 bits, 64 were asked for
nigh: 'standard input' holds signatures of 64 bits" -- from good.hex "$NIGH" index new.nigh nothing.hex - narrow.hex
[[ -e new.nigh ]] && fail 'a collection was made'

# Not there, not a file, not anything we know.
refused "nigh: 'missing.npy': cannot open: No such file or directory" missing.npy
mkdir directory
refused_here ANY directory
contains .err "nigh: 'directory': "
printf 'certainly no signatures\n' > text
refused_here "nigh: 'text', line 1: 'r' in column 3 is not a hex digit" text
printf 'page-\xc3\xa9\t00zz\n' > text
refused_here "nigh: 'text', line 1: 'z' in column 11 is not a hex digit" text
expect_unchanged c.nigh 2 '' "nigh: 'standard input', line 1: 'z' in column 11 is not a hex digit" \
    -- from text "$NIGH" index c.nigh -
printf '\x7fELF\x02\x01\x01\x00' > binary
expect_unchanged c.nigh 2 '' "nigh: 'binary': not a signature file nigh recognises; give --format" -- "$NIGH" index c.nigh binary
expect 1 '' ANY -- "$NIGH" index new.nigh binary --scheme simhash
contains .err "nigh: skipped: 'binary': looks binary"
[[ -e new.nigh ]] && fail 'a collection was made'
refused ANY binary --format hex
printf '\x01\x00\x00\x00\x08\x00\x00\x0012345678' > matrix
expect_unchanged c.nigh 2 '' "nigh: 'standard input': not a signature file nigh recognises (u8bin cannot be recognised in a stream); give --format" \
    -- from matrix "$NIGH" index c.nigh -
refused "nigh: '': cannot open: the path is empty" ''
refused "nigh: '': cannot open: the path is empty" good.hex --ids ''
printf '\x02\x00\x00\x00\x08\x00\x00\x00' > short.u8bin
refused ANY short.u8bin
contains .err "nigh: 'short.u8bin'"
printf '123' > ragged.raw
refused ANY ragged.raw --bits 64
contains .err "nigh: 'ragged.raw'"

# No collections: a file, a foreign directory; none is touched.
mkdir foreign
echo hello > foreign/file
for command in index search info check export; do
    case $command in
    index) arguments=(good.hex) ;;
    search) arguments=(--id 0) ;;
    export) arguments=(-o -) ;;
    *) arguments=() ;;
    esac
    message="nigh: 'good.hex': not a nigh collection: a collection is a directory"
    [[ $command != info ]] || message="nigh: 'good.hex' is neither a collection nor a model nor a file of chunks"
    expect_unchanged good.hex 2 '' "$message" \
        -- "$NIGH" "$command" good.hex "${arguments[@]}"
    expect_unchanged foreign 2 '' "nigh: 'foreign': not a nigh collection" -- "$NIGH" "$command" foreign "${arguments[@]}"
done
for command in search info check export; do
    arguments=()
    [[ $command == search ]] && arguments=(--id 0)
    [[ $command == export ]] && arguments=(-o -)
    expect 2 '' "nigh: 'nowhere.nigh': cannot open: No such file or directory" -- "$NIGH" "$command" nowhere.nigh "${arguments[@]}"
done
[[ -e nowhere.nigh ]] && fail 'something was made'
expect 2 '' "nigh: 'no/where.nigh': cannot create: No such file or directory" -- "$NIGH" index no/where.nigh good.hex

finish
