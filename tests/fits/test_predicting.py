"""Predictions of every kind, held to one another."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

import odrf
from exported import LINES, case_of_lines
from odrf import InputError
from odrf.design import Response
from odrf.engine.trees.forest import most_likely
from odrf.fits import missing as empty_cells
from odrf.fits.missing import filling_forest
from odrf.fits.predicting import class_labels


def test_default_is_the_training_rows(number_tree, number_forest, table):
    for fit in (number_tree, number_forest):
        pd.testing.assert_series_equal(fit.predict(training="in-bag"), fit.predict(table))
        pd.testing.assert_series_equal(fit.predict(), fit.fittedvalues)
        assert fit.predict().index.equals(table.index)
        assert fit.predict().name == "y"


def test_classes_are_the_most_probable(class_tree, class_forest, table):
    for fit in (class_tree, class_forest):
        prob = fit.predict(table, type="prob")
        assert list(prob.columns) == ["low", "mid", "top"]
        np.testing.assert_allclose(prob.sum(axis=1), 1.0)
        predicted = fit.predict(table, type="class")
        assert predicted.tolist() == prob.idxmax(axis=1).tolist()
        assert predicted.index.equals(table.index)
        pd.testing.assert_series_equal(fit.predict(), fit.predict(type="class"))


def test_leaves_lead_to_the_values_of_nodes(number_tree, class_tree):
    leaf = number_tree.predict(type="leaf")
    assert number_tree.nodes["leaf"][leaf].all()
    np.testing.assert_array_equal(number_tree.nodes["value"][leaf], number_tree.fittedvalues)
    leaf = class_tree.predict(type="leaf")
    assert list(class_tree.nodes["prediction"][leaf]) == list(class_tree.fittedvalues)
    counts = leaf.value_counts().sort_index()
    assert counts.to_list() == class_tree.nodes["count"][counts.index].to_list()


def test_a_forest_averages_its_trees(number_forest, table):
    trees = number_forest.predict(table, type="trees")
    assert trees.shape == (120, 12)
    np.testing.assert_allclose(trees.mean(axis=1), number_forest.predict(table))


@pytest.mark.parametrize("i", [0, 7, 11])
def test_a_forest_is_its_trees(number_forest, class_forest, table, i):
    for forest in (number_forest, class_forest):
        tree = forest.tree(i)
        for type in ("trees", "leaf"):
            column = forest.predict(table, type=type)[i]
            alone = tree.predict(table, type=type)
            alone = alone[0] if type == "trees" else alone
            assert list(column) == list(alone)
        assert list(tree.predict(table)) == list(forest.predict(table, type="trees")[i])


def test_row_order_and_index_are_kept(class_forest, table):
    some = table.loc[["row7", "row3", "row7"]]
    prediction = class_forest.predict(some)
    assert list(prediction.index) == ["row7", "row3", "row7"]
    assert list(prediction) == list(class_forest.predict(table).loc[["row7", "row3", "row7"]])


@pytest.mark.parametrize("type", ["response", "leaf", "trees"])
def test_rows_with_missing_values_stay_missing(table, type):
    fit = odrf.odrf("y ~ a + b + f", table, n_trees=3, missing="drop", seed=1)
    holed = table.copy()
    holed.loc[["row2", "row5"], "a"] = np.nan
    prediction = fit.predict(holed, type=type)
    missing = prediction.isna() if prediction.ndim == 1 else prediction.isna().all(axis=1)
    assert list(prediction.index[missing]) == ["row2", "row5"]
    rest = prediction.drop(["row2", "row5"])
    assert (rest == fit.predict(holed.drop(["row2", "row5"]), type=type)).to_numpy().all()


@pytest.mark.parametrize(
    "labels", [["low", "mid", "top"], [1, 2, 3], pd.CategoricalIndex(["b", "a", "c"])]
)
def test_classes_with_missing_values_keep_their_labels(table, labels):
    index = pd.Index(labels)
    codes = pd.Categorical(table["c"]).codes
    data = table.assign(c=pd.Series(index[codes], index=table.index))
    fit = odrf.odrf("c ~ a + b", data, kind="classification", n_trees=3, missing="drop", seed=1)
    assert set(fit.predict(data)) <= set(labels)
    data.loc["row4", "b"] = np.nan
    for type in ("class", "trees"):
        prediction = pd.DataFrame(fit.predict(data, type=type))
        assert prediction.loc["row4"].isna().all()
        assert set(prediction.drop("row4").to_numpy().ravel()) <= set(labels)
    assert fit.predict(data, type="prob").loc["row4"].isna().all()


def test_no_complete_row_at_all(class_forest, table):
    fit = odrf.odrf("c ~ a + b", table, n_trees=2, missing="drop", seed=1)
    holed = table.head(2).assign(a=np.nan)
    assert fit.predict(holed).isna().all()
    assert fit.predict(table.head(0)).empty


def test_ties_go_to_the_first_class():
    shares = np.array([[0.5, 0.5, 0.0], [0.2, 0.4, 0.4], [np.nan] * 3])
    codes = most_likely(shares)
    assert list(codes) == [0, 1, -1]
    labels = class_labels(codes, Response("c", "classification", pd.Index([10, 20, 30])))
    assert list(labels[:2]) == [10, 20]
    assert pd.isna(labels[2])


@pytest.mark.parametrize("type", ["class", "prob"])
def test_a_regression_has_no_classes(number_tree, type):
    with pytest.raises(InputError, match=f"type='{type}' needs classes.*kind=\"classification\""):
        number_tree.predict(type=type)


def test_unknown_type(number_tree):
    with pytest.raises(InputError, match=r"'leaf', 'trees'; did you mean 'prob'\?"):
        number_tree.predict(type="probs")


# ------------------------------------------------------------------------------------------------
# One row at a time, against `predict` of a frame.
# ------------------------------------------------------------------------------------------------

FITS = ["number_tree", "class_tree", "number_forest", "class_forest"]


def rows_as_lists(fit, table):
    return [list(row) for row in table[list(fit.row_predictor().predictors)].to_numpy(object)]


@pytest.mark.parametrize("name", FITS)
def test_responses_are_those_of_predict_bit_for_bit(request, table, name):
    fit = request.getfixturevalue(name)
    predict_row = fit.row_predictor()
    assert predict_row.predictors == ("a", "b", "f")
    expected = fit.predict(table).tolist()
    assert list(map(predict_row, rows_as_lists(fit, table))) == expected
    assert [predict_row(row) for _, row in table.iterrows()] == expected


@pytest.mark.parametrize("name", ["class_tree", "class_forest"])
def test_classes_and_probabilities(request, table, name):
    fit = request.getfixturevalue(name)
    rows = rows_as_lists(fit, table)
    assert list(map(fit.row_predictor("class"), rows)) == fit.predict(table, "class").tolist()
    probabilities = list(map(fit.row_predictor("prob"), rows))
    assert probabilities == fit.predict(table, "prob").to_dict("records")
    assert list(probabilities[0]) == ["low", "mid", "top"]


def test_plain_types_are_returned(number_forest, class_forest):
    row = [0.5, 10, "x"]
    assert type(number_forest.row_predictor()(row)) is float
    assert type(class_forest.row_predictor()(row)) is str
    assert {type(p) for p in class_forest.row_predictor("prob")(row).values()} == {float}


@pytest.mark.parametrize(
    "labels", [[1, 2, 3], [False, True], pd.CategoricalIndex(["b", "a", "c"]), [0.5, 1.5]]
)
def test_labels_keep_their_type(table, labels):
    index = pd.Index(labels)
    codes = pd.Categorical(table["c"]).codes % len(index)
    data = table.assign(c=pd.Series(index[codes], index=table.index))
    fit = odrf.odrf("c ~ a + b", data, kind="classification", n_trees=3, missing="drop", seed=1)
    found = list(map(fit.row_predictor(), data[["a", "b"]].to_numpy()))
    assert found == fit.predict(data).tolist()
    assert {type(label) for label in found} == {type(label) for label in index.tolist()}


def test_ties_go_to_the_first_class_of_row_predictor(table):
    halves = table.assign(c=np.arange(120) % 2 == 0)
    fit = odrf.odt("c ~ a", halves, max_leaves=1, seed=1)
    assert fit.row_predictor("prob")([0.0]) == {False: 0.5, True: 0.5}
    assert fit.row_predictor()([0.0]) == fit.predict(halves).iloc[0] == False  # noqa: E712


def test_pruned_trees_and_trees_of_one_node(number_tree, class_forest, table):
    fits = [
        number_tree.prune(leaves=4),
        number_tree.prune(leaves=1),
        class_forest.prune(0.05),
        class_forest.prune(10.0),
        class_forest.tree(3),
    ]
    for fit in fits:
        rows = rows_as_lists(fit, table)
        assert list(map(fit.row_predictor(), rows)) == fit.predict(table).tolist()


def test_missing_values(table, number_forest, class_forest):
    holed = pd.DataFrame({"a": [np.nan], "b": [1.0]})
    for formula in ("y ~ a + b", "c ~ a + b"):
        fit = odrf.odrf(formula, table, n_trees=3, missing="drop", seed=1)
        for type in ("response", *(["class"] if fit.kind == "classification" else [])):
            assert pd.isna(fit.row_predictor(type)([np.nan, 1.0]))
            assert pd.isna(fit.predict(holed, type).iloc[0])
    missing = fit.row_predictor("prob")([np.nan, 1.0])
    assert list(missing) == ["low", "mid", "top"]
    assert np.isnan(list(missing.values())).all()
    refusing = odrf.odrf("c ~ a + b", table, n_trees=3, missing="raise", seed=1)
    with pytest.raises(InputError, match=r"missing values, in 'a'.*missing=.split"):
        refusing.row_predictor()([None, 1.0])
    for fit in (number_forest, class_forest):
        row = {"a": None, "b": 1.0, "f": "x"}
        assert fit.row_predictor()(row) == fit.predict(pd.DataFrame([row]))[0]


def test_unseen_labels_are_said(class_forest, table):
    said = r"'f' has levels .* no training row has: 'w'.*known are 'x', 'y', 'z'"
    row = {"a": 0.0, "b": 1.0, "f": "w"}
    with pytest.warns(UserWarning, match=said) as caught:
        found = class_forest.row_predictor("prob")(row)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match=said):
        expected = class_forest.predict(pd.DataFrame([row]), type="prob").iloc[0]
    assert found == pytest.approx(expected.to_dict())


def test_a_category_without_a_row_is_predicted():
    rng = np.random.default_rng(0)
    f = pd.Categorical.from_codes(rng.integers(0, 2, 60), ["a", "b", "never"])
    data = pd.DataFrame({"x": rng.random(60), "f": f})
    data["y"] = data["x"] + (f == "a")
    fit = odrf.odrf("y ~ x + f", data, n_trees=3, seed=1)
    new = pd.DataFrame({"x": [0.2, 0.7], "f": ["never", "a"]})
    expected = fit.predict(new).tolist()
    assert [fit.row_predictor()(row) for row in new.to_numpy(object)] == expected


def test_a_predictor_pickles_without_the_data(class_forest, table):
    predict_row = class_forest.row_predictor("prob")
    again = pickle.loads(pickle.dumps(predict_row))
    rows = rows_as_lists(class_forest, table)
    assert list(map(again, rows)) == list(map(predict_row, rows))
    assert repr(again) == repr(predict_row)
    assert len(pickle.dumps(predict_row)) < len(pickle.dumps(class_forest))


def test_fills_are_found_when_the_first_empty_cell_comes(table, monkeypatch):
    fit, calls = odrf.odrf("y ~ a + b + f", table, n_trees=3, seed=1), []
    monkeypatch.setattr(
        empty_cells, "filling_forest", lambda *of: calls.append(1) or filling_forest(*of)
    )
    predict_row = fit.row_predictor()
    for row in rows_as_lists(fit, table):
        predict_row(row)
    assert calls == []
    empty = {"a": None, "b": 1.0, "f": "x"}
    expected = fit.predict(pd.DataFrame([empty]))[0]
    before = len(calls)
    assert [predict_row(empty), predict_row(empty)] == [expected] * 2 and len(calls) == before + 1
    again = pickle.loads(pickle.dumps(fit.row_predictor()))
    assert "_reading" not in vars(again.filling) and again(empty) == expected


def test_a_predictor_shows_its_predictors_and_cannot_be_changed(class_tree):
    predict_row = class_tree.row_predictor()
    assert repr(predict_row) == "RowPredictor(type='response') of a row: 'a', 'b', 'f'"
    with pytest.raises(FrozenInstanceError):
        predict_row.type = "prob"


def test_types_of_prediction(number_tree, class_tree):
    with pytest.raises(InputError, match="type='prob' needs classes"):
        number_tree.row_predictor("prob")
    with pytest.raises(InputError, match="type='leaf' is not known: use one of 'response'"):
        class_tree.row_predictor("leaf")


def test_computed_predictors_are_left_to_predict(table):
    fit = odrf.odt("y ~ a + np.exp(a)", table, seed=1)
    with pytest.raises(InputError, match=r"'np.exp\(a\)' is computed.*use predict"):
        fit.row_predictor()


# ------------------------------------------------------------------------------------------------
# An outlier of a predictor, or a heavy tail, changes fits little.
# ------------------------------------------------------------------------------------------------

N = 1200
STEP = 0.5
FITS_OF_OUTLYING_VALUES = {
    "tree": lambda formula, data: odrf.odt(formula, data, seed=1),
    "axis-parallel tree": lambda formula, data: odrf.odt(
        formula, data, projection="axis", min_leaf=5, alpha=None, seed=1
    ),
    "boosted trees": lambda formula, data: odrf.odbt(formula, data, n_trees=30, seed=1),
    "forest": lambda formula, data: odrf.odrf(formula, data, n_trees=10, seed=1),
}


def table(far: float | None, holes: bool = False) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=N)
    y = (x > STEP) + 0.1 * rng.normal(size=N)
    x[0] = x[0] if far is None else far
    x[1 : 100 * holes : 3] = np.nan
    return pd.DataFrame({"x": x, "y": y, "k": np.where(y > STEP, "high", "low")})


@pytest.mark.parametrize("far", [300.0, 1e6, -1e6])
@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("name", FITS_OF_OUTLYING_VALUES)
def test_numbers_and_classes_beside_one_far_value(name, holes, far):
    data = table(far, holes)
    seen = data["x"].notna()
    fitted = FITS_OF_OUTLYING_VALUES[name]("y ~ x", data).predict(data)[seen]
    assert np.mean((fitted - data["y"][seen]) ** 2) < 0.1 * data["y"].var()
    assert (FITS_OF_OUTLYING_VALUES[name]("k ~ x", data).predict(data) == data["k"])[
        seen
    ].mean() > 0.95


def test_a_heavy_tail_is_like_its_logarithm():
    rng = np.random.default_rng(2)
    x = 4 * rng.normal(size=N)
    data = pd.DataFrame({"x": np.exp(x), "y": np.sin(2 * x) + 0.1 * rng.normal(size=N)})
    for fit in map(FITS_OF_OUTLYING_VALUES.get, ("axis-parallel tree", "boosted trees")):
        raw = fit("y ~ x", data).predict(data)
        scaled = fit("y ~ log(x)", data).predict(data)
        losses = [np.mean((data["y"] - fitted) ** 2) for fitted in (raw, scaled)]
        assert losses[0] < 1.3 * losses[1]


# Trees whose leaves are lines, a row at a time.


@pytest.mark.parametrize("name", [name for name in LINES if name != "terms"])
def test_a_row_of_a_tree_of_lines_has_the_bits_of_predict(name):
    fit, new = case_of_lines(name)
    new = new.assign(f=new["f"].replace("unseen", "x"))
    row_of = pickle.loads(pickle.dumps(fit.row_predictor()))
    rows = new[list(fit.design.predictors)].to_dict("records")
    np.testing.assert_array_equal([row_of(row) for row in rows], fit.predict(new))
    cut = fit.prune(3)
    np.testing.assert_array_equal([cut.row_predictor()(row) for row in rows], cut.predict(new))
