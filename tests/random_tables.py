"""Random data frames: usual ones, and others at the limits of what is allowed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

__all__ = ["random_columns", "random_new_rows", "random_response", "random_weights"]

Rng = np.random.Generator
Maker = Callable[[Rng, int], object]

USUAL_NAMES = ["a", "b", "x1", "x2", "Sepal.Length", "long_name_of_a_column", "k", "m", "q", "z"]
ODD_NAMES = [
    *("INFINITY", "nan", "a b", "class", "1st", "True", "None", "µg", "λ", "汉字", "😀", "$x$"),
    *("C", "Q", "I", "np", "log", "_odrf_all_others_", "..", "a+b", "a~b", "<b>", "\\alpha"),
    *("%s", "{x}", "it's", 'a "b"', "`", "line\nbreak", "x²", "a" * 200, "_", "a:b", "f[u]"),
    "&amp;",
    *("index", "weight", "level", "importance", "share", "resid", "prediction", "leaf", "y.1", "0"),
]  # fmt: skip
WORDS = ["u", "v", "w", "p q", "Ärger", "<5", "t", "s", "r", "1", "nan", ""]


def _choice(rng: Rng, values: list) -> object:
    return values[rng.integers(len(values))]


def _levels(rng: Rng, n: int, most: int = 6) -> np.ndarray:
    return rng.choice(np.array(WORDS, dtype=object)[: rng.integers(2, most + 1)], n)


def _declared(rng: Rng, n: int, ordered: bool) -> pd.Categorical:
    """Return a factor of which some declared levels have no row."""
    return pd.Categorical(_levels(rng, n, 4), WORDS[:7], ordered=ordered)


def _some_missing(values: pd.Series, rng: Rng) -> pd.Series:
    return values.mask(rng.random(len(values)) < 0.1)


USUAL: dict[str, Maker] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "normal again": lambda rng, n: rng.normal(50, 10, n).round(1),
    "uniform": lambda rng, n: rng.random(n),
    "skewed": lambda rng, n: rng.lognormal(0, 2, n),
    "counts": lambda rng, n: rng.poisson(3, n),
    "ties": lambda rng, n: rng.integers(3, size=n).astype(float),
    "single precision": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "small integers": lambda rng, n: rng.integers(-100, 100, n).astype(np.int8),
    "truth": lambda rng, n: rng.random(n) < 0.4,
    "text": _levels,
    "category": lambda rng, n: pd.Categorical(_levels(rng, n)),
    "unused levels": lambda rng, n: _declared(rng, n, False),
    "ordered": lambda rng, n: _declared(rng, n, True),
    "nullable numbers": lambda rng, n: pd.array(rng.integers(9, size=n), dtype="Int64"),
    "nullable truth": lambda rng, n: pd.array(rng.random(n) < 0.5, dtype="boolean"),
    "strings": lambda rng, n: pd.array(_levels(rng, n), dtype="string"),
    "dates": lambda rng, n: (
        pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(99, size=n), "D")
    ),
    "durations": lambda rng, n: pd.to_timedelta(rng.integers(-9, 9, n), unit="h"),
}
EXTREME: dict[str, Maker] = {
    **USUAL,
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "tiny": lambda rng, n: rng.normal(size=n) * 1e-300,
    "subnormal": lambda rng, n: rng.integers(9, size=n) * 5e-324,
    "all magnitudes": lambda rng, n: 10.0 ** rng.integers(-300, 300, n),
    "far from zero": lambda rng, n: 1e15 + rng.integers(3, size=n),
    "hardly different": lambda rng, n: 1 + rng.integers(3, size=n) * 2.3e-16,
    "signed zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
    "beyond 2**53": lambda rng, n: 2**53 + rng.integers(3, size=n),
    "unsigned": lambda rng, n: rng.integers(2**63, 2**64, n, dtype=np.uint64),
    "integers of Python": lambda rng, n: np.array([2**70 + int(k) for k in range(n)], object),
    "half precision": lambda rng, n: rng.normal(size=n).astype(np.float16),
    "constant": lambda _, n: np.full(n, 3.0),
    "constant text": lambda _, n: np.full(n, "u", object),
    "all but one": lambda _, n: np.where(np.arange(n) == 0, 1.0, 0.0),
    "level of each row": lambda _, n: pd.Categorical([f"row {k}" for k in range(n)]),
    "many levels": lambda rng, n: rng.integers(n // 2 + 1, size=n).astype(str).astype(object),
    "numbers as levels": lambda rng, n: pd.Categorical(rng.integers(4, size=n)),
    "numbers as text": lambda rng, n: rng.integers(4, size=n).astype(str).astype(object),
}
REFUSED: dict[str, Maker] = {
    "beyond": lambda rng, n: rng.normal(size=n) * 1e305,
    "mixed": lambda rng, n: np.array([(1, "u", True)[k] for k in rng.integers(3, size=n)], object),
    "infinite": lambda rng, n: rng.choice([np.inf, 1.0, 2.0], n),
    "all missing": lambda _, n: np.full(n, np.nan),
    "all NA": lambda _, n: pd.array([pd.NA] * n, dtype="Int64"),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "lists": lambda _, n: [[k] for k in range(n)],
}
RESPONSES: dict[str, Maker] = {
    "number": lambda rng, n: rng.normal(size=n),
    "shifted": lambda rng, n: 1e3 + rng.normal(size=n),
    "counted": lambda rng, n: rng.poisson(2, n),
    "two": lambda rng, n: rng.choice(np.array(["no", "yes"], object), n),
    "rare": lambda rng, n: np.where(rng.random(n) < 0.1, "rare", "usual").astype(object),
    "three": lambda rng, n: rng.choice(np.array(["low", "mid", "top"], object), n),
    "ranks": lambda rng, n: pd.Categorical(
        rng.choice(["low", "mid", "top"], n), ["low", "mid", "top"], ordered=True
    ),
    "declared": lambda rng, n: _declared(rng, n, bool(rng.integers(2))),
    "true or false": lambda rng, n: rng.random(n) < 0.5,
    "zero or one": lambda rng, n: rng.integers(2, size=n),
    "nullable": lambda rng, n: pd.array(rng.normal(size=n).round(1), dtype="Float64"),
}
EXTREME_RESPONSES: dict[str, Maker] = {**RESPONSES, **EXTREME, **REFUSED}


def random_columns(rng: Rng, extreme: bool) -> pd.DataFrame:
    """Return a data frame of predictors."""
    if extreme:
        n = int(_choice(rng, [1, 2, 3, 5, 5, 8, 8, 20, 20, 40]))
        p = int(_choice(rng, [1, 2, 3, 5, 60]))
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
        {name: pd.Series(makers[str(_choice(rng, kinds))](rng, n)) for name in chosen}
    )
    if extreme and rng.random() < 0.15:
        data[data.columns[-1]] = pd.Series(REFUSED[str(_choice(rng, list(REFUSED)))](rng, n))
    if rng.random() < 0.15:
        first = data.columns[0]
        data[first] = _some_missing(data[first], rng)
    if extreme and rng.random() < 0.2:
        data = data.iloc[rng.integers(max(1, n // 4), size=n)].reset_index(drop=True)
    return data


def random_response(rng: Rng, n: int, extreme: bool) -> pd.Series:
    """Return a response for n rows."""
    makers = EXTREME_RESPONSES if extreme and rng.random() < 0.4 else RESPONSES
    return pd.Series(makers[str(_choice(rng, list(makers)))](rng, n))


def random_weights(rng: Rng, n: int, extreme: bool) -> np.ndarray | None:
    """Return weights of n rows, or None."""
    if rng.random() < 0.6:
        return None
    weights = rng.choice([rng.random(n), rng.integers(4, size=n), rng.lognormal(0, 2, n)])
    if not extreme:
        return weights
    unit = 10.0 ** float(_choice(rng, [-320, -300, -160, -9, 0, 9, 14, 100, 160, 198, 201]))
    few = np.where(np.arange(n) < rng.integers(1, 4), weights, 0.0)
    mixed = np.where(rng.random(n) < 0.5, weights, 1e-300)
    return [weights, few, mixed, np.ones(n)][rng.integers(4)] * unit


def random_new_rows(rng: Rng, data: pd.DataFrame) -> pd.DataFrame:
    """Return rows to predict: of the data, some with values that no training row has."""
    new = data.iloc[rng.integers(len(data), size=5)].reset_index(drop=True)
    for name in new.columns:
        column = new[name]
        if rng.random() < 0.3 and column.dtype == np.float64:
            new[name] = column * float(_choice(rng, [0.0, -1.0, 1e3, 1e300]))
        elif rng.random() < 0.3 and column.dtype == object:
            new[name] = ["a level that no row has", *column[1:]]
    return new
