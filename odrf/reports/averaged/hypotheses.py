"""Tests of hypotheses about estimates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_truth, is_list
from odrf.errors import InputError
from odrf.fits.effects import Estimates, Uncertainty
from odrf.public import public
from odrf.reports.averaged.notes_on_errors import note_on_agreement
from odrf.statistics.effects import (
    Wald,
    function_of_estimates,
    independent,
    joint_test,
    pairwise_differences,
    with_errors,
)
from odrf.text.splits import p_in_words
from odrf.text.summary import Card, Carded, Summary

__all__ = ["HypothesisTests", "tested"]

# So many differences have a covariance of 32 MB, and are more than anyone reads.
MOST_PAIRS = 2000
PAIRWISE = "pairwise"


@public
class HypothesisTests(Carded):
    """Tests of hypotheses about estimates.

    Returned by `Effects.hypotheses`.

    Parameters
    ----------
    call : str
        The call that made the fit.
    table : DataFrame
        One row for each hypothesis: ``hypothesis``; ``estimate``, the left side minus the right
        side; ``std_error``, ``statistic``, ``p_value``, ``conf_low`` and ``conf_high``.
    covariance : (R, R) float64
        The covariance of these estimates.
    joint : Wald or None
        The test that all hypotheses hold.

    Attributes
    ----------
    table, covariance, joint
    """

    def __init__(
        self, call: str, table: pd.DataFrame, covariance: NDArray[np.float64], joint: Wald | None
    ) -> None:
        self.call, self.table, self.covariance, self.joint = call, table, covariance, joint

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        notes = note_on_agreement(self.table)
        return Summary("Tests of hypotheses", self.call, self._facts(), {"": self.table}, notes)

    def _facts(self) -> dict[str, str]:
        facts = {"Hypotheses": str(len(self.table))}
        if self.joint is not None:
            facts["All together"] = _said(self.joint)
        return facts

    def _card(self) -> Card:
        return Card("Tests of hypotheses", self._facts(), self.table)


def _said(joint: Wald) -> str:
    """Return a joint test in words, by the law that its p-value is from."""
    statistic, df, p_value, df_of_variance = joint
    if df == 0:
        return "unknown, as all trees agree"
    said = f"χ² = {statistic:.4g}, df = {df}"
    if np.isfinite(df_of_variance):
        said = f"F = {statistic / df:.4g}, df = {df} and {df_of_variance:.4g}"
    return f"{said}, p {p_in_words(p_value)}"


def tested(
    call: str,
    estimates: Estimates,
    hypothesis: str | Sequence[str] | ArrayLike,
    joint: bool,
    level: float,
) -> HypothesisTests:
    """Return tests of hypotheses about estimates (M,); the arguments are those of `Effects`.

    Raises
    ------
    InputError
        If a hypothesis cannot be read, or is about a ratio that is not finite; if there are no
        standard errors.
    """
    if estimates.uncertainty is None:
        raise InputError(
            "hypotheses need standard errors, which these estimates do not have; their summary() "
            "says why, and what to do"
        )
    finite = np.isfinite(estimates.estimate)
    names, value, gradient = _read(hypothesis, np.where(finite, estimates.estimate, 0.0))
    _require_finite(gradient, finite)
    uncertainty = _of_finite(estimates.uncertainty, finite)
    in_units, unit = uncertainty.in_units(gradient)
    labels = pd.DataFrame({"hypothesis": names})
    error, df = np.sqrt(np.diagonal(in_units)) * unit, uncertainty.df
    table = with_errors(labels, value, error, level, df=df)
    wald = None
    if checked_truth("joint", joint):
        rows = independent(gradient, uncertainty.deviations)
        covariance, unit = uncertainty.in_units(gradient[rows])
        wald = joint_test(value[rows] / unit, covariance, df)
    return HypothesisTests(call, table, uncertainty.covariance(gradient), wald)


def _read(
    hypothesis: str | Sequence[str] | ArrayLike, estimate: NDArray[np.float64]
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    """Return R hypotheses in words, their values (R,) and gradients (R, M)."""
    M = len(estimate)
    if not is_list(hypothesis) and not isinstance(hypothesis, str):
        raise _unreadable(M)
    if isinstance(hypothesis, str):
        if hypothesis == PAIRWISE:
            return _pairwise(estimate)
        hypothesis = [hypothesis]
    texts = [each for each in cast(Any, hypothesis) if isinstance(each, str)]
    if texts and len(texts) == len(cast(Any, hypothesis)):
        found = [function_of_estimates(text, estimate) for text in texts]
        values = np.array([value for value, _ in found])
        return texts, values, np.array([gradient for _, gradient in found])
    matrix = _matrix(hypothesis, M)
    names = [
        " + ".join(f"{c:.4g} * b{j + 1}" for j, c in enumerate(row) if c) + " = 0" for row in matrix
    ]
    return names, matrix @ estimate, matrix


def _pairwise(
    estimate: NDArray[np.float64],
) -> tuple[list[str], NDArray[np.float64], NDArray[np.float64]]:
    M = len(estimate)
    if M < 2:
        raise InputError('hypothesis="pairwise" needs two estimates, and there is one')
    if M * (M - 1) // 2 > MOST_PAIRS:
        raise InputError(
            f'hypothesis="pairwise" would test {M * (M - 1) // 2} differences of {M} estimates: '
            "name those of interest, such as hypothesis=['b1 = b2', 'b1 = b3']"
        )
    names, gradient = pairwise_differences(M)
    return names, gradient @ estimate, gradient


def _matrix(hypothesis: ArrayLike, M: int) -> NDArray[np.float64]:
    try:
        matrix = np.atleast_2d(np.asarray(hypothesis, dtype=np.float64))
    except (TypeError, ValueError):
        matrix = np.empty((0, 0))
    if matrix.ndim != 2 or matrix.shape[1:] != (M,) or not len(matrix):
        raise _unreadable(M)
    if not np.isfinite(matrix).all() or not matrix.any(axis=1).all():
        raise InputError("hypothesis= has a row without any estimate, or a number that is infinite")
    return matrix


def _require_finite(gradient: NDArray[np.float64], finite: NDArray[np.bool_]) -> None:
    asked = np.flatnonzero((gradient != 0).any(axis=0) & ~finite)
    if len(asked):
        raise InputError(
            f"hypothesis=: b{asked[0] + 1} has no finite value, so that nothing can be tested of "
            "it: test the others"
        )


def _of_finite(uncertainty: Uncertainty, finite: NDArray[np.bool_]) -> Uncertainty:
    """Return the uncertainty with 0 for estimates that are not finite, which nothing is about."""
    if finite.all():
        return uncertainty
    of_units = uncertainty.of_units
    return replace(
        uncertainty,
        of_trees=np.where(finite, uncertainty.of_trees, 0.0),
        of_units=None if of_units is None else np.where(finite, of_units, 0.0),
    )


def _unreadable(M: int) -> InputError:
    return InputError(
        "hypothesis= is neither text such as 'b1 = b2', nor a list of texts, nor an array "
        f"with {M} columns, one for each estimate"
    )
