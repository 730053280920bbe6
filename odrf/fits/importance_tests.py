"""Tests of importance: conditional resampling, leaving out, knockoffs, elimination.

A resample of a variable given the others keeps its relation to them, but has none to the response
beside them: the rise of the loss is the information that the variable alone has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype
from patsy import EvalEnvironment

from odrf.design import Design, TrainingData, build_design
from odrf.design.columns import TEXT, as_categories, contents
from odrf.design.folds import (
    FoldRows,
    check_training_rows,
    fold_numbers,
    most_folds,
    rows_to_divide,
)
from odrf.design.new_rows import with_values
from odrf.engine.factors import Matrix, beside, indicated, layout_of, stored, with_layout, with_rows
from odrf.engine.running import one_thread
from odrf.errors import InputError, without_warnings
from odrf.fits import survival
from odrf.fits.estimands import holds_numbers
from odrf.fits.fit import AnyFit, BoostedFit, Fit, raw_rows
from odrf.fits.growing import grow_fit, permutation_rises, refit_on_some
from odrf.fits.refit import refit
from odrf.fits.responses import expected_response, forest_out_of_bag
from odrf.fits.scores import error_name, out_of_bag_loss
from odrf.options.options import Options
from odrf.statistics.data_checks import distinct_rows
from odrf.statistics.importance import out_of_bag_importance, response_columns
from odrf.statistics.importance_tests import gaussian_knockoffs
from odrf.statistics.ridge import ridge_regression

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TREES = 100
MIN_LEAF = 5
# Trees of a large table draw a part of its rows: they are less alike, so that their mean is nearer
# to the law than that of trees on all rows, and they grow sooner.
ALL_ROWS, LEAST_SHARE = 2000, 0.1
# Numbers of few values are drawn as if they were labels, so that resamples have these values.
FEW_VALUES = 10
TARGET = "target"
# A number is determined by the others if the line leaves a hundred-thousandth of its spread: that
# much the smallest penalty and 32 bits take away.
DETERMINED = 1e-10
# Penalties of the linear fit: from almost none to almost a constant.
PENALTIES = 10.0 ** np.arange(-6, 3.1, 0.5)


class NumberLaw(NamedTuple):
    """The law of a number given others: means and residuals (m,) of rows without missing cells."""

    mean: Floats
    residual: Floats


class LabelLaw(NamedTuple):
    """The law of a label given others: K labels, and probabilities (m, K) of complete rows."""

    labels: Any
    shares: Floats


def laws_given_others(
    frame: pd.DataFrame, names: Sequence[str], seed: int, n_jobs: int
) -> dict[str, NumberLaw | LabelLaw]:
    """Estimate the law of each of some variables of `frame`, given all variables but these.

    The mean of a number is that of ridge regression, plus that of a forest of its residuals if this
    has a smaller out-of-bag error; labels, and numbers of at most ten values, have shares of a
    forest.
    """
    others = frame[[name for name in frame.columns if name not in names]]
    return {name: _law(frame[name], others, seed, n_jobs) for name in names}


def conditional_resamples(
    frame: pd.DataFrame, laws: dict[str, NumberLaw | LabelLaw], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw values (n,) of each of the variables; missing cells stay missing."""
    place = rng.random(len(frame))
    return {name: _drawn(frame[name], law, place, rng) for name, law in laws.items()}


def _drawn(column: pd.Series, law: NumberLaw | LabelLaw, place: Floats, rng: Any) -> Any:
    known = column.notna().to_numpy()
    if isinstance(law, NumberLaw):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        values[known] = law.mean + law.residual[np.argsort(place[known])]
        return values
    above = rng.random((int(known.sum()), 1)) > np.cumsum(law.shares, axis=1)[:, :-1]
    values = column.astype(object).to_numpy(copy=True)
    values[known] = np.asarray(law.labels, dtype=object)[above.sum(axis=1)]
    return column if not known.any() else pd.Series(values, index=column.index).astype(column.dtype)


def _law(column: pd.Series, others: pd.DataFrame, seed: int, n_jobs: int) -> NumberLaw | LabelLaw:
    number = holds_numbers(column)
    label = _is_category(column) or is_bool_dtype(column.dtype)
    if not (number or label or column.dtype == object or str(column.dtype).startswith("str")):
        raise InputError(
            f"column {column.name!r} is neither a number nor a label, so that it cannot be "
            "resampled: convert it to a number before the fit"
        )
    known = column[column.notna()]
    values = pd.unique(known)
    beside = others.loc[column.notna().to_numpy()]
    beside = beside.loc[:, beside.notna().any().to_numpy()]
    if len(values) < 2 or not len(beside.columns):
        return _alone(known, number)
    if number and len(values) > FEW_VALUES:
        return _number_law(known.to_numpy(dtype=np.float64), beside, seed, n_jobs)
    return _label_law(known, beside, seed, n_jobs)


def _alone(known: pd.Series, number: bool) -> NumberLaw | LabelLaw:
    """Return the law of a variable without others in its rows, or of one value."""
    if number:
        values = known.to_numpy(dtype=np.float64)
        return NumberLaw(np.full(len(values), values.mean()), values - values.mean())
    shares = known.astype(object).value_counts(normalize=True)
    return LabelLaw(shares.index, np.tile(shares.to_numpy(), (len(known), 1)))


@one_thread()
def _number_law(y: Floats, others: pd.DataFrame, seed: int, n_jobs: int) -> NumberLaw:
    design, data = _design(pd.Series(y), others, "regression")
    Z = np.nan_to_num(indicated(data.X).T.astype(np.float64))
    linear = ridge_regression(Z, y, np.ones(len(y)), PENALTIES)
    fitted, left_out = linear.intercept + Z @ linear.coef, y - linear.left_out
    of_line = (left_out**2).mean()
    if of_line <= DETERMINED * y.var():
        return NumberLaw(y, np.zeros(len(y)))
    fit = _forest(design, replace(data, y=left_out), seed, n_jobs)
    rest = forest_out_of_bag(fit).value[:, 0]
    rest = np.where(np.isnan(rest), 0.0, rest)
    mean = fitted + rest if ((left_out - rest) ** 2).mean() < of_line else fitted
    return NumberLaw(mean, y - mean)


def _label_law(known: pd.Series, others: pd.DataFrame, seed: int, n_jobs: int) -> LabelLaw:
    codes, labels = pd.factorize(known.astype(object), sort=False)
    # categories: labels may be different in nearly all rows
    target = pd.Series(pd.Categorical([f"{code:06d}" for code in codes]))
    design, data = _design(target, others, "classification")
    value = forest_out_of_bag(_forest(design, data, seed, n_jobs)).value
    overall = np.bincount(codes) / len(codes)
    return LabelLaw(labels, np.where(np.isnan(value), overall, value))


def _design(target: pd.Series, others: pd.DataFrame, kind: str) -> tuple[Design, TrainingData]:
    """Return the design of a target by all columns of other variables, without warnings."""
    data = others.set_axis([f"x{j}" for j in range(len(others.columns))], axis=1)
    # a formula with C() takes text that is different in nearly all rows, too
    texts = [name for name in data.columns if contents(data[name]) == TEXT]
    levels = {name: as_categories(data[name]) for name in texts if not _is_category(data[name])}
    data = data.assign(**levels, **{TARGET: target.array})
    with without_warnings():
        return build_design(f"{TARGET} ~ .", data, kind=kind, env=EvalEnvironment.capture())


def _is_category(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _forest(design: Design, data: TrainingData, seed: int, n_jobs: int) -> Fit:
    request = Options(
        blend=False,
        n_trees=TREES,
        resample="bootstrap",
        min_leaf=MIN_LEAF,
        seed=seed,
        n_jobs=n_jobs,
        sample_fraction=min(1.0, max(LEAST_SHARE, ALL_ROWS / data.n_rows)),
    )
    return grow_fit("", design, data, request)


# The different rows of conditional resamples, each once.
class DistinctDraws(NamedTuple):
    """The different rows `changed` (p, d) of resamples, their `row` (d,) and `number` (D, n)."""

    changed: Matrix
    row: Integers
    number: Integers


def distinct_draws(X: Matrix, draws: Sequence[Matrix]) -> DistinctDraws:
    """Return the rows that D resamples make of X (p, n), each once: a label has few values."""
    # Bits are compared, not numbers: a missing cell equals a missing cell.
    bits = stored(X).view(np.int32)
    of_draws = [stored(draw).view(np.int32) for draw in draws]
    differs = [of_draw != bits for of_draw in of_draws]
    places = np.flatnonzero(np.any([where.any(axis=1) for where in differs], axis=0))
    draw, row = np.nonzero(np.array([where.any(axis=0) for where in differs]))
    values = np.stack([of_draw[places] for of_draw in of_draws])[draw, :, row]
    first, which = distinct_rows(np.column_stack([row, values]))
    number = np.full((len(draws), X.shape[1]), -1)
    number[draw, row] = which
    row = row[first]
    changed = bits[:, row]
    changed[places] = values[first].T
    return DistinctDraws(with_layout(changed.view(np.float32), layout_of(X)), row, number)


# Importances of predictors and of their knockoffs, in one forest.
def knockoff_differences(fit: Fit) -> Floats:
    """Return for each predictor its importance less that of its knockoff (P,)."""
    design, data = fit.design, fit.data
    P = len(design.predictors)
    wide = np.flatnonzero((np.diff(design.first) != 1) | (design.types != 0))
    if len(wide):
        raise InputError(
            f"predictor {design.predictors[wide[0]]!r} is not a column of numbers without missing "
            'values, and only these have knockoffs: use importance("conditional"), or leave it out'
        )
    rng = np.random.default_rng([fit.control.seed, P])
    values = np.array(data.X[np.arange(P)], dtype=np.float64).T
    copies = gaussian_knockoffs(values, rng).T.astype(np.float32)
    swapped = rng.random(P) < 0.5
    own = np.array(data.X[np.arange(P)], dtype=np.float32)
    first = np.where(swapped[:, None], copies, own)
    second = np.where(swapped[:, None], own, copies)
    both = replace(data, X=beside([first, second]))
    twice = design.keeping([*range(P), *range(P)])
    request = replace(fit.request, blend=False, alpha=None)
    grown = grow_fit("", twice, both, request)
    if data.times is not None:  # splits then change the mortality, y are log-rank scores
        grown = survival.fit.with_curves(grown)
    importance = out_of_bag_importance(grown.forest, both.X, data.y, twice.first, grown.draws)
    difference = importance[:P] - importance[P:]
    return np.where(swapped, -difference, difference)


# The rise of the losses of rows without the information that variables alone have.
CONDITIONAL, LOCO = "conditional", "loco"
FOLDS, FIRST_JUDGED = 5, 2
DRAWS = 10


class LossRises(NamedTuple):
    """Rises (T, m) of the losses of validation `rows` (m,)."""

    rises: Floats
    rows: Integers
    inflation: float


def loss_rises(
    fit: AnyFit,
    sets: Sequence[Sequence[str]],
    type: str,
    n_draws: int = DRAWS,
    advance: Callable[[], object] = lambda: None,
    cause: str | None = None,
) -> LossRises:
    """Return the rises of the losses for T sets of variables, each resampled together.

    Each of the last three of five folds evaluates the fit grown on those before it. For
    "conditional" the validation rows get resamples, for "loco" the fit is grown again on resamples;
    losses are means over `n_draws` of them. Of one, rises are symmetric about 0 without influence.
    Of times the loss is the integrated Brier score of a row, of one `cause` or of every event.
    """
    folds, control = _validation_folds(fit), fit.control
    frame, X, n = raw_rows(fit).frame, fit.data.X, fit.data.n_rows
    full, losses_of = np.full(n, np.nan), _losses_of(fit, cause)
    grown = [_refit(fit, fit.data, fold.train) for fold in folds]
    for of_fold, fold in zip(grown, folds, strict=True):
        rows = np.flatnonzero(fold.test)
        full[rows] = losses_of(of_fold, with_rows(X, rows), rows)
    rises = np.zeros((len(sets), n))
    for t, names in enumerate(sets):
        laws = laws_given_others(frame, names, control.seed, control.n_jobs)
        rng = np.random.default_rng([control.seed, t])
        draws = [
            with_values(fit.design, frame, X, conditional_resamples(frame, laws, rng))
            for _ in range(n_draws + 1)
        ]
        for of_fold, fold in zip(grown, folds, strict=True):
            rows = np.flatnonzero(fold.test)
            evaluated, of_rows = of_fold, with_rows(X, rows)
            unchanged = full[rows]
            if type == LOCO:
                evaluated = _refit(fit, replace(fit.data, X=draws[-1]), fold.train)
                unchanged = losses_of(evaluated, of_rows, rows)
            drawn = distinct_draws(of_rows, [with_rows(draw, rows) for draw in draws[:-1]])
            loss = losses_of(evaluated, drawn.changed, rows[drawn.row])
            losses, changed = np.tile(unchanged, (n_draws, 1)), drawn.number >= 0
            losses[changed] = loss[drawn.number[changed]]
            rises[t, rows] = ((losses - full[rows]) / n_draws).sum(axis=0)
        advance()
    rows = np.flatnonzero(~np.isnan(full) & (fit.data.weights > 0))
    return LossRises(rises[:, rows], rows, _inflation(type, folds))


def _inflation(type: str, folds: Sequence[FoldRows]) -> float:
    """Return the variance of the mean rise, divided by the variance over rows.

    "conditional": the same fit has both losses. "loco": two fits, of which chance makes one better.
    For least squares on m columns of noise, with coefficients β and γ of variance σ²/N from N rows,
    the risks differ by |γ|² - |β|², of variance 4mσ⁴/N²; the mean over M rows of the rises 2ε(βx -
    γz) has 8mσ⁴/(NM). So the first is M/(2N) of the second. A fit that averages shrinks it: one
    half is added.
    """
    if type == CONDITIONAL:
        return 1.0
    N = np.mean([fold.train.sum() for fold in folds])
    return float(1.0 + sum(fold.test.sum() for fold in folds) / (4 * N))


def _refit(fit: AnyFit, data: TrainingData, rows: NDArray[np.bool_]) -> AnyFit:
    """Return the fit grown again on some rows, with curves if it is for survival times."""
    grown = refit(fit, data, rows)
    return survival.fit.with_curves(cast(Fit, grown)) if data.times is not None else grown


def _losses_of(fit: AnyFit, cause: str | None) -> Callable[[Any, Matrix, Integers], Floats]:
    """Return the losses (m,) of some rows, as they are in X (p, m), by a fit without them."""
    of_rows: Callable[[Any, Matrix, Integers], Floats] = partial(_squared_errors, fit)
    if fit.data.times is not None:
        of_rows = survival.validation.brier_losses(cast(Fit, fit), cause).of_rows
    return lambda grown, X, rows: of_rows(grown, X, rows) if len(rows) else np.empty(0)


def _squared_errors(fit: AnyFit, grown: AnyFit, X: Matrix, rows: Integers) -> Floats:
    offset = fit.offset.values[rows] if isinstance(fit, BoostedFit) else None
    value = expected_response(grown, X, offset)
    target = response_columns(fit.data.y[rows], fit.design.response.n_classes)
    return np.asarray(((value - target) ** 2).sum(axis=1))


def _validation_folds(fit: AnyFit) -> list[FoldRows]:
    """Return folds of which each evaluates trees of those before it: the last three of five.

    Trees of all others would share random variation; in a sequence the rises are uncorrelated.
    """
    rows = rows_to_divide(fit.design, fit.data)
    if min(most_folds(rows), int((fit.data.weights > 0).sum()) // 2) < FOLDS:
        raise InputError(
            "tests of importance hold rows out, and there are too few rows, groups or times: fit "
            'with more, or use type="impurity"'
        )
    block = fold_numbers(rows, FOLDS, fit.control.seed)
    folds = [FoldRows(block < j, block == j) for j in range(FIRST_JUDGED, FOLDS)]
    check_training_rows(folds, rows, "tests of importance: fit with more rows of each class")
    return folds


AUTO, INTEGRATED, UNO, HARRELL = "auto", "integrated_brier", "uno_c", "harrell_c"
ELIMINATED_BY = (AUTO, INTEGRATED, UNO, HARRELL)
"""The known values of the argument `metric`."""
WORDS = {INTEGRATED: "integrated Brier score", UNO: "1 - Uno's C", HARRELL: "1 - Harrell's C"}


@dataclass(frozen=True)
class EliminationSteps:
    """How an elimination is evaluated: `by` the kind of a response, or a metric of survival."""

    by: str

    @property
    def error(self) -> str:
        """The name of the out-of-bag error."""
        return WORDS[self.by] if self.by in WORDS else error_name(self.by)

    def error_of(self, fit: Fit) -> tuple[float, float]:
        """Return the out-of-bag error of a fit, and its standard error over rows or groups."""
        if self.by not in WORDS:
            return out_of_bag_loss(fit)
        evaluated = survival.validation.evaluated_out_of_bag(fit)
        scores = evaluated.scores() if self.by == INTEGRATED else evaluated.concordances()
        score, groups = scores[self.by], evaluated.rows.groups
        error = score.std_error_of_groups(groups)
        return score.estimate if self.by == INTEGRATED else 1 - score.estimate, error

    def importances_of(self, fit: Fit) -> Floats:
        """Return the rise of the error by permutation (P,): of trees' losses, or by survival."""
        if self.by not in WORDS:
            return permutation_rises(fit).of_tree.mean(axis=0)
        evaluated = survival.validation.evaluated_out_of_bag(fit)
        losses = survival.validation.losses_when_permuted(evaluated, fit.control.seed)
        of_metric = losses.brier if self.by == INTEGRATED else losses.concordance
        return np.array([loss.mean.estimate for loss in of_metric])

    def grown_on(self, fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
        """Return the fit grown again on the predictors with the numbers `which`."""
        grown = refit_on_some(fit, which, call, progress)
        return survival.fit.with_curves(grown) if self.by in WORDS else grown


def survival_steps(metric: str) -> EliminationSteps:
    """Return the steps for one of `ELIMINATED_BY`."""
    return EliminationSteps(INTEGRATED if metric == AUTO else metric)
