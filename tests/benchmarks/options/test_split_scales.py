"""The benchmark of the scales of splits on a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import split_scales
from blends import with_few_pilots


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = np.exp(data["a"] + data["b"] + rng.normal(size=90))
    data.assign(y=np.where(score > 1, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["sides", "score"], "task": ["classification", "regression"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    out = folder / "out.csv"
    words = ["split_scales.py", "--data", str(folder), "--trees", "20", "--repeats", "2"]
    monkeypatch.setattr("sys.argv", [*words, "--out", str(out)])
    with with_few_pilots():
        assert split_scales.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["score"]
    assert lines["scale"].tolist() == 2 * split_scales.SCALES
    assert lines["place"].unique().tolist() == [2]
    for _, of_partition in lines.groupby("partition"):
        by_scale = of_partition.set_index("scale")
        assert by_scale.loc["auto", "rpe"] == by_scale.loc[by_scale.loc["auto", "chosen"], "rpe"]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["split_scales.py", "--report", str(out)])
    assert split_scales.main() == 0
    assert capsys.readouterr().out == told
    assert "1 tables, in per cent:" in told and '"auto" chose' in told


def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["split_scales.py", "--data", str(tmp_path)])
    assert split_scales.main() == 0
    assert "nothing to do" in capsys.readouterr().err
