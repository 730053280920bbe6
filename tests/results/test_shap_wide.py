"""Shapley values of five to ten predictors: against the package shap, and drawn against exact."""

from __future__ import annotations

import numpy as np
import pytest

from exact_explainer import by_exact_explainer, three
from shapley_fits import CASES, wide_fitted, wide_rows

# One tree of so few rows has few boxes.
DRAWN = [case for case in CASES if case[0] != "tree"]


@pytest.mark.parametrize("p, holes", [(5, True), (8, False), (10, True)])
@pytest.mark.parametrize("fit, response", CASES)
def test_the_exact_explainer_of_shap_agrees_on_many_predictors(
    fit, response, p, holes, monkeypatch
):
    data, result = wide_rows(p, holes), wide_fitted(fit, response, p, holes)
    new, background = data.iloc[[0, 3], :p], data.iloc[40:44, :p]
    found = result.shap(new, background=background)
    assert found.drawn == 0
    theirs = by_exact_explainer(result, new, background, monkeypatch)
    np.testing.assert_allclose(three(found.values), theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("max_boxes", [1, 12, 24, 48])
@pytest.mark.parametrize("fit, response", DRAWN)
def test_boxes_of_little_weight_are_drawn(fit, response, max_boxes):
    data, result = wide_rows(10), wide_fitted(fit, response, 10)
    new, background = data.head(6), data.iloc[50:60]
    exact = result.shap(new, background=background)
    drawn = result.shap(new, background=background, max_boxes=max_boxes, draws=30)
    assert exact.drawn == 0 < drawn.drawn
    added = drawn.base + three(drawn.values).sum(axis=1)
    np.testing.assert_allclose(added, drawn.prediction, rtol=0, atol=1e-9)
    away = np.abs(drawn.values - exact.values)
    assert (away <= 3 * drawn.std_error + 1e-12).mean() > 0.97
    assert (away <= 5 * drawn.std_error + 1e-12).all()
    # few rows, and the errors of a row are correlated
    assert 0.5 < (away**2).sum() / (drawn.std_error**2).sum() < 2.0


def test_a_larger_max_boxes_gives_smaller_errors():
    data, result = wide_rows(10), wide_fitted("forest", "number", 10)
    errors = [
        (result.shap(data.head(6), background=20, max_boxes=boxes, draws=4).std_error ** 2).mean()
        for boxes in (0, 16, 64, 4096)
    ]
    assert errors[0] > errors[1] > errors[2] > errors[3] == 0


def test_drawn_values_are_the_same_for_any_threads_and_other_rows():
    data, result = wide_rows(10), wide_fitted("forest", "number", 10)
    how = {"background": 10, "max_boxes": 30}
    together = result.shap(data.head(5), n_jobs=2, **how)
    alone = result.shap(data.iloc[[3]], n_jobs=1, **how)
    assert together.drawn > 0
    assert (together.values[3] == alone.values[0]).all()
    assert (together.std_error[3] == alone.std_error[0]).all()
