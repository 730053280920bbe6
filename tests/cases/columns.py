"""Kinds of columns: usual ones, others at the limits, and some that are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

__all__ = [
    *("EXTREME", "EXTREME_RESPONSES", "ODD_NAMES", "REFUSED", "RESPONSES", "USUAL", "USUAL_NAMES"),
    *("Rng", "choice"),
]

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


def choice(rng: Rng, values: Sequence[Any]) -> Any:
    """Return one of the values, which may be of any types."""
    return values[rng.integers(len(values))]


def _levels(rng: Rng, n: int, most: int = 6) -> np.ndarray:
    return rng.choice(np.array(WORDS, dtype=object)[: rng.integers(2, most + 1)], n)


def _declared(rng: Rng, n: int, ordered: bool) -> pd.Categorical:
    """Return a factor of which some declared levels have no row."""
    return pd.Categorical(_levels(rng, n, 4), WORDS[:7], ordered=ordered)


def _dates(rng: Rng, n: int) -> pd.Series:
    return pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(99, size=n), "D"))


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
    "arrow numbers": lambda rng, n: pd.array(rng.normal(size=n), dtype="double[pyarrow]"),
    "arrow integers": lambda rng, n: pd.array(rng.integers(9, size=n), dtype="int64[pyarrow]"),
    "arrow truth": lambda rng, n: pd.array(rng.random(n) < 0.5, dtype="bool[pyarrow]"),
    "arrow text": lambda rng, n: pd.array(_levels(rng, n), dtype="string[pyarrow]"),
    "arrow levels": lambda rng, n: pd.Series(_levels(rng, n)).astype(
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "arrow decimals": lambda rng, n: pd.array(
        [Decimal(int(k)) / 4 for k in rng.integers(9, size=n)],
        dtype=pd.ArrowDtype(pa.decimal128(9, 2)),
    ),
    "arrow dates": lambda rng, n: _dates(rng, n).astype("timestamp[us][pyarrow]"),
    "dates of a zone": lambda rng, n: _dates(rng, n).dt.tz_localize("Europe/Zurich"),
    "periods": lambda rng, n: pd.period_range("2020-01", periods=n, freq="M"),
    "intervals": lambda rng, n: pd.cut(rng.random(n), 3),
    "sparse": lambda rng, n: pd.arrays.SparseArray(rng.poisson(0.3, n).astype(float)),
    "nullable single": lambda rng, n: pd.array(rng.normal(size=n), dtype="Float32"),
    "nullable bytes": lambda rng, n: pd.array(rng.integers(200, size=n), dtype="UInt8"),
    "dates as levels": lambda rng, n: pd.Categorical(_dates(rng, n)),
    "truths as objects": lambda rng, n: (rng.random(n) < 0.5).astype(object),
    "decimals": lambda rng, n: np.array(
        [Decimal(int(k)) / 4 for k in rng.integers(9, size=n)], object
    ),
    "fractions": lambda rng, n: np.array(
        [Fraction(int(k), 3) for k in rng.integers(9, size=n)], object
    ),
    "days of Python": lambda rng, n: np.array(_dates(rng, n).dt.date, object),
    "levels in no order": lambda rng, n: pd.Categorical(
        rng.integers(3, size=n), categories=[2, 0, 1, 7], ordered=True
    ),
    "numbers as text": lambda rng, n: rng.integers(4, size=n).astype(str).astype(object),
}
REFUSED: dict[str, Maker] = {
    "beyond": lambda rng, n: rng.normal(size=n) * 1e305,
    "mixed": lambda rng, n: np.array([(1, "u", True)[k] for k in rng.integers(3, size=n)], object),
    "infinite": lambda rng, n: rng.choice([np.inf, 1.0, 2.0], n),
    "all missing": lambda _, n: np.full(n, np.nan),
    "all NA": lambda _, n: pd.array([pd.NA] * n, dtype="Int64"),
    "complex": lambda rng, n: rng.normal(size=n) + 1j,
    "bytes": lambda _, n: np.array([b"u"] * n, object),
    "tables": lambda _, n: [pd.DataFrame() for _ in range(n)],
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
