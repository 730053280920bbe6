"""The criteria of splits: a row for each, with what sets it apart from the others.

Kernels compare codes, which costs nothing; all other code asks this table.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["CRITERIA", "ENTROPY", "GINI", "ORDINAL", "POISSON", "SQUARED_ERROR", "Criterion"]

SQUARED_ERROR, GINI, ENTROPY, ORDINAL, POISSON = 0, 1, 2, 3, 4


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
    POISSON: Criterion(of_classes=False, ordered=False, uses_logs=False),
}
"""By their codes.

The response of `POISSON` is a rate, events divided by exposure, and its weights have the exposure
as a factor.  Its impurity is half the Poisson deviance per unit of exposure.  With 0 or 1 event,
and with times of observation as exposures, scaled such that the hazard of all rows is constant,
that is the full likelihood of exponential survival (LeBlanc and Crowley 1992).
"""
