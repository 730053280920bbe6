"""The benchmark of sizes of a single tree runs, resumes, and says where there is nothing to do."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import sizes


def test_three_sizes_of_each_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.random((150, 3)), columns=list("abc"))
    noisy = data["a"] + rng.normal(size=150) / 3
    out = tmp_path / "sizes.csv"

    def run() -> str:
        argv = f"sizes.py --data {tmp_path} --out {out} --rows 150 --partitions 2"
        monkeypatch.setattr(sys, "argv", argv.split())
        assert sizes.main() == 0
        return capsys.readouterr().out

    assert run() == ""
    data.assign(y=noisy).to_csv(tmp_path / "number.csv.gz", index=False)
    data.assign(y=np.where(noisy > 0.5, "u", "v")).to_csv(tmp_path / "class.csv.gz", index=False)
    rows = ["number,regression,150", "class,classification,150", "large,regression,151"]
    (tmp_path / "index.csv").write_text("\n".join(["name,task,n", *rows]))
    printed = run()
    assert printed.count("\n| ") == 3 * 3 + 1 + 2 + 2
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["number", "class"]
    leaves = lines.pivot_table(index=["table", "partition"], columns="size", values="leaves")
    assert (leaves["grown"] >= leaves["min"]).all()
    assert (leaves["min"] >= leaves["1se"]).all()
    assert run() == printed
