"""Selections of predictors by a forest."""

from __future__ import annotations

import pickle
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots
from odrf import InputError
from odrf.errors import InputError as InputErrorNoPredictorConfirmed
from odrf.fits.growing import refit_beside_shadows
from odrf.reports import selection

NEEDED = ["a", "b", "f"]


@pytest.fixture(scope="module")
def pilots():
    with with_few_pilots():
        yield


@pytest.fixture(scope="module")
def noisy(table):
    rng = np.random.default_rng(5)
    return table.assign(u=rng.normal(size=120), v=rng.choice(["k", "l"], 120), w=rng.random(120))


@pytest.fixture(scope="module", params=["y", "c"])
def forest(request, noisy):
    formula = f"{request.param} ~ a + u + b + v + f + w"
    return odrf.odrf(formula, noisy, n_trees=40, seed=1)


@pytest.fixture(scope="module")
def steps(forest):
    return forest.select_variables()


@pytest.fixture(scope="module")
def shadows(forest):
    return forest.select_variables("boruta", rounds=25)


@pytest.fixture
def closed():
    yield
    plt.close("all")


@pytest.mark.usefixtures("pilots", "closed")
def test_steps_drop_one_of_few_predictors(steps, forest):
    table = steps.table
    assert table["predictors"].tolist() == [6, 5, 4, 3, 2, 1]
    assert table["error"].iloc[0] == pytest.approx(forest.oob_error)
    dropped = [*table["dropped"].iloc[:-1], *steps.kept[-1]]
    assert sorted(dropped) == sorted(forest.design.predictors)
    assert sorted(steps.kept[3]) == NEEDED
    assert table["dropped"].iloc[-1] == ""


@pytest.mark.usefixtures("pilots", "closed")
def test_each_step_is_the_forest_of_its_predictors(steps, forest, noisy):
    best = steps.best("1se")
    kept = steps.selected("1se")
    assert set(best.design.predictors) == set(kept) <= set(NEEDED)
    assert best.oob_error == pytest.approx(steps.table["error"][steps.row("1se")])
    formula = f"{forest.design.response.name} ~ {' + '.join(kept)}"
    assert best.formula == formula
    by_hand = odrf.odrf(formula, noisy, n_trees=40, seed=1)
    assert best.forest.threshold.tobytes() == by_hand.forest.threshold.tobytes()
    assert best.predict(noisy[kept]).equals(by_hand.predict(noisy))
    assert pickle.loads(pickle.dumps(best)).oob_error == best.oob_error


@pytest.mark.usefixtures("pilots", "closed")
def test_rules_of_choice(steps):
    table = steps.table
    least = table["error"].min()
    assert table["error"][steps.row("min")] == least
    limit = least + table["std_error"][steps.row("min")]
    assert steps.row("1se") == np.flatnonzero(table["error"] <= limit)[-1]
    with pytest.raises(InputError, match="rule='2se' is not known"):
        steps.best("2se")


@pytest.mark.usefixtures("pilots", "closed")
def test_shadows_tell_noise_from_signal(shadows):
    decision = shadows.table["decision"]
    assert (decision[NEEDED] == "confirmed").all()
    assert (decision[["u", "v", "w"]] != "confirmed").all()
    assert shadows.selected() == [name for name in decision.index.sort_values() if name in NEEDED]
    assert set(shadows.best().design.predictors) == set(NEEDED)
    assert shadows.rounds <= 25
    assert (shadows.table["hits"] <= shadows.table["rounds"]).all()
    assert set(shadows.selected(tentative=True)) >= set(NEEDED)


@pytest.mark.usefixtures("pilots", "closed")
def test_shadows_are_permuted_copies(forest):
    fit = refit_beside_shadows(forest.fit, [4, 0], 7)
    own = forest.design.recipe.columns_of([4, 0])
    half = len(own)
    np.testing.assert_array_equal(fit.data.X[:half], forest.fit.data.X[own])
    assert (fit.data.X[half:] != fit.data.X[:half]).any()
    factor = len(forest.design.recipe.columns_of([4]))
    for shadow, block in ((slice(half, half + factor), slice(0, factor)),):
        # the levels of a factor move together: each row of the copy is some row of the factor
        rows = {tuple(column) for column in fit.data.X[block].T}
        assert {tuple(column) for column in fit.data.X[shadow].T} == rows
        assert (fit.data.X[shadow].sum(axis=0) == 1).all()
    np.testing.assert_array_equal(np.sort(fit.data.X[-1]), np.sort(fit.data.X[half - 1]))


@pytest.mark.usefixtures("pilots", "closed")
def test_selections_are_reproducible(forest, steps):
    assert forest.select_variables().table.equals(steps.table)
    one, other = (forest.select_variables("boruta", rounds=2).table for _ in range(2))
    assert one.equals(other)


@pytest.mark.usefixtures("pilots", "closed")
def test_summaries_and_drawings(steps, shadows):
    assert "backward elimination" in str(steps.summary())
    assert repr(steps).startswith("Backward elimination of predictors in 6 steps")
    (curve, _, mark) = steps.plot().lines[-3:]
    np.testing.assert_array_equal(curve.get_ydata(), steps.table["error"])
    assert mark.get_xdata() == np.log2(steps.table["predictors"][steps.row("1se")])
    assert "Confirmed" in str(shadows.summary())
    assert repr(shadows).startswith(
        f"Selection of predictors by shadows (Boruta) in {shadows.rounds} rounds"
    )
    ax = shadows.plot()
    assert [text.get_text() for text in ax.get_yticklabels()] == list(shadows.table.index)


@pytest.mark.usefixtures("pilots", "closed")
def test_a_drop_of_more_predictors_at_once(noisy):
    data = noisy.assign(**{f"z{i}": np.random.default_rng(i).random(120) for i in range(9)})
    forest = odrf.odrf("y ~ . - c", data, n_trees=20, subset_size=12, seed=1)
    steps = forest.select_variables(drop=0.5)
    assert steps.table["predictors"].tolist() == [15, 8, 4, 2, 1]
    assert steps.table["dropped"].iloc[0].count(",") == 6


@pytest.mark.usefixtures("pilots", "closed")
def test_nothing_confirmed():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 4)), columns=list("yabc"))
    shadows = odrf.odrf("y ~ .", data, n_trees=20, seed=1).select_variables("boruta", rounds=2)
    with pytest.raises(InputError, match="no predictor is confirmed"):
        shadows.best()
    assert "In fewer than 9 rounds nothing can be confirmed" in " ".join(
        str(shadows.summary()).split()
    )


@pytest.mark.usefixtures("pilots", "closed")
@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("forward", {}, "method='forward' is not known: use one of 'backward', 'boruta'"),
        ("backward", {"drop": 1}, "drop=1: use a number above 0 and below 1"),
        ("backward", {"drop": True}, "drop=True"),
        ("boruta", {"rounds": 0}, "rounds=0: use a whole number of at least 1"),
        ("boruta", {"rounds": 2.5}, "rounds=2.5"),
    ],
)
def test_bad_options(number_forest, method, options, message):
    with pytest.raises(InputError, match=message):
        number_forest.select_variables(method, **options)


@pytest.mark.usefixtures("pilots", "closed")
def test_no_rows_out_of_bag(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, resample="none", seed=1)
    with pytest.raises(InputError, match='resample="none" leaves none'):
        forest.select_variables()


# ------------------------------------------------------------------------------------------------
# What is said if shadows confirm no predictor.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rounds", "tentative", "advice"),
    [
        (1, False, r"use best\(tentative=True\), or select_variables\(\"boruta\"\) with more"),
        (12, False, "all are rejected"),
        (12, True, "all are rejected"),
    ],
)
def test_the_advice_is_one_that_can_help(monkeypatch, rounds, tentative, advice):
    monkeypatch.setattr(selection, "refit_beside_shadows", lambda fit, which, seed: which)
    steps = SimpleNamespace(
        importances_of=lambda which: np.r_[np.zeros(len(which)), np.ones(len(which))],
        grown_on=None,
        error="",
    )
    fit = SimpleNamespace(
        design=SimpleNamespace(predictors=["a", "b"]), control=SimpleNamespace(seed=1), call=""
    )
    found = selection.ShadowSelection(fit, rounds, False, lambda fit: fit, steps)
    with pytest.raises(InputErrorNoPredictorConfirmed, match=advice):
        found.best(tentative)
