# SPDX-License-Identifier: Apache-2.0
"""Signatures in pipelines of scikit-learn."""

from __future__ import annotations

from typing import Any, Optional

from sklearn.base import BaseEstimator, TransformerMixin

from .signatures import sign


class SignatureTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Texts to signatures: rows of uint8, or with ``unpack`` a column of 0 or 1 for each bit.

    The scheme is "simhash" or "minhash", which know nothing but the text itself, so that there is nothing to fit.

    >>> SignatureTransformer("simhash", 64, unpack=True).fit_transform(["one two", "three"]).shape
    (2, 64)
    """

    def __init__(
        self,
        scheme: str = "simhash",
        width_bits: Optional[int] = None,
        features: Optional[str] = None,
        language: Optional[str] = None,
        seed: Optional[int] = None,
        unpack: bool = False,
    ) -> None:
        self.scheme = scheme
        self.width_bits = width_bits
        self.features = features
        self.language = language
        self.seed = seed
        self.unpack = unpack

    def fit(self, X: Any, y: Any = None) -> SignatureTransformer:
        """Only checks the scheme."""
        if self.scheme not in ("simhash", "minhash"):
            raise ValueError(f"the scheme is {self.scheme!r}; it can be 'simhash' or 'minhash'")
        return self

    def transform(self, X: Any) -> Any:
        """The signatures of texts, one row each."""
        import numpy

        rows = sign(
            X if isinstance(X, (list, tuple)) else list(X), self.scheme, self.width_bits, features=self.features,
            language=self.language, seed=self.seed, progress=False,
        )  # fmt: skip
        if not self.unpack:
            return rows
        return numpy.unpackbits(rows, axis=1, bitorder="little", count=self.width_bits)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags
