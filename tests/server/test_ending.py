#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh serve: starting, ending, tokens, a port in use, a collection deleted under it, a full disk."""

import os
import re
import shutil
import signal
import subprocess
import threading
import time
import unittest

from _serving import NIGH, Server, nigh, text_of, write_lines

SEEN = "/v1/collections/seen"


def fresh(path="seen.nigh", documents=20):
    shutil.rmtree(path, ignore_errors=True)
    write_lines("first.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(documents)])
    nigh("against", "-q", "--add", path, "first.jsonl")


def refused(*arguments):
    """What it says where it does not start; exit 2."""
    done = subprocess.run([NIGH, "serve", *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done
    return done.stderr


class Ending(unittest.TestCase):
    def setUp(self):
        fresh()

    def test_what_does_not_start(self):
        self.assertIn("nothing.nigh", refused("nothing.nigh"))
        self.assertIn("no COLLECTION", refused())
        self.assertIn("--token-file", refused("seen.nigh", "--listen", "0.0.0.0:0"))
        self.assertIn("ADDRESS:PORT", refused("seen.nigh", "--listen", "nonsense"))
        self.assertIn("systemd", refused("seen.nigh", "--listen", "systemd"))
        self.assertIn("name of another", refused("seen.nigh", "./seen.nigh/"))
        with open("tokens", "w", encoding="utf-8") as file:
            file.write("# who may\nshort\n")
        self.assertIn("line 2", refused("seen.nigh", "--token-file", "tokens"))
        with Server("seen.nigh") as server:
            self.assertIn("in use", refused("seen.nigh", "--listen", f"127.0.0.1:{server.port}"))

    def test_term_waits_for_answers(self):
        """What is being answered is answered, what was acknowledged is in a segment, and the lock is free."""
        for how in (signal.SIGTERM, signal.SIGINT):
            fresh()
            server = Server("seen.nigh", "--visible", "60000")
            answered = []

            def add(number, server=server, answered=answered):
                body = [{"id": f"n{number}-{i}", "text": text_of(1000 * number + 100 + i)} for i in range(50)]
                try:
                    answered.append((number, server.post(SEEN + "/find-or-add", body).status))
                except OSError:
                    pass  # it came too late to be let in

            threads = [threading.Thread(target=add, args=(number,)) for number in range(8)]
            for thread in threads:
                thread.start()
            while not answered:
                time.sleep(0.005)
            self.assertEqual(server.end(how), 0)
            for thread in threads:
                thread.join()
            there = set(nigh("export", "-q", "seen.nigh", "--format", "hex", "-o", "-").split())
            for number, status in answered:
                self.assertIn(status, (200, 503))
                if status == 200:
                    self.assertTrue({f"n{number}-{i}" for i in range(50)} <= there, number)
            nigh("index", "-q", "seen.nigh", "first.jsonl")  # nobody has the lock

    def test_ready_and_idle_connections(self):
        """Connections that say nothing do not hold up the end."""
        server = Server("seen.nigh")
        idle = [server.connection() for _ in range(20)]
        for connection in idle:
            connection.connect()
        begun = time.monotonic()
        self.assertEqual(server.end(), 0)
        self.assertLess(time.monotonic() - begun, 20)
        for connection in idle:
            connection.close()

    def test_tokens(self):
        fresh("other.nigh")
        with open("tokens", "w", encoding="utf-8") as file:
            file.write("# all, reading, one collection\nall-all-all-all-0\nread-read-read-0 read\n"
                       "one-one-one-one-0 read collections=seen\n")

        def bearer(token):
            return {"Authorization": f"Bearer {token}"}

        with Server("seen.nigh", "other.nigh", "--token-file", "tokens") as server:
            ask = {"id": "d1", "k": 1}
            for path in ("/", "/healthz", "/readyz", "/openapi.json"):
                self.assertEqual(server.get(path).status, 200, path)
            for path in ("/metrics", "/v1/collections", SEEN, "/v1/collections/sen", "/nowhere"):
                answer = server.get(path)
                self.assertEqual((answer.status, answer.headers["WWW-Authenticate"]), (401, 'Bearer realm="nigh"'), path)
                self.assertNotIn("seen", answer.json["detail"])
            for wrong in ("all-all-all-all-1", "", "all-all-all-all-0x", "all-all-all-all-"):
                self.assertEqual(server.post(SEEN + "/search", ask, headers=bearer(wrong)).status, 401, wrong)
            self.assertEqual(server.post(SEEN + "/search", ask, headers={"Authorization": "Basic YTpi"}).status, 401)
            for token in ("all-all-all-all-0", "read-read-read-0", "one-one-one-one-0"):
                self.assertEqual(server.post(SEEN + "/search", ask, headers=bearer(token)).status, 200, token)
            names = server.get("/v1/collections", headers=bearer("one-one-one-one-0")).json["collections"]
            self.assertEqual([one["name"] for one in names], ["seen"])
            self.assertEqual(server.get("/v1/collections/other", headers=bearer("one-one-one-one-0")).status, 403)
            document = [{"id": "t", "text": text_of(1)}]
            self.assertEqual(server.post(SEEN + "/find-or-add", document, headers=bearer("read-read-read-0")).status, 403)
            self.assertEqual(server.post(SEEN + "/find-or-add", document, headers=bearer("all-all-all-all-0")).status, 200)

    def test_read_only(self):
        with Server("seen.nigh", "--read-only") as server:
            self.assertEqual(server.post(SEEN + "/find-or-add", [{"id": "t", "text": "a b c d e"}]).status, 403)
            self.assertEqual(server.ask("DELETE", SEEN + "/documents/d1").status, 403)
            self.assertFalse(server.get(SEEN).json["writable"])
            nigh("delete", "-q", "seen.nigh", "d1")  # it has no lock
            until = time.monotonic() + 30
            while server.get(SEEN + "/documents/d1").status != 404:
                self.assertLess(time.monotonic(), until)

    def test_preflight(self):
        """A browser asks first, on behalf of a page from elsewhere; also where a token will be needed."""
        with open("tokens", "w", encoding="utf-8") as file:
            file.write("0123456789abcdef0123456789abcdef\n")
        with Server("seen.nigh", "--origin", "https://app.example", "--token-file", "tokens") as server:
            asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type"}
            allowed = server.ask("OPTIONS", SEEN + "/search", headers={"Origin": "https://app.example", **asked})
            self.assertEqual((allowed.status, allowed.bytes), (204, b""))
            self.assertEqual(allowed.headers["Access-Control-Allow-Origin"], "https://app.example")
            self.assertIn("POST", allowed.headers["Access-Control-Allow-Methods"])
            for name in ("authorization", "content-type", "x-request-id"):
                self.assertIn(name, allowed.headers["Access-Control-Allow-Headers"].lower())
            refused_one = server.ask("OPTIONS", SEEN + "/search", headers={"Origin": "https://evil.example", **asked})
            self.assertEqual(refused_one.status, 403)
            self.assertIsNone(refused_one.headers["Access-Control-Allow-Origin"])
            self.assertEqual(server.ask("OPTIONS", SEEN + "/search").status, 401)

    def test_origins_and_hosts(self):
        with Server("seen.nigh", "--host", "docs.example", "--origin", "https://app.example") as server:
            self.assertEqual(server.get(SEEN, headers={"Host": "docs.example:443"}).status, 200)
            answer = server.get(SEEN, headers={"Origin": "https://app.example"})
            self.assertEqual((answer.status, answer.headers["Access-Control-Allow-Origin"]), (200, "https://app.example"))
            self.assertEqual(server.get(SEEN, headers={"Origin": "https://app.example.evil"}).status, 403)
            self.assertIsNone(server.get(SEEN).headers["Access-Control-Allow-Origin"])

    def test_deleted_under_it(self):
        with Server("seen.nigh") as server:
            self.assertEqual(server.get("/readyz").status, 200)
            os.rename("seen.nigh", "away.nigh")
            until = time.monotonic() + 30
            while server.get(SEEN).status != 410:
                self.assertLess(time.monotonic(), until)
            self.assertEqual(server.post(SEEN + "/search", {"id": "d1"}).status, 410)
            self.assertEqual(server.get("/readyz").status, 503)
            os.rename("away.nigh", "seen.nigh")
            while server.post(SEEN + "/search", {"id": "d1"}).status != 200:
                self.assertLess(time.monotonic(), until)

    def test_full_disk(self):
        """By the largest file that the process may write; reading goes on, and what was acknowledged is there."""
        limit = ["bash", "-c", 'ulimit -f "$0"; exec "$@"', "64"]
        with Server("seen.nigh", "--visible", "60000", prefix=limit) as server:
            statuses = []
            for number in range(40):
                body = [{"id": f"f{number}-{i}", "text": text_of(5000 + 100 * number + i, 200)} for i in range(20)]
                statuses.append(server.post(SEEN + "/find-or-add", body).status)
                if statuses[-1] != 200:
                    break
            self.assertEqual(statuses[-1], 507)
            self.assertEqual(server.post(SEEN + "/search", {"id": "d1", "k": 1}).status, 200)
        with open("nothing.jsonl", "w", encoding="utf-8"):
            pass
        nigh("against", "-q", "--add", "--stream", "seen.nigh", "nothing.jsonl")  # takes up the log
        there = set(nigh("export", "-q", "seen.nigh", "--format", "hex", "-o", "-").split())
        for number, status in enumerate(statuses):
            if status == 200:
                self.assertIn(f"f{number}-0", there)

    def test_too_much_waits(self):
        """Beyond what may wait requests are turned away, with a time to come again."""
        with Server("seen.nigh", "--max-waiting", "1", "--threads", "1") as server:
            refusals = []

            def ask(server=server, refusals=refusals):
                connection = server.connection()
                for _ in range(60):
                    answer = server.post(SEEN + "/search", {"id": "d1"}, connection=connection)
                    if answer.status != 200:
                        refusals.append((answer.status, answer.headers["Retry-After"]))
                connection.close()

            threads = [threading.Thread(target=ask) for _ in range(12)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertLessEqual(set(refusals), {(503, "1")})
            text = server.get("/metrics").bytes.decode()
            told = int(re.search(r"^nigh_refused_requests_total (\d+)", text, re.MULTILINE)[1])
            self.assertEqual(told, len(refusals))
            batches = int(re.search(r"^nigh_search_batches_total (\d+)", text, re.MULTILINE)[1])
            together = int(re.search(r"^nigh_search_batched_requests_total (\d+)", text, re.MULTILINE)[1])
            self.assertEqual(together, 12 * 60 - len(refusals))
            self.assertLessEqual(batches, together)


if __name__ == "__main__":
    unittest.main()
