"""Fits that reproduce their training rows say so; what rounding leaves is no error."""

from __future__ import annotations

import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.scores import explained_part, out_of_bag_loss, out_of_bag_scores
from odrf.reports.importance import with_shares
from odrf.reports.summaries import training_score, without_rounding

ROUNDED = re.compile(r"\de-(1[0-9]|[2-9]\d)")


def rows(n=100):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    y = 3.1 * data["a"] + data["b"] + rng.normal(size=n)
    return data.assign(y=y, k=np.where(y > 0, "high", "low"))


DATA = rows()
WHOLE = {"alpha": None, "min_leaf": 1}
REPRODUCING = {
    "tree": lambda: odrf.odt("y ~ a + b + c", DATA, seed=1, **WHOLE),
    "tree of classes": lambda: odrf.odt("k ~ a + b + c", DATA, seed=1, **WHOLE),
    "guided": lambda: odrf.graf("y ~ a + b + c", DATA, n_trees=10, subspace="all", seed=1),
    "guided classes": lambda: odrf.graf("k ~ a + b + c", DATA, n_trees=10, seed=1),
    "boosted": lambda: odrf.odbt(
        "y ~ a + b + c", DATA, n_trees=600, learning_rate=1.0, min_leaf=1, seed=1
    ),
}


@pytest.mark.parametrize("name", REPRODUCING)
def test_reproduced_rows_are_said_to_be(name):
    fit = REPRODUCING[name]()
    kind = "error rate" if fit.kind == "classification" else "MSE"
    said = "0 (the training rows are reproduced)"
    assert fit.summary().facts[f"Training {kind}"] == said
    assert said in repr(fit)
    assert not ROUNDED.search(f"{fit!r} {fit.summary()}")


@pytest.mark.parametrize("response", ["y", "k"])
def test_the_error_of_the_largest_subtree_is_0(response):
    data = rows(150).assign(k=lambda rows: pd.cut(rows["y"], 3, labels=list("uvw")))
    for seed in range(4):
        tree = odrf.odt(f"{response} ~ a + b + c", data, seed=seed, **WHOLE)
        assert tree.pruning_path(cv=None).table["error"].iloc[0] == 0


def test_an_error_that_is_one_is_told_as_it_is():
    tree = odrf.odt("y ~ a + b + c", DATA, max_leaves=4, seed=1)
    error = ((DATA["y"] - tree.predict(DATA)) ** 2).mean()
    assert float(tree.summary().facts["Training MSE"]) == pytest.approx(error, rel=1e-3)


def test_between_them_it_is_nearly():
    assert training_score(0.5, 0.9995) == {
        "Training MSE": "0.5 (the training rows are nearly reproduced)"
    }
    assert training_score(0.5, 0.5) == training_score(0.5, float("nan")) == {"Training MSE": "0.5"}
    assert training_score(1e-5, None) == {"Training error rate": "1e-05"}


def test_losses_keep_all_but_rounding():
    losses = pd.DataFrame({"training": [2.0, -1e-13, 1e-11, np.nan]})
    assert without_rounding(losses)["training"].tolist()[:3] == [2.0, 0.0, 1e-11]
    assert without_rounding(losses)["training"].isna().tolist() == [False] * 3 + [True]


def test_what_rounding_leaves_of_an_explained_part_is_0():
    assert explained_part(1 - 1e-16, 1.0) == 0 == explained_part(3.0000000000000004, 3.0)
    assert explained_part(0.25, 1.0) == 0.75 and explained_part(2.0, 1.0) == -1
    assert np.isnan(explained_part(0.0, 0.0))


def test_shares_are_of_the_importances_above_0():
    design = SimpleNamespace(predictors=("a", "b", "c"))
    fit = SimpleNamespace(design=design)
    table = with_shares(fit, np.array([-2.0, 1.0, 3.0]))
    assert table["share"].to_dict() == {"c": 0.75, "b": 0.25, "a": 0.0}
    assert table["importance"].to_dict() == {"c": 3.0, "b": 1.0, "a": -2.0}
    assert (with_shares(fit, np.array([-2.0, -1.0, 0.0]))["share"] == 0).all()


# ------------------------------------------------------------------------------------------------
# Out-of-bag errors have standard errors.
# ------------------------------------------------------------------------------------------------

WITH_ROWS_OUT_OF_BAG = {
    "forest": lambda **options: odrf.odrf("y ~ a + b + c", n_trees=30, seed=1, **options),
    "boosted": lambda **options: odrf.odbt(
        "y ~ a + b + c", n_trees=5, n_runs=20, seed=1, **options
    ),
}
SAID = re.compile(r"(-?[\d.]+) \(SE ([\d.]+)\)")


def said_of(fit, fact):
    return tuple(float(number) for number in SAID.fullmatch(fit.summary().facts[fact]).groups())


def without_each(y, value, groups):
    """Return MSE and R² without each group in turn, (G, 2)."""
    lines = []
    for g in np.unique(groups):
        kept = groups != g
        loss = np.mean((y[kept] - value[kept]) ** 2)
        lines.append((loss, 1 - loss / np.var(y[kept])))
    return np.array(lines)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("name", WITH_ROWS_OUT_OF_BAG)
def test_summaries_show_the_standard_errors_of_the_out_of_bag_error(name, grouped):
    data = rows(200).assign(g=np.arange(200) // 4)
    data["y"] += np.repeat(np.random.default_rng(2).normal(size=50), 4)
    fit = WITH_ROWS_OUT_OF_BAG[name](data=data, **({"groups": "g"} if grouped else {}))
    value = fit.oob_prediction.to_numpy()
    known = ~np.isnan(value)
    y, value = data["y"].to_numpy()[known], value[known]
    groups = (data["g"].to_numpy() if grouped else np.arange(200))[known]
    jackknife = without_each(y, value, groups)
    errors = np.sqrt(((jackknife - jackknife.mean(axis=0)) ** 2).sum(axis=0))
    for fact, estimate, error in zip(
        ("OOB MSE", "OOB R²"), (fit.oob_error, fit.r_squared), errors, strict=True
    ):
        assert said_of(fit, fact) == pytest.approx((estimate, error), rel=0.05, abs=1e-3)
        assert f"{fact} " in repr(fit) and "(SE " in repr(fit)


def test_stacks_and_classes_have_standard_errors_too():
    assert said_of(odrf.auto("y ~ a + b + c", DATA, seed=1), "OOB MSE")[1] > 0
    forest = odrf.odrf("k ~ a + b + c", DATA, n_trees=30, seed=1)
    error = forest.oob_error
    expected = (error, np.sqrt(error * (1 - error) / len(DATA)))
    assert said_of(forest, "OOB error rate") == pytest.approx(expected, rel=1e-3)


def test_the_standard_error_of_summaries_is_that_of_tuning():
    forest = odrf.odrf("y ~ a + b + c", DATA, n_trees=30, seed=1, weights=1 + np.arange(100) % 3)
    scores = out_of_bag_scores(forest.fit, forest._oob_value)
    assert scores[:2] == pytest.approx(out_of_bag_loss(forest.fit))
    assert scores.r_squared == pytest.approx(forest.r_squared)


def test_an_error_of_0_claims_no_certainty():
    data = DATA.assign(a=np.sign(DATA["a"]), k=np.where(DATA["a"] > 0, "high", "low"))
    forest = odrf.odrf("k ~ a", data, n_trees=30, seed=1, projection="axis")
    assert forest.oob_error == 0
    assert forest.summary().facts["OOB error rate"] == "0"


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_two_standard_errors_cover(grouped):
    """A given prediction of new rows, 1,000 times; in groups of five, whose errors are alike."""
    n, times, rng = 250, 1000, np.random.default_rng(4)
    data = pd.DataFrame({"x": np.arange(n), "y": rng.normal(size=n), "g": np.arange(n) // 5})
    groups = {"groups": "g"} if grouped else {}
    fit = odrf.odrf("y ~ x", data, n_trees=2, blend=False, seed=1, **groups).fit
    within = 0.5 if grouped else 0.0
    truth = np.array([0.04 + 1.0 + within, 1 - (1.04 + within) / (2.0 + within)])
    covered = np.zeros(2)
    for _ in range(times):
        x = rng.normal(size=n)
        noise = np.sqrt(within) * np.repeat(rng.normal(size=n // 5), 5) + rng.normal(size=n)
        drawn = replace(fit, training=replace(fit.data, y=x + noise))
        error, std_error, explained, of_explained = out_of_bag_scores(drawn, 0.8 * x[:, None])
        off = np.abs(np.array([error, explained]) - truth)
        covered += off <= 1.96 * np.array([std_error, of_explained])
    # normal intervals of skewed losses cover a little less than 95 %
    assert (np.abs(covered / times - 0.945) < 0.025).all(), covered / times
