#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh serve asked, added to, deleted from and compared with by several threads at once, then stopped while they go on.

It is there for the sanitizers, of addresses and of threads: what these find ends the server, or its exit code says so.
Answers are looked at all the same: whoever is answered is answered rightly."""

import http.client
import threading
import time
import unittest

from _serving import SLOW, Server, nigh, text_of, write_lines

NEWS, SEEN = "/v1/collections/news", "/v1/collections/seen"
SECONDS = 3 if SLOW == 1 else 10


class Load(unittest.TestCase):
    def test_all_at_once(self):
        write_lines("news.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(300)])
        nigh("index", "-q", "news.nigh", "news.jsonl")
        nigh("against", "-q", "--add", "seen.nigh", "news.jsonl")
        self.wrong, self.counts, self.ending = [], {}, threading.Event()
        with Server("news.nigh", "seen.nigh", "--threads", "3", "--visible", "50", "--hold", "0",
                    "--log", "access.jsonl") as server:
            turns = [self.search, self.search, self.search_some, self.find_or_add, self.find_or_add, self.replace,
                     self.compare, self.look]
            threads = [threading.Thread(target=self.go, args=(server, turn, number)) for number, turn in enumerate(turns)]
            for thread in threads:
                thread.start()
            time.sleep(SECONDS)
            self.assertEqual(server.end(), 0)  # while all of them ask
            self.ending.set()
            for thread in threads:
                thread.join()
            with open("serve.err", encoding="utf-8") as file:
                self.assertNotIn("Sanitizer", file.read())
        self.assertEqual(self.wrong, [])
        self.assertEqual(set(self.counts), {turn.__name__ for turn in turns}, "each was answered")
        nigh("check", "-q", "news.nigh")
        nigh("check", "-q", "seen.nigh")
        print(self.counts)

    def go(self, server, turn, number):
        connection = None
        for count in range(1 << 30):
            if self.ending.is_set():
                return
            connection = connection or server.connection()
            try:
                good = turn(server, connection, number * 1000000 + count)
            except (OSError, http.client.HTTPException):  # it ends
                connection.close()
                connection = None
                continue
            if good:
                self.counts[turn.__name__] = self.counts.get(turn.__name__, 0) + 1

    def answered(self, answer, *others):
        """200, or that it is ending, or one of the others."""
        if answer.status not in (200, 503, *others):
            self.wrong.append((answer.status, answer.bytes[:200]))
        return answer.status == 200

    def search(self, server, connection, number):
        answer = server.post(NEWS + "/search", {"id": f"d{number % 200}", "k": 3}, connection=connection)
        if not self.answered(answer):
            return False
        if answer.json["results"][0]["matches"][0]["id"] != f"d{number % 200}":
            self.wrong.append(answer.bytes[:200])
        return True

    def search_some(self, server, connection, number):
        queries = [{"text": text_of((number + i) % 300)} for i in range(1 + number % 5)]
        answer = server.post(NEWS + "/search", {"queries": queries, "k": 2, "exact": True}, connection=connection)
        if self.answered(answer) and len(answer.json["results"]) != len(queries):
            self.wrong.append(answer.bytes[:200])
        return answer.status == 200

    def find_or_add(self, server, connection, number):
        body = [{"id": f"n{number}", "text": text_of(10000 + number)}, {"id": f"m{number}", "text": text_of(number % 300)}]
        visible = "?visible=true" if number % 4 == 0 else ""
        answer = server.post(SEEN + "/find-or-add" + visible, body, connection=connection)
        if self.answered(answer) and [line["new"] for line in answer.lines] != [True, False]:
            self.wrong.append(answer.bytes[:200])
        return answer.status == 200

    def replace(self, server, connection, number):
        body = [{"id": f"d{200 + number % 100}", "text": text_of(20000 + number)}]
        if not self.answered(server.post(NEWS + "/documents?replace=true", body, connection=connection)):
            return False
        return self.answered(server.ask("DELETE", NEWS + f"/documents/d{200 + number % 100}", connection=connection))

    def compare(self, server, connection, number):
        body = [{"id": "a", "text": text_of(number % 300)}, {"id": "b", "text": text_of(number % 300)}]
        where = (SEEN + "/against", NEWS + "/dedup")[number % 2]
        return self.answered(server.post(where, body, connection=connection))

    def look(self, server, connection, number):
        paths = ("/metrics", "/v1/collections", NEWS + "/histogram", SEEN + "/clusters", NEWS + f"/documents/d{number % 200}",
                 "/nothing", NEWS + "/documents/nobody")
        return self.answered(server.get(paths[number % len(paths)], connection=connection), 404)


if __name__ == "__main__":
    unittest.main()
