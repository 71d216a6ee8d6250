# SPDX-License-Identifier: Apache-2.0
"""Calls of every kind, very many: neither Python's memory nor the process grows.

NIGH_CALLS is how many; a million in the full tier.
"""

import gc
import os
import tracemalloc

import pytest

import nigh

np = pytest.importorskip("numpy")

CALLS = int(os.environ.get("NIGH_CALLS", "20000"))
ROWS = np.random.default_rng(2).integers(0, 256, (16, 8), np.uint8)


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_no_growth(use, calls):
    """Of Python's objects not 64 KiB, of the process not 4 MiB, whatever the number of calls."""
    for _ in range(max(calls // 10, 20)):
        use()
    gc.collect()
    before = resident()
    tracemalloc.start()
    use()
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(calls):
        use()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert grown < 65536, f"{grown} bytes of Python's more"
    # A sanitizer keeps what was freed for a while.
    assert os.environ.get("NIGH_SLOWLY") or resident() - before < 4 << 20


def refused(use, *errors):
    """It raises, each time."""

    def call():
        try:
            use()
        except errors:
            return
        raise AssertionError("it was not refused")

    return call


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    place = tmp_path_factory.mktemp("leaks") / "c.nigh"
    texts = [f"text number {i} about {i * i}" for i in range(16)]
    return nigh.Collection.create(place, texts, scheme="simhash", progress=False)


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    with nigh.Live(tmp_path_factory.mktemp("leaks") / "l.nigh", width_bits=64, radius=0, sync="never") as opened:
        opened.find_or_add_many(ROWS)
        yield opened


# Which share of the calls each gets: what takes longer gets fewer.
SHARES = {
    "search": 0.4, "search arrays": 0.1, "search text": 0.05, "wrong option": 0.1, "wrong rows": 0.1, "wrong type": 0.05,
    "id": 0.05, "no such document": 0.05, "distance": 0.05, "live": 0.04, "proof": 0.01, "sign": 0.001, "dedup": 0.0005,
    "dedup records": 0.0005, "surrogate": 0.0005, "no such collection": 0.002, "reopen": 0.001, "pairs": 0.0005, "model": 0.01,
    "train": 0.0002, "eval": 0.0002, "broken generator": 0.0005, "raising progress": 0.0005, "lsh": 0.0005,
}  # fmt: skip


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")
@pytest.mark.parametrize("kind", SHARES)
def test_no_leak(kind, stored, live):
    row = ROWS[3]
    labels = (["a b"] * 4 + ["c d"] * 4, ["x"] * 4 + ["y"] * 4)
    model = nigh.train(*labels, progress=False) if kind == "model" else None

    def broken():
        yield "one"
        raise LookupError

    def raising(*_):
        raise LookupError

    lsh, minhash = nigh.MinHashLSH(), nigh.MinHash()
    minhash.update_batch([b"one", b"two"])

    def in_and_out():
        lsh.insert("a", minhash)
        lsh.query(minhash)
        lsh.remove("a")

    uses = {
        "search": lambda: stored.search(row, k=2),
        "search arrays": lambda: (stored.search(ROWS, k=2).documents, stored.search(row, k=2).distances),
        "search text": lambda: stored.search("text number 3", k=2).matches(),
        "wrong option": refused(lambda: stored.search(row, effort="no"), TypeError),
        "wrong rows": refused(lambda: stored.search(row[:3]), nigh.InvalidError),
        "wrong type": refused(lambda: stored.search(5), TypeError),
        "id": lambda: (stored.id(3), stored.find("3"), stored.snippet(3), stored.info),
        "no such document": refused(lambda: stored.id(99), IndexError),
        "distance": lambda: nigh.distance(ROWS, row),
        "live": lambda: live.find_or_add(row),
        "proof": lambda: stored.search(row, k=1).proof(),
        "sign": lambda: nigh.sign(["one two", None], "simhash", threads=1),
        "dedup": lambda: nigh.dedup(["a b c d", "a b c d"], threads=1)[1].pairs,
        "dedup records": lambda: nigh.dedup([{"text": "a b", "n": "1", "q": 1.0}], id="n", keep="score", score="q", threads=1),
        "surrogate": refused(lambda: nigh.dedup(["\ud800"], threads=1), ValueError),
        "no such collection": refused(lambda: nigh.Collection("/nowhere/at/all"), nigh.NotFoundError),
        "reopen": stored.refresh,
        "pairs": lambda: nigh.pairs(ROWS, 3, threads=1),
        "model": lambda: (model.features(3), nigh.Model(bytes(model)).info),
        "train": lambda: nigh.train(*labels, threads=1),
        "eval": lambda: nigh.eval.signatures(["one two", "two three"], "simhash", threads=1),
        "broken generator": refused(lambda: nigh.dedup(broken()), LookupError),
        "raising progress": refused(lambda: stored.add(["x y z"] * 3, progress=raising), LookupError),
        "lsh": in_and_out,
    }  # fmt: skip
    check_no_growth(uses[kind], max(int(CALLS * SHARES[kind]), 20))
