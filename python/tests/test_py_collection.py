# SPDX-License-Identifier: Apache-2.0
"""Collections: made, searched, added to, held against, handed to other threads and processes."""

import multiprocessing
import pickle
import threading

import pytest

import nigh

np = pytest.importorskip("numpy")


@pytest.fixture
def rows():
    return np.random.default_rng(3).integers(0, 256, (500, 16), np.uint8)


@pytest.fixture
def stored(tmp_path, rows):
    with nigh.Collection.create(tmp_path / "rows.nigh", rows, progress=False) as collection:
        yield collection


def plain_search(rows, query, k):
    distances = np.unpackbits(rows ^ query, axis=1).sum(axis=1)
    order = np.lexsort((np.arange(len(rows)), distances))[:k]
    return distances[order].tolist(), order.tolist()


def test_search_equals_the_plain_way(stored, rows):
    queries = np.random.default_rng(4).integers(0, 256, (20, 16), np.uint8)
    found = stored.search(queries, k=7)
    for number, query in enumerate(queries):
        distances, order = plain_search(rows, query, 7)
        assert found.distances[number].tolist() == distances and found.documents[number].tolist() == order
    assert found.exact and found.proof(0).exact and len(found) == 20
    assert found.distances.dtype == np.int32 and found.documents.dtype == np.int64


def test_radius_and_fewer_matches(stored, rows):
    found = stored.search(rows[:3], k=None, radius=40)
    truth = np.unpackbits(rows[:3, None] ^ rows[None], axis=2).sum(axis=2) <= 40
    assert np.diff(found.limits.astype(int)).tolist() == truth.sum(axis=1).tolist()
    filled = stored.search(rows[:3], k=5, radius=0)
    assert filled.documents[0, 0] == 0 and filled.documents.shape == (3, 1)
    mixed = stored.search(np.vstack([rows[:1], rows[:1] ^ 255]), k=2, radius=0)
    assert mixed.documents.tolist() == [[0], [-1]] and mixed.distances[1, 0] == 2**31 - 1


def test_one_row_and_bytes(stored, rows):
    assert stored.search(rows[5], k=1).documents.tolist() == [[5]]
    assert stored.search(rows[5].tobytes(), k=1).documents.tolist() == [[5]]
    assert stored.search(rows[::2], k=1).documents[:, 0].tolist() == list(range(0, 500, 2))
    assert stored.search(np.asfortranarray(rows), k=1).documents[:, 0].tolist() == list(range(500))


def test_contents(tmp_path, rows):
    names = [f"row {i}" for i in range(len(rows))]
    with nigh.Collection.create(tmp_path / "named.nigh", rows, ids=names, progress=False) as named:
        assert len(named) == 500 and named.width_bits == 128 and list(named) == names
        assert named.find("row 7") == 7 and "row 7" in named and "nobody" not in named and named.id(7) == "row 7"
        assert (named.signatures() == rows).all() and (named.signatures(3, 2) == rows[3:5]).all()
        with pytest.raises(IndexError):
            named.id(500)
        assert named.search(rows[9], k=1).matches()[0] == nigh.Match(9, "row 9", 0, 1.0)
        assert "row 9" in repr(named.search(rows[9], k=1)) and "row 9" in named.search(rows[9], k=1)._repr_html_()
        assert named.scheme["kind"] == "signatures"


def test_texts(tmp_path):
    texts = ["rain and wind in the north tonight", "the parliament votes on the budget", "a new museum opens in spring"]
    place = tmp_path / "news.nigh"
    with nigh.Collection.create(place, texts, ids=["w", "p", "m"], width_bits=512, progress=False) as news:
        assert news.search("the budget of the parliament", k=1).matches()[0].id == "p"
        found = news.search(["museum in spring", "wind and rain"], k=1)
        assert [matches[0].id for matches in found] == ["m", "w"]
        assert news.snippet(0) == texts[0]
        done = news.add(["a museum for trains"], ids=["t"])
        assert done["added"] == 1 and len(news) == 4 and news.find("t") == 3


def test_against(tmp_path, texts, stays):
    place = tmp_path / "copies.nigh"
    with nigh.Collection.create(place, texts[:1], scheme="minhash", threshold=0.8, progress=False) as copies:
        result = copies.against(texts[1:], add=True, progress=False)
        assert [0] + [number + 1 for number in result.new] == stays
        assert len(copies) == len(stays) and result.stats["verified"]
        again = copies.against(texts, progress=False)
        assert again.new == [] and copies.text(0) == texts[0]


def test_against_rows(stored, rows):
    new = np.vstack([rows[3], rows[4] ^ 255, rows[4] ^ 255])
    result = stored.against(new, radius=2, progress=False)
    assert result.there == [3, None, None] and result.earlier == [None, None, 1] and result.new == [1]


def test_build_and_tune(tmp_path):
    rows = np.repeat(np.random.default_rng(1).integers(0, 256, (200, 8), np.uint8), 10, axis=0)
    rows ^= (np.random.default_rng(2).random(rows.shape) < 0.02).astype(np.uint8)
    with nigh.Collection.create(tmp_path / "c.nigh", rows, progress=False) as collection:
        collection.build("slices", "graph", "columns", min_rows=1, progress=False)
        info = collection.info
        assert info["sliced_segments"] == info["column_segments"] == 1
        plain = collection.search(rows[:50], k=5, method="scan")
        assert (collection.search(rows[:50], k=5, exact=True, method="slices").distances == plain.distances).all()
        tuned = collection.tune(recall=0.9, sample=100, progress=False)
        assert tuned["recall"] >= 0.8 and tuned["method"] in ("scan", "slices", "sketch", "graph")


def test_refresh_shows_what_others_add(stored, rows):
    other = nigh.Collection(stored.path)
    stored.add(rows[:5])
    assert len(other) == 500 and len(stored) == 505
    other.refresh()
    assert len(other) == 505


def test_many_threads_and_a_close_meanwhile(stored, rows):
    wrong = []

    def work():
        for _ in range(30):
            if stored.search(rows[:50], k=1).documents[:, 0].tolist() != list(range(50)):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong

    def until_closed():
        try:
            while True:
                stored.search(rows, k=3)
        except ValueError as error:
            wrong.append(str(error))

    thread = threading.Thread(target=until_closed)
    thread.start()
    stored.close()
    thread.join()
    assert wrong == ["the collection is closed"]


def _nearest(collection, row):
    return collection.search(row, k=1).documents.tolist()


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_other_processes(stored, rows, start):
    with multiprocessing.get_context(start).Pool(2) as pool:
        assert pool.starmap(_nearest, [(stored, rows[i]) for i in range(4)]) == [[[i]] for i in range(4)]


def _in_child(stored, rows, pipe):
    pipe.send(stored.search(rows[:9], k=1).documents[:, 0].tolist())


def test_use_after_fork(stored, rows):
    """A handle that was open before a fork works in the child."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_in_child, args=(stored, rows, there))
    child.start()
    assert here.recv() == list(range(9))
    child.join()


def test_pickle(stored, rows):
    again = pickle.loads(pickle.dumps(stored))
    assert again.path == stored.path and len(again) == 500


def test_closed(stored, rows):
    stored.close()
    stored.close()
    assert stored.closed and "closed" in repr(stored)
    for use in (lambda: len(stored), lambda: stored.search(rows), lambda: stored.id(0), lambda: stored.scheme):
        with pytest.raises(ValueError, match="closed"):
            use()
