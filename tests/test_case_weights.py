"""A weight of 2 is the same as the row twice, in all results of a fit."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.fits.scores import confusion_table
from odrf.results.forest import ODRFResults
from odrf.statistics.calibration import estimated_priors, shifted
from odrf.statistics.strength import of_classes, of_numbers

AXIS = {"projection": "axis", "min_leaf": 1, "seed": 1}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.normal(size=(28, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=28)
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["low", "mid"], "top")
    return data


@pytest.fixture(scope="module")
def times():
    return np.random.default_rng(6).integers(1, 4, 28)


@pytest.mark.parametrize("response", ["y", "c"])
def test_of_a_tree(table, times, response):
    one = odrf.odt(f"{response} ~ a + b", table, weights=times, max_leaves=4, **AXIS)
    many = odrf.odt(
        f"{response} ~ a + b", table.loc[table.index.repeat(times)], max_leaves=4, **AXIS
    )
    assert one.splits["threshold"].equals(many.splits["threshold"])
    assert one.training_error == pytest.approx(many.training_error)
    np.testing.assert_allclose(one.nodes["impurity"], many.nodes["impurity"], atol=1e-12)
    np.testing.assert_allclose(
        one.pruning_path(cv=None).table["error"], many.pruning_path(cv=None).table["error"]
    )
    if response == "c":
        assert one.confusion_matrix.equals(many.confusion_matrix)
    else:
        assert one.r_squared == pytest.approx(many.r_squared)


def test_of_a_confusion_matrix_with_broken_weights(table):
    weights = np.linspace(0.25, 2, 28)
    tree = odrf.odt("c ~ a + b", table, weights=weights, max_leaves=4, seed=1)
    matrix = tree.confusion_matrix
    counts = matrix.drop(columns="error")
    assert counts.to_numpy().sum() == pytest.approx(weights.sum())
    assert 1 - np.diag(counts).sum() / weights.sum() == pytest.approx(tree.training_error)
    assert (confusion_table(tree.fit, np.full((28, 3), np.nan)).drop(columns="error") == 0).all(
        axis=None
    )


def test_of_a_forests_confusion_matrix(table, times):
    forest = odrf.odrf("c ~ a + b", table, weights=times, n_trees=12, seed=1)
    counts = forest.confusion_matrix.drop(columns="error").to_numpy()
    known = forest.oob_prediction.notna()
    assert counts.sum() == times[known].sum()
    assert 1 - np.trace(counts) / counts.sum() == pytest.approx(forest.oob_error)


def test_of_strength_and_correlation(times):
    rng = np.random.default_rng(7)
    n, B, K = 28, 6, 3
    y = rng.integers(0, K, n)
    predicted = np.where(rng.random((n, B)) < 0.6, y[:, None], rng.integers(0, K, (n, B)))
    residual, unseen = rng.normal(size=(n, B)), rng.random((n, B)) < 0.6
    rows, ones = np.repeat(np.arange(n), times), np.ones(times.sum())
    weights = times.astype(float)
    np.testing.assert_allclose(
        of_classes(predicted, unseen, y, weights, K, [3, B]),
        of_classes(predicted[rows], unseen[rows], y[rows], ones, K, [3, B]),
    )
    np.testing.assert_allclose(
        of_numbers(residual, unseen, weights, [3, B]),
        of_numbers(residual[rows], unseen[rows], ones, [3, B]),
    )


def test_strength_takes_the_weights_of_the_fit(table, times):
    forest = odrf.odrf("y ~ a + b", table, weights=times, n_trees=12, seed=1)
    assert forest.strength_correlation().table["error"].iloc[-1] == pytest.approx(forest.oob_error)
    data = replace(forest.fit.data, weights=np.ones(28))
    plain = ODRFResults(replace(forest.fit, training=data)).strength_correlation().table
    assert (
        plain["tree_error"].iloc[-1] != forest.strength_correlation().table["tree_error"].iloc[-1]
    )


@pytest.mark.parametrize("response", ["y", "c"])
def test_of_boosted_trees(table, times, response):
    options = {"n_trees": 4, "max_depth": 2, **AXIS}
    one = odrf.odbt(f"{response} ~ a + b", table, weights=times, **options)
    many = odrf.odbt(f"{response} ~ a + b", table.loc[table.index.repeat(times)], **options)
    np.testing.assert_allclose(one.loss_path, many.loss_path)
    assert one.training_error == pytest.approx(many.training_error)


# ------------------------------------------------------------------------------------------------
# Predictions for other shares of the classes, and these shares from unlabelled rows.
# ------------------------------------------------------------------------------------------------


FORMULA = "c ~ a + b"
TRAINED = {"x": 0.5, "y": 0.3, "z": 0.2}
TRUE = {"x": 0.1, "y": 0.2, "z": 0.7}


def sample(n, shares, seed):
    rng = np.random.default_rng(seed)
    c = rng.choice(list(shares), n, p=list(shares.values()))
    middle = {"x": (0.0, 0.0), "y": (2.0, 0.0), "z": (0.0, 2.0)}
    found = pd.DataFrame(rng.normal(size=(n, 2)) + [middle[k] for k in c], columns=["a", "b"])
    return found.assign(c=c, number=found["a"])


@pytest.fixture(scope="module")
def train():
    return sample(400, TRAINED, 1)


@pytest.fixture(scope="module")
def new():
    return sample(600, TRUE, 2)


@pytest.fixture(scope="module")
def fits(train):
    return {
        "odt": odrf.odt(FORMULA, train, max_leaves=8, seed=1),
        "odrf": odrf.odrf(FORMULA, train, n_trees=40, seed=1),
        "graf": odrf.graf(FORMULA, train, n_trees=10, min_split=10, seed=1),
        "odbt": odrf.odbt(FORMULA, train, n_trees=20, max_depth=2, seed=1),
    }


NAMES = ["odt", "odrf", "graf", "odbt"]


def by_hand(probabilities, trained, priors):
    """Bayes' rule row by row, class by class."""
    rows = []
    for row in probabilities.to_numpy():
        weighed = [p * priors[k] / trained[k] for k, p in zip("xyz", row, strict=True)]
        rows.append([one / sum(weighed) for one in weighed])
    return rows


@pytest.mark.parametrize("name", NAMES)
def test_probabilities_follow_bayes_rule(fits, name, train, new):
    fit = fits[name]
    trained = train["c"].value_counts(normalize=True).to_dict()
    if name == "graf":
        trained = dict.fromkeys("xyz", 1 / 3)
    plain, moved = fit.predict(new, type="prob"), fit.predict(new, type="prob", priors=TRUE)
    np.testing.assert_allclose(moved, by_hand(plain, trained, TRUE), atol=1e-12)
    assert fit.predict(new, priors=TRUE).tolist() == moved.idxmax(axis=1).tolist()
    np.testing.assert_allclose(fit.predict(new, type="prob", priors=trained), plain, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_right_priors_lower_the_error_and_are_found(fits, name, new):
    fit = fits[name]
    estimate = fit.estimate_priors(new)
    assert estimate.sum() == pytest.approx(1)
    came = new["c"].value_counts(normalize=True).reindex(["x", "y", "z"])
    assert np.abs(estimate - came).max() < 0.12
    errors = [
        (fit.predict(new, priors=priors) != new["c"]).mean() for priors in (None, TRUE, estimate)
    ]
    assert errors[1] < errors[0]
    assert errors[2] < errors[0]


def test_class_weights_count_among_the_shares_in_training(train, new):
    even = odrf.odt(FORMULA, train, class_weights="balanced", max_leaves=8, seed=1)
    shares = dict.fromkeys("xyz", 1 / 3)
    np.testing.assert_allclose(
        even.predict(new, type="prob", priors=shares), even.predict(new, type="prob")
    )


def test_em_finds_the_largest_likelihood():
    rng = np.random.default_rng(0)
    shares, trained = rng.dirichlet([1, 1], 50), np.array([0.4, 0.6])
    found = estimated_priors(shares, trained, 10_000, 1e-12)
    assert found.settled

    def likelihood(p):
        return np.log(shares @ (np.array([p, 1 - p]) / trained)).sum()

    grid = np.linspace(0.001, 0.999, 999)
    best = grid[np.argmax([likelihood(p) for p in grid])]
    assert found.priors[0] == pytest.approx(best, abs=2e-3)
    assert estimated_priors(shares, trained, 2, 1e-12)[1:] == (2, False)


def test_a_class_without_training_rows_keeps_probability_0():
    moved = shifted(
        np.array([[0.5, 0.5, 0.0]]), np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.2, 0.6])
    )
    assert moved.tolist() == [[0.5, 0.5, 0.0]]


def test_rows_with_missing_predictors_stay_missing(train, new):
    fit = odrf.odt(FORMULA, train, missing="drop", max_leaves=8, seed=1)
    holes = new.head(5).assign(a=[np.nan, 1, 2, np.nan, 0])
    moved = fit.predict(holes, type="prob", priors=TRUE)
    assert moved["x"].isna().tolist() == [True, False, False, True, False]
    assert fit.estimate_priors(holes).equals(fit.estimate_priors(holes.dropna()))
    with pytest.raises(InputError, match="no complete rows"):
        fit.estimate_priors(holes.iloc[[0]])


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"x": 0.5, "y": 0.5}, "priors lacks 'z': give a share for every class"),
        ({**TRUE, "zz": 0.1}, "priors names 'zz', which is not a class of 'c'.*did you mean 'z'"),
        ({"x": 0.5, "y": 0.5, "z": 0.5}, "priors add up to 1.5, not to 1: divide each by 1.5"),
        ({"x": 0.5, "y": 0.5, "z": 0}, "priors\\['z'\\]=0: use a positive number"),
        ([0.1, 0.2, 0.7], "use a mapping of every class to its share"),
    ],
)
def test_what_cannot_be_priors(fits, priors, message, new):
    with pytest.raises(InputError, match=message):
        fits["odt"].predict(new, priors=priors)


@pytest.mark.parametrize("name", NAMES)
def test_priors_are_for_probabilities(fits, name, new):
    with pytest.raises(InputError, match="priors= is for predictions of classes and probabilities"):
        fits[name].predict(new, type="leaf", priors=TRUE)


def test_numbers_have_no_priors(train, new):
    forest = odrf.odrf("number ~ b", train, n_trees=12, seed=1)
    for arguments in ({}, {"interval": "prediction"}, {"type": "quantile"}):
        with pytest.raises(InputError, match="priors= needs classes, but 'number' was fitted"):
            forest.predict(new, priors=TRUE, **arguments)
    with pytest.raises(InputError, match="estimate_priors\\(\\) needs classes"):
        forest.estimate_priors(new)


def test_too_few_steps_warn(fits, new):
    with pytest.warns(UserWarning, match="still change by more than 1e-08 after 2 steps"):
        fits["odrf"].estimate_priors(new, max_steps=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fits["odrf"].estimate_priors(new, tolerance=0.1)
    with pytest.raises(InputError, match="max_steps=0"):
        fits["odrf"].estimate_priors(new, max_steps=0)
    with pytest.raises(InputError, match="tolerance=-1"):
        fits["odrf"].estimate_priors(new, tolerance=-1)
