# SPDX-License-Identifier: Apache-2.0
"""nigh on Apache Spark: near-copies, signatures and searches of DataFrames.

    import nigh.spark
    kept = nigh.spark.dedup(df, "text", order_by="id")

Spark moves records between the tasks of the C core (tasks.h), spills them, and does again what is lost; the core signs,
sorts, compares and decides.  Every worker needs this package and pyarrow, and nothing else.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Optional, Union

from pyspark import StorageLevel
from pyspark.sql import DataFrame, Window, functions as F

from . import _core, _moving, _sharding
from ._dedup import _signer
from ._errors import ExistsError, InvalidError, LimitError
from ._options import features_of
from .collection import adopt

__all__ = ["dedup", "index", "pairs", "search", "sign"]

_MOST_SHARDS = 4096
_BROADCAST_ROWS = 4_000_000  # candidates: so many go to every executor, some 100 MB there
_EDGES_AT_ONCE = 50_000_000  # in one task, 16 bytes each and 40 a document; beyond, by rounds
_ROUNDS = 100
_BATCH_ROWS = 1000  # of an Arrow batch: of texts, and of records of up to 64 KiB
_CHECK = "spark.sql.execution.arrow.maxRecordsPerBatch"
_TEXTS = ("string", "varchar", "char")
_WHOLE = ("tinyint", "smallint", "int", "bigint")


def dedup(
    df: DataFrame,
    column: str = "text",
    threshold: float = 0.8,
    keep: str = "first",
    order_by: Union[str, Sequence[str], None] = None,
    *,
    score: Optional[str] = None,
    cluster: str = "kept",
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    partitions: Optional[int] = None,
    memory_bytes: int = 256 << 20,
    temporary: Optional[str] = None,
) -> DataFrame:
    """Leaves out rows whose text is nearly the same as that of one that is kept; the columns stay as they are.

    The rows that stay are those that ``nigh dedup`` keeps of the same documents in the order of ``order_by``: a column
    or several, whose values are not null and together differ in every row.  Without it, the order is that of the
    partitions and of the rows in them, which must then be the same each time ``df`` is evaluated.

    ``keep`` is "first", "longest", "shortest" or "score" (the highest in the column ``score``).  ``partitions`` is
    the number of tasks of a stage (default: four a core): a task holds some 300 bytes for each of its documents, so
    use one for each million. ``memory_bytes`` is the memory for sorting in one task; what does not fit is sorted in
    ``temporary`` (default: "/tmp"). ``df`` is evaluated twice here, and once more when the result is used.
    """
    run = _Run(df, column, order_by, keep, score, partitions)
    run.settle(threshold, cluster, (features, language, seed), memory_bytes, temporary)
    gone = run.matches().select(run.number)
    return run.rows().join(run.hinted(gone, run.gone), run.number, "left_anti").select(*map(_quoted, df.columns))


def pairs(
    df: DataFrame,
    column: str = "text",
    threshold: float = 0.8,
    keep: str = "first",
    order_by: Optional[str] = None,
    **options: Any,
) -> DataFrame:
    """For each row that ``dedup`` leaves out, the one that is kept for it: columns ``first`` (the row that is kept),
    ``second`` and ``similarity`` (the Jaccard index; 1 if the sets of features are equal).

    ``order_by`` names a column of whole numbers; ``first`` and ``second`` hold these
    numbers.  Further options are those of
    ``dedup``.
    """
    run = _Run(df, column, order_by, keep, options.pop("score", None), options.pop("partitions", None))
    if not run.whole:
        raise InvalidError("pairs are told by order_by, which has to name one column of whole numbers")
    signer = (options.pop("features", None), options.pop("language", None), options.pop("seed", None))
    cluster, memory = options.pop("cluster", "kept"), options.pop("memory_bytes", 256 << 20)
    run.settle(threshold, cluster, signer, memory, options.pop("temporary", None))
    if options:
        raise TypeError(f"pairs takes no {', '.join(options)}")
    matches = run.matches()
    a, b = matches.alias("a"), matches.alias("b")  # what a copy goes with may go, too
    found = a.join(b, F.col("a.kept") == F.col("b." + run.number), "left")
    return found.select(
        F.coalesce("b.kept", "a.kept").alias("first"),
        F.col("a." + run.number).alias("second"),
        F.when(F.col("b.kept").isNull(), F.col("a.similarity")).otherwise(F.col("b.similarity")).alias("similarity"),
    )


def sign(df: DataFrame, column: str = "text", scheme: str = "simhash", output: str = "signature", **options: Any) -> DataFrame:
    """Adds a column of signatures (binary), as ``nigh.sign`` makes them, with the same options; for a text that is
    null, or has no word, all bits are
    0.  Schemes whose weights need the words of all documents ("topsig") are refused: see
    ``index``."""
    _check_column(df, column, "the text", _TEXTS)
    if output in df.columns:
        raise InvalidError(f"there is a column {output!r} already; name another with output=")
    named: dict[str, Any] = {"scheme": scheme, **{key: options[key] for key in ("width_bits", "language", "seed") if key in options}}
    if _core.vocabulary_count((("a",), None, None), {**named, **features_of(options.get("features"))}) is not None:
        raise InvalidError(f"{scheme!r} weighs words by all documents; index() counts them")
    signer = _sharding.Signer(output, {"scheme": scheme, **options})
    fields = ", ".join(f"{_quoted(field.name)} {field.dataType.simpleString()}" for field in df.schema.fields)
    given = df.withColumn(_sharding.TEXT, F.col(_quoted(column)))
    return given.mapInArrow(signer, f"{fields}, {_quoted(output)} binary")


def index(
    df: DataFrame,
    path: Union[str, "os.PathLike[str]"],
    shards: int,
    column: str = "text",
    id: str = "id",
    *,
    scheme: str = "topsig",
    width_bits: Optional[int] = None,
    features: Optional[str] = None,
    language: Optional[str] = None,
    threshold: Optional[float] = None,
    seed: Optional[int] = None,
) -> dict[str, int]:
    """Makes a collection of the rows: ``shards`` parts, each made by one task, are adopted into one.

    ``path`` is on a file system that the driver and all executors share.  Documents lie by a hash of their ids, and in
    the order of these in each part, so the collection does not depend on how ``df`` is partitioned.  Words are counted
    in a pass before, where the scheme takes it.  Gives ``documents``.
    """
    _check_column(df, column, "the text", _TEXTS)
    _check_column(df, id, "the id", None)
    place = os.path.abspath(os.fspath(path))
    if os.path.exists(place):
        raise ExistsError(f"'{place}' already exists")
    if shards < 1:
        raise InvalidError(f"{shards} shards; there has to be one")
    signer = {
        "scheme": scheme, "width_bits": width_bits, "language": language, "threshold": threshold, "seed": seed,
        **features_of(features),
    }  # fmt: skip
    texts = df.select(F.col(_quoted(column)).alias("text"), F.col(_quoted(id)).cast("string").alias("id"))
    for name, plain in (("text", column), ("id", id)):
        if texts.filter(F.col(name).isNull()).limit(1).count():
            raise InvalidError(f"the column {plain!r} has nulls; leave them out")
    for row in texts.groupBy("id").count().filter("count > 1").limit(1).collect():
        raise InvalidError(f"several rows have the id {row.id!r}")
    counted = [bytes(row.counted) for row in texts.mapInArrow(_sharding.Counter(signer), _sharding.Counter.SCHEMA).collect()]
    vocabulary = _core.vocabulary_merge(counted) if counted else None
    folder = f"{place}.parts-{secrets.token_hex(4)}"
    os.mkdir(folder)
    try:
        placed = texts.repartition(shards, "id").sortWithinPartitions("id")
        parts = placed.mapInArrow(_sharding.Indexer(folder, signer, vocabulary), _sharding.Indexer.SCHEMA).collect()
        adopt(place, *sorted(row.part for row in parts), progress=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {"documents": sum(row.documents for row in parts)}


def search(
    df: DataFrame,
    collections: Union[str, Sequence[str]],
    k: int = 10,
    column: str = "text",
    query: str = "id",
    **options: Any,
) -> DataFrame:
    """Asks collections, each by one task, for the nearest documents to the text of each row.

    Gives a row a match: ``query`` (the value in the column that is named so), ``rank`` (from 1), ``collection``,
    ``document``, ``id``, ``distance``, ``similarity``, and what is certain of all of the answer: ``exact``, and ``below``
    (nothing nearer than this was missed; null: nothing at all was).  Ties go to the earlier collection, and in it to the
    earlier document, as if they were one.  The collections were made alike, by one vocabulary; paths are those that the
    executors see.  Options are those of ``nigh.Collection.search``.
    """
    _check_column(df, column, "the text", _TEXTS)
    _check_column(df, query, "the query", None)
    paths = [collections] if isinstance(collections, (str, os.PathLike)) else list(collections)
    if not paths or len(set(paths)) != len(paths):
        raise InvalidError("give collections, each once")
    if k < 1:
        raise InvalidError(f"k is {k}; it has to be 1 or more")
    listed = [(number, os.fspath(path)) for number, path in enumerate(paths)]
    shards = df.sparkSession.createDataFrame(listed, "number int, collection string")
    asked = df.select(F.col(_quoted(query)).alias("query"), F.col(_quoted(column)).alias("text"))
    kind = asked.schema["query"].dataType.simpleString()
    crossed = asked.crossJoin(F.broadcast(shards)).repartition(len(paths), "number")
    found = crossed.mapInArrow(_sharding.Searcher({**options, "k": k}), f"query {kind}, {_sharding.Searcher.FOUND}")
    every = Window.partitionBy("query")
    nearest = every.orderBy(F.col("document").isNull(), "distance", "number", "document")
    ranked = found.select(
        "query", F.row_number().over(nearest).alias("rank"), "collection", "document", "id", "distance", "similarity",
        F.min("exact").over(every).alias("exact"), F.min("below").over(every).alias("below"),
    )  # fmt: skip
    return ranked.filter((F.col("rank") <= k) & F.col("document").isNotNull())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _check_column(df: DataFrame, name: str, what: str, types: Optional[tuple[str, ...]]) -> str:
    """The type of a column; an error that names the columns there are where it is not one of them."""
    known: dict[str, str] = dict(df.dtypes)
    if name not in known:
        raise InvalidError(f"there is no column {name!r} ({what}); there are: {', '.join(df.columns)}")
    if sum(other == name for other in df.columns) > 1:
        raise InvalidError(f"there are several columns {name!r} ({what})")
    if types is not None and not any(known[name].startswith(kind) for kind in types):
        raise InvalidError(f"the column {name!r} ({what}) is of the type {known[name]}; it has to be {' or '.join(types)}")
    return known[name]


class _Run:
    """One deduplication: from a DataFrame to the numbers of the rows that go."""

    def __init__(
        self,
        df: DataFrame,
        column: str,
        order_by: Union[str, Sequence[str], None],
        keep: str,
        score: Optional[str],
        partitions: Optional[int],
    ) -> None:
        if not isinstance(df, DataFrame) and not hasattr(df, "mapInArrow"):
            raise InvalidError(f"this is no DataFrame of Spark but {type(df).__name__}")
        self._df = df
        self._spark = df.sparkSession
        self._column = column
        self._keep = keep
        self._order = [order_by] if isinstance(order_by, str) else list(order_by or ())
        self._score = score
        self._held: list[DataFrame] = []
        _check_column(df, column, "the text", _TEXTS)
        kinds = [_check_column(df, name, "order_by", None) for name in self._order]
        self.whole = len(kinds) == 1 and kinds[0] in _WHOLE
        if (keep == "score") != (score is not None):
            raise InvalidError('score names a column, and goes with keep="score"')
        if score is not None:
            _check_column(df, score, "the score", _WHOLE + ("float", "double", "decimal"))
        self._partitions = self._count_partitions(partitions)
        self.number = "number"
        while self.number in df.columns:
            self.number += "_"
        self._ranked: Optional[DataFrame] = None
        self.gone = 0
        self.counters: dict[str, int] = {}
        self.seconds: dict[str, float] = {}
        """By the clock, of the phases of ``matches``."""

    def _count_partitions(self, partitions: Optional[int]) -> int:
        if partitions is not None:
            if not 1 <= partitions <= _MOST_SHARDS:
                raise InvalidError(f"{partitions} partitions; there may be 1 to {_MOST_SHARDS}")
            return partitions
        try:
            return min(_MOST_SHARDS, 4 * int(self._spark.sparkContext.defaultParallelism))
        except Exception:  # Spark Connect has no context
            return min(_MOST_SHARDS, int(self._spark.conf.get("spark.sql.shuffle.partitions") or 200))

    def settle(
        self, threshold: float, cluster: str, signer: tuple[Any, ...], memory_bytes: int, temporary: Optional[str]
    ) -> None:
        """What all tasks will know; checked here, before anything runs."""
        options = {
            "threshold": threshold, "keep": self._keep, "cluster": cluster, "threads": 1, "memory_bytes": memory_bytes,
            "temporary": temporary,
        }  # fmt: skip
        self._settings = _moving.Settings(
            options, _signer(*signer), _moving.slots_of(self._partitions), secrets.randbits(64), self.whole
        )
        self._settings.task(_moving.SIGN, 0)

    # ------------------------------------------------------------------------------------------------------- rows --

    def rows(self) -> DataFrame:
        """The rows with their numbers, by which they are ordered."""
        if self.whole:
            return self._df.withColumn(self.number, F.col(_quoted(self._order[0])).cast("long"))
        if not self._order:
            return self._df.withColumn(self.number, F.monotonically_increasing_id())
        return self._df.join(self._ranks(), self._order)

    def _ranks(self) -> DataFrame:
        """Of each value of what it is ordered by, a number."""
        if self._ranked is None:
            order = [F.col(_quoted(name)) for name in self._order]
            nulls = F.lit(False)
            for name in order:
                nulls = nulls | name.isNull()
            keys = self._df.select(*order)
            if keys.filter(nulls).limit(1).count():
                raise InvalidError(f"order_by: there are nulls in {', '.join(self._order)}")
            for row in keys.groupBy(*order).count().filter("count > 1").limit(1).collect():
                raise InvalidError(f"order_by: several rows have {', '.join(map(repr, list(row)[:-1]))}")
            ranked = keys.sort(*order).withColumn(self.number, F.monotonically_increasing_id())
            self._ranked = ranked.persist(StorageLevel.DISK_ONLY)
        return self._ranked

    def _texts(self) -> DataFrame:
        columns = [F.col(self.number).alias("number"), F.col(_quoted(self._column)).alias("text")]
        if self._score is not None:
            columns.append(F.col(_quoted(self._score)).cast("double").alias("score"))
        return self.rows().select(*columns)

    # ------------------------------------------------------------------------------------------------------ moving --

    def _hold(self, moved: DataFrame) -> DataFrame:
        """Stays on the disks of the executors; what is lost with one of them is made again."""
        held = moved.persist(StorageLevel.DISK_ONLY)
        self._held.append(held)
        return held

    def _move(self, rows: DataFrame, kind: int, ordered: bool = False) -> DataFrame:
        """All records to their tasks of a kind."""
        moved = rows.repartition(self._partitions, "slot")
        if ordered:
            moved = moved.sortWithinPartitions("target", "kind", "sequence")
        return moved.mapInArrow(_moving.Moving(self._settings, kind), _moving.SCHEMA)

    def _count(self, rows: DataFrame, *kinds: int) -> list[tuple[list[int], list[list[int]]]]:
        """The counters of the tasks of some kinds, added up and one by one; and what is null ends it."""
        counted = rows.filter(F.col("kind") >= _moving.COUNTED).select("kind", "records").collect()
        for row in counted:
            if row.kind == _moving.MISSING:
                text, number = json.loads(bytes(row.records))
                name = self._column if text else self._order[0]
                raise InvalidError(f"the column {name!r} has nulls ({text or number} in one partition); leave them out")
        found = []
        for kind in kinds:
            records = [bytes(row.records) for row in counted if row.kind == _moving.COUNTED + kind]
            each = [list(numbers) for record in records for numbers in struct.iter_unpack("=4q", record)]
            found.append(([sum(column) for column in zip(*each)] or [0] * 4, each))
        return found

    def _sign(self) -> DataFrame:
        """SIGN and COPIES: whatever else is done begins with what these have made."""
        signing = _moving.Signing(self._settings, self._score is not None)
        copies = self._hold(self._move(self._texts().mapInArrow(signing, _moving.SCHEMA), _moving.COPIES))
        signed, copied = self._count(copies, _moving.SIGN, _moving.COPIES)
        documents, empty, length, _ = signed[0]
        (_, sets, repeated, _), each = copied
        if repeated:
            value = next(counters[3] for counters in each if counters[2])
            raise InvalidError(f"order_by: several rows have {value} in the column {self._order[0]!r}")
        self.counters.update(documents=documents, empty=empty, bytes_text=length, sets=sets)
        return copies

    def _find(self, copies: DataFrame) -> DataFrame:
        """SHARED, ROWS and BUCKETS: pairs, crowds and what they connect."""
        postings = copies.filter(F.col("kind") == _moving.POSTINGS)
        requests = self._move(postings, _moving.SHARED)
        sets = copies.filter(F.col("kind") == _moving.SETS)
        joined = self._move(requests.filter(F.col("kind") == _moving.REQUESTS).union(sets), _moving.ROWS, ordered=True)
        buckets = self._hold(self._move(joined.filter(F.col("kind") == _moving.JOINED), _moving.BUCKETS))
        self.counters["crowds"], self.counters["edges"], *_ = self._count(buckets, _moving.BUCKETS)[0][0]
        return buckets

    def _label(self, buckets: DataFrame) -> DataFrame:
        """COMPONENTS: in one task, or by rounds where there are too many edges."""
        edges = buckets.filter(F.col("kind") == _moving.EDGES)
        if self.counters["edges"] <= _EDGES_AT_ONCE:
            one = edges.repartition(1).mapInArrow(
                _moving.Moving(self._settings, _moving.COMPONENTS), _moving.SCHEMA
            )
            return self._hold(one)
        unpack = _moving.Unpacking(("a", "b"), "qq")
        stars = _stars(edges.select("records").mapInArrow(unpack, unpack.schema))
        tops = stars.select(F.col("b").alias("a"), "b").distinct()
        packing = _moving.Packing(self._settings, _moving.LABELS)
        return self._hold(stars.union(tops).mapInArrow(packing, _moving.SCHEMA))

    def _route(self, copies: DataFrame, buckets: DataFrame, labels: DataFrame) -> DataFrame:
        """ROUTE: what must be decided together comes together."""
        sets = copies.filter(F.col("kind") == _moving.SETS)
        found = buckets.filter(F.col("kind").isin(_moving.PAIRS, _moving.CROWDS))
        labels = labels.filter(F.col("kind") == _moving.LABELS)
        routed = self._hold(self._move(labels.union(sets).union(found), _moving.ROUTE, ordered=True))
        self.counters["candidates"] = self._count(routed, _moving.ROUTE)[0][0][0]
        return routed

    def hinted(self, rows: DataFrame, count: int) -> DataFrame:
        """Few go to every executor, so that texts need not move; of many Spark decides."""
        return F.broadcast(rows) if count <= _BROADCAST_ROWS else rows

    def _verify(self, routed: DataFrame) -> DataFrame:
        """FEATURES and VERIFY: the texts of candidates are read again, and compared."""
        unpack = _moving.Unpacking(("number", "set", "shard"), "qqq")
        packed = routed.filter(F.col("kind") == _moving.NEEDED).select("records")
        needed = self.hinted(packed.mapInArrow(unpack, unpack.schema), self.counters["candidates"])
        texts = self._texts().join(needed, "number").select("text", "set", "shard")
        features = texts.mapInArrow(_moving.Featuring(self._settings), _moving.SCHEMA)
        features = features.filter(F.col("kind") == _moving.FOUND_FEATURES)
        kinds = (_moving.CANDIDATES, _moving.PAIRS, _moving.CROWDS)
        return self._move(routed.filter(F.col("kind").isin(*kinds)).union(features), _moving.VERIFY, ordered=True)

    @contextmanager
    def _timed(self, phase: str) -> Iterator[None]:
        begin = time.monotonic()
        yield
        self.seconds[phase] = time.monotonic() - begin

    def matches(self) -> DataFrame:
        """Which rows go, and with which: decided when this returns."""
        with _batches(self._spark):
            with self._timed("sign"):
                copies = self._sign()
            with self._timed("find"):
                buckets = self._find(copies)
            with self._timed("route"):
                routed = self._route(copies, buckets, self._label(buckets))
            with self._timed("verify"):
                verified = self._hold(self._verify(routed))
                pairs_verified, truncated, *_ = self._count(verified, _moving.VERIFY)[0][0]
            unpack = _moving.Unpacking((self.number, "kept", "similarity"), "qqd")
            found = copies.union(verified).filter(F.col("kind") == _moving.MATCHES).select("records")
            matches = found.mapInArrow(unpack, unpack.schema).persist(StorageLevel.DISK_ONLY)
            with self._timed("tell"):
                self.gone = matches.count()
            self.counters.update(gone=self.gone, verified=pairs_verified, truncated=truncated)
        for held in self._held:
            held.unpersist()
        return matches


def _cut(rows: DataFrame) -> DataFrame:
    """The same rows without how they were made, which would grow with every round.  In the folder for checkpoints, if
    one is set; else on the executors, and losing one of these then ends the run."""
    try:
        reliable = rows.sparkSession.sparkContext.getCheckpointDir() is not None
    except Exception:  # Spark Connect has no context
        reliable = False
    return rows.checkpoint() if reliable else rows.localCheckpoint()


def _stars(edges: DataFrame) -> DataFrame:
    """Large-star and small-star in turns, until every row is (number, the smallest it is connected with).

    Each round connects what is near to the smallest there, so there are about as many rounds as the logarithm of the
    longest chain.
    """

    def hold(rows: DataFrame) -> tuple[DataFrame, Any]:
        kept = _cut(rows)
        return kept, kept.agg(F.count("*"), F.sum(F.xxhash64("a", "b").cast("decimal(38,0)"))).first()

    current, mark = hold(edges.filter("a <> b").distinct())
    for _ in range(_ROUNDS):
        both = current.union(current.select(F.col("b").alias("a"), F.col("a").alias("b")))
        least = both.groupBy("a").agg(F.least(F.min("b"), F.col("a")).alias("m"))
        large = both.join(least, "a").filter("b > a").select(F.col("b").alias("a"), F.col("m").alias("b")).distinct()
        down = large.select(F.greatest("a", "b").alias("a"), F.least("a", "b").alias("b")).filter("a <> b")
        least = down.groupBy("a").agg(F.min("b").alias("m"))
        small = down.join(least, "a").filter("b <> m").select(F.col("b").alias("a"), F.col("m").alias("b"))
        following, after = hold(small.union(least.select("a", F.col("m").alias("b"))).distinct())
        if after == mark:
            return following
        current, mark = following, after
    raise LimitError(f"components are not found after {_ROUNDS} rounds")


@contextmanager
def _batches(spark: Any) -> Iterator[None]:
    """Batches that an executor has room for, whatever a row holds."""
    before = spark.conf.get(_CHECK)
    spark.conf.set(_CHECK, str(_BATCH_ROWS))
    try:
        yield
    finally:
        spark.conf.set(_CHECK, before)
