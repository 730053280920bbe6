"""What the consistency theorems are told of a fit, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.options.sizes import EXPONENTS

__all__ = [
    "ASSUMED",
    "CONTRADICTED",
    "DIFFERS",
    "FAILS",
    "HOLDS",
    "UNKNOWN",
    "Condition",
    "FitProperties",
    "drawn_of_rule",
    "leaves_to_rows",
    "limit_status",
    "rows_along",
    "rows_to_alpha",
    "symbol_of_drawn",
]

HOLDS, FAILS = "holds", "does not hold"
UNKNOWN, ASSUMED = "cannot be judged", "assumed"
# What is known to be otherwise than in a theorem, and what the data of the fit speak against.
DIFFERS, CONTRADICTED = "differs", "contradicted"
# The limit of a rule is judged by its last values.
LAST = 3
# A smaller step is rounding; a step this much smaller than the one before tends to a limit.
LEAST_STEP = 1e-9
SLOWING = 0.7


@dataclass(frozen=True)
class FitProperties:
    """The properties of a fit that the conditions of the theorems are about.

    Attributes
    ----------
    forest : bool
        Whether the fit is a forest; else a tree.
    classes : bool
        Whether it predicts classes, by regressing their indicators.
    n : int
        Number of training rows.
    P : int
        Number of predictors.
    subset_size : int or None
        Number of predictors in each subset; None for a random number.
    family : str
        The family of projections, if directions are not estimated on random subsets of the
        predictors; else empty.
    axis_trees : bool
        Whether some of the trees split on single predictors only.
    leaves : float
        t_n, or the mean number of leaves if there is no limit.
    leaves_along : tuple of float
        Values of the rule of t_n at n, 10·n, …; empty without a rule.
    limited : bool
        Whether t_n limits the number of leaves.
    alpha : float or None
        α_n; None without pruning.
    alpha_along : tuple of float
        Values of the rule of α_n at n, 10·n, …; empty without a rule.
    drawn : float
        Rows that each tree draws, as a share of n; 1 for a bootstrap of n rows, or for all rows.
    drawn_along : tuple of float
        Values of the rule of that share at n, 10·n, …; empty without a rule.
    replaced : bool
        Whether rows are drawn with replacement.
    honest : bool
        Whether the leaves are filled by other rows than those that choose the splits.
    single_columns : bool or None
        Whether every predictor alone may be tried at every node; None if that is not known.
    full : bool
        Whether trees grow until their leaves are small, without any other limit.
    summed : bool
        Whether trees are summed, each fitted to the residuals of those before it, not averaged.
    scale : str
        What splits were chosen on, in words, if it is not the response; else empty.
    n_classes : int
        Number of classes; 0 for numbers.
    penalty : str
        ``"aic"`` or ``"bic"`` if splits pay a penalty; else empty.
    criterion : str
        The criterion of splits if it is neither variance nor the Gini index; else empty.
    random_cuts : float
        Share of the trees that try random cuts of a direction only.
    stopped : tuple of str
        Options that stop growth at a size which does not depend on n, as a call has them.
    cut : bool
        Whether `prune` has set the number of leaves without an α.
    no_rule : str
        Why the size of the trees follows no rule in n, in words, if it is no fixed number.
    constant_by : str
        The held-out rows that have chosen the constant of a rate, in words; empty for none.
    cut_at : str
        Where directions are cut, in words, if the cut is not sought; else empty.
    smallest : str
        The option that says how small leaves of full trees are.
    min_leaf : int
        Fewest rows of a leaf.
    exact_rows : float
        Most rows of a node in which all cuts are tried; in larger ones those between bins.
    short : str
        Why trees have far fewer leaves than the theorems ask for, in words; else empty.
    tails : str
        The test by which residuals have heavier tails than normal ones, in words; empty if they do
        not.
    factors : int
        How many of the predictors are factors.
    """

    forest: bool
    classes: bool
    n: int
    P: int
    subset_size: int | None
    family: str
    axis_trees: bool
    leaves: float
    leaves_along: tuple[float, ...]
    limited: bool
    alpha: float | None
    alpha_along: tuple[float, ...]
    drawn: float
    drawn_along: tuple[float, ...]
    replaced: bool
    honest: bool
    single_columns: bool | None
    full: bool
    summed: bool = False
    scale: str = ""
    n_classes: int = 0
    penalty: str = ""
    criterion: str = ""
    random_cuts: float = 0.0
    stopped: tuple[str, ...] = ()
    cut: bool = False
    no_rule: str = ""
    constant_by: str = ""
    cut_at: str = ""
    smallest: str = "min_leaf"
    min_leaf: int = 1
    exact_rows: float = np.inf
    short: str = ""
    tails: str = ""
    factors: int = 0


@dataclass(frozen=True)
class Condition:
    """One condition of a theorem.

    Attributes
    ----------
    theorem : str
    statement : str
        The condition.
    quantity : str
        The value that it is about, at this n.
    status : str
        `HOLDS`, `FAILS`, `UNKNOWN`, `ASSUMED`, `DIFFERS` or `CONTRADICTED`.
    """

    theorem: str
    statement: str
    quantity: str
    status: str


def limit_status(values: Sequence[float], to_infinity: bool) -> str:
    """Return whether the values of a rule tend to infinity, or else to 0.

    They are taken to do so if their logarithms keep rising, or falling, from 10⁴⁸·n rows on, and do
    not slow down: the exponent of 10 doubles with each value, so that even ln(ln n) rises by about
    as much each time, but what tends to another limit by less and less.  A constant rule fails.
    Without values the answer is `UNKNOWN`.
    """
    if len(values) < LAST:
        return UNKNOWN
    logs = np.log(np.maximum(np.asarray(values, dtype=float)[-LAST:], 1e-300))
    steps = np.diff(logs if to_infinity else -logs)
    goes_on = steps[1:] > SLOWING * steps[:-1]
    return HOLDS if (steps > LEAST_STEP).all() and goes_on.all() else FAILS


def rows_along(along: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return n, 10·n, …: as many as the values of a rule."""
    rows: NDArray[np.float64] = n * 10.0 ** np.array(EXPONENTS[: len(along)], dtype=np.float64)
    return rows


def symbol_of_drawn(fit: FitProperties) -> str:
    """Return what the rows of a tree are called: n if it has all of them."""
    return "n" if fit.drawn == 1 else "s"


def drawn_of_rule(along: NDArray[np.float64], fit: FitProperties) -> NDArray[np.float64]:
    """Return the rows that a tree draws, at n, 10·n, …; at least e of them."""
    share = fit.drawn_along[: len(along)] or fit.drawn
    rows: NDArray[np.float64] = np.maximum(rows_along(along, fit.n) * np.asarray(share), np.e)
    return rows


def leaves_to_rows(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return t·ln^power(s)/s at n, 10·n, …, for the rule of t_n and the s rows of a tree."""
    along = np.asarray(fit.leaves_along)
    rows = drawn_of_rule(along, fit)
    return tuple(along * np.log(rows) ** power / rows)


def rows_to_alpha(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return ln^power(s)/(α·s) at n, 10·n, …, for the rule of α_n and the s rows of a tree."""
    along = np.asarray(fit.alpha_along)
    rows = drawn_of_rule(along, fit)
    return tuple(np.log(rows) ** power / (np.maximum(along, 1e-300) * rows))
