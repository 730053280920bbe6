"""One row at a time, against `predict` of a frame."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.fits import missing as empty_cells
from odrf.fits.missing import filling_forest

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


def test_ties_go_to_the_first_class(table):
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
