# SPDX-License-Identifier: Apache-2.0
"""The tasks of a deduplication whose records an engine moves, against one run over all documents."""

import array
import random

import pytest
from conftest import make_texts
from moved import Engine, chain, crowd, words_of

import nigh
from nigh import _core, _moving as m

PLAIN = make_texts(900, 3) + ["", "  ", "!!", "!!", "  ", "a b", "a b", "A b"]
CROWDS = crowd(2500)


def stays(texts: list[str], **options: object) -> list[int]:
    mask = nigh.dedup(texts, threads=1, progress=False, **options)[1].mask
    return [number for number, kept in enumerate(mask) if kept]


@pytest.mark.parametrize("shards, parts", [(1, 1), (2, 3), (7, 2), (64, 9)])
@pytest.mark.parametrize("keep", ["first", "longest", "shortest"])
def test_equal_to_one_run(shards, parts, keep):
    texts = PLAIN + CROWDS + chain(200)
    gone = Engine(shards, shards + parts, keep=keep).run(texts, parts)
    expected = stays(texts, keep=keep)
    assert [number for number in range(len(texts)) if number not in gone] == expected
    assert 0 < len(expected) < len(texts)


@pytest.mark.parametrize("options", [{"cluster": "components"}, {"threshold": 0.6}, {"threshold": 0.95}])
def test_equal_by_other_options(options):
    texts = PLAIN + chain(200)
    gone = Engine(5, 1, **options).run(texts, 4)
    assert [number for number in range(len(texts)) if number not in gone] == stays(texts, **options)


def test_there_were_crowds_and_what_goes_goes_with_what_stays():
    engine = Engine(4, 9)
    texts = PLAIN + CROWDS
    gone = engine.run(texts, 2)
    assert any(kind == m.CROWDS for kind, *_ in engine.buckets)
    similarity = {pair.second: pair.similarity for pair in nigh.dedup(texts, progress=False)[1].pairs}
    for number, (kept, alike) in gone.items():
        if kept in gone:
            assert alike == 1 and gone[kept][0] not in gone
        else:
            assert alike == pytest.approx(similarity[number], abs=1e-6)


def test_little_memory_changes_nothing(tmp_path):
    texts = CROWDS * 3 + make_texts(3000, 4)
    engine = Engine(2, 2, memory_bytes=1 << 20, temporary=str(tmp_path))
    assert sorted(set(range(len(texts))) - set(engine.run(texts, 2))) == stays(texts)
    assert not list(tmp_path.iterdir())


def test_repeated_numbers_are_counted():
    engine = Engine(3, 1)
    task = engine.task(m.SIGN, 0)
    task.texts((("one two three", "four five six"), None, None), array.array("q", [-5, -5]), None)
    copies = engine.stage(m.COPIES, engine.collect(task), m.SIGNED, m.NUMBERS)
    counters = words_of(copies, m.INFO, "=4q")
    assert sorted(counter[2] for counter in counters) == [0, 0, 1] and {counter[3] for counter in counters} == {0, -5}


@pytest.mark.parametrize("change", ["other", "gone"])
def test_texts_that_change_are_noticed(change):
    engine = Engine(2, 1)
    again = [text + (" more" if change == "other" else "") for text in CROWDS]
    if change == "gone":
        engine.features = lambda texts, needed: Engine.features(engine, texts, needed[1:])  # type: ignore[method-assign]
    with pytest.raises(nigh.DamagedError, match="not what it was"):
        engine.run(CROWDS, 1, again)


def test_anything_as_records():
    chance = random.Random(8)
    for _ in range(2000):
        kind, shard = chance.randrange(9), chance.randrange(4)
        task = Engine(4, 1).task(kind, shard)
        try:
            for _ in range(chance.randrange(1, 4)):
                words = [chance.choice([0, 1, 3, shard, shard << 25 | chance.randrange(9), chance.getrandbits(64)])
                         for _ in range(chance.choice([1, 2, 3, 6, 11, 22, 26]))]
                task.add(chance.randrange(-1, 16), array.array("Q", words).tobytes()[: -chance.choice([0, 0, 0, 3]) or None])
            task.finish(None)
            task.take()
        except nigh.NighError:
            pass


def test_what_tasks_refuse():
    for options in ({"method": "exact"}, {"all_pairs": True}, {"limit": 3}, {"no_verify": True}, {"threshold": 2.0}):
        with pytest.raises(nigh.InvalidError):
            _core.Task(m.SIGN, options, None, 1, 0, 1, False)
    for kind, shards, shard in ((9, 1, 0), (m.SIGN, 0, 0), (m.SIGN, 5000, 0), (m.SIGN, 2, 2)):
        with pytest.raises(nigh.InvalidError):
            _core.Task(kind, {}, None, shards, shard, 1, False)
    with pytest.raises(nigh.InvalidError):
        Engine(1, 1).task(m.COPIES, 0).texts((("a b c",), None, None), array.array("q", [1]), None)


def test_a_failure_of_who_takes_the_records_comes_out():
    task = Engine(1, 1).task(m.SIGN, 0)
    task.texts((("one two three",), None, None), array.array("q", [1]), None)

    def put(*given):
        raise KeyError(given[0])

    with pytest.raises(KeyError):
        task.finish(put)
