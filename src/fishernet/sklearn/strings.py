"""What scikit-learn's users pass as X where strings are meant."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from fishernet.errors import SchemaError

Strings = list[Any]  # each a str or a sequence of symbols


class OfStrings(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer whose X is a list of strings."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def listed_strings(X: Any) -> Strings:
    """Return the strings of a list, an array or a column of a data frame.

    Raises
    ------
    SchemaError
        When X is one string, no list, a table with several columns, or empty.
    """
    if isinstance(X, str | bytes):
        raise SchemaError("a list of strings is needed, not one string; write [string]")
    if hasattr(X, "columns"):
        raise SchemaError("a list of strings or one column of a frame is needed, not a frame; write frame[name]")
    try:
        strings = list(X)
    except TypeError:
        raise SchemaError(f"a list of strings is needed, not {type(X).__name__}") from None
    if not strings:
        raise SchemaError("at least one string is needed")
    for number, string in enumerate(strings):
        if not isinstance(string, str | list | tuple | np.ndarray):
            raise SchemaError(f"string {number} is {string!r}, neither a text nor a list of symbols")
    return [str(string) if isinstance(string, str) else string for string in strings]
