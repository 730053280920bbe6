"""Laws: a table that says the same in another way gives the same fit, to the bit where it can.

A law takes a table, says it otherwise, and turns back what is predicted.  `EXACT` hold to the bit
for every function and response; `CLOSE` within a bound, because sums are made in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import odrf

FITS: dict[str, Callable[..., Any]] = {
    "tree": partial(odrf.odt, alpha=None),
    "pruned tree": partial(odrf.odt, alpha="cv"),
    "axis tree": partial(odrf.odt, projection="axis", alpha=None),
    "forest": partial(odrf.odrf, n_trees=5),
    "sparse forest": partial(odrf.odrf, n_trees=5, projection="sparse"),
    "boosted": partial(odrf.odbt, n_trees=4),
    "guided": partial(odrf.graf, n_trees=4),
}
RESPONSES = ("y", "two", "three", "ranks")
NUMBERS = ["a", "b", "k"]
TYPES = ("int8", "Int64", "Float32", "int32[pyarrow]")
# All functions read columns by the same code, before anything is grown.
READ = ("tree", "guided")
Table = pd.DataFrame


@cache
def table() -> Table:
    """Numbers that are multiples of 1/1024, so that float32 holds them after shifts, too."""
    rng = np.random.default_rng(7)
    n = 60
    data = pd.DataFrame(np.round(rng.normal(size=(n, 2)) * 1024) / 1024, columns=["a", "b"])
    data["k"] = rng.integers(9, size=n).astype(float)
    data["f"] = rng.choice(list("uvw"), n)
    score = data["a"] + data["b"] + (data["f"] == "u") + rng.normal(size=n) / 2
    data["y"] = np.round(score * 1024) / 1024
    data["two"] = np.where(score > 0, "yes", "no")
    data["three"] = np.array(["low", "mid", "top"])[score.rank(pct=True).mul(2.99).astype(int)]
    data["ranks"] = pd.Categorical(data["three"], ["low", "mid", "top"], ordered=True)
    return data


def predicted(name: str, data: Table, response: str, formula: str = "", **options: Any) -> Any:
    """Fit, and return the predictions of the rows: numbers, or probabilities of classes."""
    fit = FITS[name](formula or f"{response} ~ a + b + k + f", data, seed=3, **options)
    return as_numbers(fit, data)


def as_numbers(fit: Any, data: Table) -> np.ndarray:
    """Return the predictions as numbers, of one column or one a class."""
    kind = {} if fit.kind == "regression" else {"type": "prob"}
    return np.asarray(fit.predict(data, **kind), dtype=float).reshape(len(data), -1)


@cache
def usual(name: str, response: str) -> np.ndarray:
    """Return the predictions of the table as it is."""
    return predicted(name, table(), response)


def scaled(by: float, name: str, response: str) -> np.ndarray:
    """Return predictions where the numbers are in another unit."""
    data = table().copy()
    data[NUMBERS] *= by
    return predicted(name, data, response)


def shifted(name: str, response: str) -> np.ndarray:
    """Return predictions where a constant is added to the numbers."""
    data = table().copy()
    data[NUMBERS] += 16.0
    return predicted(name, data, response)


def in_single_precision(name: str, response: str) -> np.ndarray:
    """Return predictions where the numbers are in float32."""
    return predicted(name, table().astype(dict.fromkeys(NUMBERS, np.float32)), response)


def in_a_type(dtype: str, name: str, response: str) -> np.ndarray:
    """Return predictions where whole numbers are in another type."""
    return predicted(name, table().astype({"k": dtype}), response)


def laid_out_otherwise(name: str, response: str) -> np.ndarray:
    """Return predictions where columns are reversed, one is not named, and rows have labels."""
    data = table()[table().columns[::-1]].assign(other=np.nan)
    return predicted(name, data.set_axis([f"r{k}" for k in range(len(data))]), response)


def renamed(name: str, response: str) -> np.ndarray:
    """Return predictions where predictors, and levels and classes of the same order, are renamed.

    Classes are whole numbers then.
    """
    data = table().assign(f="level " + table()["f"])
    if response != "y":
        codes = data[response].astype("category").cat.codes
        data[response] = pd.Categorical(codes + 10, ordered=response == "ranks")
    data = data.rename(columns={"a": "zz", "b": "µ", "k": "k 2", "f": "A"})
    return predicted(name, data, response, f"{response} ~ zz + µ + `k 2` + A")


def levels_declared(name: str, response: str) -> np.ndarray:
    """Return predictions where the factor declares its levels."""
    return predicted(name, table().astype({"f": "category"}), response)


def weighted_alike(by: float, name: str, response: str) -> np.ndarray:
    """Return predictions where all rows have one weight."""
    return predicted(name, table(), response, weights=np.full(len(table()), by))


def in_threads(n: int, name: str, response: str) -> np.ndarray:
    """Return predictions of a fit grown by so many threads."""
    return predicted(name, table(), response, n_jobs=n)


def in_chunks(name: str, response: str) -> np.ndarray:
    """Return predictions made of a few rows at a time, the last ones first."""
    fit = FITS[name](f"{response} ~ a + b + k + f", table(), seed=3)
    parts = [as_numbers(fit, table()[k : k + 7]) for k in range(0, len(table()), 7)]
    return np.concatenate(parts)


def response_in_another_unit(name: str, response: str) -> np.ndarray:
    """Return predictions of numbers in another unit, in the first unit again."""
    if response != "y":
        return usual(name, response)
    return predicted(name, table().assign(y=8 * table()["y"]), response) / 8


EXACT: dict[str, Callable[[str, str], np.ndarray]] = {
    "scaled by 8": partial(scaled, 8.0),
    "scaled by 2**-40": partial(scaled, 2.0**-40),
    "shifted": shifted,
    "float32": in_single_precision,
    **{t: partial(in_a_type, t) for t in TYPES},
    "laid out otherwise": laid_out_otherwise,
    "renamed": renamed,
    "levels declared": levels_declared,
    "weights of 1": partial(weighted_alike, 1.0),
    "weights of 1/4": partial(weighted_alike, 0.25),
    "weights of 4": partial(weighted_alike, 4.0),
    "2 threads": partial(in_threads, 2),
    "7 threads": partial(in_threads, 7),
    "chunks": in_chunks,
    "response × 8": response_in_another_unit,
}


# Where a law does not hold to the bit, and why.
BROKEN = {
    ("weights of 1/4", "sparse forest"): "entropies of other weights are rounded in another way",
    ("weights of 4", "sparse forest"): "entropies of other weights are rounded in another way",
    ("weights of 4", "boosted"): "weights above 1 count as rows beside the penalty l2",
}
HOLDING = [
    (law, name)
    for law in EXACT
    for name in FITS
    if (law, name) not in BROKEN and (law not in TYPES or name in READ)
]


@pytest.mark.parametrize(("law", "name"), HOLDING)
def test_to_the_bit(law, name):
    for response in RESPONSES:
        np.testing.assert_array_equal(EXACT[law](name, response), usual(name, response))


def of_rows_permuted(name: str, response: str) -> np.ndarray:
    """Return predictions of a fit to the rows in another order."""
    order = np.random.default_rng(1).permutation(len(table()))
    fit = FITS[name](f"{response} ~ a + b + k + f", table().iloc[order], seed=3)
    return as_numbers(fit, table())


def of_rows_twice(name: str, response: str) -> np.ndarray:
    """Return predictions of a fit to each row twice, with leaves of twice as many rows."""
    twice = pd.concat([table(), table()], ignore_index=True)
    # By default nodes of more rows are searched by bins first.
    options = {"seed": 3, "min_leaf": 10, "split_search": "exact"}
    fit = FITS[name](f"{response} ~ a + b + k + f", twice, **options)
    return as_numbers(fit, table())


def scaled_by_ten(name: str, response: str) -> np.ndarray:
    """Return predictions where the numbers are ten times as large."""
    return scaled(10.0, name, response)


def response_shifted(name: str, response: str) -> np.ndarray:
    """Return predictions of 10 y + 300, as predictions of y."""
    if response != "y":
        return usual(name, response)
    return (predicted(name, table().assign(y=10 * table()["y"] + 300), response) - 300) / 10


# Laws of trees without draws, and the bound of their differences.
CLOSE: dict[str, Callable[[str, str], np.ndarray]] = {
    "rows permuted": of_rows_permuted,
    "rows twice": of_rows_twice,
    "scaled by 10": scaled_by_ten,
    "response × 10 + 300": response_shifted,
}


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("law", CLOSE)
def test_within_rounding(law, response):
    found = CLOSE[law]("axis tree", response)
    np.testing.assert_allclose(found, usual("axis tree", response), rtol=0, atol=1e-9)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("name", ["forest", "guided"])
def test_forests_are_combined_in_any_order(name, response):
    formula = f"{response} ~ a + b + k + f"
    one, other, third = (FITS[name](formula, table(), seed=k) for k in (1, 2, 3))
    forth = as_numbers(one.combine(other).combine(third), table())
    back = as_numbers(third.combine(other).combine(one), table())
    np.testing.assert_allclose(forth, back, rtol=0, atol=1e-12)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("name", ["forest", "guided", "boosted"])
def test_a_fit_grown_in_parts_is_the_one_grown_at_once(name, response):
    formula = f"{response} ~ a + b + k + f"
    parts = FITS[name](formula, table(), seed=3, n_trees=2).grow(1).grow(3)
    at_once = FITS[name](formula, table(), seed=3, n_trees=6)
    np.testing.assert_array_equal(as_numbers(parts, table()), as_numbers(at_once, table()))


# Others draw a class against which they compare the rest, or the order of the levels' scores.
@pytest.mark.parametrize("name", ["axis tree", "guided"])
def test_classes_reversed_have_reversed_probabilities(name):
    data = table().assign(three=table()["three"].map({"low": "z", "mid": "y", "top": "x"}))
    found = predicted(name, data, "three")[:, ::-1]
    np.testing.assert_allclose(found, usual(name, "three"), rtol=0, atol=1e-9)
