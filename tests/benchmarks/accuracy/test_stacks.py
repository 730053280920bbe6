"""The benchmark of stacks of models on a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import stacks


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


def test_a_run_and_its_report(folder, capsys, monkeypatch, few_pilots):
    out = folder / "out.csv"
    words = ["stacks.py", "--data", str(folder), "--trees", "20", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setattr("odrf.api.stack.MOST_ROUNDS", 5)
    assert stacks.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["score", "sides"]
    of_score, of_sides = (lines.loc[lines["place"] == place, "model"].tolist() for place in (1, 2))
    assert of_score == [
        "forest",
        "together",
        "forest on splines",
        "kernel smoother",
        "oblique smoother",
        "boosted runs",
    ]
    calibrated = [f"forest, {method}" for method in ("power", "isotonic", "platt", "beta")]
    smoothers = ["kernel smoother", "oblique smoother"]
    assert of_sides == ["forest", "together", *smoothers, "boosted runs", *calibrated]
    assert (lines.groupby("table")["rpe"].count() == [6, 0]).all()
    of_two = lines.loc[lines["table"] == "sides", "auc"]
    assert of_two.between(0.5, 1.0).all() and lines["auc"].count() == len(of_two)
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["stacks.py", "--report", str(out)])
    assert stacks.main() == 0
    assert capsys.readouterr().out == told
    twice = pd.concat([lines, lines.assign(partition=1, rpe=9.0)])
    twice.to_csv(out, index=False)
    monkeypatch.setattr("sys.argv", ["stacks.py", "--report", str(out), "--partition", "0"])
    assert stacks.main() == 0
    assert capsys.readouterr().out == told
    for measure in [name for measured in stacks.TASKS.values() for name in measured]:
        assert f"{measure}, 1 tables:" in told
    assert "Time of the stack" in told


def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["stacks.py", "--data", str(tmp_path)])
    assert stacks.main() == 0
    assert "nothing to do" in capsys.readouterr().err
