#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh serve beside crowds: honest clients are answered, floods are turned away, memory stays within its limit.

A small form; test_crowds_many.py is the whole."""

import json
import time
import unittest

from _crowds import (NEWS, SEEN, Crowd, Watch, ask_often, crowds, flood, metric, quantile, raise_file_limit,
                     resident_bytes, send_body, head)
from _serving import SLOW, Server, nigh, text_of, write_lines

MEGABYTE = 1 << 20


class Crowds(unittest.TestCase):
    idle, slow, bodies, seconds = 400, 100, 8, 2.0
    line_bytes = 8 * MEGABYTE
    patience = 0.5 * SLOW  # what a busy machine adds to any wait

    @classmethod
    def setUpClass(cls):
        raise_file_limit(2 * cls.idle + 1000)
        write_lines("news.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(50)])
        nigh("index", "-q", "news.nigh", "news.jsonl")
        nigh("against", "-q", "--add", "seen.nigh", "news.jsonl")

    def test_honest_clients_beside_crowds(self):
        with Server("news.nigh", "--threads", "2") as server:
            ask_often(server, self.seconds / 2)  # whatever is done once
            for name, count, first, turn, pause in crowds(self.idle, self.slow, self.bodies):
                alone = quantile(ask_often(server, self.seconds), 0.99)
                before = resident_bytes(server.process)
                with Crowd(server, count, first, turn, pause), Watch(server.process) as watch:
                    beside = quantile(ask_often(server, self.seconds), 0.99)
                print(f"{count} {name}: p99 {beside * 1e3:.1f} ms, {alone * 1e3:.1f} alone; "
                      f"{(watch.most - before) / MEGABYTE:.1f} MB more")
                self.assertLess(beside, 2 * alone + self.patience, name)

    def test_connections_beyond_the_limit(self):
        """Who has nothing to say makes room for others."""
        with Server("news.nigh", "--max-connections", "64", "--idle-time", "8") as server:
            with Crowd(server, 80):
                self.assertEqual(metric(server, "nigh_connections_limit"), 64)
                self.assertEqual(server.post(NEWS + "/search", {"id": "d1"}).status, 200)

    def test_floods_are_turned_away(self):
        body = json.dumps({"queries": [{"text": text_of(i)} for i in range(50)], "k": 50, "exact": True})
        with Server("news.nigh", "--threads", "1", "--max-waiting", "2") as server:
            counts = flood(server, self.seconds, 24, NEWS + "/search", body)
            self.assertGreater(counts.get(200, 0), 0, counts)
            self.assertGreater(counts.get(503, 0), 0, counts)
            self.assertEqual(set(counts), {200, 503})
            self.assertGreaterEqual(metric(server, "nigh_refused_requests_total"), counts[503])
            print("flood:", counts)

    def held_in_the_end(self, server):
        """Bytes of requests that are left, once the server has noticed that clients hung up in the middle of one."""
        until = time.monotonic() + 60
        while (held := metric(server, "nigh_held_bytes")) >= MEGABYTE and time.monotonic() < until:
            time.sleep(0.1)
        return held

    def test_memory_that_requests_take(self):
        """Bodies, what they are read into, and answers stay within --max-memory, and the rest is turned away."""
        most = 24 * MEGABYTE
        text = "x" * (MEGABYTE // 2)
        lines = json.dumps({"id": "a", "text": text})
        with Server("news.nigh", "seen.nigh", "--threads", "2", "--max-memory", str(most)) as server:
            before = resident_bytes(server.process)
            with Watch(server.process) as watch:
                counts = flood(server, self.seconds, 48, SEEN + "/against", lines)
                counts |= flood(server, self.seconds, 48, SEEN + "/against", "{}\n" * 90000)
            self.assertLessEqual(set(counts), {200, 503, 422})
            self.assertLess(watch.most - before, most + 200 * MEGABYTE * (1 if SLOW == 1 else 4))
            self.assertEqual(server.post(NEWS + "/search", {"id": "d1"}).status, 200)
            print(f"bodies: {counts}, {(watch.most - before) / MEGABYTE:.1f} MB more")
            self.assertLess(self.held_in_the_end(server), MEGABYTE)

    def test_answers_and_documents_have_limits(self):
        with Server("news.nigh", "seen.nigh", "--max-answer", "64K", "--max-documents", "3") as server:
            asked = {"queries": [{"id": f"d{i}"} for i in range(50)] * 5, "k": 50}
            refused = server.post(NEWS + "/search", asked)
            self.assertEqual((refused.status, refused.json["type"]), (422, "urn:nigh:problem:answer-too-large"))
            self.assertEqual(server.post(NEWS + "/search", {"id": "d1", "k": 50}).status, 200)
            self.assertEqual(server.post(SEEN + "/against", "{}\n" * 3).status, 200)
            self.assertEqual(server.post(SEEN + "/against", "{}\n" * 4).status, 413)

    def test_long_lines(self):
        """A line of many megabytes, in a search and among documents; too long for --max-body, and just not."""
        line = b'{"id": "d1", "text": "' + b"long words " * (self.line_bytes // 11) + b'"}'
        length = f"Content-Length: {len(line)}"
        with Server("news.nigh", "seen.nigh", "--max-body", str(len(line) // 2)) as server, Watch(server.process) as watch:
            for path in (NEWS + "/search", SEEN + "/against"):
                self.assertIn(send_body(server, path, [head(path, length), line]), (413, None))
            self.assertEqual(server.post(NEWS + "/search", {"id": "d1"}).status, 200)
            refused = watch.most
        with Server("news.nigh", "seen.nigh", "--max-body", str(2 * len(line))) as server, Watch(server.process) as watch:
            self.assertEqual(send_body(server, SEEN + "/against", [head(SEEN + "/against", length), line]), 200)
            self.assertIn(send_body(server, NEWS + "/search", [head(NEWS + "/search", length), line]), (200, 422))
            self.assertEqual(server.post(NEWS + "/search", {"id": "d1"}).status, 200)
            print(f"a line of {len(line) / MEGABYTE:.0f} MB: {refused / MEGABYTE:.0f} MB where refused, "
                  f"{watch.most / MEGABYTE:.0f} where read")


if __name__ == "__main__":
    unittest.main()
