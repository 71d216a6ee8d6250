# SPDX-License-Identifier: Apache-2.0
"""Progress bars: tqdm's if it is installed, otherwise a line of our own."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Callable, Union

Report = Callable[[str, int, int], object]
Progress = Union[bool, None, Report]


def _in_notebook() -> bool:
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


class Bar:
    """Reports to a bar, to the caller's function, or to nobody.

    ``progress`` None: a bar in a terminal and in a notebook.  Used as a context manager; ``report`` is what
    the extension is given, None where nobody wants to know.
    """

    def __init__(self, progress: Progress) -> None:
        self._stage = ""
        self._bar: Any = None
        self._drawn = False
        self.report: Report | None = None
        if callable(progress):
            self.report = progress
        elif progress or (progress is None and (sys.stderr.isatty() or _in_notebook())):
            self.report = self._draw_tqdm if self._tqdm() else self._draw_line

    @staticmethod
    def _tqdm() -> Any:
        try:
            import tqdm.auto
        except ImportError:
            return None
        return tqdm.auto.tqdm

    def _draw_tqdm(self, stage: str, done: int, total: int) -> None:
        if self._bar is None or stage != self._stage:
            self.close()
            self._bar = self._tqdm()(total=total or None, desc=stage, unit_scale=True, leave=False)
            self._stage = stage
        self._bar.n = done
        self._bar.refresh()

    def _draw_line(self, stage: str, done: int, total: int) -> None:
        share = f"{100 * done // total:3d} %" if total else f"{done:,}"
        sys.stderr.write(f"\r{stage} {share}\x1b[K")
        sys.stderr.flush()
        self._drawn = True

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._drawn = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
