# SPDX-License-Identifier: Apache-2.0
"""nigh.dedup and what it found."""

from __future__ import annotations

import os
import struct
import tempfile
from collections.abc import Iterator
from html import escape
from typing import Any, NamedTuple, Optional, Union

from . import _core, _parquet
from ._arrays import is_rows, rows_of
from ._errors import InvalidError
from ._inputs import Columns, Data, Path, data_of, paths_of
from ._options import features_of
from ._progress import Bar, Progress
from .collection import Collection

_DOCUMENT = struct.Struct("<QQQdIBBxx")
_PAIR = struct.Struct("<QQdIi")
_NONE_64 = 2**64 - 2


class Pair(NamedTuple):
    """Two documents that are alike, by number, from 0."""

    first: int
    second: int
    similarity: float
    """Their Jaccard index; negative if they were not compared by text."""
    copy: bool
    """Their texts are exactly the same."""


class Cluster(NamedTuple):
    """Documents that are nearly the same, by number."""

    keep: int
    members: list[int]


class DedupResult:
    """What a de-duplication found.

    >>> import nigh
    >>> kept, result = nigh.dedup(["one two three four", "one two three four", "something else"])
    >>> kept
    ['one two three four', 'something else']
    >>> result.clusters
    [Cluster(keep=0, members=[0, 1])]
    >>> result.stats["copies"]
    1
    """

    def __init__(self, core: _core.Dedup, seconds: float) -> None:
        self._core = core
        self.stats: dict[str, Any] = core.describe()
        self.stats["seconds"] = seconds
        self.problems: list[str] = core.problems()

    @property
    def mask(self) -> Any:
        """For each record whether it stays: a NumPy array of bool, or bytes of 0 and 1 without NumPy."""
        return _array(self._core.mask(), "?")

    def _documents(self) -> Iterator[tuple[Any, ...]]:
        return _DOCUMENT.iter_unpack(self._core.documents())

    @property
    def clusters(self) -> list[Cluster]:
        """All clusters of two documents or more, in the order of the documents kept."""
        members: dict[int, list[int]] = {}
        records: list[int] = []
        for number, cluster, there, *_ in self._documents():
            records.append(number)
            if there == _NONE_64:
                members.setdefault(cluster, []).append(number)
        found = [Cluster(records[keep], many) for keep, many in members.items() if len(many) > 1]
        return sorted(found)

    @property
    def pairs(self) -> list[Pair]:
        """For each document that goes, the pair with the one kept for it; with ``all_pairs``, every pair alike."""
        records = [number for number, *_ in self._documents()]
        found, self.pairs_untold = self._core.pairs()
        return [
            Pair(records[first], records[second], similarity, copy != 0)
            for first, second, similarity, _, copy in _PAIR.iter_unpack(found)
        ]

    @property
    def there(self) -> dict[int, int]:
        """With ``against``: which document of the collection each that goes is a near-copy of."""
        return {number: there for number, _, there, *_ in self._documents() if there != _NONE_64}

    def write(self, path: Path, annotate: bool = False, progress: Progress = None) -> tuple[int, int]:
        """Writes what is kept, in the form of the input. Returns the numbers of records and bytes written."""
        with Bar(progress) as bar:
            return self._core.write(os.fsencode(path), annotate, bar.report)

    def report(self, path: Path) -> None:
        """Writes the report: one HTML file that needs no other."""
        self._core.report(os.fsencode(path))

    def __repr__(self) -> str:
        stats = self.stats
        return f"<nigh.DedupResult: {stats['kept']:,} of {stats['documents']:,} documents kept, {stats['clusters']:,} clusters>"

    def report_html(self) -> str:
        """The page that ``report`` writes, as a text."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.html")
            self.report(path)
            with open(path, encoding="utf-8") as file:
                return file.read()

    def _repr_html_(self) -> str:
        """In a notebook: the counts, and below them the report."""
        rows = "".join(f"<tr><td>{name}</td><td>{self.stats[name]:,}</td></tr>" for name in _SHOWN)
        table = f"<table>{rows}</table>"
        page = self.report_html()
        if len(page) > _MOST_SHOWN:
            return table + "<p>The report is long: <code>result.report('report.html')</code> writes it to a file.</p>"
        return f'{table}<iframe srcdoc="{escape(page)}" style="width: 100%; height: 32em; border: 1px solid #ccc"></iframe>'


_MOST_SHOWN = 2_000_000  # characters: a notebook keeps what it shows
_SHOWN = ("documents", "kept", "copies", "clusters", "largest", "verified")


def _array(blob: bytes, kind: str) -> Any:
    try:
        import numpy
    except ImportError:
        return blob
    return numpy.frombuffer(blob, kind)


def _signer(features: Optional[str], language: Optional[str], seed: Optional[int]) -> Optional[dict[str, Any]]:
    """None: three words in a row."""
    if features is None and language is None and seed is None:
        return None
    return {**features_of(features or "ngrams:3"), "language": language, "seed": seed}


def dedup(
    data: Any,
    column: str = "text",
    threshold: float = 0.8,
    keep: str = "first",
    *,
    output: Optional[Path] = None,
    id: Optional[str] = None,
    score: Optional[str] = None,
    distance: Optional[int] = None,
    method: str = "minhash",
    cluster: str = "kept",
    all_pairs: bool = False,
    verify: bool = True,
    against: Union[Collection, Path, None] = None,
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    threads: int = 0,
    memory_bytes: int = 0,
    temporary: Optional[str] = None,
    reading: Optional[dict[str, Any]] = None,
    progress: Progress = None,
) -> tuple[Any, DedupResult]:
    """Leaves out documents that are nearly the same as one that is kept.

    ``data`` is a list or generator of texts or records, a pyarrow Table, RecordBatch, RecordBatchReader or Dataset, a
    pandas or polars frame or series, a Hugging Face Dataset, or paths (a path, or a list of pathlib paths) of files
    that the tool reads, and of Parquet files. Returns what is kept, as the same kind of data, and a DedupResult. For
    paths, ``output`` says where to write what is kept: a file, or for Parquet a folder that gets one file for each
    input; it then returns the paths written, or None without ``output``.

    Texts are alike if their sets of three words in a row have a Jaccard index of ``threshold`` or more; every pair is
    verified by its texts. For signatures, an array of uint8, rows are alike if they differ in at most ``distance``
    bits (default: 3 of 64, and the same share of other
    widths).  ``keep`` is "first", "longest", "shortest" or "score" (the highest in the column
    ``score``).  Records without a text are kept.  ``against``: a collection for near-copies, whose documents come
    before all others.

    >>> import nigh
    >>> kept, result = nigh.dedup(["a b c d e f g h", "A b c d e f g h!", "i j k l m n o p"])
    >>> kept
    ['a b c d e f g h', 'i j k l m n o p']
    """
    options: dict[str, Any] = {
        "threshold": threshold, "keep": keep, "method": method, "cluster": cluster, "all_pairs": all_pairs,
        "no_verify": not verify, "threads": threads, "memory_bytes": memory_bytes, "temporary": temporary,
    }  # fmt: skip
    with Bar(progress) as bar:
        run = _Run(options, _signer(features, language, seed), reading, against, bar)
        if is_rows(data):
            return run.rows(data, distance)
        columns = Columns(column, id, score)
        paths = paths_of(data)
        if paths is None:
            if output is not None:
                raise InvalidError("output is for paths; for other data, dedup returns what is kept")
            given = data_of(data, columns)
            result = run.source(given)
            return given.select(result._core.mask()), result
        if _parquet.any_of(paths):
            return _parquet.dedup(run, paths, columns, output)
        return run.files(paths, columns, output)


class _Run:
    """One call of dedup: its options, ready for the extension."""

    def __init__(self, options: dict[str, Any], signer: Any, reading: Any, against: Any, bar: Bar) -> None:
        opened = against if against is None or isinstance(against, Collection) else Collection(against)
        self._rest = (signer, reading, None if opened is None else opened._core)
        self._options = options
        self._bar = bar

    def source(self, given: Data) -> DedupResult:
        """For documents that the program has."""
        signer, reading, against = self._rest
        return self._result(
            _core.dedup_source(given.source, self._options, signer, reading, against, self._bar.report)
        )

    def rows(self, data: Any, distance: Optional[int]) -> tuple[Any, DedupResult]:
        """For signatures."""
        if data.ndim != 2 or data.shape[1] == 0:
            raise InvalidError(f"rows have two dimensions, and these have the shape {data.shape}")
        given, _ = rows_of(data, data.shape[1] * 8)
        options = dict(self._options, method="simhash", distance=distance)
        result = self._result(_core.dedup_rows(given, data.shape[1] * 8, options, self._bar.report))
        return data[result.mask], result

    def files(
        self, paths: list[bytes], columns: Columns, output: Optional[Path]
    ) -> tuple[Any, DedupResult]:
        """For files that the library reads itself."""
        signer, reading, against = self._rest
        keys = {"text_key": None if columns.text == "text" else columns.text, "id_key": columns.id}
        options = dict(self._options, score_key=columns.score, will_write=output is not None)
        result = self._result(
            _core.dedup_paths(paths, options, signer, {**keys, **(reading or {})}, against, self._bar.report)
        )
        if output is None:
            return None, result
        result._core.write(os.fsencode(output), False, self._bar.report)
        return [output], result

    @staticmethod
    def _result(core: _core.Dedup) -> DedupResult:
        stats = core.describe()
        names = ("reading_seconds", "finding_seconds", "verifying_seconds", "clustering_seconds")
        return DedupResult(core, sum(stats[name] for name in names))
