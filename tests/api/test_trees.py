""""""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf
from odrf import InputError, load_data, odt
from odrf.engine.splits.impurity import ENTROPY, GINI, SQUARED_ERROR
from odrf.engine.trees.forest import ARRAYS, Forest
from odrf.options.tree import ResolvedOptions
from odrf.projections import uniform
from reference.impurity import cuts, gain


@pytest.fixture(scope="module")
def cars() -> pd.DataFrame:
    return load_data("auto_mpg").dropna().reset_index(drop=True)


@pytest.fixture(scope="module")
def plane() -> pd.DataFrame:
    """Two predictors and a boundary that no axis follows."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.random((400, 2)), columns=["a", "b"])
    frame["side"] = np.where(frame.a + 2 * frame.b > 1.5, "over", "below")
    frame["height"] = frame.a + 2 * frame.b + rng.normal(size=400) / 20
    return frame


def same(one: Forest, other: Forest) -> bool:
    return all(getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in ARRAYS)


def test_one_oblique_split_finds_the_plane(plane):
    tree = odt("side ~ a + b", plane, max_leaves=2, seed=1)
    assert tree.training_error < 0.02
    coefficient = tree.splits.set_index("column").coefficient
    found = np.degrees(np.arctan2(coefficient["b"], coefficient["a"]))
    assert abs(found - np.degrees(np.arctan2(2, 1))) < 4


@pytest.mark.parametrize("projection", ["logistic", "least_squares", "lda"])
def test_oblique_beats_axis_on_a_plane(plane, projection):
    error = {
        name: odrf.odrf("side ~ a + b", plane, n_trees=30, projection=name, seed=1).oob_error
        for name in (projection, "axis")
    }
    assert error[projection] < 0.75 * error["axis"]


def test_sparse_directions_beat_axis_on_a_plane_of_signs(plane):
    plane["side"] = np.where(plane.a - plane.b > 0, "over", "below")
    error = {
        name: odrf.odrf("side ~ a + b", plane, n_trees=30, projection=name, seed=1).oob_error
        for name in ("sparse", "axis")
    }
    assert error["sparse"] < 0.5 * error["axis"]


def test_axis_is_cart(plane):
    data = plane.drop(columns="side")
    tree = odt(
        "height ~ .", data, projection="axis", split_search="exact", min_leaf=4, max_depth=5, seed=1
    )
    cart = DecisionTreeRegressor(min_samples_leaf=4, max_depth=5)
    cart.fit(data[["a", "b"]].to_numpy(), data.height)
    assert tree.n_leaves == cart.get_n_leaves()
    np.testing.assert_allclose(
        tree.fittedvalues, cart.predict(data[["a", "b"]].to_numpy()), rtol=1e-12
    )


def test_axis_with_entropy_is_cart(plane):
    tree = odt(
        "side ~ a + b", plane, projection="axis", split_search="exact", criterion="entropy",
        max_depth=3, seed=1,
    )  # fmt: skip
    cart = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=5, max_depth=3)
    cart.fit(plane[["a", "b"]].to_numpy(), plane.side)
    np.testing.assert_allclose(
        tree.predict(type="prob"), cart.predict_proba(plane[["a", "b"]].to_numpy()), atol=1e-12
    )


def random_table(seed: int) -> pd.DataFrame:
    """80 to 900 rows of whole numbers, some with ties and tails; a number and classes follow."""
    rng = np.random.default_rng([7, seed])
    n = int(rng.integers(80, 900))
    frame = pd.DataFrame({"even": rng.permutation(n), "tied": rng.integers(0, 30, n)})
    frame["tail"] = np.exp(rng.normal(4, 2, n)).round()
    frame["few"] = rng.poisson(1.5, n)
    z = (frame.rank() / n).to_numpy().sum(axis=1) + rng.normal(size=n) / 3
    two = np.where(z > np.median(z), "a", "b")
    many = np.array(list("abcde"))[pd.qcut(z, 5, labels=False)]
    time = np.exp(-z) * rng.exponential(1, n)
    return frame.assign(y=z, two=two, many=many, time=time, event=rng.random(n) < 0.7)


FEATURES = "even + tied + tail + few"
RESPONSES = ["y", "two", "many", "Surv(time, event)"]


def gain_of_best_cut(directions, y, criterion, min_leaf=5):
    """The largest gain of all cuts of all directions (d, n), by its definition."""
    ones = np.ones(len(y))
    return max(
        gain(y, ones, left, criterion)
        for values in directions
        for left in cuts(values, ones, min_leaf, apart=2e-6)
    )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("response", "criterion"), [("y", SQUARED_ERROR), ("two", ENTROPY), ("many", GINI)]
)
def test_an_axis_tree_begins_with_the_best_of_all_cuts(response, criterion, seed):
    data = random_table(seed)
    name = {ENTROPY: "entropy"}.get(criterion, "auto")
    tree = odt(
        f"{response} ~ {FEATURES}", data, projection="axis", max_leaves=2, criterion=name, seed=1
    )
    y = data[response] if response == "y" else data[response].astype("category").cat.codes
    best = gain_of_best_cut(data.iloc[:, :4].to_numpy().T, y.to_numpy(), criterion)
    assert tree.nodes["gain"].iloc[0] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_each_direction_has_the_best_of_all_its_cuts(seed):
    data, tried = random_table(seed), []

    def two_of_them(X, y, weights, rng):
        theta = np.array([1.0, 2 * uniform(rng) - 1])
        tried.append((X[:, :2] @ theta / np.linalg.norm(theta), y.copy()))
        return np.array([0, 1]), theta

    options = {"n_projections": 6, "max_leaves": 2, "seed": 1}
    tree = odt(f"y ~ {FEATURES}", data, projection=two_of_them, **options)
    of_root = [(values, y) for values, y in tried if len(y) == len(data)]
    assert len(of_root) == 6
    best = gain_of_best_cut([values for values, _ in of_root], of_root[0][1], SQUARED_ERROR)
    assert tree.nodes["gain"].iloc[0] == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("transform", [np.sqrt, lambda x: x**3, lambda x: np.log1p(9 * x)])
@pytest.mark.parametrize("response", RESPONSES)
def test_axis_trees_do_not_change_with_monotone_transforms(response, transform):
    """But for the place of thresholds between two values, which only new rows tell."""
    for seed in range(3):
        data = random_table(seed)
        features = data.columns[:4]
        other = data.assign(**{name: transform(data[name]) for name in features})
        one, two = (
            odt(f"{response} ~ {FEATURES}", table, projection="axis", alpha=None, seed=1)
            for table in (data, other)
        )
        assert one.forest.count.tolist() == two.forest.count.tolist()
        assert one.forest.value.tobytes() == two.forest.value.tobytes()


@pytest.mark.parametrize("projection", ["axis", "logistic", "sparse", "ridge", "rotation"])
@pytest.mark.parametrize("response", RESPONSES)
def test_single_trees_of_few_rows_are_searched_exactly(response, projection):
    """As are the trees of the folds that choose their size."""
    formula, data = f"{response} ~ {FEATURES}", random_table(3)
    usual, exact = (
        odt(formula, data, projection=projection, seed=1, **options)
        for options in ({}, {"split_search": "exact"})
    )
    assert usual.control.split_search == "exact"
    assert same(usual.forest, exact.forest)
    assert usual.path.table.equals(exact.path.table)


def test_the_same_seed_is_the_same_forest_for_any_number_of_threads(cars):
    one, *others = (
        odrf.odrf("mpg ~ .", cars, n_trees=12, seed=5, n_jobs=n_jobs) for n_jobs in (1, 2, 7)
    )
    for other in others:
        assert same(one.forest, other.forest)
        assert one.error_path.equals(other.error_path)
        assert one.importance("permutation").equals(other.importance("permutation"))
        assert one.predict(cars).equals(other.predict(cars))
    assert not same(one.forest, odrf.odrf("mpg ~ .", cars, n_trees=12, seed=6).forest)


def test_the_seed_that_was_drawn_repeats_the_fit(cars):
    tree = odt("mpg ~ .", cars)
    assert same(tree.forest, odt("mpg ~ .", cars, seed=tree.control.seed).forest)


def test_a_longer_forest_begins_with_the_shorter(cars):
    short, long = (odrf.odrf("mpg ~ .", cars, n_trees=B, seed=1) for B in (3, 6))
    assert all(same(short.forest.tree(b), long.forest.tree(b)) for b in range(3))


def test_growth_stops_at_max_leaves_and_max_depth(cars):
    assert odt("mpg ~ .", cars, max_leaves=lambda n: n**0.5, seed=1).n_leaves == 19
    assert odt("mpg ~ .", cars, max_depth=2, seed=1).nodes.depth.max() == 2
    assert odt("mpg ~ .", cars, min_leaf=30, seed=1).nodes["count"].min() >= 30


def test_a_penalty_makes_smaller_and_sparser_trees(cars):
    free, aic, bic = (
        odt("mpg ~ .", cars, penalty=name, alpha=None, seed=1) for name in (None, "aic", "bic")
    )
    assert bic.n_leaves < aic.n_leaves < free.n_leaves
    terms = [tree.splits.groupby("node").size().mean() for tree in (free, bic)]
    assert terms[1] < terms[0]


def test_a_fixed_subset_size_bounds_the_predictors_of_a_split(cars):
    tree = odt("mpg ~ .", cars, subset_size=2, seed=1)
    assert tree.splits.groupby("node").predictor.nunique().max() == 2


def test_alpha_prunes(cars):
    tree = odt("mpg ~ .", cars, alpha=1.0, seed=1)
    assert tree.n_leaves < tree.parent.n_leaves
    grown, pruned = (
        odrf.odrf("mpg ~ .", cars, n_trees=5, alpha=alpha, seed=1) for alpha in (None, 1.0)
    )
    assert (pruned.n_leaves < grown.n_leaves).all()


def test_calls_are_written_as_made(cars):
    weights = np.ones(len(cars))
    forest = odrf.odrf("mpg ~ .", cars, n_trees=2, weights=weights, min_leaf=2, seed=1)
    assert forest.call == "odrf('mpg ~ .', data, n_trees=2, weights=…, seed=1)"


def twice(x):
    return 2 * x


def test_functions_of_the_caller(cars):
    def thrice(x):
        return 3 * x

    tree = odt("mpg ~ twice(weight) + thrice(year)", cars, max_leaves=3, seed=1)
    assert tree.design.predictors == ("twice(weight)", "thrice(year)")
    forest = odrf.odrf("mpg ~ twice(weight) + thrice(year)", cars, n_trees=2, seed=1)
    assert forest.design.predictors == tree.design.predictors


@pytest.mark.parametrize("formula", ["mpg ~ .", "log(mpg) ~ bs(weight, 4) + twice(year):origin"])
def test_a_fit_pickles(cars, formula):
    forest = odrf.odrf(formula, cars, n_trees=3, seed=1)
    again = pickle.loads(pickle.dumps(forest))
    assert again.predict(cars).equals(forest.predict(cars))
    assert str(again.summary()) == str(forest.summary())


def test_weights_steer_the_fit(plane):
    weights = np.where(plane.side == "over", 20.0, 1.0)
    data = plane.drop(columns="height").assign(w=weights)
    even, heavy = (
        odt("side ~ a + b", data, max_depth=1, projection="axis", weights=given, seed=1)
        for given in (None, weights)
    )
    assert (heavy.predict() == "over").mean() > (even.predict() == "over").mean()
    named = odt("side ~ .", data, max_depth=1, projection="axis", weights="w", seed=1)
    assert named.design.predictors == ("a", "b")
    assert same(named.forest, heavy.forest)


def test_two_numbers_are_regressed_with_a_warning(plane):
    data = plane.assign(side=(plane.side == "over").astype(int))
    with pytest.warns(UserWarning, match='kind="classification"') as caught:
        assert odt("side ~ a + b", data, seed=1).kind == "regression"
    assert caught[0].filename == __file__
    assert odt("side ~ a + b", data, kind="classification", seed=1).kind == "classification"


def test_progress_is_shown_on_request(cars, capsys):
    odrf.odrf("mpg ~ .", cars, n_trees=4, seed=1)
    assert capsys.readouterr().err == ""
    odrf.odrf("mpg ~ .", cars, n_trees=4, seed=1, progress=True)
    assert "4/4" in capsys.readouterr().err


def test_labels_out_of_alphabetical_order_stay_right(plane):
    names = pd.Categorical(
        plane.side.map({"over": "a_last", "below": "z_first"}), ["z_first", "a_last"]
    )
    forest = odrf.odrf("side ~ .", plane.assign(side=names).drop(columns="height"), seed=1)
    assert forest.oob_error < 0.05
    assert list(forest.classes) == ["z_first", "a_last"]
    assert (forest.predict() == names).mean() > 0.99


def test_constant_and_lone_predictors(plane):
    constant = plane.assign(one=1.0)
    assert odt("height ~ a + b + one", constant, seed=1).r_squared > 0.9
    new = constant.assign(one=50.0)
    tree = odt("height ~ a + b + one", constant, seed=1)
    assert tree.predict(new).equals(tree.predict(constant))
    assert odrf.odrf("height ~ a", plane, n_trees=5, seed=1).nobs == 400


def test_factors_split_by_sets_of_levels():
    rng = np.random.default_rng(1)
    level = rng.choice(list("abcdef"), 300)
    data = pd.DataFrame(
        {"g": level, "y": np.isin(level, ["b", "e"]) * 1.0 + rng.normal(size=300) / 9}
    )
    tree = odt("y ~ g", data, max_leaves=2, seed=1)
    assert "g in {b, e}" in tree.rules() or "g in {a, c, d, f}" in tree.rules()
    assert tree.r_squared > 0.9


@pytest.mark.parametrize("fit", [odt, odrf.odrf])
@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("mpg ~ wieght", {}, "'wieght' is not a column of the data; did you mean 'weight'"),
        ("mpg ~ (weight", {}, r"formula: Unmatched '\('\n +mpg ~ \(weight\n +\^"),
        (
            "mpg ~ 1",
            {},
            "the formula has no predictors: name at least one column on the right of ~",
        ),
        ("mpg ~ mpg + weight", {}, "the response's column 'mpg' is also a predictor: take it out"),
        (
            "mpg ~ .",
            {"missing": "skip"},
            "missing='skip' is not known: use one of 'split', .*'median', 'drop', 'raise'$",
        ),
        (
            "mpg ~ .",
            {"kind": "rank"},
            "kind='rank' is not known: use one of 'auto', 'regression', 'cl",
        ),
        (
            "mpg ~ .",
            {"weights": -np.ones(392)},
            "weights has 392 negative values, the smallest -1: weights must",
        ),
        (
            "mpg ~ .",
            {"weights": np.zeros(392)},
            "weights are all zero: give at least one row a positive weight",
        ),
        ("mpg ~ .", {"subset_size": 8}, "subset_size=8 is above the number of predictors, 7"),
        ("mpg ~ .", {"min_leaf": 393}, "min_leaf=393 is above the number of rows, 392"),
        (
            "mpg ~ .",
            {"projection": "svm"},
            "projection='svm' is not known: use one of 'axis', 'extra'",
        ),
    ],
)
def test_bad_input_is_explained(cars, fit, formula, options, message):
    with pytest.raises(InputError, match=message):
        fit(formula, cars, **options)


@pytest.mark.parametrize("fit", [odt, odrf.odrf])
def test_bad_data_is_explained(cars, fit):
    with pytest.raises(
        InputError, match=r"data must be a data frame, not numpy\.ndarray: make one with"
    ):
        fit("mpg ~ .", cars.to_numpy())
    with pytest.raises(
        InputError, match=r"response 'mpg' is constant \(1\.0 in every row\): there is"
    ):
        fit("mpg ~ .", cars.assign(mpg=1.0))
    with pytest.raises(InputError, match="data has 1 row: at least 2 are needed"):
        fit("mpg ~ .", cars.head(1))
    with pytest.raises(
        InputError, match="predictor 'weight' is infinite or not a number in 392 rows"
    ):
        fit("mpg ~ .", cars.assign(weight=np.inf))
    with pytest.raises(
        InputError, match=r"5 of 397 rows have missing values, in 'horsepower' \(5\):"
    ):
        fit("mpg ~ .", load_data("auto_mpg"), missing="raise")


# ------------------------------------------------------------------------------------------------
# Trees and forests whose splits are about one of several causes of events.
# ------------------------------------------------------------------------------------------------

FORMULA = "Surv(time, event) ~ ."


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    """Two causes along x1, which makes the first one more likely, and x2 the second."""
    rng = np.random.default_rng(1)
    n = 400
    X = pd.DataFrame(rng.random((n, 3)), columns=["x1", "x2", "x3"])
    rates = np.exp(3 * X[["x1", "x2"]].to_numpy() - 1.5)
    first = rng.exponential(1 / rates)
    time, end = first.min(axis=1), rng.exponential(2, n)
    cause = np.where(time <= end, 1 + first.argmin(axis=1), 0)
    event = pd.Categorical.from_codes(cause, ["no", "relapse", "death"])
    return X.assign(time=np.minimum(time, end), event=event)


def splits(fit):
    forest = fit.fit.forest
    return [getattr(forest, name) for name in ("left", "index", "coef", "threshold")]


@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
def test_splits_about_a_cause_are_those_with_the_others_censored(data, criterion):
    alone = data.assign(event=data["event"] == "death")
    options = {"criterion": criterion, "n_trees": 5, "seed": 2}
    about = odrf.odrf(FORMULA, data, cause="death", **options)
    usual = odrf.odrf(FORMULA, alone, **options)
    for found, expected in zip(splits(about), splits(usual), strict=True):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("criterion", ["log_rank", "gray"])
@pytest.mark.parametrize(("cause", "predictor"), [("relapse", "x1"), ("death", "x2")])
def test_a_tree_splits_on_what_matters_for_its_cause(data, criterion, cause, predictor):
    tree = odrf.odt(
        FORMULA, data, criterion=criterion, cause=cause, projection="axis", max_leaves=2, seed=1
    )
    assert str(tree.rules()).count(predictor) > 0
    assert (tree.fit.control.criterion, tree.fit.control.cause) == (criterion, cause)
    assert f"cause {cause}" in str(tree.summary())


@pytest.mark.parametrize("criterion", ["log_rank", "gray"])
def test_blends_save_load_and_grow_on(data, criterion, tmp_path):
    options = {"criterion": criterion, "cause": "death", "blend": True, "seed": 1}
    forest = odrf.odrf(FORMULA, data, n_trees=30, **options)
    forest.save(tmp_path / "forest.odrf")
    loaded = odrf.load(tmp_path / "forest.odrf")
    assert loaded.fit.control.criterion == criterion
    new = data.head(5)
    asked = {"type": "incidence", "cause": "relapse", "times": [0.5, 1.0]}
    np.testing.assert_array_equal(loaded.predict(new, **asked), forest.predict(new, **asked))
    incidence = forest.predict(new, type="incidence", times=[1.0]).sum(axis=1)
    alive = forest.predict(new, type="survival", times=[1.0]).iloc[:, 0]
    np.testing.assert_allclose(incidence + alive, 1.0)


def test_causes_that_are_numbers(data):
    numbered = data.assign(event=data["event"].cat.rename_categories([0, 1, 2]))
    control: ResolvedOptions = odrf.odrf(FORMULA, numbered, cause=2, n_trees=2, seed=1).fit.control
    assert control.cause == "2"


def without_deaths(data):
    rows = data[data["event"] != "death"]
    return rows.assign(event=rows["event"].cat.set_categories(["no", "relapse", "death"]))


def test_what_cannot_be_said_is_refused(data):
    late = data.assign(start=0.5 * data["time"])
    for rows, formula, options, message in [
        (data, FORMULA, {"cause": "flu"}, "cause='flu'.*'relapse', 'death'"),
        (data, FORMULA, {"criterion": "gray"}, "name it by cause=, one of 'relapse', 'death'"),
        (
            late, "Surv(start, time, event) ~ x1", {"criterion": "gray", "cause": "death"},
            "rows that enter late.*criterion=\"log_rank\" with cause='death'",
        ),
        (without_deaths(data), FORMULA, {"cause": "death"}, "'death' is not known: use"),
        (
            data.assign(w=1 * (data["event"] != "death")), FORMULA,
            {"cause": "death", "weights": "w"}, "cause='death' is not known: use one of 'relapse'",
        ),
        (data, "x1 ~ x2", {"cause": "death"}, "cause='death' is for survival times of several"),
    ]:  # fmt: skip
        for function in (odrf.odt, odrf.odrf):
            with pytest.raises(InputError, match=message):
                function(formula, rows, **options)
