# SPDX-License-Identifier: Apache-2.0
"""An engine for tests: moves records between the tasks of a deduplication, in an order drawn by lot."""

from __future__ import annotations

import array
import random
import struct
from typing import Optional

from nigh import _core, _moving as m



def crowd(count: int, seed: int = 5) -> list[str]:
    """Texts of one template of 60 words, of which two are others: some are alike, and all share many keys."""
    chance = random.Random(seed)
    texts = []
    for number in range(count):
        words = [f"word{place}" for place in range(60)]
        for place in range(2):
            words[chance.randrange(60)] = f"own{place}x{number}"
        texts.append(" ".join(words))
    return texts


def chain(count: int) -> list[str]:
    """Each is like the one before, and the first and the last have nothing in common."""
    return [" ".join(f"w{place}" for place in range(number, number + 60)) for number in range(count)]


ROWS = list[tuple[int, int, int, bytes]]  # kind, shard, sequence, records


class Engine:
    """One run over so many shards."""

    def __init__(self, shards: int, seed: int, **options: object) -> None:
        self.shards = shards
        self.chance = random.Random(seed)
        self.options = {"threshold": 0.8, "threads": 1, "memory_bytes": 64 << 20, **options}

    def task(self, kind: int, shard: int) -> _core.Task:
        return _core.Task(kind, self.options, None, self.shards, shard, 4711, True)

    def collect(self, task: _core.Task) -> ROWS:
        task.finish(None)
        return [(kind, shard, sequence, records) for sequence, (kind, shard, records) in enumerate(task.take())]

    def stage(self, kind: int, rows: ROWS, *kinds: int) -> ROWS:
        """Each shard gets its records by kind, sets in their order, all else in any."""
        given: ROWS = []
        for shard in range(self.shards):
            own = [row for row in rows if row[1] == shard and row[0] in kinds]
            self.chance.shuffle(own)
            own.sort(key=lambda row: (row[0], row[2] if row[0] == m.SETS else 0))
            task = self.task(kind, shard)
            for row in own:
                task.add(row[0], row[3])
            given += self.collect(task)
        return given

    def sign(self, texts: list[str], parts: int) -> ROWS:
        order = list(range(len(texts)))
        self.chance.shuffle(order)
        rows: ROWS = []
        for part in range(parts):
            numbers = order[part::parts]
            task = self.task(m.SIGN, 0)
            source = (tuple(texts[i] for i in numbers), None, None)
            assert task.texts(source, array.array("q", numbers), None) == 0
            rows += self.collect(task)
        return rows

    def features(self, texts: list[str], needed: list[tuple[int, ...]]) -> ROWS:
        task = self.task(m.FEATURES, 0)
        if needed:
            source = (tuple(texts[number] for number, _, _ in needed), None, None)
            sets, shards = (array.array("q", [row[i] for row in needed]) for i in (1, 2))
            task.texts(source, sets, shards)
        return self.collect(task)

    def run(self, texts: list[str], parts: int, again: Optional[list[str]] = None) -> dict[int, tuple[int, float]]:
        """Which go, and with which; `again` are the texts as they are read the second time."""
        copies = self.stage(m.COPIES, self.sign(texts, parts), m.SIGNED, m.NUMBERS)
        requests = self.stage(m.SHARED, copies, m.POSTINGS)
        joined = self.stage(m.ROWS, copies + requests, m.REQUESTS, m.SETS)
        buckets = self.stage(m.BUCKETS, joined, m.JOINED)
        labels = self.stage(m.COMPONENTS, buckets, m.EDGES)
        routed = self.stage(m.ROUTE, copies + labels + buckets, m.LABELS, m.SETS, m.PAIRS, m.CROWDS)
        features = self.features(texts if again is None else again, words_of(routed, m.NEEDED, "=qqq"))
        kinds = (m.CANDIDATES, m.PAIRS, m.CROWDS, m.FOUND_FEATURES)
        verified = self.stage(m.VERIFY, routed + features, *kinds)
        self.buckets = buckets
        found = words_of(copies + verified, m.MATCHES, "=qqd")
        matches = {int(number): (int(kept), float(similarity)) for number, kept, similarity in found}
        assert len(matches) == len(found)
        return matches


def words_of(rows: ROWS, kind: int, layout: str) -> list[tuple[int, ...]]:
    return [words for row in rows if row[0] == kind for words in struct.iter_unpack(layout, row[3])]
