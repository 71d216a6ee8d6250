# SPDX-License-Identifier: Apache-2.0
"""Signatures in memory: of texts, of floats, their distances and pairs."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple, Optional

from . import _core
from ._arrays import array_of, rows_of
from ._errors import InvalidError
from ._inputs import Columns, data_of
from ._options import features_of
from ._progress import Bar, Progress
from .models import Model, core_of


def sign(
    data: Any,
    scheme: str = "topsig",
    width_bits: Optional[int] = None,
    *,
    column: str = "text",
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    model: Optional[Model] = None,
    weights: bool = False,
    threads: int = 0,
    progress: Progress = None,
) -> Any:
    """Signatures of texts, one row each; a text without a word has a row of zeros.

    With ``weights`` also how sure each bit is, a byte a bit.  With ``model`` they are signed by what it has learned.

    >>> import nigh
    >>> nigh.sign(["one", "two", "one"], scheme="simhash").shape
    (3, 8)
    """
    named: dict[str, Any] = {"scheme": scheme, "width_bits": width_bits, "language": language, "seed": seed}
    if model is not None:
        named.update(scheme="learned", model=core_of(model))
    options = {**named, **features_of(features)}
    given = data_of([data] if isinstance(data, str) else data, Columns(column))
    with Bar(progress) as bar:
        rows, numbers, sure, _, width = _core.sign(given.source, options, threads, bar.report)
    size = (width + 7) // 8
    total = len(given.source[0]) if len(given.source) == 3 else _rows_in(given.source[0]())
    signed = _spread(rows, numbers, total, size)
    return (signed, _spread(sure, numbers, total, width)) if weights else signed


def _rows_in(table: Any) -> int:
    return int(table.num_rows) if hasattr(table, "num_rows") else len(table)


def _spread(rows: bytes, numbers: bytes, total: int, size: int) -> Any:
    """Rows in the places of their documents; between them zeros."""
    if len(rows) == total * size:
        return array_of(rows, "B", size)
    spread = bytearray(total * size)
    for place, (number,) in enumerate(struct.iter_unpack("<Q", numbers)):
        spread[number * size : (number + 1) * size] = rows[place * size : (place + 1) * size]
    return array_of(bytes(spread), "B", size)


def simhash(data: Any, width_bits: int = 64, **options: Any) -> Any:
    """Simhash signatures: near-copies differ in about 3 of 64 bits."""
    return sign(data, "simhash", width_bits, **options)


def minhash(data: Any, width_bits: int = 256, **options: Any) -> Any:
    """A bit of each of many min-wise hashes: the share of bits that differ is half of 1 - Jaccard."""
    return sign(data, "minhash", width_bits, **options)


def topsig(data: Any, width_bits: int = 1024, **options: Any) -> Any:
    """TopSig signatures, for nearest documents; words are weighted by how often they occur in these texts."""
    return sign(data, "topsig", width_bits, **options)


def distance(a: Any, b: Any) -> Any:
    """Hamming distances of the rows of two arrays of uint8, pair by pair; or of all rows of a to the only row of b.

    >>> import nigh
    >>> int(nigh.distance(bytes([255]), bytes([1])))
    7
    """
    import numpy

    first, second = (numpy.frombuffer(x, numpy.uint8) if isinstance(x, (bytes, bytearray)) else x for x in (a, b))
    size = second.shape[-1] if hasattr(second, "shape") else 0
    for array in (first, second):
        rows_of(array, size * 8)
    found = array_of(_core.distances(numpy.ascontiguousarray(first), numpy.ascontiguousarray(second), size), "I")
    return found[0] if first.ndim == 1 else found


class Pairs(NamedTuple):
    """Pairs of rows, ordered by first, then second, as NumPy arrays."""

    first: Any
    second: Any
    distance: Any
    exact: bool
    """No pair is missing."""


def pairs(
    rows: Any,
    radius: int,
    others: Any = None,
    *,
    width_bits: Optional[int] = None,
    threads: int = 0,
    progress: Progress = None,
) -> Pairs:
    """Every pair of rows within a radius: among themselves, or between the two.

    >>> import nigh, numpy
    >>> found = nigh.pairs(numpy.array([[1], [3], [255]], numpy.uint8), radius=1)
    >>> found.first.tolist(), found.second.tolist(), found.distance.tolist()
    ([0], [1], [1])
    """
    import numpy

    width = width_bits or rows.shape[-1] * 8
    data, _ = rows_of(rows, width)
    other = None if others is None else rows_of(others, width)[0]
    with Bar(progress) as bar:
        blob, untold, truncated = _core.pairs(data, other, width, radius, threads, bar.report)
    found = numpy.frombuffer(blob, numpy.dtype([("first", "<u8"), ("second", "<u8"), ("distance", "<u4"), ("", "<u4")]))
    return Pairs(found["first"], found["second"], found["distance"], untold == 0 and truncated == 0)


# ----------------------------------------------------------------- floats --


def binarise(data: Any, method: str = "sign", *, thresholds: Any = None, seed: int = 1) -> Any:
    """Bits of floats: bit i of a row is 1 if its value i is greater than the threshold of column i.

    "sign": each threshold is 0.  "mean", "median": that of the column.  "rotate": the sign after a random rotation
    (of the seed), which spreads what few columns tell over all bits.  ``thresholds``: those given.

    >>> import nigh, numpy
    >>> nigh.binarise(numpy.array([[1.0, -1.0, 2.0]])).tolist()
    [[5]]
    """
    import numpy

    floats = numpy.asarray(data)
    if floats.dtype.kind != "f" or floats.ndim != 2:
        raise InvalidError(f"floats of two dimensions are needed, not {floats.dtype} of shape {floats.shape}")
    if not numpy.isfinite(floats).all():
        raise InvalidError(f"row {int(numpy.argmin(numpy.isfinite(floats).all(axis=1)))} has a NaN or an infinity")
    if thresholds is None:
        floats, thresholds = _thresholds(floats, method, seed)
    return numpy.packbits(floats > numpy.asarray(thresholds), axis=1, bitorder="little")


def _thresholds(floats: Any, method: str, seed: int) -> tuple[Any, Any]:
    import numpy

    if method == "sign":
        return floats, 0.0
    if method == "mean":
        return floats, floats.mean(axis=0)
    if method == "median":
        return floats, numpy.median(floats, axis=0)
    if method == "rotate":
        made = numpy.random.default_rng(seed).standard_normal((floats.shape[1], floats.shape[1]))
        return floats @ numpy.linalg.qr(made)[0].astype(floats.dtype), 0.0
    raise InvalidError(f"there is no method {method!r}; there are: sign, mean, median, rotate")
