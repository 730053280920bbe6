"""Effects: covariances of averages of predictions, tests of their functions, intervals."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from odrf.engine.resamples import Draws
from odrf.engine.running import one_thread
from odrf.errors import InputError
from odrf.statistics.jackknife import (
    Variance,
    deviations,
    enough_trees,
    jackknife_sums,
    rows_of_trees,
)

Floats = NDArray[np.float64]

OPERATIONS: dict[type, Callable[..., complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
LONGEST = 1000
STEP = 1e-30
# Relative to the terms of a hypothesis that follows from others, what is left is smaller.
ROUNDING = 1e-6


class Wald(NamedTuple):
    """Wald's joint test, by χ², or by F if `df_of_variance` is finite; NaN if `df` is 0."""

    statistic: float
    df: int
    p_value: float
    df_of_variance: float = np.inf


def pairwise_differences(n: int) -> tuple[list[str], Floats]:
    """Return the hypotheses that any two of n estimates are equal, and their gradients (R, n)."""
    pairs = list(combinations(range(n), 2))
    gradient = np.zeros((len(pairs), n))
    for row, (i, j) in enumerate(pairs):
        gradient[row, [i, j]] = -1.0, 1.0
    return [f"b{j + 1} - b{i + 1} = 0" for i, j in pairs], gradient


def function_of_estimates(hypothesis: str, estimate: Floats) -> tuple[float, Floats]:
    """Return the left side minus the right side of a hypothesis, and its gradient (M,)."""
    sides = hypothesis.split("=") if len(hypothesis) <= LONGEST else []
    if len(sides) not in (1, 2):
        raise _unreadable(hypothesis, "it needs one = at most")
    trees = [_parsed(side, hypothesis) for side in sides]

    def value(at: NDArray[np.complex128]) -> complex:
        values = [_value(tree, at, hypothesis) for tree in trees]
        return values[0] - (values[1] if len(values) > 1 else 0.0)

    at = estimate.astype(np.complex128)
    here = value(at)
    # roots of negative numbers are no real numbers
    now = here.real if here.imag == 0 else np.nan
    # the derivative is exact to rounding: a step along the imaginary axis is never subtracted
    steps = STEP * 1j * np.eye(len(at))
    gradient = np.array([value(at + step).imag / STEP for step in steps])
    if not np.isfinite(now) or not np.isfinite(gradient).all():
        raise InputError(f"hypothesis {hypothesis!r} has no finite value at these estimates")
    return now, gradient


@one_thread()
def independent(gradient: Floats, deviations: Floats) -> NDArray[np.int64]:
    """Return which hypotheses, `gradient` (R, M), are linearly independent, in their order.

    The others follow from these, or no estimate changes them. With few trees their covariance would
    not show it, and a joint test would reject. `deviations` (B, M) of each tree, or unit, from the
    mean.
    """
    # squares of very large and very small numbers are out of the range of floats
    largest = np.abs(deviations).max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    terms = gradient * unit
    size = np.abs(terms).max(axis=1, keepdims=True)
    weight = terms / np.where(size > 0, size, 1.0)
    scaled = deviations / unit
    kept: list[int] = []
    basis = np.zeros((len(scaled), 0))
    for row, size in enumerate(np.linalg.norm(np.abs(scaled) @ np.abs(weight).T, axis=0)):
        left = scaled @ weight[row] / (size or 1.0)
        for _ in range(2):  # the second time takes what rounding left
            left = left - basis @ (basis.T @ left)
        length = float(np.linalg.norm(left))
        if length > ROUNDING:
            kept.append(row)
            basis = np.column_stack([basis, left / length])
    return np.array(kept, dtype=np.int64)


@one_thread()
def joint_test(value: Floats, covariance: Floats, df_of_variance: float = np.inf) -> Wald:
    """Return Wald's test that the values (R,) of `independent` hypotheses are 0."""
    if not len(value):
        return Wald(np.nan, 0, np.nan)
    df = int(np.linalg.matrix_rank(covariance, hermitian=True))
    statistic = float(value @ np.linalg.pinv(covariance, hermitian=True) @ value)
    if df == 0:  # the estimates do not vary
        p_value = np.nan
    elif np.isfinite(df_of_variance):
        p_value = scipy.stats.f.sf(statistic / df, df, df_of_variance)
    else:
        p_value = scipy.stats.chi2.sf(statistic, df)
    return Wald(statistic, df, float(p_value), df_of_variance)


def _parsed(side: str, hypothesis: str) -> ast.expr:
    try:
        return ast.parse(side.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _unreadable(hypothesis, "it is no sum, product or quotient of b1, b2, …") from None


def _value(node: ast.expr, at: NDArray[np.complex128], hypothesis: str) -> complex:
    number = node.value if isinstance(node, ast.Constant) else None
    if isinstance(number, int | float) and not isinstance(number, bool):
        return complex(number)
    if isinstance(node, ast.Name):
        place = node.id[1:]
        if node.id[:1] == "b" and place.isdecimal() and 1 <= int(place) <= len(at):
            return complex(at[int(place) - 1])
        raise _unreadable(hypothesis, f"{node.id!r} is none of b1 to b{len(at)}, the table's rows")
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = (_value(each, at, hypothesis) for each in (node.left, node.right))
        try:
            return OPERATIONS[type(node.op)](left, right)
        except (ZeroDivisionError, OverflowError):
            return complex(np.nan)
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](_value(node.operand, at, hypothesis))
    raise _unreadable(hypothesis, "it may have numbers, b1, b2, … and + - * / ** ( ) only")


def _unreadable(hypothesis: str, reason: str) -> InputError:
    return InputError(
        f"hypothesis {hypothesis[:60]!r} cannot be read, because {reason}: write it such as "
        '"b2 - b1 = 0" or "b2 / b1 = 1"'
    )


# The covariance of linear functionals of a forest, such as averages of its predictions.
# A functional is linear in the trees: its value for the forest is the mean of its values for the
# trees.  So the jackknife after bootstrap (`odrf.statistics.jackknife`) applies to it as to a
# single prediction, and to several of them with their covariances.

# Eigenvalues of correlations below this are rounding.
NO_VARIANCE = 1e-12


@dataclass(frozen=True, eq=False)
class FunctionalCovariance:
    """Covariances (M, M) of M functionals of a forest over training samples."""

    raw: Floats
    bias: Floats
    of_trees: Floats
    n_rows: int
    n_trees: int

    @property
    def variances(self) -> Variance:
        """The variances (M,) of the single functionals, as those of single predictions."""
        raw, bias, of_trees = map(np.diagonal, (self.raw, self.bias, self.of_trees))
        return Variance(raw.copy(), bias.copy(), of_trees.copy(), self.n_rows)

    @property
    def total(self) -> Floats:
        """The covariance (M, M) of the means of these trees over samples and random streams.

        Correlations are those of `_not_negative`: without the bias, few trees can give a
        combination a variance below 0. Variances are those of `Variance.total`, alone or among
        others.
        """
        variances = self.variances
        of_samples = np.maximum(variances.total - variances.of_trees, 0.0)
        scale = np.sqrt(of_samples)
        return np.asarray(self._correlation() * np.outer(scale, scale) + self.of_trees)

    def _correlation(self) -> Floats:
        """Return the correlations (M, M) over samples; none where a functional does not vary."""
        covariance = self._not_negative()
        variance = np.diagonal(covariance)
        known = np.sqrt(np.where(variance > 0, variance, np.inf))
        correlation = covariance / np.outer(known, known)
        np.fill_diagonal(correlation, 1.0)
        return correlation

    @one_thread()
    def _not_negative(self) -> Floats:
        """Return the covariance (M, M) without the bias, not negative in any direction.

        In the directions that diagonalise both the estimate and its bias, variances are
        `Variance.total`.
        """
        both = self.raw + self.bias
        finite = np.isfinite(np.diagonal(both))
        if not finite.all():
            return self._not_negative_of(finite)
        unit = np.sqrt(np.where(np.diagonal(both) > 0, np.diagonal(both), 1.0))
        value, vector = np.linalg.eigh(both / np.outer(unit, unit))
        known = value > NO_VARIANCE * max(value.max(initial=0.0), 1.0)
        root = vector[:, known] * np.sqrt(value[known])
        inverse = vector[:, known] / np.sqrt(value[known])
        estimated = inverse.T @ (self.raw / np.outer(unit, unit)) @ inverse
        share, direction = np.linalg.eigh((estimated + estimated.T) / 2)
        share = np.clip(share, 0.0, 1.0)
        variance = Variance(share, 1.0 - share, np.zeros_like(share), self.n_rows).total
        half = unit[:, None] * (root @ direction) * np.sqrt(variance)
        return np.asarray(half @ half.T)

    def _not_negative_of(self, some: NDArray[np.bool_]) -> Floats:
        """Return `_not_negative` of some of the functionals, (M, M) with NaN for the others."""
        at = np.ix_(some, some)
        known = replace(self, raw=self.raw[at], bias=self.bias[at], of_trees=self.of_trees[at])
        covariance = np.full(self.raw.shape, np.nan)
        covariance[at] = known._not_negative()
        return covariance

    @property
    def trees_advised(self) -> int:
        """How many trees would estimate the variances well enough; 0 if these are enough."""
        return enough_trees(self.variances, self.n_trees)


def functional_covariance(
    values: Floats, kinds: NDArray[np.int64], draws: Draws
) -> FunctionalCovariance:
    """Estimate the covariance, over training samples, of the means of `values` (B, M) over trees.

    `kinds` (B,): trees of one kind draw in the same way. `distinguishes_rows` must be true of
    `draws` (Efron 1992, JRSS B 54, 83-127; Wager and Athey 2018, JASA 113, 1228-1242).
    """
    rows = rows_of_trees(kinds, draws)
    deviation = deviations(values, kinds, np.ones(values.shape))
    sums = jackknife_sums(deviation, rows, lambda first, second: first.T @ second)
    return FunctionalCovariance(*sums, rows.n, len(values))


# Intervals of estimates that lie between 0 and 1, from their standard errors.
ROUNDING_OF_SHARES = 1e-12  # sums of shares are 1 but for this
# Ends of intervals of predicted probabilities are so many times as far as those of plain ones.
FARTHEST = 2.0


def limits_of_share(estimate: ArrayLike, reach: ArrayLike) -> tuple[Floats, Floats]:
    """Return the limits of estimates between 0 and 1, such as C, areas, scores, probabilities.

    They are symmetric for log(p/(1 - p)), so never beyond 0 or 1. `reach` is half the length of the
    interval that is symmetric for p. NaN where the estimate is 0 or 1, or beyond.
    """
    p = np.asarray(estimate, dtype=np.float64)
    p = np.where((p > ROUNDING_OF_SHARES) & (p < 1 - ROUNDING_OF_SHARES), p, np.nan)
    half = np.asarray(reach) / (p * (1 - p))
    middle = scipy.special.logit(p)
    return scipy.special.expit(middle - half), scipy.special.expit(middle + half)


def limits_of_predicted_share(estimate: ArrayLike, reach: ArrayLike) -> tuple[Floats, Floats]:
    """Return the limits of probabilities whose errors do not vanish where these are near 0 or 1.

    Such are those of means over trees, to which the number of trees adds. Limits are those of
    `limits_of_share`, but at most twice as far from the estimate as plain ones, which they are at 0
    and 1: else an error above the probability would make the other end arbitrary.
    """
    p, reach = np.asarray(estimate, dtype=np.float64), np.asarray(reach, dtype=np.float64)
    low, high = limits_of_share(p, reach)
    inside = ~np.isnan(low)
    far = np.where(inside, FARTHEST, 1.0) * reach
    low = np.maximum(np.where(inside, low, 0.0), p - far)
    high = np.minimum(np.where(inside, high, 1.0), p + far)
    return low, high


# Tests and intervals of estimates with normal errors, whose variances may be of few units.
NUMBERS = ("estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high")
"""The columns of every table of estimates, after those that name them."""

# Errors that are smaller parts of the estimate are what rounding leaves of 0.
ROUNDING_OF_ERRORS = 1e-14


def reach_in_errors(level: float, df: float = np.inf) -> float:
    """Return how many standard errors an interval extends; with `df` by Student's t."""
    tail = (1 + level) / 2
    return float(scipy.special.ndtri(tail) if np.isinf(df) else scipy.special.stdtrit(df, tail))


def with_errors(
    labels: pd.DataFrame,
    estimate: Floats,
    std_error: Floats,
    level: float,
    null: float = 0.0,
    df: float = np.inf,
    probabilities: bool = False,
) -> pd.DataFrame:
    """Return labels and estimates (M,) with tests of `null` and intervals, by Student's t.

    NaN where the error is NaN or 0: the trees then agree, which does not make the estimate certain.
    Intervals of `probabilities` are by `limits_of_predicted_share`.
    """
    law = scipy.stats.t(df)
    std_error = np.where(std_error <= ROUNDING_OF_ERRORS * np.abs(estimate), 0.0, std_error)
    spread = np.where(std_error > 0, std_error, np.nan)
    half = reach_in_errors(level, df) * spread
    statistic = (estimate - null) / spread
    p_value = 2 * law.sf(np.abs(statistic))
    ends = estimate - half, estimate + half
    if probabilities:
        ends = limits_of_predicted_share(estimate, half)
    columns = (estimate, std_error, statistic, p_value, *ends)
    return labels.assign(**dict(zip(NUMBERS, columns, strict=True)))
