"""Log loss of a weighted sum of kinds of trees, out of bag, to second order: loops over trees."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_loss_of_pairs", "pooled_probability"]

# The class shares count as so many trees, and the penalty pulls as strongly as so many rows.
SHARE_TREES, PRIOR_ROWS = 5, 5


def pooled_probability(
    own: list[NDArray], unseen: list[NDArray], shares: NDArray, row: int
) -> float:
    """The probability of a row's own class: the mean of all kinds' trees and the class share."""
    said = [
        values[row, i]
        for values, mask in zip(own, unseen, strict=True)
        for i in range(values.shape[1])
        if mask[row, i]
    ]
    return float((sum(said) + SHARE_TREES * shares[row]) / (len(said) + SHARE_TREES))


def log_loss_of_pairs(
    w: NDArray,
    own: list[NDArray],
    unseen: list[NDArray],
    shares: NDArray,
    weights: NDArray,
    rows: int,
) -> float:
    """Twice the penalised log loss of the sum with the weights w, less a constant.

    Around r, the pooled probability, log loss is x²/(2r) - x·(1 + 1/r), less a constant.  x² is
    the mean over pairs of trees of different numbers, x the mean over trees.
    """
    G, b = len(own), own[0].shape[1]
    r = [pooled_probability(own, unseen, shares, row) for row in range(len(weights))]
    loss = PRIOR_ROWS / max(rows, 1) * float(np.sum((w - 1 / G) ** 2))
    for g in range(G):
        said = [
            (weights[row], own[g][row, i] * (1 + 1 / r[row])) for row, i in np.argwhere(unseen[g])
        ]
        loss -= 2 * w[g] * _mean(said)
        for h in range(G):
            pairs = [
                (weights[row], own[g][row, i] * own[h][row, j] / r[row])
                for row in range(len(weights))
                for i in range(b)
                for j in range(b)
                if i != j and unseen[g][row, i] and unseen[h][row, j]
            ]
            loss += w[g] * w[h] * _mean(pairs)
    return loss


def _mean(weighted: list[tuple[float, float]]) -> float:
    total = sum(weight for weight, _ in weighted)
    return sum(weight * value for weight, value in weighted) / total if total else 0.0
