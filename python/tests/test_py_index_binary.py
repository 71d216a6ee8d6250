# SPDX-License-Identifier: Apache-2.0
"""IndexBinary does as faiss.IndexBinaryFlat, whose answers a loop stands for here; and faiss where it is installed."""

import pickle

import pytest

import nigh

np = pytest.importorskip("numpy")


@pytest.fixture
def rows():
    return np.random.default_rng(7).integers(0, 256, (300, 8), np.uint8)


@pytest.fixture
def index(rows):
    made = nigh.IndexBinary(64)
    made.add(rows[:100])
    made.add(rows[100:])
    return made


def test_search(index, rows):
    queries = rows[:10] ^ 1
    distances, ids = index.search(queries, 5)
    truth = np.unpackbits(queries[:, None] ^ rows[None], axis=2).sum(axis=2)
    assert (distances == np.sort(truth, axis=1)[:, :5]).all()
    assert (np.take_along_axis(truth, ids, axis=1) == distances).all()
    assert distances.dtype == np.int32 and ids.dtype == np.int64 and index.ntotal == 300


def test_fewer_rows_than_k(rows):
    index = nigh.IndexBinary(64)
    assert index.search(rows[:2], 3)[1].tolist() == [[-1] * 3] * 2
    index.add(rows[:2])
    distances, ids = index.search(rows[:1], 4)
    assert ids[0].tolist()[0] == 0 and ids[0].tolist()[2:] == [-1, -1] and distances[0, 3] == 2**31 - 1


def test_range_search(index, rows):
    lims, distances, ids = index.range_search(rows[:4], 20)
    truth = np.unpackbits(rows[:4, None] ^ rows[None], axis=2).sum(axis=2)
    for query in range(4):
        found = ids[int(lims[query]) : int(lims[query + 1])]
        assert sorted(found.tolist()) == np.flatnonzero(truth[query] < 20).tolist()
    assert index.range_search(rows[:4], 0)[0].tolist() == [0] * 5


def test_remove_reconstruct_reset(index, rows):
    assert (index.reconstruct(7) == rows[7]).all() and (index.reconstruct_n(5, 3) == rows[5:8]).all()
    assert index.remove_ids(np.array([0, 2, 299, 1000])) == 3
    assert index.ntotal == 297 and (index.reconstruct_n() == np.delete(rows, [0, 2, 299], axis=0)).all()
    index.reset()
    assert index.ntotal == 0
    index.add(rows[:3])
    assert index.search(rows[1:2], 1)[1].tolist() == [[1]]
    with pytest.raises(IndexError):
        index.reconstruct(3)


def test_write_read_pickle(index, rows, tmp_path):
    nigh.write_index_binary(index, tmp_path / "i.nigh")
    with pytest.raises(nigh.ExistsError):
        index.write(tmp_path / "i.nigh")
    for again in (nigh.read_index_binary(tmp_path / "i.nigh"), pickle.loads(pickle.dumps(index))):
        assert (again.reconstruct_n() == rows).all()
        again.add(rows[:1])
        assert again.ntotal == 301 and index.ntotal == 300


def test_nothing_is_left_behind(rows):
    import os

    index = nigh.IndexBinary(64)
    index.add(rows)
    folder = index._folder
    assert os.path.isdir(folder)
    del index
    assert not os.path.exists(folder)


def test_bad_dimensions(index, rows):
    for wrong in (rows[:, :7], np.unpackbits(rows, axis=1), rows.astype(np.float32), rows.astype(np.int8)):
        with pytest.raises(nigh.InvalidError):
            index.add(wrong)
        with pytest.raises(nigh.InvalidError):
            index.search(wrong, 1)
    with pytest.raises(nigh.InvalidError, match="multiple of 8"):
        nigh.IndexBinary(63)
    assert index.ntotal == 300


def test_as_faiss(index, rows):
    faiss = pytest.importorskip("faiss")
    theirs = faiss.IndexBinaryFlat(64)
    theirs.add(rows)
    queries = rows[::7] ^ 9
    assert (theirs.search(queries, 6)[0] == index.search(queries, 6)[0]).all()
    assert (theirs.range_search(queries, 18)[0] == index.range_search(queries, 18)[0]).all()
