# SPDX-License-Identifier: Apache-2.0
"""Whatever is given: an exception that says what is wrong, no crash, and nothing lost."""

import os

import pytest

import nigh

np = pytest.importorskip("numpy")


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    rows = np.random.default_rng(1).integers(0, 256, (20, 4), np.uint8)
    return nigh.Collection.create(tmp_path_factory.mktemp("any") / "c.nigh", rows, progress=False)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (["one", 5], TypeError, "document 1 is <class 'int'>, which is no str"),
        ([b"bytes"], TypeError, "document 0 is <class 'bytes'>"),
        (["ok", "\ud800"], ValueError, "document 1 has a lone surrogate"),
        ([{"text": "a"}, {"body": "b"}], nigh.InvalidError, "record 1: there is no column 'text'; there are: 'body'"),
        ({"text": ["a"]}, nigh.InvalidError, "a dict is no list"),
        (5, TypeError, "int is no kind"),
        (None, TypeError, "NoneType"),
    ],
)
def test_data(data, error, words):
    with pytest.raises(error, match=words.replace("(", "\\(")):
        nigh.dedup(data)


@pytest.mark.parametrize(
    "options",
    [
        {"threshold": 2.0}, {"threshold": float("nan")}, {"threshold": "x"}, {"keep": "best"}, {"method": "magic"},
        {"cluster": 3}, {"threads": -1}, {"threads": 2**40}, {"memory_bytes": 1.5}, {"features": "ngrams:x"},
        {"language": "klingon"}, {"features": "ngrams:99"}, {"temporary": "/no/such/folder", "memory_bytes": 1},
        {"temporary": "a\0b"}, {"output": "x"}, {"reading": {"nonsense": 1}}, {"reading": {"format": "x"}},
    ],
    ids=str,
)  # fmt: skip
def test_options(options):
    texts = ["one two three four five"] * 3
    if "temporary" in options and options.get("memory_bytes"):
        texts = [f"{i} a b c d {i}" for i in range(3000)]
        try:
            nigh.dedup(texts, **options)
        except (nigh.NighError, OSError):
            pass
        return
    with pytest.raises((nigh.NighError, TypeError, ValueError)):
        nigh.dedup(texts, **options)


def test_words_that_are_known_are_told():
    with pytest.raises(ValueError, match="keep cannot be 'best'; there are: first, longest, shortest, score"):
        nigh.dedup(["a"], keep="best")
    with pytest.raises(TypeError, match="there is no option 'nonsense' here"):
        nigh.dedup(["a"], reading={"nonsense": 1})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (np.zeros((2, 8), np.float32), "float32, and have to be of uint8.*binarise"),
        (np.zeros((2, 64), np.bool_), "bool, and have to be of uint8.*packbits"),
        (np.zeros((2, 64), np.uint8), "not packed"),
        (np.zeros((2, 7), np.uint8), "have the shape"),
        (np.zeros((2, 2, 8), np.uint8), "have the shape"),
        (np.zeros((), np.uint8), "shape"),
        (b"123", "no multiple"),
        (5, "no array of uint8 but int"),
        ([1, 2], "no array of uint8 but list"),
    ],
)
def test_rows(tmp_path, wrong, words):
    with nigh.Collection.create(tmp_path / "c.nigh", np.zeros((3, 8), np.uint8), progress=False) as collection:
        with pytest.raises((nigh.InvalidError, TypeError), match=words):
            collection.search(wrong)


def test_collections(tmp_path):
    place = tmp_path / "c.nigh"
    rows = np.arange(24, dtype=np.uint8).reshape(3, 8)
    with nigh.Collection.create(place, rows, ids=["a", "b", "c"], progress=False) as collection:
        for wrong in ({"k": 0}, {"k": -1}, {"method": "graph"}, {"k": None}, {"effort": -3}):
            with pytest.raises((nigh.NighError, ValueError, TypeError)):
                collection.search(rows, **wrong)
        with pytest.raises(nigh.ExistsError):
            collection.add(rows[:1], ids=["a"])
        with pytest.raises(ValueError, match="not as many ids"):
            collection.add(rows, ids=["x"])
        with pytest.raises(nigh.NotFoundError):
            collection.search("a text")
        with pytest.raises(nigh.InvalidError, match="there are: graph, slices, columns"):
            collection.build("tree")
        assert len(collection) == 3
        with pytest.raises(nigh.ExistsError):
            nigh.Collection.create(place, rows)
    with pytest.raises(TypeError):
        nigh.Collection(5)  # type: ignore[arg-type]
    with pytest.raises(ValueError):
        nigh.Collection("a\0b")


def test_rows_of_no_width(stored):
    from nigh import _core

    for width in (0, 7, 65537, 2**31):
        with pytest.raises((ValueError, OverflowError)):
            _core.dedup_rows(bytes(10), width * 8 % 2**32, {}, None)
        with pytest.raises((ValueError, OverflowError)):
            _core.pairs(bytes(10), None, width * 8 % 2**32, 1, 1, None)
    with pytest.raises(nigh.MismatchError):
        _core.against(os.fsencode(stored.path), bytes(24), 2, {"radius": 1}, None, False, None)


def test_nobody_inherits_or_makes_handles():
    from nigh import _core

    with pytest.raises(TypeError):
        _core.Dedup()
    with pytest.raises(TypeError):
        _core.Collection()
    with pytest.raises(TypeError):
        type("Mine", (_core.Collection,), {})


# ------------------------------------------- rows, wherever they are taken --

ROWS = np.random.default_rng(8).integers(0, 256, (6, 8), np.uint8)
TAKERS = ["search", "add", "against", "live", "index_add", "index_search", "distance", "pairs"]


@pytest.fixture
def takers(tmp_path):
    """Whatever takes rows of 64 bits; and how many there are afterwards, which is as many as before."""
    index = nigh.IndexBinary(64)
    index.add(ROWS)
    with (
        nigh.Collection.create(tmp_path / "c.nigh", ROWS, progress=False) as stored,
        nigh.Live(tmp_path / "l.nigh", width_bits=64, radius=1, sync="never") as live,
    ):
        yield {
            "search": stored.search,
            "add": lambda rows: stored.add(rows, progress=False),
            "against": lambda rows: stored.against(rows, radius=1, progress=False),
            "live": live.find_or_add_many,
            "index_add": index.add,
            "index_search": lambda rows: index.search(rows, 2),
            "distance": lambda rows: nigh.distance(rows, ROWS[0]),
            "pairs": lambda rows: nigh.pairs(rows, 2, width_bits=64),
        }
        assert len(nigh.Collection(stored.path)) == 6 and len(live) == 0 and index.ntotal == 6


WRONG = {
    "dtype float": ROWS.astype(np.float32),
    "dtype int8": ROWS.astype(np.int8),
    "dtype uint64": ROWS.view(np.uint64),
    "dtype bool": np.zeros((6, 64), np.bool_),
    "dtype object": ROWS.astype(object),
    "unpacked bits": np.unpackbits(ROWS, axis=1),
    "narrow": ROWS[:, :7],
    "wide": np.hstack([ROWS, ROWS]),
    "three dimensions": ROWS[None],
    "no dimension": ROWS[0, 0],
    "no columns": ROWS[:, :0],
    "None": None,
    "list of lists": ROWS.tolist(),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize("kind", WRONG)
def test_rows_are_refused_wherever_they_are_taken(takers, taker, kind):
    with pytest.raises((nigh.NighError, TypeError, ValueError)) as caught:
        takers[taker](WRONG[kind])
    assert str(caught.value) and not isinstance(caught.value, (AssertionError, AttributeError, SystemError))


@pytest.mark.parametrize("order", ["fortran", "every second", "backwards", "transposed", "read only"])
def test_rows_in_any_order_are_the_same_rows(tmp_path, order):
    wide = np.random.default_rng(9).integers(0, 256, (12, 16), np.uint8)
    given = {
        "fortran": np.asfortranarray(ROWS), "every second": wide[::2, ::2], "backwards": ROWS[::-1, ::-1],
        "transposed": np.ascontiguousarray(ROWS.T).T, "read only": ROWS.copy(),
    }[order]  # fmt: skip
    given.flags.writeable = order != "read only"
    plain = np.ascontiguousarray(given)
    with nigh.Collection.create(tmp_path / "c.nigh", given, progress=False) as stored:
        assert (stored.signatures() == plain).all()
        assert (stored.search(given, k=1).distances == 0).all()
        assert stored.against(given, radius=0, progress=False).there == list(range(6))
    assert nigh.distance(given, plain).tolist() == [0] * 6
    index = nigh.IndexBinary(64)
    index.add(given)
    assert (index.reconstruct_n() == plain).all()


def test_padding_that_is_set(tmp_path):
    """Of 12 bits, the upper four of the second byte are none."""
    good, bad = np.array([[1, 15]], np.uint8), np.array([[1, 16]], np.uint8)
    with nigh.Collection.create(tmp_path / "c.nigh", good, width_bits=12, progress=False) as stored:
        for use in (stored.search, lambda rows: stored.add(rows, progress=False)):
            with pytest.raises(nigh.InvalidError):
                use(bad)
        assert len(stored) == 1


# --------------------------------------------------------- numbers, texts --


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_numbers_that_are_none(value):
    floats = np.ones((4, 8), np.float32)
    floats[2, 1] = value
    with pytest.raises(nigh.InvalidError, match="row 2"):
        nigh.binarise(floats)
    with pytest.raises((nigh.InvalidError, ValueError)):
        nigh.dedup(["a"], threshold=value)
    with pytest.raises((TypeError, ValueError, OverflowError)):
        nigh.dedup(["a"], threads=value)


def test_a_score_that_is_missing_or_no_number_counts_least():
    text = "a b c d e f g h i j"
    for nothing in (None, float("nan")):
        records = [{"text": text, "q": nothing, "n": 0}, {"text": text, "q": -5.0, "n": 1}]
        assert [record["n"] for record in nigh.dedup(records, keep="score", score="q")[0]] == [1]
        assert [record["n"] for record in nigh.dedup(records[::-1], keep="score", score="q")[0]] == [1]
    with pytest.raises((ValueError, TypeError)):
        nigh.dedup([{"text": text, "q": "high"}], keep="score", score="q")


def test_a_score_that_is_no_number_in_a_table():
    pa = pytest.importorskip("pyarrow")
    text = "a b c d e f g h i j"
    table = pa.table({"text": [text, text, text], "q": pa.array([float("nan"), None, 1.0]), "n": [0, 1, 2]})
    assert nigh.dedup(table, keep="score", score="q")[0]["n"].to_pylist() == [2]
    with pytest.raises(nigh.InvalidError, match="'q' is of type string"):
        nigh.dedup(pa.table({"text": [text], "q": ["high"]}), keep="score", score="q")


LONE = "a \ud800 b"


@pytest.mark.parametrize(
    "use",
    [
        lambda place: nigh.dedup(["ok", LONE]),
        lambda place: nigh.dedup([{"text": "ok", "n": LONE}], id="n"),
        lambda place: nigh.add(place / "new.nigh", ["ok", LONE], progress=False),
        lambda place: nigh.add(place / "new.nigh", ["ok"], ids=[LONE], progress=False),
        lambda place: nigh.add(place / "new.nigh", ["ok"], language=LONE, progress=False),
        lambda place: nigh.Collection(place / "c.nigh").search(LONE),
        lambda place: nigh.Collection(place / "c.nigh").against([LONE], progress=False),
        lambda place: nigh.Collection(place / "c.nigh").delete("\ud800"),
        lambda place: nigh.sign([LONE]),
        lambda place: nigh.train(["a b", LONE], ["x", "y"]),
        lambda place: nigh.train(["a b", "c d"], ["x", LONE]),
    ],
)
def test_lone_surrogates(tmp_path, use):
    nigh.add(tmp_path / "c.nigh", ["one two three"], scheme="minhash", threshold=0.8, progress=False)
    with pytest.raises(ValueError) as caught:
        use(tmp_path)
    assert "surrogate" in str(caught.value)
    assert not (tmp_path / "new.nigh").exists() and len(nigh.Collection(tmp_path / "c.nigh")) == 1


@pytest.mark.parametrize("wrong", [["one", 5], [b"one"], ["one", ["two"]], [1.5], [{"text": "a"}, "b"], [{"text": 5}], [{}]])
def test_mixed_types_wherever_texts_are_taken(tmp_path, wrong):
    place = tmp_path / "c.nigh"
    nigh.add(place, ["one two three"], scheme="minhash", threshold=0.8, progress=False)
    stored = nigh.Collection(place)
    uses = [nigh.dedup, lambda data: nigh.add(place, data, progress=False), stored.against, nigh.sign]
    for use in [*uses, lambda data: nigh.Live(place, sync="never").find_or_add_many(data)]:
        with pytest.raises((TypeError, nigh.InvalidError)):
            use(wrong)
    assert len(nigh.Collection(place)) == 1


def test_none_is_a_text_that_is_missing(tmp_path):
    texts = [None, "one two three", None, "one two three"]
    assert nigh.dedup(texts)[0] == texts[:3]
    assert not nigh.sign(texts, "simhash")[0].any()
    done = nigh.add(tmp_path / "c.nigh", texts, scheme="simhash", progress=False)
    assert done["documents"] <= 4
    for wrong in (None, [None, "a"], ["a", None]):
        with pytest.raises(TypeError):
            nigh.Collection(tmp_path / "c.nigh").search(wrong)


@pytest.mark.parametrize("role", ["column", "id", "score"])
def test_a_column_that_is_not_there_names_those_that_are(tmp_path, role):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"text": ["one two three"], "n": [1]})
    pq.write_table(table, tmp_path / "t.parquet")
    for data in (table, table.to_batches()[0], table.to_reader(), tmp_path / "t.parquet"):
        with pytest.raises(nigh.InvalidError, match="no column 'nope'; there are: 'text', 'n'"):
            nigh.dedup(data, **{role: "nope"})
    with pytest.raises(nigh.InvalidError, match="no column 'nope'; there are"):
        nigh.train(table, label="nope")


# -------------------------------------------- what changes, ends or is gone --


def broken(count=50):
    for number in range(count):
        yield f"text number {number} of many {number * 7}"
    raise LookupError("the source is gone")


def test_a_generator_that_raises_changes_nothing(tmp_path):
    place = tmp_path / "c.nigh"
    nigh.add(place, ["one two three"], scheme="minhash", threshold=0.8, progress=False)
    stored = nigh.Collection(place)
    before = sorted(os.listdir(place))
    for use in (
        nigh.dedup, lambda data: stored.add(data, progress=False), nigh.sign,
        lambda data: stored.against(data, add=True, progress=False), lambda data: nigh.add(tmp_path / "new.nigh", data),
        lambda data: nigh.train(data, ["a", "b"] * 25),
    ):  # fmt: skip
        with pytest.raises(LookupError, match="the source is gone"):
            use(broken())
    assert sorted(os.listdir(place)) == before and not (tmp_path / "new.nigh").exists()


@pytest.mark.parametrize("which", [0, 1])
def test_a_file_that_changes_between_passes(tmp_path, monkeypatch, which):
    """While it is read for the first time, or just before it is read once more."""
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    from nigh import _parquet

    path = tmp_path / "t.parquet"
    texts = [f"a b c d e {i} f g h" for i in range(300)]
    pq.write_table(pa.table({"text": texts + [text + " x" for text in texts]}), path)
    passes = []

    def change(metadata):
        if len(passes) == which:
            pq.write_table(pa.table({"text": texts[::-1] + texts}), path)
            os.utime(path, ns=(1, 1))  # clocks of file systems are coarse
        passes.append(1)
        return 100

    monkeypatch.setattr(_parquet, "_batch_rows", change)
    with pytest.raises(nigh.DamagedError, match="t.parquet' changed while it was read"):
        nigh.dedup(path, output=tmp_path / "out")
    assert passes and not list(tmp_path.rglob("out/*"))


def test_an_array_that_changes_while_it_is_searched(tmp_path):
    """Whatever is found, nothing breaks."""
    import threading

    rows = np.random.default_rng(3).integers(0, 256, (2000, 8), np.uint8)
    with nigh.Collection.create(tmp_path / "c.nigh", rows, progress=False) as stored:
        queries, done = rows.copy(), threading.Event()

        def scribble():
            while not done.is_set():
                queries[:] ^= 85

        thread = threading.Thread(target=scribble)
        thread.start()
        for _ in range(20):
            assert stored.search(queries, k=3).documents.shape == (2000, 3)
        done.set()
        thread.join()


def test_closed_handles(tmp_path):
    stored = nigh.Collection.create(tmp_path / "c.nigh", ROWS, progress=False)
    answers = stored.search(ROWS, k=1)
    stored.close()
    uses = [
        lambda: len(stored), lambda: list(stored), lambda: stored.search(ROWS), lambda: stored.search(ROWS[:, :3]),
        lambda: stored.search("a"), lambda: stored.id(0), lambda: stored.find("0"), lambda: "0" in stored,
        lambda: stored.snippet(0), lambda: stored.text(0), lambda: stored.signatures(), lambda: stored.numbers,
        lambda: stored.info, lambda: stored.scheme, lambda: stored.tune(progress=False), stored.refresh,
        lambda: stored.delete("0"), lambda: stored.add(ROWS, progress=False), lambda: stored.merge(progress=False),
        lambda: stored.build(progress=False), lambda: stored.adopt(tmp_path, progress=False),
        lambda: stored.against(ROWS, radius=1, progress=False), lambda: stored.find_or_add(ROWS, radius=1),
        lambda: answers.matches(), lambda: nigh.dedup(["a b c"], against=stored), lambda: nigh.eval.nearest(stored, queries=ROWS),
    ]  # fmt: skip
    for number, use in enumerate(uses):
        with pytest.raises(ValueError, match="closed"):
            use()
            pytest.fail(f"use {number} was not refused")
    assert answers.documents[:, 0].tolist() == list(range(6)) and len(nigh.Collection(tmp_path / "c.nigh")) == 6


def test_answers_stay_those_of_the_state_that_was_searched(tmp_path):
    names = [f"r{i}" for i in range(6)]
    with nigh.Collection.create(tmp_path / "c.nigh", ROWS, ids=names, progress=False) as stored:
        answers = stored.search(ROWS[5], k=1)
        stored.delete(names[:3])
        stored.merge(progress=False)
        assert stored.find("r5") == 2 and answers.matches()[0] == nigh.Match(5, "r5", 0, 1.0)


def _use_all(result, model, answers, stored, pipe):
    try:
        told = [len(result.pairs), len(result.clusters), model.sign(["a cat"]).shape, answers.matches()[0].id]
        again, _ = nigh.dedup(["one two three four"] * 2)
        told.append(len(stored.add(ROWS, progress=False)) > 0)
        pipe.send([*told, again])
    except BaseException as error:
        pipe.send(repr(error))


def test_use_after_fork(tmp_path):
    """Results, models, answers and collections that were made before a fork do in the child what they do here."""
    import multiprocessing

    _, result = nigh.dedup(["one two three four", "one two three four", "x y z"])
    model = nigh.train(["cat purr"] * 5 + ["stock fell"] * 5, ["a"] * 5 + ["b"] * 5)
    stored = nigh.Collection.create(tmp_path / "c.nigh", ROWS, progress=False)
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    child = context.Process(target=_use_all, args=(result, model, stored.search(ROWS[3], k=1), stored, there))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert here.recv() == [1, 1, (1, 4), "3", True, ["one two three four"]]
    stored.refresh()
    assert len(stored) == 12 and len(result.pairs) == 1
