"""Ranks, Friedman and Wilcoxon tests of methods over tables, with missing results.

The losses of methods (columns) on tables (rows) are compared as Demšar (2006, Statistical
comparisons of classifiers over multiple data sets, JMLR 7) recommends.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy.stats import friedmanchisquare, wilcoxon
from statsmodels.stats.multitest import multipletests

__all__ = [
    "by_holm",
    "friedman",
    "mean_ranks",
    "pairwise_wilcoxon",
    "relative_differences",
    "wilcoxon_against",
]

FEWEST_METHODS = 3
"""For Friedman's test."""


def mean_ranks(losses: pd.DataFrame) -> pd.Series:
    """Average rank of each method; 1 is best, ties get mean ranks, a missing result ranks last."""
    return losses.rank(axis=1, na_option="bottom").mean()


def friedman(losses: pd.DataFrame) -> tuple[float, float]:
    """Friedman's statistic and p-value, for three or more methods; a missing result ranks last."""
    ranks = losses.rank(axis=1, na_option="bottom")
    if ranks.shape[1] < FEWEST_METHODS or len(ranks) <= 1:
        return np.nan, np.nan
    test = friedmanchisquare(*(ranks[method] for method in ranks))
    return float(test.statistic), float(test.pvalue)


def relative_differences(losses: pd.DataFrame, base: str) -> pd.DataFrame:
    """Differences of `base` to each other method, relative to the mean of the two losses.

    They can be compared across tables whose losses have different units.
    """
    others = losses.drop(columns=base)
    total = others.add(losses[base], axis=0) / 2
    difference = others.rsub(losses[base], axis=0)
    return (difference / total).where(total != 0, 0.0 * difference)


def wilcoxon_against(differences: pd.DataFrame) -> pd.DataFrame:
    """One-sided paired Wilcoxon signed-rank tests that the differences tend to be below 0.

    Parameters
    ----------
    differences : DataFrame
        Loss of the base minus that of each other method (columns), over tables (rows).  Tables on
        which one of the two has no result are left out.

    Returns
    -------
    DataFrame
        For each method the numbers of tables that the base wins, ties and loses, the p-value, and
        the p-value after Bonferroni's correction for the number of methods.
    """
    tests = pd.DataFrame(
        {
            "wins": (differences < 0).sum(),
            "ties": (differences == 0).sum(),
            "losses": (differences > 0).sum(),
            "p": differences.apply(_one_sided),
        }
    )
    tests["p_bonferroni"] = np.nan
    tested = tests["p"].notna()
    if tested.any():
        corrected = multipletests(tests.loc[tested, "p"], method="bonferroni")[1]
        tests.loc[tested, "p_bonferroni"] = corrected
    return tests


def by_holm(p: pd.Series) -> pd.Series:
    """Return p-values after Holm's correction for the number of tests; NaN is no test."""
    known = p.dropna()
    if known.empty:
        return p
    corrected = pd.Series(multipletests(known, method="holm")[1], known.index)
    return corrected.reindex(p.index)


def pairwise_wilcoxon(losses: pd.DataFrame) -> pd.DataFrame:
    """Corrected p-values that the method of the column is better than that of the row.

    As in Gupta et al., Figure 11: each column is corrected for the number of the other methods.
    """
    columns = {
        str(method): wilcoxon_against(losses.drop(columns=method).rsub(losses[method], axis=0))[
            "p_bonferroni"
        ]
        for method in losses
    }
    return pd.DataFrame(columns).reindex(losses.columns)


def _one_sided(differences: pd.Series) -> float:
    known = differences.dropna()
    if not known.any():  # nothing to rank
        return np.nan
    return float(wilcoxon(known, alternative="less").pvalue)
