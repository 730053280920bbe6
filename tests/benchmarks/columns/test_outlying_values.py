"""The benchmark of outlying values runs, resumes, and finds that trees do not mind them."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from benchmarks.columns import outlying_values


def test_trees_explain_as_much_beside_outliers(tmp_path, monkeypatch, capsys):
    fits = outlying_values.models(5, 1)
    monkeypatch.setattr(outlying_values, "models", lambda *_: {"odt": fits["odt"]})
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["outlying_values.py", "--out", str(out), "--repeats", "2"])
    assert outlying_values.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * len(outlying_values.PROBLEMS)
    assert lines["explained"].min() > 0.9
    assert "a tenth coded 99999" in capsys.readouterr().out
    before = out.read_text()
    assert outlying_values.main() == 0
    assert out.read_text() == before


def test_the_values_of_a_problem_are_put_in():
    rng = np.random.default_rng(1)
    rows, _ = outlying_values.simulate(rng)
    share = {
        p: (outlying_values.spoilt(rows, p, rng)["x"] != rows["x"]).mean()
        for p in outlying_values.PROBLEMS
    }
    assert share["as it is"] == 0 and share["one of 10⁶"] == 1 / outlying_values.ROWS
    assert 0.07 < share["a tenth coded 99999"] < 0.13
