"""Random data frames, their responses, weights, and rows to predict."""

from __future__ import annotations

import numpy as np
import pandas as pd

from cases.columns import (
    EXTREME,
    EXTREME_RESPONSES,
    ODD_NAMES,
    REFUSED,
    RESPONSES,
    USUAL,
    USUAL_NAMES,
    Rng,
    choice,
)

__all__ = [
    *("oddly_labelled", "random_columns", "random_new_rows", "random_response", "random_weights"),
]


def _some_missing(values: pd.Series, rng: Rng) -> pd.Series:
    return values.mask(rng.random(len(values)) < 0.1)


def random_columns(rng: Rng, extreme: bool) -> pd.DataFrame:
    """Return a data frame of predictors."""
    if extreme:
        n = int(choice(rng, [1, 2, 3, 5, 5, 8, 8, 20, 20, 40]))
        p = int(choice(rng, [1, 2, 3, 5, 60]))
    else:
        n, p = int(rng.integers(12, 81)), int(rng.integers(1, 8))
    makers = EXTREME if extreme and rng.random() < 0.8 else USUAL
    names = USUAL_NAMES + (ODD_NAMES if extreme else [])
    chosen = [str(name) for name in rng.permutation(np.array(names, object))[:p]]
    chosen += [f"v{k}" for k in range(p - len(chosen))]
    # Half of the extreme tables have one kind of columns only, so that most of them can be fitted.
    kinds = [str(kind) for kind in rng.permutation(list(makers))]
    kinds = kinds[: 1 + int(rng.integers(3))] if extreme and rng.random() < 0.5 else kinds
    data = pd.DataFrame(
        {name: pd.Series(makers[str(choice(rng, kinds))](rng, n)) for name in chosen}
    )
    if extreme and rng.random() < 0.15:
        data[data.columns[-1]] = pd.Series(REFUSED[str(choice(rng, list(REFUSED)))](rng, n))
    if rng.random() < 0.15:
        first = data.columns[0]
        data[first] = _some_missing(data[first], rng)
    if extreme and rng.random() < 0.2:
        data = data.iloc[rng.integers(max(1, n // 4), size=n)].reset_index(drop=True)
    return data


def random_response(rng: Rng, n: int, extreme: bool) -> pd.Series:
    """Return a response for n rows."""
    makers = EXTREME_RESPONSES if extreme and rng.random() < 0.4 else RESPONSES
    return pd.Series(makers[str(choice(rng, list(makers)))](rng, n))


def random_weights(rng: Rng, n: int, extreme: bool) -> np.ndarray | None:
    """Return weights of n rows, or None."""
    if rng.random() < 0.6:
        return None
    weights = rng.choice([rng.random(n), rng.integers(4, size=n), rng.lognormal(0, 2, n)])
    if not extreme:
        return weights
    unit = 10.0 ** float(choice(rng, [-320, -300, -160, -9, 0, 9, 14, 100, 160, 198, 201]))
    few = np.where(np.arange(n) < rng.integers(1, 4), weights, 0.0)
    mixed = np.where(rng.random(n) < 0.5, weights, 1e-300)
    return [weights, few, mixed, np.ones(n)][rng.integers(4)] * unit


def random_new_rows(rng: Rng, data: pd.DataFrame) -> pd.DataFrame:
    """Return rows to predict: of the data, some with values that no training row has."""
    new = data.iloc[rng.integers(len(data), size=5)].reset_index(drop=True)
    for name in new.columns:
        column = new[name]
        if rng.random() < 0.3 and column.dtype == np.float64:
            new[name] = column * float(choice(rng, [0.0, -1.0, 1e3, 1e300]))
        elif rng.random() < 0.3 and column.dtype == object:
            new[name] = ["a level that no row has", *column[1:]]
    return new


def oddly_labelled(rng: Rng, data: pd.DataFrame) -> pd.DataFrame:
    """Return the table with columns or rows that are labelled as few tables are."""
    n, p = data.shape
    way = choice(rng, ["twice", "numbers", "two levels of names", "rows", "dates", "equal", "none"])
    if way == "twice":
        return data.set_axis([*data.columns[: p - 2], data.columns[-1], data.columns[-1]], axis=1)
    if way == "numbers":
        return data.set_axis([*range(p - 1), data.columns[-1]], axis=1)
    if way == "two levels of names":
        return data.set_axis(pd.MultiIndex.from_product([["u"], data.columns]), axis=1)
    if way == "rows":
        return data.set_axis(pd.MultiIndex.from_arrays([np.arange(n) % 2, np.arange(n)]))
    if way == "dates":
        return data.set_axis(pd.date_range("2020-01-01", periods=n, freq="h"))
    return data.set_axis(np.zeros(n, dtype=int)) if way == "equal" else data[:0]
