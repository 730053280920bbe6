""""""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability.export_targets import COMPILER, compiled, in_c, predicted
from exported import CASES, LINES, case, case_of_lines, wide_table
from odrf import InputError

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no compiler of C")


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    return case(request.param)


@pytest.mark.parametrize("kind", ["response", "prob"])
def test_every_row_is_predicted_as_by_predict(fitted, kind):
    fit, new = fitted
    if kind == "prob" and fit.kind == "regression":
        pytest.skip("no classes")
    assert in_c(fit, new, kind) == predicted(fit, new, kind)


@pytest.mark.parametrize("name", ["numbers", "classes", "holes, split"])
def test_forests_are_added_in_their_order(name):
    fit, new = case(name, forest=True)
    assert in_c(fit, new, "response") == predicted(fit, new, "response")


def test_guided_forests_have_votes():
    data = wide_table()
    fit = odrf.graf("c ~ a + b", data, n_trees=4, seed=1)
    assert in_c(fit, data, "prob") == predicted(fit, data, "prob")


def test_labels_of_any_characters_are_read():
    data = wide_table()
    odd = {"x": 'ä"?\\n', "it's": "??/", 'a "z"': "汉字 %d"}
    data = data.assign(f=data["f"].map(odd), c=data["c"].map(lambda word: f"{word}\n\\ é"))
    fit = odrf.odt("c ~ f", data, alpha=None, seed=1)
    assert in_c(fit, data, "response") == predicted(fit, data, "response")
    words = f"const char *const {{}}_classes[{len(fit.classes)}]"
    assert words.format("predict") in fit.to_c()


def test_names_of_columns_become_names_in_c():
    data = wide_table().rename(columns={"a": "double", "b": "1 of 2", "y": "why"})
    fit = odrf.odt("why ~ double + `1 of 2` + f", data, alpha=None, seed=1)
    assert '    double x_double; /* "double" */' in fit.to_c()
    renamed = data.rename(columns={"double": "x_double", "1 of 2": "x_1_of_2"})
    expected = predicted(fit, data, "response")
    assert in_c(fit, renamed, "response", name="why_of") == expected


@pytest.mark.parametrize("standard", ["c99", "gnu17", "c2x"])
def test_columns_may_be_called_by_any_word_of_c(standard, tmp_path):
    words = ["unix", "linux", "bool", "typeof", "asm", "INFINITY", "M_PI", "N_TREES", "y0"]
    rows = np.random.default_rng(1).normal(size=(60, len(words)))
    data = pd.DataFrame(rows, columns=words).assign(y=rows.sum(axis=1))
    text = odrf.odt("y ~ .", data, alpha=None, seed=1).to_c()
    source = tmp_path / "tree.c"
    source.write_text(text)
    command = [COMPILER, f"-std={standard}", "-fsyntax-only", str(source)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not ran.returncode, ran.stderr


@pytest.mark.parametrize(
    "name", ["double", "unix", "exp", "splits", "leaf_of", "scaled", "round", "floorf", "index"]
)
def test_a_function_has_no_name_with_another_meaning(name):
    fit = odrf.odt("y ~ a", wide_table(), max_leaves=2, seed=1)
    with pytest.raises(InputError, match=f"name='{name}' has another meaning in C"):
        fit.to_c(name=name)


def test_a_tree_without_splits_is_a_constant():
    fit = odrf.odt("y ~ a", wide_table(), max_leaves=1, seed=1)
    with compiled(fit.to_c()) as (library, _):
        library.predict.restype = ctypes.c_double
        assert library.predict(None) == fit.predict(wide_table())[0]


@pytest.mark.filterwarnings("ignore:.*levels that no training row has")
@pytest.mark.parametrize("name", LINES)
def test_lines_of_leaves_have_the_bits_of_predict(name):
    fit, new = case_of_lines(name)
    for tree in (fit, fit.prune(1)):
        assert in_c(tree, new, "response") == predicted(tree, new, "response")
