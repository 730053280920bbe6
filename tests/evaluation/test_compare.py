"""Models compared on the same folds."""

from __future__ import annotations

import copy
import pickle
from functools import partial
from math import nan, sqrt

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from scipy.stats import wilcoxon
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import PredefinedSplit, StratifiedKFold, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf
from odrf import InputError, compare, learning_curve, simulate, tune
from odrf.evaluation.compare import (
    Comparison,
    FoldsUsed,
    corrected_std_error,
    corrected_t,
    critical_difference,
    differences,
    mean_ranks,
    signed_rank,
    wins,
)
from odrf.evaluation.metrics import METRICS, times_to_score
from odrf.sklearn import ODRFSurvival
from odrf.statistics.survival.discrimination import harrells_c, unos_c
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.scores import brier_scores

# Pruned trees take ten times as long, and are compared by the same code.
grown = partial(odrf.odt, alpha=None)
small_tree = partial(grown, max_leaves=4)
TWO = {"tree": grown, "small": small_tree}
TINY = pd.DataFrame({"c": ["low", "high"] * 6, "a": range(12), "b": range(12)})


@pytest.fixture(scope="module")
def table_of_comparing():
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


def test_every_model_meets_the_same_folds(table_of_comparing):
    one, other = [], []
    models = {"one": remembering(one), "other": remembering(other)}
    found = compare("y ~ .", table_of_comparing, models, cv=7, repeats=2, seed=1, n_jobs=1)
    assert len(one) == 14
    for a, b in zip(one, other, strict=True):
        assert a["test"].equals(b["test"])
        assert set(a["test"]) | set(a["train"]) == set(table_of_comparing.index)
        assert not set(a["test"]) & set(a["train"])
    for repeat in (one[:7], one[7:]):
        assert sorted(row for fold in repeat for row in fold["test"]) == sorted(
            table_of_comparing.index
        )
    assert set(one[0]["test"]) != set(one[7]["test"])
    assert found.scores.index.names == ["table", "repeat", "fold"]
    assert found.scores.index.tolist()[-1] == ("data", 2, 7)
    assert (found.scores["one"] == found.scores["other"]).all()


def test_classes_are_dealt_out_evenly(table_of_comparing):
    seen = []
    compare(
        "c ~ a",
        table_of_comparing,
        {"one": remembering(seen), "two": remembering([])},
        cv=6,
        seed=1,
    )
    counts = pd.DataFrame(
        [table_of_comparing.loc[fold["test"], "c"].value_counts() for fold in seen]
    )
    assert (counts.max() - counts.min() <= 1).all()


def test_threads_and_time_change_nothing(table_of_comparing):
    models = {
        "tree": partial(odrf.odt, alpha="cv"),
        "forest": partial(odrf.odrf, n_trees=5),
        "estimator": RandomForestRegressor(5),
        "pipeline": make_pipeline(StandardScaler(), RandomForestRegressor(5)),
    }
    one = compare("y ~ a + b + f", table_of_comparing, models, cv=3, seed=3, n_jobs=1).scores
    for jobs in (1, 3):
        again = compare(
            "y ~ a + b + f", table_of_comparing, models, cv=3, seed=3, n_jobs=jobs
        ).scores
        pd.testing.assert_frame_equal(one, again)
    assert not one.equals(compare("y ~ a + b + f", table_of_comparing, models, cv=3, seed=4).scores)


def test_the_seed_is_kept(table_of_comparing):
    models = {"tree": partial(odrf.odt, alpha="cv"), "stump": partial(grown, max_leaves=2)}
    first = compare("y ~ a + b", table_of_comparing, models, cv=3)
    again = compare("y ~ a + b", table_of_comparing, models, cv=3, seed=first.seed)
    pd.testing.assert_frame_equal(first.scores, again.scores)
    assert f"seed={first.seed}" in first.call


def test_seeds_are_given_where_there_is_none(table_of_comparing):
    seen = []

    def seeded(formula, data, seed=None):
        return Fit(formula, data, seen, seed=seed)

    models = {"free": seeded, "bound": partial(seeded, seed=5)}
    compare("y ~ a", table_of_comparing, models, cv=3, seed=1, n_jobs=1)
    given = [fold["options"]["seed"] for fold in seen]
    assert given[1::2] == [5, 5, 5]
    assert len({*given[::2]}) == 3 and None not in given


def test_levels_and_classes_that_a_fold_lacks(table_of_comparing):
    models = {"tree": grown, "estimator": DecisionTreeClassifier()}
    for metric in ("error", "brier", "log_loss"):
        found = compare("d ~ a + b + f", table_of_comparing, models, cv=10, metric=metric, seed=1)
        assert np.isfinite(found.scores.to_numpy()).all()
    # the one row of its class is never predicted
    errors = compare("d ~ a + f", table_of_comparing.assign(a=0.0), models, cv=10, seed=1).scores
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
def merged(table_of_comparing):
    """The table without the rare level."""
    return table_of_comparing.assign(f=table_of_comparing["f"].replace("rare", "u"))


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


def test_numbers_that_may_be_classes_are_warned_of_in_the_user_s_line(table_of_comparing):
    data = table_of_comparing.assign(k=np.where(table_of_comparing["c"] == "high", 1, 0))
    models = {"line": LinearRegression(), "tree": DecisionTreeRegressor()}
    with pytest.warns(UserWarning, match="only two values") as caught:
        assert compare("k ~ a", data, models, cv=3, seed=1).metric.name == "mse"
    assert [warning.filename for warning in caught] == [__file__]


def test_nested_formulas_are_forests(table_of_comparing, few_pilots):
    models = {"all": "y ~ a + b + f", "two": ("y ~ a + f", partial(odrf.odrf, n_trees=500))}
    found = compare("y ~ .", table_of_comparing.drop(columns=["c", "d"]), models, cv=2, seed=9)
    assert found.scores.shape == (2, 2)
    assert found.scores["all"].ne(found.scores["two"]).all()
    same = {"all": partial(odrf.odrf, n_trees=500), "two": "y ~ a + f"}
    other = compare("y ~ a + b + f", table_of_comparing, same, cv=2, seed=9)
    pd.testing.assert_frame_equal(found.scores, other.scores)


def test_formulas_know_the_user_s_functions(table_of_comparing):
    def doubled(x):
        return 2 * x

    models = {"tree": small_tree, "estimator": LinearRegression()}
    own = {"two": ("y ~ doubled(b)", grown)}
    found = compare("y ~ doubled(a)", table_of_comparing, models | own, cv=3, seed=1)
    plain = compare("y ~ a", table_of_comparing, models | {"two": ("y ~ b", grown)}, cv=3, seed=1)
    np.testing.assert_allclose(found.scores, plain.scores, rtol=1e-4)


def test_metrics_of_the_user_s_own(table_of_comparing):
    def most(y, predicted):
        return np.abs(y - predicted).max()

    found = compare("y ~ a", table_of_comparing, TWO, cv=3, metric=most, seed=1)
    assert found.metric.name == "most" and "metric=most" in found.call
    rmse = compare("y ~ a", table_of_comparing, TWO, cv=3, metric="rmse", seed=1)
    assert (found.scores > rmse.scores).all(axis=None)


def test_labels_that_are_numbers(table_of_comparing):
    data = table_of_comparing.assign(k=np.where(table_of_comparing["c"] == "high", 10, 20))
    models = {"tree": grown, "forest": RandomForestClassifier(5)}
    numbers = compare("C(k) ~ a + b", data, models, cv=3, seed=1)
    words = compare("c ~ a + b", data, models, cv=3, seed=1)
    assert numbers.metric.name == "error"
    pd.testing.assert_frame_equal(numbers.scores, words.scores)


def test_several_tables(table_of_comparing):
    tables = {"first": table_of_comparing, "second": ("c ~ b", table_of_comparing.iloc[:40])}
    found = compare("c ~ a + b", tables, TWO, cv=4, seed=1)
    assert found.sizes == {"first": 60, "second": 40}
    assert found.scores.groupby(level="table").size().tolist() == [4, 4]
    alone = compare("c ~ a + b", table_of_comparing, TWO, cv=4, seed=1)
    np.testing.assert_array_equal(found.scores.loc["first"], alone.scores.loc["data"])
    with pytest.raises(InputError, match="table 'second'"):
        compare(
            "c ~ a",
            {"first": table_of_comparing, "second": table_of_comparing.drop(columns="a")},
            TWO,
            cv=4,
        )


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
def test_what_cannot_be_compared(table_of_comparing, change, message):
    asked = {"formula": "c ~ a + b", "data": table_of_comparing, "models": TWO, "cv": 3} | change
    with pytest.raises(InputError, match=message):
        compare(**asked)


def test_numbers_and_classes_do_not_mix(table_of_comparing):
    tables = {"one": ("c ~ a", table_of_comparing), "two": ("y ~ a", table_of_comparing)}
    with pytest.raises(InputError, match="a number in table 'two' and a class in table 'one'"):
        compare(None, tables, TWO)


@pytest.fixture
def with_holes(table_of_comparing):
    """Holes in a number, in a factor and, in two rows, in the response."""
    holes = table_of_comparing.assign(
        a=table_of_comparing["a"].where(table_of_comparing["a"] > -1),
        f=table_of_comparing["f"].where(table_of_comparing["b"] > -1),
    )
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
        assert train.shape[1] == test.shape[1] >= 4  # "a", and levels with one of missing values
        assert not np.isnan(train[:, 1:]).any() and not np.isnan(test[:, 1:]).any()


def test_an_estimator_beside_models_of_rows_with_empty_cells_only_in_a_test_fold(
    table_of_comparing,
):
    one_hole = table_of_comparing.copy()
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
def test_models_that_fail(table_of_comparing, answer, metric, message):
    models = {"tree": grown, "x": lambda formula, data: Answer(answer)}
    with pytest.raises(InputError, match=f"model 'x' fails on table 'data', .*{message}") as caught:
        compare("c ~ a", table_of_comparing, models, cv=3, metric=metric, seed=1)
    assert caught.value.__cause__ is not None


def test_a_metric_of_the_user_may_be_any_function(table_of_comparing):
    largest = lambda observed, predicted: float(np.abs(observed - predicted).max())  # noqa: E731
    models = {"tree": grown, "small": partial(grown, max_leaves=3)}
    found = odrf.compare("y ~ a + b", table_of_comparing, models, cv=3, metric=largest, seed=1)
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert again.table.equals(found.table)
        assert str(again.summary()) == str(found.summary())
        again.plot()


def test_folds_can_be_labels_a_column_or_a_splitter(table_of_comparing):
    labels = np.array(["u", "v", "w"])[np.arange(60) % 3]
    met = []
    for cv in (labels, list(labels), "site", PredefinedSplit(np.arange(60) % 3)):
        seen = []
        models = {"one": remembering(seen), "two": remembering([])}
        comparison = compare(
            "y ~ .", table_of_comparing.assign(site=labels), models, cv=cv, n_jobs=1, seed=1
        )
        met.append([list(each["test"]) for each in seen])
        assert comparison.cv == 3
    assert met[0] == met[1] == met[2] == met[3]
    assert met[0] == [list(table_of_comparing.index[labels == label]) for label in "uvw"]


def test_the_column_of_the_folds_is_no_predictor_unless_it_is_named(table_of_comparing):
    data = table_of_comparing.assign(site=np.arange(60) % 3)
    columns = []

    def watching(formula, data):
        columns.append(list(data.columns))
        return Fit(formula, data, [])

    compare("y ~ .", data, {"one": watching, "two": ("y ~ a", watching)}, cv="site", n_jobs=1)
    assert not any("site" in names for names in columns)
    columns.clear()
    compare("y ~ .", data, {"one": watching, "two": ("y ~ site", watching)}, cv="site", n_jobs=1)
    assert all("site" in names for names in columns)


def test_rows_without_a_response_need_no_fold(table_of_comparing):
    labels, data = [None] * 5 + [1, 2] * 25 + [1] * 5, table_of_comparing.copy()
    data.loc[data.index[:5], "y"] = np.nan
    assert len(compare("y ~ .", data, TWO, cv=labels, seed=1).scores) == 2


@pytest.mark.parametrize("cv", [np.arange(60) % 3, TimeSeriesSplit(3)])
def test_folds_that_do_not_change_are_not_repeated(table_of_comparing, cv):
    with pytest.raises(InputError, match="repeats=2: every repeat has the same folds"):
        compare("y ~ .", table_of_comparing, TWO, cv=cv, repeats=2)


def test_the_method_is_named(table_of_comparing):
    comparison = compare("y ~ .", table_of_comparing, TWO, cv=TimeSeriesSplit(2), seed=1)
    assert comparison.folds.by == "cross-validation by TimeSeriesSplit"
    assert comparison.folds.ratio == pytest.approx(40 / 60)
    assert "cross-validation by TimeSeriesSplit" in str(comparison.summary())
    assert "cv=…" in comparison.call
    plain = compare("y ~ .", table_of_comparing, TWO, cv=5, seed=1)
    assert plain.folds.ratio == 1 / 4
    assert "Held out by" not in str(plain.summary())


def test_the_table_whose_folds_cannot_be_is_named(table_of_comparing):
    with pytest.raises(InputError, match="table 'second': cv='site' is not a column"):
        compare(
            "y ~ .",
            {
                "first": table_of_comparing.assign(site=np.arange(60) % 2),
                "second": table_of_comparing,
            },
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


# ------------------------------------------------------------------------------------------------
# Studies of models of survival times: folds, metrics, and what cannot be compared.
# ------------------------------------------------------------------------------------------------

FORMULA = "Surv(time, event) ~ ."
PROBLEM = simulate.proportional_hazards(p=3, relevant=2)
DATA = PROBLEM.sample(150, seed=1)
TIME, EVENT = DATA["time"].to_numpy(), DATA["event"].to_numpy()
forest = partial(odrf.odrf, n_trees=10)


class Mean:
    """A model that predicts the same for all rows, and remembers what it was asked."""

    fits: list[Mean] = []  # noqa: RUF012 - of all copies

    def __init__(self, formula, data):
        self.train = data
        Mean.fits.append(self)

    def predict(self, newdata, type="risk", times=None):
        self.test, self.times = newdata, times
        one = np.full(len(newdata), 0.5)
        return one if type == "risk" else np.outer(one, np.exp(-times))


@pytest.fixture
def watched():
    Mean.fits.clear()
    return Mean.fits


def study(metric, models, **options):
    return compare(FORMULA, DATA, models, cv=3, metric=metric, seed=1, n_jobs=1, **options)


def test_folds_are_stratified_by_event(watched):
    study("uno_c", {"one": Mean, "two": Mean})
    events = [fit.test["event"].sum() for fit in watched]
    assert max(events) - min(events) <= 1
    assert 0 < EVENT.sum() < 150
    watched.clear()
    study("uno_c", {"one": Mean, "two": Mean}, strata=np.arange(150) % 5)
    events = [fit.test["event"].sum() for fit in watched]
    assert max(events) - min(events) <= 5


def test_scores_are_those_of_the_functions_with_weights_of_the_whole_table(watched):
    models = {"one": forest, "two": Mean}
    scores = {name: study(name, models).scores for name in ("integrated_brier", "uno_c")}
    scores["harrell_c"] = study("harrell_c", models).scores
    assert (scores["uno_c"]["two"] == 0.5).all()
    assert (scores["uno_c"]["one"] > 0.5).all()
    censoring = censoring_curve(TIME, EVENT)
    at_risk = (np.unique(TIME[EVENT])[:, np.newaxis] <= TIME).mean(axis=1)
    until = np.unique(TIME[EVENT])[at_risk >= 0.1][-1]
    for number, fit in enumerate(watched[:3]):
        time, event = fit.test["time"].to_numpy(), fit.test["event"].to_numpy()
        assert fit.times[0] == 0
        assert fit.times[-1] == until
        survival = 0.5 * np.exp(-np.tile(fit.times, (len(time), 1)))
        found = brier_scores(time, event, 1 - survival, fit.times, observed=censoring)
        assert scores["integrated_brier"]["two"].iloc[number] == found.integrated.estimate
    for number, fit in enumerate(watched[3:6]):
        time, event = fit.test["time"].to_numpy(), fit.test["event"].to_numpy()
        grown = forest(FORMULA, fit.train, seed=seed_of(number))
        risk = grown.predict(fit.test).to_numpy()
        tau = np.nextafter(until, np.inf)
        assert scores["uno_c"]["one"].iloc[number] == pytest.approx(
            unos_c(time, event, risk, tau, observed=censoring).estimate
        )
        assert scores["harrell_c"]["one"].iloc[number] == pytest.approx(
            harrells_c(time, event, risk).estimate
        )


def seed_of(number):
    """The seed of the models of a fold of the only repeat."""
    return int(np.random.SeedSequence(1, spawn_key=(0, 0)).generate_state(3)[number])


def test_the_default_metric_needs_curves_and_less_is_better():
    found = study("auto", {"one": forest, "two": "Surv(time, event) ~ x1"})
    assert found.metric is METRICS["integrated_brier"]
    assert "integrated Brier score" in str(found.summary())
    assert (found.table["estimate"].diff().dropna() > 0).all()


def test_an_own_function_gets_times_events_and_risks():
    def late(observed, risk):
        assert list(observed.columns) == ["time", "event"]
        assert observed["event"].dtype == bool
        return -float(np.corrcoef(observed["time"], risk)[0, 1])

    assert np.isfinite(study(late, {"one": forest, "two": odrf.odt}).scores.to_numpy()).all()


def test_estimators_take_a_structured_array():
    models = {"one": ODRFSurvival(n_trees=10), "two": forest}
    for metric in ("integrated_brier", "uno_c"):
        scores = study(metric, models).scores
        assert scores["one"].tolist() == pytest.approx(scores["two"].tolist(), abs=0.1)
    with pytest.raises(InputError, match=r"has no predict_survival_function.*uno_c"):
        study("auto", {"one": RandomForestRegressor(), "two": forest})
    with pytest.raises(InputError, match="must take these as a structured array"):
        study("uno_c", {"one": RandomForestRegressor(), "two": forest})


def test_rows_that_enter_late():
    data = DATA.assign(start=TIME / 3)
    late = partial(compare, "Surv(start, time, event) ~ .", data, cv=3, seed=1)
    models = {"one": forest, "two": ODRFSurvival(n_trees=10)}
    assert (late(models, metric="harrell_c").scores > 0.5).to_numpy().all()
    assert (late(models, metric="uno_c").scores > 0.5).to_numpy().all()
    # not much worse than a constant that knows nothing
    assert (late(models).scores < 0.3).to_numpy().all()
    tuning = tune(
        "Surv(start, time, event) ~ .", data, {"min_leaf": [2, 5]}, n_trees=10, seed=1,
        metric="uno_c",
    )  # fmt: skip
    assert (tuning.table["score"] > 0.5).all()


def test_splitters_see_events():
    found = compare(FORMULA, DATA, {"one": forest, "two": odrf.odt}, cv=StratifiedKFold(3), seed=1)
    assert found.scores.shape == (3, 2)


@pytest.mark.parametrize("metric", ["integrated_brier", "uno_c", "harrell_c"])
def test_candidates_are_evaluated_out_of_bag_as_by_score(metric):
    how = {"n_trees": 20, "seed": 1}
    tuning = tune(FORMULA, DATA, {"min_leaf": [2, 30]}, metric=metric, **how)
    fits = {leaf: odrf.odrf(FORMULA, DATA, min_leaf=leaf, **how) for leaf in (2, 30)}
    column = "error" if metric == "integrated_brier" else "score"
    for _, line in tuning.table.iterrows():
        expected = fits[int(line["min_leaf"])].score().loc[metric]
        assert line[column] == expected["estimate"]
        assert line["std_error"] == expected["std_error"]
    best = tuning.table.iloc[0]
    assert (tuning.table[column] * METRICS[metric].sign).min() == best[column] * METRICS[
        metric
    ].sign
    assert tuning.best().predict().equals(fits[int(best["min_leaf"])].predict())


def test_candidates_are_evaluated_by_folds():
    grid = {"max_leaves": [2, 6]}
    tuning = tune(FORMULA, DATA, grid, model=odrf.odt, method="cv", cv=3, alpha=None, seed=1)
    assert tuning.table["error"].notna().all()
    runs = tune(FORMULA, DATA, {"max_depth": [1, 3]}, model=odrf.odbt, n_runs=3, n_trees=5, seed=1)
    assert len(runs.table) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": odrf.odt}, 'needs out-of-bag rows.*method="cv"'),
        ({"metric": lambda observed, risk: 1.0}, 'lambda.*is a function.*\'?"integrated_brier"'),
        ({"metric": "mse"}, "metric='mse' does not go with a survival time: use one of 'integ"),
    ],
)
def test_what_cannot_be_evaluated_out_of_bag(options, message):
    with pytest.raises(InputError, match=message):
        tune(FORMULA, DATA, {"min_leaf": [2, 5]}, seed=1, **options)


def test_learning_curves():
    models = {"one": forest, "two": Mean}
    curve = learning_curve(FORMULA, DATA, models, sizes=[20, 60, 110], repeats=2, seed=1)
    assert (curve.table["error"] > 0).all()
    with pytest.raises(InputError, match="smaller is better"):
        learning_curve(FORMULA, DATA, models, metric="uno_c", seed=1)


def test_responses_of_different_kinds_are_told_apart():
    models = {"one": odrf.odt, "two": forest}
    tables = {"times": (FORMULA, DATA), "numbers": ("x1 ~ x2", DATA)}
    with pytest.raises(InputError, match="a number in table 'numbers' and a survival time in"):
        compare(None, tables, models)
    with pytest.raises(InputError, match="has another response"):
        compare(FORMULA, DATA, {"one": "time ~ x1", "two": forest})
    with pytest.raises(InputError, match="'uno_c' does not go with a regression: use one of 'mse'"):
        compare("x1 ~ x2", DATA, models, metric="uno_c")
    with pytest.raises(InputError, match="'auc' does not go with a survival time"):
        compare(FORMULA, DATA, models, metric="auc")


def test_a_survival_of_other_times_is_refused():
    class Short(Mean):
        def predict(self, newdata, type="risk", times=None):
            return np.ones((len(newdata), 3))

    with pytest.raises(InputError, match=r"3 columns for .* times"):
        study("auto", {"one": Short, "two": forest})


def test_folds_without_events_to_train_on_are_refused():
    data = DATA.assign(event=np.arange(150) < 50)
    with pytest.raises(InputError, match=r"training rows of fold 1 have no events.*cv="):
        compare(FORMULA, data, {"one": forest, "two": odrf.odt}, cv=(np.arange(150) >= 50) * 1)


def test_what_has_no_bias_and_variance_says_so():
    with pytest.raises(InputError, match="no bias and variance: compare models by compare"):
        odrf.bias_variance(PROBLEM, forest, 50)
    with pytest.raises(InputError, match=r"is a survival time.*compare\(\), tune\(\)"):
        odrf.bias_variance((FORMULA, DATA), forest, 50)


@pytest.mark.parametrize("function", [odrf.graf, odrf.auto])
def test_functions_that_do_not_take_times_name_those_that_do(function):
    with pytest.raises(InputError, match=r"is a survival time.*use odt\(\), odrf\(\) or odbt"):
        function(FORMULA, DATA)


def test_rows_in_chunks_are_refused():
    with pytest.raises(InputError, match="a data frame in memory"):
        odrf.odrf(FORMULA, odrf.Chunks([DATA[:70], DATA[70:]]))


def test_the_table_has_one_last_time():
    observed = times_to_score_of(DATA)
    half = observed.keeping(np.arange(0, 150, 2))
    assert half.until == observed.until
    assert half.at is observed.at
    assert half.frame().equals(DATA[::2][["time", "event"]].reset_index(drop=True))


def times_to_score_of(data: pd.DataFrame):
    return times_to_score(odrf.odrf(FORMULA, data, n_trees=1, seed=1).fit.data.times)


# ------------------------------------------------------------------------------------------------
# What a comparison says follows from its scores.
# ------------------------------------------------------------------------------------------------


def made(metric="error", tables=("data",), cv=5, repeats=2):
    index = pd.MultiIndex.from_product(
        [tables, range(1, repeats + 1), range(1, cv + 1)], names=["table", "repeat", "fold"]
    )
    rng = np.random.default_rng(4)
    scores = rng.random((len(index), 3)) + np.array([0.3, 0.0, 0.6])
    frame = pd.DataFrame(scores, index, pd.Index(["mid", "low", "high"], name="model"))
    folds = FoldsUsed(cv, f"cv={cv}", f"{cv}-fold cross-validation", 1 / (cv - 1))
    return Comparison(frame, METRICS[metric], "y ~ .", dict.fromkeys(tables, 50), folds, 7)


@pytest.fixture
def alone():
    return made()


@pytest.fixture
def several():
    return made(tables=tuple("abcdefgh"))


def test_table(alone):
    assert alone.table.index.tolist() == ["low", "mid", "high"]
    low = alone.scores["low"]
    row = alone.table.loc["low"]
    assert row["estimate"] == pytest.approx(low.mean())
    assert row["std_error"] == pytest.approx(low.std() * sqrt(1 / 10 + 10 / 40))
    assert row["rank"] == pytest.approx(alone.scores.rank(axis=1).mean()["low"])
    assert row["wins"] == (alone.scores.idxmin(axis=1) == "low").sum()


def holm(p):
    """Return p-values after Holm's correction, written out."""
    order, adjusted, most = np.argsort(p, kind="stable"), np.empty(len(p)), 0.0
    for k, i in enumerate(order):
        most = max(most, min(1.0, (len(p) - k) * p[i]))
        adjusted[i] = most
    return adjusted


ONCE = [("mid", "low"), ("mid", "high"), ("low", "high")]


def test_pairs(alone):
    assert len(alone.pairs) == 6
    d = alone.scores["low"] - alone.scores["high"]
    row = alone.pairs.loc[("low", "high")]
    assert row["difference"] == pytest.approx(d.mean())
    assert row["p_value_wilcoxon"] == pytest.approx(wilcoxon(d).pvalue)
    error = sqrt((1 / 10 + 1 / 4) * d.var())
    assert row["std_error"] == pytest.approx(error)
    half = student.ppf(0.975, 9) * error
    assert (row["conf_low"], row["conf_high"]) == pytest.approx((d.mean() - half, d.mean() + half))
    assert row["statistic_t"] == pytest.approx(d.mean() / error)
    assert row["p_value_t"] == pytest.approx(2 * student.cdf(-abs(d.mean() / error), 9))
    for test in ("t", "wilcoxon"):
        adjusted = holm(alone.pairs.loc[ONCE, f"p_value_{test}"].to_numpy())
        np.testing.assert_allclose(alone.pairs.loc[ONCE, f"p_adjusted_{test}"], adjusted)
        assert adjusted.max() < 3 * alone.pairs[f"p_value_{test}"].max()  # less than Bonferroni


def test_a_pair_in_the_other_order_has_the_same_test_with_other_signs(alone):
    for model, than in ONCE:
        one, back = alone.pairs.loc[(model, than)], alone.pairs.loc[(than, model)]
        for name in ("difference", "statistic_t"):
            assert back[name] == -one[name]
        assert (back["conf_low"], back["conf_high"]) == (-one["conf_high"], -one["conf_low"])
        same = [name for name in alone.pairs if name.startswith("p_")] + ["std_error"]
        assert back[same].equals(one[same])


def test_the_recommended_test_is_first_and_the_other_not_shown(alone, several):
    assert alone.pairs.columns.tolist()[-5:] == [
        "statistic_t", "p_value_t", "p_adjusted_t", "p_value_wilcoxon", "p_adjusted_wilcoxon",
    ]  # fmt: skip
    assert alone.summary().tables[2].columns.tolist() == alone.pairs.columns.tolist()[:-2]
    assert "too small" not in str(alone.summary()) and "ilcoxon" not in str(alone.summary())
    assert "p_value_wilcoxon" in several.summary().tables[2]


def compared(losses):
    """Return the comparison of losses (J, m) of ten folds of 100 rows."""
    index = pd.MultiIndex.from_product(
        [["data"], [1], range(1, len(losses) + 1)], names=["table", "repeat", "fold"]
    )
    frame = pd.DataFrame(losses, index, pd.Index(list("abc"), name="model"))
    folds = FoldsUsed(10, "cv=10", "10-fold cross-validation", 0.0)
    return Comparison(frame, METRICS["mse"], "y ~ .", {"data": 100}, folds, 7).pairs


def test_tests_and_intervals_of_equal_models_hold_their_level():
    """Of independent differences, as the ratio of 0 says; three equal models, 400 times."""
    rng, times = np.random.default_rng(3), 400
    rejected, any_rejected, covered = 0, 0, 0
    for _ in range(times):
        pairs = compared(rng.normal(size=(10, 3)) + rng.normal(size=(10, 1))).loc[
            [("a", "b"), ("a", "c"), ("b", "c")]
        ]
        rejected += pairs["p_value_t"].iloc[0] <= 0.05
        any_rejected += (pairs["p_adjusted_t"] <= 0.05).any()
        covered += (pairs["conf_low"].iloc[0] <= 0) & (pairs["conf_high"].iloc[0] >= 0)
    error = sqrt(0.05 * 0.95 / times)
    assert abs(rejected / times - 0.05) < 3 * error
    assert covered == times - rejected
    assert 0.015 < any_rejected / times < 0.05 + 3 * error


def test_where_more_is_better_signs_turn_and_nothing_else():
    less, more = made("error"), made("accuracy")
    assert more.table.index.tolist() == less.table.index.tolist()[::-1]
    np.testing.assert_allclose(more.table["estimate"], less.table["estimate"][::-1])
    one, other = less.pairs.loc[("low", "high")], more.pairs.loc[("high", "low")]
    assert one["difference"] == pytest.approx(-other["difference"])
    assert one["p_value_wilcoxon"] == pytest.approx(other["p_value_wilcoxon"])
    assert one["statistic_t"] == pytest.approx(-other["statistic_t"])
    assert one["p_value_t"] == pytest.approx(other["p_value_t"])


def test_several_tables_are_compared_by_their_means(several):
    means = several.scores.groupby("table").mean()
    pd.testing.assert_frame_equal(several.means, means)
    row = several.table.loc["low"]
    assert row["estimate"] == pytest.approx(means["low"].mean())
    assert row["std_error"] == pytest.approx(means["low"].sem())
    assert row["rank"] == pytest.approx(means.rank(axis=1).mean()["low"])
    assert several.table["rank"].is_monotonic_increasing
    columns = ["difference", "std_error", "conf_low", "conf_high"]
    columns += ["p_value_wilcoxon", "p_adjusted_wilcoxon"]
    assert several.pairs.columns.tolist() == columns
    d = means["low"] - means["high"]
    row, p = several.pairs.loc[("low", "high")], wilcoxon(d).pvalue
    assert row["p_value_wilcoxon"] == pytest.approx(p)
    low, high = student.interval(0.95, 7, d.mean(), d.sem())
    assert (row["conf_low"], row["conf_high"]) == pytest.approx((low, high))
    assert several.critical_difference == critical_difference(3, 8)


def test_one_table_has_no_critical_difference(alone):
    assert alone.critical_difference is None


def test_equal_models():
    found = made()
    found.scores["mid"] = found.scores["low"]
    row = found.pairs.loc[("mid", "low")]
    assert row[["difference", "statistic_t", "conf_low", "conf_high"]].tolist() == [0, 0, 0, 0]
    assert row[["p_value_wilcoxon", "p_value_t"]].tolist() == [1, 1]
    assert str(row["difference"]) == "0.0"


def test_models_that_differ_by_the_same_in_all_folds_have_no_t_test(alone):
    scores = alone.scores.assign(low=alone.scores["mid"] + 0.25)
    found = Comparison(scores, alone.metric, "y ~ .", {"data": 50}, alone.folds, 7)
    assert found.pairs["p_value_t"].isna().sum() == 2
    said = str(found.summary())
    assert "there is no t-test" in said and not any(word in said for word in ("inf", "nan"))
    assert "there is no t-test" not in str(alone.summary())


def test_summary(alone, several):
    text = " ".join(str(alone.summary()).split())
    for words in ("error rate", "5 × 2 repeats", "low - high", "Nadeau and Bengio", "two-sided",
                  "Holm's correction for 3 tests"):  # fmt: skip
        assert words in text
    assert "repeats=2, metric='error', seed=7" in text
    models, pairs = alone.summary().tables[1:]
    assert len(pairs) == 3 and models["estimate"].is_monotonic_increasing
    assert {"Tables", "Critical difference"} <= set(several.summary().tables[0].index)
    assert several.summary().tables[-1].equals(several.means)
    assert several.summary().as_latex() and several.summary().as_html()


def test_repr(alone, several):
    assert repr(alone).startswith("Comparison of models\n  Models  3\n")
    assert "Tables               8\n" in repr(several)


def test_plots(alone, several):
    ax = alone.plot()
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots.get_xdata(), alone.table["estimate"])
    assert dots.get_ydata().tolist() == [2, 1, 0]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["low", "mid", "high"]
    (bars,) = [part for part in ax.collections if hasattr(part, "get_segments")]
    lengths = [segment[1, 0] - segment[0, 0] for segment in bars.get_segments()]
    np.testing.assert_allclose(lengths, 2 * alone.table["std_error"])
    given = plt.subplots()[1]
    assert several.plot(ax=given) is given
    assert any("critical difference" in text.get_text() for text in given.texts)
    plt.close("all")


def test_it_can_be_kept(alone):
    again = pickle.loads(pickle.dumps(alone))
    pd.testing.assert_frame_equal(again.pairs, alone.pairs)


# ------------------------------------------------------------------------------------------------
# Statistics of paired scores beside their formulas.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def losses():
    return np.random.default_rng(5).normal(size=(12, 4)).round(1)


def test_corrected_t_is_nadeau_and_bengio_s():
    d = [-0.3, 0.1, -0.4, -0.2, -0.1]
    n_test, n_train = 20, 80
    mean = sum(d) / 5
    variance = sum((x - mean) ** 2 for x in d) / 4
    t = mean / sqrt((1 / 5 + n_test / n_train) * variance)
    found = corrected_t(np.array(d), n_test / n_train)
    assert (found.statistic, found.p_value) == pytest.approx((t, 2 * student.cdf(-abs(t), 4)))
    assert corrected_t(-np.array(d), 0.25).p_value == pytest.approx(found.p_value)
    # the interval ends where the test of that difference would just reject
    for end in (found.conf_low, found.conf_high):
        assert corrected_t(np.array(d) - end, 0.25).p_value == pytest.approx(0.05)


def test_without_overlap_the_standard_error_is_the_plain_one(losses):
    plain = losses.std(axis=0, ddof=1) / sqrt(12)
    np.testing.assert_allclose(corrected_std_error(losses, 0.0), plain)
    np.testing.assert_allclose(corrected_std_error(losses, 1 / 9), plain * sqrt(1 + 12 / 9))


@pytest.mark.parametrize(
    ("difference", "expected"), [(0.0, (0, 1)), (-2.0, (nan, nan)), (2.0, (nan, nan))]
)
def test_equal_differences_do_not_tell_how_they_vary(difference, expected):
    assert corrected_t(np.full(7, difference), 0.1)[4:] == pytest.approx(expected, nan_ok=True)


def test_signed_rank_is_two_sided():
    d = np.array([-3.0, -1.0, 2.0, -4.0, -5.0, -6.0])
    assert signed_rank(d) == pytest.approx(wilcoxon(d, alternative="two-sided").pvalue)
    assert signed_rank(d) == signed_rank(-d)
    assert signed_rank(np.zeros(6)) == 1


def test_rounding_makes_no_differences():
    one, other = np.array([0.3, 0.1, 0.1 + 0.2]), np.array([0.2, 0.0, 0.3])
    assert len(np.unique(one - other)) == 3
    found = differences(one, other)
    assert found[0] == found[1] == pytest.approx(0.1)
    assert found[2] == 0
    np.testing.assert_array_equal(differences(np.zeros(2), np.zeros(2)), [0, 0])
    np.testing.assert_allclose(differences(1e9 * one, 1e9 * other), 1e9 * found)


def test_ranks_and_wins(losses):
    ranks = np.zeros((12, 4))
    won = np.zeros(4)
    for i, row in enumerate(losses):
        for j, value in enumerate(row):
            ranks[i, j] = (row < value).sum() + ((row == value).sum() + 1) / 2
            won[j] += value == min(row)
    assert len(np.unique(ranks % 1)) == 2  # there are ties
    np.testing.assert_allclose(mean_ranks(losses), ranks.mean(axis=0))
    np.testing.assert_array_equal(wins(losses), won)


def test_critical_difference_of_demsar():
    # Demšar (2006), section 3.2.2: four classifiers on 14 data sets, q = 2.569 and 2.291
    assert critical_difference(4, 14, 0.05) == pytest.approx(2.569 * sqrt(20 / 84), abs=1e-3)
    assert critical_difference(4, 14, 0.10) == pytest.approx(2.291 * sqrt(20 / 84), abs=1e-3)
