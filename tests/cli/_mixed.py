# SPDX-License-Identifier: Apache-2.0
"""Usage: _mixed.py N   writes N documents of mixed kinds to in/, some malformed parts among them, and how many to counts."""
import gzip
import io
import json
import os
import random
import sys
import tarfile
import zipfile

generator = random.Random(2024)
WORDS = [a + b + c for a in ("al", "be", "cor", "da", "el", "for") for b in ("ra", "sti", "mo", "ne", "lu") for c in
         ("n", "ning", "s", "ly", "ted", "r", "ment", "tion")] + "the of and in naïve Straße 東京都 данные ไทย don't x86 2024".split()
recent = []


def make_text():
    """Mostly new, sometimes a text from before with a word changed: near-copies, in another kind of file."""
    if recent and generator.random() < 0.2:
        words = generator.choice(recent).split()
        words[generator.randrange(len(words))] = generator.choice(WORDS)
        return " ".join(words)
    length = generator.choice((3, 10, 40, 40, 100)) if generator.random() > 0.001 else 20000
    text = " ".join(generator.choices(WORDS, k=length))
    recent.append(text)
    del recent[:-200]
    return text


def make_page(text):
    return f"<html><head><title>{text[:20]}</title><script>no</script></head><body><p>{text}</p></body></html>".encode()


def json_lines(count, path):
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        for number in range(count):
            file.write(json.dumps({"id": f"json-{number}", "text": make_text()}, ensure_ascii=number % 2 == 0) + "\n")
            if number % 5000 == 17:
                file.write('{"id": "broken", "text": "\n')  # counted as malformed
            if number % 5000 == 18:
                file.write('{"id": "silent"}\n')  # counted as without text


def trec(count, path):
    with open(path, "w", encoding="utf-8") as file:
        for number in range(count):
            file.write(f"<DOC>\n<DOCNO>trec-{number}</DOCNO>\n<TEXT>\n{make_text()}\n</TEXT>\n</DOC>\n")


def pages(count, tar_path, zip_path):
    with tarfile.open(tar_path, "w:xz", preset=0) as archive, zipfile.ZipFile(zip_path, "w", zipfile.ZIP_DEFLATED) as packed:
        for number in range(count):
            data = make_page(make_text())
            if number % 2 == 0:
                info = tarfile.TarInfo(f"page-{number}.html")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
            else:
                packed.writestr(f"page-{number}.html", data)


def warc(count, path):
    with open(path, "wb") as file:
        for number in range(count):
            body = make_page(make_text())
            if number % 2:
                http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            else:
                http = (b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
                        b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n")
            head = (f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://example.org/{number}\r\n"
                    f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n").encode()
            file.write(gzip.compress(head + http + b"\r\n\r\n", 1))


def files(count, folder):
    for number in range(count):
        path = f"{folder}/{number // 100}/{number}.txt"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(make_text().replace(" ", "\n", 3))


def main():
    count = int(sys.argv[1])
    parts = {"json": count * 45 // 100, "trec": count * 20 // 100, "pages": count * 15 // 100, "warc": count * 15 // 100}
    parts["files"] = count - sum(parts.values())
    os.makedirs("in", exist_ok=True)
    json_lines(parts["json"], "in/a.jsonl.gz")
    trec(parts["trec"], "in/b.trec")
    pages(parts["pages"], "in/c.tar.xz", "in/d.zip")
    warc(parts["warc"], "in/e.warc.gz")
    files(parts["files"], "in/f")
    broken = len(range(17, parts["json"], 5000))
    silent = len(range(18, parts["json"], 5000))
    with open("counts", "w", encoding="ascii") as file:
        file.write(f"{broken} {silent}\n")


main()
