# SPDX-License-Identifier: Apache-2.0
"""Collections that change: delete, replace, merge, adopt, find or add; each against the plain way."""

import multiprocessing
import os
import pickle
import threading

import pytest

import nigh

np = pytest.importorskip("numpy")


@pytest.fixture
def rows():
    return np.random.default_rng(5).integers(0, 256, (400, 8), np.uint8)


@pytest.fixture
def named(tmp_path, rows):
    names = [f"r{i}" for i in range(len(rows))]
    with nigh.Collection.create(tmp_path / "named.nigh", rows, ids=names, progress=False) as collection:
        yield collection


def test_delete(named, rows):
    done = named.delete(["r3", 7, np.int64(9)])
    assert done["deleted"] == 3 and done["missing"] == [] and len(named) == 397
    assert "r3" not in named and list(named) == [f"r{i}" for i in range(400) if i not in (3, 7, 9)]
    assert named.numbers.tolist() == [i for i in range(400) if i not in (3, 7, 9)]
    assert named.search(rows[7], k=1).documents[0, 0] != 7
    assert not named.signatures(7, 1).any() and (named.signatures(8, 1) == rows[8]).all()
    for use in (named.id, named.snippet):
        with pytest.raises(IndexError):
            use(7)
    left = np.delete(rows, [3, 7, 9], axis=0)
    truth = np.sort(np.unpackbits(rows[:20, None] ^ left[None], axis=2).sum(axis=2), axis=1)[:, :5]
    assert (named.search(rows[:20], k=5).distances == truth).all()


def test_delete_is_all_or_nothing(named):
    with pytest.raises(nigh.NotFoundError, match="nobody"):
        named.delete(["r1", "nobody"])
    assert len(named) == 400
    done = named.delete(["r1", "nobody", "r1"], missing_ok=True)
    assert done["deleted"] == 1 and done["missing"] == ["nobody", "r1"] and len(named) == 399
    for wrong in (b"r2", 1.5, None, [b"r2"], [True], {"r2": 1}):
        with pytest.raises(TypeError):
            named.delete(wrong)
    with pytest.raises(IndexError):
        named.delete(400)
    assert len(named) == 399 and named.delete([])["deleted"] == 0


def test_delete_by_number_where_there_are_no_ids(tmp_path, rows):
    with nigh.Collection.create(tmp_path / "c.nigh", rows, progress=False) as collection:
        assert collection.delete(np.arange(0, 400, 2))["deleted"] == 200
        assert list(collection) == [str(i) for i in range(1, 400, 2)]


def test_replace(tmp_path):
    place = tmp_path / "c.nigh"
    with nigh.Collection.create(place, ["rain in the north"], ids=["w"], scheme="simhash", progress=False) as news:
        assert news.add(["sun in the south"], ids=["w"], progress=False)["repeated"] == 1
        assert news.snippet(news.find("w")) == "rain in the north"
        done = news.add(["sun in the south", "snow"], ids=["w", "s"], replace=True, progress=False)
        assert done["added"] == 2 and done["deleted"] == 1 and len(news) == 2
        assert news.snippet(news.find("w")) == "sun in the south" and sorted(news) == ["s", "w"]


def test_replace_rows(named, rows):
    with pytest.raises(nigh.ExistsError):
        named.add(rows[:1], ids=["r5"])
    named.add(rows[:1] ^ 255, ids=["r5"], replace=True)
    assert len(named) == 400 and (named.signatures(named.find("r5"), 1) == rows[:1] ^ 255).all()


def test_merge(tmp_path, rows):
    names = [f"r{i}" for i in range(400)]
    with nigh.Collection.create(tmp_path / "c.nigh", rows[:100], ids=names[:100], progress=False) as collection:
        for first in (100, 200, 300):
            collection.add(rows[first : first + 100], ids=names[first : first + 100], merge=False, progress=False)
        collection.delete(["r0", "r250"])
        assert collection.info["segments"] == 4
        done = collection.merge(progress=False)
        assert (done["before"], done["after"], done["dropped"]) == (4, 1, 2)
        assert collection.info["segments"] == 1 and collection.info["deleted"] == 0
        assert (collection.signatures() == np.delete(rows, [0, 250], axis=0)).all()
        assert list(collection) == [name for name in names if name not in ("r0", "r250")]
        assert collection.merge(progress=False)["written"] == 0


def test_adopt(tmp_path, rows):
    parts = []
    for number in range(3):
        own = rows[number * 100 : number * 100 + 100]
        names = [f"{number}-{i}" for i in range(100)]
        parts.append(nigh.Collection.create(tmp_path / f"{number}.nigh", own, ids=names, progress=False))
    done = nigh.adopt(tmp_path / "all.nigh", parts[0], parts[1].path, progress=False)
    assert done["adopted"] == 200 and done["segments"] == 2
    with nigh.Collection(tmp_path / "all.nigh") as whole:
        whole.adopt(parts[2], progress=False)
        assert (whole.signatures() == rows[:300]).all() and whole.find("2-7") == 207
        with pytest.raises(nigh.ExistsError):
            whole.adopt(parts[2], progress=False)
        with pytest.raises(nigh.NotFoundError):
            whole.adopt(tmp_path / "none.nigh")
        with pytest.raises(nigh.InvalidError):
            whole.adopt()
        assert len(whole) == 300


# ------------------------------------------------------------ find or add --


def plain_find_or_add(rows, radius):
    """For each row the number of the first kept row within the radius, or None."""
    kept, answers = [], []
    for row in rows:
        near = [number for number, other in enumerate(kept) if np.unpackbits(row ^ other).sum() <= radius]
        answers.append(near[0] if near else None)
        if not near:
            kept.append(row)
    return answers


def noisy(count):
    chance = np.random.default_rng(11)
    made = chance.integers(0, 256, (count, 8), np.uint8)
    for number in range(1, count, 2):
        made[number] = made[number - 1] ^ (chance.random(8) < 0.3).astype(np.uint8)
    return made


def test_live_rows_equal_the_plain_way(tmp_path):
    given = noisy(300)
    truth = plain_find_or_add(given, 3)
    with nigh.Live(tmp_path / "l.nigh", width_bits=64, radius=3, sync="never") as live:
        found = live.find_or_add_many(given[:200]) + [live.find_or_add(row) for row in given[200:]]
        assert [answer.match for answer in found] == truth
        assert len(live) == truth.count(None) and live.find(given[0]).match == 0
        assert live.find(given[0] ^ 255).new and live.info["in_log"] == len(live)
        assert all(answer.distance is not None and answer.distance <= 3 for answer in found if not answer.new)
    assert live.closed and len(nigh.Collection(tmp_path / "l.nigh")) == truth.count(None)


def test_live_texts_equal_dedup(tmp_path, texts, stays):
    with nigh.Live(tmp_path / "t.nigh", sync="never") as live:
        found = live.find_or_add_many((text for text in texts))
        assert [number for number, answer in enumerate(found) if answer.new] == stays
        assert all(answer.similarity is not None and answer.similarity >= 0.8 for answer in found)
        assert live.find(texts[0]).match == 0
    with nigh.Collection(tmp_path / "t.nigh") as stored:
        assert len(stored) == len(stays)
        again = stored.find_or_add(texts[:50], sync="never")
        assert not any(answer.new for answer in again) and len(stored) == len(stays)


def test_live_ids_tables_and_records(tmp_path):
    pa = pytest.importorskip("pyarrow")
    with nigh.Live(tmp_path / "t.nigh", sync="never") as live:
        assert live.find_or_add("one two three four five", id="a").number == 0
        table = pa.table({"body": ["one two three four five", "six seven eight nine"], "n": ["b", "c"]})
        assert [answer.new for answer in live.find_or_add_many(table, "body", id="n")] == [False, True]
        found = live.find_or_add_many([{"text": "ten eleven twelve", "n": "a"}], id="n")
        assert found[0].new and found[0].id_taken
        assert live.id(0) == "a" and live.id(1) == "c" and live.id(2).startswith("a")
        with pytest.raises(IndexError):
            live.id(3)


def test_live_log_is_taken_up(tmp_path, rows):
    place = tmp_path / "l.nigh"
    live = nigh.Live(place, width_bits=64, radius=0)
    live.find_or_add_many(rows[:10])
    live.close()
    with nigh.Live(place, radius=0) as again:
        assert again.info["recovered"] == 10 and not again.find_or_add(rows[3]).new


def test_live_error_commits_nothing_and_loses_nothing(tmp_path, rows):
    place = tmp_path / "l.nigh"
    with pytest.raises(KeyError):
        with nigh.Live(place, width_bits=64, radius=0) as live:
            live.find_or_add_many(rows[:10])
            raise KeyError
    assert live.closed
    with nigh.Live(place, radius=0) as again:
        assert not again.find_or_add(rows[9]).new


def test_live_generator_that_raises(tmp_path):
    def broken():
        yield from (f"text number {i} and so on {i * 7}" for i in range(1500))
        raise LookupError("gone")

    with nigh.Live(tmp_path / "t.nigh", sync="never") as live:
        with pytest.raises(LookupError, match="gone"):
            live.find_or_add_many(broken())
        assert len(live) == 1024
        assert len(live.find_or_add_many(f"text number {i} and so on {i * 7}" for i in range(1500))) == 1500
        assert len(live) <= 1500


def test_live_refuses(tmp_path, rows):
    with nigh.Live(tmp_path / "l.nigh", width_bits=64, radius=1) as live:
        for wrong in (rows[:2], rows[0].astype(np.float32), rows[0, :7], "text", None, 5):
            with pytest.raises((nigh.InvalidError, TypeError)):
                live.find_or_add(wrong)
        with pytest.raises(nigh.BusyError):
            nigh.Live(tmp_path / "l.nigh", radius=1)
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(live)
        assert len(live) == 0
    live.close()
    assert "closed" in repr(live)
    for use in (lambda: len(live), lambda: live.find(rows[0]), live.commit, lambda: live.id(0)):
        with pytest.raises(ValueError, match="closed"):
            use()
    with pytest.raises(nigh.NotFoundError):
        nigh.Live(tmp_path / "none.nigh", create=False, radius=1)
    with pytest.raises(nigh.InvalidError):
        nigh.Live(tmp_path / "new.nigh", width_bits=64)
    with pytest.raises(ValueError, match="group, each, never"):
        nigh.Live(tmp_path / "new.nigh", sync="maybe")
    with nigh.Live(tmp_path / "t.nigh", sync="never") as live:
        for wrong in (rows[0], None, b"text", ["text"]):
            with pytest.raises(TypeError):
                live.find_or_add(wrong)
        for many in ("a text", rows, ["good text here", 5], ["good text here", None]):
            with pytest.raises((TypeError, nigh.InvalidError)):
                live.find_or_add_many(many)
        with pytest.raises(ValueError, match="lone surrogate"):
            live.find_or_add("\ud800")
        with pytest.raises(ValueError, match="not as many ids"):
            live.find_or_add_many(["one two", "three four"], ids=["a"])
        assert len(live) == 0


def _ask_in_child(live, pipe):
    try:
        live.find_or_add("a text of the child")
    except RuntimeError as error:
        pipe.send(str(error))
    live.close()
    del live


def test_live_after_fork(tmp_path):
    """The child is refused, and what it does disturbs nothing."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    with nigh.Live(tmp_path / "t.nigh") as live:
        live.find_or_add("a text of the parent")
        child = context.Process(target=_ask_in_child, args=(live, there))
        child.start()
        child.join(60)
        assert child.exitcode == 0 and "before a fork" in here.recv()
        assert live.find_or_add("another text of the parent").new and len(live) == 2
    assert len(nigh.Collection(tmp_path / "t.nigh")) == 2


def test_live_threads(tmp_path):
    given = noisy(400)
    with nigh.Live(tmp_path / "l.nigh", width_bits=64, radius=0, sync="never") as live:
        threads = [threading.Thread(target=lambda: [live.find_or_add(row) for row in given]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(live) == len({row.tobytes() for row in given}) and live.info["taken"] == 1600


def test_index_binary_removes_by_deleting(rows):
    index = nigh.IndexBinary(64)
    index.add(rows)
    left = list(range(400))
    for gone in ([5, 6, 399], [0], [10, 11, 12], list(range(100))):
        assert index.remove_ids(np.array(gone)) == len(gone)
        left = [number for place, number in enumerate(left) if place not in gone]
        assert (index.reconstruct_n() == rows[left]).all() and index.ntotal == len(left)
        distances, ids = index.search(rows[left[:40]], 1)
        assert not distances.any() and (rows[left][ids[:, 0]] == rows[left[:40]]).all()
    lims, _, ids = index.range_search(rows[left[7] : left[7] + 1], 1)
    assert ids.tolist() == [7]
    index.add(rows[:2])
    assert index.search(rows[:1], 1)[1].tolist() == [[len(left)]]
    assert index.remove_ids(np.arange(250)) == 250 and index._living is None
    assert (index.reconstruct_n() == np.vstack([rows[left], rows[:2]])[250:]).all()
    assert index.remove_ids(np.arange(1000)) == index.ntotal + len(left) + 2 - 250 and index.ntotal == 0


def test_index_binary_written_after_removal(rows, tmp_path):
    index = nigh.IndexBinary(64)
    index.add(rows)
    index.remove_ids([1])
    index.write(tmp_path / "i.nigh")
    assert (nigh.IndexBinary.read(tmp_path / "i.nigh").reconstruct_n() == np.delete(rows, 1, axis=0)).all()
    assert os.path.isdir(tmp_path / "i.nigh")
