"""The unit of weights and of the response makes no difference, however large or small it is."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pytest

import odrf
from forests import same_bits
from odrf import InputError

ALL = [
    "axis", "cca", "extra", "lda", "least_squares", "logistic", "pca", "pda", "ppr", "rc", "ridge",
    "rotation", "sparse", "sphere",
]  # fmt: skip
OF_NUMBERS = [name for name in ALL if name not in ("lda", "pda")]
UNITS = [-1000, -300, 60, 400, 660]
# What a unit in between goes wrong in, it does in all projections: they share the sums of weights.
EXTREME = [-1000, 660]
# Cross-validation takes ten times as long, and is the same for all projections.
PRUNED = ("logistic",)
# Kernels of tables with factors are compiled for each family anew, and score levels alike in all.
WITH_FACTOR = ("axis", "logistic", "sparse")


@pytest.fixture(scope="module")
def rows():
    """150 rows with numbers, two and three classes, a factor, and weights of which some are 0."""
    rng = np.random.default_rng(11)
    data = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abde"))
    data["f"] = rng.choice(["u", "v", "w"], 150)
    data["y"] = data["a"] - data["b"] + rng.normal(size=150)
    data["two"] = np.where(data["y"] > 0, "yes", "no")
    three = np.select([data["y"] < -1, data["y"] < 1], ["low", "mid"], "top")
    data["three"] = pd.Categorical(three, ["low", "mid", "top"], ordered=True)
    data["w"] = rng.uniform(0.5, 1.5, 150) * (rng.random(150) < 0.9)
    return data


def weighted(grow, rows, response, k, **options):
    weights = np.ldexp(rows["w"].to_numpy(), k)
    return grow(formula(response, **options), rows, weights=weights, seed=1, **options)


def formula(response, projection="sparse", **_):
    return f"{response} ~ a + b + d + e" + (" + f" if projection in WITH_FACTOR else "")


def pruning(projection):
    return {"alpha": "cv" if projection in PRUNED else None}


@pytest.mark.parametrize(
    ("response", "criterion", "projection"),
    [
        *(("y", "squared_error", projection) for projection in OF_NUMBERS),
        *(("two", *options) for options in product(["gini", "entropy"], ALL)),
        *(("three", *options) for options in product(["gini", "entropy", "ordinal"], ALL)),
    ],
)
def test_the_unit_of_weights_does_not_change_a_tree(rows, response, criterion, projection):
    options = {"projection": projection, "criterion": criterion, **pruning(projection)}
    usual = weighted(odrf.odt, rows, response, 0, **options)
    for k in UNITS if projection in WITH_FACTOR else EXTREME:
        tree = weighted(odrf.odt, rows, response, k, **options)
        assert same_bits(tree.fit.forest, usual.fit.forest)
        assert tree.nodes["weight"].equals(np.ldexp(usual.nodes["weight"], k))
        assert repr(tree) == repr(usual)


@pytest.mark.parametrize("response", ["y", "two", "three"])
@pytest.mark.parametrize("grow", [odrf.odrf, partial(odrf.odbt, l2=0), odrf.graf])
def test_the_unit_of_weights_does_not_change_predictions(rows, grow, response):
    usual = weighted(grow, rows, response, 0, n_trees=8)
    for k in UNITS:
        fit = weighted(grow, rows, response, k, n_trees=8)
        assert fit.predict(rows).equals(usual.predict(rows))


@pytest.mark.parametrize("leaf_values", ["newton", "refit"])
@pytest.mark.parametrize("k", [-1000, -60, -30, -9, -1])
def test_small_weights_are_penalised_as_weights_of_mean_one(rows, k, leaf_values):
    def fitted(weights):
        options = {"weights": weights, "l2": 3.0, "leaf_values": leaf_values, "n_trees": 8}
        return odrf.odbt("y ~ a + b + f", rows, seed=1, **options).predict(rows)

    weights = rows["w"].to_numpy() / rows["w"][rows["w"] > 0].mean()
    np.testing.assert_allclose(fitted(np.ldexp(weights, k)), fitted(weights), rtol=1e-6)
    np.testing.assert_allclose(fitted(np.full(150, 2.0**k)), fitted(None), rtol=1e-6)


@pytest.mark.parametrize("k", [1, 30, 60, 90])
def test_large_weights_count_rows_beside_the_penalty(rows, k):
    def fitted(k, l2):
        weights = np.full(150, 2.0**k)
        return odrf.odbt("y ~ a + b", rows, weights=weights, l2=l2, n_trees=8, seed=1).predict(rows)

    np.testing.assert_allclose(fitted(k, 1.0), fitted(0, 2.0**-k), rtol=1e-6)


def test_weights_that_add_up_to_one_fit_as_well(rows):
    share = np.full(150, 1 / 150)
    fit, usual = (odrf.odbt("y ~ a + b", rows, weights=w, seed=1) for w in (share, None))
    assert fit.training_error == pytest.approx(usual.training_error, rel=0.05)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("response", ["two", "three"])
@pytest.mark.parametrize("weight", [1e-300, 1e-9, 1e6, 1e8, 1e12, 1e14, 1e19, 1e100, 1e200])
def test_equal_weights_of_any_size_make_a_good_tree(rows, response, criterion, weight):
    options = {"criterion": criterion, "projection": "sparse", "alpha": None, "seed": 1}
    tree = odrf.odt(
        f"{response} ~ a + b", rows, weights=np.full(len(rows), weight), min_leaf=1, **options
    )
    assert tree.training_error < 0.05
    assert tree.confusion_matrix["error"].max() < 0.2


def test_a_confusion_matrix_is_in_the_unit_of_the_weights(rows):
    usual, fit = (weighted(odrf.odt, rows, "two", k, max_leaves=4) for k in (0, 80))
    expected = usual.confusion_matrix
    expected[["no", "yes"]] = np.ldexp(expected[["no", "yes"]], 80)
    pd.testing.assert_frame_equal(fit.confusion_matrix, expected)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_class_weights_beyond_integers_are_summed_as_floats(rows):
    tree = odrf.odt("two ~ a + b", rows, class_weights={"yes": 2.0**80}, seed=1)
    assert tree.confusion_matrix.loc["yes", "yes"] >= 2.0**80


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_the_largest_of_all_weights_have_finite_sums(rows):
    weights = np.full(len(rows), 1e200)
    tree = odrf.odt("two ~ a + b", rows, weights=weights, class_weights={"yes": 1e60}, seed=1)
    assert np.isfinite(tree.nodes["weight"]).all()
    assert np.isfinite(tree.confusion_matrix).all(axis=None)
    assert str(tree.summary())


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_class_of_hardly_any_weight_is_not_balanced(rows):
    weights = np.where(rows["three"] == "mid", 1e-310, 1.0)
    tree = odrf.odt("three ~ a + b", rows, weights=weights, class_weights="balanced", seed=1)
    assert tree.fit.data.class_weights[1] == 1.0
    assert (tree.fit.data.weights[rows["three"] == "mid"] < 1e-300).all()


@pytest.mark.parametrize("k", UNITS)
def test_added_rows_have_weights_of_the_same_unit(rows, k):
    def updated(k):
        first = weighted(odrf.odt, rows[:100], "two", k, criterion="entropy")
        return first.update(rows[100:], weights=np.ldexp(rows["w"][100:].to_numpy(), k))

    assert same_bits(updated(k).fit.forest, updated(0).fit.forest)


def test_added_rows_of_immense_weight_are_refused(rows):
    tree = odrf.odt("y ~ a", rows, weights=np.full(150, 2.0), seed=1)
    with pytest.raises(InputError, match=r"weights has values up to 1e\+100, far above those"):
        tree.update(rows, weights=np.full(150, 1e100))
    with pytest.raises(InputError, match=r"case weights were given as numbers"):
        odrf.odt("y ~ a", rows, weights=np.full(150, 2.0**90), seed=1).update(rows)


def scaled(grow, rows, k, **options):
    data = rows.assign(y=np.ldexp(rows["y"].to_numpy(), k))
    return grow(formula("y", **options), data, seed=1, **options), data


@pytest.mark.parametrize("projection", OF_NUMBERS)
def test_the_unit_of_the_response_does_not_change_splits(rows, projection):
    options = {"projection": projection, **pruning(projection)}
    usual, data = scaled(odrf.odt, rows, 0, **options)
    expected = usual.predict(data)
    for k in (-190, -60, 60, 190) if projection in WITH_FACTOR else (-190, 190):
        tree, _ = scaled(odrf.odt, rows, k, **options)
        pd.testing.assert_frame_equal(tree.splits, usual.splits)
        np.testing.assert_array_equal(tree.predict(data), np.ldexp(expected, k))
        assert tree.r_squared == pytest.approx(usual.r_squared)


@pytest.mark.parametrize("loss", ["squared_error", "absolute", "huber"])
@pytest.mark.parametrize("k", [-190, 190])
def test_the_unit_of_the_response_does_not_change_boosting(rows, loss, k):
    usual, data = scaled(odrf.odbt, rows, 0, n_trees=8, loss=loss)
    fit, _ = scaled(odrf.odbt, rows, k, n_trees=8, loss=loss)
    np.testing.assert_allclose(fit.predict(data), np.ldexp(usual.predict(data), k), rtol=1e-9)


def test_the_unit_of_the_response_does_not_change_a_forests_inference(rows, few_pilots):
    usual, data = scaled(odrf.odrf, rows, 0, n_trees=120)
    kinds = ("confidence", "prediction")
    expected = {interval: usual.predict(data, interval=interval) for interval in kinds}
    for k in (-190, 190):
        fit, _ = scaled(odrf.odrf, rows, k, n_trees=120)
        for interval in kinds:
            found = fit.predict(data, interval=interval)
            np.testing.assert_allclose(found, np.ldexp(expected[interval], k), rtol=1e-9)
        assert fit.r_squared == pytest.approx(usual.r_squared)


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt])
def test_responses_beyond_the_range_are_refused(rows, grow):
    with pytest.raises(InputError, match=r"'y' has values up to .*e.61 in size.*divide it"):
        grow("y ~ a", rows.assign(y=rows["y"] * 1e61))
    with pytest.raises(InputError, match=r"'y' varies by less than 1e-60,.*multiply it"):
        grow("y ~ a", rows.assign(y=rows["y"] * 1e-62))


def test_new_responses_beyond_the_range_are_refused(rows):
    tree = odrf.odt("y ~ a", rows, seed=1)
    with pytest.raises(InputError, match=r"'y' has values up to .*e.61 in size"):
        tree.update(rows.assign(y=rows["y"] * 1e61))


@pytest.mark.parametrize("factor", [1e-61, 1e61])
def test_class_weights_beyond_the_range_are_refused(rows, factor):
    with pytest.raises(InputError, match=r"use a positive number, from 1e-60 to 1e.60"):
        odrf.odt("two ~ a", rows, class_weights={"yes": factor})
