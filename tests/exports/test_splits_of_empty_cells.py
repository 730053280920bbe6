"""Splits that send all known values to one side, in other languages."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from benchmarks.reliability.export_targets import in_python, in_sqlite, predicted
from exported import wide_table, with_holes


@pytest.mark.parametrize("low_when_empty", [True, False])
@pytest.mark.parametrize("column", ["a", "f"])
def test_empty_cells_against_all_others(column, low_when_empty):
    data = with_holes(wide_table(), ["a", "b", "f"], 0.2)
    empty = data[column].isna()
    data["y"] = np.where(empty == low_when_empty, 0.0, 9.0) + data["y"] / 1000
    fit = odrf.odt("y ~ a + b + f", data, max_leaves=2, seed=1)
    expected = predicted(fit, data)
    assert len(set(zip(expected, empty, strict=True))) == 2
    assert in_python(fit.to_python(), data) == expected
    assert in_sqlite(fit.to_sql("sqlite"), data) == expected
    known = data[~empty]
    assert in_sqlite(fit.to_sql("sqlite", complete=True), known) == predicted(fit, known)
