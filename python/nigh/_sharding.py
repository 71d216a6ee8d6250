# SPDX-License-Identifier: Apache-2.0
"""What a worker of an engine does with whole texts: signs them, counts their words, makes or asks a collection."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any, Optional

from . import _core
from .collection import Collection
from .signatures import sign

TEXT = "nigh text"
"""The column that texts come in."""


def _source(tables: list[Any]) -> tuple[Any, ...]:
    import pyarrow as pa

    whole = pa.Table.from_batches(tables)
    return (lambda: whole,)


class Signer:
    """Adds a column of signatures."""

    def __init__(self, output: str, options: dict[str, Any]) -> None:
        self._output = output
        self._options = options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for batch in batches:
            if batch.num_rows == 0:
                continue
            texts = [text or "" for text in batch.column(TEXT).to_pylist()]
            rows = sign(texts, threads=1, progress=False, **self._options)
            signed = pa.array([bytes(row) for row in rows], pa.binary())
            kept = [name for name in batch.schema.names if name != TEXT]
            yield pa.RecordBatch.from_arrays([*(batch.column(name) for name in kept), signed], [*kept, self._output])


class Counter:
    """Counts the words of a partition."""

    SCHEMA = "counted binary"

    def __init__(self, signer: dict[str, Any]) -> None:
        self._signer = signer

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        given = [batch.select(["text"]) for batch in batches if batch.num_rows]
        counted = _core.vocabulary_count(_source(given), self._signer) if given else None
        if counted is not None:
            yield pa.RecordBatch.from_arrays([pa.array([counted], pa.binary())], ["counted"])


class Indexer:
    """Makes a collection of a partition; it gets its name when it is whole, and the first that is stays."""

    SCHEMA = "part string, documents long, repeated long"

    def __init__(self, folder: str, signer: dict[str, Any], vocabulary: Optional[bytes]) -> None:
        self._folder = folder
        self._signer = signer
        self._vocabulary = vocabulary

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        given = [batch.select(["text", "id"]) for batch in batches if batch.num_rows]
        context = TaskContext.get()
        if not given or context is None:
            return
        part = os.path.join(self._folder, f"{context.partitionId():05}.nigh")
        making = f"{part}.{context.taskAttemptId()}"
        shutil.rmtree(making, ignore_errors=True)
        done, _ = _core.index_source(
            os.fsencode(making), _source(given), {}, self._signer, {"threads": 1}, None, self._vocabulary
        )
        try:
            os.rename(making, part)
        except OSError:
            if not os.path.isdir(part):
                raise
            shutil.rmtree(making)
        columns = [pa.array([part]), pa.array([done["added"]], pa.int64()), pa.array([done["repeated"]], pa.int64())]
        yield pa.RecordBatch.from_arrays(columns, ["part", "documents", "repeated"])


class Searcher:
    """Asks a collection; of each query also a row that has nothing but what is certain about its answer."""

    FOUND = "number int, collection string, document long, id string, distance int, similarity double, exact boolean, below int"

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow.compute as pc

        for batch in batches:
            for number in pc.unique(batch.column("number")).to_pylist():
                yield self._ask(batch.filter(pc.equal(batch.column("number"), number)))

    def _ask(self, batch: Any) -> Any:
        import pyarrow as pa

        names = [field.partition(" ")[0] for field in self.FOUND.split(", ")]
        number, path = batch.column("number")[0].as_py(), batch.column("collection")[0].as_py()
        rows: list[tuple[Any, ...]] = []
        asked: list[int] = []
        with Collection(path) as collection:
            answers = collection.search(batch.column("text").to_pylist(), threads=1, **self._options)
            for place in range(len(answers)):
                proof = answers.proof(place)
                sure = (proof.exact, proof.below)
                rows.append((number, path, None, None, None, None, *sure))
                for match in answers.matches(place):
                    rows.append((number, path, match.document, match.id, match.distance, match.similarity, *sure))
                asked += [place] * (len(rows) - len(asked))
        types = [pa.int32(), pa.string(), pa.int64(), pa.string(), pa.int32(), pa.float64(), pa.bool_(), pa.int32()]
        columns = [pa.array(column, kind) for column, kind in zip(zip(*rows), types)]
        return pa.RecordBatch.from_arrays([batch.column("query").take(pa.array(asked)), *columns], ["query", *names])
