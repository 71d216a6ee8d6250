# SPDX-License-Identifier: Apache-2.0
"""Whatever comes, made by hypothesis: an exception that is expected, no crash, nothing lost.

NIGH_CASES is how many cases each property gets; five of 20,000 are the 100,000 of the full tier.
"""

import os

import pytest

import nigh
from conftest import plain_dedup

hypothesis = pytest.importorskip("hypothesis")
np = pytest.importorskip("numpy")

from hypothesis import HealthCheck, given, settings, strategies as st  # noqa: E402

CASES = int(os.environ.get("NIGH_CASES", "30"))
QUICK = settings(max_examples=CASES, deadline=None, database=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    rows = np.random.default_rng(1).integers(0, 256, (20, 4), np.uint8)
    return nigh.Collection.create(tmp_path_factory.mktemp("any") / "c.nigh", rows, progress=False)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    with nigh.Live(tmp_path_factory.mktemp("any") / "l.nigh", sync="never") as opened:
        yield opened


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
def test_anything_for_the_extension(stored, live, a, b, c, d):
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
        lambda: stored._core.search_rows(a, b, c),
        lambda: stored._core.search_rows(bytes(4), a, None),
        lambda: stored._core.search_texts(a, b, c),
        lambda: stored._core.ids(a),
        lambda: stored._core.signatures(a, b),
        lambda: stored._core.find(a),
        lambda: stored._core.living(a, b),
        lambda: stored.delete([a, len(stored)]),  # one is not there: none goes
        lambda: _core.delete_ids(a, b, c, d),
        lambda: _core.delete_ids(b"/nowhere", (a, b), c, None),
        lambda: _core.adopt(b"/nowhere/new", a, b),
        lambda: _core.merge(b"/nowhere", a, b),
        lambda: _core.write_rows(b"/nowhere/new", bytes(8), a, b, c, d, None),
        lambda: live._core.take(a, b, c, False),
        lambda: live._core.take((a, "one two"), 2, b, False),
        lambda: live._core.id(a),
        lambda: _core.Live(b"/nowhere/new", a, b, c),
        lambda: _core.Model(a),
        lambda: _core.train(a, b, c, d, None),
        lambda: _core.train((("a", "b"), None, None, (a, b), None), None, c, d, None),
        lambda: _core.eval_signatures(a, b, c, d, None, None),
        lambda: _core.eval_signatures((("a", "b"), None, None), None, {"scheme": "simhash"}, a, b, None),
        lambda: _core.eval_nearest(stored._core, a, b, c, d, [], None),
        lambda: _core.eval_nearest(stored._core, bytes(4), None, a, 1, [b], None),
        lambda: _core.eval_learned(a, None, b, [0], [8], c, None),
        lambda: _core.eval_terms((("a b", "b c"), None, None), None, None, a, [4.0], b, None),
    ):
        try:
            call()
        except (*EXPECTED, SystemError, AttributeError) as error:
            assert not isinstance(error, SystemError), error
    assert len(stored) == 20 and len(live) == 0
