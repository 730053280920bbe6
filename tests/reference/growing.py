"""Algorithm 1 of Zhan, Liu and Xia, with a list of nodes per level as the paper writes it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import (
    FEW_LEVELS,
    INDICATORS,
    ROUND,
    TWO_LEVELS,
    FeatureGroups,
)
from odrf.engine.kernel_params import AIC, NO_PENALTY
from odrf.engine.resamples import Sampling
from odrf.engine.splits.impurity import ENTROPY, ORDINAL
from odrf.projections.regression import LDA, LEAST_SQUARES, LOGISTIC, LOGISTIC_ROWS
from problems import Recipe
from reference.class_shares import Principal, principal_component
from reference.directions import centred, lda, least_squares, level_means, logistic
from reference.impurity import cuts, gain, impurity
from reference.indicator_noise import beyond_chance
from reference.level_scores import reliability, score_levels
from reference.random_effects import random_effects
from reference.randomness import Stream, draw_counts, halved, largest_subset

# Projected values, all of order 1, that differ by less are equal but for rounding.
ROUNDING = 2e-6
NEGLIGIBLE = 1e-12
PERFECT = 1 - 1e-6


class Candidate(NamedTuple):
    """A direction (columns, θ) and the share of its covariance that is not noise.

    θ is None where the data do not determine it (the target is uncorrelated with every column):
    what a solver returns there is rounding, and any direction on those columns may follow.
    """

    columns: list[int]
    theta: NDArray | None
    reliability: float = 1.0


@dataclass
class Node:
    """A node and, once it has been searched, its candidate directions."""

    rows: NDArray[np.int64]
    y: NDArray
    w: NDArray
    counts: NDArray[np.int64]
    depth: int
    candidates: list[Candidate] | None = None
    left: int = -1
    order: int = 0


class Split(NamedTuple):
    score: float
    gain: float
    left: NDArray[np.bool_]


def score(node: Node, gain: float, columns: list[int], settings: Recipe) -> float:
    """The gain, or with a penalty N·log(I(A)/(I(A) - Δ)) - c·(coefficients and threshold)."""
    if settings.penalty == NO_PENALTY:
        return gain
    remaining = max(1 - gain / impurity(node.y, node.w, settings.criterion), NEGLIGIBLE)
    c = 2 if settings.penalty == AIC else math.log(node.counts.sum())
    return -node.counts.sum() * math.log(remaining) - c * (len(columns) + 1)


def splits(node: Node, X: NDArray, candidate: Candidate, settings: Recipe) -> Iterator[Split]:
    """All cuts along a candidate that gain anything."""
    columns, theta, reliability = candidate
    if theta is None:
        return
    least = NEGLIGIBLE * impurity(node.y, node.w, settings.criterion)
    values = theta @ X[columns][:, node.rows]
    for left in cuts(values, node.counts, settings.min_leaf, ROUNDING):
        if min(node.w[left].sum(), node.w[~left].sum()) < settings.min_weight:
            continue
        found = gain(node.y, node.w, left, settings.criterion)
        if found * reliability**2 > least:
            yield Split(score(node, found * reliability**2, columns, settings), found, left)


def best_split(node: Node, X: NDArray, settings: Recipe) -> Split | None:
    """The first best of all cuts along all candidates; None when nothing is gained."""
    best = None
    for candidate in node.candidates:
        for split in splits(node, X, candidate, settings):
            if split.score > (best.score if best else 0):
                best = split
    return best


def _draw_target(stream: Stream, y: NDArray, a: NDArray, settings: Recipe) -> NDArray | None:
    """The response on [0, 1], or the mark of a random side of the classes; None if constant."""
    present, n_classes = np.unique(y), settings.n_classes
    if settings.criterion == ORDINAL and n_classes > 2:
        reached = np.array([a[y <= k].sum() for k in range(n_classes - 1)]) / a.sum()
        adds = np.where(reached * (1 - reached) > 1e-12, reached * (1 - reached), 0.0)
        if not adds.any():
            return None
        last = np.searchsorted(np.cumsum(adds), stream.uniform() * adds.sum(), side="right")
        return (y <= last).astype(float)
    if len(present) < 2:
        return None
    if n_classes == 1:
        return (y - y.min()) / (y.max() - y.min())
    if len(present) == 2:
        return (y == present[1]).astype(float)
    if stream.uniform() < 0.5:
        weight = np.cumsum([a[y == k].sum() for k in present])
        one = np.searchsorted(weight, stream.uniform() * weight[-1], side="right")
        return (y == present[one]).astype(float)
    chosen = np.zeros(len(present), dtype=bool)
    while chosen.all() or not chosen.any():
        chosen = np.array([stream.uniform() < 0.5 for _ in present])
    return np.isin(y, present[chosen]).astype(float)


def _is_many(kind: int, width: int) -> bool:
    """Whether a predictor is a factor of many levels."""
    return kind == INDICATORS and width > FEW_LEVELS


class Terms(NamedTuple):
    """The terms of a direction: their coefficients on the columns, values, and covariances."""

    of_columns: NDArray
    of_rows: NDArray
    covariance: NDArray
    excess: NDArray


def _scored(
    Z: NDArray,
    factors: list[slice],
    t: NDArray,
    a: NDArray,
    used: slice,
    few: int,
    others: int = 0,
) -> Terms:
    """One term for each factor, scoring its levels, or plain column.

    More than `few` levels are shrunk and scored on all rows, unless they do not differ, other terms
    related to those `used`.  The target was chosen among as many `others` by the levels.
    """
    terms, values, covariance, excess, at = [], [], [], [], 0
    while at < Z.shape[1]:
        width = next((each.stop - at for each in factors if each.start == at), 1)
        term, noise = np.zeros(Z.shape[1]), 0.0
        term[at] = 1
        value, remaining = Z[:, at], None
        if width > few:
            level = Z[:, at : at + width] @ np.arange(1, width + 1)
            scores = score_levels(level.astype(int), width, t, a, others)
            if not scores.of_levels.any():
                at += width
                continue
            term[at : at + width], value = scores.of_levels, scores.of_rows
            remaining, noise = scores.covariance, scores.excess
        elif any(each.start == at for each in factors):
            means = level_means(Z[:, at : at + width], t, a)
            known = np.max(np.abs(means)) > NEGLIGIBLE
            term[at : at + width] = means / np.linalg.norm(means) if known else 0
            value = Z @ term
        terms.append(term)
        values.append(value)
        if remaining is None:
            remaining = np.average(centred(t[used], a[used]) * value[used], weights=a[used])
        covariance.append(remaining)
        excess.append(noise)
        at += width
    return Terms(np.array(terms).T, np.array(values).T, np.array(covariance), np.array(excess))


def _estimated(
    stream: Stream,
    X: NDArray,
    node: Node,
    feature_groups: FeatureGroups,
    predictors: list[int],
    most: int,
    family: int,
    settings: Recipe,
) -> Candidate | None:
    """A direction estimated on the node's first rows; they are in random order.

    Factors of more than `most` levels are scored if alone, else random effects.
    """
    widths = [int(feature_groups.first[j + 1] - feature_groups.first[j]) for j in predictors]
    columns = [
        c for j in predictors for c in range(feature_groups.first[j], feature_groups.first[j + 1])
    ]
    if len(columns) == 1:
        return Candidate(columns, np.ones(1))
    types = [feature_groups.types[j] for j in predictors]
    kinds = list(zip(types, widths, strict=True))
    is_scored = [kind == INDICATORS and width > most for kind, width in kinds]
    few = FEW_LEVELS if most == 1 else most
    many = [width for kind, width in kinds if kind == INDICATORS and width > few]
    n_terms = len(columns) - sum(many) + len(many)
    used = slice(max(settings.direction_rows, 10 * n_terms))
    first = slice(max(used.stop, 10 * max(many, default=0)))
    if most > 1:
        used = first
    y, a = node.y[first], node.w[first]
    Z = X[columns][:, node.rows[first]].T
    by_shares = most == 1 and types == [INDICATORS] and settings.n_classes > 2
    if by_shares and settings.criterion != ORDINAL:
        level = (Z @ np.arange(1, len(columns) + 1)).astype(int)
        chosen = principal_component(level, y, a, settings.criterion == ENTROPY)
    else:
        drawn = _draw_target(stream, y, a, settings)
        chosen = None if drawn is None else Principal(drawn, 0, True)
    if chosen is None:
        return None
    if not chosen.determined:
        return Candidate(columns, None)
    t = chosen.target
    parts = zip(is_scored, np.cumsum(widths), widths, strict=True)
    factors = [slice(end - width, end) for scored, end, width in parts if scored]
    free = _free_coefficients(Z[used], kinds, is_scored)
    if most > 1 and factors:
        mixed = _mixed(Z, columns, factors, t, a)
        if mixed is not None:
            return mixed
        numbers = np.setdiff1d(np.arange(len(columns)), np.r_[tuple(factors)])
        columns, Z, factors = [columns[c] for c in numbers], Z[:, numbers], []
    terms = _scored(Z, factors, t, a, used, few, chosen.others)
    if not len(terms.covariance):
        return Candidate(columns, None)
    theta = _direction(terms.of_rows[used], t[used], a[used], y[used], family, settings)
    if theta is None or not np.any(terms.of_columns @ theta):
        return Candidate(columns, None)
    chance = beyond_chance(terms.of_rows[used] @ theta, t[used], a[used], free)
    trusted = chance * reliability(theta, terms.covariance, terms.excess)
    return _without_zeros(columns, terms.of_columns @ theta, trusted)


def _free_coefficients(Z: NDArray, kinds: list[tuple[int, int]], is_scored: list[bool]) -> int:
    """How many coefficients indicators of factors of more than two levels leave free."""
    free, begin = 0, 0
    for (kind, width), scored in zip(kinds, is_scored, strict=True):
        if kind == INDICATORS and width > TWO_LEVELS and not scored:
            varying = np.ptp(Z[:, begin : begin + width], axis=0) > 0
            free += max(int(varying.sum()) - 1, 0)
        begin += width
    return free


def _mixed(
    Z: NDArray, columns: list[int], factors: list[slice], t: NDArray, a: NDArray
) -> Candidate | None:
    """A direction with random effects of the factors; None if there are none."""
    numbers = np.setdiff1d(np.arange(len(columns)), np.r_[tuple(factors)])
    levels = [
        (Z[:, each] @ np.arange(1, each.stop - each.start + 1)).astype(int) for each in factors
    ]
    found = random_effects(Z[:, numbers], levels, t, a)
    if found is None:
        return None
    theta = np.zeros(len(columns))
    theta[numbers] = found.beta
    for each, effects in zip(factors, found.of_levels, strict=True):
        theta[each.start : each.start + len(effects) - 1] = effects[1:]
    return _without_zeros(columns, theta, found.reliability)


def _without_zeros(columns: list[int], coefficients: NDArray, reliability: float) -> Candidate:
    kept = np.abs(coefficients) > 1e-9 * np.abs(coefficients).max()
    columns = [c for c, is_kept in zip(columns, kept, strict=True) if is_kept]
    return Candidate(columns, coefficients[kept] / np.linalg.norm(coefficients), reliability)


def _direction(
    Z: NDArray, t: NDArray, a: NDArray, y: NDArray, family: int, settings: Recipe
) -> NDArray | None:
    if Z.shape[1] == 1:
        return np.ones(1)
    if np.all(np.abs(centred(Z, a).T @ (a * centred(t, a))) <= NEGLIGIBLE * a.sum()):
        return None
    if family == LOGISTIC and len(y) >= LOGISTIC_ROWS:
        return logistic(Z, t, a, settings.newton_steps)
    return lda(Z, t, a, y) if family == LDA else least_squares(Z, t, a)


def _nonzeros(stream: Stream, p: int, d: int, density: float) -> list[int]:
    """How many of the cells of p × d that are drawn lie in each column; the rarer kind is drawn."""
    number = math.ceil(density * p * d - 1e-9)
    rare = min(number, p * d - number)
    drawn = [0] * d
    while sum(drawn) < rare:
        column = stream.below(d)
        if stream.below(p) >= drawn[column]:
            drawn[column] += 1
    return drawn if 2 * number <= p * d else [p - k for k in drawn]


def _units(feature_groups: FeatureGroups) -> list[range]:
    """The columns one by one, but those of a factor of many levels together."""
    units = []
    for j, kind in enumerate(feature_groups.types):
        columns = range(feature_groups.first[j], feature_groups.first[j + 1])
        many = _is_many(kind, len(columns))
        units += [columns] if many else [range(c, c + 1) for c in columns]
    return units


def _sparse(stream: Stream, X: NDArray, node: Node, units: list[range], q: int) -> Candidate:
    """Signs on q random columns; of a factor of many levels, on the level of a random row."""
    stream.shuffle_front(units, q)
    signs = np.array([1.0 if stream.uniform() < 0.5 else -1.0 for _ in range(q)])
    columns = [unit.start for unit in units[:q]]
    for i, unit in enumerate(units[:q]):
        if len(unit) > 1:
            columns[i] += int(np.argmax(X[unit, node.rows[stream.below(len(node.rows))]]))
    return Candidate(columns, signs / np.sqrt(q))


def draw_candidates(
    stream: Stream,
    X: NDArray,
    node: Node,
    feature_groups: FeatureGroups,
    permutation: list[int],
    units: list[range],
    settings: Recipe,
) -> Iterator[list[Candidate | None]]:
    """Rounds of candidates, at most `ROUND` together: singles, sparse directions, estimated ones.

    `permutation` is one of the predictors, `units` one of the columns.  A subset of one column
    is passed over where every predictor is tried singly.
    """
    P = len(permutation)

    def single(j: int) -> Candidate | None:
        return _estimated(stream, X, node, feature_groups, [j], 1, LEAST_SQUARES, settings)

    def on_subset() -> Candidate | None:
        q = settings.subset_size or 1 + stream.below(min(largest_subset(node.counts.sum()), P))
        stream.shuffle_front(permutation, q)
        chosen = permutation[:q]
        width = sum(feature_groups.first[j + 1] - feature_groups.first[j] for j in chosen)
        if width == 1 and settings.n_singles == P:
            return None
        return _estimated(
            stream,
            X,
            node,
            feature_groups,
            chosen,
            settings.indicator_levels,
            settings.family,
            settings,
        )

    stream.shuffle_front(permutation, settings.n_singles)
    nonzeros = _nonzeros(stream, len(units), settings.n_sparse, settings.density)
    for some in _rounds(permutation[: settings.n_singles]):
        yield [single(j) for j in some]
    for some in _rounds(nonzeros):
        yield [_sparse(stream, X, node, units, q) if q else None for q in some]
    for some in _rounds(range(settings.n_projections)):
        yield [on_subset() for _ in some]


def _rounds(items: Sequence) -> list[Sequence]:
    return [items[first : first + ROUND] for first in range(0, len(items), ROUND)]


class Search(Protocol):
    """How a node's split is found among its candidates."""

    def ends(self, number: int, node: Node, candidate: Candidate) -> bool:
        """Whether no other round is to be drawn."""

    def split(self, number: int, node: Node) -> Split | None:
        """The split to make."""


@dataclass
class FirstBest:
    """The first best split; one that leaves no impurity ends the search."""

    X: NDArray
    settings: Recipe

    def ends(self, number: int, node: Node, candidate: Candidate) -> bool:
        if self.settings.penalty != NO_PENALTY:
            return False
        perfect = PERFECT * impurity(node.y, node.w, self.settings.criterion)
        found = splits(node, self.X, candidate, self.settings)
        return any(split.score >= perfect for split in found)

    def split(self, number: int, node: Node) -> Split | None:
        return best_split(node, self.X, self.settings)


def first_node(y: NDArray, weights: NDArray, sampling: Sampling, stream: Stream) -> Node:
    """The root: the rows that are drawn, in random order."""
    counts = draw_counts(stream, weights, sampling)
    if sampling.honest:
        counts, _ = halved(stream, counts)
    rows = np.flatnonzero(counts).tolist()
    stream.shuffle_front(rows, len(rows))
    return Node(np.array(rows), y[rows], weights[rows] * counts[rows], counts[rows], 0)


def may_split(node: Node, root: Node, leaves: int, settings: Recipe) -> bool:
    """Whether a node is to be searched, in a tree of so many leaves."""
    least = NEGLIGIBLE * impurity(root.y, root.w, settings.criterion)
    return (
        leaves < settings.max_leaves
        and node.depth < settings.max_depth
        and node.counts.sum() >= 2 * settings.min_leaf
        and node.w.sum() >= 2 * settings.min_weight
        and impurity(node.y, node.w, settings.criterion) > least
    )


def searched(
    stream: Stream,
    X: NDArray,
    nodes: list[Node],
    number: int,
    feature_groups: FeatureGroups,
    orders: tuple[list[int], list],
    settings: Recipe,
    search: Search,
) -> Split | None:
    """Draw the candidates of a node, and return its split."""
    node = nodes[number]
    node.candidates = []
    for drawn in draw_candidates(stream, X, node, feature_groups, *orders, settings):
        found = [candidate for candidate in drawn if candidate is not None]
        node.candidates += found
        if any(search.ends(number, node, candidate) for candidate in found):
            break
    return search.split(number, node)


def first_orders(feature_groups: FeatureGroups) -> tuple[list[int], list]:
    """The permutations of predictors and of columns that samplers go on shuffling."""
    return list(range(len(feature_groups.types))), _units(feature_groups)


def make_split(nodes: list[Node], number: int, split: Split, leaves: int) -> None:
    """Append the children of a node."""
    node = nodes[number]
    node.left, node.order = len(nodes), leaves
    nodes += [_child(node, split.left), _child(node, ~split.left)]


def grow(
    X: NDArray,
    y: NDArray,
    weights: NDArray,
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Recipe,
    stream: Stream,
    search: Search,
) -> list[Node]:
    """Algorithm 1: level after level, each node split or carried unchanged to the next."""
    nodes = [first_node(y, weights, sampling, stream)]
    orders = first_orders(feature_groups)
    level, carried, leaves = [0], [], 1
    while level != carried:
        carried, next_level = level, []
        for number in level:
            node, split = nodes[number], None
            if may_split(node, nodes[0], leaves, settings) and node.candidates is None:
                split = searched(stream, X, nodes, number, feature_groups, orders, settings, search)
            if split is None:
                next_level.append(number)
                continue
            make_split(nodes, number, split, leaves)
            next_level += [node.left, node.left + 1]
            leaves += 1
        level = next_level
    return nodes


def _child(node: Node, at: NDArray[np.bool_]) -> Node:
    return Node(node.rows[at], node.y[at], node.w[at], node.counts[at], node.depth + 1)
