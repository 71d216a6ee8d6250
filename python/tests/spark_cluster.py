# SPDX-License-Identifier: Apache-2.0
"""nigh.spark on a real cluster, a master and two workers of one core that this starts, with executors of 1 GB: against
one run on one core, while executors are killed in every phase, and over crowds and chains that nobody should hold.

Each phase kills the executor it runs in, once: the task of the phase does so halfway, from inside.

NIGH_COLLECTIONS names files of JSON lines with "text", separated by colons: they are compared like the generated ones.
"""

import json
import os
import pathlib
import random

import pytest
from conftest import make_texts
from moved import chain, crowd

from cluster import cluster
from deadly import Deadly

import nigh
import nigh.spark
from nigh import _moving

CROWD = int(os.environ.get("NIGH_CROWD", "200000"))
CHAIN = int(os.environ.get("NIGH_CHAIN", "100000"))
PHASES = {
    "sign": 0, "copies": 1, "shared": 2, "rows": 3, "buckets": 4, "components": 5, "route": 6, "features": 7, "verify": 8,
}  # fmt: skip


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as session:
        yield session


def stored(spark, folder, texts, files=3):
    """Texts as Parquet files, their rows in no order, with their places as ids."""
    import pyarrow as pa, pyarrow.parquet as pq

    order = list(range(len(texts)))
    random.Random(len(texts)).shuffle(order)
    folder.mkdir(exist_ok=True)
    for part in range(files):
        numbers = order[part::files]
        table = pa.table({"id": pa.array(numbers, pa.int64()), "text": [texts[number] for number in numbers]})
        pq.write_table(table, folder / f"{part}.parquet")
    return spark.read.parquet(str(folder))


def one_run(texts):
    mask = nigh.dedup(texts, threads=1, progress=False)[1].mask
    return [number for number, stays in enumerate(mask) if stays]


def ids(frame):
    return sorted(row.id for row in frame.select("id").collect())


COLLECTIONS = {
    "near": make_texts(4000, 11),
    "crowds": make_texts(1000, 12) + crowd(2500),
    "chains": [text for k in range(40) for text in [f"c{k} " + link for link in chain(60)]] + make_texts(600, 13),
}
for path in filter(None, os.environ.get("NIGH_COLLECTIONS", "").split(":")):
    with open(path, encoding="utf-8") as lines:
        COLLECTIONS[pathlib.Path(path).stem] = [json.loads(line)["text"] for line in lines]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_equal_to_one_run_for_any_partitions(spark, tmp_path, name):
    texts = COLLECTIONS[name]
    frame = stored(spark, tmp_path / name, texts)
    expected = one_run(texts)
    for partitions, files in ((2, frame), (7, frame.repartition(5)), (64, frame.repartition(2, "text"))):
        assert ids(nigh.spark.dedup(files, order_by="id", partitions=partitions)) == expected


@pytest.mark.parametrize("phase", PHASES)
def test_a_kill_in_each_phase_changes_nothing(spark, tmp_path, monkeypatch, phase):
    texts = make_texts(300, 14) + crowd(1500)
    frame = stored(spark, tmp_path / "texts", texts)
    mark = str(tmp_path / "killed")
    kind = PHASES[phase]
    moving, signing, featuring = _moving.Moving, _moving.Signing, _moving.Featuring
    deadly = lambda make, own: lambda *given: Deadly(make(*given), mark) if own(*given) else make(*given)
    monkeypatch.setattr(_moving, "Moving", deadly(moving, lambda settings, which: which == kind))
    monkeypatch.setattr(_moving, "Signing", deadly(signing, lambda *_: kind == _moving.SIGN))
    monkeypatch.setattr(_moving, "Featuring", deadly(featuring, lambda *_: kind == _moving.FEATURES))
    kept = ids(nigh.spark.dedup(frame, order_by="id", partitions=2))
    assert os.path.exists(mark), "nobody was killed"
    assert kept == one_run(texts)


@pytest.mark.parametrize("make, count", [(crowd, CROWD), (chain, CHAIN)])
def test_crowds_and_chains_fit(spark, tmp_path, make, count):
    texts = make(count)
    frame = stored(spark, tmp_path / "texts", texts)
    assert ids(nigh.spark.dedup(frame, order_by="id", partitions=4)) == one_run(texts)
