"""Growing the models of a stack, and estimating their weights from out-of-bag rows.

The models differ in what they learn easily.  A forest of several kinds of trees is best where the
signal is rough.  A forest on a base, which predicts the residuals of a sum of splines, is best
where most of it is smooth and additive, a forest on few predictors where most have no influence.  A
kernel smoother is best where the signal is smooth in all predictors at once, an oblique one where
it is so in few directions, boosted runs where few predictors matter much.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.weights import Offset
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit, Fit, grow_boosted_fit
from odrf.fits.growing import grow_fit
from odrf.fits.held_out import held_out_trees, responses_held_out
from odrf.fits.responses import (
    boosted_out_of_bag,
    expected_response,
    forest_out_of_bag,
    leaves_rows_out,
)
from odrf.fits.stack.fit import StackedFit, StackedPart, Trial
from odrf.fits.stack.smoothers import (
    FoldImportance,
    KernelSmoother,
    base_of,
    can_have_base,
    kernel_smoothers_of,
)
from odrf.fits.stack.weights import (
    LEAST_GAIN,
    errors_of,
    gain_with,
    models_used,
    put_together,
    rises_without,
    stack_rows,
    stacking_weights,
)
from odrf.options.blend import FEWEST_TREES
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.options import Options
from odrf.options.stack import ResolvedStackOptions
from odrf.statistics.importance import effective_number, held_out_importance, largest

# A tree that tries predictors at random, or splits on sums of them, is the less accurate the more
# of them have no influence.  How many matter is the effective number of their importances, of order
# 2 or 1: the smaller one where a few stand out, the larger one where some matter much and others
# less.

ORDERS = (2, 1)
FEWEST_PREDICTORS = 2
# With a larger share of predictors the forest would be much like that on all of them.
LARGEST_SHARE = 0.5
# Trees of the forest, and of each that is grown without a fold, as shares of those of the forest on
# all predictors.  The latter are of one kind: finding shares of kinds would take longer.
SHARE, SHARE_WITHOUT_FOLD = 1 / 2, 1 / 5


class ForestsOnFew(NamedTuple):
    """What forests on few predictors are grown from.

    `request` are the options of the forest on all predictors.
    """

    call: str
    design: Design
    data: TrainingData
    request: Options
    by_fold: FoldImportance
    progress: bool

    def best(self, known: NDArray[np.float64]) -> StackedPart | None:
        """Return the forest that is of use beside the one on all predictors; None if none is.

        The first fold decides: the loss of both together must be smaller there than that of the one
        on all predictors, whose out-of-bag predictions are `known` (n, K), by two standard errors.
        """
        left_out, best = np.full(known.shape, np.nan), 0.0
        chosen = None
        for order in self._orders():
            tried = np.full(known.shape, np.nan)
            self._predict_fold(0, order, tried)
            gain, std_error = gain_with([known], tried, self.data)
            if gain > max(best, LEAST_GAIN * std_error):
                chosen, left_out, best = order, tried, gain
        if chosen is None:
            return None
        for f in range(1, len(self.by_fold.importance) - 1):
            self._predict_fold(f, chosen, left_out)
        everything = len(self.by_fold.importance) - 1
        fit, columns = self._without(everything, chosen, self.request, SHARE)
        return StackedPart(FEW, fit, None, columns, left_out)

    def _orders(self) -> list[int]:
        """Return the orders of effective numbers that are few predictors, and not the same."""
        numbers = {order: len(self._chosen(-1, order)) for order in reversed(ORDERS)}
        most = LARGEST_SHARE * len(self.design.predictors)
        of_number = {number: order for order, number in numbers.items() if number <= most}
        return list(of_number.values()) if self.by_fold.importance[-1].any() else []

    def _chosen(self, f: int, order: int) -> NDArray[np.int64]:
        """Return the numbers of the predictors that matter, as estimated without fold f."""
        importance = self.by_fold.importance[f][self.design.first[:-1]]
        return largest(importance, max(FEWEST_PREDICTORS, effective_number(importance, order)))

    def _without(
        self, f: int, order: int, request: Options, share: float
    ) -> tuple[Fit, NDArray[np.int64]]:
        """Return a forest that is grown without fold f, and its columns."""
        which = self._chosen(f, order).tolist()
        part, columns = self.design.keeping(which), self.design.recipe.columns_of(which)
        rows = replace(self.data, X=self.data.X[columns]).keeping(self.by_fold.without(f))
        fewer = request.giving(n_trees=max(FEWEST_TREES, int(share * request.trees)))
        return grow_fit(self.call, part, rows, fewer, self.progress), columns

    def _predict_fold(self, f: int, order: int, into: NDArray[np.float64]) -> None:
        """Write predictions of fold f, by a forest that is grown without it, `into` (n, K)."""
        of_one_kind = self.request.giving(blend=False)
        fit, columns = self._without(f, order, of_one_kind, SHARE_WITHOUT_FOLD)
        held = ~self.by_fold.without(f)
        into[held] = expected_response(fit, self.data.keeping(held).X[columns])


# Importances of columns from a small forest, and as such forests find them without folds.

# Few trees, half as many as columns within these bounds; on few rows, so that more are validation
# rows.
FEWEST_IN_TURN, MOST_IN_TURN, SAMPLE_FRACTION = 50, 200, 0.3
FOLDS = 5
# With fewer rows importances would fit noise; more would change them little.
FEWEST_ROWS, MOST_ROWS = 20, 3000


def importance_of_folds(
    design: Design, data: TrainingData, request: Options, seed: int
) -> FoldImportance | None:
    """Return folds of the rows, drawn, and importances without each; None for too few rows."""
    used = np.flatnonzero(data.weights > 0)
    if len(used) < FEWEST_ROWS:
        return None
    rng = np.random.default_rng(seed)
    drawn = rng.permutation(used)[:MOST_ROWS]
    # rows in order are often alike: of FOLDS rows that follow each other, each is in another fold
    blocks = np.tile(np.arange(FOLDS), (-(-len(used) // FOLDS), 1))
    fold = np.zeros(len(data.y), dtype=np.int64)
    fold[used] = rng.permuted(blocks, axis=1).ravel()[: len(used)]
    importance = [
        quick_importance(design, data, request, drawn[fold[drawn] != f]) for f in range(FOLDS + 1)
    ]
    return FoldImportance(fold, importance)


def quick_importance(
    design: Design, data: TrainingData, request: Options, rows: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the held-out importance of each column (p,) in a forest on some rows (m,), at least 0.

    All columns of a predictor have the same.  The forest has few trees, of one kind.
    """
    kept = np.isin(np.arange(len(data.y)), rows)
    small = request.giving(
        n_trees=min(MOST_IN_TURN, max(FEWEST_IN_TURN, len(design.columns) // 2)),
        blend=False,
        resample="subsample",
        sample_fraction=SAMPLE_FRACTION,
    )
    fit = grow_fit("", design, data.keeping(kept), small)
    parts, first = held_out_trees(fit), design.first
    if parts is None:
        return np.zeros(len(design.columns))
    target, weights = responses_held_out(fit), fit.data.weights
    importance = held_out_importance(
        parts, fit.data.X, target, weights, first, False, fit.control.n_jobs
    )
    return np.repeat(np.maximum(importance, 0.0), [b - a for a, b in pairwise(first)])


# If there are several kinds, each is tried with few runs first, and the better half continues with
# all runs: successive halving (Jamieson and Talwalkar 2016).  One that then makes the stack better
# by more than noise is added to it, the best first.

Array = NDArray[np.float64]
Grow = Callable[[ResolvedBoostingOptions], BoostedFit]

# Runs of a first try.
FEW_RUNS = 3
ADDED, NOISE, BEHIND, LATE = "added", "within noise", "behind others", "no time left"


def further_runs(
    kinds: Mapping[str, ResolvedBoostingOptions],
    grow: Grow,
    values: Sequence[Array],
    data: TrainingData,
    end: float,
) -> tuple[dict[str, BoostedFit], tuple[Trial, ...]]:
    """Return the boosted runs that are worth adding, by name, and the outcome of all of them.

    The `kinds` are tried by `grow`; `values` are arrays (n, K), the out-of-bag predictions of the
    models of the stack.  No fit begins after the time `end`, as of `time.monotonic`.
    """
    search = _Search(kinds, grow, values, data, end)
    search.try_few_runs()
    return search.added(search.fitted_fully()), tuple(search.trials.values())


class _Search:
    """The kinds that are tried, their last fits and predictions, and the outcome of each."""

    def __init__(
        self,
        kinds: Mapping[str, ResolvedBoostingOptions],
        grow: Grow,
        values: Sequence[Array],
        data: TrainingData,
        end: float,
    ) -> None:
        self.kinds, self.grow, self.values, self.data, self.end = kinds, grow, values, data, end
        self.fits: dict[str, BoostedFit] = {}
        self.out_of_bag: dict[str, Array] = {}
        self.trials = {name: Trial(name, 0, np.nan, np.nan, LATE) for name in kinds}
        # seconds that all runs of a kind will take
        self.seconds: dict[str, float] = {}

    def try_few_runs(self) -> None:
        """Fit few runs of each kind for which there is time, of one kind all; evaluate them."""
        several = len(self.kinds) > 1
        for name, control in self.kinds.items():
            begin = time.monotonic()
            if begin < self.end:
                few = control.with_runs(min(FEW_RUNS, control.n_runs)) if several else control
                self._fit(name, few)
                self._evaluate(name, self.values)
                self.seconds[name] = (time.monotonic() - begin) * control.n_runs / few.n_runs

    def fitted_fully(self) -> list[str]:
        """Fit all runs of the better half, if they help and there is time; return their names."""
        order = sorted(self.fits, key=lambda name: -self.trials[name].ratio)
        half = (len(order) + 1) // 2
        for name in order[half:]:
            self._end(name, BEHIND)
        full = []
        for name in (name for name in order[:half] if self.trials[name].ratio > 0):
            if self.fits[name].control.n_runs == self.kinds[name].n_runs:
                full.append(name)
            elif time.monotonic() + self.seconds[name] < self.end:
                self._fit(name, self.kinds[name])
                full.append(name)
            else:
                self._end(name, LATE)
        return full

    def added(self, names: list[str]) -> dict[str, BoostedFit]:
        """Return the fits that make the stack better, one after the other, the best first."""
        left, added = list(names), dict[str, BoostedFit]()
        while left:
            before = [*self.values, *(self.out_of_bag[name] for name in added)]
            for name in left:
                self._evaluate(name, before)
            best = max(left, key=lambda name: self.trials[name].ratio)
            if self.trials[best].ratio <= LEAST_GAIN:
                break
            left.remove(best)
            added[best] = self.fits[best]
            self._end(best, ADDED)
        return added

    def _fit(self, name: str, control: ResolvedBoostingOptions) -> None:
        self.fits[name] = self.grow(control)
        self.out_of_bag[name] = _value(self.fits[name])

    def _evaluate(self, name: str, before: Sequence[Array]) -> None:
        gain, std_error = gain_with(before, self.out_of_bag[name], self.data)
        runs = self.fits[name].control.n_runs
        self.trials[name] = Trial(name, runs, gain, std_error, NOISE)

    def _end(self, name: str, outcome: str) -> None:
        self.trials[name] = self.trials[name]._replace(outcome=outcome)


def _value(fit: BoostedFit) -> Array:
    return fit.loss.means(boosted_out_of_bag(fit))


# Growing the models of a stack, and finding their weights from out-of-bag rows.

FOREST, RUNS = "forest", "boosted runs"
RUNS_ON_SINGLES = "boosted runs on single predictors"
# The first that is computed soon enough.
BASES = {"forest on splines": True, "forest on lines": False}
FEW = "forest on few predictors"
SMOOTHERS = ("kernel smoother", "oblique smoother")
# With so many classes or more, runs take longer than all other models together.
MANY_CLASSES = 10
# With so many rows runs on single predictors are tried, too: with fewer they hardly ever help.
MANY_ROWS = 3000


def grow_stack(
    call: str,
    design: Design,
    data: TrainingData,
    control: ResolvedStackOptions,
    request: Options,
    boosting: dict[str, ResolvedBoostingOptions],
    progress: bool,
) -> StackedFit:
    """Grow the models and weigh them; `request` are the options of each forest.

    With a budget the forest is grown in any case, and others as long as there is time. `boosting`
    are the options of the usual boosted runs, and of others that are tried with a budget; with many
    rows one of these is tried in any case. `progress` shows a bar for each model.
    """
    end = time.monotonic() + (math.inf if control.budget is None else control.budget)
    forest = grow_fit(call, design, data, request, progress)
    if not leaves_rows_out(forest):
        raise InputError(
            "auto() weighs models by rows out of bag, and so few rows leave none: use 3 or more, "
            "or odrf()"
        )
    parts = [StackedPart(FOREST, forest)]
    of_forest = forest_out_of_bag(forest).value
    # leaving out single rows, or random folds, would not leave out a row's group, or later rows
    single_rows = data.structure is None
    if single_rows and design.response.classes is None and time.monotonic() < end:
        parts += _forest_on_base(call, design, data, request, progress)
    if single_rows and time.monotonic() < end:
        parts += _evaluated_by_folds(call, design, data, control, request, of_forest, progress)

    def grow_runs(options: ResolvedBoostingOptions) -> BoostedFit:
        offset = Offset(False, None, np.zeros(len(data.y)))
        return grow_boosted_fit(call, design, data, offset, options, progress)

    smooth = any(part.name in SMOOTHERS for part in parts)
    few_classes = design.response.n_classes < MANY_CLASSES
    if (few_classes or not smooth) and time.monotonic() < end:
        parts.append(StackedPart(RUNS, grow_runs(boosting[RUNS])))
    values = [of_forest, *(_out_of_bag(part, data) for part in parts[1:])]
    trials: tuple[Trial, ...] = ()
    many_rows = len(data.y) >= MANY_ROWS
    others = _others_to_try(boosting, control, few_classes and many_rows)
    if others:
        runs, trials = further_runs(others, grow_runs, values, data, end)
        added = [StackedPart(name, fit) for name, fit in runs.items()]
        parts += added
        values += [_out_of_bag(part, data) for part in added]
    known = stack_rows(values, data)
    used, weights = models_used(known), np.zeros(len(parts))
    weights[used], power = stacking_weights(known.by(used))
    errors, rises = errors_of(values, data, forest.ordered), rises_without(known, used)
    models = tuple(parts)
    return StackedFit(
        call, design, data, control, boosting, models, weights, power, errors, rises, trials
    )


def _others_to_try(
    boosting: dict[str, ResolvedBoostingOptions], control: ResolvedStackOptions, singles: bool
) -> dict[str, ResolvedBoostingOptions]:
    """Return the kinds of runs to try: with a budget all others, else on `singles` or none."""
    if control.budget is not None:
        return {name: options for name, options in boosting.items() if name != RUNS}
    return {RUNS_ON_SINGLES: boosting[RUNS_ON_SINGLES]} if singles else {}


def _forest_on_base(
    call: str, design: Design, data: TrainingData, request: Options, progress: bool
) -> list[StackedPart]:
    """Return a forest of half as many trees on a base, if one is computed soon enough."""
    name = base_named(len(data.y), len(design.columns))
    if name is None:
        return []
    base, left_out = base_of(data, BASES[name])
    rest = replace(data, y=data.y - left_out)
    fewer = request.giving(n_trees=max(FEWEST_TREES, request.trees // 2))
    return [StackedPart(name, grow_fit(call, design, rest, fewer, progress), base)]


def base_named(n: int, p: int) -> str | None:
    """Return the name of the forest on a base of p columns for n rows; None if there is none."""
    names = [name for name, splines in BASES.items() if can_have_base(n, p, splines)]
    return names[0] if names else None


def _evaluated_by_folds(
    call: str,
    design: Design,
    data: TrainingData,
    control: ResolvedStackOptions,
    request: Options,
    known: NDArray[np.float64],
    progress: bool,
) -> list[StackedPart]:
    """Return a forest on few predictors, if it is of use, and smoothers.

    `known` (n, K) are out-of-bag predictions of the forest on all predictors.
    """
    parts = []
    by_fold = importance_of_folds(design, data, request, control.seed)
    if by_fold is not None:
        few = ForestsOnFew(call, design, data, request, by_fold, progress).best(known)
        if few is not None:
            parts.append(few)
    smoothers = kernel_smoothers_of(design, data, control.seed, by_fold)
    return parts + [StackedPart(*named) for named in zip(SMOOTHERS, smoothers, strict=False)]


def stack_out_of_bag(fit: StackedFit) -> NDArray[np.float64]:
    """Return the out-of-bag prediction (n, K) of each row.

    A row that is out of bag in some models only is predicted by these; NaN where it is in none.
    """
    used = [(part, share) for part, share in zip(fit.parts, fit.weights, strict=True) if share > 0]
    values = np.stack([_out_of_bag(part, fit.data) for part, _ in used])
    known = ~np.isnan(values[:, :, 0])
    weights = known * np.array([share for _, share in used])[:, None]
    total = weights.sum(axis=0)
    weights /= np.where(total > 0, total, 1.0)
    # what a model does not predict has weight 0; 1 is a number for either mean
    value = put_together(list(np.where(np.isnan(values), 1.0, values)), list(weights), fit.power)
    return np.where(total[:, None] > 0, value, np.nan)


def _out_of_bag(part: StackedPart, data: TrainingData) -> NDArray[np.float64]:
    """Return the out-of-bag prediction (n, K) of each row by one model."""
    if part.left_out is not None:
        return part.left_out
    if isinstance(part.fit, BoostedFit):
        return part.fit.loss.means(boosted_out_of_bag(part.fit))
    if isinstance(part.fit, KernelSmoother):
        return part.fit.left_out
    value = forest_out_of_bag(part.fit).value
    # the trees were grown on the response less the prediction of the base without the row
    return value if part.base is None else value + (data.y - part.fit.data.y)[:, None]


# Growing a stack again by its options.


def refit_stack(fit: StackedFit, data: TrainingData) -> StackedFit:
    """Grow the models of a stack again by its options on other rows or values, and weigh them.

    Raises `InputError` if the fit has a budget: its models depended on the time that they took.
    """
    if fit.control.budget is not None:
        raise InputError(
            "this would fit the stack again, and with budget= its models depend on the time that "
            "they take: fit with auto() without budget="
        )
    forest = fit.parts[0].fit
    assert isinstance(forest, Fit)
    return grow_stack("", fit.design, data, fit.control, forest.request, fit.boosting, False)
