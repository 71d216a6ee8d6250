# SPDX-License-Identifier: Apache-2.0
"""What tests of nigh serve share: a server on a free port, and a client of the standard library."""

import http.client
import json
import os
import signal
import subprocess
import sys

NIGH = os.environ["NIGH"]
SLOW = 20 if os.environ.get("NIGH_SANITIZE") else 1  # a sanitizer takes its time


def nigh(*arguments, **options):
    """Runs the tool; fails where it does."""
    done = subprocess.run([NIGH, *arguments], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"nigh {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def write_lines(path, documents):
    with open(path, "w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(document) + "\n")


class Answer:
    """A response: status, headers, bytes; and as JSON or lines of it."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.bytes = response.read()

    @property
    def json(self):
        return json.loads(self.bytes)

    @property
    def lines(self):
        return [json.loads(line) for line in self.bytes.splitlines()]


class Server:
    """nigh serve on a port of its own; ended when the block is left."""

    def __init__(self, *arguments, prefix=(), **options):
        self.errors = open("serve.err", "a+", encoding="utf-8")
        self.process = subprocess.Popen([*prefix, NIGH, "serve", "--listen", "127.0.0.1:0", *arguments],
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True, **options)
        self.address = self.process.stdout.readline().strip()
        if not self.address.startswith("http://"):
            self.process.wait()
            self.errors.seek(0)
            raise RuntimeError(f"it did not start: {self.errors.read()}")
        self.host, port = self.address.removeprefix("http://").rstrip("/").rsplit(":", 1)
        self.port = int(port)

    def connection(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None, connection=None):
        """One request; a body that is no string or bytes goes as JSON, a list as lines of it."""
        if isinstance(body, list):
            body = "".join(json.dumps(item) + "\n" for item in body)
        elif isinstance(body, dict):
            body = json.dumps(body)
        own = connection or self.connection()
        own.request(method, path, body=body.encode() if isinstance(body, str) else body, headers=headers or {})
        answer = Answer(own.getresponse())
        if connection is None:
            own.close()
        return answer

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def end(self, how=signal.SIGTERM):
        """Ends it; the exit code."""
        self.process.send_signal(how)
        code = self.process.wait(timeout=60)
        self.process.stdout.close()
        self.errors.close()
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            code = self.end()
            if kind is None and code != 0:
                raise RuntimeError(f"it ended with exit code {code}")


WORDS = ("flood valley river storm bridge market school doctor engine garden winter summer music paper light train "
         "station window letter silver mountain harbour painter village island forest museum kitchen").split()


def text_of(number, words=40):
    """A text of words that hardly occurs twice."""
    state = number * 2654435761 % 4294967296 + 1
    out = []
    for _ in range(words):
        state = (state * 1103515245 + 12345) % 2147483648
        out.append(WORDS[(state >> 8) % len(WORDS)] + str(state >> 20 & 31))
    return " ".join(out)
