"""The benchmark of choices among predictors that do not matter runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.inference import null_selection

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["null_selection.py", "--quick", "--out", str(out)])
    assert null_selection.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * 2 * 2
    assert lines["chosen"].isin([*null_selection.PREDICTORS, "none"]).all()
