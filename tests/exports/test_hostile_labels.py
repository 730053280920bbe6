"""Names, levels and classes that other languages may read otherwise, in every target.

They are exported so that predictions are those of `predict`, or refused.
"""

from __future__ import annotations

import warnings
from collections import Counter

import pandas as pd
import pytest

from benchmarks.reliability.export_targets import (
    COMPILER,
    as_plain,
    in_c,
    in_duckdb,
    in_onnx,
    in_python,
    in_sqlite,
    predicted,
)
from hostile_labels import hostile_fit
from odrf import InputError

TARGETS = ("Python", "row_predictor", "ONNX", "C", "SQLite", "DuckDB", "PostgreSQL")
QUICK = 20


def answers(fit, new, type, target):
    """Run a fit in a target."""
    if target == "Python":
        return in_python(fit.to_python(type), new)
    if target == "row_predictor":
        return in_turn(fit.row_predictor(type), new)
    if target == "ONNX":
        return in_onnx(fit, new)[type == "prob"]
    if target == "C":
        return in_c(fit, new, type)
    if target == "SQLite":
        return in_sqlite(fit.to_sql("sqlite", type), new)
    # the text for PostgreSQL runs in DuckDB, if that can hold the names of the columns
    texts = {name: fit.to_sql(name, type) for name in ("postgres", "duckdb")}
    return in_duckdb(texts["duckdb" if target == "DuckDB" else "postgres"], new)


def in_turn(predict, new):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unseen levels are meant
        found = [predict(row) for row in new.to_dict("records")]
    if found and isinstance(found[0], dict):
        return as_plain(pd.DataFrame([list(row.values()) for row in found]))
    return [None if value != value else value for value in found]


def check(seed):
    """Return how many answers each target gives, which are those of `predict`, or refuses."""
    done = Counter()
    made = hostile_fit(seed)
    if made is None:
        return done
    fit, new = made
    for type in ("response", "prob") if fit.kind == "classification" else ("response",):
        expected = predicted(fit, new, type)
        for target in TARGETS:
            is_sql = target in ("SQLite", "DuckDB", "PostgreSQL")
            if (is_sql and not hasattr(fit, "to_sql")) or (target == "C" and COMPILER is None):
                continue
            try:
                found = answers(fit, new, type, target)
            except InputError as refusal:
                assert target == "row_predictor" or "before fitting" in str(refusal), refusal
                done[target, "refused"] += 1
                continue
            assert found == expected, (target, type)
            done[target, "exported"] += 1
    return done


def test_exports_are_those_of_predict_or_refused():
    done = sum((check(seed) for seed in range(QUICK)), Counter())
    for target in TARGETS:
        if target != "C" or COMPILER is not None:
            assert done[target, "exported"] >= QUICK // 4, done


@pytest.mark.weekly
@pytest.mark.parametrize("seed", range(QUICK, 200))
def test_exports_of_many_sets_are_those_of_predict_or_refused(seed):
    check(seed)
