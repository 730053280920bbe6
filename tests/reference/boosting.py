"""Boosting by its definitions: one row, one leaf, one candidate value at a time."""

from __future__ import annotations

from math import exp, log

import numpy as np


def loss(name: str, y: float, scores: list[float], delta: float = 1.0) -> float:
    """The loss of one row with response y, or the class numbered y."""
    f = scores[0]
    if name == "squared_error":
        return (y - f) ** 2 / 2
    if name == "absolute":
        return abs(y - f)
    if name == "huber":
        far = abs(y - f)
        return far**2 / 2 if far <= delta else delta * (far - delta / 2)
    if name == "poisson":
        return (y * log(y) if y > 0 else 0.0) - y * f - y + exp(f)
    if name == "logistic":
        return log(1 + exp(-f if y == 1 else f))
    if name == "ordinal":
        return sum(log(1 + exp(-score if y > k else score)) for k, score in enumerate(scores))
    return log(sum(exp(score) for score in scores)) - scores[int(y)]


def median(values: list[float], weights: list[float]) -> float:
    """The middle of the least and the largest value that leave at most half on either side."""
    half = sum(weights) / 2
    held = [
        v
        for v in values
        if sum(w for w, u in zip(weights, values, strict=True) if u < v) <= half
        and sum(w for w, u in zip(weights, values, strict=True) if u > v) <= half
    ]
    return (min(held) + max(held)) / 2


def quantile(values: list[float], weights: list[int], share: float) -> float:
    """Of rows written out as often as they weigh: that value, or the middle of two."""
    rows = sorted(v for v, w in zip(values, weights, strict=True) for _ in range(w))
    at = share * len(rows)
    low = next(i for i in range(len(rows)) if i + 1 >= at - 1e-9)
    high = next((i for i in range(len(rows)) if i + 1 > at + 1e-9), len(rows) - 1)
    return (rows[low] + rows[high]) / 2


def refitted(
    leaves: np.ndarray, m: int, target: np.ndarray, weights: np.ndarray, l2: float
) -> np.ndarray:
    """The ridge solution for indicators of the nodes (n, trees) that rows reach, written out."""
    Z = np.array([np.bincount(reached, minlength=m) for reached in leaves])
    normal = Z.T @ (weights[:, None] * Z) + l2 * np.eye(m)
    return np.linalg.solve(normal, Z.T @ (weights * target))
