"""The benchmark of what is foreseen runs, and says which tables are not there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.speed import foresight
from benchmarks.speed.memory import can_measure


@pytest.mark.skipif(not can_measure(), reason="the system does not record peak memory")
def test_foreseen_and_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = {
        "forest": foresight.Case("factors", rows=2000, options={"n_trees": 60, "blend": False}),
        "tree": foresight.Case("classes", "odt", 2000),
        "files": foresight.Case("factors", rows=2000, options={"n_trees": 9}, source="parquet"),
        "list": foresight.Case("friedman", "odt", 2000, source="list"),
    }
    for name, case in small.items():
        line = foresight.measured(case, tmp_path)
        assert line["rows"] == 2000, name
        assert 0.5 < line["file ratio"] < 2, name
        assert line["seconds measured"] > 0, name
    out = tmp_path / "out.csv"
    argv = f"foresight.py --data {tmp_path} --cases letter --out {out}"
    monkeypatch.setattr(sys, "argv", argv.split())
    foresight.main()
    assert "letter: not in" in capsys.readouterr().err
    assert not out.exists()
