"""What one number of the curves has of a regression forest, and what it refuses."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf.errors import AbsentError, InputError
from odrf.results.survival.estimand import WITHOUT

DATA = odrf.simulate.hazard_jump(p=3).sample(150, seed=1)


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("Surv(time, event) ~ .", DATA, n_trees=150, inference=True, seed=1)


@pytest.fixture(scope="module")
def fit(forest):
    return forest.estimand("survival", time=0.4)


def test_partial_dependence_is_the_mean_of_curves(forest, fit):
    curve = fit.partial("x1", values=[-0.5, 0.5]).table
    for value, estimate in zip(curve["value"], curve["estimate"], strict=True):
        survival = forest.predict(DATA.assign(x1=value), type="survival", times=0.4)[0.4]
        assert estimate == pytest.approx(survival.mean())
    assert (curve["std_error"] > 0).all()


def test_comparisons_are_differences_of_restricted_means(forest):
    table = forest.estimand("rmst", time=0.5).comparisons("x1", contrast=(-0.5, 0.5)).table
    low, high = (
        forest.predict(DATA.assign(x1=value), type="rmst", times=0.5)[0.5].mean()
        for value in (-0.5, 0.5)
    )
    assert table["estimate"].item() == pytest.approx(high - low)
    assert table["std_error"].item() > 0


def test_shapley_values_add_up(forest, fit):
    rows = DATA.head(3)
    values = fit.shap(rows, background=DATA.head(10))
    predicted = forest.predict(rows, type="survival", times=0.4)[0.4]
    np.testing.assert_allclose(values.base + values.values.sum(axis=1), predicted)


def test_confidence_intervals(forest, fit):
    frame = fit.predict(DATA.head(5), interval="confidence")
    survival = forest.predict(DATA.head(5), type="survival", times=0.4)[0.4]
    np.testing.assert_allclose(frame["estimate"], survival)
    assert (frame["conf_low"] < survival).all() and (survival < frame["conf_high"]).all()


def test_intervals_of_probabilities_are_probabilities(forest):
    """Nearly nobody has had the event by an early time: plain intervals would pass 1."""
    early = forest.estimand("survival", time=0.06)
    frame = early.predict(interval="confidence")
    assert (frame["estimate"] + 1.96 * frame["std_error"] > 1).any()
    tables = [frame, early.predictions().table, early.predictions(at={"x1": [-0.5, 0.5]}).table]
    tables += [early.partial("x1").table, early.partial(["x1", "x2"]).table]
    for table in tables:
        limits = table[["conf_low", "conf_high"]].dropna()
        assert len(limits) and limits.min().min() >= 0 and limits.max().max() <= 1
    means = forest.estimand("rmst", time=0.06).predict(interval="confidence")
    plain = means["estimate"] + 1.959964 * means["std_error"]
    np.testing.assert_allclose(means["conf_high"], plain, rtol=1e-6)
    differences = early.comparisons("x1").table
    plain = differences["estimate"] - 1.959964 * differences["std_error"]
    np.testing.assert_allclose(differences["conf_low"], plain, rtol=1e-5)


def test_importances_tell_relevant_predictors(fit):
    for type in (None, "out_of_bag", "permutation"):
        assert fit.importance(type)["importance"].idxmin() == "x3"


def test_a_surrogate_tree_imitates_the_number(fit):
    tree = fit.surrogate(max_leaves=4)
    assert tree.fidelity > 0.3


def test_other_readings(fit):
    for found in (
        fit.ale("x1"), fit.ice("x1"), fit.slopes(), fit.explain(DATA.head(1)),
        fit.interactions(["x1", "x2"], rows=5), fit.proximity(), fit.summary(),
    ):  # fmt: skip
        assert repr(found)
    assert "survival at 0.4" in str(fit.summary()) and "Survival at 0.4" in repr(fit)
    assert np.isclose(fit.row_predictor()(DATA.loc[0]), fit.predict(DATA)[0])
    fit.plot()
    plt.close("all")


def test_files(fit, tmp_path):
    fit.save(tmp_path / "fit")
    again = odrf.load(tmp_path / "fit")
    assert type(again) is type(fit) and (again.estimand, again.time) == ("survival", 0.4)
    assert again.predict().equals(fit.predict())
    assert again.comparisons().table.equals(fit.comparisons().table)
    assert pickle.loads(pickle.dumps(fit)).predict().equals(fit.predict())


@pytest.mark.parametrize("name", WITHOUT)
def test_what_would_grow_or_change_trees_is_not_there(fit, name):
    with pytest.raises(AbsentError, match=f"^EstimandResults has no '{name}': ") as caught:
        getattr(fit, name)
    assert str(caught.value).endswith(WITHOUT[name])
    assert not hasattr(fit, name)
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.predict(interval="prediction"), "those of pseudo-values"),
        (lambda fit: fit.predict(type="quantile"), "those of pseudo-values"),
        (lambda fit: fit.predict(quantiles=0.5), "those of pseudo-values"),
        (lambda fit: fit.interactions(permutations=1), "^permutations=1: it grows trees anew"),
        (lambda fit: fit.proximity(type="weights"), '^type="weights": .*use type="plain"'),
        (lambda fit: fit.importance("impurity"), "found for curves.*out_of_bag"),
        (lambda fit: fit.importance("held_out"), "grows trees anew.*out_of_bag"),
        (lambda fit: fit.importance("conditional"), "not for numbers of curves.*grows trees anew"),
        (lambda fit: fit.importance("knockoff"), "grows trees anew.*out_of_bag"),
        (lambda fit: fit.importance("all"), "^type='all' is not known"),
        (lambda fit: fit.design.labelled(DATA), "is a time to an event, and no number"),
    ],
)
def test_refusals(fit, call, message):
    with pytest.raises(InputError, match=message):
        call(fit)


def test_misspelt_names(fit):
    with pytest.raises(AttributeError, match="did you mean 'predict'"):
        fit.predictt()
