"""Tests of importance through the results: what they find, of what, and what they refuse."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError
from odrf.fits import importance_tests
from odrf.fits import importance_tests as stand_ins_of_terms
from odrf.fits.growing import grow_fit
from odrf.fits.importance_tests import DistinctDraws, conditional_resamples, laws_given_others

COLUMNS = [
    "term", "estimate", "std_error", "statistic", "p_value", "conf_low", "conf_high", "p_adjusted",
]  # fmt: skip
GROW = {"odt": {}, "odrf": {"n_trees": 10}, "odbt": {"n_trees": 5}, "graf": {"n_trees": 5}}


def table(n=150, seed=1):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    data["copy"] = data["a"] + 0.1 * rng.normal(size=n)
    data["few"] = rng.choice(["x", "y", "z"], n)
    data["y"] = 3 * data["b"] + 2 * (data["few"] == "x") + rng.normal(size=n) / 2
    data["k"] = np.where(data["y"] > data["y"].mean(), "over", "below")
    return data


@pytest.mark.parametrize("response", ["y", "k"])
@pytest.mark.parametrize("function", GROW)
@pytest.mark.parametrize("type", ["conditional", "loco"])
def test_every_kind_of_fit_finds_what_matters(function, response, type):
    fit = getattr(odrf, function)(f"{response} ~ b + c", table(), seed=1, **GROW[function])
    found = fit.importance(type)
    assert list(found.columns) == COLUMNS
    assert found["term"].iloc[0] == "b" and found["p_adjusted"].iloc[0] < 0.05
    assert found["p_value"].iloc[1] > 0.05
    pd.testing.assert_frame_equal(found, fit.importance(type))


def test_terms_computed_from_a_variable_follow_it():
    data = table()
    forest = odrf.odrf("y ~ np.exp(b) + b:c + few", data, seed=1, n_trees=10)
    found = forest.importance("conditional", test="wilcoxon", adjust="bh", level=0.9)
    assert set(found["term"]) == {"b", "c", "few"}
    assert found["term"].iloc[0] == "b"


@pytest.mark.parametrize("adjust", ["holm", "bh"])
def test_p_values_are_adjusted_for_the_number_of_terms(adjust):
    forest = odrf.odrf("y ~ a + c", table(), seed=1, n_trees=10)
    found = forest.importance("conditional", adjust=adjust)
    low, high = np.sort(found["p_value"])
    expected = {"holm": [2 * low, max(2 * low, high)], "bh": [min(2 * low, high), high]}[adjust]
    np.testing.assert_allclose(np.sort(found["p_adjusted"]), np.minimum(expected, 1.0))


def test_sets_are_tested_together():
    forest = odrf.odrf("y ~ a + b + copy", table(), seed=1, n_trees=10)
    found = forest.importance("conditional", groups={"twins": ["a", "copy"]}, adjust=None)
    assert set(found["term"]) == {"twins", "b"}
    assert (found["p_adjusted"] == found["p_value"]).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "z"}, "test"),
        ({"adjust": "sidak"}, "adjust"),
        ({"groups": {"s": ["nothing"]}}, "no predictor is computed from 'nothing'"),
        ({"groups": {"s": ["a"], "t": ["a"]}}, "'a' is in two sets"),
        ({"groups": {"b": ["a"]}}, "the set 'b' has the name of a variable"),
        ({"groups": ["a"]}, "mapping"),
        ({"level": 2}, "level"),
    ],
)
def test_arguments_that_cannot_be_used(options, message):
    forest = odrf.odrf("y ~ a + b", table(), seed=1, n_trees=3)
    with pytest.raises(InputError, match=message):
        forest.importance("conditional", **options)


def test_too_few_rows_are_refused():
    forest = odrf.odrf("y ~ a + b", table(6), seed=1, n_trees=3)
    with pytest.raises(InputError, match="too few"):
        forest.importance("loco")


def test_groups_of_rows_stay_whole():
    data = table(120).assign(site=np.repeat(np.arange(12), 10))
    forest = odrf.odrf("y ~ b + c", data, groups="site", seed=1, n_trees=10)
    found = forest.importance("conditional")
    assert found["term"].iloc[0] == "b"


def test_stand_ins_keep_the_relation_to_other_variables():
    frame = table(400)[["a", "b", "copy", "few"]].assign(count=lambda d: d["b"].round().clip(-1, 1))
    rng = np.random.default_rng(1)
    drawn = conditional_resamples(frame, laws_given_others(frame, ["a"], 1, 1), rng)["a"]
    assert np.corrcoef(drawn, frame["copy"])[0, 1] == pytest.approx(0.995, abs=0.004)
    assert not np.allclose(drawn, frame["a"])
    labels = conditional_resamples(frame, laws_given_others(frame, ["few"], 1, 1), rng)["few"]
    assert set(labels) <= {"x", "y", "z"}
    counts = conditional_resamples(frame, laws_given_others(frame, ["count"], 1, 1), rng)["count"]
    assert set(counts) <= {-1, 0, 1}
    assert np.corrcoef(counts, frame["b"])[0, 1] > 0.7


def test_stand_ins_of_a_set_keep_their_relation_to_each_other():
    frame = table(300)[["a", "b", "copy"]]
    drawn = conditional_resamples(
        frame, laws_given_others(frame, ["a", "copy"], 1, 1), np.random.default_rng(1)
    )
    assert np.corrcoef(drawn["a"], drawn["copy"])[0, 1] > 0.97


def test_empty_cells_stay_empty():
    frame = table(100)[["a", "b", "few"]]
    frame.loc[:9, ["a", "few"]] = np.nan
    for name in ("a", "few"):
        laws = laws_given_others(frame, [name], 1, 1)
        drawn = pd.Series(conditional_resamples(frame, laws, np.random.default_rng(1))[name])
        assert (drawn.isna() == frame[name].isna()).all()
    data = table(100)
    data.loc[:9, ["b", "few"]] = np.nan
    found = odrf.odrf("y ~ b + few", data, seed=1, n_trees=5).importance("conditional")
    assert len(found) == 2


def test_knockoffs_select_what_matters():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(300, 12)), columns=[f"x{j}" for j in range(12)])
    data["y"] = data[[f"x{j}" for j in range(6)]].sum(axis=1) + rng.normal(size=300)
    forest = odrf.odrf("y ~ .", data, seed=1, n_trees=50)
    chosen = forest.select_variables("knockoff", fdr=0.2)
    assert len(chosen.selected()) >= 5
    assert chosen.table["importance"].is_monotonic_decreasing
    assert (chosen.table["fdr"] <= 0.2).tolist() == chosen.table["selected"].tolist()
    assert list(chosen.best().design.predictors) == chosen.selected()
    found = forest.importance("knockoff")
    assert list(found.columns) == COLUMNS
    assert np.allclose(found["estimate"], chosen.table["importance"])
    none = forest.select_variables("knockoff", fdr=0.01)
    assert none.selected() == []
    assert "at this rate 100 or more are selected, or none" in " ".join(str(none.summary()).split())
    assert "or none" not in repr(chosen)
    with pytest.raises(InputError, match="no predictor is selected"):
        none.best()


def test_knockoffs_are_for_numbers_in_forests():
    forest = odrf.odrf("y ~ b + few", table(), seed=1, n_trees=3)
    with pytest.raises(InputError, match="'few' is not a column of numbers"):
        forest.select_variables("knockoff")
    with pytest.raises(InputError, match="within a forest"):
        odrf.odt("y ~ b", table(), seed=1).importance("knockoff")


def test_permutation_warns_of_correlated_predictors_once():
    data = table()
    forest = odrf.odrf("y ~ a + b + copy", data, seed=1, n_trees=3)
    with pytest.warns(UserWarning, match="'a' and 'copy' have a correlation of 0.99"):
        forest.importance("permutation")
    for fit in (forest, odrf.odrf("y ~ a + b + few", data, seed=1, n_trees=3)):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit.importance("permutation")


def test_plots_draw_intervals():
    forest = odrf.odrf("y ~ b + c", table(), seed=1, n_trees=5)
    for type in ("conditional", "loco"):
        axes = forest.plot("importance", type=type)
        assert len(axes.collections) == 1
    for type in ("permutation", "impurity", "knockoff"):
        assert forest.plot("importance", type=type).get_yticklabels()[0].get_text() in ("b", "c")


@pytest.mark.parametrize("function", GROW)
@pytest.mark.parametrize("type", ["conditional", "loco"])
def test_rises_are_those_of_all_rows_of_all_draws(function, type, monkeypatch):
    def all_rows(X, draws):
        n = X.shape[1]
        number = np.arange(len(draws) * n).reshape(len(draws), n)
        return DistinctDraws(np.hstack(draws), np.tile(np.arange(n), len(draws)), number)

    data = table().assign(few=lambda d: (d["few"] == "x").astype(float))
    fit = getattr(odrf, function)("k ~ b + few", data, seed=1, **GROW[function])
    found = fit.importance(type)
    monkeypatch.setattr(importance_tests, "distinct_draws", all_rows)
    pd.testing.assert_frame_equal(found, fit.importance(type), rtol=1e-12)


def test_a_number_that_others_determine_tells_nothing():
    data = table().assign(twice=lambda d: 2 * d["b"] + 1, code=lambda d: 7.0 * (d["few"] == "x"))
    data["sum"] = data["b"] - 3 * data["code"]
    found = odrf.odrf("y ~ b + few + sum + twice", data, seed=1, n_trees=10)
    found = found.importance("conditional").set_index("term")
    assert (found.loc[["sum", "twice", "b"], "estimate"] == 0).all()
    assert (found.loc[["sum", "twice", "b"], "p_value"] == 1).all()


def test_trees_of_large_tables_draw_a_part_of_the_rows(monkeypatch):
    shares = []

    def seen(call, design, data, request):
        shares.append(request.sample_fraction)
        return grow_fit(call, design, data, replace(request, n_trees=2, max_leaves=3))

    monkeypatch.setattr(stand_ins_of_terms, "grow_fit", seen)
    for n in (500, 4000, 30_000):
        laws_given_others(table(n)[["a", "b"]], ["a"], 1, 1)
    assert shares == [1.0, 0.5, 0.1]
