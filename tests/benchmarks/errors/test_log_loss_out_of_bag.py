"""The benchmark of log losses out of bag runs, and says by how much fewer trees raise them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.errors import log_loss_out_of_bag

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_log_losses_out_of_bag_beside_those_on_new_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(log_loss_out_of_bag, "ROWS", (80,))
    monkeypatch.setattr(log_loss_out_of_bag, "NEW_ROWS", 200)
    out = tmp_path / "log_loss_out_of_bag.csv"
    asked = ["log_loss_out_of_bag.py", "--out", str(out), "--trees", "30", "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", asked)
    assert log_loss_out_of_bag.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * 2 * 2
    assert capsys.readouterr().out.count("\n| ") == 3 * 2 + 1
    assert (lines[["out_of_bag", "new", "new_by_trees"]] > 0).all(axis=None)
    assert lines["trees"].between(1, 29).all()
    # by Jensen's inequality fewer trees are worse on average
    assert (lines["new_by_trees"] - lines["new"]).mean() > 0


def test_the_log_loss_is_that_of_each_rows_own_class() -> None:
    shares = np.array([[0.2, 0.8], [1.0, 0.0]])
    y = pd.Series(["b", "b"])
    own = log_loss_out_of_bag.of_own_class(shares, ["a", "b"], y)
    assert own.tolist() == [0.8, 0.0]
    expected = -(np.log(0.8) + np.log(np.finfo(float).eps)) / 2
    assert log_loss_out_of_bag.log_loss(own) == pytest.approx(expected)
