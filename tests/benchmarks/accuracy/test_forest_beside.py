"""The report of today's forest beside another method."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import forest_beside


@pytest.mark.weekly
def test_the_forests_are_compared_on_the_same_partitions(tmp_path, capsys, monkeypatch):
    now = pd.DataFrame(
        {
            "table": ["a", "a", "b", "c"],
            "partition": [0, 1, 0, 0],
            "model": "forest",
            "rpe": [np.nan, np.nan, 0.2, np.nan],
            "error_percent": [10.0, 12.0, np.nan, 7.0],
        }
    )
    then = now.rename(columns={"model": "method"}).assign(method="odrf", protocol="Z", status="ok")
    then["error_percent"] = [9.0, 9.0, np.nan, 7.0]
    now.loc[len(now)] = ("a", 2, "forest", np.nan, 90.0)  # not in the other file
    now.to_csv(tmp_path / "now.csv", index=False)
    then.to_csv(tmp_path / "then.csv", index=False)
    files = [str(tmp_path / name) for name in ("now.csv", "then.csv")]
    monkeypatch.setattr("sys.argv", ["forest_beside.py", *files])
    assert forest_beside.main() == 0
    told = capsys.readouterr().out
    assert "| classification | 2 | +10.0 | 10.5 |" in told
    assert "| regression | 1 | +0.0 |" in told
    assert "| a | 2 | 11 | 9 | +22.2 | +2.0 |" in told
    assert "| b |" not in told and "| c |" not in told
