"""Boosting: round after round, a tree for each output, grown on what is left to explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.boosting.leaves import LeafRows
from odrf.engine.boosting.losses import Loss, Slopes
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.forest import Forest, joined
from odrf.engine.growing import grow_tree
from odrf.engine.growth import grow_one, pays_to_copy
from odrf.engine.laws import Source
from odrf.engine.parallel import in_order
from odrf.engine.proposals import Blocks
from odrf.engine.randomness import streams
from odrf.engine.routing import leaf_nodes
from odrf.engine.sampling import ALL_ROWS, Sampling, draw_counts
from odrf.engine.settings import Settings

__all__ = ["Boosted", "Plan", "Sample", "boost"]

Array = NDArray[np.float64]


class Sample(NamedTuple):
    """Rows.

    Attributes
    ----------
    X : (p, n) float32
        Predictors, scaled.
    y : (n,) float64
        Response, or class codes.
    weights : (n,) float64
        Case weights.
    """

    X: NDArray[np.float32]
    y: Array
    weights: Array


class Plan(NamedTuple):
    """How to boost.

    Attributes
    ----------
    loss : Loss
    n_outputs : int
        K, trees of a round.
    n_rounds : int
        Rounds at most.
    rate : float
        By which the values of leaves are shrunken.
    l2 : float
        Penalty on the squares of leaf values.
    patience : int
        Rounds without a smaller loss of the held-out rows after which it ends.
    sampling : Sampling
        How each tree's rows are drawn; without replacement, or all.
    settings : Settings
        Of a tree: a regression's.
    source : Source
        Where candidate directions come from.
    """

    loss: Loss
    n_outputs: int
    n_rounds: int
    rate: float
    l2: float
    patience: int
    sampling: Sampling
    settings: Settings
    source: Source


class Boosted(NamedTuple):
    """What boosting gave.

    Attributes
    ----------
    start : (K,) float64
        Scores before the first round.
    forest : Forest
        The trees of the rounds that are kept; a leaf's value is what it adds, inner nodes have 0.
    training, held : (R + 1,) float64
        Mean loss of either rows before the first and after each round, those included that are
        not kept; `held` is empty without such rows.
    """

    start: Array
    forest: Forest
    training: Array
    held: Array


class _State(NamedTuple):
    """Rows and their scores (K, n), which the rounds move on."""

    rows: Sample
    scores: Array

    def mean_loss(self, loss: Loss) -> float:
        """Return the weighted mean loss."""
        _, y, weights = self.rows
        return float(np.average(loss.losses(y, self.scores, weights), weights=weights))


def boost(
    rows: Sample,
    held: Sample | None,
    blocks: Blocks,
    plan: Plan,
    seed: int,
    n_jobs: int,
    advance: Callable[[], object],
) -> Boosted:
    """Boost on the `rows`, and keep the rounds up to that of the smallest loss of `held`.

    Parameters
    ----------
    rows : Sample
    held : Sample or None
        Rows that decide how many rounds there are; without them all are kept.
    blocks : Blocks
        Which columns make up each predictor.
    plan : Plan
    seed : int
        Tree b has the b-th of its random streams.
    n_jobs : int
        Threads; the result is the same for any number.
    advance : callable
        Called after each round.
    """
    loss, K = plan.loss, plan.n_outputs
    start = loss.start(rows.y, rows.weights, K)
    states = [
        _State(own, np.repeat(start[:, None], len(own.y), axis=1))
        for own in (rows, held)
        if own is not None
    ]
    paths = [[state.mean_loss(loss)] for state in states]
    trees: list[Forest] = []
    with compiled_at_ease(grow_tree):
        for r in range(plan.n_rounds):
            of_round = streams(seed, r * K, (r + 1) * K)
            trees.append(_round(states[0], blocks, plan, of_round, n_jobs))
            if held is not None:
                leaves = leaf_nodes(trees[-1], held.X, n_jobs).T
                states[1].scores[:] += trees[-1].value[leaves, 0]
            for state, path in zip(states, paths, strict=True):
                path.append(state.mean_loss(loss))
            advance()
            if held is not None and len(trees) - int(np.argmin(paths[1])) >= plan.patience:
                break
    kept = len(trees) if held is None else max(1, int(np.argmin(paths[1])))
    forest = joined(iter(trees[:kept]), kept)
    return Boosted(start, forest, np.array(paths[0]), np.array(paths[1] if held else []))


def _round(
    state: _State, blocks: Blocks, plan: Plan, of_round: NDArray[np.uint64], n_jobs: int
) -> Forest:
    """Grow the round's trees, one for each output, fill their leaves and move the scores on."""
    X, y, weights = state.rows
    slopes = plan.loss.slopes(y, state.scores, weights)
    copied = pays_to_copy(len(X), plan.source.looked_at(blocks, plan.settings, len(y)))

    def grow(k: int) -> Forest:
        tree = grow_one(
            X,
            -slopes.first[k] / slopes.second[k],
            weights * slopes.second[k],
            blocks,
            plan.sampling,
            plan.settings,
            plan.source,
            of_round[k].copy(),
            copied,
        )
        return _filled(tree, k, state, slopes, plan, of_round[k].copy())

    K = len(of_round)
    return joined(in_order(grow, range(K), n_jobs), K)


def _filled(
    tree: Forest, k: int, state: _State, slopes: Slopes, plan: Plan, stream: NDArray[np.uint64]
) -> Forest:
    """Return the tree with what its leaves add to the k-th score of their rows, and add it."""
    (X, y, weights), scores = state
    drawn: slice | NDArray[np.int64] = slice(None)
    if plan.sampling.resample != ALL_ROWS:
        # the tree began its stream with the same draw
        drawn = np.flatnonzero(draw_counts(stream, weights * slopes.second[k], plan.sampling))
    elif not weights.all():
        drawn = np.flatnonzero(weights)
    leaf = leaf_nodes(tree, X, 1)[:, 0]
    found = LeafRows(
        leaf[drawn],
        tree.n_nodes,
        (y - scores[k])[drawn],
        slopes.first[k][drawn],
        slopes.second[k][drawn],
        weights[drawn],
    )
    value = plan.rate * plan.loss.leaf_values(found, plan.l2)
    scores[k] += value[leaf]
    return replace(tree, value=value[:, None])
