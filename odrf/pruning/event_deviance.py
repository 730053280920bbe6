"""The exponential deviance of the nodes of trees that were split by another criterion.

Trees are pruned by the losses of their nodes.  Log-rank scores are those of one node, and their
squares do not add up over a tree; the deviance of a constant hazard in each leaf does (LeBlanc and
Crowley 1992).  With shrunken rates it is half the risk of rpart with ``method="exp"``.  The
deviance of events of several causes, each of a constant hazard, is the sum of theirs, events of the
other causes being censored.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from odrf.engine.trees.forest import Forest, add_up_branches, take_from_parents

# Fewest events that may be expected of a row, so that the deviance of an event is finite where the
# rows of a fold have none.
LEAST = 1e-300


class NodeEvents(NamedTuple):
    """What the training rows of each node say of its hazard.

    `events` (m, C): d: the number of events of each cause.  `exposure` (m,): e: the sum of the
    rows' exposures; rows that are drawn twice count twice, and each as often as its case weight
    says.  `deviance` (m,): 2·Σ (δ·log(δ/(r·e)) - (δ - r·e)) over the rows of the node, where δ is 0
    or 1 event, e the exposure, and r = D/E; the sum over the causes.
    """

    events: NDArray[np.float64]
    exposure: NDArray[np.float64]
    deviance: NDArray[np.float64]


def node_events(
    forest: Forest,
    leaf: NDArray[np.integer],
    event: NDArray[np.integer],
    exposure: NDArray[np.float64],
    weights: NDArray[np.float64],
    counts: NDArray[np.integer] | None = None,
    n_causes: int = 1,
) -> NodeEvents:
    """Return events, exposure and deviance of all nodes.

    `leaf` (n, B): the leaf of each training row in each tree. `event` (n,): 0 for a censored row,
    else the cause. `exposure` (n,): positive times of observation on the scale on which the hazard
    of all rows is constant, see `odrf.statistics.survival.observation`. `counts` (n, B): how often
    each tree sampled each row; once by default. `n_causes`: C.
    """
    occurred = events_by_cause(event, n_causes)
    logs = -occurred.sum(axis=1) * np.log(exposure)
    terms = np.column_stack([exposure, logs, occurred]) * weights[:, None]
    sums = sums_in_nodes(forest, leaf, terms, counts)
    at_risk, logs, events = sums[:, 0].copy(), sums[:, 1], sums[:, 2:].copy()
    explained = scipy.special.xlogy(events, _ratio(events, at_risk[:, None])).sum(axis=1)
    return NodeEvents(events, at_risk, 2.0 * np.maximum(logs - explained, 0.0))


def events_by_cause(event: NDArray[np.integer], n_causes: int) -> NDArray[np.float64]:
    """Return 1 for an event of each cause (n, C), from its number; if C is 1, from any but 0."""
    if n_causes == 1:
        return (event != 0).astype(np.float64)[:, None]
    return (event[:, None] == np.arange(1, n_causes + 1)).astype(np.float64)


def sums_in_nodes(
    forest: Forest,
    leaf: NDArray[np.integer],
    terms: NDArray[np.float64],
    counts: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """Return the sums (m, Q) over the rows of each node of Q numbers `terms` (n, Q) of each row.

    The other arguments are those of `node_events`.
    """
    sums = np.zeros((forest.n_nodes, terms.shape[1]))
    for tree, (lo, hi) in enumerate(zip(forest.root[:-1], forest.root[1:], strict=True)):
        of_tree = terms if counts is None else terms * counts[:, tree, None]
        for column, of_rows in zip(sums.T, of_tree.T, strict=True):
            column[lo:hi] = np.bincount(leaf[:, tree] - lo, of_rows, minlength=hi - lo)
    add_up_branches(forest.left, sums)
    return sums


def with_event_deviance(forest: Forest, nodes: NodeEvents) -> Forest:
    """Return the same trees as if the deviance of events had been their criterion.

    The values of a node are its rates, one for each cause, its weight the exposure, and its
    impurity half the deviance per unit of exposure: of one cause what the criterion
    `odrf.engine.splits.impurity.POISSON` says of it.  A node without exposure has values and
    impurity of its parent.
    """
    weight = nodes.exposure.copy()
    rate, impurity = _ratio(nodes.events, weight[:, None]), _ratio(nodes.deviance, 2.0 * weight)
    described = np.column_stack([rate, impurity])
    take_from_parents(forest.left, weight, described)
    value, impurity = described[:, :-1].copy(), described[:, -1].copy()
    split = np.flatnonzero(forest.is_split())
    left, gain = forest.left[split], np.zeros(forest.n_nodes)
    losses = weight * impurity
    gain[split] = _ratio(losses[split] - losses[left] - losses[left + 1], weight[split])
    return replace(
        forest, value=value, weight=weight, impurity=impurity, gain=np.maximum(gain, 0.0),
        ordered=np.bool_(False),
    )  # fmt: skip


def with_shrunken_rates(forest: Forest, variation: float) -> Forest:
    """Return trees of events whose rates are shrunken to that of their root.

    The rates of leaves are taken for draws from a gamma distribution whose mean is the rate of the
    root, and whose coefficient of variation is k.  Then the mean of what is known of a rate after D
    events in exposure E is (D + 1/k²) / (E + 1/(k²·r)), r being the rate of the root.  The deviance
    is that of these rates, and a split can raise it: such a split is kept for the sake of those
    below it, or pruned at every α.  Where splits raise it, rpart takes some branches that lower it
    for worthless, and its path can be another one.  Each cause has a prior of its own.

    `forest`: grown by `odrf.engine.splits.impurity.POISSON`, or from `with_event_deviance`.
    `variation`: k > 0; ``np.inf`` shrinks nothing.  That of rpart, `shrink`, is 1 by default, and
    there 0 shrinks nothing.  Returns with other `value` and `impurity`.  The `gain` is that of
    rates that are not shrunken, by which splits are chosen.
    """
    overall = np.repeat(forest.value[forest.root[:-1]], np.diff(forest.root), axis=0)
    prior = np.where(overall > 0.0, variation**-2.0, 0.0)
    rate, weight = forest.value, forest.weight[:, None]
    shrunken = _ratio(rate * weight + prior, weight + _ratio(prior, overall))
    added = scipy.special.kl_div(rate, shrunken).sum(axis=1)
    described = np.column_stack([shrunken, forest.impurity + added])
    take_from_parents(forest.left, forest.weight, described)
    return replace(forest, value=described[:, :-1].copy(), impurity=described[:, -1].copy())


def event_losses(
    value: NDArray[np.float64], y: NDArray[np.float64], ordered: bool = False
) -> NDArray[np.float64]:
    """Return the deviance (m,) of rows for predicted hazards `value` (m, C) of each cause.

    `y` (m, C + 1): 0 or 1 event of each cause, and the exposure of the row. There are no classes.
    """
    event, expected = y[:, :-1], np.maximum(value * y[:, -1:], LEAST)
    return np.asarray((2.0 * (expected - event - event * np.log(expected))).sum(axis=1))


def _ratio(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a / b, 0 where b is."""
    out = np.zeros(np.broadcast_shapes(a.shape, b.shape))
    return np.divide(a, b, out=out, where=b > 0.0)
