"""Importances of survival forests against a slow twin; more trees, and the trees of two forests."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.survival.validation import KEY, TIMES
from odrf.statistics.survival.discrimination import unos_c
from odrf.statistics.survival.pseudo_values import RowwiseEstimate
from odrf.statistics.survival.scores import brier_scores

FORMULA = "Surv(time, event) ~ ."


def table_with_a_factor():
    data = odrf.simulate.proportional_hazards(p=3, relevant=2).sample(220, seed=1)
    data["place"] = pd.Categorical(np.random.default_rng(1).choice(list("abcdefgh"), len(data)))
    return data.assign(constant=1.0)


DATA = table_with_a_factor()


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=30, seed=1)


def out_of_bag_by_hand(forest, data, grid):
    """Risks and survival of rows, by the trees that did not draw them, tree by tree."""
    unseen = forest.fit.draws.all_unseen()
    risk, survival = np.zeros(len(data)), np.zeros((len(data), len(grid)))
    for b in range(forest.forest.n_trees):
        tree = forest.tree(b)
        risk[unseen[b]] += tree.predict(data).to_numpy()[unseen[b]]
        survival[unseen[b]] += tree.predict(data, type="survival", times=grid)[unseen[b]]
    votes = unseen.sum(axis=0)
    return risk / votes, survival / votes[:, None]


def test_permutation_importance_is_that_of_the_twin(forest):
    time, event = DATA["time"].to_numpy(), DATA["event"].to_numpy()
    rows = forest._judged_training.rows
    until = rows.last_time()
    grid, n = rows.grid(until, TIMES), len(DATA)

    def scores(data):
        risk, survival = out_of_bag_by_hand(forest, data, grid)
        C = unos_c(time, event, risk, np.nextafter(until, np.inf))
        return C, brier_scores(time, event, 1 - survival, grid).integrated

    before = scores(DATA)
    found = forest.importance()
    repeats = 10
    for name in ("x1", "place"):
        j = list(forest.design.predictors).index(name)
        rng, falls, rises = np.random.default_rng((forest.seed, KEY, j)), [], []
        for _ in range(repeats):
            permuted = DATA.assign(**{name: DATA[name].to_numpy()[rng.permutation(np.arange(n))]})
            if name == "place":
                permuted[name] = pd.Categorical(permuted[name], DATA[name].cat.categories)
            after = scores(permuted)
            falls.append(
                (before[0].estimate - after[0].estimate, before[0].influence - after[0].influence)
            )
            rises.append(after[1].estimate - before[1].estimate)
        line = found.loc[name]
        mean = RowwiseEstimate(
            float(np.mean([fall for fall, _ in falls])), np.mean([one for _, one in falls], axis=0)
        )
        assert line["importance"] == pytest.approx(mean.estimate)
        assert line["brier_rise"] == pytest.approx(np.mean(rises))
        drawn = np.std([fall for fall, _ in falls], ddof=1) / np.sqrt(repeats)
        assert line["monte_carlo_error"] == pytest.approx(drawn)
        assert line["std_error"] == pytest.approx(np.hypot(mean.std_error, drawn))


def test_importances_tell_what_matters(forest):
    table = forest.importance()
    assert set(table.index[:2]) == {"x1", "x2"}
    assert (table.loc[["x1", "x2"], "conf_low"] > 0).all()
    assert (table.loc["constant"] == 0).all()
    assert table["importance"].is_monotonic_decreasing
    pd.testing.assert_frame_equal(table, odrf.odrf(FORMULA, DATA, n_trees=30, seed=1).importance())


def test_impurity_adds_up_to_shares(forest):
    table = forest.importance("impurity")
    assert table["share"].sum() == pytest.approx(1)
    assert set(table.index[:2]) == {"x1", "x2"}
    gains = forest.forest
    split = gains.is_split()
    root = np.repeat(gains.root[:-1], np.diff(gains.root))
    removed = (gains.weight * gains.gain)[split] / gains.weight[root][split]
    assert table["importance"].sum() == pytest.approx(removed.sum() / gains.n_trees)


def test_one_cause_has_importances_of_its_own():
    data = odrf.simulate.competing_risks(p=4).sample(400, seed=1)
    fit = odrf.odrf(FORMULA, data, n_trees=60, seed=1)
    by_cause = [fit.importance(cause=cause) for cause in fit.design.response.causes]
    assert not by_cause[0]["importance"].equals(by_cause[1]["importance"])
    assert by_cause[0].columns.tolist() == fit.importance().columns.tolist()
    assert "Scores by cause (out of bag)" in fit.summary().sections


@pytest.mark.parametrize("options", [{"blend": False}, {"blend": True}])
def test_more_trees_are_those_that_would_have_been_grown(options):
    few, all_at_once = (
        odrf.odrf(FORMULA, DATA, n_trees=trees, seed=1, **options) for trees in (60, 75)
    )
    grown = few.grow(15)
    pd.testing.assert_series_equal(grown.predict(DATA), all_at_once.predict(DATA), check_exact=True)
    for one, other in zip(grown.fit.curves, all_at_once.fit.curves, strict=True):
        np.testing.assert_array_equal(one, other)
    pd.testing.assert_frame_equal(grown.oob_scores, all_at_once.oob_scores)
    assert grown.call.endswith(".grow(15)")


def test_the_trees_of_two_forests_predict_their_mean():
    one, other = (odrf.odrf(FORMULA, DATA, n_trees=20, seed=seed) for seed in (1, 2))
    both = one.combine(other)
    mean = (one.predict(DATA) + other.predict(DATA)) / 2
    np.testing.assert_allclose(both.predict(DATA), mean)
    curves = [fit.predict(DATA, type="survival", times=[0.5]) for fit in (one, other, both)]
    np.testing.assert_allclose(curves[2], (curves[0] + curves[1]) / 2)


def test_the_forest_is_the_mean_of_its_trees(forest):
    trees = [forest.tree(b) for b in range(forest.forest.n_trees)]
    mean = sum(tree.predict(DATA, type="survival", times=[0.3, 0.9]) for tree in trees) / len(trees)
    np.testing.assert_allclose(forest.predict(DATA, type="survival", times=[0.3, 0.9]), mean)
    assert set(forest.splits["tree"]) == set(range(len(trees)))
    assert trees[0].score().index.name == "out of bag"


def test_kinds_tell_how_the_trees_of_a_blend_were_grown():
    fit = odrf.odrf(FORMULA, DATA, n_trees=60, blend=True, seed=1)
    assert fit.kinds["trees"].sum() == 60
    for told in (fit, fit.estimand("rmst", time=1.0)):
        assert "sum of Brier scores at nine times" in " ".join(str(told.summary()).split())
    with pytest.raises(odrf.InputError, match="one kind"):
        odrf.odrf(FORMULA, DATA, n_trees=5, blend=False, seed=1).kinds  # noqa: B018
