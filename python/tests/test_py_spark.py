# SPDX-License-Identifier: Apache-2.0
"""nigh.spark on this machine, against nigh.dedup; spark_cluster.py has a cluster."""

import sys

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("pandas")

from conftest import make_texts
from moved import crowd
from pyspark.sql import SparkSession, functions as F

import nigh
import nigh.spark


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    for key, value in {
        "spark.driver.memory": "1g", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2", "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(tmp_path_factory.mktemp("spark")),
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()
    patch.undo()


TEXTS = make_texts(600, 7) + crowd(1500) + ["", "  ", "!!", "!!"]


@pytest.fixture(scope="module")
def frame(spark):
    rows = [(number - 9, text, float(number % 7)) for number, text in enumerate(TEXTS)]
    return spark.createDataFrame(rows, "id long, `a text` string, q double").repartition(3, "q").cache()


def ids(frame):
    return sorted(row.id + 9 for row in frame.collect())


def expected(**options):
    records = [{"text": text, "q": float(number % 7)} for number, text in enumerate(TEXTS)]
    mask = nigh.dedup(records, progress=False, **options)[1].mask
    return [number for number, stays in enumerate(mask) if stays]


def test_dedup_equals_one_machine(frame):
    kept = nigh.spark.dedup(frame, "a text", order_by="id", partitions=3)
    assert kept.schema == frame.schema
    assert ids(kept) == expected()


def test_dedup_by_score_and_an_order_of_another_type(frame):
    named = frame.withColumn("name", F.format_string("%06d", F.col("id") + 50))
    kept = nigh.spark.dedup(named, "a text", keep="score", score="q", order_by=["name", "q"], partitions=2)
    assert ids(kept) == expected(keep="score", score="q")


def test_components_by_rounds_are_those_of_one_task(spark):
    def joined(rows):
        above = {}
        def top(x):
            while above.setdefault(x, x) != x:
                x = above[x]
            return x
        for a, b in rows:
            above[max(top(a), top(b))] = min(top(a), top(b))
        return {(x, top(x)) for x in list(above) if top(x) != x}

    edges = [(n, n + 1) for n in range(9)] + [(100, n) for n in range(200, 260)] + [(7, 7), (210, 300), (300, 210)]
    found = nigh.spark._stars(spark.createDataFrame(edges, "a long, b long"))
    assert {tuple(row) for row in found.collect()} == joined(edges)


def test_sign_is_that_of_one_machine(frame):
    signed = nigh.spark.sign(frame, "a text", "simhash", width_bits=128)
    rows = nigh.sign(TEXTS, "simhash", 128, progress=False)
    assert {row.id: bytes(row.signature) for row in signed.collect()} == {
        number - 9: bytes(row) for number, row in enumerate(rows)
    }
    with pytest.raises(nigh.InvalidError, match="topsig"):
        nigh.spark.sign(frame, "a text", "topsig")


def test_index_and_search_are_those_of_one_collection(spark, frame, tmp_path):
    whole = str(tmp_path / "whole.nigh")
    given = frame.filter(F.length("a text") > 3)  # of what has no word there is no signature
    assert nigh.spark.index(given, whole, 3, "a text")["documents"] == given.count()
    assert [entry.name for entry in tmp_path.iterdir()] == ["whole.nigh"]
    rows = [(str(row.id), row["a text"]) for row in given.collect()]
    alone = nigh.Collection.create(str(tmp_path / "one.nigh"), [text for _, text in rows], ids=[name for name, _ in rows])
    with nigh.Collection(whole) as made:
        assert made.scheme == alone.scheme and len(made) == len(alone)
    halves = []
    for number in range(2):  # the same vocabulary: of texts of no weight
        halves.append(str(tmp_path / f"half{number}.nigh"))
        nigh.add(halves[-1], [text for _, text in rows[number::2]], scheme="simhash", ids=[name for name, _ in rows[number::2]],
                 progress=False)
    nigh.adopt(str(tmp_path / "both.nigh"), *halves, progress=False)
    queries = spark.createDataFrame([(n, TEXTS[n * 31]) for n in range(12)], "id long, text string")
    found = nigh.spark.search(queries, halves, 5, exact=True).orderBy("query", "rank").collect()
    with nigh.Collection(str(tmp_path / "both.nigh")) as both:
        expected = [
            (n, rank, match.id, match.distance)
            for n in range(12)
            for rank, match in enumerate(both.search(TEXTS[n * 31], 5, exact=True).matches(), 1)
        ]
    assert [(row["query"], row["rank"], row["id"], row["distance"]) for row in found] == expected
    assert all(row.exact and row.below is None for row in found)


def test_what_it_refuses(spark, frame):
    two = frame.limit(3).union(frame.limit(3))
    null = frame.withColumn("a text", F.when(F.col("id") > 0, F.col("a text")))
    for given, column, options, words in (
        (frame, "text", {}, "no column 'text'.*id, a text, q"),
        (frame, "q", {}, "'q'.*double.*string"),
        (frame, "a text", {"order_by": "name"}, "no column 'name'"),
        (frame, "a text", {"keep": "score"}, "score"),
        (frame, "a text", {"partitions": 0}, "partitions"),
        (frame, "a text", {"threshold": 2.0}, "threshold"),
        (two, "a text", {"order_by": "id"}, "order_by: several rows have"),
        (null, "a text", {"order_by": "id"}, "'a text' has nulls"),
    ):  # fmt: skip
        with pytest.raises(nigh.InvalidError, match=words):
            nigh.spark.dedup(given, column, **{"partitions": 2, **options})
