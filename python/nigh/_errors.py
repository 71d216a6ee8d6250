# SPDX-License-Identifier: Apache-2.0
"""The exceptions: one tree, and each names the file and the place in it."""

from __future__ import annotations


class NighError(Exception):
    """Anything that nigh refuses or cannot do.

    ``file`` and ``offset`` (or ``line``) say where, or are None; ``reason`` is a name such as
    ``"NIGH_REASON_NEEDS_RADIUS"`` for programs that want to know more.
    """

    reason: str = "NIGH_REASON_NONE"
    file: str | None = None
    offset: int | None = None
    line: int | None = None


class InvalidError(NighError, ValueError):
    """Arguments that are invalid, or do not go together."""


class MismatchError(InvalidError):
    """It does not fit the collection: another width, or signed in another way."""


class FileError(NighError, OSError):
    """The system refused to read or write."""


class DamagedError(NighError):
    """Data on disk is damaged, or the input changed while it was read."""


class FormatError(NighError, ValueError):
    """It is not in the expected format."""


class VersionError(NighError):
    """It was written by a newer nigh."""


class NotFoundError(NighError, LookupError):
    """There is no such file, collection or document."""


class ExistsError(NighError):
    """It already exists."""


class BusyError(NighError):
    """Another writer is using it."""


class CancelledError(NighError):
    """It was asked to stop."""


class LimitError(NighError):
    """Over a limit, which can be raised."""


class UnsupportedError(NighError, NotImplementedError):
    """Left out of this build."""


_CLASSES: dict[int, type[NighError]] = {
    -2: InvalidError,
    -3: FileError,
    -4: DamagedError,
    -5: FormatError,
    -6: VersionError,
    -7: NotFoundError,
    -8: ExistsError,
    -9: BusyError,
    -10: CancelledError,
    -11: LimitError,
    -12: MismatchError,
    -13: UnsupportedError,
}


def make_error(
    status: int, reason: str, text: str, file: str | None, offset: int | None, line: int, errno: int
) -> NighError:
    """The exception for a status of the library; called by the extension."""
    error = _CLASSES.get(status, NighError)(text)
    error.reason = reason
    error.file = file
    error.offset = offset
    error.line = line or None
    if isinstance(error, FileError):
        error.errno = errno or None
    return error


def no_column(name: str, columns: list[str]) -> InvalidError:
    """The column does not exist: says which do."""
    return InvalidError(f"there is no column {name!r}; there are: {', '.join(map(repr, columns)) or 'none'}")
