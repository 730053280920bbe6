"""Stacks of models: what they are made of, what they predict and what they tell."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_quick_stacks
from odrf import InputError
from odrf.cli import main
from odrf.fits.responses import expected_response
from odrf.fits.stack.weights import LEAST_POWER
from odrf.results.stack import AutoResults

HOW = {"n_trees": 20, "seed": 1}
MODELS = [
    "forest",
    "forest on splines",
    "kernel smoother",
    "oblique smoother",
    "boosted runs",
]
SMOOTHERS = ["kernel smoother", "oblique smoother"]


@pytest.fixture(scope="module", autouse=True)
def quickly():
    with with_quick_stacks():
        yield


@pytest.fixture(scope="module")
def number(table):
    return odrf.auto("y ~ a + b + f", table, **HOW)


@pytest.fixture(scope="module")
def classes(table):
    return odrf.auto("c ~ a + b + f", table, **HOW)


def test_it_predicts_the_weighted_mean_of_its_models(number, table):
    assert list(number.parts.index) == MODELS
    weights = number.parts["weight"]
    assert weights.sum() == pytest.approx(1) and (weights >= 0).all()
    new = table[::3]
    X = number.design.matrix(new)[0]
    parts = [
        part.fit.values(X)[:, 0]
        if part.name in SMOOTHERS
        else number.part(part.name).predict(new).to_numpy()
        for part in number.fit.parts
    ]
    bases = [0.0 if part.base is None else part.base.values(X) for part in number.fit.parts]
    expected = weights.to_numpy() @ [p + b for p, b in zip(parts, bases, strict=True)]
    assert number.predict(new).to_numpy() == pytest.approx(expected)


def test_of_classes_it_predicts_the_power_of_a_geometric_mean(classes, table):
    assert list(classes.parts.index) == ["forest", *SMOOTHERS, "boosted runs"]
    weights = classes.parts["weight"]
    assert weights.sum() == pytest.approx(1) and classes.fit.power > 1
    X = classes.design.matrix(table)[0]
    mean = np.ones((120, 3))
    for part, weight in zip(classes.fit.parts, weights, strict=True):
        value = (
            part.fit.values(X)
            if part.name in SMOOTHERS
            else classes.part(part.name).predict(table, "prob").to_numpy()
        )
        mean *= value.clip(1e-3, 1) ** weight
    odds = mean**classes.fit.power
    found = classes.predict(table, "prob")
    assert found.to_numpy() == pytest.approx(odds / odds.sum(axis=1, keepdims=True))
    assert f"power {classes.fit.power:.4g}" in str(classes.summary())
    assert found.sum(axis=1).to_numpy() == pytest.approx(1)
    assert (classes.predict(table) == found.idxmax(axis=1)).all()


def test_where_other_models_are_of_no_use_the_forest_is_used_alone(table, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.weights.LEAST_GAIN_IN_SCORE", np.inf)
    fit = odrf.auto("c ~ a + b + f", table, **HOW)
    assert fit.parts["weight"].tolist() == [1, 0, 0, 0]
    assert (fit.parts["rise_without"][1:] == 0).all()
    odds = fit.part("forest").predict(table, "prob").clip(1e-3, 1) ** fit.fit.power
    expected = odds.div(odds.sum(axis=1), axis=0).to_numpy()
    assert fit.predict(table, "prob").to_numpy() == pytest.approx(expected)
    told = str(fit.summary())
    assert "forest is used alone" in told and f"power {fit.fit.power:.4g}" in told


def test_its_forest_and_runs_are_those_of_the_functions(number, table):
    forest = odrf.odrf("y ~ a + b + f", table, blend=True, **HOW)
    assert number.part("forest").predict(table).equals(forest.predict(table))
    how = {"n_runs": 6, "validation": "oob", "seed": 1, "n_trees": 10}
    runs = odrf.odbt("y ~ a + b + f", table, **how)
    assert number.part("boosted runs").predict(table).equals(runs.predict(table))


def test_a_part_says_what_it_is_and_what_its_response_is(number, table):
    forest, rest = number.part("forest"), number.part("forest on splines")
    assert forest.call == f"{number.call}.part('forest')"
    assert "less" not in str(forest.summary())
    assert "y, less a sum of splines" in str(rest.summary())
    for ask in (rest.update, lambda rows: rest.growth_path(rows)):
        with pytest.raises(InputError, match="'y' less a sum of splines, which new rows do not"):
            ask(table)


def test_out_of_bag_rows_have_no_part_in_their_prediction(number, table):
    changed = table.copy()
    changed.loc["row7", "y"] += 1e-3
    other = odrf.auto("y ~ a + b + f", changed, **HOW)
    # what a base says of a row without it does not depend on its response
    left = [fit.data.y - fit.parts[1].fit.data.y for fit in (number.fit, other.fit)]
    assert left[0][7] == pytest.approx(left[1][7], abs=1e-12)
    assert abs(left[0][8] - left[1][8]) > 1e-9
    value = number.oob_prediction
    known = value.notna()
    assert known.sum() > 110
    losses = ((table["y"] - value) ** 2)[known]
    assert number.oob_error == pytest.approx(losses.mean())
    assert number.predict().equals(value)
    assert 0 < number.r_squared < 1


def test_rows_that_every_tree_draws_have_no_part_in_the_out_of_bag_error(table):
    data = table.assign(t=range(len(table)))
    fit = odrf.auto("y ~ a + b + f", data, order="t", **HOW)
    losses = (table["y"] - fit.oob_prediction).dropna() ** 2
    assert 0 < len(losses) < len(table)
    assert fit.oob_error == pytest.approx(losses.mean())
    assert f"OOB MSE  {fit.oob_error:.4g}" in str(fit.summary())


def test_a_smooth_truth_is_for_the_splines_and_a_rough_one_for_the_others():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.uniform(size=(300, 3)), columns=list("abc"))
    data["y"] = np.sin(6 * data["a"]) + data["b"] ** 2 + rng.normal(size=300) / 20
    smooth = odrf.auto("y ~ .", data, **HOW)
    assert smooth.parts["weight"][["forest on splines", *SMOOTHERS]].sum() > 0.7
    new = pd.DataFrame(rng.uniform(size=(500, 3)), columns=list("abc"))
    truth = np.sin(6 * new["a"]) + new["b"] ** 2
    errors = [np.mean((fit.predict(new) - truth) ** 2) for fit in (smooth, smooth.part("forest"))]
    assert errors[0] < 0.5 * errors[1]


def test_where_most_predictors_tell_nothing_a_forest_on_few_is_among_the_models(tmp_path):
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(200, 25)), columns=[f"x{j}" for j in range(25)])
    data["f"] = rng.choice(["u", "v"], 200)
    data["y"] = data["x1"] + 2 * np.abs(data["x4"]) + (data["f"] == "v") + rng.normal(size=200) / 5
    data["c"] = np.where(data["y"] > 2, "over", "below")
    name = "forest on few predictors"
    for formula, kind in (("y ~ . - c", "response"), ("c ~ . - y", "prob")):
        fit = odrf.auto(formula, data, **HOW)
        few = fit.part(name)
        assert len(few.fit.design.predictors) < 10 and fit.parts.loc[name, "weight"] > 0.1
        X, part = fit.design.matrix(data)[0], next(p for p in fit.fit.parts if p.name == name)
        alone = expected_response(part.fit, X[part.columns])
        assert few.predict(data, kind).to_numpy() == pytest.approx(alone.squeeze())
        fit.save(tmp_path / "fit")
        assert odrf.load(tmp_path / "fit").predict(data).equals(fit.predict(data))
        assert set(fit.importance().index[:2]) <= set(few.fit.design.predictors)
        assert name in str(fit.summary())


def test_threads_and_files_change_nothing(number, classes, table, tmp_path):
    for fit, formula in ((number, "y ~ a + b + f"), (classes, "c ~ a + b + f")):
        again = odrf.auto(formula, table, n_jobs=2, **HOW)
        assert again.predict(table).equals(fit.predict(table))
        fit.save(tmp_path / "fit")
        loaded = odrf.load(tmp_path / "fit")
        assert loaded.predict(table).equals(fit.predict(table))
        assert loaded.oob_error == fit.oob_error
        assert str(loaded.summary()) == str(fit.summary())
        fit.save(tmp_path / "alone", data=False)
        alone = odrf.load(tmp_path / "alone")
        assert alone.predict(table).equals(fit.predict(table))
        with pytest.raises(InputError, match="saved without them"):
            alone.oob_prediction  # noqa: B018


def test_a_row_alone_is_predicted_as_among_others(number, classes, table):
    for fit in (number, classes):
        kind = "prob" if fit is classes else "response"
        together = fit.predict(table, kind)
        for i in range(0, 120, 7):
            assert fit.predict(table[i : i + 1], kind).equals(together[i : i + 1])


def test_weights_and_empty_cells(table):
    weights = np.where(np.arange(120) < 60, 2.0, 0.0)
    half = odrf.auto("y ~ a + b + f", table, weights=weights, **HOW)
    assert half.predict(table).notna().all()
    holes = table.assign(a=table["a"].mask(np.arange(120) % 7 == 0))
    fit = odrf.auto("y ~ a + b + f", holes, **HOW)
    assert np.isfinite(fit.predict(holes)).all()
    new = table[:5].assign(b=np.nan)
    assert np.isfinite(fit.predict(new)).all()


@pytest.mark.filterwarnings("ignore:every (tree|run) sampled:UserWarning")
def test_rows_without_some_models_are_predicted_by_the_others(table):
    for response, kind in (("y", "response"), ("c", "prob")):
        few = odrf.auto(f"{response} ~ a + b", table, **HOW)
        forest, runs = (few.part(name) for name in ("forest", "boosted runs"))
        fit = replace(few.fit, parts=(few.fit.parts[0], few.fit.parts[-1]), weights=np.full(2, 0.5))
        alone = forest.predict(type=kind).isna() & runs.predict(type=kind).notna()
        alone = alone.to_numpy().reshape(120, -1)[:, 0]
        assert alone.any()
        found, expected = AutoResults(fit).predict(type=kind)[alone], runs.predict(type=kind)[alone]
        if kind == "prob":
            odds = expected.clip(1e-3) ** fit.power
            expected = odds.div(odds.sum(axis=1), axis=0)
        assert found.to_numpy() == pytest.approx(expected.to_numpy())


def test_models_that_tell_nothing_predict_nearly_the_same_of_all_classes():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=200), "c": rng.choice(["u", "v"], 200)})
    fit = odrf.auto("c ~ a", data, **HOW)
    assert LEAST_POWER <= fit.fit.power < 0.7
    assert fit.predict(data, "prob").to_numpy() == pytest.approx(0.5, abs=0.25)


def test_many_classes_have_no_runs_but_without_a_smoother(table):
    many = table.assign(c=np.arange(120) % 10)
    how = {"kind": "classification", **HOW}
    fit = odrf.auto("c ~ a + b", many, **how)
    assert list(fit.parts.index) == ["forest", *SMOOTHERS]
    assert fit.predict(many, "prob").shape == (120, 10)
    fit = odrf.auto("c ~ a + b", many, groups=np.arange(120) // 20, **how)
    assert list(fit.parts.index) == ["forest", "boosted runs"]


def test_rows_in_groups_have_no_bases(table):
    fit = odrf.auto("y ~ a + b + f", table, groups=np.arange(120) // 4, **HOW)
    assert list(fit.parts.index) == ["forest", "boosted runs"]


def test_intervals_hold_new_responses(number, table):
    ends = number.predict(table, interval="prediction", level=0.8)
    assert list(ends.columns) == ["estimate", "conf_low", "conf_high"]
    inside = (table["y"] - number.oob_prediction).abs() <= (ends["conf_high"] - ends["estimate"])
    assert 0.78 <= inside.mean() <= 0.86
    wide = number.predict(table, interval="prediction", level=0.999)
    assert np.isinf(wide["conf_high"]).all()


def test_what_it_tells(number, classes, table):
    for fit in (number, classes):
        importance = fit.importance()
        assert importance["share"].clip(lower=0).sum() == pytest.approx(1)
        assert set(importance.index) == {"a", "b", "f"}
        text = str(fit.summary())
        assert "boosted runs" in text and "Importance" in text
        loss = "log loss" if fit is classes else "mean squared error"
        assert f"the OOB {loss} would rise" in " ".join(text.split())
        assert "forest" in repr(fit)
        axes = fit.plot()
        assert len(axes) == 2
        assert "OOB" in fit.plot("parts").get_xlabel()
        assert len(fit.n_leaves) == fit.parts["trees"].sum()
    effect = number.comparisons("a").table
    assert effect["estimate"].iloc[0] > 0 and effect["std_error"].isna().all()
    assert classes.predictions(by="f").table["estimate"].between(0, 1).all()
    known = classes.oob_prediction.notna().sum()
    assert classes.confusion_matrix.drop(columns="error").to_numpy().sum() == known > 100


def test_importance_is_the_mean_of_the_models_with_trees(classes):
    weights = classes.parts["weight"][classes.parts["trees"] > 0]
    shares = {
        name: classes.part(name).importance("held_out")["share"]
        for name, weight in weights.items()
        if weight > 0
    }
    assert weights.sum() < 1 and shares
    expected = sum(weights[name] * share for name, share in shares.items()) / weights.sum()
    importance = classes.importance()["importance"]
    assert importance.to_numpy() == pytest.approx(expected[importance.index].to_numpy())


def test_expected_responses_add_up(number, table):
    X = number.design.matrix(table)[0]
    found = expected_response(number.fit, X)[:, 0]
    assert found == pytest.approx(number.predict(table).to_numpy())


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda fit: fit.part("tree"), "name='tree'.*use one of"),
        (lambda fit: fit.part("kernel smoother"), "has no trees to look at: use one of"),
        (lambda fit: fit.importance("loco"), r'part\("forest"\)\.importance'),
        (lambda fit: fit.predict(type="leaf"), "type='leaf'"),
        (
            lambda fit: fit.predict(interval="confidence"),
            r'interval="confidence".*part\("forest"\)',
        ),
        (lambda fit: fit.consistency(), "no consistency theorem"),
    ],
)
def test_what_it_refuses(number, ask, words):
    with pytest.raises(InputError, match=words):
        ask(number)


@pytest.mark.parametrize("name", ["forest", "tree", "prune", "splits"])
def test_what_one_forest_has_is_found_there(number, name):
    with pytest.raises(AttributeError, match=rf'has no .{name}.: .*see part\("forest"\)\.{name}'):
        getattr(number, name)
    with pytest.raises(AttributeError, match="has no 'forests'"):
        number.forests  # noqa: B018


def test_with_much_time_other_runs_are_tried(number, classes, table, tmp_path):
    for fit, formula in ((number, "y ~ a + b + f"), (classes, "c ~ a + b + f")):
        assert fit.trials.empty and "Tried" not in str(fit.summary())
        more = odrf.auto(formula, table, budget=1e6, **HOW)
        usual = list(fit.parts.index)
        assert list(more.parts.index[: len(usual)]) == usual
        assert len(more.trials) == 3 and "no time left" not in set(more.trials["outcome"])
        added = more.trials.index[more.trials["outcome"] == "added"]
        assert set(more.parts.index) == {*usual, *added}
        assert "Tried" in str(more.summary())
        assert "gain is by how much the OOB" in " ".join(str(more.summary()).split())
        again = odrf.auto(formula, table, budget=1e5, n_jobs=2, **HOW)
        assert again.trials.equals(more.trials) and again.predict(table).equals(more.predict(table))
        more.save(tmp_path / "fit")
        loaded = odrf.load(tmp_path / "fit")
        assert loaded.trials.equals(more.trials) and loaded.parts.equals(more.parts)


def test_with_many_rows_runs_on_single_predictors_are_tried(number, table, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.MANY_ROWS", len(table))
    fit = odrf.auto("y ~ a + b + f", table, **HOW)
    (name,), (outcome,) = fit.trials.index, fit.trials["outcome"]
    assert name == "boosted runs on single predictors"
    assert fit.trials["runs"].item() == number.control.n_runs
    usual = list(number.parts.index)
    assert list(fit.parts.index) == ([*usual, name] if outcome == "added" else usual)


def test_without_time_there_is_the_forest(number, table):
    fit = odrf.auto("y ~ a + b + f", table, budget=1e-9, **HOW)
    assert list(fit.parts.index) == ["forest"] and fit.parts["weight"].tolist() == [1.0]
    assert fit.parts["rise_without"].isna().all() and "would rise" not in str(fit.summary())
    assert set(fit.trials["outcome"]) == {"no time left"}
    assert fit.predict(table).equals(number.part("forest").predict(table))
    assert fit.control.budget == 1e-9 and number.control.budget is None


@pytest.mark.parametrize("budget", [0, -1, "soon", True, None, np.nan, np.inf])
def test_refused_budgets(table, budget):
    with pytest.raises(InputError, match=r"budget=.*seconds above 0"):
        odrf.auto("y ~ a", table, budget=budget)


def test_refused_options(table):
    with pytest.raises(InputError, match="n_trees=5"):
        odrf.auto("y ~ a", table, n_trees=5)


def test_the_command_reads_what_was_saved(number, table, tmp_path, capsys):
    saved, rows, out = (str(tmp_path / name) for name in ("fit.odrf", "rows.csv", "out.csv"))
    number.save(saved)
    table.to_csv(rows, index=False)
    assert main(["predict", saved, rows, "--out", out]) == 0
    found = pd.read_csv(out).iloc[:, -1].to_numpy()
    assert found == pytest.approx(number.predict(table).to_numpy())
    assert main(["fit", "--load", saved, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["trees"] == len(number.n_leaves)


def test_the_command_fits_it(number, table, tmp_path, capsys):
    rows, out = str(tmp_path / "rows.csv"), str(tmp_path / "out.csv")
    table.to_csv(rows, index=False)
    words = ["auto", "y ~ a + b + f", rows, "--set", "n_trees=20", "--seed", "1"]
    assert main([*words, "--predict", rows, "--out", out]) == 0
    assert "kernel smoother" in capsys.readouterr().out
    assert pd.read_csv(out).iloc[:, -1].to_numpy() == pytest.approx(
        number.predict(table).to_numpy()
    )
    assert main(["auto", "y ~ a", rows, "--set", "min_leaf=5"]) == 2
    assert "min_leaf" in capsys.readouterr().err


def test_it_is_compared_with_others(table):
    found = odrf.compare(
        "y ~ a + b + f",
        table,
        {"auto": partial(odrf.auto, n_trees=20), "tree": odrf.odt},
        cv=3,
        seed=1,
    )
    assert found.table.index[0] == "auto"
