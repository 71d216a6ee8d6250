# SPDX-License-Identifier: Apache-2.0
"""Signing, distances, pairs and bits of floats."""

import os
import subprocess

import pytest

import nigh
from conftest import jaccard, near

np = pytest.importorskip("numpy")


def test_sign_gives_the_rows_of_the_tool(tmp_path, texts):
    if "NIGH" not in os.environ:
        pytest.skip("no tool is named by NIGH")
    path = tmp_path / "in.txt"
    path.write_text("\n".join(texts) + "\n")
    for scheme in ("simhash", "minhash", "topsig"):
        out = tmp_path / f"{scheme}.npy"
        command = [os.environ["NIGH"], "sign", path, "--format", "lines", "--scheme", scheme, "-o", out, "--quiet"]
        subprocess.run(command, check=True)
        assert (np.load(out) == nigh.sign(texts, scheme)).all()


def test_threads_do_not_matter(texts):
    assert (nigh.minhash(texts, threads=1) == nigh.minhash(texts, threads=3)).all()


def test_texts_without_words():
    signed, weights = nigh.sign(["one two", "", None, "three"], "simhash", weights=True)
    assert signed.shape == (4, 8) and weights.shape == (4, 64)
    assert not signed[1].any() and not signed[2].any() and signed[0].any()
    assert (nigh.simhash("one two") == signed[:1]).all()


def test_tables_are_signed_as_lists(texts):
    pa = pytest.importorskip("pyarrow")
    assert (nigh.topsig(pa.table({"text": texts})) == nigh.topsig(texts)).all()


def test_minhash_estimates_jaccard(texts):
    signed = nigh.minhash(texts, 4096)
    for a, b in ((0, 2), (1, 5), (3, 4), (10, 11)):
        share = int(nigh.distance(signed[a], signed[b])) / 4096
        assert 1 - 2 * share == pytest.approx(jaccard(texts[a], texts[b]), abs=0.1)


def test_distance():
    rows = np.random.default_rng(1).integers(0, 256, (50, 24), np.uint8)
    other = rows[::-1].copy()
    assert nigh.distance(rows, other).tolist() == np.unpackbits(rows ^ other, axis=1).sum(axis=1).tolist()
    assert nigh.distance(rows, rows[3]).tolist() == np.unpackbits(rows ^ rows[3], axis=1).sum(axis=1).tolist()
    with pytest.raises(ValueError):
        nigh.distance(rows, rows[:7])


def test_pairs():
    rows = np.random.default_rng(1).integers(0, 4, (120, 4), np.uint8)
    found = nigh.pairs(rows, radius=2)
    assert list(zip(found.first.tolist(), found.second.tolist(), found.distance.tolist())) == list(near(rows, 2))
    between = nigh.pairs(rows[:60], 2, rows[60:])
    truth = np.unpackbits(rows[:60, None] ^ rows[None, 60:], axis=2).sum(axis=2) <= 2
    assert len(between.first) == truth.sum() and between.exact


def test_binarise():
    floats = np.random.default_rng(1).standard_normal((200, 20)).astype(np.float32)
    bits = np.unpackbits(nigh.binarise(floats), axis=1, bitorder="little")[:, :20]
    assert (bits == (floats > 0)).all()
    median = np.unpackbits(nigh.binarise(floats + 9, "median"), axis=1, bitorder="little")[:, :20]
    assert (median.sum(axis=0) == 100).all()
    turned = nigh.binarise(floats, "rotate")
    assert turned.shape == (200, 3) and (turned == nigh.binarise(floats, "rotate")).all()
    assert (nigh.binarise(floats, thresholds=np.full(20, -99.0)) == [255, 255, 15]).all()
    floats[7, 3] = np.nan
    with pytest.raises(nigh.InvalidError, match="row 7 has a NaN"):
        nigh.binarise(floats)
    with pytest.raises(nigh.InvalidError, match="floats of two dimensions"):
        nigh.binarise(np.zeros((3, 8), np.uint8))
    with pytest.raises(nigh.InvalidError, match="there are: sign, mean"):
        nigh.binarise(np.zeros((3, 8)), "mode")
