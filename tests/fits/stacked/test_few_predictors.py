"""Forests on the predictors that matter."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.responses import forest_out_of_bag
from odrf.fits.stack.growing import ForestsOnFew, importance_of_folds
from odrf.fits.stack.smoothers import FoldImportance

HOW = {"n_trees": 40, "seed": 1, "blend": False}


def table(n=240, noise=30):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(n, noise)), columns=[f"x{j}" for j in range(noise)])
    data["f"] = rng.choice(["u", "v", "w"], n)
    signal = data["x1"] + np.abs(data["x4"]) * 2 + 1.5 * (data["f"] == "v")
    data["y"] = signal + rng.normal(size=n) / 9
    data["c"] = np.where(data["y"] > 0.5, "over", "below")
    return data


def fit_of(response, data):
    predictors = [name for name in data if name not in ("y", "c")]
    return odrf.odrf(f"{response} ~ {' + '.join(predictors)}", data, **HOW).fit


def few_of(fit, by_fold):
    known = forest_out_of_bag(fit).value
    return ForestsOnFew("", fit.design, fit.data, fit.request, by_fold, False).best(known)


def judged_of(fit):
    return importance_of_folds(fit.design, fit.data, fit.request, 1)


def judged_by_hand(fit, names):
    """Importances of 1 for predictors of these names, and of 0 for the others."""
    matter = [name in names for name in fit.design.predictors]
    of_columns = np.repeat(np.where(matter, 1.0, 0.0), np.diff(fit.design.first))
    return FoldImportance(np.arange(len(fit.data.y)) % 5, [of_columns] * 6)


@pytest.mark.parametrize("response", ["y", "c"])
def test_rows_are_predicted_by_forests_without_their_fold(response, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.LEAST_GAIN", 0.0)
    data = table()
    fit = fit_of(response, data)
    found = few_of(fit, judged_by_hand(fit, ("x1", "x4", "f")))
    assert found.fit.design.predictors == ("x1", "x4", "f")
    assert [fit.design.columns[j] for j in found.columns][:2] == ["x1", "x4"]
    assert found.fit.forest.n_trees == 20
    for f in range(5):
        held = np.arange(240) % 5 == f
        # the columns are scaled by the range of all rows, which are the ends of a factor and cells
        some = data[~held]
        again = odrf.odrf(f"{response} ~ x1 + x4 + f", some, **{**HOW, "n_trees": 20})
        kind = "response" if response == "y" else "prob"
        expected = np.reshape(again.predict(data[held], kind).to_numpy(), (held.sum(), -1))
        off = np.abs(found.left_out[held] - expected).mean()
        assert off < 0.2 * np.std(expected)


def test_a_fold_has_no_part_in_its_predictions(monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.ORDERS", (2,))
    fit = fit_of("y", table())
    by_fold = judged_of(fit)
    found = few_of(fit, by_fold)
    assert {"x1", "x4", "f"} <= set(found.fit.design.predictors)
    held = by_fold.fold == 2
    y = fit.data.y + np.where(held, np.sin(np.arange(240)) / 5, 0.0)
    changed = replace(fit, data=replace(fit.data, y=y))
    other = few_of(changed, judged_of(changed))
    np.testing.assert_array_equal(other.left_out[held], found.left_out[held])
    assert (other.left_out[~held] != found.left_out[~held]).any()


def test_it_is_better_than_the_forest_where_few_predictors_matter():
    fit = fit_of("y", table())
    found = few_of(fit, judged_of(fit))
    known = forest_out_of_bag(fit).value
    errors = [np.mean((fit.data.y - value[:, 0]) ** 2) for value in (found.left_out, known)]
    assert errors[0] < 0.6 * errors[1]


def test_there_is_none_if_more_than_half_of_the_predictors_matter_or_none_does():
    fit = fit_of("y", table(noise=5))
    assert few_of(fit, judged_by_hand(fit, ("x1", "x4", "f", "x0"))) is None
    assert few_of(fit, judged_by_hand(fit, ("x1", "x4", "f"))) is not None
    nothing = FoldImportance(np.arange(240) % 5, [np.zeros(len(fit.design.columns))] * 6)
    assert few_of(fit, nothing) is None


def test_there_is_none_if_it_tells_nothing_more_on_the_first_fold():
    fit = fit_of("y", table())
    assert few_of(fit, judged_by_hand(fit, ("x7", "x8"))) is None
