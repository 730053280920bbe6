"""The fits of trees and forests, boosted and guided, and what all fits have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_whole
from odrf.design import Design, TrainingData
from odrf.design.design import RowCounts
from odrf.design.folds import held_out_share, rows_to_divide
from odrf.design.new_rows import training_frame
from odrf.design.weights import Offset
from odrf.engine.boosting.losses import Loss, SurvivalLoss
from odrf.engine.boosting.runs import Sample, added_up
from odrf.engine.boosting.state import Boosted, boost
from odrf.engine.factors import Matrix, with_rows
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.guided.growth import grow_guided
from odrf.engine.numeric import streams
from odrf.engine.resamples import Draws, Sampling
from odrf.engine.trees.forest import Forest
from odrf.errors import AbsentError, InputError
from odrf.fits.blending import Blend
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.guided import ResolvedGuidedOptions, device_if_there
from odrf.options.options import Options
from odrf.options.tree import ResolvedOptions
from odrf.pruning.validation import OutOfBagChoice, SubtreePath
from odrf.public.progress import progress_bar


class AnyResolvedOptions(Protocol):
    """The options that all fits have."""

    @property
    def seed(self) -> int:
        """The seed of the fit."""

    @property
    def n_jobs(self) -> int:
        """Threads."""


LEFT_OUT = (
    "the fit was saved without them, by save(data=False), or made without them, by without_data(): "
    "use one that has them, or fit again"
)
"""Why rows that were left out are not there."""
STREAMED = (
    "a fit on rows in chunks keeps none of them: fit a data frame of some of the rows, or all "
    "chunks again; new rows need predict(newdata)"
)
"""Why rows that came in chunks are not there."""


@dataclass(frozen=True)
class AnyFit:
    """A fit of any kind, from which results are computed.  It can be pickled.

    `training`: the training rows, or their numbers if the fit does not have them; `no_rows` says
    why.
    """

    votes: ClassVar[bool] = False
    summed: ClassVar[bool] = False
    no_rows: ClassVar[str] = LEFT_OUT

    call: str
    design: Design
    training: TrainingData | RowCounts

    if TYPE_CHECKING:

        @property
        def forest(self) -> Forest:
            """The trees."""

        @property
        def control(self) -> AnyResolvedOptions:
            """The options, resolved."""

    @property
    def kind(self) -> str:
        """``"regression"``, ``"classification"`` or ``"survival"``."""
        return self.design.response.kind

    @property
    def ordered(self) -> bool:
        """Whether the predicted class is the median of the ordered classes."""
        return False

    @property
    def rows(self) -> TrainingData | None:
        """The training rows, or None."""
        return self.training if isinstance(self.training, TrainingData) else None

    @property
    def data(self) -> TrainingData:
        """The training rows; `AbsentError` if the fit does not have them."""
        if isinstance(self.training, TrainingData):
            return self.training
        raise AbsentError(f"this needs the training rows, and {self.no_rows}")


@dataclass(frozen=True)
class Pruning:
    """How a fit was pruned: `by_options`, or by a call of ``prune()``."""

    grown: Fit
    by_options: bool
    path: SubtreePath | None
    choice: OutOfBagChoice | None = None

    def of_tree(self, i: int) -> Pruning:
        """Return how tree `i` alone was pruned, by options and out-of-bag rows of the forest."""
        return Pruning(self.grown.of_tree(i), False, None)


@dataclass(frozen=True)
class Fit(AnyFit):
    """A fit of a tree or forest, from which results are computed.  It can be pickled.

    `streams` (B, 4), `n_at_split` (m,).  `request`: the options by which a model is grown on other
    rows or predictors.
    """

    control: ResolvedOptions
    forest: Forest
    streams: NDArray[np.uint64]
    request: Options
    blend: Blend | None = None
    kinds: dict[str, ResolvedOptions] = field(default_factory=dict)
    further_seeds: tuple[int, ...] = ()
    changes: pd.DataFrame | None = None
    n_at_split: NDArray[np.int32] | None = None
    pruning: Pruning | None = None
    scale_errors: dict[str, float] = field(default_factory=dict)

    @property
    def ordered(self) -> bool:
        """Whether the trees have the ordinal impurity: the predicted class is then the median."""
        return bool(self.forest.ordered)

    @property
    def samplings(self) -> list[Sampling]:
        """How each tree's rows were sampled."""
        if self.blend is None:
            return [self.control.sampling] * self.forest.n_trees
        of_kind = [control.sampling for control in self.kinds.values()]
        return [of_kind[g] for g in self.blend.of_tree]

    @property
    def draws(self) -> Draws:
        """What repeats the draws of all trees: which rows each of them drew."""
        data = self.data
        return Draws(data.weights, self.samplings, self.streams, self.control.n_jobs, data.codes)

    @property
    def rows_added(self) -> tuple[int, int]:
        """How many updates there were, and how many rows have come with them."""
        n = self.training.n_rows
        return len(self.control.batches), n - self.control.sampling.first(n)

    def of_tree(self, i: int) -> Fit:
        """Return the fit of tree `i` alone; raise `InputError` if there is none."""
        n_trees, control = self.forest.n_trees, self.control
        if not is_whole(i) or not 0 <= i < n_trees:
            raise InputError(f"i={i!r} is not a tree of this forest: use 0 to {n_trees - 1}")
        i = int(i)
        if self.blend is not None:
            control = list(self.kinds.values())[self.blend.of_tree[i]]
        nodes = slice(*self.forest.root[i : i + 2])
        return replace(
            self,
            call=f"{self.call}.tree({i})",
            control=control.with_trees(1),
            forest=self.forest.tree(i),
            streams=self.streams[i : i + 1],
            blend=None,
            kinds={},
            pruning=None if self.pruning is None else self.pruning.of_tree(i),
            changes=None if self.changes is None else self.changes.iloc[[i]],
            n_at_split=None if self.n_at_split is None else self.n_at_split[nodes],
        )

    @property
    def first_grown(self) -> Fit:
        """The fit before any pruning."""
        return self if self.pruning is None else self.pruning.grown.first_grown


# A mean weight from here on counts as at least 1: balanced class weights have 1 but for rounding.
ALMOST_ONE = 1.0 - 1e-9


@dataclass(frozen=True)
class BoostedFit(AnyFit):
    """A fit of boosted trees, from which results are computed; `held` (n,) are validation rows."""

    summed: ClassVar[bool] = True

    offset: Offset
    control: ResolvedBoostingOptions
    boosted: Boosted
    held: NDArray[np.bool_]

    @property
    def forest(self) -> Forest:
        """The trees of the rounds that are kept."""
        return self.boosted.forest

    @property
    def n_rounds(self) -> int:
        """Number of rounds that are kept; a round has a tree for every score of every run."""
        return self.forest.n_trees // (self.control.n_outputs * self.control.n_runs)

    @property
    def ordered(self) -> bool:
        """Whether the loss is the ordinal one, so that the predicted class is the median."""
        return self.loss.ordered

    @property
    def loss(self) -> Loss:
        """The loss that boosting minimises."""
        return self.control.plan.loss

    def scores(
        self,
        X: Matrix,
        offset: NDArray[np.float64],
        advance: Callable[[int], object] = lambda n: None,
    ) -> NDArray[np.float64]:
        """Return the scores (K, m) of the rows of X (p, m) with offsets (m,); see `added_up`."""
        jobs = self.control.n_jobs
        return added_up(self.forest, X, self.boosted.starts, jobs, advance) + offset


def grow_boosted_fit(
    call: str,
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: ResolvedBoostingOptions,
    progress: bool,
    held: NDArray[np.bool_] | None = None,
) -> BoostedFit:
    """Return boosted trees, grown on all rows or on those that are not validation rows.

    By default `control` says how many rows are `held` out, else that is True of them (n,).
    """
    if held is not None:
        _require_both_sides(data, held, "validation")
        _require_classes_grown_on(design, data, held)
    elif isinstance(control.validation, float):
        held = _held_out(design, data, control.validation, control.seed)
    else:
        held = np.zeros(len(data.y), dtype=bool)
    boosted = _boosted(design, data, offset, control, held, None, progress)
    return BoostedFit(call, design, data, offset, control, boosted, held)


def enlarged_boosted_fit(fit: BoostedFit, k: int, n_jobs: int, progress: bool) -> BoostedFit:
    """Return the fit with `k` more rounds; `InputError` if ``validation=`` chose their number."""
    if fit.control.validation is not None:
        raise InputError(
            f"grow() cannot add rounds: validation={fit.control.validation!r} has chosen the "
            "number of rounds; fit with validation=None, or with a larger n_trees="
        )
    control = fit.control.with_rounds(fit.control.n_trees + k)
    threaded = replace(control, n_jobs=n_jobs)
    boosted = _boosted(fit.design, fit.data, fit.offset, threaded, fit.held, fit.boosted, progress)
    return replace(fit, call=f"{fit.call}.grow({k})", control=control, boosted=boosted)


def _boosted(
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: ResolvedBoostingOptions,
    held: NDArray[np.bool_],
    before: Boosted | None,
    progress: bool,
) -> Boosted:
    done = 0 if before is None else len(before.training) - 1
    unit, plan = _penalty_unit(data), control.plan
    loss, y = loss_and_responses(plan.loss, data)
    settings = plan.settings._replace(min_weight=plan.settings.min_weight * unit)
    with progress_bar(total=control.n_trees, initial=done, unit="round", progress=progress) as bar:
        return boost(
            _sample(data, y, offset, ~held),
            _sample(data, y, offset, held) if held.any() else None,
            design.feature_groups,
            plan._replace(loss=loss, l2=plan.l2 * unit, settings=settings),
            control.seed,
            control.n_jobs,
            bar.update,
            before,
        )


def _penalty_unit(data: TrainingData) -> float:
    """Return what penalty and `min_hessian` are multiplied by, beside sums of weights of `data`.

    Weights count rows: 2 is the row twice.  Those with a mean below 1 cannot, and count as if it
    was 1.
    """
    mean = float(data.weights[data.weights > 0].mean())
    return 1.0 / data.weight_unit if mean * data.weight_unit > ALMOST_ONE else mean


def loss_and_responses(loss: Loss, data: TrainingData) -> tuple[Loss, NDArray[np.float64]]:
    """Return the loss and the responses (n,) of the training rows, in the form that the loss needs.

    A loss of survival times holds the times of all rows; responses are then numbers of rows.
    """
    times = data.times
    if times is None or not isinstance(loss, SurvivalLoss):
        return loss, data.y
    knowing = loss.knowing(times.time, times.event > 0, times.start)
    return knowing, np.arange(data.n_rows, dtype=np.float64)


def _sample(
    data: TrainingData, y: NDArray[np.float64], offset: Offset, which: NDArray[np.bool_]
) -> Sample:
    """Return the rows `which` with responses y (n,), without a copy if these are all."""
    if which.all():
        return Sample(data.X, y, data.weights, offset.values, data.codes)
    X, codes = with_rows(data.X, which), data.codes
    return Sample(
        X,
        y[which],
        data.weights[which],
        offset.values[which],
        None if codes is None else codes.keeping(which),
    )


def _held_out(design: Design, data: TrainingData, share: float, seed: int) -> NDArray[np.bool_]:
    """Hold out a `share` of the rows of positive weight: the same of those with an event."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0, 0)))
    rows = rows_to_divide(design, data)
    held = held_out_share(rows, share, rng)
    _require_both_sides(data, held, f"validation={share}")
    return held


def _require_both_sides(data: TrainingData, held: NDArray[np.bool_], said: str) -> None:
    """Raise `InputError` if all rows or none are `held` out (n,), or none with an event.

    `said`: how the option is called, with its value if that is a share.
    """
    weighted = data.weights > 0
    out = int((held & weighted).sum())
    if not 0 < out < weighted.sum():
        raise InputError(
            f"{said} holds out {out} of {weighted.sum()} rows: leave rows on both "
            "sides, or use None"
        )
    if data.times is not None and not data.times.keeping(np.flatnonzero(held)).n_events:
        raise InputError(
            f"{said} holds out no row with an event, and such rows cannot choose the "
            "number of rounds: hold out more rows, or use None"
        )


def _require_classes_grown_on(design: Design, data: TrainingData, held: NDArray[np.bool_]) -> None:
    """Raise `InputError` if all rows of a class are `held` out (n,)."""
    classes = design.response.classes
    if classes is not None:
        codes = data.y.astype(np.int64)
        absent = np.setdiff1d(codes[data.weights > 0], codes[~held & (data.weights > 0)])
        if len(absent):
            raise InputError(
                f"validation holds out all rows of class {classes[absent[0]]!r}: trees are grown "
                "on the others, which need rows of each class"
            )


@dataclass(frozen=True)
class GuidedFit(AnyFit):
    """A fit of a guided forest, from which results are computed; `streams` (B, 4).

    `reader`: the trees that read missing cells, see `odrf.fits.missing`.
    """

    votes: ClassVar[bool] = True

    frame: pd.DataFrame
    control: ResolvedGuidedOptions
    guided: GuidedForest
    streams: NDArray[np.uint64]
    further_seeds: tuple[int, ...] = ()
    reader: Forest | None = None

    @property
    def forest(self) -> Forest:
        """The trees with a copy of its plane for each region."""
        return self.guided.unshared if self.reader is None else self.reader


def grow_guided_fit(
    call: str,
    design: Design,
    data: TrainingData,
    frame: pd.DataFrame,
    control: ResolvedGuidedOptions,
    progress: bool,
) -> GuidedFit:
    """Grow a guided forest; `frame` holds the training rows as the user gave them."""
    tree_streams = streams(control.seed, 0, control.n_trees)
    guided = grow_guided_trees(design, data, control, tree_streams, control.n_jobs, progress)
    return GuidedFit(call, design, data, frame, control, guided, tree_streams)


def grow_guided_trees(
    design: Design,
    data: TrainingData,
    control: ResolvedGuidedOptions,
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    progress: bool,
) -> GuidedForest:
    """Grow a guided tree for each of the streams (B, 4)."""
    with progress_bar(total=len(tree_streams), unit="tree", progress=progress) as bar:
        return grow_guided(
            data.X,
            data.y,
            data.weights,
            design.feature_groups,
            control.settings,
            tree_streams,
            n_jobs,
            bar.update,
            device_if_there(control.device),
        )


@dataclass(frozen=True, eq=False)
class RawRows:
    """Rows whose variables can be given other values; see `odrf.design.new_rows.with_values`.

    `X` (p, n), `weights` (n,), `complete` (N,), `offset` (n,).
    """

    frame: pd.DataFrame
    X: Matrix
    weights: NDArray[np.float64]
    training: bool
    complete: NDArray[np.bool_]
    offset: NDArray[np.float64]


def raw_rows(fit: AnyFit, newdata: pd.DataFrame | None = None) -> RawRows:
    """Return the training rows, or those of `newdata` that can be predicted, one at least."""
    rows = rows_of_scores(fit, newdata)
    return replace(rows, offset=offsets_of(fit, newdata, rows.complete))


def rows_of_scores(fit: AnyFit, newdata: pd.DataFrame | None = None) -> RawRows:
    """Return rows as `raw_rows` does, with offsets of 0: the part of scores by the trees."""
    design = fit.design
    if newdata is None:
        data = fit.data
        every = np.ones(data.n_rows, dtype=np.bool_)
        frame, none = training_frame(design, data), np.zeros(data.n_rows)
        return RawRows(frame, data.X, data.weights, True, every, none)
    X, complete = design.matrix(newdata)
    if not complete.any():
        raise InputError("newdata has no row that can be predicted: give at least one complete row")
    frame = design.schema.select(newdata)[complete]
    return RawRows(frame, X, np.ones(len(frame)), False, complete, np.zeros(len(frame)))


def offsets_of(
    fit: AnyFit, newdata: pd.DataFrame | None, complete: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the offsets of the training rows, or of the `complete` rows of `newdata`."""
    if not isinstance(fit, BoostedFit):
        return np.zeros(int(complete.sum()))
    return fit.offset.values if newdata is None else fit.offset.of(newdata, None, complete)


@dataclass(frozen=True)
class RowSums:
    """Sums of one pass over all rows, most of them of out-of-bag predictions.

    `confusion` (K, K), `importance` (P,).  `error_path` (B,): over the rows that have an out-of-bag
    prediction by them.  `log_loss`, `brier`: 0 counts as 2⁻⁵² in the log loss.  `column_means`
    (p,): of a missing cell of a new row, if no training row has one in the column.
    """

    error_path: NDArray[np.float64]
    n_evaluated: int
    variance: float
    log_loss: float
    brier: float
    confusion: NDArray[np.float64] | None
    column_means: NDArray[np.float64]
    importance: NDArray[np.float64]


@dataclass(frozen=True)
class StreamedFit(Fit):
    """A fit of a forest on rows in chunks, which keeps none of them.

    `streams` are those of growth; rows are sampled by `odrf.engine.chunks`.  `sums` is None before
    the rows have been evaluated.
    """

    no_rows: ClassVar[str] = STREAMED

    sums: RowSums | None = None

    @property
    def fills(self) -> NDArray[np.float64] | None:
        """The means (p,) of columns, imputed for missing cells of new rows; None if not known."""
        return None if self.sums is None else self.sums.column_means


Trees = TypeVar("Trees", Fit, BoostedFit)


def without_rows(fit: Trees) -> Trees:
    """Return the fit without its training rows, and without those of the fit before pruning."""
    training = fit.training if fit.rows is None else fit.rows.counts
    if isinstance(fit, BoostedFit):
        return replace(fit, training=training, offset=replace(fit.offset, values=np.empty(0)))
    if fit.pruning is None:
        return replace(fit, training=training)
    grown = without_rows(fit.pruning.grown)
    return replace(fit, training=training, pruning=replace(fit.pruning, grown=grown))
