"""Bias and variance by their definitions: one row, one training sample, one class at a time."""

from __future__ import annotations

from statistics import mean, variance

import numpy as np
from numpy.typing import NDArray


def james(predictions: list[int], truth: list[float]) -> dict[str, float]:
    """James (2003) for one row, ties broken at random, in expectation."""
    R, classes = len(predictions), range(len(truth))
    often = [
        k for k in classes if predictions.count(k) == max(predictions.count(j) for j in classes)
    ]
    best = max(truth)
    right = sum(truth[k] * predictions.count(k) / R for k in classes)
    return {
        "error": 1 - right,
        "bayes_error": 1 - best,
        "bias": mean(float(truth[k] != best) for k in often),
        "variance": 1 - predictions.count(often[0]) / R,
        "systematic_effect": mean(best - truth[k] for k in often),
        "variance_effect": mean(truth[k] - right for k in often),
    }


def kohavi_wolpert(predictions: list[int], truth: list[float]) -> dict[str, float]:
    """Kohavi and Wolpert (1996) for one row, from pairs of different training samples.

    A product of two probabilities is estimated without bias by how often two samples agree.
    """
    R = len(predictions)
    pairs = [(r, s) for r in range(R) for s in range(R) if r != s]
    agree = mean(float(predictions[r] == predictions[s]) for r, s in pairs)
    right = mean(truth[k] for k in predictions)
    squares = sum(P**2 for P in truth)
    return {
        "noise": (1 - squares) / 2,
        "bias2": (squares - 2 * right + agree) / 2,
        "variance": (1 - agree) / 2,
    }


def squared(predictions: list[float], truth: float, noise: float) -> dict[str, float]:
    """Squared error of one row, from pairs of different training samples."""
    R = len(predictions)
    pairs = [(r, s) for r in range(R) for s in range(R) if r != s]
    return {
        "error": noise + mean((value - truth) ** 2 for value in predictions),
        "noise": noise,
        "bias2": mean((predictions[r] - truth) * (predictions[s] - truth) for r, s in pairs),
        "variance": variance(predictions),
    }


def published(predicted: NDArray, y: NDArray, n_classes: int) -> tuple[float, float, float]:
    """Equations (27) to (29) of Gupta et al. as printed: bias², variance, error."""
    R, N = predicted.shape
    bias2 = total = 0.0
    for i in range(N):
        for j in range(n_classes):
            p = np.sum(predicted[:, i] == j) / R
            bias2 += ((y[i] == j) - p) ** 2 - p * (1 - p) / (R - 1)
            total += p**2
    error = mean(1 - np.mean(predicted[r] == y) for r in range(R))
    return bias2 / N, 1 - total / N, error
