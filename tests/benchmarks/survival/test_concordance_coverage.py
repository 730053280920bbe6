"""The benchmark of intervals of C runs, resumes, and reports what it has measured."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.survival import concordance_coverage


@pytest.mark.weekly
def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["concordance_coverage.py", *options])
    assert concordance_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 3 * 2
    assert lines[["plain", "by_logit", "out_of_bag", "new"]].stack().between(0, 1).all()
    assert concordance_coverage.main() == 0
    assert capsys.readouterr().out == first


def test_the_report_has_the_ratio_and_the_coverage() -> None:
    line = ["p", 200, 200, 80, "uno_c", 0.7, 0.69, 0.001, 0.82, 0.9125, 0.9, 0.01]
    table = concordance_coverage.report(pd.DataFrame([line], columns=concordance_coverage.COLUMNS))
    assert "| p, uno_c | 0.700 | 0.690 | 0.82 | 91 | 90 |" in table
