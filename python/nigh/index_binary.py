# SPDX-License-Identifier: Apache-2.0
"""An index of bits with the interface of FAISS, so that code works after changing the import.

Rows are kept in a collection in a temporary folder, which is removed with the index; ``write`` copies it elsewhere.
Answers are exact, unless ``build_graph()`` was called, and the same for any number of threads.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any, Optional

from ._arrays import rows_of
from ._errors import ExistsError, InvalidError
from ._inputs import Path
from .collection import Collection, add


class IndexBinary:
    """Rows of ``d`` bits, each ``d / 8`` bytes of uint8; ids count the rows in the order in which they are added.

    >>> import nigh, numpy
    >>> index = nigh.IndexBinary(16)
    >>> index.add(numpy.array([[1, 2], [3, 4], [255, 255]], numpy.uint8))
    >>> distances, ids = index.search(numpy.array([[1, 3]], numpy.uint8), 2)
    >>> distances.tolist(), ids.tolist()
    ([[1, 4]], [[0, 1]])
    """

    is_trained = True

    def __init__(self, d: int, threads: int = 0) -> None:
        if d < 8 or d % 8:
            raise InvalidError(f"d is {d}, and has to be a multiple of 8")
        self.d = d
        self.threads = threads
        self._folder = tempfile.mkdtemp(prefix="nigh-index-")
        self._path = os.path.join(self._folder, "rows.nigh")
        self._collection: Optional[Collection] = None
        self._living: Any = None  # where rows were removed: the numbers that those which are left have in the collection
        weakref.finalize(self, shutil.rmtree, self._folder, True)

    @property
    def code_size(self) -> int:
        """The bytes of a row."""
        return self.d // 8

    @property
    def ntotal(self) -> int:
        """How many rows there are."""
        return 0 if self._collection is None else len(self._collection)

    def train(self, x: Any) -> None:
        """Does nothing: there is nothing to learn."""

    def add(self, x: Any) -> None:
        """Adds rows, which get the next numbers."""
        rows, count = rows_of(x, self.d)
        if count == 0:
            return
        add(self._path, rows, width_bits=self.d, progress=False)
        if self._collection is None:
            self._collection = Collection(self._path)
        else:
            self._collection.refresh()
        self._count_living()

    def _count_living(self) -> None:
        assert self._collection is not None
        self._living = self._collection.numbers if self._collection.info["deleted"] else None

    def _ids_of(self, documents: Any) -> Any:
        """Numbers of the collection as those of rows, which move up if others were removed."""
        import numpy

        if self._living is None:
            return documents.astype(numpy.int64)
        places = numpy.searchsorted(self._living, documents.astype(numpy.uint64))
        return numpy.where(documents.astype(numpy.int64) < 0, -1, places)

    def _search(self, x: Any, k: Optional[int], radius: Optional[int]) -> Any:
        assert self._collection is not None
        return self._collection.search(x, k, radius, threads=self.threads)

    def search(self, x: Any, k: int) -> tuple[Any, Any]:
        """The k nearest of each row: distances (int32) and ids (int64); 2147483647 and -1 if there are fewer."""
        import numpy

        rows, count = rows_of(x, self.d)
        if k < 1:
            raise InvalidError(f"k is {k}, and has to be 1 or more")
        distances: Any = numpy.full((count, k), 2**31 - 1, numpy.int32)
        ids: Any = numpy.full((count, k), -1, numpy.int64)
        if self._collection is not None and count > 0:
            found = self._search(rows, k, None)
            near, far = self._ids_of(found.documents), found.distances
            ids[:, : near.shape[1]] = near
            distances[:, : far.shape[1]] = far
        return distances, ids

    def range_search(self, x: Any, radius: int) -> tuple[Any, Any, Any]:
        """All rows nearer than ``radius``: lims, distances and ids; those of row i are from lims[i] to lims[i + 1]."""
        import numpy

        rows, count = rows_of(x, self.d)
        if self._collection is None or count == 0 or radius < 1:
            return numpy.zeros(count + 1, numpy.uint64), numpy.zeros(0, numpy.int32), numpy.zeros(0, numpy.int64)
        found = self._search(rows, None, min(radius - 1, self.d))
        return found.limits, found.flat_distances.astype(numpy.int32), self._ids_of(found.flat_documents)

    def reconstruct(self, key: int) -> Any:
        """The row of an id."""
        if not 0 <= key < self.ntotal:
            raise IndexError(f"there is no row {key}; there are {self.ntotal}")
        return self.reconstruct_n(key, 1)[0]

    def reconstruct_n(self, n0: int = 0, ni: int = -1) -> Any:
        """Rows from n0 on, ni of them, or all."""
        import numpy

        if self._collection is None:
            return numpy.zeros((0, self.code_size), numpy.uint8)
        end = self.ntotal if ni < 0 else min(n0 + ni, self.ntotal)
        if self._living is None:
            return self._collection.signatures(n0, end - n0)
        return self._collection.signatures()[self._living[n0:end].astype(numpy.int64)]

    def remove_ids(self, x: Any) -> int:
        """Removes rows; later rows move up, as in FAISS. Returns how many were removed."""
        import numpy

        ids: Any = numpy.unique(numpy.asarray(x, numpy.int64))
        ids = ids[(ids >= 0) & (ids < self.ntotal)]
        if len(ids) == 0:
            return 0
        assert self._collection is not None
        if len(ids) == self.ntotal:
            self.reset()
            return len(ids)
        self._collection.delete(ids if self._living is None else self._living[ids])
        self._count_living()
        if self._collection.info["deleted"] > self.ntotal:
            self._compact()
        return len(ids)

    def _compact(self) -> None:
        """Rewrites what is left, because most of what is stored was removed."""
        rows, graphs = self.reconstruct_n(), self._collection.info["graph_segments"] if self._collection else 0
        self.reset()
        self.add(rows)
        if graphs:
            self.build_graph()

    def reset(self) -> None:
        """Removes all rows."""
        if self._collection is not None:
            self._collection.close()
            self._collection = None
            self._living = None
        shutil.rmtree(self._path, ignore_errors=True)

    def build_graph(self) -> None:
        """Makes searches of very many rows faster, and approximate."""
        if self._collection is not None:
            self._collection.build("graph", threads=self.threads, progress=False)

    def write(self, path: Path) -> None:
        """Copies it to a collection at a path, which must not exist."""
        if os.path.exists(path):
            raise ExistsError(f"'{os.fsdecode(path)}' already exists")
        if self._collection is None:
            raise InvalidError("an index without rows is not written")
        if self._living is not None:
            self._compact()
        shutil.copytree(self._path, os.fsdecode(path))

    @classmethod
    def read(cls, path: Path) -> IndexBinary:
        """An index of the rows of a collection at a path, which it copies."""
        with Collection(path) as stored:
            index = cls(stored.width_bits)
        shutil.copytree(os.fsdecode(path), index._path)
        index._collection = Collection(index._path)
        index._count_living()
        return index

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.d, self.threads, self.reconstruct_n().tobytes())

    def __repr__(self) -> str:
        return f"<nigh.IndexBinary: {self.ntotal:,} rows of {self.d} bits>"


def _restore(d: int, threads: int, rows: bytes) -> IndexBinary:
    index = IndexBinary(d, threads)
    index.add(rows)
    return index


def write_index_binary(index: IndexBinary, path: Path) -> None:
    """As faiss.write_index_binary."""
    index.write(path)


def read_index_binary(path: Path) -> IndexBinary:
    """As faiss.read_index_binary."""
    return IndexBinary.read(path)
