"""The benchmark of learning rates on small tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import learning_rates
from benchmarks.options.learning_rates import Timed


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=list("ab"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    data.assign(y=np.where(score > 0, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score", "sides"], "task": ["regression", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    for name, few in {"ONE_RUNS_ROUNDS": 2, "ROUNDS": 4, "RUNS": 2}.items():
        monkeypatch.setattr(learning_rates, name, few)
    out = folder / "out.csv"
    words = ["learning_rates.py", "--data", str(folder), "--repeats", "1", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert learning_rates.main() == 0
    lines = pd.read_csv(out)
    assert lines["way"].nunique() == 6
    assert lines["table"].unique().tolist() == ["score", "sides"]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["learning_rates.py", "--report", str(out)])
    assert learning_rates.main() == 0
    assert capsys.readouterr().out == told
    for measure in ("rpe", "error_percent", "log_loss"):
        assert f"{measure} beside runs, 1 tables:" in told


class Rounds:
    """Stands for a fit with so many rounds."""

    def __init__(self, n_rounds: int) -> None:
        self.n_rounds = n_rounds


@pytest.mark.parametrize(
    ("gains", "rate", "seconds"),
    [
        ((1.0, 1.0), 0.025, 7.0),  # 30, 60 and 120 rounds
        ((1.0, 0.0), 0.05, 7.0),
        ((0.0, 0.0), 0.1, 3.0),
    ],
)
def test_the_rate_is_halved_while_the_loss_clearly_falls(monkeypatch, gains, rate, seconds):
    losses = {30: 2.0, 60: 2.0 - gains[0], 120: 2.0 - sum(gains)}
    noise = np.random.default_rng(1).normal(0.0, 0.1, (3, 50))

    def out_of_bag(fit, task, y):
        return losses[fit.n_rounds] + noise[list(losses).index(fit.n_rounds)]

    def boosted(rows, task, seed, rate):
        return Timed(Rounds(round(3.0 / rate)), rate, 0.2 / rate)

    class Rows:
        train = pd.DataFrame({"y": np.zeros(50)})

    monkeypatch.setattr(learning_rates, "losses_out_of_bag", out_of_bag)
    monkeypatch.setattr(learning_rates, "runs_at", boosted)
    usual = boosted(Rows, "regression", 0, 0.1)._replace(seconds=1.0)
    monkeypatch.setattr(
        learning_rates, "runs_at", lambda *a: boosted(*a)._replace(seconds=0.1 / a[3])
    )
    found = learning_rates.halved(Rows, "regression", 0, usual)
    assert (found.rate, found.seconds) == (rate, seconds)
