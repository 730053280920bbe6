"""The benchmark of survival models: tables, partitions, curves, processes, and the report."""

from __future__ import annotations

import math
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.duration.hazard_regression import PHReg

from benchmarks.survival import (
    concordance_coverage,
    survival,
    survival_causes,
    survival_coverage,
    survival_directions,
    survival_report,
    survival_systems,
    survival_tables,
    survival_times,
)
from benchmarks.survival.survival_tables import SurvivalTable
from benchmarks.survival.survival_workers import SurvivalWorker
from odrf import simulate


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one table of 90 rows and some of what tables have."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"time": rng.exponential(size=90), "event": np.arange(90) % 3 == 0})
    data = data.astype({"event": int}).assign(age=rng.integers(20, 80, 90), same=1.0)
    data["stage"] = np.where(rng.random(90) < 0.3, "l1", "l2")
    data["holes"] = np.where(np.arange(90) < 30, np.nan, 1.0 * np.arange(90))
    data["hole"] = np.where(np.arange(90) == 7, np.nan, rng.normal(size=90))
    data.loc[[3, 4], "time"] = 0.0
    (tmp_path / "tables").mkdir()
    data.to_csv(tmp_path / "tables" / "small.csv", index=False)
    return tmp_path / "tables"


def test_a_table_loses_empty_columns_and_rows_and_names(folder: Path) -> None:
    assert survival_tables.survival_table_names(folder) == ["small"]
    data = survival_tables.read_survival_table(folder, "small").data
    assert list(data.columns) == ["time", "event", "x1", "x2", "f1"]
    assert len(data) == 90 - 3
    assert (data["time"] > 0).all()
    assert set(data["f1"]) == {"l1", "l2"}


def test_partitions_are_stratified_and_the_same_again(folder: Path) -> None:
    table = survival_tables.read_survival_table(folder, "small")
    found = list(survival_tables.partitions_of(table, 3, 0))
    again = list(survival_tables.partitions_of(table, 2, 0))
    pd.testing.assert_frame_equal(found[1][0], again[1][0])
    assert not found[0][0].equals(found[1][0])
    for train, test in found:
        assert sorted([*train.index, *test.index]) == list(range(87))
        events = [int(rows["event"].sum()) for rows in (train, test)]
        assert events[0] == 2 * sum(events) // 3


def test_curves_by_hand() -> None:
    train = pd.DataFrame({"time": [1.0, 2.0, 2.0, 4.0], "event": [True, True, False, True]})
    curve = survival_systems.kaplan_meier(train, 0)(train[:1], np.array([0.5, 1, 2, 3, 5]))[1]
    assert curve[0] == pytest.approx([1, 3 / 4, 3 / 4 * 2 / 3, 1 / 2, 0])
    own = np.log([1.0, 2.0, 3.0, 4.0])
    event, time = train["event"].to_numpy(), train["time"].to_numpy()
    times = np.array([0.5, 1.0, 2.5, 4.0])
    found = survival_systems.breslow(time, event, own, np.log([2.0]), times)
    hazards = [0, 1 / 10, 1 / 10 + 1 / 9, 1 / 10 + 1 / 9 + 1 / 4]
    assert found[0] == pytest.approx([math.exp(-2 * hazard) for hazard in hazards])


def test_factors_become_indicators_and_the_response_no_predictor() -> None:
    data = pd.DataFrame({"time": [1.0], "event": [True], "x1": [2.0]})
    data["f1"] = pd.Categorical(["b"], categories=["a", "b", "c"])
    assert survival_systems.indicators(data).to_dict("list") == {
        "x1": [2.0], "f1_b": [1.0], "f1_c": [0.0],
    }  # fmt: skip
    assert survival_systems.structured(data).tolist() == [(True, 1.0)]


def write_partition(folder: Path, place: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Write what a process reads."""
    table = survival_tables.read_survival_table(folder, "small")
    train, test = next(survival_tables.partitions_of(table, 1, 0))
    train.to_csv(place / "train.csv", index=False)
    test.to_csv(place / "test.csv", index=False)
    np.savetxt(place / "times.csv", survival.grid_of(train))
    return train, test


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_a_process_of_r_fits_coxs_model(folder: Path, tmp_path: Path) -> None:
    train, test = write_partition(folder, tmp_path)
    worker = SurvivalWorker("Rscript")
    try:
        assert worker.ask("cox", tmp_path, 0, 60.0)[0] == "ok"
        assert worker.ask("unknown", tmp_path, 0, 60.0)[0] == "failed"
    finally:
        worker.stop()
    risk = np.loadtxt(tmp_path / "risk.csv")
    curves = np.loadtxt(tmp_path / "curves.csv", delimiter=",")

    def matrix(data: pd.DataFrame) -> np.ndarray:
        return survival_systems.indicators(data).to_numpy(float)

    model = PHReg(train["time"], matrix(train), status=train["event"], ties="efron").fit()
    risks = matrix(test) @ model.params
    assert np.ptp(risk - risks) < 1e-4  # another origin
    own = matrix(train) @ model.params
    event = train["event"].to_numpy(bool)
    expected = survival_systems.breslow(
        train["time"].to_numpy(), event, own, risks, survival.grid_of(train)
    )
    np.testing.assert_allclose(curves, expected, atol=1e-4)


def test_a_process_fits_fails_is_killed_and_starts_again(folder: Path, tmp_path: Path) -> None:
    _, test = write_partition(folder, tmp_path)
    worker = SurvivalWorker(sys.executable)
    try:
        assert worker.ask("kaplan_meier", tmp_path, 0, 0.0)[0] == "timed out"
        status, _, _, version = worker.ask("kaplan_meier", tmp_path, 0, 60.0)
        assert (status, version) == ("ok", np.__version__)
        curves = np.loadtxt(tmp_path / "curves.csv", delimiter=",")
        assert curves.shape == (len(test), 100)
        assert (np.diff(curves, axis=1) <= 0).all()
        status, words = worker.ask("unknown", tmp_path, 0, 60.0)
        assert status == "failed"
        assert "KeyError" in words
        assert worker.process is not None
        worker.process.kill()
        worker.process.wait()
        status, words = worker.ask("kaplan_meier", tmp_path, 0, 60.0)
        assert status == "failed"
        assert "the process ended: status -9" in words
    finally:
        worker.stop()


def test_what_is_no_answer_is_a_failure(tmp_path: Path) -> None:
    worker = SurvivalWorker(sys.executable)
    worker.command = [sys.executable, "-c", "input(); print('Growing trees'); input()"]
    assert worker.ask("cox", tmp_path, 0, 60.0) == ["failed", "this is no answer: Growing trees"]
    assert worker.process is None


def test_a_process_that_wants_all_memory_fails_alone(tmp_path: Path) -> None:
    worker = SurvivalWorker(sys.executable)
    wants = "input()\ntry:\n bytearray(13 * 2**30)\n"
    script = wants + "except MemoryError:\n print('failed\\tmemory')\ninput()"
    worker.command = [sys.executable, "-c", script]
    try:
        assert worker.ask("ranger", tmp_path, 0, 60.0) == ["failed", "memory"]
    finally:
        worker.stop()


class Answering:
    """Stands for a process: one system is too slow, one fails once."""

    def __init__(self, program: str) -> None:
        self.asked: list[str] = []

    def ask(self, system: str, folder: Path, seed: int, limit: float) -> list[str]:
        self.asked.append(system)
        if system == "cox":
            return ["timed out", "not done within 120 s"]
        if system == "rpart" and self.asked.count("rpart") == 1:
            return ["failed", "no reason"]
        return ["ok", "0.7", "0.6", "0.2"] if system == "score" else ["ok", "1.5", "0.5", "2.0"]

    def stop(self) -> None:
        self.asked.append("stop")


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, *more: str) -> pd.DataFrame:
    out = folder.parent / "out.csv"
    words = f"survival.py --data {folder} --out {out} --systems cox rpart ranger --partitions 2"
    monkeypatch.setattr(survival, "SurvivalWorker", Answering)
    monkeypatch.setattr(sys, "argv", [*words.split(), *more])
    assert survival.main() == 0
    return pd.read_csv(out)


def test_a_run_and_what_it_does_again(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    lines = run(monkeypatch, folder)
    assert list(lines.columns) == survival.COLUMNS
    of = {name: own["status"].tolist() for name, own in lines.groupby("system")}
    assert of == {"cox": ["timed out"] * 2, "rpart": ["failed", "ok"], "ranger": ["ok"] * 2}
    assert lines["message"].tolist()[3] == "on an earlier partition"
    assert lines["n"].eq(87).all() and lines["p"].eq(3).all()
    good = lines[lines["status"] == "ok"]
    assert good[["uno", "harrell", "brier", "fit_s"]].to_numpy().tolist()[0] == [0.7, 0.6, 0.2, 1.5]
    assert run(monkeypatch, folder).equals(lines)
    again = run(monkeypatch, folder, "--retry")
    assert len(again) == 6
    assert again.groupby("system").size().eq(2).all()


def lines_of(values: dict[str, list[float]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"table": f"t{i}", "partition": k, "system": system, "status": "ok", "uno": value + k,
             "harrell": value, "brier": -value, "fit_s": 1.0, "predict_s": 2.0}
            for system, of in values.items() for i, value in enumerate(of) for k in range(2)
        ]
    )  # fmt: skip


def test_means_leave_out_partitions_that_a_system_lacks() -> None:
    lines = lines_of({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    means = survival_report.means_of(lines.drop(index=1), "uno")
    assert means["b"].to_dict() == {"t0": 3.0, "t1": 4.5}
    never = survival_report.means_of(
        lines[~((lines["system"] == "a") & (lines["table"] == "t0"))], "uno"
    )
    assert never["b"].tolist() == [3.5, 4.5]
    assert never["a"].isna().tolist() == [True, False]


def test_ranks_and_tests_follow_the_direction_of_the_measure() -> None:
    values = {"a": [1.0, 2, 3, 4, 5, 6], "b": [0.5, 1, 1.5, 2, 2.5, 3], "c": [2.0, 3, 4, 5, 6, 7]}
    means = survival_report.means_of(lines_of(values), "harrell")
    tests = survival_report.tests_of(means, "a", larger=True)
    assert tests["mean rank"].to_dict() == {"c": "1.00", "a": "2.00", "b": "3.00"}
    assert tests.loc["b", "won, tied, lost"] == "6, 0, 0"
    assert float(tests.loc["b", "p"]) == pytest.approx(1 / 64, rel=0.05)
    assert float(tests.loc["b", "p, Holm"]) == pytest.approx(2 / 64, rel=0.05)
    assert tests.loc["a", "p"] == ""
    text = survival_report.report(lines_of(values), "a")
    assert "| t0 | **2.000** | 1.000 | 0.500 |" in text
    assert "Every fit ended in time." in text


def test_rows_for_times() -> None:
    drawn = survival_times.rows_of_times("all differ", 500, 1)
    cut = survival_times.rows_of_times("100 intervals", 500, 1)
    assert drawn["time"].nunique() == 500
    assert cut["time"].nunique() <= 100
    assert (cut["time"] > 0).all()
    assert drawn["event"].isin([0, 1]).all()


# ------------------------------------------------------------------------------------------------
# The benchmarks of directions and of splits about causes, on few rows and trees.
# ------------------------------------------------------------------------------------------------


def test_directions_are_compared_on_the_same_rows() -> None:
    data = simulate.proportional_hazards(p=4, relevant=2).sample(120, seed=1)
    table = SurvivalTable("simulated", data.astype({"event": int}))
    lines = survival_directions.compared(table, 0, n_trees=20)
    assert len(lines) == 6
    found = pd.DataFrame(
        [[name, 0, *line] for name in ("simulated", "again") for line in lines],
        columns=survival_directions.COLUMNS,
    )
    assert found["uno"].between(0.5, 1).all() and found["brier"].between(0, 0.25).all()
    assert found.groupby("forest")["uno"].nunique().min() > 1
    text = survival_directions.report(found)
    assert "blend, cox" in text and "+0.00000" in text


def test_rules_of_causes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(survival_causes.SIZES, "few", 120)
    lines = survival_causes.compared("few", 0, n_trees=10)
    found = pd.DataFrame([["few", 0, *line] for line in lines], columns=survival_causes.COLUMNS)
    assert found["rule"].value_counts().to_dict() == dict.fromkeys(survival_causes.RULES, 2)
    assert found["brier"].between(0, 0.25).all()
    first = found[found["rule"] == "all causes"]["fit_s"]
    assert np.ptp(first) == 0
    assert "few, 1, gray" in survival_causes.report(found)


# ------------------------------------------------------------------------------------------------
# The benchmark of bands of survival curves runs, resumes, and knows what covers.
# ------------------------------------------------------------------------------------------------


@pytest.mark.weekly
def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["survival_coverage.py", *options])
    assert survival_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 4 * 3 * (5 + 1)
    assert lines["covered"].between(0, 1).all() and (lines["ratio"].dropna() > 0).all()
    assert survival_coverage.main() == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("name", survival_coverage.PROBLEMS)
def test_times_are_those_by_which_shares_have_had_the_event(name: str) -> None:
    problem = survival_coverage.PROBLEMS[name]()
    times = survival_coverage.times_of(problem)
    survival = problem.survival(problem.sample(4000, seed=3), times)
    np.testing.assert_allclose(
        1 - np.asarray(survival).mean(axis=0), survival_coverage.HAVE_HAD, atol=0.02
    )


def test_what_is_inside() -> None:
    ends = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    assert survival_coverage.inside(np.array([0.2, 0.5]), ends).tolist() == [True, False]


# ------------------------------------------------------------------------------------------------
# The benchmark of intervals of C runs, resumes, and reports what it has measured.
# ------------------------------------------------------------------------------------------------


@pytest.mark.weekly
def test_a_run_of_concordance_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["concordance_coverage.py", *options])
    assert concordance_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 3 * 2
    assert lines[["plain", "by_logit", "out_of_bag", "new"]].stack().between(0, 1).all()
    assert concordance_coverage.main() == 0
    assert capsys.readouterr().out == first


def test_the_report_has_the_ratio_and_the_coverage() -> None:
    line = ["p", 200, 200, 80, "uno_c", 0.7, 0.69, 0.001, 0.82, 0.9125, 0.9, 0.01]
    table = concordance_coverage.report(pd.DataFrame([line], columns=concordance_coverage.COLUMNS))
    assert "| p, uno_c | 0.700 | 0.690 | 0.82 | 91 | 90 |" in table
