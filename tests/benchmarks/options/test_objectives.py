"""The benchmark of objectives on a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import objectives


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    data.assign(y=np.where(score > 0, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score", "sides"], "task": ["regression", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    out = folder / "out.csv"
    words = ["objectives.py", "--data", str(folder), "--trees", "12", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert objectives.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["sides"]
    assert lines["objective"].tolist() == ["error", "brier", "log_loss"]
    assert lines["place"].unique().tolist() == [2]
    assert lines["log_loss"].nunique() == 3
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["objectives.py", "--report", str(out)])
    assert objectives.main() == 0
    assert capsys.readouterr().out == told
    for measure in objectives.MEASURED:
        for base in ("error", "brier"):
            assert f"{measure} beside {base}, 1 tables:" in told


def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["objectives.py", "--data", str(tmp_path)])
    assert objectives.main() == 0
    assert "nothing to do" in capsys.readouterr().err
