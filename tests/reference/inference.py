"""Inference by the papers' formulas: one new row, one training row, one tree at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.sampling import BOOTSTRAP, Sampling
from odrf.engine.trees.forest_arrays import Forest
from reference.forests import leaf
from reference.randomness import Stream, draw_counts, filling_counts


def draws(weights: NDArray, samplings: list[Sampling], streams: NDArray) -> NDArray[np.int64]:
    """How often each tree drew each row, (B, n)."""
    pairs = zip(streams, samplings, strict=True)
    return np.array([draw_counts(Stream(state), weights, sampling) for state, sampling in pairs])


def fillings(weights: NDArray, samplings: list[Sampling], streams: NDArray) -> NDArray[np.int64]:
    """How often each row fills each tree, (B, n)."""
    pairs = zip(streams, samplings, strict=True)
    return np.array([filling_counts(Stream(state), weights, sampling) for state, sampling in pairs])


def row_weights(
    forest: Forest, counts: NDArray, X: NDArray, weights: NDArray, x: NDArray, trees: list[int]
) -> list[Fraction]:
    """Meinshausen's weight of each training row for x by some of the trees, exactly.

    counts (B, n) are of those that fill the trees; a leaf without any has those of the nearest
    node above that has some.
    """
    total = [Fraction(0)] * X.shape[1]
    above = forest.parents()
    for b in trees:
        node = leaf(forest, b, x)
        ways = [_way(above, leaf(forest, b, row)) for row in X.T]
        mass: list[Fraction] = []
        while not any(mass):
            mass = [
                Fraction(float(weights[i])) * int(counts[b, i]) if node in ways[i] else Fraction(0)
                for i in range(X.shape[1])
            ]
            node = int(above[node])
        for i, part in enumerate(mass):
            total[i] += part / sum(mass) / len(trees)
    return total


def _way(above: NDArray[np.int64], node: int) -> list[int]:
    """The nodes from this one up to the root."""
    return [node, *(_way(above, int(above[node])) if above[node] >= 0 else [])]


def quantile(y: NDArray, weights: list[Fraction], level: Fraction) -> float:
    """The least response up to which the weights add up to the level."""
    return min(
        at
        for at in y.tolist()
        if sum(w for w, v in zip(weights, y, strict=True) if v <= at) >= level
    )


def variance(
    forest: Forest, kinds: list[int], counts: NDArray, samplings: list[Sampling], streams: NDArray,
    x: NDArray, rows: list[slice],
) -> tuple[float, float]:  # fmt: skip
    """The infinitesimal jackknife for x, and what chance adds; counts (B, n) of weighted rows.

    `rows` are those that all trees drew in one go, then each batch of later ones; a row of batch k
    is drawn independently, with the expectation ``later[k].fraction``.
    """
    B = len(counts)
    tree = [float(forest.value[leaf(forest, b, x), 0]) for b in range(B)]
    means = {
        g: np.mean([t for t, kind in zip(tree, kinds, strict=True) if kind == g]) for g in kinds
    }
    raw, chance = 0.0, 0.0
    for k, stratum in enumerate(rows):
        drawn_here = counts[:, stratum]
        n = drawn_here.shape[1]
        size = (
            [n * each.later[k - 1].fraction for each in samplings]
            if k
            else drawn_here.sum(1).tolist()
        )
        scale = [
            1.0 if each.resample == BOOTSTRAP
            else math.sqrt(n * (n if k else n - 1) / (n - drawn) ** 2)
            for each, drawn in zip(samplings, size, strict=True)
        ]  # fmt: skip
        for i in range(n):
            of_row = 0.0
            for b in range(B):
                expected = size[b] / n
                of_row += scale[b] * (drawn_here[b, i] - expected) * (tree[b] - means[kinds[b]]) / B
            raw += of_row**2
        for b in range(B):
            for c in range(B):
                if (streams[b] != streams[c]).any():
                    continue
                covariance = _covariance(
                    drawn_here[[b, c]], [size[b], size[c]], samplings[b], k > 0
                )
                deviations = (tree[b] - means[kinds[b]]) * (tree[c] - means[kinds[c]])
                chance += scale[b] * scale[c] * covariance * deviations / B**2
    return raw, chance


def _covariance(counts: NDArray, size: list[float], sampling: Sampling, alone: bool) -> float:
    """That of how often two trees of one stream draw a row, summed over the rows."""
    n = counts.shape[1]
    if sampling.resample == BOOTSTRAP:
        return min(size)
    if alone:  # both draw the row with the smaller of the probabilities
        return n * (min(size) / n - size[0] / n * size[1] / n)
    return float(np.sum((counts[0] - size[0] / n) * (counts[1] - size[1] / n)))


def conformal(
    forest: Forest, counts: NDArray, X: NDArray, y: NDArray, weights: NDArray, x: NDArray,
    level: Fraction,
) -> tuple[float, float]:  # fmt: skip
    """The jackknife+ after bootstrap for x; one row more, of mean weight, is infinite."""
    ends: list[tuple[float, float, Fraction]] = []
    for i in range(X.shape[1]):
        voters = np.flatnonzero(counts[:, i] == 0)
        if len(voters) == 0 or weights[i] == 0:
            continue
        at_row = np.mean([forest.value[leaf(forest, b, X[:, i]), 0] for b in voters])
        at_new = np.mean([forest.value[leaf(forest, b, x), 0] for b in voters])
        residual = abs(y[i] - at_row)
        ends.append((at_new - residual, at_new + residual, Fraction(float(weights[i]))))
    given = sum((w for *_, w in ends), Fraction(0))
    wanted = level * given * Fraction(len(ends) + 1, max(len(ends), 1))
    uppers = [up for _, up, _ in ends if sum(w for _, v, w in ends if v <= up) >= wanted]
    lowers = [low for low, *_ in ends if sum(w for v, _, w in ends if v >= low) >= wanted]
    return max(lowers, default=-math.inf), min(uppers, default=math.inf)


def conformal_of_training_row(
    forest: Forest, counts: NDArray, X: NDArray, y: NDArray, weights: NDArray, i: int,
    level: Fraction,
) -> tuple[float, float]:  # fmt: skip
    """The same for training row i as if it were new: by trees that did not draw it, without it."""
    drew = counts[:, i] > 0
    if drew.all():
        return math.nan, math.nan
    without, others = np.array(weights), counts + drew[:, None]
    without[i] = 0.0
    return conformal(forest, others, X, y, without, X[:, i], level)
