"""Functions of estimates, by the delta method, and joint tests of them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.engine.running import one_thread
from odrf.errors import InputError

__all__ = ["Wald", "function_of_estimates", "independent", "joint_test", "pairwise_differences"]

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
    """A joint test.

    Attributes
    ----------
    statistic : float
        Wald's statistic.
    df : int
        Its degrees of freedom.
    p_value : float
        By χ², or by F of the statistic divided by its degrees of freedom; NaN if these are 0.
    df_of_variance : float
        The second degrees of freedom of F; ∞ for χ².
    """

    statistic: float
    df: int
    p_value: float
    df_of_variance: float = np.inf


def pairwise_differences(n: int) -> tuple[list[str], NDArray[np.float64]]:
    """Return the hypotheses that any two of n estimates are equal, and their gradients (R, n)."""
    pairs = list(combinations(range(n), 2))
    gradient = np.zeros((len(pairs), n))
    for row, (i, j) in enumerate(pairs):
        gradient[row, [i, j]] = -1.0, 1.0
    return [f"b{j + 1} - b{i + 1} = 0" for i, j in pairs], gradient


def function_of_estimates(
    hypothesis: str, estimate: NDArray[np.float64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the left side minus the right side of a hypothesis, and its gradient (M,).

    Parameters
    ----------
    hypothesis : str
        Such as ``"b1 = b2"``, ``"b1 / b2 = 1"``; without ``=`` the right side is 0.
    estimate : (M,) float64
        b1, b2, …

    Raises
    ------
    InputError
        The text is no such hypothesis, or has no value here.
    """
    sides = hypothesis.split("=") if len(hypothesis) <= LONGEST else []
    if len(sides) not in (1, 2):
        raise _unreadable(hypothesis, "it needs one = at most")
    trees = [_parsed(side, hypothesis) for side in sides]

    def value(at: NDArray[np.complex128]) -> complex:
        found = [_value(tree, at, hypothesis) for tree in trees]
        return found[0] - (found[1] if len(found) > 1 else 0.0)

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
def independent(
    gradient: NDArray[np.float64], deviations: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return which hypotheses are linearly independent, in their order.

    The others follow from these, as the last of three differences does, or the probability of the
    last class; or no estimate changes them.  With few trees their covariance would not show it, and
    a joint test would reject.

    Parameters
    ----------
    gradient : (R, M) float64
        The hypotheses, linear in M estimates.
    deviations : (B, M) float64
        By how much the estimates of each tree, or unit, are off their mean.
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
def joint_test(
    value: NDArray[np.float64], covariance: NDArray[np.float64], df_of_variance: float = np.inf
) -> Wald:
    """Return Wald's test that all values (R,) are 0, given their covariance (R, R).

    The values are those of `independent` hypotheses.  The test is by χ², or by F if the covariance
    has finitely many degrees of freedom.  Of no value at all there is none: its p-value is NaN.
    """
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
    if isinstance(node, ast.Constant) and is_number(node.value):
        return complex(cast(float, node.value))
    if isinstance(node, ast.Name):
        number = node.id[1:]
        if node.id[:1] == "b" and number.isdecimal() and 1 <= int(number) <= len(at):
            return complex(at[int(number) - 1])
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
