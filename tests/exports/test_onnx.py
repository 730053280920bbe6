""""""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability.export_targets import in_onnx, predicted
from exported import CASES, LINES, case, case_of_lines, wide_table
from odrf import InputError


def check(fit, new):
    labels, shares = in_onnx(fit, new)
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
    data["large"] = np.where(data["t"], np.uint64(2**63 + 5), np.uint64(7))
    for name in ("k", "t", "large"):
        check(odrf.odt(f"{name} ~ a + b", data, kind="classification", seed=1), data)


def test_a_tree_without_splits_is_a_constant():
    check(odrf.odt("y ~ a", wide_table(), max_leaves=1, seed=1), wide_table())


def test_a_tree_without_splits_counts_rows_by_a_column_that_onnx_knows():
    data = wide_table()
    data.insert(0, "since", pd.to_timedelta(range(len(data)), unit="h"))
    check(odrf.odt("y ~ since + a", data, max_leaves=1, seed=1), data)
    with pytest.raises(InputError, match="column 'since' holds durations"):
        odrf.odt("y ~ since", data, max_leaves=1, seed=1).to_onnx()


def test_columns_may_be_called_as_tensors_are_elsewhere():
    model = odrf.odt("y ~ a + b", wide_table(), max_leaves=4, seed=1).to_onnx()
    loop = next(node for node in model.graph.node if node.op_type == "Loop")
    names = [model.graph.initializer[0].name, loop.attribute[0].g.node[0].output[0]]
    data = wide_table().rename(columns=dict(zip("ab", names, strict=True)))
    check(odrf.odt("y ~ " + " + ".join(names), data, max_leaves=4, seed=1), data)


@pytest.mark.parametrize(("response", "name"), [("y", "prediction"), ("c", "label")])
def test_a_column_with_the_name_of_an_output_is_refused(response, name):
    data = wide_table().rename(columns={"a": name})
    with pytest.raises(InputError, match=f"column '{name}' has the name of an output"):
        odrf.odt(f"{response} ~ {name}", data, seed=1).to_onnx()


@pytest.mark.parametrize("n", [0, 1])
def test_few_rows_are_predicted(n):
    fit, new = case("numbers", forest=True)
    check(fit, new[:n])


def test_an_empty_text_cannot_be_a_level():
    data = wide_table()
    data["f"] = data["f"].replace("x", "")
    with pytest.raises(InputError, match="empty text"):
        odrf.odt("y ~ a + b + f", data, seed=1).to_onnx()


def test_an_empty_text_cannot_be_a_class():
    data = wide_table().replace({"c": {"low": ""}})
    with pytest.raises(InputError, match="'c' has an empty text among its classes"):
        odrf.odt("c ~ a", data, seed=1).to_onnx()


def test_an_empty_text_cannot_be_a_level_of_a_column_that_must_not_be_empty():
    data = wide_table().replace({"f": {"x": ""}})
    fit = odrf.odt("y ~ a + f", data, missing="drop", max_leaves=2, seed=1)
    assert set(fit.splits["predictor"]) == {"a"}
    with pytest.raises(InputError, match="column 'f' has an empty text among its levels"):
        fit.to_onnx()


@pytest.mark.parametrize("name", ["k", "t"])
def test_rows_without_a_prediction_have_no_class_that_is_a_number(name):
    data = wide_table()
    data["a"] = data["a"].mask(data.index % 4 == 0)
    fit = odrf.odt(f"{name} ~ a + b", data, kind="classification", missing="drop", seed=1)
    assert None in predicted(fit, data)
    check(fit, data)


def test_whole_numbers_that_no_tensor_holds_are_no_classes():
    for classes in ((2**63 + 1, -1), (2**64, 1), (2**53 + 1, 0.5)):
        labels = pd.Categorical.from_codes(np.arange(40) % 2, pd.Index(classes, dtype=object))
        data = pd.DataFrame({"a": np.arange(40) % 2, "c": labels})
        fit = odrf.odt("c ~ a", data, kind="classification", alpha=None, seed=1)
        with pytest.raises(InputError, match=r"the classes of 'c' .* whole number"):
            fit.to_onnx()


@pytest.mark.parametrize("classes", ["pqrst", "pqrstuvwxyz"])
def test_votes_add_up_as_those_of_predict(classes):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({name: rng.choice(list("uvwz"), 150) for name in "fg"})
    data["a"], data["c"] = rng.normal(size=150), rng.choice(list(classes), 150)
    check(odrf.graf("c ~ .", data, n_trees=3, seed=1), data)


def test_without_onnx_it_says_what_to_install(monkeypatch):
    fit, _ = case("numbers")
    monkeypatch.setitem(sys.modules, "onnx", None)
    for module in [name for name in sys.modules if name.startswith("odrf.exports.onnx")]:
        monkeypatch.delitem(sys.modules, module)
    with pytest.raises(InputError, match="odrf\\[onnx\\]"):
        fit.to_onnx()


@pytest.mark.filterwarnings("ignore:.*levels that no training row has")
@pytest.mark.parametrize("name", LINES)
def test_lines_of_leaves_have_the_bits_of_predict(name):
    fit, new = case_of_lines(name)
    check(fit, new)
    check(fit.prune(1), new)
