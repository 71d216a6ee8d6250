# SPDX-License-Identifier: Apache-2.0
"""Parquet files: read a row group at a time, and written again without what goes.

What is written has the schema, types, metadata, compression, order and row groups of its input, one file for each.
It goes by a temporary name, so that a file that is there stays whole until the new one is.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Optional

from ._errors import DamagedError, InvalidError, NotFoundError
from ._inputs import Columns, Data, Path, filter_rows, pyarrow, streamed

if TYPE_CHECKING:
    from ._dedup import DedupResult, _Run

_MAGIC = b"PAR1"
_BATCH_BYTES = 1 << 21


def _is_parquet(path: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(4) == _MAGIC
    except OSError:
        return path.endswith(b".parquet")


def _below(path: bytes) -> list[bytes]:
    """The Parquet files of a folder and below it, sorted."""
    found = [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]
    return sorted(name for name in found if name.endswith(b".parquet"))


def any_of(paths: list[bytes]) -> bool:
    """Whether one of these is a Parquet file, or a folder of them."""
    return any(bool(_below(path)) if os.path.isdir(path) else _is_parquet(path) for path in paths)


def files_of(paths: list[bytes]) -> list[str]:
    """All files; an error where one of them is no Parquet file."""
    files: list[str] = []
    for path in paths:
        inside = _below(path) if os.path.isdir(path) else [path]
        for name in inside:
            if not os.path.exists(name):
                raise NotFoundError(f"'{os.fsdecode(name)}': there is no such file")
            if not _is_parquet(name):
                raise InvalidError(f"'{os.fsdecode(name)}' is no Parquet file, and others are; give one kind a time")
        files += map(os.fsdecode, inside)
    return files


class _Files:
    """Several Parquet files as one table, of which only the columns that are asked for are read."""

    def __init__(self, files: list[str], names: list[str]) -> None:
        self.files = files
        self.names = names
        self.states = [_state(file) for file in files]
        self.rows = [self.open(file).metadata.num_rows for file in files]

    @staticmethod
    def open(file: str) -> Any:
        pa = pyarrow()
        import pyarrow.parquet as parquet

        try:
            return parquet.ParquetFile(file)
        except pa.ArrowException as error:
            raise InvalidError(f"'{file}' cannot be read: {error}") from None

    def batches(self) -> Iterable[Any]:
        """The batches of all files, one after the other."""
        for file in self.files:
            with self.open_again(file) as opened:
                yield from opened.iter_batches(_batch_rows(opened.metadata), columns=self.names)

    @contextmanager
    def open_again(self, file: str) -> Iterator[Any]:
        """The file as it was at first: an error where it changed since, or while it is read."""
        before = self.states[self.files.index(file)]
        with self.open(file) as opened:
            _check_state(file, before)
            try:
                yield opened
            finally:
                _check_state(file, before)  # in place of whatever else came of it


def _state(file: str) -> tuple[int, ...]:
    found = os.stat(file)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _check_state(file: str, before: tuple[int, ...]) -> None:
    if _state(file) != before:
        raise DamagedError(f"'{file}' changed while it was read")


def _batch_rows(metadata: Any) -> int:
    """So many rows that a batch has about 2 MiB; a batch may span row groups."""
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    average = sum(group.total_byte_size for group in groups) // max(metadata.num_rows, 1)
    return int(min(max(_BATCH_BYTES // max(average, 64), 1), 8192))


def _compression(metadata: Any) -> Any:
    """By column, as the first row group has it."""
    if metadata.num_row_groups == 0:
        return "snappy"
    group = metadata.row_group(0)
    columns = [group.column(number) for number in range(group.num_columns)]
    names = {"UNCOMPRESSED": "none"}
    return {column.path_in_schema: names.get(column.compression, column.compression) for column in columns}


def _copy(opened: Any, target: str, mask: bytes) -> int:
    """Writes the rows that stay.  Gives their number."""
    import pyarrow.parquet as parquet

    first = written = 0
    compression = _compression(opened.metadata)
    with parquet.ParquetWriter(target, opened.schema_arrow, compression=compression) as writer:
        for number in range(opened.metadata.num_row_groups):
            group = opened.read_row_group(number)
            stays = filter_rows(group, mask[first : first + group.num_rows])
            first += group.num_rows
            written += stays.num_rows
            if stays.num_rows > 0:
                writer.write_table(stays, row_group_size=stays.num_rows)
    return written


def _targets(files: list[str], output: str) -> list[str]:
    """One for each file, named as it is below the folder that all have in common."""
    if output.endswith(".parquet") and not os.path.isdir(output):
        raise InvalidError(f"'{output}' names a file; give a folder, which gets a file for each input")
    root = os.path.commonpath([os.path.dirname(os.path.abspath(file)) for file in files])
    names = [os.path.relpath(os.path.abspath(file), root) for file in files]
    targets = [os.path.join(output, name) for name in names]
    for file, target in zip(files, targets):
        if os.path.exists(target) and os.path.samefile(file, target):
            raise InvalidError(f"'{target}' is an input; write to another folder")
    return targets


def _write(files: _Files, output: str, mask: bytes) -> list[str]:
    targets = _targets(files.files, output)
    first = 0
    for file, rows, target in zip(files.files, files.rows, targets):
        os.makedirs(os.path.dirname(target) or ".", exist_ok=True)
        temporary = target + ".tmp"
        try:
            with files.open_again(file) as opened:
                _copy(opened, temporary, mask[first : first + rows])
            os.replace(temporary, target)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise
        first += rows
    return targets


def dedup(
    run: _Run, paths: list[bytes], columns: Columns, output: Optional[Path]
) -> tuple[Any, DedupResult]:
    """nigh.dedup of Parquet files."""
    files = _Files(files_of(paths), columns.names)
    if output is not None:
        _targets(files.files, os.fsdecode(output))
    with files.open(files.files[0]) as opened:
        schema = opened.schema_arrow
    source = streamed(schema, files.batches, columns)
    result = run.source(Data(source, lambda mask: None))
    if output is None:
        return None, result
    return _write(files, os.fsdecode(output), result._core.mask()), result
