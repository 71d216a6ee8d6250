# SPDX-License-Identifier: Apache-2.0
"""Learning signatures from labelled documents."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Optional

from . import _core
from ._arrays import array_of
from ._errors import InvalidError
from ._inputs import Columns, Path, Source, data_of, label_lines, paths_of
from ._options import features_of
from ._progress import Bar, Progress


class Feature(NamedTuple):
    """A feature that a model knows, as its analysis makes it (for example a stem), and how much it counts."""

    text: str
    weight: float


class Model:
    """A learned model: it signs texts so that those that would get the same label differ in few bits.

    ``nigh.sign(texts, model=model)`` and ``Collection.create(path, texts, model=model)`` sign by it; a collection keeps
    a copy.  ``stats`` says what it was learned from, where it was learned just now.
    """

    def __init__(self, data: bytes, stats: Optional[dict[str, Any]] = None) -> None:
        self._core = _core.Model(data)
        self.stats = stats or {}

    @classmethod
    def load(cls, path: Path) -> Model:
        """Reads one that ``save`` or ``nigh train`` wrote."""
        with open(path, "rb") as file:
            return cls(file.read())

    def save(self, path: Path) -> None:
        """Writes it to a file, whole or not at all; an existing file is replaced."""
        temporary = os.fsdecode(path) + ".tmp"
        try:
            with open(temporary, "wb") as file:
                file.write(bytes(self))
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.remove(temporary)
            raise

    def __bytes__(self) -> bytes:
        return self._core.bytes()

    @property
    def method(self) -> str:
        """How it was learned."""
        return self._core.describe()[0]

    @property
    def width_bits(self) -> int:
        """The bits of its signatures."""
        return self._core.describe()[1]

    @property
    def info(self) -> dict[str, str]:
        """How texts are analysed, and what it was learned with."""
        return dict(line.split("=", 1) for line in self._core.describe()[5].splitlines())

    def __len__(self) -> int:
        """How many features it knows."""
        return self._core.describe()[2]

    def features(self, count: int = 20) -> list[Feature]:
        """The features that count most, the largest weight first."""
        return [Feature(*row) for row in self._core.features(count)]

    def coefficients(self, feature: int) -> Any:
        """What a feature, by its place in ``features``, adds to the sum of each bit."""
        return array_of(self._core.coefficients(feature), "d")

    def sign(self, data: Any, **options: Any) -> Any:
        """Signatures of texts by this model, one row each, like ``nigh.sign``."""
        from .signatures import sign

        return sign(data, model=self, **options)

    def __reduce__(self) -> tuple[Any, ...]:
        return Model, (bytes(self), self.stats)

    def __repr__(self) -> str:
        return f"<nigh.Model: {self.method}, {self.width_bits} bits, {len(self):,} features>"


def core_of(model: Optional[Model]) -> Optional[_core.Model]:
    """What the extension takes."""
    if model is not None and not isinstance(model, Model):
        raise TypeError(f"{type(model).__name__} is no nigh.Model")
    return None if model is None else model._core


def labelled_input(
    data: Any, columns: Columns, labels: Optional[Iterable[Any]] = None
) -> tuple[Source | list[bytes], dict[str, Any]]:
    """A source or paths for the extension, and how these are read."""
    paths = paths_of(data)
    if paths is not None:
        if labels is not None:
            raise InvalidError("labels are for lists of texts; of files, name the key: label='...'")
        keys = {"id_key": columns.id, "label_key": columns.label, "part_key": columns.part}
        return paths, {"text_key": None if columns.text == "text" else columns.text, **keys}
    if labels is None:
        return data_of(data, columns).source, {}
    source = data_of(data, columns._replace(label=None)).source
    if len(source) == 1:
        raise InvalidError("labels are for lists of texts; of a table, name the column: label='...'")
    given = tuple(label_lines(label) for label in labels)
    return (*source[:3], given, source[4] if len(source) > 4 else None), {}


def train(
    data: Any,
    labels: Optional[Iterable[Any]] = None,
    *,
    column: str = "text",
    label: str = "label",
    part: Optional[str] = None,
    method: str = "codewords",
    width_bits: int = 32,
    features: Optional[str] = None,
    language: Optional[str] = None,
    seed: Optional[int] = None,
    threads: int = 0,
    iteration: Optional[Callable[[int, float], object]] = None,
    progress: Progress = None,
    **options: Any,
) -> Model:
    """Learns a model from documents, some of which have labels.

    ``data`` is a list of texts with ``labels`` beside it (None for an unknown label, a list for several), or records,
    a table or paths with the label in the column ``label``. With ``part``, it learns only from documents with "train"
    in that column. ``method`` is "codewords" (the best choice), "s3h" (semi-supervised simhash),
    "s3h-f", "simhash", "chi", "ssh" or "klsh".

    ``iteration`` is called with the number and the objective after each iteration; if it returns something true,
    learning ends with the best model so far. Further options are those of ``nigh
    train``: ``max_features``, ``min_documents``, ``iterations``,
    ``attraction_pairs``, ``repulsion_pairs``, ``l1``, ``l2``, ``as_paper``, ``count_contribution``, ``count_values``,
    ``paper_lambda``, ``anchors``, ``anchor_sample``, ``kernel_width``, ``stemming``, ``stop_words``,
    ``min_word_length``, ``no_numbers``, ``memory_bytes``, ``limit``.

    >>> import nigh
    >>> texts = [f"cats purr and sleep {i}" for i in range(20)] + [f"stocks fell at noon {i}" for i in range(20)]
    >>> model = nigh.train(texts, ["cats"] * 20 + ["stocks"] * 20)
    >>> a, b, c = model.sign(["a cat that purrs", "sleeping cats", "a stock at noon"])
    >>> bool(nigh.distance(a, b) < nigh.distance(a, c))
    True
    """
    given, reading = labelled_input(data, Columns(column, None, None, label, part), labels)
    learning = {
        **options, "method": method, "width_bits": width_bits, "language": language, "seed": seed, "threads": threads,
        **features_of(features),
    }  # fmt: skip
    with Bar(progress) as bar:
        core, stats, problems = _core.train(given, reading, learning, iteration, bar.report)
    return Model(core.bytes(), {**stats, "problems": problems})
