"""Shapley values by their definition: every coalition of terms, every mixed row predicted."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from math import factorial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["coalition_values", "interaction_values", "share_of_orders", "values_by_definition"]


def coalition_values(
    predict: Callable[[pd.DataFrame], NDArray[np.float64]],
    row: pd.DataFrame,
    background: pd.DataFrame,
) -> dict[tuple[int, ...], NDArray[np.float64]]:
    """The mean prediction (K,) of mixed rows, by coalition: 1 for the columns of `row`, else 0."""
    mixed, coalitions = [], list(product((0, 1), repeat=row.shape[1]))
    for coalition in coalitions:
        rows = background.copy()
        for name, own in zip(row.columns, coalition, strict=True):
            if own:
                rows[name] = pd.concat([row[name]] * len(rows)).set_axis(rows.index)
        mixed.append(rows)
    predicted = predict(pd.concat(mixed, ignore_index=True))
    means = predicted.reshape(len(coalitions), len(background), -1).mean(axis=1)
    return dict(zip(coalitions, means, strict=True))


def values_by_definition(
    values: dict[tuple[int, ...], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The Shapley values (P, K) of a game."""
    P = len(next(iter(values)))
    out = []
    for j in range(P):
        total = 0.0
        for coalition in values:
            if not coalition[j]:
                k = sum(coalition)
                joined = (*coalition[:j], 1, *coalition[j + 1 :])
                weight = factorial(k) * factorial(P - 1 - k) / factorial(P)
                total = total + weight * (values[joined] - values[coalition])
        out.append(total)
    return np.array(out)


def interaction_values(values: dict[tuple[int, ...], NDArray[np.float64]]) -> NDArray[np.float64]:
    """The Shapley interaction values (P, P, K): half the index of each pair, the rest of the value
    of a term on the diagonal."""
    P = len(next(iter(values)))
    out = np.zeros((P, P, len(next(iter(values.values())))))
    for i, j in product(range(P), repeat=2):
        if i == j:
            continue
        for coalition in values:
            if coalition[i] or coalition[j]:
                continue
            k = sum(coalition)
            weight = factorial(k) * factorial(P - 2 - k) / factorial(P - 1)
            with_i, with_j, with_both = (
                tuple(1 if t in joining else own for t, own in enumerate(coalition))
                for joining in ((i,), (j,), (i, j))
            )
            change = values[with_both] - values[with_i] - values[with_j] + values[coalition]
            out[i, j] += weight * change / 2
    own = values_by_definition(values)
    for i in range(P):
        out[i, i] = own[i] - out[i].sum(axis=0)
    return out


def share_of_orders(a: int, b: int) -> float:
    """The share of the orders of a + b terms in which the first a come before all others."""
    met = [set(order[:a]) == set(range(a)) for order in permutations(range(a + b))]
    return sum(met) / len(met)
