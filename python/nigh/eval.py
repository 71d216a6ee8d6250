# SPDX-License-Identifier: Apache-2.0
"""How well signatures, searches and filters do on your data, as tables.

Each function returns a pandas DataFrame if pandas is installed, else a list of dicts (``Rows``); ``attrs`` of either
has the totals. They measure what ``nigh eval`` measures, and docs/evaluation.md says what it means.

    nigh.eval.signatures(texts)             distances of signatures against what texts have in common
    nigh.eval.duplicates("pages.jsonl")     near-copies by each common method against the truth
    nigh.eval.nearest(collection, ways)     recall and time of ways to search
    nigh.eval.ranked(texts, judgements)     rankings against people's judgements
    nigh.eval.learned(table)                methods of learning
    nigh.eval.psm(texts) how much the weights of bits help
    nigh.eval.terms(texts)                  filters of terms
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional

from . import _core
from ._arrays import rows_of
from ._errors import InvalidError
from ._inputs import Columns, Path, Source, pyarrow
from ._options import features_of
from ._progress import Bar, Progress
from .collection import Collection
from .models import Model, core_of, labelled_input

_NONE = 2**32 - 2
_METHODS = ("codewords", "s3h", "s3h-f", "simhash", "chi", "ssh", "klsh")


class Rows(list[dict[str, Any]]):
    """A table without pandas: a list of dicts, and ``attrs``."""

    attrs: dict[str, Any]


def _table(rows: list[dict[str, Any]], info: dict[str, Any]) -> Any:
    """Rows as a DataFrame, or as they are."""
    try:
        import pandas
    except ImportError:
        made: Any = Rows(rows)
        made.attrs = info
        return made
    frame = pandas.DataFrame(rows)
    frame.attrs = info
    return frame


def _last_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The column that was added last (a name) comes first."""
    return [dict([list(row.items())[-1], *list(row.items())[:-1]]) for row in rows]


def _signer(
    scheme: Optional[str], width_bits: Optional[int], features: Optional[str], language: Optional[str],
    seed: Optional[int], model: Optional[Model],
) -> dict[str, Any]:  # fmt: skip
    return {
        "scheme": "learned" if model is not None else scheme, "width_bits": width_bits, "language": language, "seed": seed,
        "model": core_of(model), **features_of(features),
    }  # fmt: skip


def signatures(
    data: Any,
    scheme: str = "topsig",
    width_bits: Optional[int] = None,
    *,
    alike: float = 0.8,
    labels: Optional[Path] = None,
    sample: Optional[int] = None,
    column: str = "text",
    id: Optional[str] = None,
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    model: Optional[Model] = None,
    threads: int = 0,
    limit: int = 0,
    progress: Progress = None,
) -> Any:
    """All pairs of documents by the distance of their signatures: a row for each distance that some pair has.

    Alike are pairs whose texts have a cosine of ``alike``, or that a file of ``labels`` (lines ID, ID, value) says are.
    ``precision``, ``recall`` and ``f1`` are of taking pairs at this distance or nearer for alike; ``length`` is "all",
    or the words of the shorter text.

    >>> import nigh
    >>> table = nigh.eval.signatures(["one two three", "one two three four", "five six"], "simhash")
    >>> table.attrs["pairs"]
    3
    """
    given, reading = labelled_input(data, Columns(column, id))
    measuring = {"alike": alike, "labels": None if labels is None else os.fsdecode(labels), "sample": sample, "threads": threads}
    with Bar(progress) as bar:
        rows, info = _core.eval_signatures(
            given, reading, _signer(scheme, width_bits, features, language, seed, model),
            {"threads": threads, "limit": limit}, measuring, bar.report,
        )  # fmt: skip
    return _table(_last_first(rows), info)


def ranked(
    data: Any,
    judgements: Path,
    queries: Any = None,
    scheme: str = "topsig",
    width_bits: Optional[int] = None,
    *,
    column: str = "text",
    id: str = "id",
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    threads: int = 0,
    progress: Progress = None,
) -> Any:
    """Mean average precision and precision at 10 of rankings against a file of judgements (lines QUERY 0 DOCUMENT GRADE).

    A row a ranking: by all bits, by those the query touches, weighted, weighted without rounding, and by the cosine of
    the features, which signatures stand for.  Without ``queries`` relevant documents ask for each other.
    """
    given, reading = labelled_input(data, Columns(column, id))
    asking = None if queries is None else labelled_input(queries, Columns(column, id))[0]
    with Bar(progress) as bar:
        found = _core.eval_ranked(
            given, reading, _signer(scheme, width_bits, features, language, seed, None), {"threads": threads},
            os.fsencode(judgements), asking, bar.report,
        )  # fmt: skip
    names = {"bits": "", "touched": "touched_", "weighted": "weighted_", "unrounded": "unrounded_", "vectors": "vector_"}
    rows = [
        {"ranking": name, "map": found[f"{prefix}map"], "precision": found[f"{prefix}precision"]}
        for name, prefix in names.items()
    ]
    return _table(rows, {name: found[name] for name in ("topics", "rankings", "missing")})


@contextmanager
def _files(data: Any, columns: Columns) -> Iterator[tuple[list[bytes], dict[str, Any]]]:
    """Paths; for other data that of a temporary file of JSON lines."""
    given, reading = labelled_input(data, columns)
    if isinstance(given, list):
        yield given, reading
        return
    texts, ids = _texts(given)
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for number, text in enumerate(texts):
            if text is not None:
                file.write(json.dumps({"id": str(number) if ids is None else ids[number], "text": text}) + "\n")
        file.flush()
        yield [os.fsencode(file.name)], {}


def _texts(source: Source) -> tuple[Any, Any]:
    if len(source) > 1:
        return source[0], source[1]
    table = pyarrow().table(source[0]())
    return table["text"].to_pylist(), table["id"].to_pylist() if "id" in table.column_names else None


def duplicates(
    data: Any,
    threshold: float = 0.8,
    *,
    column: str = "text",
    id: Optional[str] = None,
    features: Optional[str] = None,
    language: Optional[str] = None,
    threads: int = 0,
    limit: int = 0,
    progress: Progress = None,
) -> Any:
    """How well near-copies are found, by ``nigh.dedup`` and by other common methods: one row for each method.

    The truth is every pair of documents whose sets of features have a Jaccard index of ``threshold``, found by
    comparing the sets.  ``radius`` and ``width_bits`` are missing of methods that have none.
    """
    signer = None if features is None and language is None else {"language": language, **features_of(features)}
    with Bar(progress) as bar, _files(data, Columns(column, id)) as (paths, reading):
        rows, info = _core.eval_duplicates(
            paths, reading, signer, {"threshold": threshold, "threads": threads, "limit": limit}, bar.report
        )
    for row in rows:
        row["radius"] = None if row["radius"] == _NONE else row["radius"]
        row["width_bits"] = row["width_bits"] or None
    return _table(rows, info)


def nearest(
    collection: Collection,
    ways: Optional[list[dict[str, Any]]] = None,
    *,
    k: int = 10,
    queries: Any = None,
    ask: int = 100,
    seed: int = 0,
    threads: int = 0,
    progress: Progress = None,
) -> Any:
    """Recall and time of ways to search, one query after the other: a row for each of ``ways``.

    A way is the options of ``Collection.search``, such as ``{"method": "graph", "effort": 100}``.  Without ``queries``
    (an array of uint8) some documents ask, each left out of its own answer.  ``cdr`` is the cumulative distance ratio,
    ``recall`` counts what is no farther than the true k-th, times are seconds a query.
    """
    settings = ways if ways is not None else [{"method": "scan"}, {"method": "auto"}]
    own = None
    if queries is None:
        import numpy

        numbers = collection.numbers
        chosen = numpy.random.default_rng(seed).choice(len(numbers), min(ask, len(numbers)), replace=False)
        own = numpy.sort(numpy.asarray(numbers)[chosen])
        queries = collection.signatures()[own.astype(numpy.int64)]
    rows, _ = rows_of(queries, collection.width_bits)
    with Bar(progress) as bar:
        found = _core.eval_nearest(collection._core, rows, own, k, threads, [dict(way) for way in settings], bar.report)
    named = [{"way": ", ".join(f"{name} {value}" for name, value in way.items()), **row} for way, row in zip(settings, found)]
    return _table(named, {"queries": found[0]["queries"] if found else 0, "documents": len(collection)})


def learned(
    data: Any,
    *,
    methods: Optional[list[str]] = None,
    widths: Optional[list[int]] = None,
    column: str = "text",
    label: str = "label",
    part: Optional[str] = None,
    seeds: Optional[int] = None,
    radius: Optional[int] = None,
    queries: Optional[int] = None,
    labelled: Optional[float] = None,
    references: bool = True,
    lookup: str = "off",
    features: Optional[str] = None,
    language: Optional[str] = None,
    threads: int = 0,
    progress: Progress = None,
    **learning: Any,
) -> Any:
    """How well learned signatures bring documents of one label together: a row for each method and width.

    Documents whose ``part`` is "test" ask and those of "train" answer; without ``part`` every fifth asks.  ``methods``
    are those of ``nigh.train`` (default: codewords, s3h and simhash), ``widths`` bits (16 and 32); more options are those
    of ``nigh.train``.
    """
    given, reading = labelled_input(data, Columns(column, None, None, label, part))
    wanted = methods if methods is not None else ["codewords", "s3h", "simhash"]
    for name in wanted:
        if name not in _METHODS:
            raise InvalidError(f"there is no method {name!r}; there are: {', '.join(_METHODS)}")
    options = {
        "seeds": seeds, "radius": radius, "queries": queries, "labelled": labelled, "references": references,
        "lookup": lookup,
    }  # fmt: skip
    how = {**learning, "language": language, "threads": threads, **features_of(features)}
    with Bar(progress) as bar:
        rows, info = _core.eval_learned(
            given, reading, how, [_METHODS.index(name) for name in wanted], list(widths or [16, 32]), options, bar.report
        )
    return _table(rows, info)


class PsmTables(NamedTuple):
    """How much the weights of bits help."""

    attempts: Any
    """How many combinations of bits are tried until the right one comes, by model and number of bits."""
    recall: Any
    """Which share of the matches (``all``), or of the queries (``any``), probes of leading bits find."""


def psm(
    data: Any,
    *,
    radius: int = 3,
    queries: Optional[int] = None,
    probes: Optional[int] = None,
    column: str = "text",
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    threads: int = 0,
    limit: int = 0,
    progress: Progress = None,
) -> PsmTables:
    """How much the weights of a query's bits help to find near-copies by simhash signatures of 64 bits."""
    given, reading = labelled_input(data, Columns(column))
    options = {"radius": radius, "queries": queries, "probes": probes, "threads": threads}
    with Bar(progress) as bar:
        attempts, recall, info = _core.eval_psm(
            given, reading, _signer("simhash", 64, features, language, seed, None), {"threads": threads, "limit": limit},
            options, bar.report,
        )  # fmt: skip
    return PsmTables(_table(_last_first(attempts), info), _table(_last_first(recall), info))


def terms(
    data: Any,
    *,
    ratios: Optional[list[float]] = None,
    block_terms: Optional[int] = None,
    sample: Optional[int] = None,
    queries: Optional[int] = None,
    seed: Optional[int] = None,
    column: str = "text",
    language: Optional[str] = None,
    threads: int = 0,
    limit: int = 0,
    progress: Progress = None,
) -> Any:
    """How often filters of terms err, and how large they are: a row for each kind and number of bits a word."""
    given, reading = labelled_input(data, Columns(column))
    analysis = None if language is None else {"language": language}
    made = {"block_terms": block_terms, "threads": threads, "limit": limit}
    with Bar(progress) as bar:
        rows, info = _core.eval_terms(
            given, reading, analysis, made, list(map(float, ratios or [])),
            {"sample": sample, "queries": queries, "seed": seed}, bar.report,
        )  # fmt: skip
    return _table(_last_first(rows), info)
