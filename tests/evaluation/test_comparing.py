"""Models compared on the same folds."""

from __future__ import annotations

import copy
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf
from odrf import InputError, compare

# Pruned trees take ten times as long, and are compared by the same code.
grown = partial(odrf.odt, alpha=None)
small_tree = partial(grown, max_leaves=4)
TWO = {"tree": grown, "small": small_tree}
TINY = pd.DataFrame({"c": ["low", "high"] * 6, "a": range(12), "b": range(12)})


@pytest.fixture(scope="module")
def table():
    """60 rows; a level and a class with one row each."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    data["f"] = rng.choice(["u", "v"], 60)
    data["y"] = data["a"] + (data["f"] == "u") + rng.normal(size=60) / 4
    data["c"] = np.where(data["y"] > 0.5, "high", "low")
    data["d"] = data["c"]
    data.loc[7, "f"] = "rare"
    data.loc[11, "d"] = "odd"
    return data.set_index(pd.Index([f"row{i}" for i in range(60)]))


class Fit:
    """Predicts the first response it met, and tells which rows those were."""

    def __init__(self, formula, data, seen, **options):
        self.value = data[formula.split()[0]].iloc[0]
        self.met = {"train": data.index, "options": options}
        seen.append(self.met)

    def predict(self, newdata):
        self.met["test"] = newdata.index
        return np.full(len(newdata), self.value)


def remembering(seen):
    return lambda formula, data: Fit(formula, data, seen)


def test_every_model_meets_the_same_folds(table):
    one, other = [], []
    models = {"one": remembering(one), "other": remembering(other)}
    found = compare("y ~ .", table, models, cv=7, repeats=2, seed=1, n_jobs=1)
    assert len(one) == 14
    for a, b in zip(one, other, strict=True):
        assert a["test"].equals(b["test"])
        assert set(a["test"]) | set(a["train"]) == set(table.index)
        assert not set(a["test"]) & set(a["train"])
    for repeat in (one[:7], one[7:]):
        assert sorted(row for fold in repeat for row in fold["test"]) == sorted(table.index)
    assert set(one[0]["test"]) != set(one[7]["test"])
    assert found.scores.index.names == ["table", "repeat", "fold"]
    assert found.scores.index.tolist()[-1] == ("data", 2, 7)
    assert (found.scores["one"] == found.scores["other"]).all()


def test_classes_are_dealt_out_evenly(table):
    seen = []
    compare("c ~ a", table, {"one": remembering(seen), "two": remembering([])}, cv=6, seed=1)
    counts = pd.DataFrame([table.loc[fold["test"], "c"].value_counts() for fold in seen])
    assert (counts.max() - counts.min() <= 1).all()


def test_threads_and_time_change_nothing(table):
    models = {
        "tree": partial(odrf.odt, alpha="cv"),
        "forest": partial(odrf.odrf, n_trees=5),
        "estimator": RandomForestRegressor(5),
        "pipeline": make_pipeline(StandardScaler(), RandomForestRegressor(5)),
    }
    one = compare("y ~ a + b + f", table, models, cv=3, seed=3, n_jobs=1).scores
    for jobs in (1, 3):
        again = compare("y ~ a + b + f", table, models, cv=3, seed=3, n_jobs=jobs).scores
        pd.testing.assert_frame_equal(one, again)
    assert not one.equals(compare("y ~ a + b + f", table, models, cv=3, seed=4).scores)


def test_the_seed_is_kept(table):
    models = {"tree": partial(odrf.odt, alpha="cv"), "stump": partial(grown, max_leaves=2)}
    first = compare("y ~ a + b", table, models, cv=3)
    again = compare("y ~ a + b", table, models, cv=3, seed=first.seed)
    pd.testing.assert_frame_equal(first.scores, again.scores)
    assert f"seed={first.seed}" in first.call


def test_seeds_are_given_where_there_is_none(table):
    seen = []

    def seeded(formula, data, seed=None):
        return Fit(formula, data, seen, seed=seed)

    models = {"free": seeded, "bound": partial(seeded, seed=5)}
    compare("y ~ a", table, models, cv=3, seed=1, n_jobs=1)
    given = [fold["options"]["seed"] for fold in seen]
    assert given[1::2] == [5, 5, 5]
    assert len({*given[::2]}) == 3 and None not in given


def test_levels_and_classes_that_a_fold_lacks(table):
    models = {"tree": grown, "estimator": DecisionTreeClassifier()}
    for metric in ("error", "brier", "log_loss"):
        found = compare("d ~ a + b + f", table, models, cv=10, metric=metric, seed=1)
        assert np.isfinite(found.scores.to_numpy()).all()
    # the one row of its class is never predicted
    errors = compare("d ~ a + f", table.assign(a=0.0), models, cv=10, seed=1).scores
    assert 6 * errors.to_numpy().sum(axis=0).min() >= 1


@pytest.mark.filterwarnings("error")
def test_a_fold_lacks_a_level_of_numbers_that_are_a_factor():
    data = pd.DataFrame({"n": [1, 2] * 20, "y": np.arange(40.0)})
    data.loc[5, "n"] = 3
    text = data.assign(n=data["n"].astype(str))
    models = {"tree": grown, "root": partial(odrf.odt, max_leaves=1)}
    scores = [compare(f"y ~ {n}", table, models, cv=4, seed=1).scores
              for n, table in (("C(n)", data), ("n", text))]  # fmt: skip
    pd.testing.assert_frame_equal(*scores)


@pytest.fixture
def merged(table):
    """The table without the rare level."""
    return table.assign(f=table["f"].replace("rare", "u"))


def by_hand(data, response, estimator, seen):
    """Fit without each fold seen; yield the fit, the fold's columns and responses."""
    X = pd.get_dummies(data[["a", "b", "f"]], dtype=float)
    for fold in seen:
        fit = clone(estimator).fit(X.loc[fold["train"]], data.loc[fold["train"], response])
        yield fit, X.loc[fold["test"]], data.loc[fold["test"], response]


def test_an_estimator_beside_cross_validation_by_hand(merged):
    # the indicators of f add up to 1: with an intercept, the solution would not be unique
    seen, linear = [], LinearRegression(fit_intercept=False)
    models = {"linear": linear, "rows": remembering(seen)}
    found = compare("y ~ a + b + f", merged, models, cv=5, seed=1, n_jobs=1)
    for score, (fit, X, y) in zip(
        found.scores["linear"], by_hand(merged, "y", linear, seen), strict=True
    ):
        assert score == pytest.approx(((y - fit.predict(X)) ** 2).mean(), rel=1e-4)


def test_probabilities_of_an_estimator_beside_those_by_hand(merged):
    seen, tree = [], DecisionTreeClassifier(max_depth=2, random_state=0)
    compare("c ~ a", merged, {"rows": remembering(seen), "tree": tree}, cv=5, seed=1, n_jobs=1)
    found = compare("c ~ a + b + f", merged, {"t": tree} | TWO, cv=5, metric="brier", seed=1)
    for score, (fit, X, c) in zip(found.scores["t"], by_hand(merged, "c", tree, seen), strict=True):
        low = fit.predict_proba(X)[:, 1]
        assert score == pytest.approx(2 * ((low - (c == "low")) ** 2).mean())


def test_an_estimator_gets_scaled_columns_and_labels(merged):
    class Recorder(DecisionTreeClassifier):
        def fit(self, X, y):
            met.append((X, y))
            return super().fit(X, y)

    met, estimator = [], Recorder(max_depth=2)
    compare("c ~ a + b + f", merged, TWO | {"x": estimator}, cv=3, metric="auc", seed=1)
    assert len(met) == 3
    for X, y in met:
        assert X.shape == (40, 4)
        assert (X.min(axis=0) == 0).all() and (X.max(axis=0) == 1).all()
        assert set(y) == {"high", "low"}
    assert not hasattr(estimator, "tree_") and estimator.random_state is None


def test_numbers_that_may_be_classes_are_warned_of_in_the_user_s_line(table):
    data = table.assign(k=np.where(table["c"] == "high", 1, 0))
    models = {"line": LinearRegression(), "tree": DecisionTreeRegressor()}
    with pytest.warns(UserWarning, match="only two values") as caught:
        assert compare("k ~ a", data, models, cv=3, seed=1).metric.name == "mse"
    assert [warning.filename for warning in caught] == [__file__]


def test_nested_formulas_are_forests(table, few_pilots):
    models = {"all": "y ~ a + b + f", "two": ("y ~ a + f", partial(odrf.odrf, n_trees=500))}
    found = compare("y ~ .", table.drop(columns=["c", "d"]), models, cv=2, seed=9)
    assert found.scores.shape == (2, 2)
    assert found.scores["all"].ne(found.scores["two"]).all()
    same = {"all": partial(odrf.odrf, n_trees=500), "two": "y ~ a + f"}
    other = compare("y ~ a + b + f", table, same, cv=2, seed=9)
    pd.testing.assert_frame_equal(found.scores, other.scores)


def test_formulas_know_the_user_s_functions(table):
    def doubled(x):
        return 2 * x

    models = {"tree": small_tree, "estimator": LinearRegression()}
    own = {"two": ("y ~ doubled(b)", grown)}
    found = compare("y ~ doubled(a)", table, models | own, cv=3, seed=1)
    plain = compare("y ~ a", table, models | {"two": ("y ~ b", grown)}, cv=3, seed=1)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-4)


def test_metrics_of_the_user_s_own(table):
    def most(y, predicted):
        return np.abs(y - predicted).max()

    found = compare("y ~ a", table, TWO, cv=3, metric=most, seed=1)
    assert found.metric.name == "most" and "metric=most" in found.call
    rmse = compare("y ~ a", table, TWO, cv=3, metric="rmse", seed=1)
    assert (found.scores > rmse.scores).all(axis=None)


def test_labels_that_are_numbers(table):
    data = table.assign(k=np.where(table["c"] == "high", 10, 20))
    models = {"tree": grown, "forest": RandomForestClassifier(5)}
    numbers = compare("C(k) ~ a + b", data, models, cv=3, seed=1)
    words = compare("c ~ a + b", data, models, cv=3, seed=1)
    assert numbers.metric.name == "error"
    pd.testing.assert_frame_equal(numbers.scores, words.scores)


def test_several_tables(table):
    tables = {"first": table, "second": ("c ~ b", table.iloc[:40])}
    found = compare("c ~ a + b", tables, TWO, cv=4, seed=1)
    assert found.sizes == {"first": 60, "second": 40}
    assert found.scores.groupby(level="table").size().tolist() == [4, 4]
    alone = compare("c ~ a + b", table, TWO, cv=4, seed=1)
    np.testing.assert_array_equal(found.scores.loc["first"], alone.scores.loc["data"])
    with pytest.raises(InputError, match="table 'second'"):
        compare("c ~ a", {"first": table, "second": table.drop(columns="a")}, TWO, cv=4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"models": {"tree": odrf.odt}}, "models has 1: name at least 2"),
        (
            {"models": [odrf.odt, odrf.odrf]},
            "models must be a mapping of names to models, not list",
        ),
        ({"models": {1: odrf.odt, "1": odrf.odt}}, "names that read alike"),
        ({"models": TWO | {"x": 3}}, "model 'x' is of type int"),
        ({"models": TWO | {"x": SVC}}, r"model 'x' is a class: write SVC\(\)"),
        ({"models": TWO | {"x": "c ~ nothing"}}, "model 'x': "),
        ({"models": TWO | {"x": "y ~ a"}}, "another response than 'c ~ a [+] b'"),
        ({"models": TWO | {"x": SVC()}, "metric": "auc"}, "model 'x' has no predict_proba"),
        ({"data": {}}, "data holds no tables"),
        ({"data": {1: TINY, "1": TINY}}, "data has names that read alike: use different names"),
        ({"data": [1, 2]}, "a mapping of names to data frames, not list"),
        ({"data": {"t": [1, 2]}}, "table 't' must be a data frame"),
        ({"formula": None}, "formula must be a text"),
        ({"cv": 1}, "cv=1 is not a number of folds: use 2 to 60"),
        ({"cv": None}, "cv=None is not a number of folds"),
        ({"repeats": 0}, "repeats=0: use a whole number"),
        ({"seed": -1}, "seed=-1"),
        ({"metric": "mse"}, "metric='mse' does not go with 2 classes"),
        ({"metric": "acuracy"}, "did you mean 'accuracy'"),
        ({"metric": "auc", "cv": 60}, "metric 'auc' is nan for model 'tree' on table 'data'"),
    ],
)
def test_what_cannot_be_compared(table, change, message):
    asked = {"formula": "c ~ a + b", "data": table, "models": TWO, "cv": 3} | change
    with pytest.raises(InputError, match=message):
        compare(**asked)


def test_numbers_and_classes_do_not_mix(table):
    tables = {"one": ("c ~ a", table), "two": ("y ~ a", table)}
    with pytest.raises(InputError, match="a number in table 'two' and a class in table 'one'"):
        compare(None, tables, TWO)


@pytest.fixture
def with_holes(table):
    """Holes in a number, in a factor and, in two rows, in the response."""
    holes = table.assign(a=table["a"].where(table["a"] > -1), f=table["f"].where(table["b"] > -1))
    holes.loc[["row3", "row8"], "y"] = np.nan
    return holes


def test_rows_without_a_response_are_left_out_and_others_kept(with_holes):
    seen = []
    found = compare("y ~ .", with_holes, {**TWO, "rows": remembering(seen)}, cv=4, seed=1)
    assert np.isfinite(found.scores.to_numpy()).all()
    met = [label for fold in seen for label in fold["test"]]
    assert sorted(met) == sorted(with_holes.index.drop(["row3", "row8"]))


def test_an_estimator_gets_empty_cells_as_nan(with_holes):
    class Recorder(DecisionTreeRegressor):
        def fit(self, X, y):
            met.append(X)
            return super().fit(X, y)

        def predict(self, X):
            met.append(X)
            return super().predict(X)

    met = []
    compare("y ~ a + f", with_holes, {**TWO, "x": Recorder(max_depth=2)}, cv=3, seed=1, n_jobs=1)
    n_empty = with_holes.dropna(subset="y")["a"].isna().sum()
    for train, test in zip(met[::2], met[1::2], strict=True):
        assert np.isnan(train[:, 0]).sum() + np.isnan(test[:, 0]).sum() == n_empty > 0
        assert train.shape[1] == test.shape[1] >= 4  # "a", and levels with one of empty cells
        assert not np.isnan(train[:, 1:]).any() and not np.isnan(test[:, 1:]).any()


def test_an_estimator_beside_models_of_rows_with_empty_cells_only_in_a_test_fold(table):
    one_hole = table.copy()
    one_hole.loc["row5", ["a", "f"]] = np.nan, None
    models = {"tree": grown, "cart": DecisionTreeRegressor(random_state=1)}
    assert np.isfinite(compare("y ~ a + f", one_hole, models, cv=5, seed=1).scores.to_numpy()).all()
    models["cart"] = LinearRegression()
    with pytest.raises(InputError, match=r"model 'cart' fails on .* contains NaN"):
        compare("y ~ a + f", one_hole, models, cv=5, seed=1)
    models["cart"] = make_pipeline(SimpleImputer(), LinearRegression())
    assert np.isfinite(compare("y ~ a + f", one_hole, models, cv=5, seed=1).scores.to_numpy()).all()


def test_a_model_that_leaves_out_rows_is_refused(with_holes):
    models = {**TWO, "drops": partial(grown, missing="drop")}
    with pytest.raises(InputError, match=r"'drops' fails .* without a prediction: .*drop these"):
        compare("y ~ a", with_holes, models, cv=3, seed=1)


class Answer:
    def __init__(self, answer):
        self.answer = answer

    def predict(self, newdata, type="response"):
        return self.answer(newdata)


@pytest.mark.parametrize(
    ("answer", "metric", "message"),
    [
        (lambda rows: ["low"], "error", r"its predictions of 20 rows have shape \(1,\)"),
        (lambda rows: "low", "error", r"have shape \(\)"),
        (lambda rows: [None, *["low"] * 19], "error", "leaves 1 of 20 rows without a prediction"),
        (lambda rows: [0.5] * 20, "error", "predicts .*0.5.*, which is no class of 'c'"),
        (lambda rows: [0.5] * 20, "brier", "probabilities come as list"),
        (lambda rows: rows["gone"], "error", "KeyError: 'gone'"),
    ],
)
def test_models_that_fail(table, answer, metric, message):
    models = {"tree": grown, "x": lambda formula, data: Answer(answer)}
    with pytest.raises(InputError, match=f"model 'x' fails on table 'data', .*{message}") as caught:
        compare("c ~ a", table, models, cv=3, metric=metric, seed=1)
    assert caught.value.__cause__ is not None


def test_a_metric_of_the_user_may_be_any_function(table):
    largest = lambda observed, predicted: float(np.abs(observed - predicted).max())  # noqa: E731
    models = {"tree": grown, "small": partial(grown, max_leaves=3)}
    found = odrf.compare("y ~ a + b", table, models, cv=3, metric=largest, seed=1)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.table.equals(found.table)
        assert str(again.summary()) == str(found.summary())
        again.plot()


def test_folds_can_be_labels_a_column_or_a_splitter(table):
    labels = np.array(["u", "v", "w"])[np.arange(60) % 3]
    met = []
    for cv in (labels, list(labels), "site", PredefinedSplit(np.arange(60) % 3)):
        seen = []
        models = {"one": remembering(seen), "two": remembering([])}
        comparison = compare("y ~ .", table.assign(site=labels), models, cv=cv, n_jobs=1, seed=1)
        met.append([list(each["test"]) for each in seen])
        assert comparison.cv == 3
    assert met[0] == met[1] == met[2] == met[3]
    assert met[0] == [list(table.index[labels == label]) for label in "uvw"]


def test_the_column_of_the_folds_is_no_predictor_unless_it_is_named(table):
    data = table.assign(site=np.arange(60) % 3)
    columns = []

    def watching(formula, data):
        columns.append(list(data.columns))
        return Fit(formula, data, [])

    compare("y ~ .", data, {"one": watching, "two": ("y ~ a", watching)}, cv="site", n_jobs=1)
    assert not any("site" in names for names in columns)
    columns.clear()
    compare("y ~ .", data, {"one": watching, "two": ("y ~ site", watching)}, cv="site", n_jobs=1)
    assert all("site" in names for names in columns)


def test_rows_without_a_response_need_no_fold(table):
    labels, data = [None] * 5 + [1, 2] * 25 + [1] * 5, table.copy()
    data.loc[data.index[:5], "y"] = np.nan
    assert len(compare("y ~ .", data, TWO, cv=labels, seed=1).scores) == 2


@pytest.mark.parametrize("cv", [np.arange(60) % 3, TimeSeriesSplit(3)])
def test_folds_that_do_not_change_are_not_repeated(table, cv):
    with pytest.raises(InputError, match="repeats=2: every repeat has the same folds"):
        compare("y ~ .", table, TWO, cv=cv, repeats=2)


def test_the_method_is_named(table):
    comparison = compare("y ~ .", table, TWO, cv=TimeSeriesSplit(2), seed=1)
    assert comparison.folds.by == "cross-validation by TimeSeriesSplit"
    assert comparison.folds.ratio == pytest.approx(40 / 60)
    assert "cross-validation by TimeSeriesSplit" in str(comparison.summary())
    assert "cv=…" in comparison.call
    plain = compare("y ~ .", table, TWO, cv=5, seed=1)
    assert plain.folds.ratio == 1 / 4
    assert "Held out by" not in str(plain.summary())


def test_the_table_whose_folds_cannot_be_is_named(table):
    with pytest.raises(InputError, match="table 'second': cv='site' is not a column"):
        compare(
            "y ~ .",
            {"first": table.assign(site=np.arange(60) % 2), "second": table},
            TWO,
            cv="site",
        )


@pytest.mark.parametrize("function", [odrf.compare, odrf.learning_curve])
def test_options_of_models_are_set_in_models(function):
    data = odrf.load_data("melanoma")
    models = {"all": odrf.odt, "one": partial(odrf.odt, cause="melanoma")}
    with pytest.raises(InputError, match=r"'cause'.*partial\(odrf.odrf, cause=…\)"):
        function("Surv(time, event) ~ .", data, models, cause="melanoma")


def test_models_split_for_one_cause():
    data, cause = odrf.load_data("melanoma"), partial(odrf.odt, cause="melanoma")
    models = {"all": odrf.odt, "one": cause, "again": cause}
    scores = odrf.compare("Surv(time, event) ~ .", data, models, cv=2, seed=1).scores
    assert (scores["one"] == scores["again"]).all() and (scores["one"] != scores["all"]).any()


def test_probabilities_of_other_names_than_the_classes_are_refused():
    class Numbered:
        def __init__(self, formula, data):
            self.fit = grown(formula, data)

        def predict(self, newdata, type):
            return self.fit.predict(newdata, type=type).set_axis([0, 1, 2], axis=1)

    models = {"named": grown, "numbered": Numbered}
    with pytest.raises(InputError, match=r"have a column 0, which is no class of 'cultivar'"):
        odrf.compare("cultivar ~ .", odrf.load_data("wine"), models, cv=2, metric="brier", seed=1)
