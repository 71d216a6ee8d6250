#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Files of other kinds and other versions: every command that reads refuses
# them, with the same message, and leaves them as they are.
# shellcheck source=/dev/null
. "${BASH_SOURCE[0]%/*}/_lib.sh"

printf 'a\t0000000000000000\nb\t0100000000000000\n' > docs.hex
printf 'c\t0000000000000000\n' > more.hex
"$NIGH" index -q good.nigh docs.hex || fail index
segment='segment-00000000000000000001'
manifest='manifest-00000000000000000001'
[[ -f good.nigh/$segment && -f good.nigh/$manifest ]] || fail 'the files of a collection'

# patched FILE OFFSET BYTES: bad.nigh is good.nigh with these bytes (as of printf) there.
patched() {
    rm -rf bad.nigh
    cp -r good.nigh bad.nigh
    printf '%b' "$3" | dd of="bad.nigh/$1" bs=1 seek="$2" conv=notrunc status=none
}

# sealed FILE ENTRY_SIZE: gives the header a checksum that is right for what it says now.
sealed() {
    python3 - "$NIGH_SOURCE_DIR/tests/oracle" "bad.nigh/$1" "$2" << 'PYTHON' || fail 'no checksum'
import struct, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from xxh3 import xxh3_64
data = bytearray(open(sys.argv[2], "rb").read())
entries = struct.unpack_from("<I", data, 52)[0] * int(sys.argv[3])
struct.pack_into("<Q", data, 56, xxh3_64(bytes(data[:56] + data[64:64 + entries])))
open(sys.argv[2], "wb").write(data)
PYTHON
}

# refused MESSAGE: by all that read, and by the writer.
refused() {
    expect_unchanged bad.nigh 2 '' "nigh: $1" -- "$NIGH" info bad.nigh
    expect_unchanged bad.nigh 2 '' "nigh: $1" -- "$NIGH" search bad.nigh --id a
    expect_unchanged bad.nigh 2 '' "nigh: $1" -- "$NIGH" export bad.nigh -o -
    expect_unchanged bad.nigh 2 '' "nigh: $1" -- "$NIGH" index bad.nigh more.hex
    expect_unchanged bad.nigh 2 ANY "nigh: $1" -- "$NIGH" check bad.nigh
}

patched "$segment" 0 'NOPE'
refused "'bad.nigh/$segment', offset 0: not a nigh segment: wrong magic"
patched "$segment" 8 '\x02'
refused "'bad.nigh/$segment', offset 8: format version 2; this version of nigh reads up to 1"
patched "$segment" 12 '\x01\x02\x03\x04'
refused "'bad.nigh/$segment', offset 12: the endianness mark is wrong"
patched "$segment" 20 '\x04'
sealed "$segment" 48
refused "'bad.nigh/$segment', offset 20: uses features that this version of nigh does not know (bits 0x4)"
patched "$segment" 56 'XXXXXXXX'
refused "'bad.nigh/$segment', offset 56: the header fails its checksum"
patched "$manifest" 0 'NOPE'
refused "'bad.nigh/$manifest', offset 0: not a nigh manifest: wrong magic"
patched "$manifest" 8 '\x02'
refused "'bad.nigh/$manifest', offset 8: format version 2; this version of nigh reads up to 1"
patched "$manifest" 20 '\x04'
sealed "$manifest" 32
refused "'bad.nigh/$manifest', offset 20: uses features that this version of nigh does not know (bits 0x4)"
patched "$manifest" 56 'XXXXXXXX'
refused "'bad.nigh/$manifest', offset 56: the manifest fails its checksum"

finish
