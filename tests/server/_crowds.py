# SPDX-License-Identifier: Apache-2.0
"""Crowds that mean no good, and what honest clients notice of them.

A crowd comes, honest clients ask beside it, and the crowd goes.  How long an honest client waits is held against how
long it waits where there is no crowd, in the same run; what the server takes of memory against what it may take."""

import http.client
import json
import resource
import select
import socket
import threading
import time
import urllib.request

from _beside import Beside

NEWS = "/v1/collections/news"
SEEN = "/v1/collections/seen"


def raise_file_limit(wanted):
    """Connections of both sides are files; how many there can be."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = max(soft, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def resident_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        fields = dict(line.split(":", 1) for line in file if ":" in line)
    return int(fields["RssAnon"].split()[0]) * 1024  # without mapped files, which the system may take back


class Watch(Beside):
    """The most memory that a process took while this was watching."""

    def __init__(self, process):
        super().__init__()
        self.process, self.most = process, 0

    def go(self):
        while not self.ending.wait(0.02):
            self.most = max(self.most, resident_bytes(self.process))


def connect(server):
    return socket.create_connection((server.host, server.port), timeout=60)


def head(path, *more):
    return "\r\n".join((f"POST {path} HTTP/1.1", "Host: localhost", *more, "", "")).encode()


class Crowd(Beside):
    """Something that many connections do until it is over; `turn` is called again and again, for all of them."""

    def __init__(self, server, count, first=b"", turn=None, pause=0.0):
        super().__init__()
        self.sockets = []
        self.turn, self.pause = turn, pause
        for _ in range(count):
            one = connect(server)
            if first:
                one.sendall(first)
            one.setblocking(False)
            self.sockets.append(one)

    def go(self):
        while self.turn and not self.ending.is_set():
            begun = time.monotonic()
            for one in self.sockets:
                try:
                    self.turn(one)
                except (BlockingIOError, OSError):
                    pass  # it was turned away, or does not take more just now
            self.ending.wait(max(0.001, self.pause - (time.monotonic() - begun)))

    def __exit__(self, *_):
        super().__exit__()
        for one in self.sockets:
            one.close()


def ask_often(server, seconds, clients=4, bodies=None):
    """Seconds that each of many searches took, sorted; honest clients are answered with 200."""
    times, wrong = [], []
    until = time.monotonic() + seconds

    def ask(number):
        connection = server.connection()
        while time.monotonic() < until:
            number += 7
            begun = time.perf_counter()
            connection.request("POST", NEWS + "/search", json.dumps({"id": f"d{number % 50}", "k": 5}))
            answer = connection.getresponse()
            answer.read()
            times.append(time.perf_counter() - begun)
            if answer.status != 200:
                wrong.append(answer.status)
            time.sleep(0.002)  # as people do; load is not what this is about
        connection.close()

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, f"honest clients were answered with {sorted(set(wrong))}"
    return sorted(times)


def quantile(times, share):
    return times[min(len(times) - 1, int(share * len(times)))]


def flood(server, seconds, clients, path, body):
    """More than can be worked on: how often each status came, and whether each 503 said when to come again."""
    counts, without = {}, []
    until = time.monotonic() + seconds
    lock = threading.Lock()

    def ask():
        connection = server.connection()
        while time.monotonic() < until:
            try:
                connection.request("POST", path, body)
                answer = connection.getresponse()
                answer.read()
            except (OSError, http.client.HTTPException):
                connection.close()
                continue
            with lock:
                counts[answer.status] = counts.get(answer.status, 0) + 1
                if answer.status == 503 and answer.getheader("Retry-After") is None:
                    without.append(answer.status)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not without, "a 503 without Retry-After"
    return counts


def send_body(server, path, pieces):
    """A body of pieces to its end, or until the server has had enough: the status, or None."""
    one = connect(server)
    one.settimeout(60)
    try:
        for piece in pieces:
            one.sendall(piece)
            if select.select([one], [], [], 0)[0]:
                break
        answer = one.recv(65536)
        return int(answer.split()[1]) if answer else None
    except OSError:
        return None
    finally:
        one.close()


def metric(server, name):
    with urllib.request.urlopen(server.address + "metrics", timeout=60) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith(name + " "):
                return float(line.split()[1])
    raise KeyError(name)


def endless(path):
    """A body in chunks that has no end."""
    first = head(path, "Transfer-Encoding: chunked")
    chunk = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    return first, lambda one: one.send(chunk)


def slowly(one):
    one.send(b"a")


def crowds(idle, slow, bodies):
    """Name, connections, what they send first, what then, and how often."""
    first, chunk = endless(NEWS + "/search")
    return [("idle connections", idle, b"", None, 0.0),
            ("clients that send a byte a second", slow, b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", slowly, 1.0),
            ("bodies a byte a second", slow, head(NEWS + "/search", "Content-Length: 100000"), slowly, 1.0),
            ("bodies without end", bodies, first, chunk, 0.02)]
