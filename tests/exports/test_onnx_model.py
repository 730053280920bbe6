from __future__ import annotations

import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest

import odrf
from exported import CASES, as_predicted, case, predicted, wide_table
from odrf import InputError


def run(fit, new):
    """Return what onnxruntime computes, by the name of the output."""
    model = fit.to_onnx()
    cells = {}
    for given in model.graph.input:
        column = new[given.name]
        if given.type.tensor_type.elem_type == 8:
            cells[given.name] = column.astype(object).where(column.notna(), "").to_numpy()[:, None]
        else:
            cells[given.name] = column.to_numpy(np.float64, na_value=np.nan)[:, None]
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, cells), strict=True))


def answers(fit, new):
    """Return the predictions, and the probabilities of classes or None."""
    found = run(fit, new)
    if "prediction" in found:
        return as_predicted(pd.Series(found["prediction"][:, 0])), None
    labels = [None if label == "" else label for label in found["label"].tolist()]
    return labels, as_predicted(pd.DataFrame(found["probabilities"]))


def check(fit, new):
    labels, shares = answers(fit, new)
    assert labels == predicted(fit, new, "response")
    if fit.kind == "classification":
        assert shares == predicted(fit, new, "prob")


@pytest.mark.parametrize("name", CASES)
def test_every_row_is_predicted_as_by_predict(name):
    check(*case(name))


@pytest.mark.parametrize("name", ["numbers", "classes", "terms", "holes, split", "ordered"])
def test_forests_are_added_in_their_order(name):
    check(*case(name, forest=True))


def test_guided_forests_have_votes():
    data = wide_table()
    check(odrf.graf("c ~ a + b", data, n_trees=4, seed=1), data)


def test_labels_of_numbers_and_truths_keep_their_type():
    data = wide_table()
    for name in ("k", "t"):
        check(odrf.odt(f"{name} ~ a + b", data, kind="classification", seed=1), data)


def test_a_tree_without_splits_is_a_constant():
    check(odrf.odt("y ~ a", wide_table(), max_leaves=1, seed=1), wide_table())


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows_are_predicted(n):
    fit, new = case("numbers", forest=True)
    check(fit, new[:n])


def test_an_empty_text_cannot_be_a_level():
    data = wide_table()
    data["f"] = data["f"].replace("x", "")
    with pytest.raises(InputError, match="empty text"):
        odrf.odt("y ~ a + b + f", data, seed=1).to_onnx()


def test_without_onnx_it_says_what_to_install(monkeypatch):
    fit, _ = case("numbers")
    monkeypatch.setitem(sys.modules, "onnx", None)
    for module in [name for name in sys.modules if name.startswith("odrf.exports.onnx")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(InputError, match="odrf\\[onnx\\]"):
        fit.to_onnx()
