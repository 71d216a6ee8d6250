#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
BM25 by SQLite's FTS5, as a peer for texts that ask: an inverted index that people have.

    peer_fts5.py DOCUMENTS QUERIES [JUDGEMENTS]

DOCUMENTS and QUERIES are JSON lines with "id" and "text"; JUDGEMENTS are lines "QUERY 0 DOCUMENT
GRADE", as `nigh eval ranked` takes them.  Words are stemmed (porter), a query is its words joined
by OR, and what it costs is one thread on an index in a file of its own, which is removed.

Prints the size of the index, the time of a query for the ten best, and with judgements the mean
average precision and precision at ten over the queries that have relevant documents; a document
that shares no word with a query is not ranked, and so adds nothing.
"""
import json
import os
import re
import sqlite3
import sys
import tempfile
import time


def read_texts(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield str(record["id"]), record["text"]


def read_judgements(path):
    relevant = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            query, _, document, grade = line.split()[:4]
            if int(grade) > 0:
                relevant.setdefault(query, set()).add(document)
    return relevant


def make_index(path, documents):
    started = time.process_time()
    base = sqlite3.connect(path)
    base.execute("PRAGMA cache_size = -1000000")
    base.execute('CREATE VIRTUAL TABLE texts USING fts5(id UNINDEXED, text, tokenize="porter unicode61")')
    with base:
        base.executemany("INSERT INTO texts VALUES (?, ?)", read_texts(documents))
    base.execute("INSERT INTO texts(texts) VALUES ('optimize')")
    base.commit()
    count = base.execute("SELECT count(*) FROM texts").fetchone()[0]
    size = base.execute("SELECT sum(length(block)) FROM texts_data").fetchone()[0]
    seconds = time.process_time() - started
    print(f"index {count} documents, {seconds:.2f} s, {size / max(count, 1):.1f} bytes a document beside the texts")
    return base


def ask(base, text, most):
    words = " OR ".join(f'"{word}"' for word in dict.fromkeys(re.findall(r"\w+", text.lower())))
    if not words:
        return []
    found = base.execute("SELECT id FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, most))
    return [row[0] for row in found]


def average_precision(ranking, relevant):
    found, total = 0, 0.0
    for place, document in enumerate(ranking, 1):
        if document in relevant:
            found += 1
            total += found / place
    return total / len(relevant)


def measure(base, queries):
    times = []
    for _, text in queries:
        started = time.process_time()
        ask(base, text, 10)
        times.append(time.process_time() - started)
    times.sort()
    mean = sum(times) / len(times)
    print(f"query {1e3 * mean:.3f} ms by mean, {1e3 * times[len(times) // 2]:.3f} by median; {1 / mean:.0f} queries/s")


def evaluate(base, queries, relevant):
    judged = [(text, relevant[query]) for query, text in queries if query in relevant]
    rankings = [(ask(base, text, -1), wanted) for text, wanted in judged]
    mean = sum(average_precision(ranking, wanted) for ranking, wanted in rankings) / len(rankings)
    at_ten = sum(len(set(ranking[:10]) & wanted) for ranking, wanted in rankings) / (10 * len(rankings))
    print(f"MAP {mean:.4f}, P@10 {at_ten:.4f} over {len(rankings)} queries")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    queries = list(read_texts(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        base = make_index(os.path.join(folder, "texts.db"), sys.argv[1])
        measure(base, queries)
        if len(sys.argv) == 4:
            evaluate(base, queries, read_judgements(sys.argv[3]))
        base.close()


if __name__ == "__main__":
    main()
