"""What a printed tree shows, and what its parts are called."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.text.splits import shares_in_words

DIABETES = odrf.load_data("diabetes")


def test_a_tree_prints_its_splits():
    tree = odrf.odt("progression ~ .", DIABETES, max_leaves=5, seed=1)
    text = str(tree)
    assert text.startswith("Oblique decision tree: regression\n")
    assert sum(line.endswith(" *") for line in text.split("\n")) == 5 == tree.n_leaves
    assert "0) root" in text and str(tree) != repr(tree)


def test_a_large_tree_is_printed_down_to_a_depth():
    tree = odrf.odt("progression ~ .", DIABETES, alpha=None, min_leaf=2, seed=1)
    lines = str(tree).split("\n")
    assert len(lines) <= 50 < len(tree.rules().split("\n"))
    more = int(re.search(r"; (\d+) nodes below", lines[-1])[1])
    nodes = [line for line in lines if re.match(r" *\d+\) ", line)]
    assert len(nodes) + more == len(tree.nodes)


def test_a_survival_tree_prints_its_splits():
    data = odrf.load_data("gbsg2")
    tree = odrf.odt("Surv(time, event) ~ .", data, max_leaves=4, seed=1)
    assert sum(line.endswith(" *") for line in str(tree).split("\n")) == 4 == tree.n_leaves


def test_shares_sum_to_1():
    assert shares_in_words(np.array([1, 1, 1]) / 3, 2) == ["0.34", "0.33", "0.33"]
    rng = np.random.default_rng(1)
    for decimals in (1, 2, 3):
        for _ in range(50):
            shares = rng.dirichlet(np.ones(rng.integers(2, 8)))
            words = shares_in_words(shares, decimals)
            assert sum(map(float, words)) == pytest.approx(1.0, abs=1e-9)
            assert (np.abs(np.array(words, dtype=float) - shares) < 10.0**-decimals).all()


def test_shares_of_rules_sum_to_1():
    tree = odrf.odt("species ~ .", odrf.load_data("penguins"), max_leaves=4, seed=1)
    found = re.findall(r"\(([\d. ]+)\)", tree.rules(digits=2))
    assert len(found) == len(tree.nodes)
    for shares in found:
        assert sum(map(float, shares.split())) == pytest.approx(1.0)


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt])
def test_trees_on_axes_are_not_called_oblique(fit):
    size = {} if fit is odrf.odt else {"n_trees": 3}
    axis = fit("progression ~ bmi + bp", DIABETES, projection="axis", seed=1, **size)
    oblique = fit("progression ~ bmi + bp", DIABETES, seed=1, **size)
    assert "blique" not in repr(axis).split("\n")[0] + axis.summary().title
    assert "blique" in repr(oblique).split("\n")[0] and "blique" in oblique.summary().title


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors")
def test_averaged_predictions_have_no_test():
    forest = odrf.odrf("progression ~ bmi + bp", DIABETES, n_trees=30, seed=1)
    averaged = forest.predictions()
    assert averaged.table[["statistic", "p_value"]].isna().all(axis=None)
    assert averaged.table["conf_low"].notna().all()
    assert "p_value" not in repr(averaged) and "p_value" not in str(averaged.summary())
    averaged.plot()
    assert forest.comparisons("bmi").table["p_value"].notna().all()


def test_accumulated_effects_of_whole_numbers_are_at_whole_numbers():
    data = DIABETES.assign(age=DIABETES["age"].astype(int))
    tree = odrf.odt("progression ~ age + bmi", data, seed=1)
    assert tree.ale("age", points=5).table["value"].dtype == np.int64
    assert set(tree.ale("bmi", points=5).table["value"]) <= set(data["bmi"])


def test_advice_on_trees_is_stable():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(250, 3)), columns=list("abc"))
    data["y"] = data["a"] + rng.normal(size=250)
    advice = set()
    for inference in (True, False):
        fit = odrf.odrf("y ~ .", data, n_trees=100, inference=inference, blend=False, seed=1)
        for rows in (None, data[:20], data[50:]):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fit.predict(rows, interval="confidence")
            advice |= {str(one.message).split("; ")[1] for one in caught}
    assert len(advice) == 2
    assert "use inference=True, which needs far fewer trees" in advice
    assert any(re.match(r"use n_trees=[24]000, or the forest's grow\(", one) for one in advice)


def test_forests_for_inference_have_enough_trees_by_default():
    """For averages and for single rows, of new rows and out of bag, and for curves of survival."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(250, 3)), columns=list("abc"))
    data["y"] = data["a"] + rng.normal(size=250)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        forest = odrf.odrf("y ~ .", data, inference=True, seed=1)
        forest.summary()
        for target in ("truth", "forest"):
            forest.predictions(target=target)
            forest.slopes("a", target=target)
        forest.predictions(newdata=data[:1])
        for rows in (None, data):
            forest.predict(rows, interval="confidence")
        times = odrf.simulate.proportional_hazards().sample(250, seed=1)
        survival = odrf.odrf("Surv(time, event) ~ .", times, inference=True, seed=1)
        survival.bands(times[:3])
    assert forest.control.n_trees == forest.fit.request.n_trees == len(forest.n_leaves) == 4000
    assert re.search(r"Trees +4000", str(forest.summary()))
    few = odrf.odrf("y ~ .", data, inference=True, n_trees=500, seed=1)
    assert len(few.n_leaves) == 500
    assert "n_trees=500" in few.call and "n_trees" not in forest.call


def test_intervals_of_certain_classes_need_no_more_trees():
    """Their standard errors are below a thousandth, however many trees there are."""
    penguins = odrf.load_data("penguins")
    forest = odrf.odrf("species ~ . - year", penguins, inference=True, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = forest.predictions(newdata=penguins[:1], target="forest")
    assert 0 < found.table["std_error"].max() < 0.002


def test_rules_and_effects_go_to_latex():
    data = DIABETES.rename(columns={"bmi": "body_mass"})
    tree = odrf.odt("progression ~ body_mass + bp", data, projection="axis", max_leaves=3, seed=1)
    text = tree.rules().as_latex()
    assert text.startswith("\\begin{flushleft}") and text.endswith("\\end{flushleft}")
    assert "body\\_mass" in text and text.count("\\hspace*{1em}") == 2
    assert "body\\_mass" in tree.comparisons("body_mass").summary().as_latex()
