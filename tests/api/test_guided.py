"""Guided random forests as their user calls them."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, graf, simulate


@pytest.fixture(scope="module")
def table():
    """140 rows with a number, unbalanced classes, a factor, numeric predictors and a gap."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=140),
            "b": rng.normal(size=140) * 100,
            "f": rng.choice(["x", "y", "z"], 140),
            "w": rng.integers(0, 4, 140) / 2,
        },
        index=[f"row{i}" for i in range(140)],
    )
    score = data["a"] + data["b"] / 100 + (data["f"] == "x")
    data["y"] = score + rng.normal(size=140) / 4
    data["c"] = np.select([score < -1, score < 1.5], ["low", "mid"], "top")
    return data


def test_defaults(table):
    fit = graf("c ~ a + b + f", table, seed=1)
    control = fit.control
    assert fit.guided.n_trees == control.n_trees == 100
    assert (control.subspace, control.subspace_rule, control.trials) == (2, "sqrt", 2)
    assert (control.min_split, control.origin, control.batched) == (2, "data", False)
    assert (control.kind, control.n_classes, control.seed) == ("classification", 3, 1)
    assert fit.call == "graf('c ~ a + b + f', data, seed=1)"
    # a factor is one predictor: trees have 2 of a, b and 3 indicators
    assert set(fit.guided.n_columns) == {2, 4}
    assert graf("y ~ a", table, n_trees=1).control.n_classes == 1


@pytest.mark.parametrize(
    ("subspace", "size"),
    [("sqrt", 4), ("log2", 4), ("half", 5), ("all", 10), (7, 7), (np.int64(1), 1)],
)
def test_sizes_of_subspaces(subspace, size):
    data = simulate.hypercube(10).sample(40, seed=1)
    fit = graf("y ~ .", data, n_trees=3, subspace=subspace, seed=1)
    assert fit.control.subspace == fit.control.trials == size
    assert fit.guided.n_columns.tolist() == [size] * 3
    assert fit.control.subspace_rule == (subspace if isinstance(subspace, str) else "fixed")
    own = graf("y ~ .", data, n_trees=1, subspace=subspace, trials=3, seed=1)
    assert own.control.trials == 3


def test_one_predictor(table):
    for rule in ("sqrt", "log2", "half", "all"):
        assert graf("y ~ a", table, n_trees=1, subspace=rule, seed=1).control.subspace == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 0}, "n_trees=0: use a whole number of at least 1"),
        ({"n_trees": 2.0}, "n_trees=2.0: use a whole number"),
        ({"subspace": "third"}, 'subspace=\'third\': use one of "sqrt", "log2", "half", "all", or'),
        ({"subspace": "sqr"}, "or a whole number; did you mean 'sqrt'"),
        ({"subspace": 4}, 'subspace=4 is above the number of predictors, 3: use "all"'),
        ({"subspace": 0}, "subspace=0: use a whole number of at least 1"),
        ({"subspace": True}, "subspace=True: use a whole number of at least 1"),
        ({"trials": 0}, "trials=0: use a whole number of at least 1"),
        ({"trials": "all"}, "trials='all': use a whole number"),
        ({"min_split": 1}, "min_split=1: use a whole number of at least 2"),
        ({"origin": "regions"}, "origin='regions' is not known.*did you mean 'region'"),
        ({"origin": None}, "origin=None is not known: use one of 'data', 'region'"),
        ({"batched": 1}, 'batched=1: use "auto", True or False'),
        ({"device": "gpu"}, "device='gpu' is not known: use one of 'cpu', 'cuda'"),
        ({"device": 0}, "device=0 is not known: use one of 'cpu', 'cuda'"),
        ({"seed": -1}, "seed=-1: use a whole number of at least 0"),
        ({"n_jobs": 0}, "n_jobs=0: use a whole number of at least 1"),
        ({"weights": "v"}, "weights='v'.*did you mean 'w'|weights.*'v'"),
        ({"missing": "skip"}, "missing='skip' is not known"),
        ({"kind": "class"}, "kind='class' is not known"),
    ],
)
def test_bad_options(table, options, message):
    with pytest.raises(InputError, match=message):
        graf("c ~ a + b + f", table, **options)


def test_bad_formulas_and_data(table):
    with pytest.raises(InputError, match="data"):
        graf("c ~ a", table["a"])
    with pytest.raises(InputError, match="'aa'"):
        graf("c ~ aa", table)
    with pytest.raises(InputError, match="response 'c' is constant"):
        graf("c ~ a", table[table["c"] == "mid"])


def test_what_is_computed_is_predicted_for_new_rows(table):
    shift = 2.0
    fit = graf("y ~ np.exp(a) + b:f + bs(b, 4) + I(a + shift)", table, n_trees=5, seed=1)
    assert fit.predict(table).equals(fit.predict())
    assert fit.predict(table.iloc[[5, 2]]).tolist() == fit.predict().iloc[[5, 2]].tolist()
    assert shift == 2.0


def test_factors_and_interactions(table):
    rows = np.random.default_rng(1).permutation(140)
    train, test = table.iloc[rows[:100]], table.iloc[rows[100:]]
    data = train.assign(z=np.where(train["f"] == "x", train["a"], -train["a"]) > 0)
    new = test.assign(z=np.where(test["f"] == "x", test["a"], -test["a"]) > 0)
    fit = graf("z ~ a:f + b", data, n_trees=50, subspace="all", seed=1)
    assert (fit.predict(new) == new["z"]).mean() > 0.8
    assert fit.importance().index[0] == "a:f"
    with pytest.warns(UserWarning, match="no training row has: 'w'"):
        fit.predict(new.assign(f="w"))


def test_rows_with_missing_values(table):
    holed = table.copy()
    holed.loc[["row3", "row7"], "a"] = np.nan
    with pytest.raises(InputError, match="missing"):
        graf("c ~ a + b", holed, missing="raise", seed=1)
    fit = graf("c ~ a + b", holed, n_trees=5, missing="drop", seed=1)
    kept = holed.drop(["row3", "row7"])
    pd.testing.assert_frame_equal(fit.fit.frame, kept)
    assert fit.nobs == 138
    assert "2 dropped" in str(fit.summary())
    assert "a 2" in str(fit.summary())
    alone = graf("c ~ a + b", kept, n_trees=5, seed=1)
    assert alone.predict(kept).equals(fit.predict())
    for type in ("response", "prob", "leaf", "trees"):
        predicted = pd.DataFrame(fit.predict(holed, type))
        assert predicted.loc[["row3", "row7"]].isna().all(axis=None)
        assert not predicted.drop(["row3", "row7"]).isna().any(axis=None)
    pd.testing.assert_frame_equal(graf("c ~ a + b", table, n_trees=1, seed=1).fit.frame, table)


def test_weights_are_a_column_or_numbers(table):
    named = graf("c ~ a + b + f", table, n_trees=5, weights="w", seed=1)
    given = graf("c ~ a + b + f", table, n_trees=5, weights=table["w"].to_numpy(), seed=1)
    assert named.guided.coef.tobytes() == given.guided.coef.tobytes()
    plain = graf("c ~ a + b + f", table, n_trees=5, seed=1)
    assert plain.guided.coef.tobytes() != named.guided.coef.tobytes()
    first = named.guided.root[:-1]
    assert named.guided.weight[first].tolist() == [table["w"].sum()] * 5
    assert named.guided.count[first].tolist() == [(table["w"] > 0).sum()] * 5


@pytest.mark.parametrize("origin", ["data", "region"])
def test_a_seed_repeats_the_forest_for_any_number_of_threads(table, origin):
    options = {"n_trees": 8, "origin": origin}
    one = graf("y ~ a + b + f", table, seed=7, n_jobs=1, **options)
    two = graf("y ~ a + b + f", table, seed=7, n_jobs=2, **options)
    assert one.guided.coef.tobytes() == two.guided.coef.tobytes()
    assert one.predict().tolist() == two.predict().tolist()
    assert (
        graf("y ~ a + b + f", table, seed=8, **options).guided.coef.tobytes()
        != one.guided.coef.tobytes()
    )
    chance = graf("y ~ a + b + f", table, **options)
    again = graf("y ~ a + b + f", table, seed=chance.seed, **options)
    assert again.predict().equals(chance.predict())
    of_rng = graf("y ~ a", table, n_trees=1, seed=np.random.default_rng(1))
    assert of_rng.seed == graf("y ~ a", table, n_trees=1, seed=np.random.default_rng(1)).seed


def test_progress_is_shown_on_request(table, capsys):
    graf("c ~ a + b", table, n_trees=4, seed=1)
    assert capsys.readouterr().err == ""
    graf("c ~ a + b", table, n_trees=4, seed=1, progress=True)
    assert "4/4" in capsys.readouterr().err


def test_two_numbers_that_may_be_classes_warn_where_the_user_calls(table):
    data = table.assign(c=(table["c"] == "mid") * 1)
    with pytest.warns(UserWarning, match='kind="classification"') as caught:
        assert graf("c ~ a + b", data, n_trees=1, seed=1).kind == "regression"
    assert caught[0].filename == __file__
    fit = graf("c ~ a + b", data, n_trees=1, kind="classification", seed=1)
    assert fit.classes.tolist() == [0, 1]


def test_a_cube_is_predicted_better_than_by_an_ordinary_forest():
    problem = simulate.hypercube(5)
    train, test = problem.sample(400, seed=1), problem.sample(1000, seed=2)
    guided = graf("y ~ .", train, subspace="all", seed=1)
    ordinary = odrf.odrf("y ~ .", train, projection="axis", n_trees=100, seed=1)
    error = {fit: (fit.predict(test) != test["y"]).mean() for fit in (guided, ordinary)}
    assert error[guided] < 0.2
    assert error[guided] < error[ordinary] - 0.1


@pytest.mark.parametrize("origin", ["data", "region"])
def test_numbers_are_predicted_better_than_by_their_mean(origin):
    problem = simulate.friedman1()
    train, test = problem.sample(300, seed=1), problem.sample(500, seed=2)
    fit = graf("y ~ .", train, subspace="half", min_split=5, origin=origin, seed=1)
    error = ((fit.predict(test) - test["y"]) ** 2).mean()
    assert error < 0.6 * ((train["y"].mean() - test["y"]) ** 2).mean()


def test_it_can_be_compared_with_other_models():
    data = simulate.hypercube(4).sample(160, seed=1)
    models = {"guided": partial(graf, n_trees=10), "tree": odrf.odt}
    found = odrf.compare("y ~ .", data, models, cv=3, seed=1)
    assert found.table["estimate"].between(0, 1).all()
    assert len(found.table) == 2


def test_values_far_from_all_others_are_warned_of():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=200), "b": rng.normal(size=200)})
    data["y"] = data["a"] + data["b"] + rng.normal(size=200)
    data["zeros"] = np.where(np.arange(200) % 10 == 0, data["a"], 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graf("y ~ .", data, n_trees=2, seed=1)
    data.loc[::9, "b"] = 99999.0
    data.loc[3, "a"] = 1e6
    with pytest.warns(UserWarning, match="^'a', 'b': most values are within a thousandth"):
        graf("y ~ .", data, n_trees=2, seed=1)
