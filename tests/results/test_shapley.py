"""Shapley values of all kinds of fits: against their definition, and what they add up to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from exact_explainer import by_exact_explainer, three
from odrf import InputError
from reference.shapley import coalition_values, interaction_values, values_by_definition
from shapley_fits import (
    CASES,
    FITS,
    FORMULAS,
    TREES,
    N,
    fitted,
    outputs,
    rows,
    wide_fitted,
    wide_rows,
)


def by_definition(fit, new, background):
    names = list(fit.design.predictors)
    predict = outputs(fit)
    return np.array(
        [
            values_by_definition(coalition_values(predict, new[names].iloc[[i]], background[names]))
            for i in range(len(new))
        ]
    )


def test_classes_may_be_called_like_columns_of_the_table():
    wine = odrf.load_data("wine")
    wine["cultivar"] = np.where(wine.index % 3 == 0, "share", np.where(wine.index % 2, "x", "y"))
    found = odrf.odt("cultivar ~ alcohol + ash", wine, max_leaves=4, seed=1).shap(wine[:9])
    assert {"share", "share_", "x", "y"} < set(found.table)
    assert found.table["share"].sum() == pytest.approx(1)
    sums = found.table[["share_", "x", "y"]].sum(axis=1)
    np.testing.assert_allclose(sums, found.table["mean_absolute"])


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("fit, response", CASES)
def test_values_are_those_of_the_definition(fit, response, holes):
    data, result = rows(holes), fitted(fit, response, holes)
    new, background = data.iloc[[0, 3, 7]], data.iloc[40:46]
    found = result.shap(new, background=background)
    assert found.drawn == 0
    np.testing.assert_allclose(
        three(found.values), by_definition(result, new, background), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("fit", FITS)
def test_empty_cells_that_training_does_not_have(fit):
    result, new = fitted(fit, "number"), rows().iloc[:3].copy()
    new.loc[0, "a"], background = np.nan, rows().iloc[50:54].copy()
    background.loc[51, "b"] = np.nan
    found = result.shap(new, background=background)
    np.testing.assert_allclose(
        three(found.values), by_definition(result, new, background), rtol=0, atol=1e-12
    )


def test_surrogates_are_followed():
    data = rows(True)
    tree = odrf.odt(FORMULAS["number"], data, missing="surrogate", alpha=None, seed=1)
    new, background = data.iloc[[0, 7]], data.iloc[49:55]
    found = tree.shap(new, background=background)
    np.testing.assert_allclose(
        three(found.values), by_definition(tree, new, background), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("max_boxes", [0, 2, 4096])
@pytest.mark.parametrize("fit, response", CASES)
def test_values_add_up(fit, response, max_boxes):
    result, data = fitted(fit, response), rows()
    found = result.shap(data.head(9), background=11, max_boxes=max_boxes, draws=2)
    predicted = outputs(result)(data.head(9))
    np.testing.assert_allclose(found.prediction, predicted, rtol=0, atol=1e-12)
    added = found.base + three(found.values).sum(axis=1)
    np.testing.assert_allclose(added, predicted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("fit, response", CASES)
def test_drawn_values_are_near_the_exact_ones(fit, response):
    result, new = fitted(fit, response), rows().head(12)
    exact = result.shap(new, background=20)
    drawn = result.shap(new, background=20, max_boxes=0, draws=20)
    assert exact.drawn == 0 and (exact.std_error == 0).all()
    # where all coalitions reach one leaf nothing is drawn
    assert drawn.drawn > 0.85
    away = np.abs(drawn.values - exact.values)
    assert (away <= 3 * drawn.std_error + 1e-12).mean() > 0.97
    assert (away <= 5 * drawn.std_error + 1e-12).all()
    ratio = (away**2).sum() / (drawn.std_error**2).sum()
    assert 0.5 < ratio < 1.8


def test_a_row_has_the_same_values_alone_and_with_others_and_for_any_threads():
    for fit, response in CASES:
        how = {"background": 10, "max_boxes": 4, "draws": 2}
        result, data = fitted(fit, response), rows()
        together = result.shap(data.head(5), n_jobs=2, **how)
        alone = result.shap(data.iloc[[3]], n_jobs=1, **how)
        assert (together.values[3] == alone.values[0]).all()
        assert (together.std_error[3] == alone.std_error[0]).all()
        other = result.shap(data.head(5), seed=5, **how)
        assert (other.values != together.values).any()


@settings(max_examples=25)
@given(st.integers(0, N - 1), st.integers(0, N - 1), st.sampled_from([0, 1, 3, 4096]))
def test_terms_that_do_not_differ_get_nothing(i, j, max_boxes):
    data = rows()
    found = fitted("forest", "number").shap(
        data.iloc[[i]], background=data.iloc[[j]], max_boxes=max_boxes, draws=2
    )
    same = [data[name].iloc[i] == data[name].iloc[j] for name in found.terms]
    assert (found.values[0][same] == 0).all()


def test_boosted_scores_have_no_offsets():
    data = rows().assign(exposure=np.linspace(0, 3, N))
    fit = odrf.odbt("y ~ a + b", data, offset="exposure", n_trees=4, seed=1)
    found = fit.shap(data.head(4), background=7)
    link = fit.predict(data.head(4), "link") - data["exposure"].head(4)
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), link, atol=1e-9)
    assert found.explains == "score"


def test_terms_of_several_columns_are_one():
    data = rows()
    fit = odrf.odrf("y ~ bs(a, 4) + np.exp(b) + f + a:b", data, **TREES)
    found = fit.shap(data.head(3), background=8)
    assert found.terms == list(fit.design.predictors)
    assert found.values.shape == (3, 4)
    np.testing.assert_allclose(found.data["np.exp(b)"], np.exp(data["b"].head(3)), rtol=1e-5)
    np.testing.assert_allclose(
        found.base + found.values.sum(axis=1), fit.predict(data.head(3)), atol=1e-9
    )


def test_rows_of_no_weight_are_no_background():
    data = rows()
    weights = np.where(np.arange(N) < 60, 1.0, 0.0)
    weights[:20] = 9.0
    fit = odrf.odt("y ~ a + b", data, weights=weights, seed=1)
    found = fit.shap(data.head(2), background=2000)
    predicted = fit.predict(data)
    expected = np.average(predicted, weights=weights)
    assert found.n_background == 2000
    assert abs(found.base[0] - expected) < 4 * predicted.std() / 2000**0.5


@pytest.mark.parametrize("fit, response", CASES)
def test_the_exact_explainer_of_shap_agrees(fit, response, monkeypatch):
    result, data = fitted(fit, response), rows()
    new, background = (
        data[list(result.design.predictors)].iloc[at] for at in (slice(3), slice(30, 50))
    )
    ours = result.shap(new, background=background)
    theirs = by_exact_explainer(result, new, background, monkeypatch)
    np.testing.assert_allclose(three(ours.values), theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("response", FORMULAS)
def test_explanations_of_shap_hold_the_same(response):
    pytest.importorskip("shap")
    found = fitted("forest", response).shap(rows().head(4), background=5)
    explanation = found.to_shap()
    assert explanation.values.shape == found.values.shape
    added = explanation.base_values + explanation.values.sum(axis=1)
    np.testing.assert_allclose(added.reshape(4, -1), found.prediction, atol=1e-9)
    assert list(explanation.feature_names) == found.terms
    assert explanation.data.dtype == float and explanation.display_data.shape == (4, 4)


@pytest.mark.parametrize(
    "how, words",
    [
        ({"background": "all"}, "background=str"),
        ({"background": 0}, "background=0"),
        ({"max_boxes": -1}, "max_boxes=-1"),
        ({"draws": 1}, "draws=1"),
        ({"newdata": pd.DataFrame({"a": [1.0]})}, "'b'"),
        ({"background": pd.DataFrame({"a": [1.0]})}, "'b'"),
    ],
)
def test_what_cannot_be_used_is_named(how, words):
    with pytest.raises(InputError, match=words):
        fitted("forest", "number").shap(**how)


def test_shares_of_votes_are_refused_with_what_to_use_instead():
    fit = fitted("guided", "classes")
    for call in (fit.shap, fit.shap_interactions):
        with pytest.raises(InputError, match=r"shares of votes: use shap\.PermutationExplainer"):
            call(rows().head(2))


def test_the_report_is_asked_for_rows_terms_and_classes():
    found = fitted("forest", "classes").shap(rows().head(4), background=5)
    assert set(found.row(2)["value"]) == set(
        found.values[2, :, found.prediction[2].argmax()].tolist()
    )
    assert list(found.row(1, output="top").columns) == ["data", "value", "std_error"]
    total = np.abs(found.values).mean(axis=0).sum()
    assert found.table["mean_absolute"].sum() == pytest.approx(total)
    for how in ({"kind": "row", "row": 99}, {"kind": "term", "term": "d"}, {"output": "best"}):
        with pytest.raises(InputError, match=str(list(how.values())[-1])):
            found.plot(**how)


# ------------------------------------------------------------------------------------------------
# Shapley interaction values of all kinds of fits: against their definition, and their sums.
# ------------------------------------------------------------------------------------------------

HOW = {"background": 9, "draws": 4}


def four(values):
    return values if values.ndim == 4 else values[..., np.newaxis]


@pytest.mark.parametrize("fit, response", CASES)
def test_values_are_those_of_the_definition_of_shap_interactions(fit, response):
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
def test_drawn_values_are_near_the_exact_ones_of_shap_interactions(fit, response):
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


def test_explanations_of_shap_hold_the_same_of_shap_interactions():
    pytest.importorskip("shap")
    found = fitted("forest", "number").shap_interactions(rows().head(3), background=5)
    assert found.to_shap().values.shape == (3, 4, 4)


# ------------------------------------------------------------------------------------------------
# Shapley values of five to ten predictors: against the package shap, and drawn against exact.
# ------------------------------------------------------------------------------------------------

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
