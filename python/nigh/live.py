# SPDX-License-Identifier: Apache-2.0
"""Find or add: one handle on a collection that answers and grows."""

from __future__ import annotations

import itertools
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, NamedTuple, Optional

from . import _core
from ._arrays import is_rows, rows_of
from ._errors import InvalidError
from ._inputs import Columns, Path, Value, data_of, kept_keys, pyarrow, values_of
from ._options import features_of
from ._progress import Bar, Progress

_ANSWER = struct.Struct("<QQQdII16x")
_NONE = 2**64 - 2
_AT_ONCE = 1024


class Found(NamedTuple):
    """What became of a document."""

    match: Optional[int]
    """The number of the document that it matches; None: it is new."""
    number: Optional[int]
    """Its own number, if it was added."""
    cluster: Optional[int]
    """The number of the document that its cluster began with."""
    similarity: Optional[float]
    """For near-copies the Jaccard index with the match, 1 if it is new; else None."""
    distance: Optional[int]
    """The bits in which it differs from the match."""
    id_taken: bool
    """It is new, but the collection has its id with another document."""

    @property
    def new(self) -> bool:
        """Whether it matched nothing."""
        return self.match is None


def _found(blob: bytes) -> Iterator[Found]:
    for match, number, cluster, similarity, distance, taken in _ANSWER.iter_unpack(blob):
        new = match == _NONE
        yield Found(
            match=None if new else match,
            number=None if number == _NONE else number,
            cluster=None if cluster == _NONE else cluster,
            similarity=similarity if similarity >= 0 else None,
            distance=None if new else distance,
            id_taken=taken != 0,
        )


class Live:
    """A collection that says of each document "I have this already", or adds it.

    An answered document is on the disk, and the next question finds it; ``sync="never"`` leaves writing to the
    system. New documents go to a log; ``commit()`` makes them visible to readers, and the next ``Live`` takes up a
    log that was left. Others can read meanwhile, but not write. Several threads may use one handle, but only in the
    process that opened it.

    >>> import nigh, tempfile
    >>> with nigh.Live(tempfile.mkdtemp() + "/seen.nigh") as seen:
    ...     for text in ["one two three four five", "one two three four five!", "six seven eight nine"]:
    ...         print(seen.find_or_add(text).new)
    True
    False
    True
    """

    def __init__(
        self,
        path: Path,
        *,
        radius: Optional[int] = None,
        create: bool = True,
        width_bits: Optional[int] = None,
        threshold: Optional[float] = None,
        features: Optional[str] = None,
        language: Optional[str] = None,
        sync: str = "group",
        group_size: Optional[int] = None,
        group_us: Optional[int] = None,
        log_bytes: Optional[int] = None,
        snippet: Optional[int] = None,
        threads: int = 1,
        keep_keys: Optional[Sequence[str]] = None,
        progress: Progress = None,
    ) -> None:
        """Opens a collection, or with ``create`` makes one if there is none.

        With ``width_bits`` a new one holds rows, and ``radius`` says in how many bits matching rows may differ; else
        it holds texts, which match from a Jaccard index of ``threshold`` on (0.8). It keeps the values of documents
        under ``keep_keys``, for ``search(where=...)``; an existing collection has its own keys.
        """
        self.path = os.fsdecode(path)
        options = {
            "radius": radius, "create": create, "width_bits": width_bits, "sync": sync, "group_size": group_size,
            "group_us": group_us, "log_bytes": log_bytes, "snippet": snippet, "threads": threads,
            "keep_keys": None if keep_keys is None else tuple(keep_keys),
        }  # fmt: skip
        signer: Optional[dict[str, Any]] = None
        if threshold is not None or features is not None or language is not None:
            signer = {"scheme": "minhash", "threshold": 0.8 if threshold is None else threshold, "language": language}
            signer.update(features_of(features))
        with Bar(progress) as bar:
            self._core = _core.Live(os.fsencode(path), options, signer, bar.report)
        info = self._core.describe()
        self._width = 0 if info["texts"] else int(info["width_bits"])

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The keys whose values the collection keeps, since it was made."""
        return kept_keys(_core.Collection(os.fsencode(self.path), False, False, None).scheme())

    def find_or_add(
        self, document: Any, id: Optional[str] = None, values: Optional[dict[str, Any]] = None
    ) -> Found:
        """Looks for one document, a text or a row, and adds it if nothing matches.

        ``values`` is a record with the values of the keys that the collection keeps, for ``search(where=...)``.
        """
        return self._one(document, id, values, True)

    def find(self, document: Any, id: Optional[str] = None) -> Found:
        """Looks for one document, without adding it."""
        return self._one(document, id, None, False)

    def _one(self, document: Any, id: Optional[str], record: Optional[dict[str, Any]], add: bool) -> Found:
        ids = None if id is None else (id,)
        values = None if record is None else (values_of(record, self._keys),)
        if not self._width:
            if not isinstance(document, str):
                raise TypeError(f"the collection is of texts, and this is {type(document).__name__}")
            return next(_found(self._core.take((document,), 1, ids, values, add)))
        rows, count = rows_of(document, self._width)
        if count != 1:
            raise InvalidError(f"one row is needed, and these are {count}; find_or_add_many() takes many")
        return next(_found(self._core.take(rows, 1, ids, values, add)))

    def find_or_add_many(
        self, data: Any, column: str = "text", *, id: Optional[str] = None, ids: Optional[Iterable[str]] = None
    ) -> list[Found]:
        """The same for many documents, as if one by one; much faster, because it syncs less often.

        ``data`` is a list or generator of texts or records, a table, or an array of rows; records bring the values of
        the keys that the collection keeps.  After a failure in the middle (a generator that raises, Ctrl-C) earlier
        documents may have been added; if given again, they are found.
        """
        return list(self.each(data, column, id=id, ids=ids))

    def each(
        self, data: Any, column: str = "text", *, id: Optional[str] = None, ids: Optional[Iterable[str]] = None
    ) -> Iterator[Found]:
        """The same, yielding the answers as they come; it reads a generator some documents ahead."""
        names = None if ids is None else iter(ids)
        for group in self._groups(data, column, id):
            own = group.ids if names is None else tuple(itertools.islice(names, group.number))
            yield from _found(self._core.take(group.given, group.number, own, group.values, True))

    def _groups(self, data: Any, column: str, id: Optional[str]) -> Iterator[_Group]:
        """Some at a time."""
        if self._width:
            rows, count = rows_of(data, self._width)
            view, size = memoryview(rows).cast("B"), (self._width + 7) // 8
            for first in range(0, count, _AT_ONCE):
                here = min(_AT_ONCE, count - first)
                yield _Group(view[first * size : (first + here) * size], here)
            return
        if is_rows(data):
            raise TypeError("the collection is of texts, and these are rows")
        yield from _groups_of_texts(data, Columns(column, id, keep=self._keys))

    def id(self, number: int) -> str:
        """The id of a document, even if it was added a moment ago."""
        return self._core.id(number).decode("utf-8", "surrogateescape")

    def commit(self) -> int:
        """Makes the documents in the log visible to readers. Returns how many they were."""
        return self._core.commit()

    @property
    def info(self) -> dict[str, Any]:
        """Counts and sizes, by name."""
        return self._core.describe()

    def __len__(self) -> int:
        return int(self.info["documents"])

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._core.closed

    def close(self) -> None:
        """Closes it; answered documents stay, in the log if they were not committed."""
        self._core.close()

    def __enter__(self) -> Live:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Commits, unless there was an exception, and closes."""
        try:
            if kind is None and not self.closed:
                self.commit()
        finally:
            self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a live handle belongs to its process, and cannot be pickled")

    def __repr__(self) -> str:
        if self.closed:
            return f"<nigh.Live {self.path!r}, closed>"
        return f"<nigh.Live {self.path!r}: {len(self):,} documents, {self.info['in_log']:,} in the log>"


class _Group(NamedTuple):
    """Some documents: texts or rows, with their ids and values."""

    given: Any
    number: int
    ids: Optional[tuple[Any, ...]] = None
    values: Optional[tuple[tuple[Value, ...], ...]] = None


def _groups_of_texts(data: Any, columns: Columns) -> Iterator[_Group]:
    """Texts, some at a time; what can be read only once is read as it goes."""
    if isinstance(data, (str, bytes, os.PathLike)):
        raise TypeError("documents come as a list, a generator or a table; find_or_add() takes one text")
    if isinstance(data, Iterator):
        while group := list(itertools.islice(data, _AT_ONCE)):
            yield from _groups_of_texts(group, columns)
        return
    source = data_of(data, columns).source
    if len(source) == 1:
        for batch in pyarrow().RecordBatchReader.from_stream(source[0]()):
            for first in range(0, batch.num_rows, _AT_ONCE):
                read = batch.slice(first, _AT_ONCE).to_pydict()
                yield _Group(tuple(read["text"]), len(read["text"]), tuple(read["id"]) if "id" in read else None)
        return
    texts, ids, values = source[0], source[1], source[5] if len(source) > 5 else None
    for first in range(0, len(texts), _AT_ONCE):
        here = slice(first, first + _AT_ONCE)
        own, under = (None if some is None else some[here] for some in (ids, values))
        yield _Group(texts[here], len(texts[here]), own, under)
