"""Criteria of splits: impurities of nodes, and gains (impurity decreases) of cuts.

The gain is that of Zhan, Liu and Xia, equation (2.1), and its counterparts for other impurities,
per unit of weight in the node: Δ = I(A) - P(A_L)·I(A_L) - P(A_R)·I(A_R).

For K ordered classes the impurity is Σ_{k<K} F_k (1 - F_k), with F_k the share up to class k
(Piccarreta 2008).  It is half the sum of the Gini indices of the K - 1 two-class problems "up to
class k, or above".
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel, part

# The criteria of splits: a row for each, with what sets it apart from the others.
# Kernels compare codes, which costs nothing; all other code asks this table.

SQUARED_ERROR, GINI, ENTROPY, ORDINAL, POISSON = 0, 1, 2, 3, 4


class Criterion(NamedTuple):
    """An impurity: of classes or numbers, or of ordered classes; if x·log(x) is looked up."""

    of_classes: bool
    ordered: bool
    uses_logs: bool


CRITERIA = {
    SQUARED_ERROR: Criterion(of_classes=False, ordered=False, uses_logs=False),
    GINI: Criterion(of_classes=True, ordered=False, uses_logs=False),
    ENTROPY: Criterion(of_classes=True, ordered=False, uses_logs=True),
    ORDINAL: Criterion(of_classes=True, ordered=True, uses_logs=False),
    POISSON: Criterion(of_classes=False, ordered=False, uses_logs=False),
}
"""By their codes.

The response of `POISSON` is a rate, events divided by exposure, and its weights have the exposure
as a factor.  Its impurity is half the Poisson deviance per unit of exposure.  With 0 or 1 event,
and with times of observation as exposures, scaled such that the hazard of all rows is constant,
that is the full likelihood of exponential survival (LeBlanc and Crowley 1992).
"""


# Impurities of nodes, and gains (impurity decreases) of cuts.

# A side with less than this share of a node's weight is lost in rounding: its gain is meaningless.
NEGLIGIBLE = 1e-12
# A mean so many times as large as the range of the responses is rounded too much for light rows.
FAR = 2.0**20
# Most values of x·log(x) that are tabulated.
MOST_LOGS = 2**16


class Node(NamedTuple):
    """The responses of a node's m rows, and what the gains of its cuts are computed from.

    Squared error and the Gini and ordinal impurities of two classes need one sum for each side,
    S = Σ w·(y - mean): Δ = factor·S²/(W_L·W_R), with factor 2 for Gini and 1 for the others.  The
    entropy of two classes needs one sum too, the weight of the second class.  More classes need the
    weight of each class.

    For Poisson, y is the rate of a row, its events divided by its exposure, and its weight is the
    exposure times the case weight times the multiplicity.  Each side needs its events, Σ w·y.

    `y`, `weights` (m,), `counts` (m,).
    `moments` (m,): the terms of S: w·(y - mean), y being the response or the indicator of the
      second of two classes; w·y for entropy and Poisson; empty where not used.
    `value` (K,): mean response, or class proportions; for Poisson events divided by exposure.
    `weight`: sum of the weights.
    `n_rows`: N(A), counting multiplicities.
    `lightest`: both sides of a cut weigh more than this.  Not used where `unit` and not moments.
    `impurity`: impurity before any split.
    `factor`: factor of `moment_gain`; 0 where moments are not used.
    `criterion`: impurity, a code of `CRITERIA`.
    `unit`: whether all case weights are 1, so that weights are multiplicities, and gains are sums
      of one term per class.  The ordinal impurity has no such terms: a row changes many F_k.
    `logs`: x·log(x) of the first whole numbers, see `whole_logs`; empty unless `unit`.
    """

    y: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    moments: np.ndarray
    value: np.ndarray
    weight: float
    n_rows: int
    lightest: float
    impurity: float
    factor: float
    criterion: int
    unit: bool
    logs: np.ndarray


def whole_logs(criterion: int, n: int) -> NDArray[np.float64]:
    """Return x·log(x), x = 0, 1, … min(n, `MOST_LOGS`); without entropy only that of 0."""
    x = np.arange(1.0, 1 + (min(n, MOST_LOGS) if CRITERIA[criterion].uses_logs else 0))
    return np.concatenate([[0.0], x * np.log(x)])


@kernel
def uses_moments(K):
    """Whether gains of cuts are computed from one moment per side; see `Node`."""
    return K <= 2


@part
def _xlogx(x):
    return x * math.log(x) if x > 0.0 else 0.0


@kernel
def impurity(shares, criterion):
    """Return the Gini index, entropy (natural logarithm) or ordinal impurity of `shares` (K,)."""
    total = 0.0
    if criterion == ORDINAL:
        reached = 0.0
        for k in range(len(shares) - 1):
            reached += shares[k]
            total += reached * (1.0 - reached)
        return max(total, 0.0)
    for share in shares:
        total += _xlogx(share) if criterion == ENTROPY else share * share
    return -total if criterion == ENTROPY else 1.0 - total


@part
def _centre(moments, weights, weight):
    """Take from the moments what the rounding of the mean adds, so that they add up to 0."""
    excess = 0.0
    for moment in moments:
        excess += moment
    excess /= weight
    for i in range(len(moments)):
        moments[i] -= weights[i] * excess


# The next two are kernels and not parts: merged with their logarithms, the loops of the other
# criteria are slower, that over the rows of a node twice as slow.


@kernel
def _poisson_deviance(y, weights, rate, moments):
    """Return Σ w·(y·log(y/rate) - (y - rate)), no term negative; write w·y to moments (≥ m,)."""
    total = 0.0
    for i in range(len(y)):
        moments[i] = weights[i] * y[i]
        term = rate - y[i]
        if y[i] > 0.0:
            term += y[i] * math.log(y[i] / rate)
        total += weights[i] * term
    return total


@kernel
def _poisson_gain(events, left_weight, weight, total):
    """Return Σ D·log((D/E) / (D(A)/E(A))) over both sides, D being events and E exposure."""
    others, right_weight, per_event = total - events, weight - left_weight, weight / total
    gain = 0.0
    if events > 0.0:
        gain += events * math.log(events * per_event / left_weight)
    if others > 0.0:
        gain += others * math.log(others * per_event / right_weight)
    return gain


@kernel
def describe(rows, lo, m, value, moments, logs, criterion, min_weight):
    """Return the `Node` of m rows from `lo` on, sides ≥ `min_weight`; write value, moments."""
    y, weights, counts = rows.y[lo : lo + m], rows.weights[lo : lo + m], rows.counts[lo : lo + m]
    K = len(value)
    for k in range(K):
        value[k] = 0.0
    weight, n_rows, node_impurity = 0.0, 0, 0.0
    low = high = y[0]
    for i in range(m):
        low, high = min(low, y[i]), max(high, y[i])
        weight += weights[i]
        n_rows += int(counts[i])
        if K == 1:
            value[0] += weights[i] * y[i]
        else:
            value[int(y[i])] += weights[i]
    for k in range(K):
        value[k] /= weight
    factor = 0.0
    if uses_moments(K):
        factor = 1.0 / weight if criterion == ENTROPY else float(K)
        if criterion == ORDINAL:
            factor = 1.0
        centre = 0.0 if criterion == ENTROPY else value[K - 1]
        for i in range(m):
            moments[i] = weights[i] * (y[i] - centre)
        if K == 1:
            if max(abs(low), abs(high)) > FAR * (high - low):
                _centre(moments[:m], weights, weight)
            for i in range(m):
                node_impurity += moments[i] * (y[i] - value[0])
        node_impurity /= weight
    if criterion == POISSON:
        factor = 1.0 / weight
        node_impurity = factor * _poisson_deviance(y, weights, value[0], moments)
    if low == high:
        node_impurity = 0.0
    elif K > 1:
        node_impurity = impurity(value, criterion)
    used = moments[:m] if factor > 0.0 else moments[:0]
    unit = rows.unit and criterion != ORDINAL
    tabulated = logs if unit else logs[:0]
    rounding = NEGLIGIBLE * weight
    lightest = max(rounding, min_weight - rounding)
    return Node(
        y, weights, counts, used, value, weight, n_rows, lightest, node_impurity, factor, criterion,
        unit, tabulated,
    )  # fmt: skip


@kernel
def counted(number, criterion, logs):
    """Return x², or x·log(x) for entropy, of a class of weight x, whole if there are `logs`."""
    if criterion == GINI:
        return number * number
    # compared before it is made whole: rounding can make it negative, and it can exceed integers
    return logs[np.int64(number)] if 0.0 <= number < len(logs) else _xlogx(number)


@part
def _entropy_gain(moment, left_weight, weight, second, logs):
    right_weight, other = weight - left_weight, second - moment
    total = counted(moment, ENTROPY, logs) + counted(left_weight - moment, ENTROPY, logs)
    total += counted(other, ENTROPY, logs) + counted(right_weight - other, ENTROPY, logs)
    total -= counted(left_weight, ENTROPY, logs)
    return total - counted(right_weight, ENTROPY, logs)


@kernel
def moment_gain(moment, left_weight, weight, second, criterion, logs):
    """Return Δ / factor of a cut, plus the baseline that `node_moments` returns.

    `moment` is S of the left side, see `Node`; `second` that of the node, which is used for entropy
    and Poisson.  The result is meaningless if a side has almost no weight: check `is_allowed`.
    """
    if criterion == ENTROPY:
        return _entropy_gain(moment, left_weight, weight, second, logs)
    if criterion == POISSON:
        return _poisson_gain(moment, left_weight, weight, second)
    return moment * moment / (left_weight * (weight - left_weight))


@kernel
def node_moments(node):
    """Return S of the node and the baseline of `moment_gain`, which only the entropy has."""
    if node.criterion == POISSON:
        return node.value[0] * node.weight, 0.0
    if node.criterion != ENTROPY:
        return 0.0, 0.0
    second = node.value[1] * node.weight
    if node.unit:
        second = np.rint(second)
    return second, (
        counted(second, ENTROPY, node.logs)
        + counted(node.weight - second, ENTROPY, node.logs)
        - counted(node.weight, ENTROPY, node.logs)
    )


@kernel
def is_allowed(left_weight, left_rows, weight, n_rows, min_leaf, lightest):
    """Whether both sides of a cut have `min_leaf` rows, and more weight than the `lightest`."""
    return (
        left_rows >= min_leaf
        and n_rows - left_rows >= min_leaf
        and lightest < left_weight < weight - lightest
    )


@kernel
def class_gain(left, left_weight, value, weight, criterion):
    """Return Δ of a cut from the class weights `left` (K,) on its left side.

    For Gini it is P_L·P_R·Σ (p_Lk - p_Rk)², which suffers from no cancellation; for ordered classes
    the same with F_k in place of p_k.  Meaningless if a side has almost no weight: check
    `is_allowed`.
    """
    right_weight = weight - left_weight
    total = 0.0
    if criterion == ORDINAL:
        before, behind = 0.0, 0.0
        for k in range(len(left) - 1):
            before += left[k]
            behind += value[k] * weight - left[k]
            difference = before / left_weight - behind / right_weight
            total += difference * difference
        return total * (left_weight / weight) * (right_weight / weight)
    if criterion == GINI:
        left_part, right_part = 1.0 / left_weight, 1.0 / right_weight
        for k in range(len(left)):
            right = value[k] * weight - left[k]
            difference = left[k] * left_part - right * right_part
            total += difference * difference
        return total * (left_weight / weight) * (right_weight / weight)
    for k in range(len(left)):
        both = value[k] * weight
        total += _xlogx(left[k]) + _xlogx(both - left[k]) - _xlogx(both)
    total += _xlogx(weight) - _xlogx(left_weight) - _xlogx(right_weight)
    return max(total, 0.0) / weight


@kernel
def counts_gain(left, right, left_rows, n_rows, criterion, logs):
    """Return N·Δ plus a constant, from the sums over classes of `counted` on both sides."""
    right_rows = n_rows - left_rows
    if criterion == GINI:
        return left / left_rows + right / right_rows
    return left + right - counted(left_rows, criterion, logs) - counted(right_rows, criterion, logs)


@part
def gain_of_counts(left, left_rows, value, n_rows, baseline, criterion, logs):
    """Return Δ of a cut from the rows `left` (K,) of classes, and `counts_gain`'s baseline."""
    left_sum, right_sum = 0.0, 0.0
    for k in range(len(left)):
        left_sum += counted(left[k], criterion, logs)
        right_sum += counted(np.rint(value[k] * n_rows) - left[k], criterion, logs)
    gain = counts_gain(left_sum, right_sum, left_rows, n_rows, criterion, logs)
    return (gain - baseline) / n_rows


# The classes of a node's rows, numbered among themselves.
# Deep nodes have few of many classes.  The others have weight 0 on both sides of every cut and add
# nothing to its gain, so that the best cut is found among the present ones, in the time of these.

ABSENT = -1


class PresentClasses(NamedTuple):
    """Scratch for the present classes of a node, of up to n rows and K classes.

    `y` (n,): the class of each row, numbered among those present.  `value` (K,): the shares of the
    present classes.  `number` (K,): the number of each class; `ABSENT` of those that no row has.
    """

    y: np.ndarray
    value: np.ndarray
    number: np.ndarray


def present_classes_for(n: int, K: int) -> PresentClasses:
    """Allocate the scratch for nodes of up to n rows, and K classes."""
    return PresentClasses(np.empty(n), np.empty(K), np.empty(K, dtype=np.int64))


@part
def among_present(node, left, present):
    """Return the node with the present classes only, and left (K,) shortened to them.

    Gains of cuts are the same, to the last bit.  Not if classes are ordered: the share up to a
    class counts, even if no row has this class.  `left` and `present` are None if gains are
    computed from moments: then nothing is changed.
    """
    if left is None:
        return node, left
    number, y, n_present = present.number, present.y, 0
    for k in range(len(number)):
        number[k] = ABSENT
    for i in range(np.uint64(len(node.y))):
        number[np.uint64(node.y[i])] = 0
    for k in range(len(number)):
        if number[k] != ABSENT:
            number[k] = n_present
            present.value[n_present] = node.value[k]
            n_present += 1
    if n_present == len(number) or node.criterion == ORDINAL:
        return node, left
    for i in range(np.uint64(len(node.y))):
        y[i] = float(number[np.uint64(node.y[i])])
    few = Node(
        y[: len(node.y)], node.weights, node.counts, node.moments, present.value[:n_present],
        node.weight, node.n_rows, node.lightest, node.impurity, node.factor, node.criterion,
        node.unit, node.logs,
    )  # fmt: skip
    return few, left[:n_present]
