# SPDX-License-Identifier: Apache-2.0
"""How texts are signed, in the words of the extension."""

from __future__ import annotations

from typing import Any, Optional

from ._errors import InvalidError


def features_of(features: Optional[str]) -> dict[str, Any]:
    """ "ngrams:3" names a kind of features and their length."""
    if features is None:
        return {}
    if not isinstance(features, str):
        raise TypeError(f"features are no str such as 'ngrams:3' but {type(features).__name__}")
    kind, _, length = features.partition(":")
    if length and not length.isdecimal():
        raise InvalidError(f"features {features!r} are not of the form KIND:LENGTH, such as 'ngrams:3'")
    return {"features": kind, "feature_length": int(length) if length else None}
