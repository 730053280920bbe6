"""The estimators are their functions: same options, same fits, same errors."""

from __future__ import annotations

import inspect
import io
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError

import odrf
import odrf.sklearn
from estimators.instances import DEFAULT
from odrf.engine.running import usual_threads
from odrf.errors import InputError
from odrf.sklearn import (
    GRAFRegressor,
    ODBTClassifier,
    ODBTRegressor,
    ODRFClassifier,
    ODRFRegressor,
    ODTClassifier,
    ODTRegressor,
)
from odrf.sklearn.inputs import threads_for

pytestmark = pytest.mark.usefixtures("quick_stacks")

FUNCTIONS = {
    "ODT": odrf.odt,
    "ODRF": odrf.odrf,
    "GRAF": odrf.graf,
    "ODBT": odrf.odbt,
    "Auto": odrf.auto,
}
IDS = [type(each).__name__ for each in DEFAULT]
PREDICTORS = ["a", "b", "f"]


def function_of(estimator):
    return FUNCTIONS[type(estimator).__name__.removesuffix("Classifier").removesuffix("Regressor")]


def response_of(estimator):
    return "c" if is_classifier(estimator) else "y"


def allows_nan(estimator):
    if hasattr(estimator, "_get_tags"):  # scikit-learn 1.5
        return estimator._get_tags()["allow_nan"]
    return estimator.__sklearn_tags__().input_tags.allow_nan


def of_one_kind(estimator):
    """Whether it has trees of one kind, not several models."""
    return function_of(estimator) is not odrf.auto


@pytest.fixture(params=DEFAULT, ids=IDS)
def fitted(request, table):
    estimator = clone(request.param).set_params(random_state=1)
    return estimator.fit(table[PREDICTORS], table[response_of(estimator)])


@pytest.mark.parametrize("estimator", DEFAULT, ids=IDS)
def test_every_option_is_a_parameter_with_the_same_default_and_is_described(estimator):
    options = inspect.signature(function_of(estimator)).parameters
    parameters = inspect.signature(type(estimator)).parameters
    elsewhere = {"formula", "data", "weights", "kind"}
    if not is_classifier(estimator):
        elsewhere.add("class_weights")
    expected = {"random_state" if name == "seed" else name for name in options.keys() - elsewhere}
    assert parameters.keys() - {"warm_start"} == expected
    for name, parameter in parameters.items():
        if name in options:
            assert parameter.default is options[name].default
        assert parameter.kind is parameter.KEYWORD_ONLY
    section = inspect.getdoc(type(estimator)).split("Parameters\n-")[1].split("Attributes\n-")[0]
    heads = [line.split(" : ")[0] for line in section.splitlines()[1:] if line[:1].isidentifier()]
    assert {name for head in heads for name in head.split(", ")} == set(parameters)


def test_the_result_is_that_of_the_function(fitted, table):
    y, X = response_of(fitted), table[PREDICTORS]
    options = {"n_trees": fitted.n_trees} if hasattr(fitted, "n_trees") else {}
    fit = function_of(fitted)(f"{y} ~ a + b + f", table, seed=1, **options)
    assert type(fitted.results_) is type(fit)
    assert (fitted.predict(X) == np.asarray(fit.predict(table))).all()
    assert fitted.results_.formula == f"{y} ~ ."
    assert fitted.results_.fit.data.index.equals(table.index)
    if is_classifier(fitted):
        assert (fitted.predict_proba(X) == fit.predict(table, "prob").to_numpy()).all()
        logs = fitted.predict_log_proba(X)
        np.testing.assert_allclose(np.exp(logs), fitted.predict_proba(X))
    kind = "impurity" if of_one_kind(fitted) else "held_out"
    shares = fit.importance(kind)["share"].reindex(PREDICTORS).clip(lower=0)
    np.testing.assert_allclose(fitted.feature_importances_, shares)


def test_there_and_back(fitted, table):
    X = table[PREDICTORS]
    back = fitted.results_.to_sklearn()
    assert type(back) is type(fitted)
    assert back.results_ is fitted.results_
    assert (back.predict(X) == fitted.predict(X)).all()
    assert back.feature_names_in_.tolist() == PREDICTORS
    again = clone(back).fit(X, table[response_of(fitted)])
    assert (again.predict(X) == fitted.predict(X)).all()


def test_class_weights_of_a_fit_are_those_of_its_estimator(table):
    weights = {"low": 1.0, "mid": 2.0, "top": 4.0}
    fit = odrf.odt("c ~ a + b + f", table, class_weights=weights, alpha=None, seed=1)
    again = clone(fit.to_sklearn()).fit(table[PREDICTORS], table["c"])
    factors = again.get_params()["class_weights"]
    assert {label: factors[label] / factors["low"] for label in weights} == pytest.approx(weights)
    assert (again.predict(table[PREDICTORS]) == fit.predict(table)).all()


@pytest.mark.parametrize(
    "fitted",
    [each for each in DEFAULT if of_one_kind(each)],
    ids=lambda each: type(each).__name__,
    indirect=True,
)
def test_paths_lead_from_the_roots_to_the_leaves(fitted, table):
    X, forest = table[PREDICTORS], fitted.results_.forest
    leaves, path = fitted.apply(X), fitted.decision_path(X)
    if forest.n_trees > 1:
        path, first = path
        assert first.tolist() == forest.root.tolist()
    leaves = leaves.reshape(len(X), -1)
    assert path.shape == (len(X), forest.n_nodes)
    assert set(path.data) == {1}
    assert (path.toarray()[:, forest.root[:-1]] == 1).all()
    rows = np.arange(len(X))[:, np.newaxis]
    assert (path.toarray()[rows, leaves + forest.root[:-1]] == 1).all()
    depths = forest.depth()[leaves + forest.root[:-1]]
    assert np.asarray(path.sum(axis=1)).ravel().tolist() == (depths + 1).sum(axis=1).tolist()


def test_arrays_have_columns_without_names(table):
    X = table[["a", "b"]].to_numpy()
    tree = ODTRegressor(random_state=1).fit(X, table["y"].to_numpy())
    assert not hasattr(tree, "feature_names_in_")
    assert tree.results_.design.predictors == ("x0", "x1")
    named = ODTRegressor(random_state=1).fit(table[["a", "b"]], table["y"])
    assert (named.predict(table[["a", "b"]]) == tree.predict(X)).all()


def test_a_column_may_be_called_as_the_response(table):
    X = table[["a", "b"]].set_axis(["y", "y_"], axis=1)
    tree = ODTRegressor(random_state=1).fit(X, table["y"])
    assert tree.results_.formula == "y__ ~ ."


def test_labels_of_any_kind_come_back(table):
    X, codes = table[["a", "b"]], (table["a"] > 0).astype(int)
    for labels in ([False, True], [-1.0, 2.0], ["no", "yes"], [7, 3]):
        y = np.array(labels)[codes]
        tree = ODTClassifier(random_state=1).fit(X, y)
        assert tree.classes_.tolist() == sorted(labels)
        assert tree.predict(X).dtype == y.dtype
        assert (tree.predict(X) == y).mean() > 0.95


def test_ordered_classes_stay_ordered(table):
    y = pd.Series(pd.Categorical(table["c"], ["top", "mid", "low"], ordered=True), table.index)
    tree = ODTClassifier(random_state=1).fit(table[["a", "b"]], y)
    assert tree.classes_.tolist() == ["low", "mid", "top"]
    assert tree.results_.classes.tolist() == ["top", "mid", "low"]
    assert tree.results_.control.criterion == "ordinal"
    shares = tree.results_.predict(table, "prob")[["low", "mid", "top"]]
    assert (tree.predict_proba(table[["a", "b"]]) == shares.to_numpy()).all()


def test_a_class_whose_rows_have_no_weight_is_never_predicted(table):
    X, weight = table[["a", "b"]], (table["c"] != "mid").astype(float)
    tree = ODTClassifier(random_state=1).fit(X, table["c"], weight)
    assert tree.classes_.tolist() == ["low", "mid", "top"]
    assert (tree.predict_proba(X)[:, 1] == 0).all()


def test_rows_that_cannot_be_predicted_are_refused(table):
    X = table[["a", "b"]]
    empty = X.assign(a=X["a"].mask(np.arange(len(X)) == 5))
    tree = ODTRegressor(missing="drop", random_state=1).fit(empty, table["y"])
    with pytest.raises(InputError, match="rows with missing values"):
        tree.predict(empty)
    assert allows_nan(ODTRegressor())
    assert not allows_nan(tree)


def test_a_regression_forest_has_quantiles(table):
    X = table[PREDICTORS]
    forest = ODRFRegressor(n_trees=12, random_state=1).fit(X, table["y"])
    found = forest.predict_quantiles(X, [0.1, 0.5, 0.9])
    assert (np.diff(found, axis=1) >= 0).all()
    expected = forest.results_.predict(table, quantiles=[0.1, 0.5, 0.9])
    assert (found == expected.to_numpy()).all()
    assert not hasattr(GRAFRegressor(), "predict_quantiles")


@pytest.mark.parametrize(
    "estimator",
    [ODRFRegressor(random_state=1), ODRFClassifier(random_state=1), GRAFRegressor(random_state=1),
     ODBTRegressor(random_state=1)],
    ids=lambda each: type(each).__name__,
)  # fmt: skip
def test_warm_start_adds_trees(estimator, table):
    X, y = table[PREDICTORS], table[response_of(estimator)]
    at_once = clone(estimator).set_params(n_trees=12).fit(X, y)
    warm = clone(estimator).set_params(n_trees=5, warm_start=True).fit(X, y)
    warm.set_params(n_trees=12, n_jobs=1).fit(X, y)
    assert (warm.predict(X) == at_once.predict(X)).all()
    before = warm.results_
    assert warm.fit(X, y).results_ is before
    with pytest.raises(InputError, match="cannot be below the 12 trees"):
        warm.set_params(n_trees=5).fit(X, y)
    with pytest.raises(InputError, match="other rows or with other options"):
        warm.set_params(n_trees=20).fit(X[1:], y[1:])
    with pytest.raises(InputError, match="other rows or with other options"):
        warm.set_params(random_state=2).fit(X, y)
    warm.set_params(warm_start=False).fit(X[1:], y[1:])
    assert warm.results_.nobs == 119


def test_two_columns_of_one_name_are_refused(table):
    with pytest.raises(InputError, match="X has more than one column named 'a': rename"):
        ODTRegressor().fit(table[["a", "b", "a"]], table["y"])


def test_options_by_position_are_refused_by_the_name_of_the_class():
    with pytest.raises(TypeError, match=r"^ODTRegressor\.__init__\(\) takes 1 positional"):
        ODTRegressor(5)


@pytest.mark.parametrize("estimator", [ODTRegressor(), ODRFClassifier(n_trees=12)], ids=str)
def test_partial_fit_is_an_update(estimator, table):
    X, y = table[PREDICTORS], table[response_of(estimator)]
    estimator.set_params(random_state=1)
    parts = clone(estimator).partial_fit(X[:80], y[:80]).partial_fit(X[80:], y[80:])
    expected = clone(estimator).fit(X[:80], y[:80]).results_.update(table[80:])
    assert parts.results_.nobs == 120
    assert (parts.predict(X) == np.asarray(expected.predict(table))).all()
    weighted = clone(estimator).partial_fit(X[:80], y[:80], sample_weight=np.full(80, 2.0))
    weighted.partial_fit(X[80:], y[80:])
    assert weighted.results_.fit.data.weights.tolist() == [2.0] * 80 + [1.0] * 40


@pytest.mark.parametrize("bad", [-1.0, np.nan, 0.0])
def test_errors_name_sample_weight(bad, table):
    with pytest.raises(InputError, match=r"^sample_weight "):
        ODTRegressor().fit(table[["a", "b"]], table["y"], sample_weight=np.full(120, bad))


def test_a_wide_frame_in_many_blocks_is_no_reason_for_a_warning(recwarn):
    text = pd.DataFrame(np.random.default_rng(1).normal(size=(30, 120))).to_csv(index=False)
    X = pd.read_csv(io.StringIO(text)).add_prefix("v")
    X.attrs["shape"] = (10, 12)
    forest = ODRFRegressor(n_trees=2, projection="patch", random_state=1).fit(X, X["v1"] ** 2)
    assert forest.results_.nobs == 30
    assert not [str(warning.message) for warning in recwarn]


def test_partial_fit_begins_with_all_classes(table):
    X, y = table[["a", "b"]], table["c"]
    some = (y != "mid").to_numpy()
    with pytest.raises(InputError, match="classes= names 'mid'"):
        ODTClassifier().partial_fit(X[some], y[some], classes=["low", "mid", "top"])
    tree = ODTClassifier(random_state=1).partial_fit(X[some], y[some])
    with pytest.raises(InputError, match="classes that no training row has"):
        tree.partial_fit(X, y)


def test_an_offset_is_a_column(table):
    X = table[["a", "b"]].assign(known=np.log(2.0))
    counts = np.random.default_rng(1).poisson(2 * np.exp(table["a"] / 2))
    fit = ODBTRegressor(loss="poisson", n_trees=20, offset="known", random_state=1).fit(X, counts)
    assert "known" not in fit.results_.design.predictors
    double = fit.predict(X.assign(known=np.log(4.0)))
    np.testing.assert_allclose(double, 2 * fit.predict(X))
    assert fit.feature_importances_[2] == 0
    assert fit.results_.to_sklearn().feature_names_in_.tolist() == ["a", "b", "known"]
    with pytest.raises(InputError, match="name of a column of X"):
        ODBTRegressor(offset=np.zeros(120)).fit(X, counts)


@pytest.mark.parametrize("argument", ["groups", "order", "strata"])
def test_columns_that_say_which_rows_belong_together_are_no_predictors(table, argument):
    X = table[["a", "b"]].assign(unit=np.arange(120) // 4)
    fit = ODTRegressor(**{argument: "unit"}, max_leaves=3, random_state=1).fit(X, table["y"])
    assert fit.results_.design.predictors == ("a", "b")
    assert getattr(fit.results_.fit.data.structure, argument).tolist() == X["unit"].tolist()
    again = fit.results_.to_sklearn()
    assert getattr(again, argument) == "unit"
    assert again.feature_names_in_.tolist() == ["a", "b", "unit"]
    with pytest.raises(InputError, match=f"{argument}= must be the name of a column of X"):
        ODTRegressor(**{argument: X["unit"]}).fit(X, table["y"])


def test_a_random_state_gives_the_seed(table):
    X, y = table[["a", "b"]], table["y"]
    one, other = (
        ODTRegressor(random_state=np.random.RandomState(4)).fit(X, y).results_.seed
        for _ in range(2)
    )
    assert one == other
    assert ODTRegressor(random_state=7).fit(X, y).results_.seed == 7


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: ODRFClassifier(ntrees=3), "no argument 'ntrees'; did you mean 'n_trees'"),
        (lambda X, y: ODTRegressor(min_leaf=0).fit(X, y), "min_leaf=0"),
        (lambda X, y: ODTRegressor(n_jobs=0).fit(X, y), "n_jobs=0"),
        (lambda X, y: ODTClassifier().fit(X, ["one"] * 120), "y has one class in all rows"),
        (lambda X, y: ODTRegressor().fit(X, None), "requires y to be passed"),
        (lambda X, y: ODTRegressor().fit(X, y, [1.0, 2.0]), "sample_weight has length 2"),
        (lambda X, y: ODTRegressor().fit(X, y, -np.ones(120)), "negative"),
    ],
)
def test_errors_name_the_way_out(call, message, table):
    with pytest.raises(InputError, match=message):
        call(table[["a", "b"]], table["y"])


@pytest.mark.parametrize("method", ["predict", "apply", "decision_path"])
def test_an_estimator_that_is_not_fitted_says_so(method, table):
    with pytest.raises(NotFittedError):
        getattr(ODBTClassifier(), method)(table[PREDICTORS])
    assert not hasattr(ODBTClassifier(), "feature_importances_")


def test_workers_share_the_cores():
    assert [threads_for(n_jobs) for n_jobs in (None, -1, 3)] == [None, -1, 3]
    in_threads = Parallel(n_jobs=2, backend="threading")(
        delayed(threads_for)(n_jobs) for n_jobs in (None, -1, 3)
    )
    assert in_threads == [1, 1, 3]
    in_processes = Parallel(n_jobs=2)(delayed(threads_for)(None) for _ in range(2))
    assert in_processes == [max(usual_threads() // 2, 1)] * 2
    assert Parallel(n_jobs=1)([delayed(threads_for)(None)]) == [None]


def test_a_fitted_estimator_predicts_with_the_threads_that_it_may_use(table):
    X = table[PREDICTORS]
    forest = ODRFRegressor(n_trees=12, n_jobs=2, random_state=1).fit(X, table["y"])
    before, results = forest.predict(X), forest.results_
    forest.set_params(n_jobs=1)
    assert (forest.predict(X) == before).all()
    assert forest.results_ is results


def test_the_package_does_not_need_scikit_learn():
    code = (
        "import sys; sys.modules['sklearn'] = None; import odrf; "
        "tree = odrf.odt('cultivar ~ .', odrf.load_data('wine'), max_leaves=2, seed=1)\n"
        "try: tree.to_sklearn()\nexcept odrf.InputError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "odrf[sklearn]"' in done.stdout


@pytest.mark.parametrize(
    ("kind", "name", "here"),
    [
        (ODRFClassifier, "n_estimators", "n_trees"),
        (ODTRegressor, "min_samples_leaf", "min_leaf"),
        (ODBTRegressor, "reg_lambda", "l2"),
        (GRAFRegressor, "min_samples_split", "min_split"),
        (ODRFRegressor, "seed", "random_state"),
        (ODBTClassifier, "learn_rate", "learning_rate"),
    ],
)
def test_a_name_from_elsewhere_is_answered_by_the_one_here(kind, name, here):
    message = rf"^{kind.__name__}\(\) has no argument '{name}'; did you mean '{here}'\?$"
    with pytest.raises(TypeError, match=message):
        kind(**{name: 1})


def test_arrays_may_have_another_byte_order():
    rng = np.random.default_rng(0)
    foreign = np.dtype(np.float64).newbyteorder("S")
    X, y = rng.integers(0, 99, (60, 3)).astype(foreign), rng.integers(0, 3, 60).astype(foreign)
    for make in (odrf.sklearn.ODRFRegressor, odrf.sklearn.ODRFClassifier):
        fits = [
            make(n_trees=3, random_state=1).fit(rows, values, sample_weight=values + 1)
            for rows, values in ((X, y), (X.astype(float), y.astype(float)))
        ]
        np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X.astype(float)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, y: ODTRegressor(random_state="a").fit(X, y), "^random_state='a': use a whole"),
        (lambda X, y: ODTRegressor(groups="zz").fit(X, y), "^groups='zz' is not a column of X$"),
        (lambda X, y: ODTRegressor().fit(X[:1], y[:1]), "^X has 1 row: at least 2"),
        (
            lambda X, y: ODTRegressor().fit(X, y, ["a"] * 120),
            "^sample_weight must be numbers, one for each row$",
        ),
        (
            lambda X, y: ODTRegressor().fit(X, y, groups=[1, 2]),
            "^groups has length 2 and X 120 rows",
        ),
        (
            lambda X, y: ODTRegressor().partial_fit(X, y).partial_fit(X, y, -np.ones(120)),
            "^sample_weight has 120 negative values, .*: sample_weight must be at least 0$",
        ),
        (lambda X, y: ODTRegressor().fit(X, y).predict(X.assign(a="x")), r"holds text in X \("),
        (lambda X, y: ODTRegressor(weights="a"), r"'weights': fit\(\) takes them, as sample_wei"),
        (lambda X, y: ODTRegressor(formula="a"), r"'formula': fit\(X, y\) takes the rows"),
        (lambda X, y: ODTRegressor(nothing=1), "'nothing'; it has projection, subset_size, "),
    ],
)
def test_messages_name_what_the_user_of_an_estimator_knows(call, message, table):
    with pytest.raises(InputError, match=message):
        call(table[["a", "b"]], table["y"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("oob_error", "ODRFRegressor has no 'oob_error': use results_.oob_error"),
        ("oob_score_", "ODRFRegressor has no 'oob_score_'; did you mean 'results_.oob_error'?"),
        ("cptable", "ODRFRegressor has no 'cptable': use results_.pruning_path().table"),
        ("predict_proba", "ODRFRegressor has no 'predict_proba': use results_.predict(new, type="),
        ("nothing", "'ODRFRegressor' object has no attribute 'nothing'"),
        ("__nothing__", "'ODRFRegressor' object has no attribute '__nothing__'"),
    ],
)
def test_what_an_estimator_lacks_is_found_in_its_results(name, said, table):
    forest = ODRFRegressor(n_trees=3, random_state=1).fit(table[PREDICTORS], table["y"])
    with pytest.raises(AttributeError, match=f"^{re.escape(said)}"):
        getattr(forest, name)
    assert not hasattr(forest, name)
    with pytest.raises(AttributeError, match=f"object has no attribute '{name}'$"):
        getattr(ODRFRegressor(), name)


def test_groups_come_with_the_rows(table):
    X, groups = table[PREDICTORS], np.arange(120) // 4
    weights = (np.arange(120) % 5 > 0).astype(float)
    fit = ODRFRegressor(n_trees=5, random_state=1).fit(X, table["y"], weights, groups=groups)
    used = weights > 0
    expected = odrf.odrf("y ~ a + b + f", table[used], groups=groups[used], n_trees=5, seed=1)
    assert (fit.predict(X) == expected.predict(table)).all()
    assert fit.results_.fit.data.structure.groups.tolist() == groups[used].tolist()
    with pytest.raises(InputError, match=r"'a' is set as an option, and fit\(\) has groups"):
        ODRFRegressor(groups="a").fit(X, table["y"], groups=groups)
    warm = ODRFRegressor(n_trees=3, warm_start=True, random_state=1).fit(X, table["y"])
    with pytest.raises(InputError, match="other rows or with other options"):
        warm.set_params(n_trees=5).fit(X, table["y"], groups=groups)


@pytest.mark.parametrize("labels", [[False, True], [1, 3], [-1.0, 2.0], ["no", "yes"]], ids=str)
def test_labels_of_objects_are_those_of_their_type(table, labels):
    X, codes = table[["a", "b"]], (table["a"] > 0).astype(int).to_numpy()
    plain = np.array(labels)[codes]
    objects = plain.astype(object)
    expected = ODTClassifier(random_state=1).fit(X, plain)
    for y in (objects, pd.Series(objects, table.index, dtype=object)):
        tree = ODTClassifier(random_state=1).fit(X, y)
        assert tree.classes_.tolist() == sorted(labels)
        assert (tree.predict_proba(X) == expected.predict_proba(X)).all()
        assert tree.score(X, y) == expected.score(X, plain) > 0.95


def test_labels_of_several_types_are_refused(table):
    y = table["c"].astype(object).where(table["a"] > 0, 0)
    with pytest.raises(InputError, match=r"y has labels of the types int, str: .*y\.astype"):
        ODTClassifier().fit(table[["a", "b"]], y)


# ------------------------------------------------------------------------------------------------
# Boosted estimators: validation rows, scores, predictions after each round.
# ------------------------------------------------------------------------------------------------


def divided(table):
    validating = np.arange(120) % 4 == 0
    return table[~validating], table[validating]


@pytest.mark.parametrize("kind", [ODBTRegressor, ODBTClassifier])
@pytest.mark.parametrize("listed", [False, True])
def test_validation_rows_stop_the_rounds(kind, listed, table):
    grown, validating = divided(table)
    name = "c" if kind is ODBTClassifier else "y"
    pair = validating[PREDICTORS], validating[name]
    fit = kind(n_trees=200, patience=5, random_state=1)
    fit.fit(grown[PREDICTORS], grown[name], eval_set=[pair] if listed else pair)
    results, path = fit.results_, fit.results_.loss_path
    assert results.nobs == 120
    assert results.held_out.tolist() == [False] * 90 + [True] * 30
    assert results.n_rounds == path["validation"].iloc[1:].idxmin() < 200
    assert len(path) == min(results.n_rounds + 6, 201)
    joined = pd.concat([grown, validating])
    held = np.arange(120) >= 90
    expected = odrf.odbt(
        f"{name} ~ a + b + f", joined, n_trees=200, patience=5, validation=held, seed=1
    )
    assert (fit.predict(table[PREDICTORS]) == np.asarray(expected.predict(table))).all()


def test_weights_are_those_of_the_training_rows_and_validation_rows_have_weight_1(table):
    grown, validating = divided(table)
    weights = 1.0 + np.arange(90) % 2
    fit = ODBTRegressor(n_trees=5, random_state=1)
    fit.fit(grown[["a"]], grown["y"], weights, eval_set=(validating[["a"]], validating["y"]))
    assert fit.results_.fit.data.weights.tolist() == [*weights, *np.ones(30)]


def test_validation_rows_of_arrays_and_of_other_categories(table):
    grown, validating = divided(table)
    X, y = grown[["a", "b"]].to_numpy(), grown["y"].to_numpy()
    pair = validating[["a", "b"]].to_numpy(), validating["y"].to_numpy()
    assert ODBTRegressor(n_trees=5, random_state=1).fit(X, y, eval_set=pair).results_.nobs == 120
    factor = grown.assign(f=pd.Categorical(grown["f"]))
    other = validating.assign(f=pd.Categorical(["z"] * 30))
    fit = ODBTRegressor(n_trees=5, random_state=1)
    fit.fit(factor[["a", "f"]], y, eval_set=(other[["a", "f"]], other["y"]))
    assert fit.results_.fit.data.n_rows == 120


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"eval_set": 3}, "eval_set must be one pair"),
        ({"eval_set": []}, "eval_set must be one pair"),
        ({"eval_set": [(1, 2), (3, 4)]}, "eval_set must be one pair"),
        ({"eval_set": "pair", "groups": np.arange(120)}, "groups of fit.. are not those of the ro"),
        ({"eval_set": "pair", "validation": 0.2}, "validation=0.2 is set as an option"),
        ({"eval_set": "pair", "validation": None}, "validation=None is set as an option"),
        ({"eval_set": "classes"}, "eval_set has class 'new', which no row of y has"),
    ],
)
def test_validation_rows_that_cannot_be_taken(how, message, table):
    X = table[["a", "b"]]
    pairs = {"pair": (X, table["c"]), "classes": (X, ["new"] * 120)}
    given = how["eval_set"]
    how = {**how, "eval_set": pairs[given] if isinstance(given, str) else given}
    options = {"validation": how.pop("validation")} if "validation" in how else {}
    with pytest.raises(InputError, match=message):
        ODBTClassifier(n_trees=3, **options).fit(X, table["c"], **how)


@pytest.mark.parametrize("kind", [ODBTRegressor, ODBTClassifier])
def test_predictions_after_each_round_end_in_the_prediction(kind, table):
    X, y = table[PREDICTORS], table["c" if kind is ODBTClassifier else "y"]
    fit = kind(n_trees=6, random_state=1).fit(X, y)
    stages = list(fit.staged_predict(X))
    assert len(stages) == 6
    assert (stages[-1] == fit.predict(X)).all()
    fewer = clone(fit).set_params(n_trees=2).fit(X, y)
    assert (stages[1] == fewer.predict(X)).all()
    if kind is ODBTClassifier:
        shares = list(fit.staged_predict_proba(X))
        np.testing.assert_allclose(shares[-1], fit.predict_proba(X))
        np.testing.assert_allclose(shares[1], fewer.predict_proba(X))
    else:
        assert not hasattr(fit, "staged_predict_proba")
    assert not hasattr(ODRFRegressor(), "staged_predict")


@pytest.mark.parametrize("order", [["no", "yes"], ["yes", "no"]])
def test_the_score_of_two_classes_is_the_log_odds_of_the_second(table, order):
    text = np.where(table["a"] > 0, "yes", "no")
    y = pd.Series(pd.Categorical(text, order, ordered=True), table.index)
    X = table[PREDICTORS]
    fit = ODBTClassifier(n_trees=6, random_state=1).fit(X, y)
    shares, scores = fit.predict_proba(X), fit.decision_function(X)
    np.testing.assert_allclose(scores, np.log(shares[:, 1] / shares[:, 0]))
    assert (fit.predict(X) == fit.classes_[(scores > 0).astype(int)]).all()


def test_the_scores_of_several_classes_are_a_column_for_each(table):
    X = table[PREDICTORS]
    fit = ODBTClassifier(n_trees=6, random_state=1).fit(X, table["c"])
    scores = fit.decision_function(X)
    odds = np.exp(scores - scores[:, :1])
    np.testing.assert_allclose(odds / odds.sum(axis=1, keepdims=True), fit.predict_proba(X))
    ordered = pd.Series(pd.Categorical(table["c"], ["low", "mid", "top"], ordered=True))
    fit.fit(X, ordered.set_axis(table.index))
    assert (fit.decision_function(X) == fit.predict_log_proba(X)).all()
    some = (table["c"] != "mid").astype(float)
    fit.fit(X, table["c"], some)
    assert (fit.decision_function(X)[:, 1] == -np.inf).all()


# ------------------------------------------------------------------------------------------------
# Files of skops, without code.
# ------------------------------------------------------------------------------------------------


def test_skops_keeps_a_fitted_estimator(fitted, table):
    skops = pytest.importorskip("skops.io")
    kept = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=kept)
    own = type(fitted)
    assert set(trusted) == {
        f"{own.__module__}.{own.__name__}", "odrf.sklearn.estimator.SavedResults",
    }  # fmt: skip
    again = skops.loads(kept, trusted=trusted)
    X = table[PREDICTORS]
    assert (again.predict(X) == fitted.predict(X)).all()
    assert again.get_params() == fitted.get_params()
    assert type(again.results_) is type(fitted.results_)


def test_the_state_for_files_is_bytes_of_a_saved_fit(fitted, table):
    """What skops does with an estimator, without skops."""
    state = fitted.__getstate__()
    made, arguments = state["results_"].__reduce__()
    assert isinstance(arguments[0], bytes)
    again = type(fitted).__new__(type(fitted))
    again.__setstate__({**state, "results_": made(*arguments)})
    X = table[PREDICTORS]
    assert (again.predict(X) == fitted.predict(X)).all()
    assert again.results_.call == fitted.results_.call


# ------------------------------------------------------------------------------------------------
# Trees whose leaves are lines.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def of_lines(table):
    estimator = ODTRegressor(leaves="linear", random_state=1)
    return clone(estimator).fit(table[PREDICTORS], table["y"])


def test_leaves_are_an_option_of_the_regressor(of_lines, table):
    fit = odrf.odt("y ~ a + b + f", table, leaves="linear", seed=1)
    assert of_lines.get_params()["leaves"] == "linear"
    assert type(of_lines.results_) is type(fit)
    assert (of_lines.predict(table[PREDICTORS]) == fit.predict(table)).all()
    back = fit.to_sklearn()
    assert type(back) is ODTRegressor and back.leaves == "linear"
    again = clone(back).fit(table[PREDICTORS], table["y"])
    assert (again.predict(table[PREDICTORS]) == fit.predict(table)).all()


def test_a_classifier_has_no_lines(table):
    with pytest.raises(InputError, match=r'^leaves="linear" needs a response of numbers'):
        ODTClassifier(leaves="linear").fit(table[PREDICTORS], table["c"])


def test_a_tree_of_lines_has_no_partial_fit(of_lines):
    assert hasattr(ODTRegressor(), "partial_fit") and not hasattr(of_lines, "partial_fit")


def test_files_keep_a_tree_of_lines(of_lines, table):
    skops = pytest.importorskip("skops.io")
    kept = skops.dumps(of_lines)
    again = skops.loads(kept, trusted=skops.get_untrusted_types(data=kept))
    assert (again.predict(table[PREDICTORS]) == of_lines.predict(table[PREDICTORS])).all()
