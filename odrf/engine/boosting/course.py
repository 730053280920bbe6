"""The course of boosting: all runs side by side, round after round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.filling import NewTree, Refitting
from odrf.engine.boosting.plan import Boosted, Plan
from odrf.engine.boosting.reaching import leaves_reached
from odrf.engine.boosting.runs import Sample, mean_of_other_runs, run_rows, started
from odrf.engine.boosting.tree_of_round import grown_on
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.parallel import in_order
from odrf.engine.randomness import streams
from odrf.engine.trees.forest_arrays import Forest, joined

__all__ = ["Course"]

Array = NDArray[np.float64]


class Course:
    """Runs on their way, all at the same round; arguments as `boost` takes them."""

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
        # row by row, as trees route them
        self.X = np.array(rows.X.T, order="C")
        self.held_X = self.X[:0] if held is None else np.array(held.X.T, order="C")
        self.drawn = run_rows(seed, plan.n_runs, rows.weights, P, plan.run_predictors)
        self.missed = np.array([own.counts == 0 for own in self.drawn])
        self.runs = [started(rows, held, own, plan.loss, plan.n_outputs) for own in self.drawn]
        self.fillings = [plan.filling(run) for run in self.runs]
        self.trees: list[Forest] = []
        self.stages: list[Array] = []

    @property
    def n_rounds(self) -> int:
        """Rounds so far."""
        return len(self.trees) // (self.plan.n_runs * self.plan.n_outputs)

    def boosted(self, kept: int, training: Array, held_out: Array) -> Boosted:
        """Return what the first rounds gave, so many are `kept`, with the paths of the loss."""
        starts = np.array([run.start for run in self.runs])
        n_trees = kept * starts.size
        forest, stages = joined(self.trees[:n_trees], n_trees), tuple(self.stages[:kept])
        if stages:
            forest = replace(forest, value=stages[-1][:, None])
        return Boosted(starts, forest, stages, tuple(self.drawn), training, held_out)

    def advance(self, n_jobs: int) -> None:
        """Grow the next round of every run."""
        plan, feature_groups = self.plan, self.feature_groups
        M, K, done = plan.n_runs, plan.n_outputs, len(self.trees)
        own = streams(self.seed, done, done + M * K)
        slopes = [plan.loss.slopes(run.rows.y, run.scores, run.rows.weights) for run in self.runs]

        def grow(task: int) -> tuple[Forest, Array]:
            m, k = divmod(task, K)
            tree, drawn = grown_on(self.runs[m], slopes[m], k, feature_groups, plan, own[task])
            new = self._received(tree, k, drawn)
            return tree, self.fillings[m].fill(new, slopes[m])

        for tree, value in in_order(grow, range(M * K), n_jobs):
            self.trees.append(replace(tree, value=value[:, None]))
        refitted = [own.value for own in self.fillings if isinstance(own, Refitting)]
        if refitted:
            self.stages.append(self._interleaved(refitted))

    def resume(self, before: Boosted) -> None:
        """Take in all rounds of a smaller fit of the same arguments."""
        M, K = self.plan.n_runs, self.plan.n_outputs
        self.trees = [before.forest.tree(b) for b in range(before.forest.n_trees)]
        for m, filling in enumerate(self.fillings):
            own = [(b % K, tree) for b, tree in enumerate(self.trees) if b // K % M == m]
            received = [self._received(tree, k, slice(None)) for k, tree in own]
            values = [tree.value[:, 0] for _, tree in own]
            filling.resume(list(zip(received, values, strict=True)))
        self.stages = list(before.stages)

    def training_loss(self) -> float:
        """Return the mean loss of the rows."""
        return self._mean_loss(self.rows, _mean([run.scores for run in self.runs]))

    def held_out_losses(self) -> list[float]:
        """Return the mean loss of the rows held out, or else of those out of several runs' bags.

        One number, or none where there are no such rows.
        """
        if self.held is not None:
            return [self._mean_loss(self.held, _mean([run.held for run in self.runs]))]
        return [self._mean_loss(*self._out_of_bag())] if len(self.runs) > 1 else []

    def _out_of_bag(self) -> tuple[Sample, Array]:
        """Return the rows that some run did not draw, and the mean scores of those runs."""
        X, y, weights, offset = self.rows
        scores = mean_of_other_runs([run.scores for run in self.runs], self.missed)
        judged = ~np.isnan(scores[0]) & (weights > 0)
        rows = Sample(X, y[judged], weights[judged], offset[judged])
        return rows, scores[:, judged]

    def _mean_loss(self, rows: Sample, scores: Array) -> float:
        """Return the weighted mean loss."""
        if not len(rows.y):
            return np.nan
        losses = self.plan.loss.losses(rows.y, scores, rows.weights)
        return float(np.average(losses, weights=rows.weights))

    def _received(self, tree: Forest, k: int, drawn: slice | NDArray[np.int64]) -> NewTree:
        """Return where a tree sends the rows."""
        leaf, held = (leaves_reached(tree, X) for X in (self.X, self.held_X))
        return NewTree(tree.n_nodes, k, leaf, held, drawn)

    def _interleaved(self, values: Sequence[Array]) -> Array:
        """Return the values of all trees in their order, from those of each run's."""
        M, sizes = self.plan.n_runs, [tree.n_nodes for tree in self.trees]
        parts: list[Array] = [np.empty(0)] * len(sizes)
        for m, own in enumerate(values):
            parts[m::M] = np.split(own, np.cumsum(sizes[m::M])[:-1])
        return np.concatenate(parts)


def _mean(scores: Sequence[Array]) -> Array:
    return reduce(np.add, scores) / len(scores)
