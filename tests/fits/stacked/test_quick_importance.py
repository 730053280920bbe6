"""Importances of columns from a small forest."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.stack import growing as module
from odrf.fits.stack.growing import (
    FEWEST_IN_TURN,
    FEWEST_ROWS,
    FOLDS,
    SAMPLE_FRACTION,
    importance_of_folds,
    quick_importance,
)


@pytest.mark.parametrize("response", ["y", "c"])
def test_they_are_the_held_out_importances_of_a_small_forest_on_these_rows(response):
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=list("ab"))
    data["f"] = rng.choice(["u", "v", "w"], 150)
    data["y"] = np.abs(data["a"]) + (data["f"] == "u") + rng.normal(size=150) / 5
    data["c"] = np.where(data["y"] > 0.9, "over", "below")
    formula = f"{response} ~ a + b + f"
    rows = np.arange(100)
    fit = odrf.odrf(formula, data, n_trees=30, seed=3).fit
    found = quick_importance(fit.design, fit.data, fit.request, rows[::-1])
    assert found.shape == (len(fit.design.columns),) and (found >= 0).all()
    of_predictors = [found[b] for b in fit.design.first[:-1]]
    assert found[0] > 2 * found[1] and len(set(found[2:])) == 1
    how = {"resample": "subsample", "sample_fraction": SAMPLE_FRACTION, "blend": False}
    small = odrf.odrf(formula, data[:100], n_trees=FEWEST_IN_TURN, seed=3, **how)
    expected = small.importance()["importance"].reindex(["a", "b", "f"]).clip(lower=0)
    # a fit to these rows alone scales columns by their own range
    np.testing.assert_allclose(of_predictors, expected, rtol=0.3, atol=0.02)
    changed = fit.data.y.copy()
    changed[100:] = changed[100:][::-1]
    other = quick_importance(
        fit.design, fit.data.__class__(**{**vars(fit.data), "y": changed}), fit.request, rows
    )
    np.testing.assert_array_equal(other, found)


def test_where_nothing_can_be_split_they_are_0():
    data = pd.DataFrame({"a": np.arange(30.0), "y": np.repeat(1.0, 30)})
    data.loc[29, "y"] = 2.0
    fit = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1).fit
    assert quick_importance(fit.design, fit.data, fit.request, np.arange(29)).tolist() == [0.0]


def test_those_without_a_fold_are_of_the_other_rows():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=list("ab"))
    data["y"] = data["a"] + rng.normal(size=60) / 5
    fit = odrf.odrf("y ~ .", data, n_trees=20, seed=3).fit
    found = importance_of_folds(fit.design, fit.data, fit.request, 5)
    # each five rows in order are in five folds
    assert (np.sort(found.fold.reshape(-1, FOLDS)) == np.arange(FOLDS)).all()
    assert len({tuple(five) for five in found.fold.reshape(-1, FOLDS)}) > 3
    assert len(found.importance) == FOLDS + 1
    for f, importance in enumerate(found.importance):
        rows = np.flatnonzero(found.without(f))
        assert len(rows) == (48 if f < FOLDS else 60)
        again = quick_importance(fit.design, fit.data, fit.request, rows)
        np.testing.assert_array_equal(importance, again)


def test_many_rows_are_in_folds_and_few_have_none(monkeypatch):
    data = pd.DataFrame({"a": np.arange(60.0), "y": np.arange(60) % 7})
    fit = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1, kind="regression").fit
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    found = importance_of_folds(fit.design, fit.data, fit.request, 5)
    assert sorted(set(found.fold)) == list(range(FOLDS))
    few = fit.data.keeping(np.arange(60) < FEWEST_ROWS - 1)
    assert importance_of_folds(fit.design, few, fit.request, 5) is None
