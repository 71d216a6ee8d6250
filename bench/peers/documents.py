# SPDX-License-Identifier: Apache-2.0
"""
Documents as all contenders get them: JSON lines {"id", "text"}, the id being the number of the line.

    prepare(path, into)     out of JSON lines, which may be compressed by xz or gzip
    generate(into, ...)     made up: text by Zipf's law, with near-copies of every degree and exact copies among it

Shingles are three words in a row, or all words of a text that has fewer, lower case and without punctuation: what
defines the truth, and what every peer gets that takes shingles.
"""

import gzip
import json
import lzma
import re

WORD = re.compile(r"[^\W_]+")
LENGTH = 3


def words(text):
    return WORD.findall(text.lower())


def shingles(text):
    """A set of strings; empty only where there is no word."""
    found = words(text)
    if len(found) < LENGTH:
        return {" ".join(found)} if found else set()
    return set(map(" ".join, zip(found, found[1:], found[2:])))


def jaccard(first, second):
    shared = len(first & second)
    return shared / (len(first) + len(second) - shared) if shared else 0.0


def read(path):
    """The texts of a prepared file."""
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def write_kept(path, output, removed):
    """What is kept, line by line, as every contender that does not write by itself does it."""
    with open(path, "rb") as lines, open(output, "wb") as out:
        out.writelines(line for number, line in enumerate(lines) if number not in removed)


def opened(path):
    kinds = {".xz": lzma.open, ".gz": gzip.open}
    return kinds.get(path.suffix, open)(path, "rt", encoding="utf-8")


def texts_of(path):
    with opened(path) as lines:
        for line in lines:
            text = json.loads(line).get("text") if line.strip() else None
            if isinstance(text, str) and WORD.search(text):
                yield text


def write_texts(texts, into):
    """Numbers documents as it writes them, and says how many there are."""
    unfinished = into.with_suffix(".new")
    count = 0
    with open(unfinished, "w", encoding="utf-8") as out:
        for text in texts:
            out.write(json.dumps({"id": str(count), "text": text}, ensure_ascii=False) + "\n")
            count += 1
    unfinished.rename(into)
    return count


def prepare(path, into, limit=None):
    """Documents with a word in them; the first `limit` of them."""
    if not into.exists():
        texts = texts_of(path)
        write_texts((text for _, text in zip(range(limit), texts)) if limit else texts, into)


# ------------------------------------------------------------------ generated --

VOCABULARY = 1 << 20
KEPT = 4096  # made before, to be copied
NEAR_SHARE, COPY_SHARE = 0.10, 0.05
MOST_CHANGED = 0.08  # of the words of a near-copy; .04 is a Jaccard index of about .8


def spelled(rank):
    """Letters of a word, the frequent ones shorter."""
    letters = "etaoinsrhldcumfpgwybvk"
    word = ""
    while rank > 0 or len(word) < 2:
        word += letters[rank % len(letters)]
        rank //= len(letters)
    return word


class Zipf:
    """Words by rank: the chance of rank r is about 1 / (r + 20)^1.5, flat at the head, with a long tail."""

    def __init__(self, seed):
        import numpy

        self.random = numpy.random.Generator(numpy.random.PCG64(seed))
        self.highest = 20.0**-0.5
        self.width = self.highest - (VOCABULARY + 20.0) ** -0.5
        self.names = {}

    def ranks(self, count):
        drawn = self.highest - self.random.random(count) * self.width
        return (drawn**-2.0 - 20.0).astype("int64").tolist()

    def name(self, rank):
        if rank not in self.names:
            self.names[rank] = spelled(rank)
        return self.names[rank]

    def text(self, ranks):
        return " ".join(map(self.name, ranks))


def changed(zipf, ranks):
    """A near-copy: some words are others."""
    share = zipf.random.random() * MOST_CHANGED
    places = zipf.random.integers(len(ranks), size=max(1, int(share * len(ranks))))
    copy = list(ranks)
    for place, rank in zip(places.tolist(), zipf.ranks(len(places))):
        copy[place] = rank
    return copy


def remember(before, ranks, random):
    if len(before) < KEPT:
        before.append(ranks)
    else:
        before[int(random.integers(KEPT))] = ranks


def generated_texts(megabytes, seed):
    zipf = Zipf(seed)
    before = []
    made = 0
    while made < megabytes * 1_000_000:
        kind = zipf.random.random()
        old = before[int(zipf.random.integers(len(before)))] if before else None
        if old is not None and kind < COPY_SHARE:
            ranks = old
        elif old is not None and kind < COPY_SHARE + NEAR_SHARE:
            ranks = changed(zipf, old)
        else:
            ranks = zipf.ranks(int(zipf.random.integers(30, 600)))
            remember(before, ranks, zipf.random)
        text = zipf.text(ranks)
        made += len(text)
        yield text


def generate(into, megabytes, seed=1):
    if not into.exists():
        write_texts(generated_texts(megabytes, seed), into)
