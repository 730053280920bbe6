"""Accumulated local effects by loops over rows, intervals and corners."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd


def _interval(edges, value):
    """The interval of a value: above its lower end, up to its upper end."""
    for j in range(1, len(edges)):
        if value <= edges[j]:
            return j - 1
    return len(edges) - 2


def ale(predict: Callable, data: pd.DataFrame, name: str, edges: list[float]) -> np.ndarray:
    """The effects at the edges; `predict` gives a number for each row of a data frame."""
    change, rows = np.zeros(len(edges) - 1), np.zeros(len(edges) - 1)
    for _, row in data.iterrows():
        j = _interval(edges, row[name])
        one = row.to_frame().T.infer_objects()
        high = predict(one.assign(**{name: edges[j + 1]}))
        low = predict(one.assign(**{name: edges[j]}))
        change[j] += float(high[0] - low[0])
        rows[j] += 1
    curve = [0.0]
    for j in range(len(rows)):
        curve.append(curve[-1] + change[j] / rows[j])
    mean = sum(rows[j] * (curve[j] + curve[j + 1]) / 2 for j in range(len(rows))) / sum(rows)
    return np.array(curve) - mean


def ale_of_two(
    predict: Callable, data: pd.DataFrame, names: list[str], edges: list[list[float]]
) -> np.ndarray:
    """The second-order effects at all pairs of edges; every cell must have a row."""
    J, M = (len(ends) - 1 for ends in edges)
    change, rows = np.zeros((J, M)), np.zeros((J, M))
    for _, row in data.iterrows():
        j, m = (_interval(ends, row[name]) for name, ends in zip(names, edges, strict=True))
        one = row.to_frame().T.infer_objects()
        for up in (0, 1):
            for right in (0, 1):
                at = {names[0]: edges[0][j + up], names[1]: edges[1][m + right]}
                change[j, m] += (-1) ** (up + right) * float(predict(one.assign(**at))[0])
        rows[j, m] += 1
    surface = np.zeros((J + 1, M + 1))
    for j in range(J):
        for m in range(M):
            below = surface[j, m + 1] + surface[j + 1, m] - surface[j, m]
            surface[j + 1, m + 1] = below + change[j, m] / rows[j, m]
    first, second = np.zeros(J + 1), np.zeros(M + 1)
    for j in range(J):
        slope = 0.0
        for m in range(M):
            left, right = (surface[j + 1, m + s] - surface[j, m + s] for s in (0, 1))
            slope += rows[j, m] * (left + right) / 2
        first[j + 1] = first[j] + slope / rows[j].sum()
    for m in range(M):
        slope = 0.0
        for j in range(J):
            low, high = (surface[j + s, m + 1] - surface[j + s, m] for s in (0, 1))
            slope += rows[j, m] * (low + high) / 2
        second[m + 1] = second[m] + slope / rows[:, m].sum()
    surface = surface - first[:, None] - second[None, :]
    mean = 0.0
    for j in range(J):
        for m in range(M):
            mean += rows[j, m] * surface[j : j + 2, m : m + 2].sum() / 4
    return surface - mean / rows.sum()
