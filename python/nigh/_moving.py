# SPDX-License-Identifier: Apache-2.0
"""What a worker of an engine does: records of one kind go into a task, and others come out.

Everything here runs in the engine's processes, which need this package and nothing else.  Rows that are moved have four
columns: ``slot`` (which says the partition), ``target`` (the shard), ``kind`` and ``sequence`` (by which they are
sorted where a task asks for it), and ``records``, some thousand records of the extension.
"""

from __future__ import annotations

import functools
import gc
import json
import queue
import struct
import threading
from array import array
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Optional

from . import _core

SIGN, COPIES, SHARED, ROWS, BUCKETS, COMPONENTS, ROUTE, FEATURES, VERIFY = range(9)
(
    SIGNED, NUMBERS, POSTINGS, REQUESTS, LABELS, SETS, JOINED, EDGES, CANDIDATES, PAIRS, CROWDS, FOUND_FEATURES,
    NEEDED, MATCHES, INFO,
) = range(15)  # fmt: skip
COUNTED = 100
"""From here on kinds are counters for the driver, which pass through every task: of the task kind - COUNTED."""
MISSING = 200
"""How many texts or numbers are null, as JSON."""

SCHEMA = "slot int, target int, kind int, sequence long, records binary"
PLACE_BITS = 25  # of a set in its shard
_GIVE_BYTES = 1 << 22
_WAITING = 64


class Settings(NamedTuple):
    """What all tasks of one run know."""

    options: dict[str, Any]
    signer: Optional[dict[str, Any]]
    slots: tuple[int, ...]
    """Of each shard the number that Spark's hash puts into the partition of that shard."""
    secret: int
    check_numbers: bool

    def task(self, kind: int, shard: int) -> _core.Task:
        """One of its tasks."""
        return _core.Task(
            kind, self.options, self.signer, len(self.slots), shard, self.secret, self.check_numbers
        )


@functools.cache
def _spare_collecting() -> None:
    """Spark's worker looks for garbage after every task, among all objects of all modules, which takes longer than many
    a task; what is there before the first of ours is no garbage."""
    import pyarrow  # noqa: F401

    gc.freeze()


class _Giver:
    """Rows on their way out, as batches of some megabytes."""

    def __init__(self, settings: Settings, task_kind: int) -> None:
        self._settings = settings
        self._task_kind = task_kind
        self._rows: list[tuple[int, int, int, int, Any]] = []
        self._bytes = 0
        self._sequence = 0

    def add(self, kind: int, target: int, records: Any) -> bool:
        """Takes what a task gave; says whether there is enough for a batch."""
        kind = COUNTED + self._task_kind if kind == INFO else kind
        self._sequence += 1
        self._rows.append((self._settings.slots[target], target, kind, self._sequence, records))
        self._bytes += len(records)
        return self._bytes >= _GIVE_BYTES

    def batch(self) -> Iterator[Any]:
        """What there is."""
        import pyarrow as pa

        if self._rows:
            slots, targets, kinds, sequences, records = zip(*self._rows)
            arrays = [
                pa.array(slots, pa.int32()), pa.array(targets, pa.int32()), pa.array(kinds, pa.int32()),
                pa.array(sequences, pa.int64()), pa.array(records, pa.binary()),
            ]  # fmt: skip
            names = ["slot", "target", "kind", "sequence", "records"]
            self._rows, self._bytes = [], 0
            yield pa.RecordBatch.from_arrays(arrays, names)

    def drain(self, task: _core.Task) -> Iterator[Any]:
        """What a task has given, once it is worth it."""
        if task.length() >= _GIVE_BYTES:
            for given in task.take():
                self.add(*given)
            yield from self.batch()

    def finish(self, task: _core.Task) -> Iterator[Any]:
        """All that a task still gives; it waits where nobody asks for more."""
        for given in task.take():
            self.add(*given)
        waiting: queue.Queue[Any] = queue.Queue(_WAITING)
        ended = threading.Event()

        def put(*given: Any) -> None:
            while not ended.is_set():
                try:
                    return waiting.put(given, timeout=1)
                except queue.Full:
                    pass
            raise RuntimeError("nobody takes what the task gives")

        def run() -> None:
            try:
                task.finish(put)
                put(None)
            except BaseException as error:
                if not ended.is_set():
                    put(error)

        worker = threading.Thread(target=run, daemon=True)
        worker.start()
        try:
            while (given := waiting.get())[0] is not None:
                if isinstance(given[0], BaseException):
                    raise given[0]
                if self.add(*given):
                    yield from self.batch()
        finally:
            ended.set()
            worker.join()
        yield from self.batch()


def _buffer(array: Any) -> Any:
    """The 64-bit numbers of a column without nulls."""
    size = 8
    return array.buffers()[1].slice(array.offset * size, len(array) * size)


def _texts(batch: Any, names: list[str]) -> Callable[[], Any]:
    import pyarrow as pa

    table = pa.Table.from_arrays([batch.column(name) for name in names], names)
    return lambda: table


class Signing:
    """Texts with their numbers and, maybe, scores go to SIGN."""

    def __init__(self, settings: Settings, scored: bool) -> None:
        self._settings = settings
        self._names = ["text", "score"] if scored else ["text"]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        _spare_collecting()
        task = self._settings.task(SIGN, 0)
        giver = _Giver(self._settings, SIGN)
        missing = [0, 0]
        for batch in batches:
            numbers = batch.column("number")
            missing[1] += numbers.null_count
            missing[0] += batch.column("text").null_count
            if not any(missing):
                task.texts((_texts(batch, self._names),), _buffer(numbers), None)
            yield from giver.drain(task)
        if any(missing):
            giver.add(MISSING, 0, json.dumps(missing).encode())
        yield from giver.finish(task)


class Featuring:
    """Texts of candidates go to FEATURES."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        _spare_collecting()
        task = self._settings.task(FEATURES, 0)
        giver = _Giver(self._settings, FEATURES)
        for batch in batches:
            task.texts((_texts(batch, ["text"]),), _buffer(batch.column("set")), _buffer(batch.column("shard")))
            yield from giver.drain(task)
        yield from giver.finish(task)


class Moving:
    """Records go to the tasks of a kind that they are for."""

    def __init__(self, settings: Settings, kind: int) -> None:
        self._settings = settings
        self._kind = kind

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        _spare_collecting()
        tasks: dict[int, _core.Task] = {}
        giver = _Giver(self._settings, self._kind)
        for batch in batches:
            targets = batch.column("target").to_pylist()
            kinds = batch.column("kind").to_pylist()
            records = batch.column("records")
            for target, kind, record in zip(targets, kinds, records):
                if kind >= COUNTED:
                    giver.add(kind, target, record.as_py())
                    continue
                if target not in tasks:
                    tasks[target] = self._settings.task(self._kind, target)
                tasks[target].add(kind, record.as_buffer())
                yield from giver.drain(tasks[target])
        for target in sorted(tasks):
            yield from giver.finish(tasks.pop(target))
        yield from giver.batch()


def _column(words: Any, kind: str) -> Any:
    """An Arrow array over words of 64 bits."""
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64() if kind == "q" else pa.float64(), len(words), [None, pa.py_buffer(words)])


class Unpacking:
    """Records become rows, a column a word."""

    def __init__(self, names: tuple[str, ...], types: str) -> None:
        self._names = names
        self._types = types  # of each column: q or d
        self.schema = ", ".join(f"{name} {'long' if kind == 'q' else 'double'}" for name, kind in zip(names, types))

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            for record in batch.column("records"):
                words = array("q")
                words.frombytes(record.as_buffer())
                columns = [words[place :: len(self._names)] for place in range(len(self._names))]
                yield pa.RecordBatch.from_arrays(list(map(_column, columns, self._types)), list(self._names))


class Packing:
    """Rows of two numbers become records for the shard that the first is of."""

    def __init__(self, settings: Settings, kind: int) -> None:
        self._settings = settings
        self._kind = kind

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        giver = _Giver(self._settings, self._kind)
        for batch in batches:
            by_shard: dict[int, bytearray] = {}
            for a, b in zip(*(column.to_pylist() for column in batch.columns)):
                by_shard.setdefault(a >> PLACE_BITS, bytearray()).extend(struct.pack("=qq", a, b))
            for shard, records in by_shard.items():
                giver.add(self._kind, shard, bytes(records))
            yield from giver.batch()


def _murmur(number: int) -> int:
    """Spark's hash of one int, seed 42, without a sign."""

    def mix(k: int) -> int:
        k = k * 0xCC9E2D51 & 0xFFFFFFFF
        k = (k << 15 | k >> 17) & 0xFFFFFFFF
        return k * 0x1B873593 & 0xFFFFFFFF

    h = 42 ^ mix(number)
    h = (h << 13 | h >> 19) & 0xFFFFFFFF
    h = (h * 5 + 0xE6546B64 & 0xFFFFFFFF) ^ 4
    h ^= h >> 16
    h = h * 0x85EBCA6B & 0xFFFFFFFF
    h ^= h >> 13
    h = h * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def slots_of(count: int) -> tuple[int, ...]:
    """A number for each of so many partitions that Spark's hash puts there; where it puts them elsewhere, some
    partitions have more to do."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < count:
        signed = _murmur(number)
        signed -= 1 << 32 if signed >> 31 else 0
        found.setdefault(signed % count, number)
        number += 1
    return tuple(found[shard] for shard in range(count))
