# SPDX-License-Identifier: Apache-2.0
"""Whatever is given: an exception that says what is wrong, no crash, and nothing lost."""

import os

import pytest

import nigh
from conftest import plain_dedup

hypothesis = pytest.importorskip("hypothesis")
np = pytest.importorskip("numpy")

from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402

# NIGH_CASES=100000 looks longer.
QUICK = settings(max_examples=int(os.environ.get("NIGH_CASES", "30")), deadline=None, suppress_health_check=list(HealthCheck))


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


# -------------------------------------------------------- whatever comes --

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
EXPECTED = (nigh.NighError, TypeError, ValueError, OSError, OverflowError, KeyError, IndexError)


@QUICK
@given(st.lists(st.text(alphabet="abc \n\0é中", max_size=40) | st.none(), max_size=12))
def test_any_texts_are_kept_or_are_copies(texts):
    kept, result = nigh.dedup(texts, threads=1)
    words = [text for text in texts if text]
    assert set(kept) == set(texts) or len(kept) < len(texts)
    assert result.stats["documents"] <= len(words)
    assert [text for text in kept if not text] == [text for text in texts if not text]


@QUICK
@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=4, max_size=9).map(" ".join), max_size=14))
def test_exact_equals_the_plain_way(texts):
    assert nigh.dedup(texts, method="exact", threads=1)[0] == [texts[number] for number in plain_dedup(texts)]


@QUICK
@given(anything, st.dictionaries(st.sampled_from(["threshold", "keep", "method", "threads", "score", "features"]), anything))
def test_anything_for_dedup(data, options):
    if isinstance(data, (str, bytes)):
        return
    try:
        nigh.dedup(data, **options)
    except EXPECTED:
        pass


@QUICK
@given(query=anything, options=st.dictionaries(st.sampled_from(["k", "radius", "method", "threads", "exact", "slack"]), anything))
def test_anything_for_search(stored, query, options):
    try:
        stored.search(query, **options)
    except EXPECTED:
        pass
    assert len(stored) == 20


@QUICK
@given(a=anything, b=anything, c=anything, d=anything)
def test_anything_for_the_extension(stored, a, b, c, d):
    """Below the package: the extension itself checks what it is given."""
    from nigh import _core

    for call in (
        lambda: _core.dedup_source(a, b, c, d, None, None),
        lambda: _core.dedup_source((tuple([a]), None, b), c, d, None, None, None),
        lambda: _core.dedup_source((a,), b, c, d, None, None),
        lambda: _core.distances(a, b, c),
        lambda: _core.dedup_rows(a, b, c, d),
        lambda: _core.dedup_rows(bytes(24), b, c, None),
        lambda: _core.pairs(a, b, c, d, 1, None),
        lambda: _core.pairs(bytes(24), None, a, b, 1, None),
        lambda: _core.against(os.fsencode(stored.path), bytes(24), a, {"radius": 1}, None, False, None),
        lambda: _core.sign(a, b, c, d),
        lambda: stored._core.search_rows(a, b, c, d),
        lambda: stored._core.search_texts(a, b, c),
        lambda: stored._core.ids(a),
        lambda: stored._core.signatures(a, b),
        lambda: stored._core.find(a),
    ):
        try:
            call()
        except (*EXPECTED, SystemError, AttributeError) as error:
            assert not isinstance(error, SystemError), error
