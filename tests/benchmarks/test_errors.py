"""The benchmark of log losses out of bag runs, and says by how much fewer trees raise them."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.errors import error_estimates, log_loss_out_of_bag, optimism, standard_errors


@pytest.mark.usefixtures("few_pilots")
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


@pytest.mark.usefixtures("few_pilots")
def test_the_log_loss_is_that_of_each_rows_own_class() -> None:
    shares = np.array([[0.2, 0.8], [1.0, 0.0]])
    y = pd.Series(["b", "b"])
    own = log_loss_out_of_bag.of_own_class(shares, ["a", "b"], y)
    assert own.tolist() == [0.8, 0.0]
    expected = -(np.log(0.8) + np.log(np.finfo(float).eps)) / 2
    assert log_loss_out_of_bag.log_loss(own) == pytest.approx(expected)


# ------------------------------------------------------------------------------------------------
# The benchmark of standard errors runs, and its quotients are right where the truth is known.
# ------------------------------------------------------------------------------------------------


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(standard_errors, "KINDS", ("regression",))
    monkeypatch.setattr(sys, "argv", ["standard_errors.py", "--quick", "--out", str(out)])
    assert standard_errors.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * (3 + 1)
    assert (lines[["stated", "new", "std_error", "by_stated"]] > 0).all(axis=None)


@pytest.mark.parametrize("right", [1.0, 0.6])
def test_quotients_of_known_errors(right: float) -> None:
    """Means of 50 losses beside means of 500 others, with a standard error that is right or not."""
    rng = np.random.default_rng(1)
    stated, new = rng.normal(size=2000) / 50**0.5, rng.normal(size=2000) / 500**0.5
    samples = [(s, right / 50**0.5, e, 1 / 500) for s, e in zip(stated, new, strict=True)]
    line = standard_errors.line_of("one", samples, 1)
    by_difference, error, by_stated, error_of_stated = line[5:]
    assert abs(by_difference - right) < 4 * error
    assert abs(by_stated - right) < 4 * error_of_stated
    assert max(error, error_of_stated) < 0.03


# ------------------------------------------------------------------------------------------------
# The benchmark of optimism runs, resumes, and compares every forest with that as grown.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_pilots")
def test_out_of_bag_errors_beside_those_on_new_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optimism, "ROWS", (60,))
    monkeypatch.setattr(optimism, "NEW_ROWS", 200)
    out = tmp_path / "optimism.csv"

    def run(*options: str) -> pd.DataFrame:
        always = ["optimism.py", "--out", str(out), "--trees", "20"]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert optimism.main() == 0
        return pd.read_csv(out)

    lines = run("--repeats", "2")
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 2 * 2 * 6 + 1
    assert printed.count("| 0.000 ± 0.000 |") >= 2 * 2
    assert len(lines) == 2 * 2 * 6 * 2
    assert (lines[["oob", "new"]] > 0).all(axis=None)
    assert run("--repeats", "9").equals(lines)


# ------------------------------------------------------------------------------------------------
# The benchmark of stated errors runs; `tests/statistics/test_stated_errors.py` evaluates some.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_pilots")
def test_a_run_of_error_estimates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["error_estimates.py", "--quick", "--out", str(out)])
    assert error_estimates.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 2 * 3 * 4
    assert (lines[["stated", "new"]] > 0).all(axis=None)
