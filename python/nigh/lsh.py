# SPDX-License-Identifier: Apache-2.0
"""MinHash and MinHashLSH with the interface of datasketch's; but what a query returns is verified.

The library makes the keys of a set, of which sets that are alike share one in all but a few cases in a thousand; here
they lead to sets, whose Jaccard index is then computed.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Hashable, Iterable
from typing import Any, Optional

from . import _core
from ._errors import ExistsError, InvalidError, NotFoundError


class MinHash:
    """The set of tokens that ``update`` was given; ``num_perm`` and ``seed`` are there for the shape.

    >>> a, b = MinHash(), MinHash()
    >>> a.update_batch([b"one", b"two", b"three"]); b.update_batch([b"two", b"three", b"four"])
    >>> a.jaccard(b)
    0.5
    """

    def __init__(self, num_perm: int = 128, seed: int = 1) -> None:
        self.num_perm = num_perm
        self.seed = seed
        self.tokens: set[str] = set()

    def update(self, token: bytes) -> None:
        """Adds a token."""
        self.tokens.add(hashlib.blake2b(token, digest_size=8).hexdigest())

    def update_batch(self, tokens: Iterable[bytes]) -> None:
        """Adds tokens."""
        for token in tokens:
            self.update(token)

    def jaccard(self, other: MinHash) -> float:
        """The Jaccard index of the two sets, exactly; 1 of two that are empty."""
        union = len(self.tokens | other.tokens)
        return len(self.tokens & other.tokens) / union if union else 1.0

    def __len__(self) -> int:
        return len(self.tokens)


class MinHashLSH:
    """Keys of sets, found by sets that are alike.

    >>> lsh = MinHashLSH(threshold=0.5)
    >>> one = MinHash(); one.update_batch([b"a", b"b", b"c"])
    >>> lsh.insert("one", one)
    >>> two = MinHash(); two.update_batch([b"a", b"b", b"c", b"d"])
    >>> lsh.query(two)
    ['one']
    """

    def __init__(self, threshold: float = 0.9, num_perm: int = 128, seed: Optional[int] = None) -> None:
        if not 0 < threshold <= 1:
            raise InvalidError(f"the threshold is {threshold}, which is not above 0 and at most 1")
        self.threshold = threshold
        self.num_perm = num_perm
        self._signer: dict[str, Any] = {
            "scheme": "minhash", "features": "words", "language": "none", "stemming": False, "stop_words": False,
            "threshold": threshold, "seed": seed,
        }  # fmt: skip
        self._sets: dict[Hashable, tuple[int, MinHash]] = {}
        self._tables: dict[tuple[int, int], list[Hashable]] = {}
        self._added = 0

    def _keys(self, minhashes: list[MinHash]) -> list[list[tuple[int, int]]]:
        """For each set the bands that it is in."""
        texts = tuple(" ".join(sorted(minhash.tokens)) or "empty" for minhash in minhashes)
        *_, blob, _ = _core.sign((texts, None, None), self._signer, 1 if len(texts) < 100 else 0, None)
        many = len(blob) // 4 // max(len(texts), 1)
        keys = [struct.unpack_from(f"<{many}I", blob, number * many * 4) for number in range(len(texts))]
        return [list(enumerate(row)) for row in keys]

    def insert(self, key: Hashable, minhash: MinHash) -> None:
        """Adds a set under a key, which must be new."""
        self.insert_many([(key, minhash)])

    def insert_many(self, items: Iterable[tuple[Hashable, MinHash]]) -> None:
        """Adds many sets at once, which is faster; or none, if one of the keys is not new."""
        many = list(items)
        new: set[Hashable] = set()
        for key, _ in many:
            if key in self._sets or key in new:
                raise ExistsError(f"the key {key!r} already exists")
            new.add(key)
        for (key, minhash), bands in zip(many, self._keys([minhash for _, minhash in many])):
            for band in bands:
                self._tables.setdefault(band, []).append(key)
            self._sets[key] = (self._added, minhash)
            self._added += 1

    def query(self, minhash: MinHash) -> list[Hashable]:
        """The keys of sets whose Jaccard index with this one is at least the threshold, in the order of adding."""
        met = {key for band in self._keys([minhash])[0] for key in self._tables.get(band, ())}
        alike = [key for key in met if minhash.jaccard(self._sets[key][1]) >= self.threshold]
        return sorted(alike, key=lambda key: self._sets[key][0])

    def remove(self, key: Hashable) -> None:
        """Removes a key."""
        if key not in self._sets:
            raise NotFoundError(f"there is no key {key!r}")
        for band in self._keys([self._sets.pop(key)[1]])[0]:
            self._tables[band].remove(key)
            if not self._tables[band]:
                del self._tables[band]

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return not self._sets

    def __contains__(self, key: Hashable) -> bool:
        return key in self._sets

    def __len__(self) -> int:
        return len(self._sets)
