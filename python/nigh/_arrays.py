# SPDX-License-Identifier: Apache-2.0
"""Bytes as arrays and arrays as bytes; without NumPy, memoryviews."""

from __future__ import annotations

from typing import Any

from ._errors import InvalidError


def array_of(blob: bytes, kind: str, columns: int = 0) -> Any:
    """An array over bytes that came from the library, of two dimensions where there are columns."""
    try:
        import numpy
    except ImportError:
        view: Any = memoryview(blob)
        if columns:
            return view.cast("B", (len(blob) // columns, columns)) if blob else view
        return view.cast(kind)
    array = numpy.frombuffer(blob, numpy.dtype(kind))
    return array.reshape(-1, columns) if columns else array


def is_rows(data: Any) -> bool:
    """Whether it is an array of numbers, and no list or table."""
    return type(data).__module__.split(".")[0] == "numpy" and data.dtype.kind not in "OSUT"


def _check_dtype(array: Any) -> None:
    kind = getattr(array, "dtype", None)
    if kind is not None and getattr(kind, "char", None) != "B":  # asking for its name would take longer than a search
        hint = "; nigh.binarise() makes bits of floats" if "float" in str(kind) else ""
        hint = "; numpy.packbits(..., bitorder='little') packs them" if str(kind) == "bool" else hint
        raise InvalidError(f"rows are of {kind}, and have to be of uint8, 8 bits a byte{hint}")


def rows_of(data: Any, width_bits: int) -> tuple[Any, int]:
    """A contiguous buffer of rows of this width, and how many there are."""
    _check_dtype(data)
    size = (width_bits + 7) // 8
    if hasattr(data, "dtype"):
        if data.ndim not in (1, 2) or data.shape[-1] != size:
            packed = " (are these bits that are not packed?)" if data.ndim and data.shape[-1] == width_bits else ""
            raise InvalidError(
                f"rows of {width_bits} bits have {size} bytes, and these have the shape {data.shape}{packed}"
            )
        if not data.flags.c_contiguous:
            data = data.copy(order="C")
        return data, 1 if data.ndim == 1 else data.shape[0]
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"rows are no array of uint8 but {type(data).__name__}")
    length = memoryview(data).nbytes
    if length % size:
        raise InvalidError(f"rows of {width_bits} bits have {size} bytes, and {length} bytes are no multiple of it")
    return data, length // size
