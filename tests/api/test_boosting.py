"""The function odbt."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor

import odrf
from odrf import InputError, odbt, simulate

EXACT = {"projection": "axis", "split_search": "exact", "l2": 0, "max_depth": 3, "n_trees": 20}


@pytest.fixture(scope="module")
def table():
    """160 rows with numbers, counts, classes, a factor, numeric predictors and weights."""
    rng = np.random.default_rng(4)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=160),
            "b": rng.normal(size=160) * 100,
            "f": rng.choice(["x", "y", "z"], 160),
            "w": rng.integers(0, 4, 160),
        },
        index=[f"row{i}" for i in range(160)],
    )
    score = data["a"] + data["b"] / 100 + (data["f"] == "x")
    data["y"] = score + rng.normal(size=160) / 4
    data["n"] = rng.poisson(np.exp(score / 2))
    data["c"] = np.select([score < -1, score < 1.5], ["low", "mid"], "top")
    data["o"] = pd.Categorical(data["c"], ["low", "mid", "top"], ordered=True)
    data["two"] = np.where(score + rng.normal(size=160) / 4 > 0, "up", "down")
    return data


@pytest.fixture(scope="module")
def normal():
    """200 rows without ties."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * rng.normal(size=200)
    return pd.DataFrame(X, columns=list("abcd")).assign(y=y)


def test_defaults(table):
    fit = odbt("c ~ a + b + f", table, seed=1)
    control = fit.control
    assert (control.loss, control.n_outputs, control.kind) == ("multinomial", 3, "classification")
    assert fit.n_rounds == control.n_trees == 100
    assert fit.call == "odbt('c ~ a + b + f', data, seed=1)"
    # a factor of three levels is one predictor of three columns
    assert {family.name: k for family, k in control.mixture.shares} == {
        "axis": 3, "sparse": 5, "logistic": 5,
    }  # fmt: skip
    assert odbt("y ~ a", table, n_trees=1).control.loss == "squared_error"
    assert odbt("two ~ a", table, n_trees=1).control.loss == "logistic"
    fewer = odbt("y ~ a + b", table, n_trees=1, n_singles=1, n_projections=5).control.mixture
    assert [k for _, k in fewer.shares] == [1, 2, 3]
    extra = odbt("y ~ a + b", table, n_trees=1, projection="extra").control
    assert extra.plan.settings.n_thresholds == 1


@pytest.mark.filterwarnings("ignore:.*criterion.*:FutureWarning")
@pytest.mark.parametrize("min_leaf", [1, 5])
def test_single_predictors_give_scikit_learn_s_trees(normal, min_leaf):
    X, new = normal[list("abcd")].to_numpy(), np.random.default_rng(2).normal(size=(500, 4))
    model = GradientBoostingRegressor(
        criterion="squared_error", max_depth=3, n_estimators=20, min_samples_leaf=min_leaf,
        random_state=0,
    ).fit(X, normal["y"])  # fmt: skip
    fit = odbt("y ~ .", normal, min_leaf=min_leaf, seed=1, learning_rate=0.1, **EXACT)
    ours = fit.predict(type="leaf").to_numpy()
    theirs = model.apply(X)
    for b in range(20):
        # the same rows share leaves, whatever the leaves' numbers
        pairs = len(np.unique(np.column_stack([ours[:, b], theirs[:, b]]), axis=0))
        assert pairs == len(np.unique(ours[:, b])) == len(np.unique(theirs[:, b]))
    staged = np.column_stack(list(model.staged_predict(X)))
    np.testing.assert_allclose(fit.staged_predict(), staged, atol=1e-6)
    if min_leaf == 5:  # in smaller leaves several predictors make the very same split
        found = fit.predict(pd.DataFrame(new, columns=list("abcd")))
        np.testing.assert_allclose(found, model.predict(new), atol=1e-6)


@pytest.mark.filterwarnings("ignore:.*criterion.*:FutureWarning")
@pytest.mark.parametrize(("max_leaves", "max_depth"), [(8, 100), (6, 3)])
@pytest.mark.parametrize("share", [0.0, 0.05])
def test_best_first_trees_are_scikit_learn_s(normal, max_leaves, max_depth, share):
    X, weights = normal[list("abcd")].to_numpy(), np.random.default_rng(3).uniform(0.2, 2, 200)
    model = GradientBoostingRegressor(
        criterion="squared_error", max_depth=max_depth, max_leaf_nodes=max_leaves,
        n_estimators=20, min_samples_leaf=5, min_weight_fraction_leaf=share, random_state=0,
    ).fit(X, normal["y"], weights)  # fmt: skip
    options = EXACT | {"max_depth": max_depth, "max_leaves": max_leaves, "learning_rate": 0.1}
    fit = odbt(
        "y ~ .", normal, weights=weights, min_hessian=share * weights.sum(), seed=1, **options
    )
    theirs = [tree.get_n_leaves() for tree in model.estimators_[:, 0]]
    assert fit.fit.forest.leaves().tolist() == theirs
    assert max(theirs) == max_leaves
    staged = np.column_stack(list(model.staged_predict(X)))
    np.testing.assert_allclose(fit.staged_predict(), staged, atol=1e-6)


@pytest.mark.parametrize(
    ("response", "loss"),
    [
        ("y", "squared_error"), ("y", "absolute"), ("y", "huber"),
        ("n", "poisson"), ("two", "logistic"), ("c", "multinomial"), ("o", "ordinal"),
    ],
)  # fmt: skip
def test_weights_are_as_good_as_rows_twice(table, response, loss):
    formula = f"{response} ~ a + b"
    # small trees: deeper ones have splits of the very same gain to choose from
    options = EXACT | {"loss": loss, "min_leaf": 1, "max_depth": 2, "n_trees": 10, "seed": 1}
    weighted = odbt(formula, table, weights="w", **options)
    often = table.loc[table.index.repeat(table["w"])]
    written_out = odbt(formula, often, **options)
    some = table[table["w"] > 0]
    pd.testing.assert_frame_equal(
        pd.DataFrame(weighted.predict(some, type="link")),
        pd.DataFrame(written_out.predict(some, type="link")),
        atol=1e-6,
    )
    assert weighted.loss_path["training"].to_numpy() == pytest.approx(
        written_out.loss_path["training"].to_numpy(), rel=1e-6
    )


@pytest.mark.parametrize(
    ("response", "loss", "least"),
    [
        ("y", "squared_error", 0.8), ("y", "absolute", 0.7), ("y", "huber", 0.7),
        ("n", "poisson", 0.4), ("two", "auto", 0.6), ("c", "auto", 0.6), ("o", "ordinal", 0.6),
    ],
)  # fmt: skip
@pytest.mark.parametrize("projection", ["logistic", "sparse", "rotation"])
def test_every_loss_falls_with_every_kind_of_trees(table, response, loss, least, projection):
    fit = odbt(
        f"{response} ~ a + b + f", table, loss=loss, projection=projection, n_trees=30, seed=1
    )
    path = fit.loss_path["training"]
    assert path.iloc[-1] < (1 - least) * path.iloc[0]


def test_threads_and_seeds(table):
    call = partial(odbt, "c ~ a + b + f", table, n_trees=5, sample_fraction=0.7)
    one, two = call(seed=3, n_jobs=1), call(seed=3, n_jobs=2)
    assert one.predict(type="link").equals(two.predict(type="link"))
    assert not one.predict(type="link").equals(call(seed=4).predict(type="link"))
    chance = call()
    assert call(seed=chance.seed).predict(type="link").equals(chance.predict(type="link"))


@pytest.mark.parametrize("share", [1.0, 0.5])
def test_each_tree_draws_its_share_of_the_rows(table, share):
    trees = odbt("y ~ a + b", table, n_trees=3, validation=None, sample_fraction=share, seed=1)
    forest = trees.fit.forest
    assert forest.count[forest.root[:-1]].tolist() == [int(share * len(table))] * 3


def test_rows_held_out_choose_the_rounds(table):
    options = {"projection": "axis", "split_search": "exact", "seed": 1}
    fit = odbt("c ~ a + b", table, validation=0.25, patience=5, n_trees=300, **options)
    path = fit.loss_path
    assert fit.n_rounds == path["validation"].idxmin() < len(path) - 1
    assert len(path) - 1 == fit.n_rounds + 5
    held = fit.held_out
    assert held.sum() == 40
    # of each class its share
    assert (table["c"][held].value_counts() / table["c"].value_counts()).between(0.2, 0.3).all()
    again = odbt("c ~ a + b", table[~held], n_trees=fit.n_rounds, **options)
    own, kept = (model.predict(table[~held], type="link") for model in (again, fit))
    np.testing.assert_allclose(own, kept, atol=1e-6)


def test_outliers_matter_less_to_robust_losses(table):
    wild = table.copy()
    wild.loc[wild.index[:8], "y"] = 1000.0
    rest = table.index[8:]
    error = {
        loss: (odbt("y ~ a + b + f", wild, loss=loss, seed=1).predict()[rest] - table["y"][rest])
        .abs()
        .mean()
        for loss in ("squared_error", "absolute", "huber")
    }
    assert max(error["absolute"], error["huber"]) < 0.5 * error["squared_error"]


def test_hubers_loss_learns_from_a_response_that_is_nearly_always_0():
    x = np.random.default_rng(1).random((1000, 2))
    data = pd.DataFrame(x, columns=["a", "b"]).assign(y=np.where(x[:, 0] > 0.93, 5 + x[:, 1], 0.0))
    fit = odrf.odbt("y ~ .", data, loss="huber", n_trees=100, seed=1)
    assert np.mean((fit.predict(data) - data["y"]) ** 2) < 0.01 * data["y"].var()


def test_two_numbers_that_may_be_classes_warn_where_the_user_calls(table):
    data = table.assign(c=(table["c"] == "mid") * 1)
    with pytest.warns(UserWarning, match='kind="classification"') as caught:
        assert odbt("c ~ a + b", data, n_trees=1, seed=1).kind == "regression"
    assert caught[0].filename == __file__


def test_progress_is_shown_on_request(table, capsys):
    odbt("y ~ a + b", table, n_trees=4, seed=1)
    assert capsys.readouterr().err == ""
    odbt("y ~ a + b", table, n_trees=4, seed=1, progress=True)
    assert "4/4" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("y ~ a", {"loss": "log"}, "loss='log' is not known"),
        ("y ~ a", {"loss": 3}, "loss=3 is not known"),
        ("y ~ a", {"loss": "logistic"}, "loss='logistic' is not for a regression"),
        ("c ~ a", {"loss": "huber"}, "loss='huber' is not for a classification"),
        ("c ~ a", {"loss": "logistic"}, 'loss="logistic" is for two classes, the response has 3'),
        ("y ~ a", {"loss": "poisson"}, 'loss="poisson" is for responses of at least 0'),
        ("n ~ a", {"loss": "poisson", "weights": "none"}, "response 'n' is constant"),
        ("y ~ a", {"n_trees": 0}, "n_trees=0: use a whole number"),
        ("y ~ a", {"learning_rate": 0}, "learning_rate=0: use a number above 0"),
        ("y ~ a", {"learning_rate": True}, "learning_rate=True"),
        ("y ~ a", {"sample_fraction": 1.5}, "sample_fraction=1.5: use a number above 0"),
        ("y ~ a", {"projection": "diagonal"}, "projection='diagonal' is not known"),
        ("y ~ a", {"n_projections": 1}, "n_projections=1: use a whole number of at least 2"),
        ("y ~ a", {"n_singles": 0}, "n_singles=0: use a whole number of at least 1"),
        ("y ~ a", {"subset_size": 2}, "subset_size=2 is above the number of predictors"),
        ("y ~ a", {"n_thresholds": "some"}, "n_thresholds='some'"),
        ("y ~ a", {"split_search": "binned"}, "split_search='binned' is not known"),
        ("y ~ a", {"max_depth": 0}, "max_depth=0"),
        ("y ~ a", {"max_leaves": 1}, "max_leaves=1: use a whole number of at least 2"),
        ("y ~ a", {"min_hessian": -1}, "min_hessian=-1: use a finite number of at least 0"),
        ("y ~ a", {"min_leaf": 2.5}, "min_leaf=2.5"),
        ("y ~ a", {"l2": -1}, "l2=-1: use a finite number of at least 0"),
        ("y ~ a", {"validation": 1}, "validation=1: use a number above 0"),
        ("y ~ a", {"validation": "oob"}, 'validation="oob" needs several runs'),
        ("c ~ a", {"loss": "ordinal"}, 'loss="ordinal" needs ordered classes'),
        ("y ~ a", {"leaf_values": "best"}, "leaf_values='best' is not known"),
        ("n ~ a", {"leaf_values": "refit", "loss": "poisson"}, 'the loss is "poisson": use'),
        (
            "y ~ a",
            {"leaf_values": "refit", "learning_rate": 0.1},
            "learning_rate=0.1 has no effect",
        ),
        ("y ~ a", {"n_runs": 0}, "n_runs=0"),
        ("y ~ a", {"run_predictors": 0.5}, "run_predictors=0.5 would leave predictors out"),
        ("y ~ a", {"run_predictors": 0, "n_runs": 2}, "run_predictors=0: use a number above 0"),
        ("y ~ a", {"predictor_fraction": 2}, "predictor_fraction=2: use a number above 0"),
        ("c ~ a", {"offset": "b"}, 'loss="multinomial" has 3: leave offset= out'),
        ("y ~ a", {"offset": "bb"}, "offset='bb' is not a column of the data"),
        ("y ~ a", {"offset": "f"}, "offset must be numbers"),
        ("y ~ a", {"offset": [1.0, 2.0]}, "offset has length 2 and the data 160 rows"),
        ("y ~ a", {"offset": "endless"}, "offset has 1 infinite values"),
        ("y ~ a", {"offset": "gaps", "missing": "raise"}, "missing"),
        ("y ~ a", {"offset": [np.nan] + 159 * [0.0]}, "offset is missing for 1 row: give"),
        ("y ~ a", {"offset": 80 * [np.nan, 0.0]}, "offset is missing for 80 rows: give"),
        ("y ~ a", {"offset": np.nan}, "offset is missing for 160 rows"),
        ("y ~ a", {"offset": 160 * [1e61]}, "offset has 160 infinite values, or beyond 1e.60"),
        ("y ~ a", {"offset": -np.inf}, "offset has 160 infinite values"),
        ("y ~ a", {"validation": 0.001}, "validation=0.001 holds out 0 of 160 rows"),
        ("y ~ a", {"validation": [True] * 3}, "validation has length 3 and the data 160 rows"),
        ("y ~ a", {"validation": [True] * 160}, "validation is True for all rows"),
        ("y ~ a", {"validation": np.zeros(160, dtype=bool)}, "validation is False for all rows"),
        ("y ~ a", {"validation": [0.2] * 160}, "or True and False for each row"),
        ("y ~ a", {"validation": {}}, "validation={}: use a number"),
        ("y ~ a", {"patience": 0}, "patience=0"),
        ("y ~ a", {"patience": 5}, "patience=5 has no effect without validation=: add validation"),
        ("y ~ a", {"patience": 20}, "patience=20 has no effect without validation=: add"),
        ("c ~ a", {"patience": 5, "n_runs": 3}, "patience=5 has no effect without validation="),
        ("y ~ a", {"patience": "no"}, "patience='no'"),
        ("y ~ a", {"n_runs": "many"}, "n_runs='many'"),
        ("y ~ a", {"seed": -1}, "seed=-1"),
        ("y ~ a", {"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_errors_name_the_argument(table, formula, options, message):
    some = np.arange(len(table)) > 0
    data = table.assign(
        none=(table["n"] == 0).astype(float),
        endless=np.where(some, 0.0, np.inf),
        gaps=np.where(some, 0.0, np.nan),
    )
    with pytest.raises(InputError, match=message):
        odbt(formula, data, **options)


def test_validation_may_name_the_rows_that_are_held_out(table):
    held = np.arange(len(table)) % 3 == 0
    how = {"projection": "axis", "seed": 1}
    fit = odbt("y ~ a + b", table, n_trees=30, validation=held, **how)
    assert fit.held_out.tolist() == held.tolist()
    assert "n_trees=30, projection='axis', validation=…, seed=1" in fit.call
    for same in (held.tolist(), held.astype(object), pd.Series(held, table.index)[::-1]):
        again = odbt("y ~ a + b", table, n_trees=30, validation=same, **how)
        assert again.predict(table).equals(fit.predict(table))
    others = odbt("y ~ a + b", table[~held], n_trees=fit.n_rounds, **how)
    np.testing.assert_allclose(fit.predict(table), others.predict(table))


def test_rows_that_are_held_out_are_those_that_stay(table, tmp_path):
    held = np.arange(len(table)) % 3 == 0
    gaps = table.assign(a=table["a"].mask(np.arange(len(table)) % 4 == 0))
    fit = odbt("y ~ a", gaps, n_trees=5, validation=held, missing="drop", seed=1)
    assert fit.held_out.tolist() == held[gaps["a"].notna()].tolist()
    fit.save(tmp_path / "fit")
    assert odrf.load(tmp_path / "fit").held_out.tolist() == fit.held_out.tolist()


def test_trees_see_each_class_beside_the_validation_rows(table):
    with pytest.raises(InputError, match="validation holds out all rows of class 'one'"):
        one = table.assign(c=np.where(table["a"] > 0, "one", "other"))
        odbt("c ~ b", one, validation=(one["c"] == "one").to_numpy(), seed=1)


def test_it_can_be_compared_with_other_models():
    data = simulate.friedman1().sample(150, seed=1)
    models = {"boosted": partial(odbt, n_trees=10), "tree": odrf.odt}
    assert len(odrf.compare("y ~ .", data, models, cv=3, seed=1).table) == 2


def test_better_than_a_tree():
    problem = simulate.friedman1()
    train, test = problem.sample(300, seed=1), problem.sample(500, seed=2)
    error = {
        fit: ((fit("y ~ .", train, seed=1).predict(test) - test["y"]) ** 2).mean()
        for fit in (odbt, odrf.odt)
    }
    assert error[odbt] < 0.6 * error[odrf.odt]


def test_offsets_are_added_to_the_trees(table):
    rng = np.random.default_rng(5)
    data = table.assign(years=rng.uniform(0.5, 8, 160))
    data["n"] = rng.poisson(data["years"] * np.exp(data["a"] / 2))
    data["log_years"] = np.log(data["years"])
    options = {"loss": "poisson", "n_trees": 30, "seed": 1}
    # the dot leaves the column of the offset out
    fit = odbt("n ~ . - y - c - two - o - years", data, offset="log_years", **options)
    assert "log_years" not in fit.design.predictors
    rate = fit.predict(data, offset=0)
    np.testing.assert_allclose(fit.predict(), rate * data["years"])
    np.testing.assert_allclose(fit.predict(data), rate * data["years"])
    blind = odbt("n ~ a + b + f + w", data, **options).predict()
    near = [np.corrcoef(np.log(found), data["a"])[0, 1] for found in (blind, rate)]
    assert near[1] > 0.75 > near[0]
    given = odbt("n ~ a + b + f + w", data, offset=data["log_years"].to_numpy(), **options)
    assert given.predict().tolist() == fit.predict().tolist()
    np.testing.assert_allclose(given.staged_predict().iloc[:, -1], given.predict())
    with pytest.raises(InputError, match="new rows need theirs: give offset= to predict"):
        given.predict(data)
    with pytest.raises(InputError, match="offset= needs newdata="):
        given.predict(offset=1.0)
    with pytest.raises(InputError, match="offset is missing for 160 rows"):
        given.predict(data, offset=np.nan * data["years"])
    with pytest.raises(InputError, match="offset='log_years' is not a column"):
        fit.predict(data.drop(columns="log_years"))


@pytest.mark.parametrize("offset", [np.nan, np.inf, 1e61, [0.0] * 159 + [np.nan]])
@pytest.mark.parametrize("response", ["y", "n", "two"])
def test_offsets_of_new_rows_are_numbers(table, response, offset):
    fit = odbt(f"{response} ~ a + b", table, offset="w", n_trees=3, seed=1)
    for predict in (fit.predict, fit.staged_predict):
        with pytest.raises(InputError, match=r"offset (is missing for|has) \d+"):
            predict(table, offset=offset)


def test_offsets_are_needed_of_complete_rows_only(table):
    data = table.assign(a=table["a"].where(np.arange(160) > 0))
    known = np.where(np.arange(160) > 0, 0.5, np.nan)
    fit = odbt("y ~ a + b", data, offset=known, missing="drop", n_trees=3, seed=1)
    assert fit.predict().notna().all() and fit.nobs == 159
    found = fit.predict(data, offset=known)
    assert np.isnan(found.iloc[0]) and found.iloc[1:].equals(fit.predict())


@pytest.mark.parametrize("response", ["y", "n", "two"])
@pytest.mark.parametrize("constant", [-3.0, 0.25, 600.0])
def test_a_constant_offset_changes_the_constant_only(table, response, constant):
    options = {"n_trees": 10, "seed": 1, "projection": "axis"}
    plain = odbt(f"{response} ~ a + b", table, **options)
    if response == "y":
        table = table.assign(y=table["y"] + constant)
    moved = odbt(f"{response} ~ a + b", table, offset=np.full(160, constant), **options)
    link = plain.predict(type="link") + (constant if response == "y" else 0.0)
    # rounding decides between splits that are almost equally good
    np.testing.assert_allclose(moved.predict(type="link"), link, atol=0.02)
    np.testing.assert_allclose(moved.loss_path, plain.loss_path, rtol=1e-3)


def test_an_offset_is_known_beforehand(table):
    known = table["a"].to_numpy() * 3
    shifted = table.assign(y=table["y"] + known)
    options = {"projection": "axis", "n_trees": 20, "seed": 1}
    plain, moved = (
        odbt("y ~ a + b", table, **options),
        odbt("y ~ a + b", shifted, offset=known, **options),
    )
    np.testing.assert_allclose(moved.predict(), plain.predict() + known, atol=1e-9)
    np.testing.assert_allclose(moved.loss_path, plain.loss_path, atol=1e-9)


def test_refitted_leaves_need_fewer_trees(table):
    options = {"n_trees": 10, "max_depth": 3, "seed": 1}
    refitted = odbt("y ~ a + b + f", table, leaf_values="refit", **options)
    assert refitted.control.learning_rate == 1.0
    steps = odbt("y ~ a + b + f", table, **options)
    assert refitted.loss_path["training"].iloc[-1] < steps.loss_path["training"].iloc[-1]
    staged = refitted.staged_predict()
    errors = ((staged.sub(table["y"], axis=0)) ** 2).mean() / 2
    np.testing.assert_allclose(errors, refitted.loss_path["training"].iloc[1:], rtol=1e-9)


def test_the_mean_of_runs_errs_less_than_one_in_noise():
    problem = simulate.friedman1()
    train, test = problem.sample(150, seed=1), problem.sample(500, seed=2)
    train["y"] += np.random.default_rng(3).normal(size=150) * 3
    error = {}
    for n_runs in (1, 8):
        fit = odbt("y ~ .", train, n_runs=n_runs, n_trees=40, seed=1)
        error[n_runs] = ((fit.predict(test) - test["y"]) ** 2).mean()
    assert error[8] < error[1]


def test_predictors_may_be_drawn_unless_they_have_places(table):
    fit = odbt("y ~ a + b + f + w", table, predictor_fraction=0.5, n_trees=5, seed=1)
    assert fit.control.tree_predictors == 2
    assert "2 at random" in str(fit.summary())
    own = {"projection": lambda X, y, rng: ([0], [1.0]), "predictor_fraction": 0.5}
    with pytest.raises(InputError, match="needs all predictors in every tree"):
        odbt("y ~ a + b + f + w", table, n_trees=2, **own)


@pytest.mark.parametrize("projection", ["rotation", "axis", "pca"])
def test_narrow_trees_try_no_more_columns_than_they_have(table, projection):
    # one predictor of twelve columns among three of one: most trees have fewer than the mean
    wide = table.assign(g=np.arange(160) % 12).astype({"g": "str"})
    fit = odbt(
        "y ~ a + b + w + g", wide, projection=projection, predictor_fraction=0.5, n_trees=12, seed=1
    )
    (share,) = fit.control.mixture.shares
    assert share.number == (2 if projection == "axis" else 8)  # half of 4, and of 15 columns
    columns = [len(np.unique(fit.forest.tree(b).index)) for b in range(12)]
    assert min(columns) <= 2 < max(columns)
    path = fit.loss_path["training"]
    assert path.iloc[-1] < 0.6 * path.iloc[0]


def test_leaves_are_limited_by_their_number_and_their_second_derivatives(table):
    options = {"n_trees": 10, "min_leaf": 1, "max_depth": 50, "seed": 1}
    fit = odbt("two ~ a + b + f", table, max_leaves=7, min_hessian=3, **options)
    forest = fit.fit.forest
    assert forest.leaves().max() == 7
    assert forest.depth().max() > 3
    assert forest.weight[forest.is_leaf()].min() >= 3
    text = str(fit.summary())
    assert "7, best-first" in text and "Min. hessian" in text
    free = odbt("two ~ a + b + f", table, **options)
    assert free.control.max_leaves is None
    assert free.fit.forest.leaves().max() > 7
    assert free.fit.forest.weight[free.fit.forest.is_leaf()].min() < 1
    assert "best-first" not in str(free.summary())


def test_small_weights_are_compared_as_if_their_mean_was_1(table):
    options = {"min_hessian": 12, "n_trees": 3, "projection": "axis", "seed": 1}
    whole = odbt("y ~ a + b", table, **options)
    shares = odbt("y ~ a + b", table, weights=np.full(160, 1 / 160), **options)
    assert whole.fit.forest.count[whole.fit.forest.is_leaf()].min() >= 12
    np.testing.assert_allclose(shares.predict(), whole.predict(), rtol=1e-9)
