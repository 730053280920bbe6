"""The criteria of splits: a row for each, with what sets it apart from the others.

Kernels compare codes, which costs nothing; all other code asks this table.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CRITERIA", "ENTROPY", "GINI", "ORDINAL", "SQUARED_ERROR", "Criterion"]

SQUARED_ERROR, GINI, ENTROPY, ORDINAL = 0, 1, 2, 3


class Criterion(NamedTuple):
    """An impurity.

    Attributes
    ----------
    of_classes : bool
        Whether the response is a class, not a number.
    ordered : bool
        Whether the classes are ordered; the prediction is then their median.
    uses_logs : bool
        Whether x·log(x) of whole numbers is looked up in a table.
    """

    of_classes: bool
    ordered: bool
    uses_logs: bool


CRITERIA = {
    SQUARED_ERROR: Criterion(of_classes=False, ordered=False, uses_logs=False),
    GINI: Criterion(of_classes=True, ordered=False, uses_logs=False),
    ENTROPY: Criterion(of_classes=True, ordered=False, uses_logs=True),
    ORDINAL: Criterion(of_classes=True, ordered=True, uses_logs=False),
}
"""By their codes."""
