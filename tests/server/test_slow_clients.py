#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh serve beside clients that send a byte now and then, connections that say nothing, bodies without end."""

import socket
import threading
import time
import unittest

from _serving import SLOW, Server, nigh, text_of, write_lines

NEWS = "/v1/collections/news"


class SlowClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        write_lines("news.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(50)])
        nigh("index", "-q", "news.nigh", "news.jsonl")

    def raw(self, server):
        return socket.create_connection((server.host, server.port), timeout=60)

    def closed_within(self, connection, seconds, send=b""):
        """Whether the other side closes, while a byte goes out now and then."""
        until = time.monotonic() + seconds
        connection.settimeout(0.2)
        while time.monotonic() < until:
            try:
                if send:
                    connection.send(send)
                if connection.recv(4096) == b"":
                    return True
            except TimeoutError:
                pass
            except OSError:
                return True
        return False

    def test_heads_and_bodies_that_take_too_long(self):
        with Server("news.nigh", "--idle-time", "1", "--body-time", "1") as server:
            head = self.raw(server)
            head.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            body = self.raw(server)
            body.send(b"POST " + NEWS.encode() + b"/search HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
            idle = self.raw(server)
            for connection, byte in ((head, b"a"), (body, b" "), (idle, b"")):
                self.assertTrue(self.closed_within(connection, 15 * SLOW, byte))
                connection.close()
            self.assertEqual(server.post(NEWS + "/search", {"id": "d1"}).status, 200)

    def test_a_body_without_end(self):
        with Server("news.nigh", "--max-body", "64K") as server:
            endless = self.raw(server)
            endless.send(b"POST " + NEWS.encode() + b"/search HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                for _ in range(1000):
                    endless.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
                ended = self.closed_within(endless, 15)
            except OSError:
                ended = True
            self.assertTrue(ended)
            endless.close()

    def test_heads_that_are_too_large(self):
        with Server("news.nigh", "--max-header", "4K", "--idle-time", "1") as server:
            large = self.raw(server)
            large.send(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Large: " + b"a" * 100000 + b"\r\n\r\n")
            self.assertIn(large.recv(100).split()[1:2], ([b"431"], [b"413"], [b"414"]))
            large.close()
            for nonsense in (b"\0\1\2\3\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n",
                             b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n"):
                connection = self.raw(server)
                connection.send(nonsense)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(4096)
                connection.close()
            self.assertEqual(server.get("/healthz").status, 200)

    def test_many_that_send_little(self):
        """Honest clients are answered beside 200 that send a byte at a time, and 300 that send nothing."""
        with Server("news.nigh") as server:
            slow = [self.raw(server) for _ in range(200)]
            idle = [self.raw(server) for _ in range(300)]
            ending = threading.Event()

            def dribble():
                text = iter(b"GET / HTTP/1.1\r\nX: " + b"a" * 10000)
                while not ending.wait(0.05):
                    byte = bytes([next(text)])
                    for connection in slow:
                        connection.send(byte)

            thread = threading.Thread(target=dribble)
            thread.start()
            connection = server.connection()
            for number in range(100):
                self.assertEqual(server.post(NEWS + "/search", {"id": f"d{number % 50}"}, connection=connection).status, 200)
            connection.close()
            ending.set()
            thread.join()
            for connection in slow + idle:
                connection.close()


if __name__ == "__main__":
    unittest.main()
