"""Predicted classes are categorical, in the order of the response, whatever predicts them."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots
from odrf import InputError

FITS = {
    "tree": odrf.odt,
    "forest": partial(odrf.odrf, n_trees=12),
    "blend": partial(odrf.odrf, n_trees=30, blend=True),
    "boosted": partial(odrf.odbt, n_trees=3),
    "runs": partial(odrf.odbt, n_trees=2, n_runs=5),
    "guided": partial(odrf.graf, n_trees=3),
}
GRADES = ["top", "never", "mid", "low"]


@pytest.fixture(scope="module")
def responses(table):
    """Columns of classes, by their kind; of the declared grades, one has no rows."""
    text, high = table["c"], table["y"] > 0.4
    return {
        "text": text,
        "string": text.astype("string"),
        "two": pd.Series(np.where(high, "above", "below"), index=table.index),
        "logical": high,
        "numbers": text.map({"low": 3, "mid": 1, "top": 2}),
        "categorical": text.astype(pd.CategoricalDtype(GRADES)),
        "ordered": text.astype(pd.CategoricalDtype(GRADES, ordered=True)),
        "two ordered": pd.Series(
            pd.Categorical(np.where(high, "no", "yes"), ["yes", "no"], ordered=True), table.index
        ),
    }


EXPECTED = {
    "text": ["low", "mid", "top"],
    "string": ["low", "mid", "top"],
    "two": ["above", "below"],
    "logical": [False, True],
    "numbers": [1, 2, 3],
    "categorical": GRADES,
    "ordered": GRADES,
    "two ordered": ["yes", "no"],
}


@pytest.fixture(scope="module")
def fits(table, responses):
    with with_few_pilots():
        return {
            (name, kind): fit("r ~ a + b + f", table.assign(r=r), kind="classification", seed=1)
            for name, fit in FITS.items()
            for kind, r in responses.items()
        }


@pytest.fixture(params=[(name, kind) for name in FITS for kind in EXPECTED])
def case(request, fits, responses):
    name, kind = request.param
    return kind, fits[name, kind], responses[kind]


def predictions(fit, data):
    """Every prediction of classes that the fit gives, as columns."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # rows that every tree drew
        yield from (fit.predict(data), fit.predict(data, type="class"), fit.predict())
        yield from (fit.fittedvalues, fit.predict(training="in-bag"))
        if not isinstance(fit, odrf.results.ODTResults | odrf.results.GRAFResults):
            try:
                yield fit.oob_prediction
            except InputError as error:
                assert "need several runs" in str(error)
        of_trees = []
        if hasattr(fit, "staged_predict"):
            of_trees = [fit.staged_predict(data), fit.staged_predict()]
        else:
            of_trees = [fit.predict(data, type="trees"), fit.predict(type="trees")]
        for frame in of_trees:
            yield from (column for _, column in frame.items())
        if isinstance(fit, odrf.results.ODTResults):
            yield fit.nodes["prediction"]
        if isinstance(fit, odrf.results.GRAFResults):
            yield fit.codes(0)["prediction"]


def test_every_prediction_has_the_categories_of_the_response(case, table):
    kind, fit, response = case
    for predicted in predictions(fit, table):
        dtype = predicted.dtype
        assert isinstance(dtype, pd.CategoricalDtype)
        assert dtype.categories.tolist() == EXPECTED[kind]
        assert dtype.ordered == ("ordered" in kind)
        if isinstance(response.dtype, pd.CategoricalDtype):
            assert dtype == response.dtype


def test_they_are_compared_with_labels_and_with_the_response(case, table):
    kind, fit, response = case
    predicted = fit.predict(table)
    labels = predicted.astype(object)
    for label in fit.classes:
        assert ((predicted == label) == (labels == label)).all()
    right = predicted == response
    assert right.tolist() == (labels == response.astype(object)).tolist()
    assert right.sum() > 0
    if "ordered" in kind:
        middle = EXPECTED[kind][-1]
        rank = {label: i for i, label in enumerate(EXPECTED[kind])}
        assert (predicted < middle).tolist() == [rank[p] < rank[middle] for p in labels]
        assert predicted.max() in fit.classes


def test_missing_rows_are_missing(table, responses):
    for response in responses.values():
        data = table.assign(r=response)
        fit = odrf.odt("r ~ a + b", data, kind="classification", missing="drop", seed=1)
        holed = data.copy()
        holed.loc[["row2", "row7"], "a"] = np.nan
        predicted = fit.predict(holed)
        assert predicted.index[predicted.isna()].tolist() == ["row2", "row7"]
        assert predicted.dtype == fit.predict(data).dtype
        pd.testing.assert_series_equal(
            predicted.dropna(), fit.predict(holed.drop(["row2", "row7"]))
        )


def test_a_nominal_term_has_no_order(table, responses):
    data = table.assign(r=responses["ordered"])
    predicted = odrf.odt("C(r) ~ a + b", data, seed=1).predict()
    assert not predicted.cat.ordered
    assert predicted.cat.categories.tolist() == GRADES
    given = odrf.odt("C(r, levels=['mid', 'low', 'top', 'none']) ~ a + b", data, seed=1).predict()
    assert given.cat.categories.tolist() == ["mid", "low", "top", "none"]


def test_updates_and_saved_fits_keep_the_categories(table, responses, tmp_path):
    data = table.assign(r=responses["ordered"])
    fit = odrf.odrf("r ~ a + b", data[:80], n_trees=4, seed=1)
    fit.save(tmp_path / "fit")
    for same in (fit.update(data[80:]), fit.grow(2), odrf.load(tmp_path / "fit")):
        assert same.predict(data).dtype == responses["ordered"].dtype
    assert fit.row_predictor()(table.loc["row3", ["a", "b"]]) in fit.classes
