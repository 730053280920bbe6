"""Fits of random tables, exported to every target."""

from __future__ import annotations

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from benchmarks.reliability.export_targets import (
    COMPILER,
    in_c,
    in_duckdb,
    in_onnx,
    in_python,
    in_sqlite,
    predicted,
)
from cases.tables import random_columns, random_new_rows
from odrf import InputError
from odrf.design.formula import quoted

REFUSED = (
    "holds dates",
    "holds durations",
    "counts as its rank",
    "cannot be written in another language",
    "empty text among its levels",
    "neither text nor numbers",
)


def random_fit(seed):
    """Return a fit of a usual table, and rows to predict; None where it is refused."""
    rng = np.random.default_rng([seed, 5])
    data = random_columns(rng, extreme=False)
    names = [quoted(name) for name in data.columns]
    right = [".", f". + {names[0]}:{names[-1]}", f"{names[0]} * {names[-1]}"]
    new = random_new_rows(rng, data)
    score = rng.normal(size=len(data)) + sum(
        (data[name] > data[name].median()).astype(float)
        for name in data.select_dtypes("float").columns
    )
    data["response"] = score if rng.random() < 0.5 else np.where(score > 0, "high", "low")
    missing = str(rng.choice(["split", "split", "median"]))
    formula = f"response ~ {right[rng.integers(3)]}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fit = odrf.odt(formula, data, alpha=None, min_leaf=1, missing=missing, seed=1, n_jobs=1)
            fit.predict(new)
    except InputError:
        return None
    return fit, new


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_every_row_is_predicted_as_by_predict_or_the_export_says_why_not(seed):
    found = random_fit(seed)
    if found is None:
        return
    fit, new = found
    expected = predicted(fit, new)
    targets = {
        "Python": lambda: in_python(fit.to_python(), new),
        "DuckDB": lambda: in_duckdb(fit.to_sql("duckdb"), new),
        "SQLite": lambda: in_sqlite(fit.to_sql("sqlite"), new),
        "ONNX": lambda: in_onnx(fit, new)[0],
    }
    if COMPILER is not None:
        targets["C"] = lambda: in_c(fit, new)
    for target, run in targets.items():
        try:
            assert run() == expected, target
        except InputError as refusal:
            assert any(words in str(refusal) for words in REFUSED), refusal


def test_most_random_fits_are_exported():
    exported = 0
    for seed in range(30):
        found = random_fit(seed)
        if found is None:
            continue
        try:
            found[0].to_python()
            exported += 1
        except InputError:
            pass
    assert exported >= 10
