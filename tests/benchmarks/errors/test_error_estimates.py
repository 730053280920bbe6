"""The benchmark of stated errors runs; `tests/statistics/test_stated_errors.py` judges some."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.errors import error_estimates

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["error_estimates.py", "--quick", "--out", str(out)])
    assert error_estimates.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 2 * 3 * 4
    assert (lines[["stated", "new"]] > 0).all(axis=None)
