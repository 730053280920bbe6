""""""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability.export_targets import in_python, predicted
from exported import CASES, LINES, case, case_of_lines, wide_table
from odrf import InputError


def answers(fit, new, type):
    return in_python(fit.to_python(type, name="predict_row"), new, "predict_row")


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    return case(request.param)


@pytest.mark.parametrize("type", ["response", "prob"])
def test_every_row_is_predicted_as_by_predict(fitted, type):
    fit, new = fitted
    if type == "prob" and fit.kind == "regression":
        pytest.skip("no classes")
    assert answers(fit, new, type) == predicted(fit, new, type)


@pytest.mark.parametrize("name", ["numbers", "classes", "holes, split", "ordered"])
def test_forests_are_added_in_their_order(name):
    fit, new = case(name, forest=True)
    assert answers(fit, new, "response") == predicted(fit, new, "response")


def test_guided_forests_have_votes():
    data = wide_table()
    fit = odrf.graf("c ~ a + b", data, n_trees=4, seed=1)
    assert answers(fit, data, "prob") == predicted(fit, data, "prob")


def test_a_fit_without_its_rows_predicts_rows_without_empty_cells(tmp_path):
    data = wide_table()
    odrf.odt("y ~ a + b + f", data, seed=1).save(tmp_path / "fit.odrf", data=False)
    fit = odrf.load(tmp_path / "fit.odrf")
    assert answers(fit, data, "response") == predicted(fit, data, "response")
    assert answers(fit, data[:1].assign(a=np.nan), "response") == [None]


@pytest.mark.parametrize("empty", [None, math.nan, pd.NA, pd.NaT])
def test_missing_values_of_all_kinds_are_empty(empty):
    fit, new = case("classes")
    there = {}
    exec(fit.to_python(), there)
    row = new.iloc[20].to_dict()
    assert there["predict"]({**row, "a": empty}) == there["predict"]({**row, "a": None})


@pytest.mark.parametrize("name", ["class", "two words", "1st", 3, "größe"])
def test_the_name_is_one(name):
    with pytest.raises(InputError, match="name="):
        case("numbers")[0].to_python(name=name)


@pytest.mark.filterwarnings("ignore:.*levels that no training row has")
@pytest.mark.parametrize("name", LINES)
def test_lines_of_leaves_have_the_bits_of_predict(name):
    fit, new = case_of_lines(name)
    assert answers(fit, new, "response") == predicted(fit, new, "response")
    cut = fit.prune(1)
    assert answers(cut, new, "response") == predicted(cut, new, "response")


def test_lines_without_their_rows_predict_rows_without_empty_cells():
    fit, _ = case_of_lines("numbers")
    lean, data = fit.without_data(), wide_table()
    assert answers(lean, data, "response") == predicted(fit, data, "response")
    assert answers(lean, data[:1].assign(a=np.nan), "response") == [None]
