"""The state of boosting: all runs side by side, advanced round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, reduce
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.fewer_predictors import draw_predictors
from odrf.engine.boosting.filling import NewTrees, Refitting
from odrf.engine.boosting.plan import Boosted, Plan
from odrf.engine.boosting.reaching import leaves_reached
from odrf.engine.boosting.runs import Sample, mean_of_other_runs, run_rows, started
from odrf.engine.boosting.shared_columns import SharedColumns, shared_columns
from odrf.engine.boosting.tree_of_round import TreesOfRound, grown_in_one_call, grown_on
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.growth.one_call import grows_with_others
from odrf.engine.growth.tree_growth import read_by_growth
from odrf.engine.joining.memory_of_trees import require_memory_for_all
from odrf.engine.memory import is_available
from odrf.engine.parallel import in_order
from odrf.engine.randomness import streams
from odrf.engine.rows.coded import layout_of, stored
from odrf.engine.trees.forest_arrays import Forest, concatenated

__all__ = ["Course"]

Array = NDArray[np.float64]


class Course:
    """Boosting runs, all at the same round; arguments as in `odrf.engine.boosting.rounds.boost`."""

    def __init__(
        self,
        rows: Sample,
        held: Sample | None,
        feature_groups: FeatureGroups,
        plan: Plan,
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
                grown = grown_in_one_call(shared, self.runs[m], derivatives[m], outputs, of_task)
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
        return shared is not None and grows_with_others(
            len(run.rows.y), run.rows.weights, self.plan.sampling, shared.pool
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
