#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""nigh serve: what it answers, held against the tool and against the description of the API."""

import json
import os
import re
import time
import unittest

from _serving import SLOW, Server, nigh, text_of, write_lines

SOURCE = os.environ["NIGH_SOURCE_DIR"]
NEWS = "/v1/collections/news"
COPIES = "/v1/collections/copies"
HASHES = "/v1/collections/hashes"


def check_schema(value, schema, root, place="$"):
    """Holds a value against a schema of the kind that the description has; raises where it does not fit."""
    if "$ref" in schema:
        return check_schema(value, root["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]], root, place)
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
             "null": type(None)}
    wanted = schema.get("type")
    if wanted:
        wanted = wanted if isinstance(wanted, list) else [wanted]
        if not any(isinstance(value, kinds[kind]) for kind in wanted):
            raise AssertionError(f"{place}: {value!r} is not {wanted}")
    if "enum" in schema and value not in schema["enum"]:
        raise AssertionError(f"{place}: {value!r} is none of {schema['enum']}")
    if isinstance(value, dict) and "properties" in schema:
        for key in schema.get("required", []):
            if key not in value:
                raise AssertionError(f"{place}: {key} is missing")
        for key, item in value.items():
            if key not in schema["properties"]:
                raise AssertionError(f"{place}: {key} is not described")
            check_schema(item, schema["properties"][key], root, f"{place}.{key}")
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            check_schema(item, schema["items"], root, f"{place}[{number}]")
    return None


class Api(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.texts = {f"d{i}": text_of(i) for i in range(300)}
        cls.texts["near"] = cls.texts["d7"] + " and more"
        write_lines("news.jsonl", [{"id": key, "text": text, "year": 2000 + len(text) % 20}
                                   for key, text in cls.texts.items()])
        nigh("index", "-q", "news.nigh", "news.jsonl", "--keep-keys", "year")
        nigh("against", "-q", "--add", "copies.nigh", "news.jsonl")
        nigh("generate", "-q", "-n", "500", "--bits", "64", "--seed", "1", "-o", "rows.npy")
        nigh("index", "-q", "hashes.nigh", "rows.npy")
        cls.server = Server("news.nigh", "copies.nigh", "hashes.nigh", "--radius", "3", "--visible", "100", "--hold", "1",
                            "--log", "access.jsonl", "--max-body", "1M", "--max-queries", "8")
        cls.described = cls.server.get("/openapi.json").json

    @classmethod
    def tearDownClass(cls):
        with cls.server:
            pass

    def described_as(self, answer, name):
        check_schema(answer, {"$ref": f"#/components/schemas/{name}"}, self.described)

    def problem(self, answer, status, kind):
        self.assertEqual(answer.status, status, answer.bytes)
        self.assertEqual(answer.headers["Content-Type"], "application/problem+json")
        self.described_as(answer.json, "Problem")
        self.assertEqual(answer.json["type"], f"urn:nigh:problem:{kind}")
        self.assertEqual(answer.json["status"], status)
        return answer.json

    # --------------------------------------------------------------- reading

    def test_page(self):
        page = self.server.get("/")
        self.assertEqual(page.status, 200)
        self.assertIn("default-src 'none'", page.headers["Content-Security-Policy"])
        for path in re.findall(rb'(?:href|src)="([a-z][a-z.]*)"', page.bytes):
            self.assertEqual(self.server.get("/" + path.decode()).status, 200, path)
        self.assertNotIn(b"http", page.bytes, "nothing from elsewhere")

    def test_health(self):
        for path in ("/healthz", "/readyz"):
            self.described_as(self.server.get(path).json, "Status")
        self.assertEqual(self.server.ask("HEAD", "/healthz").bytes, b"")

    def test_collections(self):
        answer = self.server.get("/v1/collections").json
        self.described_as(answer, "Collections")
        self.assertEqual([one["name"] for one in answer["collections"]], ["news", "copies", "hashes"])
        one = self.server.get(NEWS).json
        self.described_as(one, "Collection")
        self.assertEqual(sum(part["documents"] for part in one["parts"]), one["documents"])

    def test_search_is_that_of_the_tool(self):
        for arguments, body in [(["--text", self.texts["d7"]], {"text": self.texts["d7"]}),
                                (["--id", "d9"], {"id": "d9"}), (["--text", "flood3 storm4"], {"text": "flood3 storm4"})]:
            told = [json.loads(line) for line in
                    nigh("search", "-q", "news.nigh", "-k", "5", "--output", "jsonl", *arguments).splitlines()]
            found = self.server.post(NEWS + "/search", dict(body, k=5)).json
            self.described_as(found, "Found")
            matches = found["results"][0]["matches"]
            self.assertEqual([(match["id"], match["distance"]) for match in matches],
                             [(line["document"], line["distance"]) for line in told])
            self.assertTrue(found["results"][0]["proof"]["exact"])

    def test_where(self):
        asked = {"text": self.texts["d7"], "k": 400}
        everything = self.server.post(NEWS + "/search", asked).json["results"][0]["matches"]
        some = self.server.post(NEWS + "/search", dict(asked, where="year >= 2010 and not year = 2012")).json
        years = {key: 2000 + len(text) % 20 for key, text in self.texts.items()}  # others have none
        wanted = [match for match in everything if years.get(match["id"], 0) >= 2010 and years[match["id"]] != 2012]
        self.assertEqual(some["results"][0]["matches"], wanted)
        self.assertTrue(0 < len(wanted) < len(everything))

    def test_search_by_signature(self):
        stored = self.server.get(HASHES + "/documents/5").json
        self.described_as(stored, "Stored")
        row = stored["signature"]
        import base64
        both = self.server.post(HASHES + "/search", {"queries": [
            {"signature": row}, {"signature_base64": base64.b64encode(bytes.fromhex(row)).decode()}, {"id": "5"}],
            "radius": 2}).json["results"]
        self.assertEqual(both[0], both[1])
        self.assertEqual(both[0], both[2])
        self.assertTrue(all(match["distance"] <= 2 for match in both[0]["matches"]))
        self.assertIn("5", [match["id"] for match in both[0]["matches"]])

    def test_texts_on_demand(self):
        found = self.server.post(COPIES + "/search", {"text": self.texts["d3"], "k": 1, "texts": True}).json
        self.assertEqual(found["results"][0]["matches"][0]["text"], self.texts["d3"])

    def test_a_text_without_words(self):
        result = self.server.post(NEWS + "/search", {"text": " ... "}).json["results"][0]
        self.assertEqual((result["matches"], "note" in result), ([], True))

    def test_overviews(self):
        histogram = self.server.get(NEWS + "/histogram").json
        self.described_as(histogram, "Histogram")
        self.assertEqual(sum(histogram["nearest"]), histogram["sampled"])
        clusters = self.server.get(NEWS + "/clusters").json
        self.described_as(clusters, "Clusters")
        self.assertIn(["d7", "near"], [[member["id"] for member in cluster["members"]] for cluster in clusters["largest"]])

    def test_against_and_dedup(self):
        lines = [{"id": "a", "text": self.texts["d5"] + "!"}, {"id": "b", "text": text_of(9001)},
                 {"id": "c", "text": text_of(9001) + "!"}, {"id": "d"}]
        against = self.server.post(COPIES + "/against", lines).lines
        for line in against:
            self.described_as(line, "Compared")
        self.assertEqual([line.get("new") for line in against], [False, True, False, None])
        self.assertEqual(against[0]["matches"][0]["id"], "d5")
        self.assertEqual(against[2]["earlier"][0]["id"], "b")
        kept = self.server.post(COPIES + "/dedup", lines).lines
        for line in kept:
            self.described_as(line, "Kept")
        self.assertEqual([line.get("keep") for line in kept], [False, True, False, None])
        self.assertEqual((kept[0]["match"]["id"], kept[2]["cluster"]), ("d5", "b"))

    def searches_that_were_quick(self):
        text = self.server.get("/metrics").bytes.decode()
        return int(re.search(r"^nigh_search_quick_total (\d+)", text, re.MULTILINE)[1])

    def test_quick_searches(self):
        """One after the other, they are soon answered by the thread that reads them, in the same words."""
        connection, before = self.server.connection(), self.searches_that_were_quick()
        answers = {self.server.post(HASHES + "/search", {"id": "7", "k": 3}, connection=connection).bytes
                   for _ in range(200)}
        connection.close()
        self.assertEqual(len(answers), 1)
        if SLOW == 1:
            self.assertGreater(self.searches_that_were_quick(), before)

    def test_metrics(self):
        self.server.post(NEWS + "/search", {"text": "flood1"})
        text = self.server.get("/metrics").bytes.decode()
        for line in text.splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.e+-]+)$')
        names = [line.split()[2] for line in text.splitlines() if line.startswith("# TYPE")]
        self.assertEqual(len(names), len(set(names)))
        count = re.search(r'nigh_requests_total\{route="search",collection="news",status="2xx"\} (\d+)', text)
        self.assertGreater(int(count[1]), 0)

    # --------------------------------------------------------------- writing

    def test_find_or_add(self):
        one, two = text_of(5001), text_of(5002)
        lines = self.server.post(COPIES + "/find-or-add?visible=true",
                                 [{"id": "n1", "text": one}, {"id": "n2", "text": one + "."}, {"id": "n3", "text": two}]).lines
        for line in lines:
            self.described_as(line, "Answer")
        self.assertEqual([line["new"] for line in lines], [True, False, True])
        self.assertEqual((lines[1]["match"], lines[1]["similarity"]), ("n1", 1.0))
        self.assertEqual(self.server.get(COPIES + "/documents/n3").json["text"], two)
        again = self.server.post(COPIES + "/find-or-add", "{bad\n" + json.dumps({"id": "n4", "text": one})).lines
        self.assertEqual((again[0]["line"], again[0]["offset"], again[1]["match"]), (1, 1, "n1"))

    def test_what_was_added_is_found_soon(self):
        self.server.post(COPIES + "/find-or-add", [{"id": "soon", "text": text_of(6001)}])
        until = time.monotonic() + 30
        while self.server.get(COPIES + "/documents/soon").status != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    def test_add_replace_delete(self):
        first = self.server.post(NEWS + "/documents", [{"id": "x", "text": text_of(7001)}, {"id": "x", "text": text_of(7002)},
                                                       {"id": "d0", "text": text_of(7003)}, {"id": "y", "text": "..."}]).lines
        for line in first:
            self.described_as(line, "Added")
        self.assertEqual([(line["added"], line.get("why")) for line in first],
                         [(True, None), (False, "exists"), (False, "exists"), (False, "no words")])
        self.assertTrue(self.server.post(NEWS + "/documents?replace=true", [{"id": "x", "text": text_of(7004)}]).lines[0]["added"])
        self.assertEqual(self.server.post(NEWS + "/search", {"text": text_of(7004), "k": 1}).json["results"][0]["matches"][0]["id"], "x")
        gone = self.server.ask("DELETE", NEWS + "/documents/x")
        self.described_as(gone.json, "Deleted")
        self.problem(self.server.get(NEWS + "/documents/x"), 404, "not-found")
        self.problem(self.server.ask("DELETE", NEWS + "/documents/x"), 404, "not-found")

    def test_ids_of_any_bytes(self):
        name = "a/b c%ü\n\\"
        self.assertTrue(self.server.post(NEWS + "/documents", [{"id": name, "text": text_of(7100)}]).lines[0]["added"])
        import urllib.parse
        path = NEWS + "/documents/" + urllib.parse.quote(name, safe="")
        self.assertEqual(self.server.get(path).json["id"], name)
        self.assertEqual(self.server.ask("DELETE", path).status, 200)

    def test_signatures_are_added(self):
        row = "0123456789abcdef"
        self.assertTrue(self.server.post(HASHES + "/documents", [{"signature": row, "metadata": {"a": [1, 2.5]}}]).lines[0]["added"])
        answers = self.server.post(HASHES + "/find-or-add", [{"signature": row}, {"signature": "0123456789abcd00"}]).lines
        self.assertEqual((answers[0]["new"], answers[0]["distance"]), (False, 0))
        self.assertTrue(answers[1]["new"])

    def test_other_processes_write(self):
        """What they commit is seen within a second; while the server writes they are told to wait, then they can."""
        write_lines("more.jsonl", [{"id": "other", "text": text_of(8001)}])
        until = time.monotonic() + 30
        nigh("index", "-q", "news.nigh", "more.jsonl")
        while self.server.get(NEWS + "/documents/other").status != 200:
            self.assertLess(time.monotonic(), until)
            time.sleep(0.02)

    # ------------------------------------------------------------- bad input

    def test_unknown_names(self):
        self.assertEqual(self.problem(self.server.get("/v1/collections/nws"), 404, "unknown-collection")["nearest"], "news")
        self.assertNotIn("nearest", self.problem(self.server.get("/v1/collections/zzzzzzzz"), 404, "unknown-collection"))
        found = self.problem(self.server.post(NEWS + "/serch", {}), 404, "unknown-route")
        self.assertEqual(found["nearest"], "/v1/collections/{c}/search")
        self.problem(self.server.get("/etc/passwd"), 404, "unknown-route")
        self.problem(self.server.get("/../../etc/passwd"), 404, "unknown-route")

    def test_methods(self):
        wrong = self.server.get(NEWS + "/search")
        self.problem(wrong, 405, "method")
        self.assertEqual(wrong.headers["Allow"], "POST")
        self.assertEqual(self.server.ask("PUT", NEWS + "/documents/x").headers["Allow"], "GET, HEAD, DELETE")

    def test_malformed_json(self):
        for body, offset in [("{", 1), ('{"text":}', 8), ('{"text" "a"}', 8), ("", 0), ('{"k":01}', 6), ('{"text":"a', 10),
                             ('{"text":"\\x"}', 10), ("[1,]", 3), ('{"a":1}x', 7), ('{"a":tru}', 8), ("nul", 3)]:
            self.assertEqual(self.problem(self.server.post(NEWS + "/search", body), 400, "malformed")["offset"], offset, body)
        bad = self.problem(self.server.post(NEWS + "/search", b'{"text":"abc\xff"}'), 400, "malformed")
        self.assertIn("UTF-8", bad["detail"])
        self.problem(self.server.post(NEWS + "/search", "[" * 5000), 400, "malformed")
        self.problem(self.server.post(NEWS + "/search", '{"text":' + "[" * 40 + "]" * 40 + "}"), 400, "malformed")

    def test_values_that_do_not_fit(self):
        for path, body, field in [
                (NEWS, {"text": 5}, "/text"), (NEWS, {"text": "a", "k": 0}, "/k"), (NEWS, {"text": "a", "k": "5"}, "/k"),
                (NEWS, {"text": "a", "k": 1.5}, "/k"), (NEWS, {"text": "a", "radius": 1025}, "/radius"),
                (NEWS, {"text": "a", "where": 1}, "/where"), (NEWS, {"text": "a", "where": "year >"}, "/where"),
                (NEWS, {"text": "a", "where": "colour = red"}, "/where"), (NEWS, {"text": "a", "exact": 1}, "/exact"), (NEWS, {"text": "a", "colour": 1}, "/colour"),
                (NEWS, {"text": "a", "id": "d1"}, "/id"), (NEWS, {"id": "nobody"}, "/id"), (NEWS, {}, "/text"),
                (NEWS, {"queries": [{"text": "a"}, {"k": 3}]}, "/queries/1/k"), (NEWS, {"queries": [5]}, "/queries/0"),
                (NEWS, {"queries": [{"text": "a"}] * 9}, "/queries/8/text"), (HASHES, {"text": "a"}, "/text"),
                (HASHES, {"signature": "00"}, "/signature"), (HASHES, {"signature": "0" * 18}, "/signature"),
                (HASHES, {"signature": "g" * 16}, "/signature"), (HASHES, {"signature": "0" * 15}, "/signature"),
                (HASHES, {"signature_base64": "AAA"}, "/signature_base64")]:
            answer = self.problem(self.server.post(path + "/search", body), 422, "does-not-fit")
            self.assertEqual(answer.get("field"), field, body)
        self.problem(self.server.post(NEWS + "/search", "[]"), 422, "does-not-fit")
        self.problem(self.server.post(NEWS + "/documents", "\n\n"), 422, "does-not-fit")

    def test_bodies_that_are_too_large(self):
        self.problem(self.server.post(NEWS + "/search", b" " * (1 << 20) + b" "), 413, "too-large")
        connection = self.server.connection()
        connection.request("POST", NEWS + "/search", body=iter([b" " * 65536] * 20), headers={"Transfer-Encoding": "chunked"},
                           encode_chunked=True)
        from _serving import Answer
        self.problem(Answer(connection.getresponse()), 413, "too-large")
        connection.close()
        connection = self.server.connection()
        connection.putrequest("POST", NEWS + "/search")
        connection.putheader("Content-Length", str(1 << 40))
        connection.endheaders()
        self.problem(Answer(connection.getresponse()), 413, "too-large")  # nothing of it was read
        connection.close()

    def test_strangers(self):
        self.problem(self.server.get("/v1/collections", headers={"Host": "evil.example"}), 403, "host")
        self.problem(self.server.get("/v1/collections", headers={"Origin": "http://evil.example"}), 403, "origin")
        own = {"Origin": self.server.address.rstrip("/")}
        self.assertEqual(self.server.get("/v1/collections", headers=own).status, 200)

    def test_request_ids(self):
        self.assertEqual(self.server.get("/healthz", headers={"X-Request-Id": "mine-1"}).headers["X-Request-Id"], "mine-1")
        self.assertNotIn("<", self.server.get("/healthz", headers={"X-Request-Id": "<b>"}).headers["X-Request-Id"])

    def test_keep_alive(self):
        connection = self.server.connection()
        for number in range(50):
            self.assertEqual(self.server.post(NEWS + "/search", {"id": f"d{number}"}, connection=connection).status, 200)
        connection.close()

    def test_the_log_has_no_texts(self):
        self.server.post(NEWS + "/search", {"text": "secretword flood1"}, headers={"X-Request-Id": "logged"})
        self.server.get(NEWS + "/documents/secretid")
        mine, until = [], time.monotonic() + 30
        while not mine and time.monotonic() < until: # a line is written once the answer was sent
            with open("access.jsonl", encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
            mine = [line for line in lines if line["request"] == "logged"]
        self.assertEqual((mine[0]["route"], mine[0]["status"], mine[0]["items"]), ("search", 200, 1))
        self.assertNotIn("secret", json.dumps(lines))

    # ------------------------------------------------------- the description

    def test_description_has_all_routes(self):
        with open(os.path.join(SOURCE, "server", "route.c"), encoding="utf-8") as file:
            source = file.read().replace('COLLECTION "', '"/v1/collections/{c}').replace("COLLECTION,", '"/v1/collections/{c}",')
        there = set(re.findall(r'\{"[a-z-]+", "([A-Z]+)", "([^"]+)"', source))
        told = {(method.upper(), path) for path, methods in self.described["paths"].items() for method in methods}
        self.assertEqual(there, told)


if __name__ == "__main__":
    unittest.main()
