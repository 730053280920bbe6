"""The state of boosting: all runs side by side, advanced round by round, a tree for each output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.leaf_values import BoostingParams, NewTrees, Refitting
from odrf.engine.boosting.losses import Derivatives
from odrf.engine.boosting.runs import (
    Run,
    RunRows,
    Sample,
    draw_predictors,
    mean_of_other_runs,
    narrowed_feature_groups,
    run_rows,
    started,
    widened,
)
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import FeatureGroups, columns_of
from odrf.engine.factors import Factors, layout_of, narrowed, stored
from odrf.engine.growth.forest_builder import TOGETHER, builder_of, strategy
from odrf.engine.growth.tree_batches import TreeBatch, TreeTargets
from odrf.engine.growth.tree_builder import (
    Resample,
    Targets,
    TreeBuilder,
    read_by_growth,
)
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.memory import is_available
from odrf.engine.numeric import streams
from odrf.engine.resamples import ALL_ROWS, RowCodes, Sampling, draw_counts
from odrf.engine.running import in_order
from odrf.engine.trees.concatenate import require_memory_for_all
from odrf.engine.trees.forest import Forest, concatenated
from odrf.engine.trees.routing import leaves_reached

# ------------------------------------------------------------------------------------------------
# The result of boosting.
# ------------------------------------------------------------------------------------------------


class Boosted(NamedTuple):
    """The result of boosting.

    `starts` (M, K): scores of each run before its first round.  `forest`: the trees of the rounds
    that are kept: round by round, within a round run by run, within a run output by output.  The
    value of a leaf is added to the score of its run; inner nodes have 0.  `stages`: if leaves were
    refitted, the values (m,) of the nodes of all trees so far after each kept round; else empty.
    `drawn`: the rows and predictors that each run drew.  `training` (R + 1,): mean loss of the
    training rows before the first round and after each round, including rounds that are not kept.
    `held_out` (R + 1,): the same for the rows held out or, with several runs, out of bag; empty
    without such rows.
    """

    starts: Array
    forest: Forest
    stages: tuple[Array, ...]
    drawn: tuple[RunRows, ...]
    training: Array
    held_out: Array


# ------------------------------------------------------------------------------------------------
# What trees on the same predictors share: their columns, and a pool of scratch.
# ------------------------------------------------------------------------------------------------


class SharedColumns(NamedTuple):
    """What trees on q of the predictors share.

    `builder`: grows trees on these predictors.  `columns` (p,): their columns; None if they are all
    predictors.  `growers`: those that no thread uses.
    """

    builder: TreeBuilder
    columns: NDArray[np.int64] | None
    growers: list[TreeBatch]

    def take_grower(self) -> TreeBatch:
        """Return what grows several trees in one thread; another one for each thread."""
        try:
            return self.growers.pop()
        except IndexError:
            return TreeBatch(self.builder)

    def give_back(self, grower: TreeBatch) -> None:
        """Take back what no thread uses any more; one that has failed is not given back."""
        self.growers.append(grower)


def shared_columns(
    X: NDArray[np.float32],
    factors: Factors,
    feature_groups: FeatureGroups,
    predictors: NDArray[np.int64],
    plan: BoostingParams,
) -> SharedColumns:
    """Return what trees on these predictors (q,), in ascending order, share.

    X and `factors` are as `odrf.engine.growth.tree_builder.read_by_growth` returns them.
    """
    columns = None
    if len(predictors) < len(feature_groups.types):
        columns = columns_of(feature_groups, predictors)
        X, factors = narrowed(X, factors, columns)
        feature_groups = narrowed_feature_groups(feature_groups, predictors)
    builder = builder_of(X, factors, feature_groups, plan.settings, plan.mixture)
    return SharedColumns(builder, columns, [])


# ------------------------------------------------------------------------------------------------
# Grow trees of a boosting run on the derivatives of its loss.
# ------------------------------------------------------------------------------------------------


class TreesOfRound(NamedTuple):
    """Trees for outputs that follow each other, and the rows that they were grown on.

    `trees`: T of them.  `leaf` (T, n): the number, within its tree, of each row's leaf, if all rows
    were drawn.
    """

    trees: Forest
    drawn: slice | NDArray[np.int64]
    leaf: NDArray[np.int32] | None


def grown_in_batches(
    shared: SharedColumns,
    run: Run,
    derivatives: Derivatives,
    outputs: slice,
    states: NDArray[np.uint64],
) -> TreesOfRound:
    """Grow trees for these outputs in one thread; for a run whose trees `shared` grows together.

    `states` (T, 4) are their random streams, which are not modified.  The trees are those of
    `grown_on`, without the values of their nodes.
    """
    weights = run.rows.weights
    leaf = np.empty((len(states), len(weights)), dtype=np.int32)
    targets = TreeTargets(derivatives.first[outputs], derivatives.second[outputs], weights, states)
    grower = shared.take_grower()
    trees = grower(targets, leaf)
    shared.give_back(grower)
    trees = trees if shared.columns is None else widened(trees, shared.columns)
    return TreesOfRound(trees, slice(None), leaf)


def grown_on(
    shared: SharedColumns,
    run: Run,
    derivatives: Derivatives,
    k: int,
    plan: BoostingParams,
    state: NDArray[np.uint64],
    n_jobs: int,
) -> TreesOfRound:
    """Grow a tree for the k-th output; a large one grows in `n_jobs` threads.

    The response is -g/h with weights h, g and h being the derivatives of the loss.  `state` (4,) is
    its random stream, advanced.
    """
    weights = run.rows.weights * derivatives.second[k]
    # growth repeats this draw from the same state
    codes = None if run.rows.codes is None else run.rows.codes.timeless
    drawn = _drawn(state.copy(), weights, plan.sampling, codes)
    leaf = np.empty(len(weights), dtype=np.int32) if isinstance(drawn, slice) else None
    targets = Targets(-derivatives.first[k] / derivatives.second[k], weights)
    tree = shared.builder.tree(targets, Resample(plan.sampling, codes), state, n_jobs, leaf)
    tree = tree if shared.columns is None else widened(tree, shared.columns)
    return TreesOfRound(tree, drawn, None if leaf is None else leaf[None, :])


def _drawn(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None,
) -> slice | NDArray[np.int64]:
    """Return which rows a tree with this stream draws."""
    if sampling.resample != ALL_ROWS:
        return np.flatnonzero(draw_counts(state, weights, sampling, codes))
    return slice(None) if weights.all() else np.flatnonzero(weights)


# ------------------------------------------------------------------------------------------------
# The state of boosting: all runs side by side, advanced round by round.
# ------------------------------------------------------------------------------------------------

Array = NDArray[np.float64]


class BoostingState:
    """Boosting runs, all at the same round; arguments as in `boost`."""

    def __init__(
        self,
        rows: Sample,
        held: Sample | None,
        feature_groups: FeatureGroups,
        plan: BoostingParams,
        seed: int,
    ) -> None:
        P = len(feature_groups.types)
        self.rows, self.held, self.feature_groups, self.plan, self.seed = (
            rows,
            held,
            feature_groups,
            plan,
            seed,
        )
        array = stored(rows.X)
        self.size = array.size
        self.held_X = array.T[:0] if held is None else np.array(stored(held.X).T, order="C")
        self.layout = layout_of(rows.X)
        self.read_by_growth = read_by_growth(rows.X, feature_groups, plan.mixture)
        self.drawn = run_rows(seed, plan.n_runs, rows.weights, P, plan.run_predictors, rows.codes)
        self.missed = np.array([drawn.missed for drawn in self.drawn])
        self.runs = [started(rows, held, drawn, plan.loss, plan.n_outputs) for drawn in self.drawn]
        self.columns = [self._columns_of_all_trees(run.predictors) for run in self.runs]
        self.together = [self._grows_together(m) for m in range(plan.n_runs)]
        self.fillings = [plan.filling(run) for run in self.runs]
        # the trees of each round, in their order
        self.rounds: list[list[Forest]] = []
        self.stages: list[Array] = []

    @cached_property
    def by_row(self) -> NDArray[np.float32]:
        """The training rows, row by row, as `leaves_reached` takes them."""
        return np.array(stored(self.rows.X).T, order="C")

    @property
    def n_rounds(self) -> int:
        """Number of rounds so far."""
        return len(self.rounds)

    def boosted(self, kept: int, training: Array, held_out: Array) -> Boosted:
        """Return the fit of the first `kept` rounds, with the losses of all rounds."""
        starts = np.array([run.start for run in self.runs])
        parts = list(chain.from_iterable(self.rounds[:kept]))
        forest, stages = concatenated(parts), tuple(self.stages[:kept])
        if stages:
            forest = replace(forest, value=stages[-1][:, None])
        return Boosted(starts, forest, stages, tuple(self.drawn), training, held_out)

    def advance(self, n_jobs: int) -> None:
        """Grow the next round of every run."""
        plan = self.plan
        M, K = plan.n_runs, plan.n_outputs
        done = self.n_rounds * M * K
        states = streams(self.seed, done, done + M * K)
        threads = max(1, n_jobs // (M * K))
        derivatives = [
            plan.loss.derivatives(run.rows.y, run.scores, run.rows.weights) for run in self.runs
        ]

        def grow(task: tuple[int, slice]) -> Forest:
            m, outputs = task
            k, shared, of_task = outputs.start, self.columns[m], states[m * K :][outputs]
            if shared is not None and self.together[m]:
                grown = grown_in_batches(shared, self.runs[m], derivatives[m], outputs, of_task)
            else:
                shared = shared or self._columns(
                    draw_predictors(of_task[0], self.runs[m].predictors, plan.tree_predictors)
                )
                run = self.runs[m], derivatives[m]
                grown = grown_on(shared, *run, k, plan, of_task[0], threads)
            value = self.fillings[m].fill(self._received(grown, k), derivatives[m])
            return replace(grown.trees, value=value[:, None])

        self.rounds.append(list(in_order(grow, self._tasks(n_jobs), n_jobs, self.size)))
        refitted = [filling.value for filling in self.fillings if isinstance(filling, Refitting)]
        if refitted:
            self.stages.append(self._interleaved(refitted))
        if plan.patience is None and self.n_rounds.bit_count() == 1:  # 1, 2, 4, 8, … rounds
            size = sum(part.nbytes for part in chain.from_iterable(self.rounds))
            require_memory_for_all(size, self.n_rounds * M * K, plan.n_rounds * M * K)

    def _tasks(self, n_jobs: int) -> list[tuple[int, slice]]:
        """Return the runs and outputs that are grown one after the other, in their order.

        Outputs that grow together are divided between the threads.
        """
        M, K = self.plan.n_runs, self.plan.n_outputs
        share = -(-M * K // n_jobs)
        return [
            (m, slice(k, min(K, k + step)))
            for m in range(M)
            for step in [min(K, share) if self.together[m] else 1]
            for k in range(0, K, step)
        ]

    def resume(self, before: Boosted) -> None:
        """Continue from a fit by the same arguments with fewer rounds."""
        M, K = self.plan.n_runs, self.plan.n_outputs
        trees = [before.forest.tree(b) for b in range(before.forest.n_trees)]
        self.rounds = [trees[b : b + M * K] for b in range(0, len(trees), M * K)]
        for m, filling in enumerate(self.fillings):
            of_run = [(b % K, tree) for b, tree in enumerate(trees) if b // K % M == m]
            grown = [(k, TreesOfRound(tree, slice(None), None)) for k, tree in of_run]
            received = [self._received(tree, k) for k, tree in grown]
            values = [tree.value[:, 0] for _, tree in of_run]
            filling.resume(list(zip(received, values, strict=True)))
        self.stages = list(before.stages)

    def training_loss(self) -> float:
        """Return the mean loss of the training rows."""
        return self._mean_loss(self.rows, _mean([run.scores for run in self.runs]))

    def held_out_losses(self) -> list[float]:
        """Return the mean loss of the rows held out or, with several runs, the out-of-bag loss.

        A list of one number; empty if rows are not held out and there is one run.
        """
        if self.held is not None:
            return [self._mean_loss(self.held, _mean([run.held for run in self.runs]))]
        return [self._mean_loss(*self._out_of_bag())] if len(self.runs) > 1 else []

    def _out_of_bag(self) -> tuple[Sample, Array]:
        """Return the rows that at least one run did not draw, and the mean scores by such runs."""
        X, y, weights, offset, _ = self.rows
        scores = mean_of_other_runs([run.scores for run in self.runs], self.missed)
        known = ~np.isnan(scores[0]) & (weights > 0)
        rows = Sample(X, y[known], weights[known], offset[known])
        return rows, scores[:, known]

    def _mean_loss(self, rows: Sample, scores: Array) -> float:
        """Return the weighted mean loss."""
        if not len(rows.y):
            return np.nan
        losses = self.plan.loss.losses(rows.y, scores, rows.weights)
        return float((losses * rows.weights).sum() / rows.weights.sum())

    def _received(self, grown: TreesOfRound, k: int) -> NewTrees:
        """Return trees for outputs from k on, with the leaves of training and held-out rows."""
        trees, drawn, leaf = grown
        leaf = self._reached(trees, self.by_row) if leaf is None else leaf
        return NewTrees(trees.root, k, leaf, self._reached(trees, self.held_X), drawn)

    def _reached(self, trees: Forest, X: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the leaf (T, n), within its tree, that each row of X (n, r) reaches."""
        T = trees.n_trees
        if not len(X):
            return np.empty((T, 0), dtype=np.int32)
        each = [trees] if T == 1 else [trees.tree(t) for t in range(T)]
        return np.array([leaves_reached(tree, X, self.layout) for tree in each])

    def _grows_together(self, m: int) -> bool:
        """Whether the trees of run m are grown in one call, those of all its outputs."""
        shared, run = self.columns[m], self.runs[m]
        resample = Resample(self.plan.sampling)
        return (
            shared is not None and strategy(shared.builder, run.rows.weights, resample) == TOGETHER
        )

    def _columns(self, predictors: NDArray[np.int64]) -> SharedColumns:
        return shared_columns(*self.read_by_growth, self.feature_groups, predictors, self.plan)

    def _columns_of_all_trees(self, predictors: NDArray[np.int64]) -> SharedColumns | None:
        """Return what all trees of a run on these predictors share.

        None if each tree draws some of them, or memory does not suffice for columns of each run.
        """
        copies = len(predictors) < len(self.feature_groups.types)
        room = float(copies * self.plan.n_runs * 4 * self.size)
        if self.plan.tree_predictors < len(predictors) or not is_available(room):
            return None
        return self._columns(predictors)

    def _interleaved(self, values: Sequence[Array]) -> Array:
        """Return the values of all trees in their order, from the values of each run."""
        of_rounds = chain.from_iterable(self.rounds)
        M, sizes = self.plan.n_runs, [tree.n_nodes for tree in of_rounds]
        parts: list[Array] = [np.empty(0)] * len(sizes)
        for m, of_run in enumerate(values):
            parts[m::M] = np.split(of_run, np.cumsum(sizes[m::M])[:-1])
        return np.concatenate(parts)


def _mean(scores: Sequence[Array]) -> Array:
    return reduce(np.add, scores) / len(scores)


# ------------------------------------------------------------------------------------------------
# Boosting: in each round a tree for each output, grown on the derivatives of the loss.
# ------------------------------------------------------------------------------------------------


def boost(
    rows: Sample,
    held: Sample | None,
    feature_groups: FeatureGroups,
    plan: BoostingParams,
    seed: int,
    n_jobs: int,
    advance: Callable[[], Any],
    before: Boosted | None = None,
) -> Boosted:
    """Boost on the `rows`.

    With a patience, the rounds up to the smallest held-out or out-of-bag loss are kept, at least
    one.

    `rows`: training rows.
    `held`: rows held out, whose loss decides how many rounds are kept.  None if there are none:
      then the out-of-bag rows of several runs decide.
    `feature_groups`: which columns make up each predictor.
    `plan`: options.
    `seed`: seed of the random streams; tree b uses stream b.
    `n_jobs`: threads; the result is the same for any number.
    `advance`: called after each round.
    `before`: a fit by the same arguments with fewer rounds, all of them kept: boosting continues
      from it.
    """
    course = BoostingState(rows, held, feature_groups, plan, seed)
    if before is None:
        training, held_out = [course.training_loss()], course.held_out_losses()
    else:
        course.resume(before)
        training, held_out = before.training.tolist(), before.held_out.tolist()
    with compiled_at_ease(grow_tree):
        while course.n_rounds < plan.n_rounds and not _patience_is_over(held_out, plan.patience):
            course.advance(n_jobs)
            advance()
            training.append(course.training_loss())
            held_out += course.held_out_losses()
    kept = course.n_rounds if plan.patience is None else max(1, int(np.argmin(held_out)))
    return course.boosted(kept, np.array(training), np.array(held_out))


def _patience_is_over(held_out: list[float], patience: int | None) -> bool:
    """Whether `patience` rounds have passed since the one with the smallest loss."""
    return patience is not None and len(held_out) - 1 - int(np.argmin(held_out)) >= patience
