from __future__ import annotations

import ctypes
import math
import re
import shutil
import subprocess

import pandas as pd
import pytest

import odrf
from exported import CASES, case, predicted, wide_table

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no compiler of C")
# Products and sums may be fused by these, if the text lets them.
FLAGS = ["-O3", "-march=native", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror"]


def compiled(text, folder):
    """Return the library with the function, and the struct of a row."""
    (folder / "tree.c").write_text(text, encoding="ascii")
    library = folder / "tree.so"
    subprocess.run(
        [
            COMPILER,
            "-std=gnu99",
            *FLAGS,
            "-shared",
            "-fPIC",
            folder / "tree.c",
            "-o",
            library,
            "-lm",
        ],
        check=True,
    )
    body = re.search(r"struct \w+_row \{(.*?)\};", text, re.DOTALL).group(1)
    members = re.findall(r"^    (double |const char \*)(\w+);", body, re.MULTILINE)
    kinds = {"double ": ctypes.c_double, "const char *": ctypes.c_char_p}
    row = type(
        "Row", (ctypes.Structure,), {"_fields_": [(at, kinds[kind]) for kind, at in members]}
    )
    return ctypes.CDLL(str(library)), row


def cell(value, kind):
    if kind is ctypes.c_char_p:
        return None if pd.isna(value) else str(value).encode("utf-8")
    return math.nan if pd.isna(value) else float(value)


def answers(fit, new, kind, folder, name="predict"):
    """Run the compiled function on each row."""
    text = fit.to_c(kind, name=name)
    library, row = compiled(text, folder)
    function, found = getattr(library, name), []
    used = {re.sub(r"\W", "_", column): column for column in new.columns}
    K = 0 if fit.classes is None else len(fit.classes)
    function.restype = ctypes.c_int if kind == "response" and K else ctypes.c_double
    for record in new.to_dict("records"):
        members = [(at, of, record[used[at]]) for at, of in row._fields_]
        given = row(*(cell(value, of) for _, of, value in members))
        if kind == "prob":
            shares = (ctypes.c_double * K)()
            function(ctypes.byref(given), shares)
            found.append([None if math.isnan(share) else share for share in shares])
            continue
        answer = function(ctypes.byref(given))
        if K:
            answer = None if answer < 0 else fit.classes[answer]
        found.append(None if answer is None or answer != answer else answer)
    return found


@pytest.fixture(scope="module", params=CASES)
def fitted(request):
    return case(request.param)


@pytest.mark.parametrize("kind", ["response", "prob"])
def test_every_row_is_predicted_as_by_predict(fitted, kind, tmp_path):
    fit, new = fitted
    if kind == "prob" and fit.kind == "regression":
        pytest.skip("no classes")
    assert answers(fit, new, kind, tmp_path) == predicted(fit, new, kind)


@pytest.mark.parametrize("name", ["numbers", "classes", "holes, split"])
def test_forests_are_added_in_their_order(name, tmp_path):
    fit, new = case(name, forest=True)
    assert answers(fit, new, "response", tmp_path) == predicted(fit, new, "response")


def test_guided_forests_have_votes(tmp_path):
    data = wide_table()
    fit = odrf.graf("c ~ a + b", data, n_trees=4, seed=1)
    assert answers(fit, data, "prob", tmp_path) == predicted(fit, data, "prob")


def test_labels_of_any_characters_are_read(tmp_path):
    data = wide_table()
    odd = {"x": 'ä"?\\n', "it's": "??/", 'a "z"': "汉字 %d"}
    data = data.assign(f=data["f"].map(odd), c=data["c"].map(lambda word: f"{word}\n\\ é"))
    fit = odrf.odt("c ~ f", data, alpha=None, seed=1)
    assert answers(fit, data, "response", tmp_path) == predicted(fit, data, "response")
    words = f"const char *const {{}}_classes[{len(fit.classes)}]"
    assert words.format("predict") in fit.to_c()


def test_names_of_columns_become_names_in_c(tmp_path):
    data = wide_table().rename(columns={"a": "double", "b": "1 of 2", "y": "why"})
    fit = odrf.odt("why ~ double + `1 of 2` + f", data, alpha=None, seed=1)
    assert '    double x_double; /* "double" */' in fit.to_c()
    renamed = data.rename(columns={"double": "x_double", "1 of 2": "x_1_of_2"})
    expected = predicted(fit, data, "response")
    assert answers(fit, renamed, "response", tmp_path, name="why_of") == expected


def test_a_tree_without_splits_is_a_constant(tmp_path):
    fit = odrf.odt("y ~ a", wide_table(), max_leaves=1, seed=1)
    library, _ = compiled(fit.to_c(), tmp_path)
    library.predict.restype = ctypes.c_double
    assert library.predict(None) == fit.predict(wide_table())[0]
