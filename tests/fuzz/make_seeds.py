#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the seeds of the signature formats, tables, JSON arrays and patterns into seeds/, next to this script.

The seeds are committed; run this again only to add one.
"""
import pathlib
import struct


def npy(text, body, version=1):
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + body


def header(dtype="'|u1'", order="False", shape="(2, 8)"):
    return f"{{'descr': {dtype}, 'fortran_order': {order}, 'shape': {shape}, }}"


def topsig(version, names, width=64, longest=15):
    size = 84 if version == 1 else 88
    file = struct.pack("<5i", size, version, longest, width, 21)
    if version == 2:
        file += struct.pack("<i", 0)
    file += b"TRADITIONAL".ljust(64, b"\0")
    for number, name in enumerate(names):
        file += name.ljust(longest + 1, b"\0") + struct.pack("<8i", *range(8)) + bytes([number]) * (width // 8)
    return file


ROWS = bytes(range(16))
SEEDS = {
    "csv": {
        "plain": b"id,text\na,one two\nb,three\n",
        "quoted": b'id,text\n1,"a, b"\n2,"a ""b"" c"\n3,"two\nlines"\n',
        "semicolons": b"id;text;more\r\n1;one;\r\n2;;two\r\n",
        "tabs": b"id\ttext\n1\tone\n\t\n2\ttwo\textra\n",
        "mark": b"\xef\xbb\xbfid,text\n1,one",
        "open_quote": b'id,text\n1,"never\nclosed\n',
        "short_rows": b"id,text\n1\n\n   \n,,,,\n2,two\n",
        "same_names": b"id,id,text,text\n1,2,one,two\n",
        "bad_bytes": b"id,t\xffxt,text\n1,\xc3,\x00\x01\\\n",
        "after_quote": b'id,text\n1,"one"two\n2, "three" \n',
        "header_alone": b"id,text",
        "as_long_as_may_be": b"t\n" + b"w" * (4096 - len('{"t":""}')) + b"\n" + b"w" * (4097 - len('{"t":""}')) + b"\n",
        "long_field": b"id,text\n1," + b"word " * 1000 + b"\n2,two\n",
    },
    "serve": {
        "get": b"GET /v1/collections HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "two": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "chunks": b"POST /v1/collections/texts/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                  b"10\r\n{\"text\": \"river\"\r\n1\r\n}\r\n0\r\n\r\n",
        "document": b"GET /v1/collections/texts/documents/fl%6fod?x=1&y HTTP/1.1\r\nHost: [::1]:7700\r\nX-Request-Id: a\r\n\r\n",
        "stranger": b"OPTIONS /v1/collections HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
        "expects": b"POST /v1/collections/rows/dedup HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
        "old": b"HEAD / HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: keep-alive\r\n\r\n",
        "none": b"\xff\xfe\r\n\r\n",
        "text": b'\0{"text": "the river in the town", "k": 2, "exact": true, "texts": true}',
        "id": b'\0{"id": "storm", "radius": 900, "where": "year > 3"}',
        "queries": b'\0{"queries": [{"text": "storm"}, {"id": "flood"}, {"text": "\\u00e9"}], "k": 1000}',
        "signature": b'\1{"signature": "00ff00ff00ff00ff", "radius": 64}',
        "base64": b'\1{"signature_base64": "AAECAwQFBgc=", "k": 1}',
        "deep": b"\1" + b"[" * 40 + b"]" * 40,
        "against": b'\2{"id": "a", "text": "the river flooded the old town"}\n{"id": "a"}\n\nx\n',
        "against_rows": b'\3{"signature": "00ff00ff00ff00ff", "metadata": {"a": [1, 2.5e3, null]}}\n{"signature": ""}\n',
        "dedup": b'\4{"id": "a", "text": "one two three"}\n{"id": "b", "text": "one two three"}\n',
        "dedup_rows": b'\5{"signature": "00ff00ff00ff00ff"}\n{"signature": "00ff00ff00ff00fe"}\n',
        "adds": b'\6{"id": "a", "text": "nothing can be added"}\n',
        "nothing": b"\2",
        "nothing_in_it": b'\2{"id": ""}',
    },
    "ignore": {
        "plain": b"*.log\n!keep.log\n/build\ntmp/\n\0x/keep.log",
        "folders": b"a/**/b\n**/c\nd/**\n\0a/x/y/b",
        "classes": b"[a-z]?[!0-9]\n[]]\n[\n\\*\n\0ab-",
        "stars": b"*a*a*a*a*a*b\n\0" + b"a" * 200,
        "ends": b"# comment\n\\#x\n  \nx \\ \n!\n/\n//\n\r\n\0x",
    },
    "json_array": {
        "plain": b'[{"id": "a", "text": "one two"}, {"id": "b", "text": "three"}]\n',
        "lines": b'[\n  {\n    "id": 1,\n    "text": "a [b] {c} \\"d\\""\n  },\n  {"text": "no id"}\n]\n',
        "no_array": b'{"text": "one"} {"text": "two"}\n{"text": "three"}',
        "nested": b'[[{"text": "in"}], {"text": {"text": []}}, "x", 1, null, {}, []]',
        "mark": b'\xef\xbb\xbf [{"text": "one"}]',
        "cut": b'[{"text": "one"}, {"text": "tw',
        "two_marks": b"\xef\xbb\xbf\xef\xbb\xbf",
        "as_long_as_may_be": b'[{"t":"' + b"w" * (4096 - len('{"t":""}')) + b'"}]',
        "open_array": b'[{"text": "one"},',
        "behind": b'[{"text": "one"}] {"text": "two"}',
        "commas": b'[,,{"text": "one"},,,{"text": "two"},]',
        "brackets": b'[}{"text": "one"}]]',
        "escapes": b'[{"text": "\\\\"}, {"text": "\\u0041\\ud83d\\ude00\\ud83d"}, {"te\\u0078t": "x"}]',
        "line_break": b'[{"text": "a\nb"}, {"text": "c"}]',
        "deep": b"[" * 600 + b"]" * 600,
        "long": b'[{"text": "' + b"word " * 1000 + b'"}, {"text": "two"}]',
    },
    "npy": {
        "plain": npy(header().ljust(117) + "\n", ROWS),
        "version2": npy(header(), ROWS, 2),
        "version3": npy(header(), ROWS, 3),
        "empty": npy(header(shape="(0, 8)"), b""),
        "spelled": npy('{"shape":(2L,8,),"fortran_order":False,"descr":"u1"}', ROWS),
        "float": npy(header(dtype="'<f4'"), ROWS),
        "half": npy(header("'<f2'", shape="(3, 8)"), bytes(range(48))),
        "single": npy(header("'<f4'", shape="(4, 8)"), struct.pack("<32f", *(i * i / 7 - 50 for i in range(32)))),
        "double": npy(header("'<f8'", shape="(2, 8)"), struct.pack("<16d", *(i - 8 for i in range(16)))),
        "columns": npy(header("'<f4'", shape="(3, 5)"), struct.pack("<15f", *(i - 7 for i in range(15)))),
        "padded": npy(header(), bytes(7) + b"\x7f" + bytes(7) + b"\x80"),
        "nan": npy(header("'<f4'", shape="(1, 8)"), struct.pack("<8f", *[0.5] * 7, float("nan"))),
        "infinite": npy(header("'<f4'", shape="(2, 8)"), struct.pack("<16f", *[float("inf"), float("-inf")] * 8)),
        "fields": npy(header(dtype="[('a', '|u1'), ('b', [('c', '<f4')])]"), ROWS),
        "fortran": npy(header(order="True"), ROWS),
        "flat": npy(header(shape="(16,)"), ROWS),
        "huge": npy(header(shape="(18446744073709551615, 8192)"), ROWS),
        "cut": npy(header(), ROWS[:11]),
        "more": npy(header(), ROWS + b"x"),
    },
    "u8bin": {
        "plain": struct.pack("<II", 2, 8) + ROWS,
        "empty": struct.pack("<II", 0, 8),
        "huge": struct.pack("<II", 0xFFFFFFFF, 8192) + ROWS,
        "cut": struct.pack("<II", 2, 8) + ROWS[:11],
        "more": struct.pack("<II", 2, 8) + ROWS + b"x",
    },
    "hex": {
        "plain": b"0011223344556677\nfedcba9876543210\n",
        "padded": b"00112233445566ff\nfedcba987654327f\n",
        "ids": b"first\t0011223344556677\nsecond one\tFEDCBA9876543210",
        "crlf": b"a\t00ff\r\nb\tff00\r\n\r\n\n",
        "blank": b"00ff\n\nff00\n",
        "odd": b"00ff\n00f\n",
        "letter": b"00ff\n00fg\n",
        "widths": b"00ff\n00\n",
        "mixed": b"a\t00ff\n00ff\n",
        "tabs": b"a\tb\t00ff\n",
        "nul": b"a\0b\t00ff\n",
    },
    "topsig": {
        "version1": topsig(1, [b"one", b"two"]),
        "version2": topsig(2, [b"one", b"two", b"three"]),
        "empty": topsig(2, []),
        "endless": topsig(2, [b"x" * 16]),
        "nameless": topsig(2, [b""]),
        "wide": topsig(2, [b"w"], width=1024, longest=3),
        "cut": topsig(2, [b"one"])[:-3],
    },
}

for kind, files in SEEDS.items():
    folder = pathlib.Path(__file__).parent / "seeds" / kind
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
