# SPDX-License-Identifier: Apache-2.0
"""Texts that the tests share: near-copies whose truth is known by a plain comparison of sets."""

from __future__ import annotations

import itertools
import random

import pytest

WORDS = [f"{a}{b}" for a in ("ba", "du", "ki", "lo", "me", "ra", "su", "ti") for b in ("n", "r", "st", "lm", "x")]


def make_texts(count: int, seed: int) -> list[str]:
    """Texts of 40 words, of which every third is an earlier one with a word or two changed, or a copy."""
    chance = random.Random(seed)
    texts: list[str] = []
    for number in range(count):
        words = [chance.choice(WORDS) for _ in range(40)]
        if number % 3 == 2:
            words = chance.choice(texts).split()
            for _ in range(chance.choice([0, 1, 1, 4])):
                words[chance.randrange(40)] = chance.choice(WORDS)
        texts.append(" ".join(words))
    return texts


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}


def jaccard(a: str, b: str) -> float:
    first, second = shingles(a), shingles(b)
    return len(first & second) / len(first | second)


def plain_dedup(texts: list[str], threshold: float = 0.8) -> list[int]:
    """Which stay, the plain way: each that is alike to none that stays before it."""
    stays: list[int] = []
    for number, text in enumerate(texts):
        if all(jaccard(text, texts[other]) < threshold for other in stays):
            stays.append(number)
    return stays


@pytest.fixture(scope="session")
def texts() -> list[str]:
    return make_texts(300, 1)


@pytest.fixture(scope="session")
def stays(texts: list[str]) -> list[int]:
    found = plain_dedup(texts)
    assert 150 < len(found) < 280
    return found


def near(rows, radius):  # type: ignore[no-untyped-def]
    """All pairs of rows within a radius, by a loop."""
    import numpy

    for a, b in itertools.combinations(range(len(rows)), 2):
        distance = int(numpy.unpackbits(rows[a] ^ rows[b]).sum())
        if distance <= radius:
            yield a, b, distance
