"""Shapley interaction values of all kinds of fits: against their definition, and their sums."""

from __future__ import annotations

import numpy as np
import pytest

from reference.shapley import coalition_values, interaction_values
from shapley_fits import CASES, fitted, outputs, rows

HOW = {"background": 9, "draws": 4}


def four(values):
    return values if values.ndim == 4 else values[..., np.newaxis]


@pytest.mark.parametrize("fit, response", CASES)
def test_values_are_those_of_the_definition(fit, response):
    data, result = rows(True), fitted(fit, response, True)
    names = list(result.design.predictors)
    new, background = data.iloc[[0, 3]], data.iloc[41:46]
    found = result.shap_interactions(new, background=background)
    for i in range(len(new)):
        game = coalition_values(outputs(result), new[names].iloc[[i]], background[names])
        np.testing.assert_allclose(
            four(found.values)[i], interaction_values(game), rtol=0, atol=1e-12
        )


@pytest.mark.parametrize("max_boxes", [0, 2, 4096])
@pytest.mark.parametrize("fit, response", CASES)
def test_sums(fit, response, max_boxes):
    result, new = fitted(fit, response), rows().head(6)
    found = result.shap_interactions(new, max_boxes=max_boxes, **HOW)
    values = four(found.values)
    np.testing.assert_allclose(values, values.transpose(0, 2, 1, 3), rtol=0, atol=1e-12)
    added = found.sums.base + values.sum(axis=(1, 2))
    np.testing.assert_allclose(added, outputs(result)(new), rtol=0, atol=1e-9)
    if max_boxes == 4096:
        own = result.shap(new, **HOW)
        np.testing.assert_allclose(found.sums.values, own.values, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fit, response", CASES)
def test_drawn_values_are_near_the_exact_ones(fit, response):
    result, new = fitted(fit, response), rows().head(8)
    exact = result.shap_interactions(new, background=12)
    drawn = result.shap_interactions(new, background=12, max_boxes=0, draws=20)
    assert exact.sums.drawn == 0 and drawn.sums.drawn == 1
    away = np.abs(drawn.values - exact.values)
    assert (away <= 3 * drawn.std_error + 1e-12).mean() > 0.97
    assert (away <= 5.5 * drawn.std_error + 1e-12).all()
    assert 0.5 < (away**2).sum() / (drawn.std_error**2).sum() < 1.8
    rest = np.abs(drawn.sums.values - exact.sums.values)
    assert (rest <= 3 * drawn.sums.std_error + 1e-12).mean() > 0.97


def test_values_are_the_same_for_any_threads_and_for_a_row_alone():
    result, data = fitted("boosted", "classes"), rows()
    together = result.shap_interactions(data.head(4), max_boxes=4, n_jobs=2, **HOW)
    alone = result.shap_interactions(data.iloc[[2]], max_boxes=4, n_jobs=1, **HOW)
    assert (together.values[2] == alone.values[0]).all()


def test_explanations_of_shap_hold_the_same():
    pytest.importorskip("shap")
    found = fitted("forest", "number").shap_interactions(rows().head(3), background=5)
    assert found.to_shap().values.shape == (3, 4, 4)
