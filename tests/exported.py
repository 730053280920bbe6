"""Fits to export, and rows to predict with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import odrf

__all__ = ["CASES", "LINES", "case", "case_of_lines", "wide_table"]

ROWS = 150
FORMULAS = {
    "numbers": "y ~ a + b + f",
    "classes": "c ~ a + b + f",
    "terms": "y ~ log(abs(b) + 1) + I(a ** 2 / 3) + a:b + a:f + C(k) + o + t + f:k2",
    "levels": "y ~ a + m + b",
    "one number": "c ~ a",
    "ordered": "o ~ a + b + f",
}
HOLES = ("split", "median", "drop", "surrogate")
CASES = [*FORMULAS, *(f"holes, {missing}" for missing in HOLES)]
LINES = ["numbers", "terms", "levels", "holes, split", "holes, median", "holes, drop"]
"""The cases of trees whose leaves are lines."""


def wide_table() -> pd.DataFrame:
    """Numbers, whole numbers, truths, factors of few and of many levels, and ordered ones."""
    rng = np.random.default_rng(7)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=ROWS),
            "b": rng.normal(size=ROWS) * 100,
            "f": rng.choice(np.array(["x", "it's", 'a "z"'], object), ROWS),
            "k": rng.integers(4, size=ROWS),
            "k2": rng.choice(np.array(["p", "q"], object), ROWS),
            "t": rng.random(ROWS) < 0.4,
            "m": rng.choice(np.array(list("ABCDEFGHIJ"), object), ROWS),
        }
    )
    score = data["a"] + data["b"] / 100 + (data["f"] == "x") + data["t"] + (data["m"] < "D")
    data["y"] = score + rng.normal(size=ROWS) / 4
    words = np.select([score < 0, score < 1.5], ["low", "mid"], "top")
    data["c"] = words.astype(object)
    data["o"] = pd.Categorical(words, ["low", "mid", "top"], ordered=True)
    return data


def with_holes(data: pd.DataFrame, columns: list[str], share: float) -> pd.DataFrame:
    """Return a copy with missing values in some columns of numbers and text."""
    rng = np.random.default_rng(8)
    empty = {name: data[name].mask(rng.random(len(data)) < share) for name in columns}
    return data.assign(**empty)


def new_rows(data: pd.DataFrame) -> pd.DataFrame:
    """Return the rows, some with missing values, some with levels that no training row has."""
    new = with_holes(data, ["a", "b", "f", "m", "k2"], 0.15)
    new["f"] = new["f"].where(np.arange(len(new)) % 11 > 0, "unseen")
    new["k"] = new["k"].where(np.arange(len(new)) % 13 > 0, 77)
    new.loc[new.index[:4], "b"] = [1e9, -1e9, 0.0, 1e-9]
    return new


def case(name: str, forest: bool = False) -> tuple[Any, pd.DataFrame]:
    """Return a fit, and rows to predict."""
    data = wide_table()
    new = new_rows(data)
    options: dict[str, Any] = {"alpha": None} if not forest else {"n_trees": 7}
    formula = FORMULAS.get(name, FORMULAS["classes"])
    if name.startswith("holes"):
        data = with_holes(data, ["a", "f"], 0.2)
        options["missing"] = name.partition(", ")[2]
    if name == "ordered":
        options["criterion"] = "ordinal"
    fit = odrf.odrf if forest else odrf.odt
    return fit(formula, data, seed=1, **options), new


def case_of_lines(name: str) -> tuple[Any, pd.DataFrame]:
    """Return a tree whose leaves are lines, and rows to predict, some beyond the training rows."""
    data = wide_table()
    data["y"] += 4 * np.abs(data["a"]) + np.where(data["b"] > 0, 5 * data["a"], 0)
    new = new_rows(data)
    options: dict[str, Any] = {"alpha": None, "min_leaf": 3, "leaves": "linear"}
    if name.startswith("holes"):
        data = with_holes(data, ["a", "f"], 0.2)
        options["missing"] = name.partition(", ")[2]
    return odrf.odt(FORMULAS.get(name, FORMULAS["numbers"]), data, seed=1, **options), new
