# SPDX-License-Identifier: Apache-2.0
"""A step for pipelines of datatrove."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Optional

from datatrove.pipeline.base import PipelineStep

from ._dedup import dedup


class NearDuplicateFilter(PipelineStep):  # type: ignore[misc]
    """Leaves out documents that are near-copies of an earlier one of the same task; the others pass on in their
    order.

    All documents of a task are held in memory.  ``against`` names a collection for near-copies, which every task holds
    its documents against too.
    """

    type = "DEDUP"
    name = "nigh"

    def __init__(self, threshold: float = 0.8, keep: str = "first", against: Optional[str] = None) -> None:
        super().__init__()
        self.threshold = threshold
        self.keep = keep
        self.against = against

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """The documents that stay."""
        documents = list(data or ())
        with self.track_time():
            texts = [document.text for document in documents]
            _, result = dedup(texts, threshold=self.threshold, keep=self.keep, against=self.against, progress=False)
        for document, stays in zip(documents, result.mask):
            self.stat_update("kept" if stays else "dropped")
            if stays:
                yield document
