"""Arithmetic of formulas, in other languages."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from benchmarks.reliability.export_targets import in_python, in_sqlite, predicted
from exported import wide_table
from odrf import InputError


@pytest.mark.parametrize(
    "term",
    [
        "I(-a + 2)",
        "I(+a - quarter * half)",
        "I(abs(a) ** 0.5)",
        "I(abs(a) ** 1.5)",
        "I(a ** 2 / 3)",
        "np.exp(a / 3)",
        "I(Q('two words') * 2)",
        "I(I(a) * 3)",
    ],
)
def test_arithmetic_is_written(term):
    half, quarter = 0.5, np.float64(0.25)
    data = wide_table().assign(**{"two words": lambda rows: rows["b"] / 100})
    fit = odrf.odt(f"y ~ {term}", data, max_leaves=6, seed=1)
    assert half == 2 * quarter and fit.n_leaves[0] == 6
    expected = predicted(fit, data)
    assert in_python(fit.to_python(), data) == expected
    assert in_sqlite(fit.to_sql("sqlite"), data) == expected


@pytest.mark.parametrize(
    ("term", "part"),
    [
        ("I(abs(a) ** -1)", "abs(a) ** (-1)"),
        ("I(2.0 ** a)", "2.0 ** a"),
        ("I(a * True)", "True"),
        ("I(a > 0)", "a > 0"),
        ("I(a + 1 / far)", "far"),
        ("np.arctan(a)", "np.arctan(a)"),
        ("np.clip(a, 0, 1)", "np.clip(a, 0, 1)"),
        ("np.add.reduce([a, b])", "np.add.reduce([a, b])"),
    ],
)
def test_what_is_no_arithmetic_is_named(term, part):
    far = np.inf
    fit = odrf.odt(f"y ~ {term}", wide_table(), max_leaves=2, seed=1)
    assert far > 0
    with pytest.raises(InputError) as refusal:
        fit.to_python()
    assert f"because of {part!r}: exports know arithmetic" in str(refusal.value)


def test_functions_that_sql_does_not_have_are_named():
    data = wide_table()
    fit = odrf.odt("y ~ np.log1p(abs(a))", data, max_leaves=6, seed=1)
    assert in_python(fit.to_python(), data) == predicted(fit, data)
    with pytest.raises(InputError, match=r"to_sql\(\) does not know the function 'log1p'"):
        fit.to_sql("sqlite")


def test_functions_that_onnx_does_not_have_are_named():
    fit = odrf.odt("y ~ np.log1p(abs(a))", wide_table(), max_leaves=6, seed=1)
    pytest.importorskip("onnx")
    with pytest.raises(InputError, match=r"to_onnx\(\) does not know the function 'log1p'"):
        fit.to_onnx()
