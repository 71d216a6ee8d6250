# SPDX-License-Identifier: Apache-2.0
"""
The same pages in many clothes, for same_documents.sh:

    _pages.py make           texts/, site/ (HTML), pages.jsonl and its compressions, pages.trec, pages.zip, pages.tar...
    _pages.py serve FILE     serves site/ on a free port, which goes to FILE; every other page in chunks
"""
import bz2
import gzip
import http.server
import html
import io
import json
import lzma
import os
import random
import sys
import tarfile
import zipfile

COUNT = 40
WORDS = """river mountain bridge signal letter garden window winter running runners quickly houses citizen machine
           language grammar compiler kernel vector matrix planet orbit comet harbour sailor voyage copper silver
           naïve café straße Übung Ωmega λόγος привет слово 東京都 データ 한국어 ภาษาไทย don't re-use 3rd 2024 x86""".split()
ENCODINGS = ("utf-8", "utf-8", "iso-8859-1", "utf-16")


def make_page(number):
    """Title and paragraphs; those that go out in Latin-1 have no other letters."""
    generator = random.Random(number)
    encoding = ENCODINGS[number % len(ENCODINGS)]
    words = [word for word in WORDS if encoding != "iso-8859-1" or word.encode("latin-1", "replace").decode("latin-1") == word]
    title = " ".join(generator.choices(words, k=4)) + " & co"
    paragraphs = [" ".join(generator.choices(words, k=generator.randint(5, 60))) + " <not> a tag." for _ in range(4)]
    return title, paragraphs, encoding


def make_html(number):
    title, paragraphs, encoding = make_page(number)
    body = "".join(f"<p class='x{i}'>{html.escape(p).replace(' a ', '&nbsp;a&#32;', 1)}</p>\n" for i, p in enumerate(paragraphs))
    # UTF-16 tells itself by its mark; the others say what they are.
    meta = "" if encoding == "utf-16" else f'<meta charset="{encoding}">'
    text = (f"<!DOCTYPE html><html><head>{meta}<title>{html.escape(title)}</title><style>p {{ hidden: words }}</style>"
            f"<script>var invisible = '<p>words</p>';</script></head><body><!-- not <b>this</b> -->\n{body}"
            "<template>nor this</template><div hidden>or that</div></body></html>")
    return text.encode(encoding)


def add_file(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def write(name, data):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as file:
        file.write(data)


def make():
    lines, deep, trec = [], [], []
    packed = zipfile.ZipFile("pages.zip", "w", zipfile.ZIP_DEFLATED)
    archive = tarfile.open("pages.tar", "w")
    for number in range(COUNT):
        name = f"page-{number:02}"
        title, paragraphs, _ = make_page(number)
        text = title + "\n\n" + "\n\n".join(paragraphs) + "\n"
        page = make_html(number)
        write(f"texts/{name}.txt", text.encode())
        write(f"site/{name}.html", page)
        lines.append(json.dumps({"id": name, "text": text}))  # with \u escapes
        deep.append(json.dumps({"meta": {"name": name}, "page": {"body": text, "more": [1, {"x": None}]}}, ensure_ascii=False))
        trec.append(f"<DOC>\n<DOCNO> {name} </DOCNO>\n<TITLE>{html.escape(title)}</TITLE>\n<TEXT>\n"
                    + "\n".join(html.escape(p) for p in paragraphs) + "\n</TEXT>\n</DOC>\n")
        packed.writestr(f"{name}.html", page)
        add_file(archive, f"deep/er/{name}.html", page)
    packed.close()
    archive.close()
    data = ("\n".join(lines) + "\n").encode()
    write("pages.jsonl", data)
    for ending, pack in (("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)):
        write(f"pages.jsonl.{ending}", pack(data))
    write("deep.jsonl", "\n".join(deep).encode())  # without a newline at the end
    write("crlf.jsonl", data.replace(b"\n", b"\r\n"))
    write("pages.trec", "".join(trec).encode())
    with open("pages.tar", "rb") as file:
        write("pages.tar.gz", gzip.compress(file.read()))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        with open("site" + self.path, "rb") as file:
            data = file.read()
        chunked = int(self.path[6:8]) % 2 == 1
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if chunked:
            data = b"".join(b"%x\r\n%s\r\n" % (len(data[i:i + 100]), data[i:i + 100]) for i in range(0, len(data), 100)) + b"0\r\n\r\n"
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def serve(path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(path + ".tmp", "w", encoding="ascii") as file:
        file.write(f"{server.server_port}\n")
    os.rename(path + ".tmp", path)
    server.serve_forever()


if sys.argv[1] == "make":
    make()
else:
    serve(sys.argv[2])
