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


def independent(gradient: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return which rows of a gradient (R, M) are linearly independent, in their order.

    The other hypotheses follow from these.  With few trees the covariance of all of them would not
    show it, and a joint test of differences that add up to 0 would reject.
    """
    kept: list[int] = []
    for row in range(len(gradient)):
        if np.linalg.matrix_rank(gradient[[*kept, row]]) > len(kept):
            kept.append(row)
    return np.array(kept, dtype=np.int64)


def joint_test(
    value: NDArray[np.float64], covariance: NDArray[np.float64], df_of_variance: float = np.inf
) -> Wald:
    """Return Wald's test that all values (R,) are 0, given their covariance (R, R).

    The values are those of `independent` hypotheses.
    It is by χ², or by F if the covariance has finitely many degrees of freedom.
    """
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
