# SPDX-License-Identifier: Apache-2.0
"""Collections: signatures or texts on disk, and searching them."""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Optional, Union

from . import _core
from ._arrays import array_of, is_rows, rows_of
from ._errors import InvalidError
from ._inputs import Columns, Path, data_of, kept_keys, paths_of
from ._options import features_of
from ._progress import Bar, Progress
from .live import Found, Live
from .models import Model, core_of

_MATCH = struct.Struct("<QII")
_AGAINST = struct.Struct("<QQQdIBBxx")
_ALL = 2**32 - 2
_ALL_64 = 2**64 - 2
_AT_ONCE = 4096


class Proof(NamedTuple):
    """What is certain about the answer to one query."""

    exact: bool
    """These are the nearest, ties included."""
    below: Optional[int]
    """Nothing nearer than this was missed; None: nothing at all was."""
    whole: Optional[int]
    """The distance of a document that differs in all that counts: 1 - distance / whole is the similarity."""
    chance: Optional[int]
    """The distance that the nearest of as many random signatures would have."""


class Match(NamedTuple):
    """One document that was found."""

    document: int
    id: str
    distance: int
    similarity: float


class Answers:
    """What a search found: ``len()`` queries, each with its matches, the nearest first.

    ``distances`` and ``documents`` are NumPy arrays with one row for each query, filled up with the largest number
    and -1 if a query has fewer matches; ``limits``, ``flat_distances`` and ``flat_documents`` have them without
    filling: those of query q are from ``limits[q]`` up to ``limits[q + 1]``.
    """

    __slots__ = ("_core", "_found", "_width", "_copies")

    def __init__(self, core: _core.Collection, found: _core.Results, width_bits: int) -> None:
        self._core = core  # the state that was searched: a refresh may give documents other numbers
        self._found = found
        self._width = width_bits
        self._copies: Optional[tuple[bytes, bytes]] = None

    def __len__(self) -> int:
        return len(self._found)

    @property
    def stats(self) -> dict[str, Any]:
        """Counts of the search, by name."""
        return self._found.describe()

    def _blobs(self) -> tuple[bytes, bytes]:
        """Where the matches of each query begin, and the matches."""
        if self._copies is None:
            self._copies = self._found.limits(), self._found.matches()
        return self._copies

    @property
    def exact(self) -> bool:
        """Nothing can have been missed, for any query."""
        return bool(self.stats["exact"])

    @property
    def limits(self) -> Any:
        """Where the matches of each query begin, and at last where they end."""
        return array_of(self._blobs()[0], "Q")

    @property
    def flat_documents(self) -> Any:
        """The documents of all matches."""
        return _column(self._blobs()[1], "Q", 0)

    @property
    def flat_distances(self) -> Any:
        """The distances of all matches."""
        return _column(self._blobs()[1], "I", 8)

    def _filled(self, flat: Any, kind: str, rest: int) -> Any:
        if len(self) == 1:
            return flat.astype(kind).reshape(1, -1)
        import numpy

        limits = self.limits.astype(numpy.int64)
        counts = limits[1:] - limits[:-1]
        most = int(counts.max()) if len(counts) else 0
        if len(counts) and int(counts.min()) == most:
            return flat.reshape(len(counts), most).astype(kind)
        filled: Any = numpy.full((len(counts), most), rest, kind)
        filled[numpy.arange(most)[None, :] < counts[:, None]] = flat
        return filled

    @property
    def documents(self) -> Any:
        """An array with one row for each query; -1 if there are fewer matches."""
        return self._filled(self.flat_documents, "int64", -1)

    @property
    def distances(self) -> Any:
        """An array with one row for each query; 2147483647 if there are fewer matches."""
        return self._filled(self.flat_distances, "int32", 2**31 - 1)

    def proof(self, query: int = 0) -> Proof:
        """What is certain about the answer to a query."""
        exact, *numbers = self._found.proof(query)
        return Proof(exact, *(None if number == _ALL else number for number in numbers))

    def matches(self, query: int = 0) -> list[Match]:
        """The matches of a query, with ids, the nearest first."""
        if not 0 <= query < len(self):
            raise IndexError(f"there is no query {query}; there are {len(self)}")
        limits, matches = self._blobs()
        first, end = struct.unpack_from("<QQ", limits, query * 8)
        found = list(_MATCH.iter_unpack(matches[first * 16 : end * 16]))
        ids = self._core.ids(b"".join(match[0].to_bytes(8, "little") for match in found))
        whole = self.proof(query).whole or self._width
        return [
            Match(document, name.decode("utf-8", "surrogateescape"), distance, 1 - distance / whole)
            for (document, distance, _), name in zip(found, ids)
        ]

    def __iter__(self) -> Iterator[list[Match]]:
        return (self.matches(query) for query in range(len(self)))

    def _lines(self, most: int) -> Iterator[tuple[int, Match]]:
        for query in range(min(len(self), most)):
            for match in self.matches(query)[:most]:
                yield query, match

    def _certainty(self) -> str:
        return "exact" if self.exact else f"approximate, {self.stats['exact_queries']} of {len(self)} proven exact"

    def __repr__(self) -> str:
        many = "query" if len(self) == 1 else "queries"
        lines = [f"{len(self)} {many}, {self.stats['matches']} matches, {self._certainty()}"]
        lines += [f"{query:5d}  {match.distance:5d}  {match.similarity:.3f}  {match.id}" for query, match in self._lines(10)]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{query}</td><td>{match.distance}</td><td>{match.similarity:.3f}</td><td>{escape(match.id)}</td></tr>"
            for query, match in self._lines(10)
        )
        heads = "".join(f"<th>{name}</th>" for name in ("query", "distance", "similarity", "document"))
        return f"<table><caption>{self._certainty()}</caption><tr>{heads}</tr>{rows}</table>"


@functools.cache
def _record(kind: str, offset: int) -> Any:
    import numpy

    return numpy.dtype({"names": ["value"], "formats": [kind], "offsets": [offset], "itemsize": 16})


def _column(blob: bytes, kind: str, offset: int) -> Any:
    import numpy

    return numpy.frombuffer(blob, _record(kind, offset))["value"]


class AgainstResult(NamedTuple):
    """New documents compared with a collection, in their order."""

    there: list[Optional[int]]
    """The document of the collection that it matches."""
    earlier: list[Optional[int]]
    """If it matches nothing in the collection: the earlier new document that it matches."""
    added: list[Optional[int]]
    """The number it was added under."""
    similarity: list[Optional[float]]
    """The Jaccard index with its match, if that was verified."""
    stats: dict[str, Any]

    @property
    def new(self) -> list[int]:
        """Those that match nothing."""
        return [number for number, pair in enumerate(zip(self.there, self.earlier)) if pair == (None, None)]


def _against_result(blob: bytes, stats: dict[str, Any]) -> AgainstResult:
    rows = list(_AGAINST.iter_unpack(blob))

    def known(column: int) -> list[Optional[int]]:
        return [None if row[column] == _ALL_64 else row[column] for row in rows]

    similarity = [row[3] if row[3] >= 0 and not row[5] else None for row in rows]
    return AgainstResult(known(0), known(1), known(2), similarity, stats)


class Collection:
    """A collection on disk, open for searching; several threads may search it.

    It does not show what others commit later, until ``refresh()``. Use it as a context manager, or close it. It can
    be pickled: it is opened again by its path.

    >>> import nigh, tempfile
    >>> place = tempfile.mkdtemp() + "/news.nigh"
    >>> news = nigh.Collection.create(place, ["rain in the north", "sun in the south"], scheme="simhash", ids=["a", "b"])
    >>> news.search("rain in the north", k=1).matches()[0].id
    'a'
    >>> len(news)
    2
    """

    def __init__(self, path: Path, *, verify: bool = False, load: bool = False, progress: Progress = False) -> None:
        self.path = os.fsdecode(path)
        self._open = (verify, load)
        with Bar(progress) as bar:
            self._core = _core.Collection(os.fsencode(path), verify, load, bar.report)
        self.width_bits: int = self.info["width_bits"]
        """The bits of a signature."""

    # ------------------------------------------------------------ making --

    @classmethod
    def create(cls, path: Path, data: Any, **options: Any) -> Collection:
        """Makes a collection of documents or rows, as ``add`` does; it must not exist yet."""
        if os.path.exists(path):
            from ._errors import ExistsError

            raise ExistsError(f"'{os.fsdecode(path)}' already exists; open it, and add to it")
        add(path, data, **options)
        return cls(path)

    def add(self, data: Any, **options: Any) -> dict[str, Any]:
        """Adds documents (texts, records, tables, paths) or rows (an array of uint8), all of them or none.

        Returns what was done; this collection then shows the new state.  See :func:`nigh.add` for the options.
        """
        self._check_open()
        if "width_bits" not in options and not isinstance(data, (str, bytes, os.PathLike)):
            options["width_bits"] = self.width_bits
        done = add(self.path, data, **options)
        self.refresh()
        return done

    def delete(
        self, ids: Any, *, missing_ok: bool = False, progress: Progress = False
    ) -> dict[str, Any]:
        """Deletes documents, all in one commit: an id (str) or a number (int), or many of these.

        Nothing finds or reads them afterwards; ``merge()`` frees their space on the disk. If one does not exist, it
        raises NotFoundError and deletes none; with ``missing_ok`` it deletes the others, and ``"missing"`` of the
        result names the missing ones. Numbers are those that this handle shows, and stay as they are until
        ``merge()``.

        >>> import nigh, tempfile
        >>> news = nigh.Collection.create(tempfile.mkdtemp() + "/n.nigh", ["rain", "sun"], scheme="simhash", ids=["a", "b"])
        >>> news.delete("a")["deleted"], len(news), list(news)
        (1, 1, ['b'])
        """
        self._check_open()
        names = tuple(self._names(ids))
        given = tuple(name.encode("utf-8", "surrogateescape") for name in names)
        with Bar(progress) as bar:
            done, missing = _core.delete_ids(os.fsencode(self.path), given, missing_ok, bar.report)
        self.refresh()
        return {**done, "missing": [names[place] for (place,) in struct.iter_unpack("<Q", missing)]}

    def _names(self, ids: Any) -> Iterator[str]:
        many = [ids] if isinstance(ids, str) or hasattr(ids, "__index__") and getattr(ids, "ndim", 0) == 0 else ids
        if isinstance(many, (bytes, bytearray, memoryview, dict)):
            raise TypeError(f"ids are str or int, or many of these, not {type(many).__name__}")
        for name in many:
            if isinstance(name, str):
                yield name
            elif hasattr(name, "__index__") and not isinstance(name, bool):
                yield self.id(int(name))
            else:
                raise TypeError(f"an id is a str, a number an int, and {name!r} is neither")

    def merge(self, *, tiered: bool = False, threads: int = 0, progress: Progress = None) -> dict[str, Any]:
        """Writes all segments as one, without deleted documents; with ``tiered`` only those that a commit would
        merge.

        If documents have ids, the numbers of those after deleted ones change; ids never change.
        """
        self._check_open()
        with Bar(progress) as bar:
            done = _core.merge(os.fsencode(self.path), {"tiered": tiered, "threads": threads}, bar.report)
        self.refresh()
        return done

    def adopt(self, *others: Union[Collection, Path], progress: Progress = None) -> dict[str, Any]:
        """Takes over all documents of other collections, which stay as they are; see :func:`nigh.adopt`."""
        self._check_open()
        done = adopt(self.path, *others, progress=progress)
        self.refresh()
        return done

    def find_or_add(
        self, data: Any, column: str = "text", *, id: Optional[str] = None, ids: Any = None, **options: Any
    ) -> list[Found]:
        """Takes documents or rows one by one: each that is the same as none before it is added.

        All is committed at the end. For a stream of documents open a :class:`nigh.Live` instead, with the same
        options, and keep it open.
        """
        self._check_open()
        with Live(self.path, create=False, **options) as live:
            found = live.find_or_add_many(data, column, id=id, ids=ids)
        self.refresh()
        return found

    def _check_open(self) -> None:
        if self._core.closed:
            raise ValueError("the collection is closed")

    def refresh(self) -> None:
        """Shows the newest committed state."""
        self._check_open()
        self._core = _core.Collection(os.fsencode(self.path), *self._open, None)  # answers may still need the old one

    def build(
        self, *kinds: str, min_rows: Optional[int] = None, threads: int = 0, progress: Progress = None
    ) -> None:
        """Builds what makes searches faster: "graph", "slices", "columns" or "tables" (for a radius).

        Segments of fewer than ``min_rows`` distinct signatures get none (default: as many as it pays off for).
        """
        self._check_open()
        least = -1 if min_rows is None else min_rows
        with Bar(progress) as bar:
            for kind in kinds or ("graph",):
                if kind not in _BUILDS:
                    raise InvalidError(f"there is no kind {kind!r}; there are: {', '.join(_BUILDS)}")
                _core.build(os.fsencode(self.path), _BUILDS.index(kind), threads, least, bar.report)
        self.refresh()

    def tune(self, *, store: bool = True, progress: Progress = None, **targets: Any) -> dict[str, Any]:
        """Measures the fastest way to search that finds enough, and stores it with the collection.

        Targets: ``recall`` (default .95), ``cdr``, ``seconds``, ``memory_bytes``; also ``k``, ``sample``, ``seed``
        and ``threads``.
        """
        with Bar(progress) as bar:
            path = os.fsencode(self.path) if store else None
            found, method, met = self._core.tune(targets, path, bar.report)
        if store:
            self.refresh()
        return {**found, "method": method, "met": bool(met)}

    # --------------------------------------------------------- searching --

    def search(
        self,
        query: Any,
        k: Optional[int] = 10,
        radius: Optional[int] = None,
        *,
        exact: bool = False,
        method: str = "auto",
        where: Optional[str] = None,
        threads: int = 0,
        progress: Progress = False,
        **options: Any,
    ) -> Answers:
        """The nearest documents to a text, to each of a list of texts, or to each row of an array of uint8.

        ``k`` None: all within ``radius`` bits.  ``exact``: nothing is missed.  ``where``: only documents for which a
        condition is true, such as "lang = en and year >= 2024", by keys that are kept (``keep_keys``). Further
        options are those of the
        library: ``rank`` ("bits", "weighted"), ``all_bits``, ``effort``, ``breadth``, ``candidates``, ``slack``.
        """
        if k is None and radius is None:
            raise InvalidError("give k, a radius, or both")
        options["k"] = _ALL if k is None else k
        if radius is not None:
            options["radius"] = radius
        if method != "auto":
            options["method"] = method
        if threads != 0:
            options["threads"] = threads
        if where is not None:
            options["where"] = where
        if exact:
            options["stop"] = "certain"
        if progress is not False:
            with Bar(progress) as bar:
                return self._ask(query, options, bar.report)
        core = self._core  # the short way, for one row or many
        found = core.search_rows(query, options, None)
        return self._ask(query, options, None) if found is None else Answers(core, found, self.width_bits)

    def _ask(self, query: Any, given: dict[str, Any], report: Any) -> Answers:
        core = self._core
        if isinstance(query, str):
            return Answers(core, core.search_texts((query,), given, report), self.width_bits)
        if isinstance(query, (list, tuple)) and all(isinstance(item, str) for item in query):
            return Answers(core, core.search_texts(tuple(query), given, report), self.width_bits)
        self._check_open()
        rows, count = rows_of(query, self.width_bits)
        if not hasattr(rows, "dtype"):
            rows = memoryview(rows).cast("B").cast("B", (count, (self.width_bits + 7) // 8)) if count else rows
        found = core.search_rows(rows, given, report)
        if found is None:
            raise InvalidError(f"these are no rows of {self.width_bits} bits")
        return Answers(core, found, self.width_bits)

    def against(
        self,
        data: Any,
        column: str = "text",
        *,
        id: Optional[str] = None,
        add: bool = False,
        progress: Progress = None,
        **options: Any,
    ) -> AgainstResult:
        """Which of these documents or rows the collection has already; with ``add`` the others are added.

        In a collection for near-copies (scheme "minhash" with a threshold) they are compared by text; in others two
        match if they differ in at most ``radius`` bits.
        """
        self._check_open()
        with Bar(progress) as bar:
            result = _against(self.path, data, column, id, self.width_bits, options, add, bar)
        if add:
            self.refresh()
        return result

    # ---------------------------------------------------------- contents --

    @property
    def info(self) -> dict[str, Any]:
        """Counts and sizes, by name."""
        return self._core.describe()

    @property
    def scheme(self) -> dict[str, str]:
        """How its signatures were made."""
        lines = self._core.scheme().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def __len__(self) -> int:
        """How many documents there are, without deleted ones."""
        info = self.info
        return int(info["documents"] - info["deleted"])

    @property
    def numbers(self) -> Any:
        """The numbers of all documents, ascending: without gaps unless some were deleted."""
        return array_of(self._core.living(0, 2**64 - 1), "Q")

    def find(self, id: str) -> Optional[int]:
        """The number of the document with this id, or None."""
        return self._core.find(id.encode("utf-8", "surrogateescape"))

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.find(id) is not None

    def id(self, document: int) -> str:
        """The id of a document; its number if it has none."""
        return self._core.id(document).decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        """The ids of all documents, in the order of their numbers."""
        for first in range(0, int(self.info["documents"]), _AT_ONCE):
            for name in self._core.ids(self._core.living(first, first + _AT_ONCE)):
                yield name.decode("utf-8", "surrogateescape")

    def snippet(self, document: int) -> str:
        """The beginning of the text, which is kept to be shown."""
        return self._core.metadata(document).decode("utf-8", "replace")

    def text(self, document: int) -> Optional[str]:
        """The text, if the collection keeps texts."""
        kept = self._core.text(document)
        return None if kept is None else kept.decode("utf-8", "replace")

    def signatures(self, first: int = 0, count: Optional[int] = None) -> Any:
        """The signatures of documents by number, one row each; all 0 for a deleted one."""
        blob = self._core.signatures(first, int(self.info["documents"]) if count is None else count)
        return array_of(blob, "B", (self.width_bits + 7) // 8)

    # ----------------------------------------------------------- handles --

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._core.closed

    def close(self) -> None:
        """Closes it; a running search of another thread still finishes."""
        self._core.close()

    def __enter__(self) -> Collection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopen, (self.path, *self._open)

    def __repr__(self) -> str:
        if self.closed:
            return f"<nigh.Collection {self.path!r}, closed>"
        return f"<nigh.Collection {self.path!r}: {len(self):,} documents of {self.width_bits} bits>"


_BUILDS = ("graph", "slices", "columns", "tables")


def _reopen(path: str, verify: bool, load: bool) -> Collection:
    return Collection(path, verify=verify, load=load)


def _against(
    path: str, data: Any, column: str, id: Optional[str], width: int, options: dict[str, Any], add: bool, bar: Bar
) -> AgainstResult:
    place = os.fsencode(path)
    if is_rows(data) or isinstance(data, (bytes, bytearray, memoryview)):
        rows, _ = rows_of(data, width)
        return _against_result(*_core.against(place, rows, (width + 7) // 8, options, None, add, bar.report))
    source = data_of(data, Columns(column, id)).source
    return _against_result(*_core.against(place, source, 0, options, None, add, bar.report))


def adopt(path: Path, *others: Union[Collection, Path], progress: Progress = None) -> dict[str, Any]:
    """Takes over all documents of other collections into the one at a path, which is made if there is none.

    Their segments are copied as they are, with all that makes searches fast; nothing is signed or built. They must
    have been made in the same way, and no id may occur twice.

    >>> import nigh, tempfile
    >>> place = tempfile.mkdtemp()
    >>> for name in ("a", "b"):
    ...     _ = nigh.add(f"{place}/{name}.nigh", [f"text {name}"], scheme="simhash", ids=[name], progress=False)
    >>> nigh.adopt(f"{place}/all.nigh", f"{place}/a.nigh", f"{place}/b.nigh")["adopted"]
    2
    """
    paths = [os.fsencode(other.path if isinstance(other, Collection) else other) for other in others]
    if not paths:
        raise InvalidError("no collection is given to adopt")
    with Bar(progress) as bar:
        return _core.adopt(os.fsencode(path), paths, bar.report)


def add(
    path: Path,
    data: Any,
    column: str = "text",
    *,
    id: Optional[str] = None,
    ids: Optional[list[str]] = None,
    scheme: Optional[str] = None,
    width_bits: Optional[int] = None,
    features: Optional[str] = None,
    language: Optional[str] = None,
    threshold: Optional[float] = None,
    model: Optional[Model] = None,
    seed: Optional[int] = None,
    snippet: Optional[int] = None,
    keep_weights: bool = False,
    keep_keys: Optional[Sequence[str]] = None,
    replace: bool = False,
    merge: bool = True,
    threads: int = 0,
    progress: Progress = None,
) -> dict[str, Any]:
    """Adds to the collection at a path, making it if there is none; adds all or, after a failure, nothing.

    ``data``: a list of texts or records, a table, paths, or rows of uint8.  ``scheme``: "topsig" (for nearest
    documents; the default), "simhash", or "minhash" with a ``threshold`` (for near-copies); with a ``model`` it signs
    the texts. ``replace``: a document replaces the one with the same id; without it, texts whose id exists are left
    out and counted as ``"repeated"``, and rows are refused. ``merge`` False: what is added stays a segment of its
    own. ``keep_keys``: for records and files, keys (dotted paths) whose values are kept, for ``search(where=...)``; a
    collection has the keys that it was made with, and keeps them for later documents too.

    >>> import nigh, tempfile
    >>> records = [{"text": "rain in the north", "lang": "en", "year": 2024}, {"text": "rain in May", "year": 2023}]
    >>> news = nigh.Collection.create(tempfile.mkdtemp() + "/n.nigh", records, scheme="simhash", keep_keys=["lang", "year"])
    >>> len(news.search("rain", where="year >= 2024 and lang = en").matches())
    1
    """
    place = os.fsencode(path)
    with Bar(progress) as bar:
        if is_rows(data) or isinstance(data, (bytes, bytearray, memoryview)):
            return _add_rows(place, data, width_bits, ids, {"replace": replace, "merge": merge}, bar)
        signer: Optional[dict[str, Any]] = {
            "scheme": scheme, "width_bits": width_bits, "language": language, "threshold": threshold, "seed": seed,
            **features_of(features),
        }  # fmt: skip
        if model is not None:
            signer = {"scheme": "learned", "width_bits": width_bits, "model": core_of(model)}
        elif os.path.exists(path) and scheme is None:
            signer = None
        options = {"snippet": snippet, "keep_weights": keep_weights, "threads": threads, "replace": replace, "merge": merge}
        keep = _kept_keys(path) if keep_keys is None else tuple(keep_keys)
        return _add_documents(place, data, Columns(column, id, keep=keep), ids, signer, options, bar)


def _kept_keys(path: Path) -> tuple[str, ...]:
    """The keys that the collection at a path keeps; none if there is no collection."""
    if not os.path.exists(path):
        return ()
    with Collection(path) as there:
        return kept_keys(there._core.scheme())


def _add_rows(
    place: bytes, data: Any, width: Optional[int], ids: Any, options: dict[str, Any], bar: Bar
) -> dict[str, Any]:
    if width is None:
        shape = getattr(data, "shape", None)
        if shape is None or len(shape) != 2:
            raise InvalidError("rows without a shape need width_bits")
        width = int(shape[1]) * 8
    rows, count = rows_of(data, width)
    return _core.write_rows(place, rows, count, width, None if ids is None else tuple(ids), options, bar.report)


def _add_documents(
    place: bytes, data: Any, columns: Columns, ids: Any, signer: Any, options: Any, bar: Bar
) -> dict[str, Any]:
    paths = paths_of(data)
    reading: dict[str, Any] = {"keep_keys": columns.keep or None}
    if paths is not None:
        reading.update({"text_key": None if columns.text == "text" else columns.text, "id_key": columns.id})
        done, problems = _core.index_paths(place, paths, reading, signer, options, bar.report)
    else:
        source = data_of(data, columns).source
        if ids is not None:
            if len(source) < 3:
                raise InvalidError("ids are for lists of texts; of a table, name the column: id='...'")
            source = (source[0], tuple(ids), *source[2:])
        done, problems = _core.index_source(place, source, reading, signer, options, bar.report)
    return {**done, "problems": problems}
