"""Statistics of methods that are compared on the same folds, or on the same tables.

References
----------
J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
Machine Learning Research 7.

C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata, studentized_range, wilcoxon
from scipy.stats import t as student

__all__ = [
    "bonferroni",
    "corrected_std_error",
    "corrected_t",
    "critical_difference",
    "differences",
    "mean_ranks",
    "signed_rank",
    "wins",
]

DIGITS = 12


def differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``first - second`` (J,), rounded to 12 digits of the largest value.

    Losses that differ only by rounding, as from another order of summation, become ties.
    """
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    if scale == 0:
        return np.zeros(len(first))
    return scale * np.round((first - second) / scale, DIGITS)


def signed_rank(difference: NDArray[np.float64]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test that differences (J,) tend below 0.

    It is 1 if all differences are 0.
    """
    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, alternative="less").pvalue)


def corrected_std_error(values: NDArray[np.float64], ratio: float) -> NDArray[np.float64]:
    """Return the standard errors of means over folds (Nadeau and Bengio 2003).

    The training sets of the folds overlap, so the scores of the folds are not independent and the
    plain standard error, √(variance / J), is far too small.  This one is
    √((1/J + n_test/n_train)·variance).

    Parameters
    ----------
    values : (J, …) float64
        Scores of J folds.
    ratio : float
        n_test / n_train.

    Returns
    -------
    (…) float64
    """
    return np.sqrt((1.0 / len(values) + ratio) * np.var(values, axis=0, ddof=1))


def corrected_t(difference: NDArray[np.float64], ratio: float) -> tuple[float, float]:
    """Return the corrected resampled t, and the p-value that the mean is below 0.

    t = mean / √((1/J + n_test/n_train)·variance), on J - 1 degrees of freedom (Nadeau and Bengio
    2003; for repeated cross-validation Bouckaert and Frank 2004).

    Parameters
    ----------
    difference : (J,) float64
        Differences of two methods on J folds.
    ratio : float
        n_test / n_train.

    Returns
    -------
    t, p : float
        0 and 1 if all differences are 0; NaN if they are equal otherwise, and do not tell how they
        vary.
    """
    if not difference.any():
        return 0.0, 1.0
    if not np.ptp(difference) > 0:
        return np.nan, np.nan
    t = float(difference.mean() / corrected_std_error(difference, ratio))
    return t, float(student.cdf(t, len(difference) - 1))


def bonferroni(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values (T,) of T tests, adjusted by Bonferroni's correction."""
    return np.minimum(1.0, len(p) * p)


def mean_ranks(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each method's mean rank (m,) from losses (J, m): 1 is best, ties get mean ranks."""
    return rankdata(losses, axis=1).mean(axis=0)


def wins(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often no method has a smaller loss, for each method (m,); losses are (J, m)."""
    return (losses == losses.min(axis=1, keepdims=True)).sum(axis=0)


def critical_difference(methods: int, tables: int, level: float = 0.05) -> float:
    """Return the difference of mean ranks that is significant by Nemenyi's test (Demšar 2006).

    Parameters
    ----------
    methods, tables : int
        Number of methods that are ranked, and number of tables.
    level : float, default 0.05
        Significance level for all pairs together.

    Examples
    --------
    >>> round(critical_difference(4, 14), 3)
    1.254
    """
    quantile = studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * tables)))
