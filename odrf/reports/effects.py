"""Averaged predictions, comparisons and slopes, with standard errors, tests and intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf import plots
from odrf.checks import checked_truth, is_list
from odrf.design.encoding import LevelsSaidOnce
from odrf.errors import InputError
from odrf.fits import effects, representers
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.intervals import warn_of_few_trees
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.effects import (
    NUMBERS,
    Wald,
    function_of_estimates,
    independent,
    joint_test,
    pairwise_differences,
    with_errors,
)
from odrf.statistics.jackknife import degrees_of_freedom
from odrf.text.layouts import percentage
from odrf.text.splits import p_in_words
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


OF_TRUTH = (
    "Estimates are of the truth: out-of-bag residuals correct the bias of the forest, which "
    'target="forest" leaves.'
)
OF_FOREST = "Estimates are of the forest, not of the truth, because {why}."
# A standard error of a probability below this is good enough, Monte Carlo error or not.
NEGLIGIBLE = 0.002
THE_TRUTH, THE_FOREST = "truth", "forest"
TARGETS = (THE_TRUTH, THE_FOREST)
EXPECTATION = (
    "Standard errors are for the forest's expectation over training samples, which differs from "
    "the truth by the forest's bias."
)
NOT_FOR_INFERENCE = (
    "The forest was not grown for inference: its standard errors may be too large; those of "
    "odrf(…, inference=True) are closer to the variation over samples."
)
GROUPS = (
    "The units of the standard errors are groups of rows: tests and intervals are by Student's t "
    "with {df:.0f} degrees of freedom."
)
NONE = "There are no standard errors, because "
NO_FOREST = (
    "they compare trees that sampled a row with trees that did not: fit a forest with odrf(), "
    "whose trees sample rows."
)
IN_TIME = (
    "they suppose that trees sample all rows alike, and with order= they sample early rows more "
    "often: fit without order=."
)
NO_ROWS = "the fit has no training rows, and which of them the trees sampled is not known."
ALL_ROWS = "every tree of the forest sampled all rows, or all but one: fit with inference=True."
AGREE = (
    "Where the standard error is 0, all trees agree; that does not make the estimate certain, so "
    "that it has no test and no interval."
)


def note_on_agreement(table: pd.DataFrame) -> tuple[str, ...]:
    """Return what to know of standard errors of 0 in a table of estimates, if there are any."""
    return (AGREE,) if (table["std_error"] == 0).any() else ()


def _note_on_groups(fit: Fit) -> tuple[str, ...]:
    df = degrees_of_freedom(fit.draws)
    return (GROUPS.format(df=df),) if np.isfinite(df) else ()


def notes_on_errors(fit: AnyFit) -> tuple[str, ...]:
    """Return what to know of the standard errors of a fit's estimates, in sentences."""
    if effects.trees_vary(fit):
        assert isinstance(fit, Fit)
        few = _note_on_groups(fit)
        return (EXPECTATION, *few, *(() if fit.control.inference else (NOT_FOR_INFERENCE,)))
    if not isinstance(fit, Fit) or fit.forest.n_trees == 1:
        return (NONE + NO_FOREST,)
    if fit.rows is None:
        return (NONE + NO_ROWS,)
    structure = fit.data.structure
    in_time = structure is not None and structure.order is not None
    return (NONE + (IN_TIME if in_time else ALL_ROWS),)


# So many differences have a covariance of 32 MB, and are more than anyone reads.
MOST_PAIRS = 2000
PAIRWISE = "pairwise"


@public
class HypothesisTests(TableReport):
    """Tests of hypotheses about estimates.

    Returned by `Effects.hypotheses`.

    Attributes
    ----------
    table : DataFrame
        One row for each hypothesis: ``hypothesis``; ``estimate``, the left side minus the right
        side; ``std_error``, ``statistic``, ``p_value``, ``conf_low`` and ``conf_high``.
    covariance : (R, R) float64
        The covariance of these estimates.
    joint : Wald or None
        The test that all hypotheses hold.
    """

    _title = "Tests of hypotheses"

    def __init__(
        self, call: str, table: pd.DataFrame, covariance: NDArray[np.float64], joint: Wald | None
    ) -> None:
        self.call, self.table, self.covariance, self.joint = call, table, covariance, joint

    def _facts(self) -> dict[str, str]:
        facts = {"Hypotheses": str(len(self.table))}
        if self.joint is not None:
            facts["All together"] = _joint_in_words(self.joint)
        return facts

    def _notes(self) -> tuple[str, ...]:
        return note_on_agreement(self.table)


def _joint_in_words(joint: Wald) -> str:
    """Return a joint test in words, by the law that its p-value is from."""
    statistic, df, p_value, df_of_variance = joint
    if df == 0:
        return "unknown, as all trees agree"
    words = f"χ² = {statistic:.4g}, df = {df}"
    if np.isfinite(df_of_variance):
        words = f"F = {statistic / df:.4g}, df = {df} and {df_of_variance:.4g}"
    return f"{words}, p {p_in_words(p_value)}"


def tested(
    call: str, estimates: effects.Estimates, hypothesis: str | Sequence[str] | ArrayLike,
    joint: bool, level: float,
) -> HypothesisTests:  # fmt: skip
    """Return tests of hypotheses about estimates (M,); the arguments are those of `Effects`."""
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
        values, gradients = zip(
            *(function_of_estimates(text, estimate) for text in texts), strict=True
        )
        return texts, np.array(values), np.array(gradients)
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
    unknown = np.flatnonzero((gradient != 0).any(axis=0) & ~finite)
    if len(unknown):
        raise InputError(
            f"hypothesis=: b{unknown[0] + 1} has no finite value, so that nothing can be tested of "
            "it: test the others"
        )


def _of_finite(uncertainty: effects.Uncertainty, finite: NDArray[np.bool_]) -> effects.Uncertainty:
    """Return the uncertainty with 0 for estimates that are not finite, which nothing is about."""
    if finite.all():
        return uncertainty
    of_trees, of_units = uncertainty.of_trees, uncertainty.of_units
    return replace(
        uncertainty,
        of_trees=None if of_trees is None else np.where(finite, of_trees, 0.0),
        of_units=None if of_units is None else np.where(finite, of_units, 0.0),
    )


def _unreadable(M: int) -> InputError:
    return InputError(
        "hypothesis= is neither text such as 'b1 = b2', nor a list of texts, nor an array "
        f"with {M} columns, one for each estimate"
    )


# Cards leave out the last columns of a wide table; one end of an interval tells little.
ON_CARDS = ("estimate", "std_error", "conf_low", "conf_high", "p_value")
DIVIDED_BY_0 = "A ratio is inf where it divides by a prediction of 0."
BOTH_0 = "A ratio is NaN where both predictions are 0."


@public
class Effects(TableReport):
    """Averaged predictions, comparisons or slopes of a fit.

    Returned by `predictions`, `comparisons` and `slopes` of the results.

    Attributes
    ----------
    title : str
    estimates : Estimates
    level : float
    null : float
        The value that is tested: 0, or 1 for ratios; NaN for averaged predictions, of which no
        value is of interest by itself (`hypotheses` tests any).
    target : str
        What is estimated: averages of the ``"truth"``, or of the ``"forest"`` (of the fit).
    notes : tuple of str
        What to know of the standard errors.
    table : DataFrame
        One row for each estimate.  Columns: ``term``, ``contrast``; the columns of `at` and `by`,
        with an underscore if they are called like another one; ``class`` if the response is a
        class; ``estimate``, ``std_error``, ``statistic``, ``p_value``, ``conf_low`` and
        ``conf_high``.  NaN where there are no standard errors; tests and intervals are NaN also
        where these are 0, and tests of averaged predictions in any case.  Intervals of
        probabilities are on the scale of the log odds, at most twice as far from the estimate as
        plain ones.
    covariance : (M, M) float64 or None
        The covariance of the estimates over training samples; NaN for ratios that are not finite.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + sex", data, n_trees=50, seed=1)
    >>> effects = forest.comparisons("bmi", contrast="iqr")
    >>> bool(effects.table["estimate"].iloc[0] > 0)
    True
    """

    def __init__(
        self, title: str, call: str, estimates: effects.Estimates, level: float, null: float = 0.0,
        notes: tuple[str, ...] = (), probabilities: bool = False, target: str = THE_FOREST,
    ) -> None:  # fmt: skip
        self.target = target
        self.title, self.call, self.level, self.null = title, call, level, null
        self.notes, self.estimates = notes, estimates
        known = estimates.uncertainty
        error = np.full(len(estimates.estimate), np.nan)
        if known is not None:
            error = known.errors()
        df = np.inf if known is None else known.df
        self.table = with_errors(
            estimates.labels, estimates.estimate, error, level, null, df, probabilities
        )

    @cached_property
    def covariance(self) -> NDArray[np.float64] | None:
        """The covariance (M, M) of the estimates over training samples; None if unknown."""
        known = self.estimates.uncertainty
        return None if known is None else known.covariance()

    def hypotheses(
        self, hypothesis: str | Sequence[str] | ArrayLike = "pairwise", *, joint: bool = False
    ) -> HypothesisTests:
        """Test hypotheses about the estimates, which are b1, b2, … in the order of the table.

        Parameters
        ----------
        hypothesis : str, list of str or array, default "pairwise"
            ``"pairwise"``: any two estimates are equal.  A text such as ``"b1 = b2"``,
            ``"b3 - 2 * b1 = 0"`` or ``"b2 / b1 = 1"``, or a list of these; ratios and powers are
            tested by the delta method.  An array (R, M): R linear combinations of the M estimates
            that are 0.
        joint : bool, default False
            Test in addition that all hold, by Wald's statistic: by χ², with ``groups=`` by F.

        Returns
        -------
        HypothesisTests
            With ``table``, ``covariance``, ``joint`` and ``summary()``.

        Raises
        ------
        InputError
            If a hypothesis cannot be read, or is about a ratio that is not finite; if there are no
            standard errors.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ bmi + ltg", data, n_trees=50, seed=1)
        >>> tests = forest.slopes().hypotheses("b1 = b2")
        >>> list(tests.table["hypothesis"])
        ['b1 = b2']
        """
        return tested(self.call, self.estimates, hypothesis, joint, self.level)

    @property
    def _title(self) -> str:
        return self.title

    def _facts(self) -> dict[str, str]:
        return {
            "Estimates": f"{len(self.table)}, of the {self.target}",
            **self._intervals,
        }

    @property
    def _tested(self) -> float | None:
        return None if np.isnan(self.null) else self.null

    def _sections(self) -> dict[str, pd.DataFrame]:
        shown = self._shown()
        if self._tested is None:
            shown = shown.drop(columns=["statistic", "p_value"])
        if self.estimates.uncertainty is None:
            numbers = [name for name in NUMBERS if name != "estimate" and name in shown]
            shown = shown.drop(columns=numbers)
        return {"": shown}

    def _notes(self) -> tuple[str, ...]:
        estimate = self.table["estimate"]
        infinite = (DIVIDED_BY_0,) if np.isinf(estimate).any() else ()
        unknown = (BOTH_0,) if estimate.isna().any() else ()
        return (*self.notes, *note_on_agreement(self.table), *infinite, *unknown)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the first 40 estimates as points, with their intervals.

        What is infinite is at the edge of the axes: an estimate there is an arrow.
        """
        labels = self.table.drop(columns=list(NUMBERS))
        return plots.effects.plot_effects(
            labels, self.table[list(NUMBERS)], self.title, self._tested, ax
        )

    def _shown(self) -> pd.DataFrame:
        numbered = self.table.copy()
        for name in numbered.columns.difference(list(NUMBERS)):
            known = numbered[name].notna()
            if not known.all():
                numbered[name] = numbered[name].astype(object).where(known, "missing")
        numbered.index = pd.Index([f"b{i + 1}" for i in range(len(numbered))])
        return numbered

    def _card(self) -> Card:
        shown = self._shown()
        labels = [name for name in shown if name not in NUMBERS]
        if (shown[["term", "contrast"]] == ["prediction", "mean"]).all(axis=None):
            labels = labels[2:]
        if self.estimates.uncertainty is None:
            why = {"Standard errors": "none: summary() says why"}
            return Card(self.title, why, shown[[*labels, "estimate"]])
        columns = ON_CARDS if self._tested is not None else ON_CARDS[:-1]
        return Card(self.title, self._intervals, shown[[*labels, *columns]])

    @property
    def _intervals(self) -> dict[str, str]:
        if self.estimates.uncertainty is None:
            return {}
        return {"Intervals": percentage(self.level)}


def effects_of(
    fit: AnyFit, title: str, estimands: Sequence[effects.Estimand], by: object,
    newdata: pd.DataFrame | None, level: float, population: bool, progress: bool,
    ratio: bool = False, target: str | None = None,
) -> Effects:  # fmt: skip
    """Return the effects of the estimands, with what is to be known of their standard errors.

    By default `target` is the truth where the bias of the fit can be corrected, else the fit.
    """
    grouped = effects.grouped_rows(fit, newdata, by)
    twice = [name for name in grouped.labels if name in estimands[0].labels]
    if twice:
        raise InputError(
            f"{twice[0]!r} is in by= and in at=, which sets it to other values: leave it out of "
            "one of them"
        )
    why_not = None
    if target != THE_FOREST:
        why_not = representers.why_not_of_truth(fit, grouped, estimands)
    if target == THE_TRUTH and why_not is not None:
        raise InputError(f'target="truth": {why_not}; leave it out, or use target="forest"')
    of_truth = why_not is None and target != THE_FOREST
    averages = sum(1 + (estimand.low is not None) for estimand in estimands)
    with (
        LevelsSaidOnce(),
        progress_bar(total=averages * len(grouped.share), unit="row", progress=progress) as bar,
    ):
        comparison = effects.RATIO if ratio else effects.DIFFERENCE
        how = (grouped, estimands, comparison, population, bar.update)
        if of_truth:
            assert isinstance(fit, Fit)
            estimates = representers.estimated_of_truth(fit, *how)
        else:
            estimates = effects.estimated(fit, *how)
        bar.update(bar.total - bar.n)
    averaged = all(estimand.low is None for estimand in estimands)
    probabilities = averaged and fit.design.response.in_probabilities
    known = estimates.uncertainty  # a weighted mean of models has none, and no forest
    if known is not None and (advised := known.trees_advised):
        sure = probabilities and (known.errors() < NEGLIGIBLE).all()
        warn_of_few_trees(fit, 0 if sure else advised)
    if fit.design.response.n_classes == 2 and not (averaged or ratio):
        estimates = effects.of_event(estimates)
    null = np.nan if averaged else float(ratio)
    if of_truth and isinstance(fit, Fit):
        notes = (OF_TRUTH, *_note_on_groups(fit))
    else:
        plain = why_not is None or not isinstance(fit, Fit) or fit.forest.n_trees < 2
        notes = (*(() if plain else (OF_FOREST.format(why=why_not),)), *notes_on_errors(fit))
    return Effects(
        title, fit.call, estimates, level, null, notes, probabilities,
        THE_TRUTH if of_truth else _name_of(fit),
    )  # fmt: skip


def _name_of(fit: AnyFit) -> str:
    """Return what a fit is called in a table of its estimates: a forest, a tree, or a fit."""
    if not isinstance(fit, Fit):
        return "fit"
    return THE_FOREST if fit.forest.n_trees > 1 else "tree"
