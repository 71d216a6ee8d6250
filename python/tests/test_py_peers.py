# SPDX-License-Identifier: Apache-2.0
"""What stands in for a part of another library, beside that library where it is installed."""

import random

import pytest

import nigh


def sets(count):
    chance = random.Random(4)
    made = []
    for number in range(count):
        tokens = {chance.randrange(400) for _ in range(40)}
        if number % 2:
            tokens = set(made[-1])
            for token in list(tokens)[: chance.randrange(8)]:
                tokens.discard(token)
        made.append(tokens)
    return made


def minhash(tokens):
    made = nigh.MinHash()
    made.update_batch(str(token).encode() for token in tokens)
    return made


def test_minhash_lsh():
    made = sets(120)
    lsh = nigh.MinHashLSH(threshold=0.8)
    lsh.insert_many((number, minhash(tokens)) for number, tokens in enumerate(made))
    found = expected = 0
    for tokens in made:
        truth = [n for n, other in enumerate(made) if len(tokens & other) / len(tokens | other) >= 0.8]
        given = lsh.query(minhash(tokens))
        assert set(given) <= set(truth) and given == sorted(given)
        found, expected = found + len(given), expected + len(truth)
    assert expected > 150 and found >= 0.99 * expected
    lsh.remove(3)
    assert 3 not in lsh and len(lsh) == 119 and 3 not in lsh.query(minhash(made[3]))
    with pytest.raises(nigh.ExistsError):
        lsh.insert(4, minhash(made[4]))
    with pytest.raises(nigh.NotFoundError):
        lsh.remove(3)
    with pytest.raises(nigh.InvalidError):
        nigh.MinHashLSH(threshold=0)


def test_as_datasketch():
    datasketch = pytest.importorskip("datasketch")
    made = sets(60)
    theirs, ours = datasketch.MinHashLSH(threshold=0.8, num_perm=128), nigh.MinHashLSH(threshold=0.8, num_perm=128)
    for number, tokens in enumerate(made):
        other = datasketch.MinHash(num_perm=128)
        other.update_batch([str(token).encode() for token in tokens])
        theirs.insert(number, other)
        ours.insert(number, minhash(tokens))
    for number, tokens in enumerate(made):
        assert number in ours.query(minhash(tokens))


def test_scikit_learn():
    pytest.importorskip("sklearn")
    np = pytest.importorskip("numpy")
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    from nigh.sklearn import SignatureTransformer

    texts = [f"cats purr and sleep {i}" for i in range(30)] + [f"stocks fell at noon {i}" for i in range(30)]
    model = make_pipeline(SignatureTransformer("simhash", 256, unpack=True), LogisticRegression())
    model.fit(texts, [0] * 30 + [1] * 30)
    assert model.predict(["cats sleep", "stocks at noon"]).tolist() == [0, 1]
    assert clone(model).get_params()["signaturetransformer__width_bits"] == 256
    assert (SignatureTransformer().fit_transform(texts) == nigh.simhash(texts)).all()
    with pytest.raises(ValueError, match="'simhash' or 'minhash'"):
        SignatureTransformer("topsig").fit(np.array(texts))


def test_datatrove(texts, stays):
    pytest.importorskip("datatrove")
    from datatrove.data import Document

    from nigh.datatrove import NearDuplicateFilter

    documents = [Document(text=text, id=str(number)) for number, text in enumerate(texts)]
    kept = list(NearDuplicateFilter().run(documents))
    assert [int(document.id) for document in kept] == stays
