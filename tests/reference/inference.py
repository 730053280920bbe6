"""Inference by the papers' formulas: one new row, one training row, one tree at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from odrf.engine.resamples import BOOTSTRAP, Sampling
from odrf.engine.trees.forest import Forest
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
) -> tuple[float, float, float]:  # fmt: skip
    """The jackknife after bootstrap for x, what chance adds, and the trees' own."""
    tree = [float(forest.value[leaf(forest, b, x), 0]) for b in range(len(counts))]
    return covariance(tree, tree, kinds, counts, samplings, streams, rows)


def covariance(
    first: Sequence[float], second: Sequence[float], kinds: list[int], counts: NDArray,
    samplings: list[Sampling], streams: NDArray, rows: list[slice],
) -> tuple[float, float, float]:  # fmt: skip
    """The jackknife after bootstrap for the means of two values of each tree; counts (B, n).

    `rows` are those that all trees drew in one go, then each batch of later ones; a row of batch k
    is drawn independently, with the expectation ``later[k].fraction``.
    """
    B = len(counts)
    off, other = _off(first, kinds), _off(second, kinds)
    raw, chance = 0.0, 0.0
    for k, stratum in enumerate(rows):
        drawn_here = counts[:, stratum]
        n = drawn_here.shape[1]
        missed = [_missed(samplings[b], int(drawn_here[b].sum()), n, k) for b in range(B)]
        factor = 1.0 if k else (n - 1) / n
        for i in range(n):
            share = [((drawn_here[b, i] == 0) - missed[b]) / missed[b] / B for b in range(B)]
            without, without_other = (
                sum(one * part for one, part in zip(each, share, strict=True))
                for each in (off, other)
            )
            raw += factor * without * without_other
        for b in range(B):
            for c in range(B):
                if (streams[b] == streams[c]).all():
                    both = min(missed[b], missed[c])
                    shared = n * (both - missed[b] * missed[c])
                    chance += factor * shared * off[b] * other[c] / (missed[b] * missed[c] * B**2)
    own = sum(one * two for one, two in zip(off, other, strict=True)) / B**2
    return raw, chance, own


def _off(values: Sequence[float], kinds: list[int]) -> list[float]:
    """How far the value of each tree is from the mean of those of its kind."""
    pairs = list(zip(values, kinds, strict=True))
    means = {g: np.mean([value for value, kind in pairs if kind == g]) for g in set(kinds)}
    return [value - means[kind] for value, kind in pairs]


def _missed(sampling: Sampling, drawn: int, n: int, k: int) -> float:
    """The probability that a tree draws a row not at all; `drawn` of the n rows if k is 0."""
    if k:
        fraction = sampling.later[k - 1].fraction
        return math.exp(-fraction) if sampling.resample == BOOTSTRAP else 1 - fraction
    return (1 - 1 / n) ** drawn if sampling.resample == BOOTSTRAP else 1 - drawn / n


def mean_above_zero(estimate: float, error: float) -> float:
    """The mean of a normal variable, cut off below 0, by adding up its density."""
    most = max(estimate, 0.0) + 12 * error
    at = (np.arange(200_000) + 0.5) * most / 200_000
    density = np.exp(-(((at - estimate) / error) ** 2 - min(estimate / error, 0.0) ** 2) / 2)
    return float(np.sum(at * density) / np.sum(density))


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
