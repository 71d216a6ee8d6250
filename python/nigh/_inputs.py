# SPDX-License-Identifier: Apache-2.0
"""Data of any kind as documents for the library, and what is kept of it as the same kind again.

Tables are handed over by the Arrow C stream interface, so that texts are read where they lie; a table that is read
from a file is read again for every pass, and memory does not grow with it.
"""

from __future__ import annotations

import array
import os
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Optional

from ._errors import InvalidError, no_column

Source = tuple[Any, ...]
Path = str | bytes | os.PathLike[Any]


class Data:
    """Documents: `source` for the extension, and `select`, which gives what a mask of bytes keeps of them."""

    def __init__(self, source: Source, select: Callable[[bytes], Any]) -> None:
        self.source = source
        self.select = select


def paths_of(data: Any) -> Optional[list[bytes]]:
    """The paths that data is: a path, or a list of PathLike; None where it is something else."""
    if isinstance(data, (str, bytes, os.PathLike)):
        return [os.fsencode(data)]
    if isinstance(data, (list, tuple)) and data and all(isinstance(item, os.PathLike) for item in data):
        return [os.fsencode(item) for item in data]
    return None


def kept(items: Sequence[Any], mask: bytes) -> list[Any]:
    """The items whose byte of the mask is not 0."""
    return [item for item, stays in zip(items, mask) if stays]


# ------------------------------------------------------------------ lists --


def _score(value: Any) -> float:
    return float("-inf") if value is None else float(value)


def _records(items: list[Any], column: str, id: Optional[str], score: Optional[str]) -> Source:
    for number, item in enumerate(items):
        if column not in item:
            raise InvalidError(f"record {number}: {no_column(column, sorted(map(str, item)))}")
    ids = tuple(None if item.get(id) is None else str(item[id]) for item in items) if id else None
    scores = array.array("d", [_score(item.get(score)) for item in items]) if score else None
    return tuple(item[column] for item in items), ids, scores


def _of_items(data: Iterable[Any], column: str, id: Optional[str], score: Optional[str]) -> Data:
    items = list(data)
    give = tuple if isinstance(data, tuple) else list
    if items and all(isinstance(item, dict) for item in items):
        source = _records(items, column, id, score)
    elif id or score:
        raise InvalidError("a list of texts has no columns for ids or scores; give records or a table")
    else:
        source = tuple(items), None, None
    return Data(source, lambda mask: give(kept(items, mask)))


# ----------------------------------------------------------------- tables --


def pyarrow() -> Any:
    """The module, or an error that says what it is needed for."""
    try:
        import pyarrow as module
    except ImportError:
        raise ImportError("this kind of data needs pyarrow: pip install pyarrow") from None
    return module


def check_columns(columns: list[str], *names: Optional[str]) -> None:
    """Raises where one of the names that are not None is not there."""
    for name in names:
        if name is not None and name not in columns:
            raise no_column(name, columns)


def plain_columns(table: Any, column: str, id: Optional[str] = None, score: Optional[str] = None) -> Any:
    """Of a pyarrow table or batch, the columns that the library reads, under the names and types it knows."""
    pa = pyarrow()
    wanted = [("text", column, pa.large_string())]
    if id is not None:
        wanted.append(("id", id, pa.large_string()))
    if score is not None:
        wanted.append(("score", score, pa.float64()))
    strings = (pa.string(), pa.large_string(), getattr(pa, "string_view", pa.string)())
    arrays = []
    for name, origin, kind in wanted:
        values = table.column(origin)
        if name == "text" and not _is_text(values.type):
            raise InvalidError(f"column {origin!r} is of type {values.type}, which is no text")
        arrays.append(values if name != "score" and values.type in strings else values.cast(kind))
    return type(table).from_arrays(arrays, names=[name for name, _, _ in wanted])


def _is_text(kind: Any) -> bool:
    types = pyarrow().types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    view = getattr(types, "is_string_view", lambda kind: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind) or view(kind))


def _of_table(table: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    check_columns(table.schema.names, column, id, score)
    plain = plain_columns(table, column, id, score)
    pa = pyarrow()
    plain = plain if isinstance(plain, pa.Table) else pa.Table.from_batches([plain])
    return Data((lambda: plain,), lambda mask: filter_rows(table, mask))


def filter_rows(table: Any, mask: bytes) -> Any:
    """The rows of a table or batch whose byte of the mask is 1, with the very schema.

    Arrow cannot choose among views of strings yet, so these go by way of plain ones.
    """
    pa = pyarrow()
    chosen = pa.Array.from_buffers(pa.uint8(), len(mask), [None, pa.py_buffer(mask)]).cast(pa.bool_())
    plain = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}
    fields = [field.with_type(plain.get(str(field.type), field.type)) for field in table.schema]
    schema = pa.schema(fields, metadata=table.schema.metadata)
    if schema.equals(table.schema):
        return table.filter(chosen)
    return table.cast(schema).filter(chosen).cast(table.schema)


def streamed(schema: Any, batches: Callable[[], Iterable[Any]], column: str, id: Any, score: Any) -> Source:
    """A source that reads record batches anew for every pass."""
    pa = pyarrow()
    check_columns(schema.names, column, id, score)
    names = [name for name in (column, id, score) if name is not None]
    empty = pa.RecordBatch.from_pylist([], schema=pa.schema([schema.field(name) for name in names]))
    kind = plain_columns(empty, column, id, score).schema

    def read() -> Any:
        return pa.RecordBatchReader.from_batches(kind, (plain_columns(b, column, id, score) for b in batches()))

    return (read,)


def _of_dataset(data: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    from pyarrow.dataset import dataset

    names = [name for name in (column, id, score) if name is not None]
    source = streamed(data.schema, lambda: data.to_batches(columns=names), column, id, score)
    return Data(source, lambda mask: dataset(filter_rows(data.to_table(), mask)))


def _of_reader(data: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    given = _of_table(data.read_all(), column, id, score)
    return Data(given.source, lambda mask: given.select(mask).to_reader())


def _of_pandas(data: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    frame = data.to_frame(column) if data.ndim == 1 else data
    check_columns(list(map(str, frame.columns)), column, id, score)
    names = [name for name in (column, id, score) if name is not None]
    import numpy

    try:
        table = pyarrow().Table.from_pandas(frame[names], preserve_index=False)
    except pyarrow().ArrowException as error:
        raise InvalidError(f"column {column!r} is no text: {error}") from None
    given = _of_table(table, column, id, score)
    return Data(given.source, lambda mask: data[numpy.frombuffer(mask, numpy.bool_)])


def _of_polars(data: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    import polars

    frame = data.collect() if isinstance(data, polars.LazyFrame) else data
    frame = frame.alias(column).to_frame() if isinstance(frame, polars.Series) else frame
    check_columns(frame.columns, column, id, score)
    if frame.schema[column] not in (polars.String, polars.Categorical, polars.Null):
        raise InvalidError(f"column {column!r} is of type {frame.schema[column]}, which is no text")
    wanted = [polars.col(column).cast(polars.String).alias("text")]
    wanted += [polars.col(id).cast(polars.String).alias("id")] if id else []
    wanted += [polars.col(score).cast(polars.Float64).alias("score")] if score else []
    plain = frame.select(wanted)

    def select(mask: bytes) -> Any:
        stays = polars.Series([byte != 0 for byte in mask], dtype=polars.Boolean)
        return data.filter(stays)

    return Data((lambda: plain,), select)


def _of_hugging_face(data: Any, column: str, id: Optional[str], score: Optional[str]) -> Data:
    check_columns(data.column_names, column, id, score)
    names = [name for name in (column, id, score) if name is not None]
    arrow = data.select_columns(names).with_format("arrow")

    def batches() -> Iterable[Any]:
        for table in arrow.iter(batch_size=1000):
            yield from table.to_batches()

    schema = arrow.data.table.schema if hasattr(arrow.data, "table") else arrow.data.schema
    source = streamed(schema, batches, column, id, score)
    return Data(source, lambda mask: data.select([row for row, stays in enumerate(mask) if stays]))


# ------------------------------------------------------------------- kind --

_Maker = Callable[[Any, str, Optional[str], Optional[str]], Data]
_KINDS: dict[tuple[str, str], _Maker] = {
    ("pyarrow", "Table"): _of_table,
    ("pyarrow", "RecordBatch"): _of_table,
    ("pyarrow", "RecordBatchReader"): _of_reader,
    ("pyarrow", "Dataset"): _of_dataset,
    ("pandas", "DataFrame"): _of_pandas,
    ("pandas", "Series"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("polars", "Series"): _of_polars,
    ("polars", "LazyFrame"): _of_polars,
    ("datasets", "Dataset"): _of_hugging_face,
}


def data_of(data: Any, column: str = "text", id: Optional[str] = None, score: Optional[str] = None) -> Data:
    """Documents of whatever data is: tables, lists, generators."""
    for kind in type(data).__mro__:
        make = _KINDS.get((kind.__module__.split(".")[0], kind.__name__))
        if make is not None:
            return make(data, column, id, score)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_table(pyarrow().table(data), column, id, score)
    if isinstance(data, dict):
        raise InvalidError("a dict is no list of documents; give a list of records, or a table")
    if isinstance(data, Iterable):
        return _of_items(data, column, id, score)
    raise TypeError(f"{type(data).__name__} is no kind of documents that nigh knows")
