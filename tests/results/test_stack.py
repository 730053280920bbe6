"""What explains a stack, of the prediction of all its models together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import odrf
from blends import with_quick_stacks
from odrf import InputError
from odrf.fits.stack.growing import refit_stack
from odrf.results.stack import AutoResults

HOW = {"n_trees": 20, "seed": 1}
FORMULAS = {"number": "y ~ a + b + f", "classes": "c ~ a + b + f"}
KINDS = {"number": "response", "classes": "prob"}
NAMES = ["a", "b", "f"]


@pytest.fixture(scope="module")
def stacks(table):
    with with_quick_stacks():
        return {name: odrf.auto(formula, table, **HOW) for name, formula in FORMULAS.items()}


@pytest.fixture(params=FORMULAS)
def named(request, stacks):
    return request.param, stacks[request.param]


def predicting(name, fit):
    def predict(frame):
        return fit.predict(frame, KINDS[name]).to_numpy().reshape(len(frame), -1)

    return predict


def test_curves_are_means_of_predictions(named, table):
    name, fit = named
    predict = predicting(name, fit)
    curve = fit.partial("a", values=[-1.0, 0.5], newdata=table.head(9))
    expected = [predict(table.head(9).assign(a=value)).mean(axis=0) for value in (-1.0, 0.5)]
    found = curve.table["estimate"].to_numpy().reshape(len(expected[0]), 2).T
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert curve.table["std_error"].isna().all()
    rows = fit.ice("f", newdata=table.head(4))
    levels = sorted(table["f"].dropna().unique())
    expected = [predict(table.head(4).assign(f=level)) for level in levels]
    np.testing.assert_allclose(rows.predicted, np.stack(expected, axis=1), atol=1e-12)
    surface = fit.partial(["a", "f"], points=3, newdata=table.head(5))
    assert np.isfinite(surface.table["estimate"]).all()
    assert np.isfinite(fit.ale("a").table["estimate"]).all()


def test_interactions_are_compared_with_stacks_of_permuted_responses(stacks):
    with with_quick_stacks():
        found = stacks["number"].interactions(["a", "b"], rows=8, permutations=1)
        again = stacks["number"].interactions(["a", "b"], rows=8, permutations=1)
    assert found.table.equals(again.table) and len(found.table) >= 1


def test_a_stack_of_many_rows_is_grown_again(table, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.MANY_ROWS", 10)
    with with_quick_stacks():
        fit = odrf.auto("y ~ a + b + f", table, **HOW)
        again = refit_stack(fit.fit, fit.fit.data)
        assert fit.trials["outcome"].tolist() == ["within noise"]
        assert again.trials == fit.fit.trials
        np.testing.assert_array_equal(again.weights, fit.fit.weights)
        assert len(fit.interactions(rows=4, permutations=1).table)


def test_one_tree_imitates_a_stack(named):
    _, fit = named
    imitation = fit.surrogate(4, cv=3)
    assert imitation.tree.n_leaves <= 4


def test_probabilities_are_evaluated_out_of_bag(stacks, table):
    fit = stacks["classes"]
    assert (fit.discrimination().table["estimate"] > 0.6).all()
    assert "out of bag" in str(fit.calibration(bins=3).summary())
    calibrated = fit.calibrate("platt")
    assert calibrated.predict(table, "prob").sum(axis=1).to_numpy() == pytest.approx(1)
    with with_quick_stacks():
        held = fit.calibrate(cv=2)
    assert "held out" in str(held.summary())


def test_a_stack_that_depended_on_time_is_not_grown_again(table):
    with with_quick_stacks():
        fit = odrf.auto("c ~ a + b + f", table, budget=1e-9, **HOW)
    with pytest.raises(InputError, match="fit with auto\\(\\) without budget="):
        fit.calibrate(cv=2)
    with pytest.raises(InputError, match="fit with auto\\(\\) without budget="):
        fit.interactions(rows=4, permutations=1)
    assert len(fit.interactions(rows=4, permutations=0).table)


def test_shapley_values_are_those_of_a_part(stacks, table):
    fit = stacks["number"]
    with pytest.raises(InputError, match=r'no \'shap\': .*part\("forest"\).shap, or shap.Permu'):
        fit.shap(table.head(2))
    found = fit.part("forest").shap(table.head(2), background=5)
    assert found.values.shape == (2, 3)


def test_one_prediction_has_changes_and_slopes_and_no_paths(named, table):
    name, fit = named
    row = table.iloc[[3]]
    found = fit.explain(row)
    expected = predicting(name, fit)(row)[0]
    np.testing.assert_allclose(found.prediction.to_numpy(), expected, atol=1e-12)
    assert found.predictors is found.directions is found.neighbours is None and not found.rules
    assert len(found.changes) and {"a", "b"} == set(found.slopes.index)
    text = str(found.summary())
    assert "Nearest changes" in text and "paths" not in text
    one = found.changes.iloc[-1] if name == "number" else found.changes.iloc[0]
    assert one["distance"] > 0


@pytest.mark.parametrize("weighted", [False, True])
def test_quantiles_hold_as_many_new_responses_as_they_say(stacks, table, weighted):
    fit = stacks["number"]
    if weighted:
        with with_quick_stacks():
            weights = np.where(np.arange(120) % 3 == 0, 2.0, 1.0)
            fit = odrf.auto(FORMULAS["number"], table, weights=weights, **HOW)
    levels = [0.1, 0.5, 0.9]
    found = fit.predict(table, quantiles=levels)
    assert list(found.columns) == levels and (found.diff(axis=1).iloc[:, 1:] > 0).all(axis=None)
    training = fit.predict(type="quantile", quantiles=levels)
    counted = fit.fit.data.weights
    below = training.lt(table["y"], axis=0).to_numpy()
    known = training.notna().all(axis=1).to_numpy()
    shares = 1 - (below * counted[:, None])[known].sum(axis=0) / counted[known].sum()
    np.testing.assert_allclose(shares, levels, atol=0.03)
    assert np.isinf(fit.predict(table, quantiles=0.001)).all(axis=None)
    assert fit.predict(table.head(2), "quantile").columns.tolist() == [0.05, 0.5, 0.95]


def test_quantiles_that_are_refused(stacks, table):
    number, classes = stacks.values()
    with pytest.raises(InputError, match="for the response of a regression"):
        classes.predict(table, "quantile")
    with pytest.raises(InputError, match="quantiles= and interval= ask for two things"):
        number.predict(table, quantiles=0.5, interval="prediction")
    with pytest.raises(InputError, match=r"quantiles=\[\] is empty"):
        number.predict(table, quantiles=[])
    with pytest.raises(InputError, match=r"interval=.*and type='quantile': leave one"):
        number.predict(table, "quantile", interval="prediction")


def test_predicted_distributions_are_compared_with_responses(stacks, table):
    fit = stacks["number"]
    check = fit.predictive_check(level=0.8, by="f")
    interval = fit.predict(interval="prediction", level=0.8)
    known = interval.notna().all(axis=1)
    assert check.inside.mean() == table["y"][known].between(
        interval["conf_low"][known], interval["conf_high"][known]
    ).mean()  # fmt: skip
    # of training rows each share is once there
    np.testing.assert_allclose(
        np.sort(check.rows["pit"]), (np.arange(known.sum()) + 0.5) / known.sum()
    )
    assert check.influence is None and list(check.coverage["region"]) == ["x", "y", "z"]
    assert "right by construction" in str(check.summary())
    assert check.plot("coverage") is not None
    with pytest.raises(InputError, match="of a stack see part"):
        check.plot("influence")
    new = fit.predictive_check(table.head(30), level=0.8)
    assert "right by construction" not in str(new.summary())
    quantiles = fit.predict(table.head(30), quantiles=[0.2, 0.7])
    inner = new.rows["pit"].between(0.21, 0.69)
    between = table["y"].head(30).between(quantiles[0.2], quantiles[0.7])
    assert between[inner].all() and inner.any()
    with pytest.raises(InputError, match="was fitted as classes"):
        stacks["classes"].predictive_check()


def test_importances_are_told_by_models_of_weight_0_if_no_other_has_trees(stacks):
    """All the weight of smoothers does not make every predictor unimportant."""
    fit = stacks["number"].fit
    trees = np.array([part.name in fit.grown for part in fit.parts])
    weights = np.where(trees, 0.0, 1 / max(1, (~trees).sum()))
    assert not trees.all()
    found = AutoResults(replace(fit, weights=weights))
    assert found.importance()["share"].max() > 0
    assert "have weight 0" in str(found.summary())
    assert "have weight 0" not in str(stacks["number"].summary())


def test_what_a_model_adds_is_not_rounding(stacks):
    fit = stacks["classes"].fit
    rises = np.full(len(fit.parts), -5.7e-13)
    rises[0] = 0.01
    shown = AutoResults(replace(fit, rises=rises)).parts["rise_without"]
    assert shown.tolist() == [0.01, *[0.0] * (len(rises) - 1)]
