# SPDX-License-Identifier: Apache-2.0
"""Writes collections from docs/format.md alone, and mends the checksums of damaged ones.

Serves the tests of the reader: it makes what the tool does not make (metadata, sections and feature bits of later
versions), and files that are wrong although every checksum in them is right.  No care is taken for crashes.
"""

import os
import struct

from siphash import siphash
from xxh3 import xxh3_64

U64 = struct.Struct("<Q")
TABLE_ENTRY = struct.Struct("<IIQQQQQ")
HEADER = struct.Struct("<8sIIIIQQQII")  # of a segment and of a manifest, up to the checksum
SIDECAR_HEADER = struct.Struct("<8sIIIIQQIIII")
TEXT_BLOCK = struct.Struct("<QQQII")
MANIFEST_ENTRY = struct.Struct("<QQQQ")
MARK = 0x01020304


def align(length):
    return (length + 63) // 64 * 64


def packed(code, numbers):
    return struct.pack("<%d%s" % (len(numbers), code), *numbers)


def offsets_of(pieces):
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    return offsets


def id_key(ids):
    return siphash(b"".join(ids) + packed("Q", offsets_of(ids)))


def lookup_slots(ids, count=None, key=None):
    if count is None:
        count = 1
        while count <= 2 * len(ids):
            count *= 2
    slots = [0] * count
    for document, name in enumerate(ids):
        hashed = xxh3_64(name) if key is None else siphash(name, key)
        at = (hashed >> 32) % count
        while slots[at] != 0:
            at = (at + 1) % count
        slots[at] = document + 1
    return slots


def signature_sections(signatures, width):
    """Sections 2 to 5: the distinct signatures, who carries them, and back."""
    groups = {}  # keeps the order of first appearance
    for document, signature in enumerate(signatures):
        groups.setdefault(signature, []).append(document)
    row_of = {signature: row for row, signature in enumerate(groups)}
    row_size = (width + 63) // 64 * 8
    return [
        (2, len(groups), b"".join(signature.ljust(row_size, b"\0") for signature in groups)),
        (3, len(groups) + 1, packed("I", offsets_of(list(groups.values())))),
        (4, len(signatures), packed("I", [document for group in groups.values() for document in group])),
        (5, len(signatures), packed("I", [row_of[signature] for signature in signatures])),
    ]


def text_sections(texts, block_length=65536):
    """Sections 14 to 16 with codec 0; a block ends with the text with which it comes to `block_length` bytes."""
    offsets = offsets_of(texts)
    joined = b"".join(texts)
    begins = [0]
    for offset in offsets:
        if offset - begins[-1] >= block_length:
            begins.append(offset)
    if begins[-1] != len(joined):
        begins.append(len(joined))
    entries = b""
    for begin, end in zip(begins, begins[1:]):
        entries += TEXT_BLOCK.pack(begin, begin, xxh3_64(joined[begin:end]), 0, 0)
    entries += TEXT_BLOCK.pack(begins[-1], begins[-1], 0, 0, 0)
    return [
        (14, len(offsets), packed("Q", offsets)),
        (15, len(begins), entries),
        (16, len(joined), joined),
    ]


def key_section(keys):
    """Section 17, of as many keys for each document."""
    numbers = []
    for first in range(0, len(keys), 4096):
        together = keys[first : first + 4096]
        numbers += [own[band] for band in range(len(keys[0])) for own in together]
    return (17, len(numbers), packed("I", numbers))


def values_bytes(rows, keys=None):
    """Section 21 of documents that have these values, an int, a float, bytes or None, under each key."""
    heads, columns = b"", b""
    for column in list(zip(*rows)) or [()] * keys:
        kinds = [sorted({value for value in column if type(value) is kind}) for kind in (int, float, bytes)]
        values = [value for kind in kinds for value in kind]
        texts = b"".join(kinds[2])
        heads += struct.pack("<4IQ", *map(len, kinds), 0, len(texts))
        columns += packed("q", kinds[0]) + packed("d", kinds[1])
        columns += packed("Q", offsets_of(kinds[2])) if kinds[2] else b""
        columns += texts.ljust(-(-len(texts) // 8) * 8, b"\0")
        width = 0 if not values else 1 if len(values) < 256 else 2 if len(values) < 65536 else 4
        codes = b"".join((0 if value is None else values.index(value) + 1).to_bytes(width, "little") for value in column)
        columns += codes.ljust(-(-len(codes) // 8) * 8, b"\0")
    return U64.pack(len(heads) // 24) + heads + columns


def segment_sections(documents, width, scheme, weights, vocabulary, model, keyed):
    """`documents` are (id, signature, metadata); id and metadata are None in all or in none of them.  `weights` are
    bytes for each document, `vocabulary` and `model` are bytes; None: the segment has none.
    `keyed`: the id lookup has a key.
    """
    ids = [name for name, _, _ in documents if name is not None]
    metadata = [attached for _, _, attached in documents if attached is not None]
    sections = [(1, len(scheme), scheme)]
    sections += signature_sections([signature for _, signature, _ in documents], width)
    if ids:
        joined = b"".join(ids)
        key = id_key(ids) if keyed else None
        slots = lookup_slots(ids, key=key)
        sections.append((6, len(ids) + 1, packed("Q", offsets_of(ids))))
        sections.append((7, len(joined), joined))
        sections.append((8, len(slots), packed("I", slots)))
        if keyed:
            sections.append((18, 1, U64.pack(key)))
    if metadata:
        joined = b"".join(metadata)
        sections.append((9, len(metadata) + 1, packed("Q", offsets_of(metadata))))
        sections.append((10, len(joined), joined))
    if weights is not None:
        sections.append((11, len(weights), b"".join(weights)))
    if vocabulary is not None:
        sections.append((12, len(vocabulary), vocabulary))
    if model is not None:
        sections.append((13, len(model), model))
    return sections


def segment_bytes(
    documents,
    width,
    scheme=None,
    weights=None,
    vocabulary=None,
    model=None,
    more_sections=(),
    other_sections=(),
    compatible_features=0,
    incompatible_features=0,
    keyed=False,
):
    """A whole segment.  Sections are (type, count, bytes): `more_sections` come after those that follow from the
    documents, `other_sections` in place of those of their type.
    """
    if scheme is None:
        scheme = b"bits=%d\nkind=signatures\n" % width
    others = {section[0]: section for section in other_sections}
    usual = segment_sections(documents, width, scheme, weights, vocabulary, model, keyed)
    sections = [others.get(section[0], section) for section in usual]
    sections += more_sections
    table = b""
    body = b""
    for kind, count, content in sections:
        table += TABLE_ENTRY.pack(kind, 0, 4096 + len(body), len(content), count, xxh3_64(content), 0)
        body += content.ljust(align(len(content)), b"\0")
    length = 4096 + len(body) + 64
    distinct = len({signature for _, signature, _ in documents})
    features = (compatible_features, incompatible_features | (2 if keyed else 0))
    head = HEADER.pack(b"\x89NIGHS\r\n", 1, MARK, *features, length, len(documents), distinct, width, len(sections))
    checksum = U64.pack(xxh3_64(head + table))
    footer = b"NIGHEND\n" + U64.pack(length) + checksum
    return (head + checksum + table).ljust(4096, b"\0") + body + footer.ljust(64, b"\0")


def manifest_bytes(sequence, width, segments, compatible_features=0, deletions=None, order=None):
    """`segments` maps numbers to the bytes of segments, `deletions` to (number, bytes, deleted) of what is deleted of
    them; either that or an `order` of the segments makes the manifest a living one."""
    entries = b""
    documents = 0
    living = deletions is not None or order is not None
    for number in order or sorted(segments):
        content = segments[number]
        count = U64.unpack_from(content, 32)[0]
        documents += count
        entries += MANIFEST_ENTRY.pack(number, len(content), count, U64.unpack_from(content, 56)[0])
        if living:
            own, gone, deleted = (deletions or {}).get(number, (0, None, 0))
            known = (len(gone), deleted, U64.unpack_from(gone, 56)[0]) if own else (0, 0, 0)
            entries += MANIFEST_ENTRY.pack(own, *known)
    following = max([*segments, *(own for own, _, _ in (deletions or {}).values())], default=0) + 1
    head = HEADER.pack(
        b"\x89NIGHM\r\n", 1, MARK, compatible_features, int(living), sequence, following, documents, width, len(segments)
    )
    return head + U64.pack(xxh3_64(head + entries)) + entries


def manifest_path(directory, sequence):
    return os.path.join(directory, "manifest-%020d" % sequence)


def segment_path(directory, number):
    return os.path.join(directory, "segment-%020d" % number)


def deleted_path(directory, number):
    return os.path.join(directory, "deleted-%020d" % number)


def number_bytes(number):
    """Seven bits a byte, the lowest first."""
    parts = b""
    while number >= 128:
        parts += bytes([number % 128 + 128])
        number //= 128
    return parts + bytes([number])


def runs_bytes(deleted):
    """A set of documents as runs."""
    content, end = b"", 0
    for first in sorted(deleted):
        if first < end:
            continue
        length = 1
        while first + length in deleted:
            length += 1
        content += number_bytes(2 * (first - end) + (length > 1))
        content += number_bytes(length - 2) if length > 1 else b""
        end = first + length
    return content


def bitmap_bytes(deleted, documents):
    return sum(1 << document for document in deleted).to_bytes(-(-documents // 64) * 8, "little")


def deleted_bytes(segment, form, content):
    return sidecar_bytes(segment, 255, form, [(1, len(content), content)], 0)


def slices_path(directory, number):
    return os.path.join(directory, "slices-%020d" % number)


def columns_path(directory, number):
    return os.path.join(directory, "columns-%020d" % number)


def tables_path(directory, number):
    return os.path.join(directory, "tables-%020d" % number)


def write_file(path, content):
    with open(path, "wb") as stream:
        stream.write(content)


def read_file(path):
    with open(path, "rb") as stream:
        return bytearray(stream.read())


def write_collection(directory, width, segments, sequence=1):
    """`segments` are the bytes of segments; they get the numbers from 1."""
    os.mkdir(directory)
    numbered = dict(enumerate(segments, 1))
    for number, content in numbered.items():
        write_file(segment_path(directory, number), content)
    write_file(manifest_path(directory, sequence), manifest_bytes(sequence, width, numbered))


def sections_of(segment):
    """Type to (offset of the table entry, offset, length), as the table has them."""
    result = {}
    for i in range(struct.unpack_from("<I", segment, 52)[0]):
        at = 64 + 48 * i
        kind, _, offset, length = struct.unpack_from("<IIQQ", segment, at)
        result[kind] = (at, offset, length)
    return result


def mend_segment(segment):
    """Makes all checksums of a segment right again, where its table still makes sense."""
    for at, offset, length in sections_of(segment).values():
        if offset + length <= len(segment):
            U64.pack_into(segment, at + 32, xxh3_64(bytes(segment[offset : offset + length])))
    table_end = 64 + 48 * min(struct.unpack_from("<I", segment, 52)[0], 84)
    checksum = xxh3_64(bytes(segment[:56] + segment[64:table_end]))
    U64.pack_into(segment, 56, checksum)
    U64.pack_into(segment, len(segment) - 48, checksum)


def mend_texts(segment):
    """Makes the checksums of blocks of texts right again, where they lie inside."""
    sections = sections_of(segment)
    if 15 not in sections or 16 not in sections:
        return
    (_, entries, length), (_, offset, bytes_length) = sections[15], sections[16]
    if entries + length > len(segment) or offset + bytes_length > len(segment):
        return
    for at in range(entries, entries + length - 63, 32):
        begin, end = U64.unpack_from(segment, at + 8)[0], U64.unpack_from(segment, at + 40)[0]
        if begin <= end <= bytes_length:
            U64.pack_into(segment, at + 16, xxh3_64(bytes(segment[offset + begin : offset + end])))


def slice_bits(width, slices):
    return [width // slices + (i < width % slices) for i in range(slices)]


def slice_numbers(rows, width, slices):
    """The numbers of section 1 of slice lists; the rows are signatures as numbers."""
    numbers = []
    first_bit = 0
    for bits in slice_bits(width, slices):
        lists = [[] for _ in range(2**bits)]
        for row, signature in enumerate(rows):
            lists[signature >> first_bit & (2**bits - 1)].append(row)
        numbers += offsets_of(lists) + [row for rows_of_value in lists for row in rows_of_value]
        first_bit += bits
    return numbers


def column_bytes(rows, width):
    """Section 1 of columns; the rows are signatures as numbers."""
    content = b""
    for first in range(0, len(rows), 1024):
        own = rows[first : first + 1024]
        turned = [sum((row >> bit & 1) << i for i, row in enumerate(own)) for bit in range(width)]
        content += b"".join(column.to_bytes(128, "little") for column in turned + [0, 2**1024 - 1])
    return content


def rows_of(segment):
    """The signatures of a segment as numbers, and their width."""
    width = struct.unpack_from("<I", segment, 48)[0]
    size = (width + 63) // 64 * 8
    _, offset, length = sections_of(segment)[2]
    return [int.from_bytes(segment[at : at + size], "little") for at in range(offset, offset + length, size)], width


def slices_bytes(segment, slices, more_sections=(), compatible_features=0):
    """The file of slice lists of a segment; sections of other types may stand before and behind the lists."""
    numbers = slice_numbers(*rows_of(segment), slices)
    lists = (1, len(numbers), packed("I", numbers))
    return sidecar_bytes(segment, 1, slices, [lists, *more_sections], compatible_features)


def columns_bytes(segment, super_rows=1024, more_sections=(), compatible_features=0):
    """The file of columns of a segment, the same."""
    rows, width = rows_of(segment)
    columns = (1, -(-len(rows) // 1024), column_bytes(rows, width))
    return sidecar_bytes(segment, 3, super_rows, [columns, *more_sections], compatible_features)


def cut_bits(row, bits):
    """The number of some bits of a row, the lowest first."""
    return sum((row >> bit & 1) << i for i, bit in enumerate(bits))


def table_parts(rows, bits, last, form):
    """The starts of a table, the rows in its order, and their numbers; `last` is how often the end is told."""
    numbers = sorted(range(len(rows)), key=lambda number: (cut_bits(rows[number], bits), number))
    values = [cut_bits(rows[number], bits) for number in numbers]
    starts = [sum(value < wanted for value in values) for wanted in range(2 ** len(bits))] + [len(rows)] * last
    return packed("I", starts), [form(rows[number]) for number in numbers], packed("I", numbers)


def folded(row):
    words = [row >> shift & 0xFFFFFFFF for shift in range(0, 1024, 32)]
    result = 0
    for word in words:
        result ^= word
    return result


def permuted_table(rows, width, blocks, chosen, bits):
    """A table of the rows that agree in the blocks chosen."""
    shares = [bits // len(chosen) + (i < bits % len(chosen)) for i in range(len(chosen))]
    firsts = [width * block // blocks for block in chosen]
    taken = [first + i for first, share in zip(firsts, shares) for i in range(share)]
    starts, keys, numbers = table_parts(rows, taken, 2, folded)
    return [starts, packed("I", keys), numbers]


def sorted_table(rows, width, first, bits):
    taken = [(first + i) % width for i in range(bits)]
    offsets, own, numbers = table_parts(rows, taken, 1, lambda row: row)
    return [offsets, packed("Q", own), numbers] if width == 64 else [offsets, numbers]


def tables_bytes(segment, facts, more_sections=(), compatible_features=0):
    """The file of tables of a segment; `facts` are its eight numbers."""
    rows, width = rows_of(segment)
    form, count, bits, _, blocks, leading, _, _ = facts
    if form == 1:
        choices = [[i for i in range(blocks) if choice >> i & 1] for choice in range(2**blocks)]
        chosen = [choice for choice in choices if len(choice) == leading]
        tables = [permuted_table(rows, width, blocks, choice, bits) for choice in chosen]
    else:
        tables = [sorted_table(rows, width, width * i // count, bits) for i in range(count)]
    content = b"".join(part.ljust(align(len(part)), b"\0") for table in tables for part in table)
    sections = [(1, 1, packed("I", facts)), (2, count, content), *more_sections]
    return sidecar_bytes(segment, 4, count, sections, compatible_features)


def sidecar_bytes(segment, sidecar_kind, parameter, sections, compatible_features):
    """A file beside a segment; `sections` are (type, count, content)."""
    sections = sorted(sections)
    table, body, at = b"", b"", 4096
    for kind, count, content in sections:
        table += TABLE_ENTRY.pack(kind, 0, at, len(content), count, xxh3_64(content), 0)
        body += content.ljust(align(len(content)), b"\0")
        at = 4096 + len(body)
    own = U64.unpack_from(segment, 56)[0]
    head = SIDECAR_HEADER.pack(
        b"\x89NIGHX\r\n", 1, MARK, compatible_features, 0, at + 64, own, sidecar_kind, parameter, len(sections), 0
    )
    checksum = U64.pack(xxh3_64(head + table))
    front = (head + checksum + table).ljust(4096, b"\0")
    return front + body + (b"NIGHEND\n" + U64.pack(at + 64) + checksum).ljust(64, b"\0")


def mend_slices(sidecar):
    """Makes all checksums of a file of slice lists right again, where its table still makes sense."""
    entries = min(struct.unpack_from("<I", sidecar, 48)[0], 84)
    for at in range(64, 64 + 48 * entries, 48):
        offset, length = struct.unpack_from("<QQ", sidecar, at + 8)
        if offset + length <= len(sidecar):
            U64.pack_into(sidecar, at + 32, xxh3_64(bytes(sidecar[offset : offset + length])))
    checksum = xxh3_64(bytes(sidecar[:56] + sidecar[64 : 64 + 48 * entries]))
    U64.pack_into(sidecar, 56, checksum)
    U64.pack_into(sidecar, len(sidecar) - 48, checksum)


def mend_manifest(manifest):
    U64.pack_into(manifest, 56, xxh3_64(bytes(manifest[:56] + manifest[64:])))


def mend_collection(directory, sequence):
    """Mends the segments of a manifest and what the manifest says about them."""
    path = manifest_path(directory, sequence)
    manifest = read_file(path)
    for at in range(64, len(manifest), 32):
        name = segment_path(directory, U64.unpack_from(manifest, at)[0])
        segment = read_file(name)
        mend_segment(segment)
        write_file(name, segment)
        manifest[at + 24 : at + 32] = segment[56:64]
    mend_manifest(manifest)
    write_file(path, manifest)
