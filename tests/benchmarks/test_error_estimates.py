"""Errors that fits state are those on new rows, up to the noise of some samples."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import error_estimates


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["error_estimates.py", "--quick", "--out", str(out)])
    assert error_estimates.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 2 * 3 * 4
    assert (lines[["stated", "new"]] > 0).all(axis=None)


@pytest.mark.parametrize("rows", error_estimates.ROWS)
@pytest.mark.parametrize("kind", error_estimates.KINDS)
def test_out_of_bag_errors_are_those_on_new_rows(kind: str, rows: str) -> None:
    off, new_errors = [], []
    for sample in range(60):
        rng = np.random.default_rng([1, sample])
        data, new = (error_estimates.draw(kind, rows, n, rng) for n in (100, 1000))
        stated, _, error = error_estimates.of_forest(data, new, rows, 40, sample)
        off.append(stated - error)
        new_errors.append(error)
    bias = np.mean(off) / np.mean(new_errors)
    of_bias = np.std(off, ddof=1) / np.sqrt(len(off)) / np.mean(new_errors)
    # trees that miss a row, or a group, learn from fewer: errors may be a tenth too high
    assert abs(bias) < 0.1 + 3 * of_bias
    # a bias of .35 of the error is found in 97 of 100 runs
    assert of_bias < 0.05
