# SPDX-License-Identifier: Apache-2.0
"""Data of any kind as documents for the library, and what is kept of it as the same kind again. Tables are passed by
the Arrow C stream interface, so that texts are read in place; a table in a file is read again for every pass, and
memory does not grow with it.
"""

from __future__ import annotations

import array
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Callable, NamedTuple, Optional, Union

from ._errors import InvalidError, no_column

Source = tuple[Any, ...]
Path = str | bytes | os.PathLike[Any]


class Columns(NamedTuple):
    """Which column or key has the text of a document, and its other fields; None: it has none."""

    text: str = "text"
    id: Optional[str] = None
    score: Optional[str] = None
    label: Optional[str] = None
    part: Optional[str] = None
    keep: tuple[str, ...] = ()
    """Keys whose values are kept; dotted paths."""

    @property
    def given(self) -> dict[str, str]:
        """Those that there are, but for keys that are kept, by what is in them."""
        return {kind: name for kind, name in zip(self._fields[:5], self) if isinstance(name, str)}

    @property
    def names(self) -> list[str]:
        """The same without what is in them."""
        return list(self.given.values())


class Data:
    """Documents: `source` for the extension, and `select`, which gives what a mask of bytes keeps of them."""

    def __init__(self, source: Source, select: Callable[[bytes], Any]) -> None:
        self.source = source
        self.select = select


def paths_of(data: Any) -> Optional[list[bytes]]:
    """The paths that data is: a path, or a list of PathLike; None if it is something else."""
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


def label_lines(value: Any) -> Optional[str]:
    """A label; for a list of labels, one a line."""
    if value is None or isinstance(value, str):
        return value
    return "\n".join(map(str, value)) if isinstance(value, (list, tuple, set)) else str(value)


def _texts_of(items: list[Any], name: Optional[str], convert: Callable[[Any], Any]) -> Optional[tuple[Any, ...]]:
    """What records have under a name; None if no name is given."""
    if name is None:
        return None
    return tuple(None if item.get(name) is None else convert(item[name]) for item in items)


def _under(item: Any, path: str) -> Any:
    """What a record has at a dotted path, as the library looks for it: the whole rest as a key, then its first part."""
    while isinstance(item, dict):
        if path in item:
            return item[path]
        first, dot, path = path.partition(".")
        if not dot:
            return None
        item = item.get(first)
    return None


Value = Union[None, int, float, str]


def _value(value: Any) -> Value:
    """As a collection keeps it: true and false are texts, lists and objects nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, float) or hasattr(value, "__float__") and not hasattr(value, "__index__"):
        return None if value != value else float(value)
    if not hasattr(value, "__index__"):
        return None
    whole = int(value)
    return whole if -(2**63) <= whole < 2**63 else float(whole)


def values_of(item: Any, keys: Sequence[str]) -> tuple[Value, ...]:
    """What a record has under each of some keys, dotted paths."""
    return tuple(_value(_under(item, key)) for key in keys)


def kept_keys(scheme: str) -> tuple[str, ...]:
    """The keys that a collection keeps, of the lines of its scheme."""
    lines = dict(line.split("=", 1) for line in scheme.splitlines())
    names = ["keep-key", *(f"keep-key.{number}" for number in range(2, 17))]
    return tuple(lines[name] for name in names if name in lines)


def _records(items: list[Any], columns: Columns) -> Source:
    for number, item in enumerate(items):
        if columns.text not in item:
            raise InvalidError(f"record {number}: {no_column(columns.text, sorted(map(str, item)))}")
    score = columns.score
    scores = array.array("d", [_score(item.get(score)) for item in items]) if score else None
    texts, ids = tuple(item[columns.text] for item in items), _texts_of(items, columns.id, str)
    if columns.label is None and columns.part is None and not columns.keep:
        return texts, ids, scores
    labels, parts = _texts_of(items, columns.label, label_lines), _texts_of(items, columns.part, str)
    if not columns.keep:
        return texts, ids, scores, labels, parts
    return texts, ids, scores, labels, parts, tuple(values_of(item, columns.keep) for item in items)


def _of_items(data: Iterable[Any], columns: Columns) -> Data:
    items = list(data)
    give = tuple if isinstance(data, tuple) else list
    if items and all(isinstance(item, dict) for item in items):
        source = _records(items, columns)
    elif len(columns.names) > 1:
        raise InvalidError("a list of texts has no other columns; give records or a table")
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


def check_columns(there: list[str], columns: Columns) -> None:
    """Raises where one of them is not there."""
    if columns.keep:
        raise InvalidError("values of keys are kept of records and files; make records of a table: table.to_pylist()")
    for name in columns.names:
        if name not in there:
            raise no_column(name, there)


def plain_columns(table: Any, columns: Columns) -> Any:
    """Of a pyarrow table or batch, the columns that the library reads, under the names and types it knows."""
    pa = pyarrow()
    strings = (pa.string(), pa.large_string(), getattr(pa, "string_view", pa.string)())
    arrays, names = [], []
    for name, origin in columns.given.items():
        values = table.column(origin)
        if name == "text" and not _is_text(values.type):
            raise InvalidError(f"column {origin!r} is of type {values.type}, which is no text")
        if name == "label" and (pa.types.is_list(values.type) or pa.types.is_large_list(values.type)):
            values = _joined(values)
        kind = pa.float64() if name == "score" else pa.large_string()
        arrays.append(values if name != "score" and values.type in strings else _cast(values, kind, origin))
        names.append(name)
    return type(table).from_arrays(arrays, names=names)


def _cast(values: Any, kind: Any, origin: str) -> Any:
    try:
        return values.cast(kind)
    except pyarrow().ArrowException as error:
        raise InvalidError(f"column {origin!r} is of type {values.type}, which cannot be {kind}: {error}") from None


def _joined(labels: Any) -> Any:
    """Lists of labels as lines."""
    import pyarrow.compute as compute

    pa = pyarrow()
    return compute.binary_join(labels.cast(pa.list_(pa.string())), "\n")


def _is_text(kind: Any) -> bool:
    types = pyarrow().types
    if types.is_dictionary(kind):
        return _is_text(kind.value_type)
    view = getattr(types, "is_string_view", lambda kind: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_null(kind) or view(kind))


def _of_table(table: Any, columns: Columns) -> Data:
    check_columns(table.schema.names, columns)
    plain = plain_columns(table, columns)
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


def streamed(schema: Any, batches: Callable[[], Iterable[Any]], columns: Columns) -> Source:
    """A source that reads record batches anew for every pass."""
    pa = pyarrow()
    check_columns(schema.names, columns)
    empty = pa.RecordBatch.from_pylist([], schema=pa.schema([schema.field(name) for name in columns.names]))
    kind = plain_columns(empty, columns).schema
    return (_Stream(kind, lambda: (plain_columns(batch, columns) for batch in batches())),)


class _Stream:
    """Gives a reader for every pass.  What goes wrong in one is kept, for Arrow passes on its words alone."""

    def __init__(self, schema: Any, batches: Callable[[], Iterable[Any]]) -> None:
        self._schema = schema
        self._batches = batches
        self.failure: Optional[BaseException] = None

    def _each(self) -> Iterator[Any]:
        try:
            yield from self._batches()
        except BaseException as error:
            self.failure = error
            raise

    def __call__(self) -> Any:
        return pyarrow().RecordBatchReader.from_batches(self._schema, self._each())


def _of_dataset(data: Any, columns: Columns) -> Data:
    from pyarrow.dataset import dataset

    source = streamed(data.schema, lambda: data.to_batches(columns=columns.names), columns)
    return Data(source, lambda mask: dataset(filter_rows(data.to_table(), mask)))


def _of_reader(data: Any, columns: Columns) -> Data:
    given = _of_table(data.read_all(), columns)
    return Data(given.source, lambda mask: given.select(mask).to_reader())


def _of_pandas(data: Any, columns: Columns) -> Data:
    import numpy

    frame = data.to_frame(columns.text) if data.ndim == 1 else data
    check_columns(list(map(str, frame.columns)), columns)

    try:
        table = pyarrow().Table.from_pandas(frame[columns.names], preserve_index=False)
    except pyarrow().ArrowException as error:
        raise InvalidError(f"column {columns.text!r} is no text: {error}") from None
    given = _of_table(table, columns)
    return Data(given.source, lambda mask: data[numpy.frombuffer(mask, numpy.bool_)])


def _of_polars(data: Any, columns: Columns) -> Data:
    import polars

    frame = data.collect() if isinstance(data, polars.LazyFrame) else data
    frame = frame.alias(columns.text).to_frame() if isinstance(frame, polars.Series) else frame
    check_columns(frame.columns, columns)
    kind = frame.schema[columns.text]
    if kind not in (polars.String, polars.Categorical, polars.Null):
        raise InvalidError(f"column {columns.text!r} is of type {kind}, which is no text")
    wanted = []
    for name, origin in columns.given.items():
        values = polars.col(origin)
        if isinstance(frame.schema[origin], polars.List):
            values = values.cast(polars.List(polars.String)).list.join("\n")
        wanted.append(values.cast(polars.Float64 if name == "score" else polars.String).alias(name))
    plain = frame.select(wanted)

    def select(mask: bytes) -> Any:
        stays = polars.Series([byte != 0 for byte in mask], dtype=polars.Boolean)
        return data.filter(stays)

    return Data((lambda: plain,), select)


def _of_hugging_face(data: Any, columns: Columns) -> Data:
    check_columns(data.column_names, columns)
    arrow = data.select_columns(columns.names).with_format("arrow")

    def batches() -> Iterable[Any]:
        for table in arrow.iter(batch_size=1000):
            yield from table.to_batches()

    schema = arrow.data.table.schema if hasattr(arrow.data, "table") else arrow.data.schema
    source = streamed(schema, batches, columns)
    return Data(source, lambda mask: data.select([row for row, stays in enumerate(mask) if stays]))


# ------------------------------------------------------------------- kind --

_Maker = Callable[[Any, Columns], Data]
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


def data_of(data: Any, columns: Columns = Columns()) -> Data:
    """Documents of whatever data is: tables, lists, generators."""
    for kind in type(data).__mro__:
        make = _KINDS.get((kind.__module__.split(".")[0], kind.__name__))
        if make is not None:
            return make(data, columns)
    if hasattr(data, "__arrow_c_stream__"):
        return _of_table(pyarrow().table(data), columns)
    if isinstance(data, dict):
        raise InvalidError("a dict is no list of documents; give a list of records, or a table")
    if isinstance(data, Iterable):
        return _of_items(data, columns)
    raise TypeError(f"{type(data).__name__} is no kind of documents that nigh knows")
