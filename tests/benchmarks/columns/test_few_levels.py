"""The benchmark of factors of few levels on a small table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.columns import few_levels


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=90), "f": rng.choice(list("abcd"), 90)})
    y = data["a"] * data["f"].isin(["c", "d"]).astype(float) + rng.normal(size=90)
    data.assign(y=y).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score"], "task": ["regression"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    out = folder / "out.csv"
    words = f"few_levels.py --data {folder} --tables score --repeats 2 --trees 5 --out {out}"
    monkeypatch.setattr("sys.argv", words.split())
    assert few_levels.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 2 * 2 * 2
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["few_levels.py", "--report", str(out)])
    assert few_levels.main() == 0
    assert capsys.readouterr().out == told
    for function in ("odrf", "odbt"):
        for noise in (0, 3):
            assert f"`{function}`, {noise} factors of noise added; mean difference" in told
    index = ["partition", "noise", "function"]
    errors = lines.pivot_table(index=index, columns="way", values="rpe")
    assert (errors["indicators"] != errors["scores"]).all()
