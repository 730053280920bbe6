"""The speed benchmark runs, and its report says what the seconds say."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.methods.methods import Method
from benchmarks.speed import boosting_time, cores, partial_dependence, prediction, roofline
from benchmarks.speed.roofline_kernels import Work, comparators
from benchmarks.speed.speed_report import comparison, exponents, report
from benchmarks.speed.startup import seconds_of


@pytest.fixture
def timings() -> pd.DataFrame:
    """Two methods, whose times follow power laws; the machine is slower in each repetition."""
    laws = {"rf": (1e-3, 1.0, 0.5), "peer": (3e-3, 1.5, 0.25)}
    return pd.DataFrame(
        {
            "table": "simulated",
            "classes": 2,
            "n": n,
            "p": p,
            "test_rows": 100,
            "trees": trees,
            "threads": 1,
            "method": method,
            "repetition": repetition,
            "fit_s": factor * n**in_n * p**in_p * trees * (1 + repetition),
            "predict_s": 0.5 * (1 + repetition),
            "row_us": 10.0,
            "error": 0.25,
            "peak_mb": float("nan"),
        }
        for repetition, n, p, trees in product(range(3), (1000, 10_000), (10, 40), (5, 20))
        for method, (factor, in_n, in_p) in laws.items()
    )


def test_exponents_are_those_of_the_power_laws(timings: pd.DataFrame) -> None:
    slopes = exponents(timings)["fit_s"]
    assert slopes.loc["rf"].to_dict() == pytest.approx({"n": 1.0, "p": 0.5, "trees": 1.0})
    assert slopes.loc["peer"].to_dict() == pytest.approx({"n": 1.5, "p": 0.25, "trees": 1.0})


def test_ratios_are_taken_within_repetitions(timings: pd.DataFrame) -> None:
    runs = timings.query("n == 1000 and p == 10 and trees == 5")
    table = comparison(runs[~((runs["method"] == "peer") & (runs["repetition"] == 2))], "rf")
    assert table.loc["rf", "fit_ratio"] == 1
    assert table.loc["peer", "fit_ratio"] == pytest.approx(3 * 1000**0.5 / 10**0.25)
    assert table.loc["peer", "predict_ratio"] == pytest.approx(1)


def test_report_heads_each_problem(timings: pd.DataFrame) -> None:
    text = report(timings, "rf")
    assert "simulated: n = 10,000, p = 40, K = 2; 20 trees, threads: 1; 100 test rows" in text
    assert text.count("simulated: ") == 8


def test_a_small_run_writes_every_repetition(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    few_pilots: None,
) -> None:
    pytest.importorskip("sklearn")
    speed = import_module("benchmarks.speed.speed")
    out = tmp_path / "timings.csv"
    sizes = "--rows 200 --columns 6 --classes 2,1 --trees 2 --test-rows 100 --single-rows 2"
    asked = ["speed.py", *sizes.split(), "--methods", "odrf,rf", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", asked)
    speed.main()
    written = pd.read_csv(out)
    assert written.groupby(["classes", "method"]).size().tolist() == [3, 3, 3, 3]
    assert written["error"].between(0, 1).all()
    assert "n = 200, p = 6, regression" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------
# The roofs are measured, and a kernel's limit is the longest of its times.
# ------------------------------------------------------------------------------------------------


def known() -> pd.DataFrame:
    lines = [
        ("read", 2**14, 0.01), ("read", 2**30, 0.05), ("gather", 2**14, 0.2),
        ("gather", 2**30, 20.2), ("lanes", 0, 0.03), ("singly", 0, 0.1),
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=["name", "held", "ns"])


@pytest.mark.parametrize(
    ("work", "limit", "of"),
    [
        (Work(print, 2.0**22, 4, 100, 1), 1.0, "all bytes"),
        (Work(print, 2.0**22, 100, 110, 1), 3.0, "each array once"),
        (Work(print, 2.0**14, 4, 10, 20), 2.0, "operations"),
        (Work(print, 2.0**14, 4, 10, 20, lanes=True), 0.6, "operations"),
        (Work(print, 2.0**14, 4, 10, 1, 3, 2.0**22), 30.6, "gathers"),
    ],
)
def test_limit_is_the_longest_time(work: Work, limit: float, of: str) -> None:
    found, what = roofline.limit_of(work, known())
    assert found == pytest.approx(limit)
    assert what == of


@pytest.mark.parametrize(("m", "comparisons"), [(2, 1), (4, 5), (8, 19), (16, 63)])
def test_comparisons_of_merge_exchange(m: int, comparisons: int) -> None:
    """Knuth, The Art of Computer Programming, vol. 3, section 5.3.4."""
    assert comparators(m) == comparisons


def test_kernels_are_measured_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {name: (kernel, sizes[:1]) for name, (kernel, sizes) in roofline.KERNELS.items()}
    monkeypatch.setattr(roofline, "KERNELS", few)
    monkeypatch.setattr(roofline, "READ", (2**14, 2**16))
    out, picture = tmp_path / "out.csv", tmp_path / "out.png"
    monkeypatch.setattr(
        sys, "argv", ["roofline.py", "--out", str(out), "--plot", str(picture), "--turns", "2"]
    )
    roofline.main()
    lines = pd.read_csv(out)
    assert lines["rows"].count() == len(few)
    assert (lines["ns"] > 0).all()
    assert picture.stat().st_size > 0
    assert "| projection | 16 |" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------
# The benchmark of boosted trees' times runs, resumes, and reports.
# ------------------------------------------------------------------------------------------------


def waits(train, task, setting):
    sum(range(len(train)))


def test_times_are_measured_in_turns(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=90), "y": rng.choice(list("uvw"), 90)})
    data.to_csv(tmp_path / "made.csv.gz", index=False)
    index = pd.DataFrame({"name": ["made"], "task": ["classification"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    out = tmp_path / "out.csv"
    methods = {name: Method("none", waits) for name in ("odbt", "lightgbm")}
    monkeypatch.setattr(boosting_time, "METHODS", methods)
    arguments = ["boosting_time.py", "--data", str(tmp_path), "--out", str(out), "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert boosting_time.main() == 0
    lines = pd.read_csv(out)
    assert lines["method"].tolist() == ["odbt", "lightgbm", "lightgbm", "odbt"]
    assert (lines[["rows", "predictors", "outputs"]] == [60, 1, 3]).all(axis=None)
    before = out.read_text()
    assert boosting_time.main() == 0
    assert out.read_text() == before
    capsys.readouterr()


def test_the_report_has_ratios_of_medians():
    lines = pd.DataFrame(
        [
            ("a", 100, 4, 1, turn, method, seconds)
            for method, times in {"odbt": (4.0, 2.0, 9.0), "lightgbm": (1.0, 2.0, 5.0)}.items()
            for turn, seconds in enumerate(times)
        ],
        columns=boosting_time.COLUMNS,
    )
    printed = boosting_time.report(lines)
    assert "| a | 100 | 4 | 1 | 4.000 | 2.000 | 2.0 |" in printed
    assert "above 3 on 0 of 1 tables" in printed


# ------------------------------------------------------------------------------------------------
# The benchmark of predictions runs, and its report says what the microseconds say.
# ------------------------------------------------------------------------------------------------


def test_ratios_and_targets_are_those_of_the_lines() -> None:
    lines = pd.DataFrame(
        [("batches", 200, 10, 2, 100, 100, method, "1", us) for method, us in
         (("odrf", 4.0), ("ydf_oblique", 8.0), ("ydf_axis", 6.0))],
        columns=prediction.COLUMNS,
    )  # fmt: skip
    text = prediction.report(lines)
    assert "ydf_oblique takes at least 2 times as long as odrf in 1 of 1 cases" in text
    assert "ydf_axis takes at least 2 times as long as odrf in 0 of 1 cases" in text
    assert "| 200, 10, 2 | 4.00 | 8.00 | 6.00 | 2.0 | 1.5 |" in text


def test_predictions_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [("batches", 200, 10, 2), ("single", 200, 10, 1)]
    monkeypatch.setattr(prediction, "tasks", lambda largest: tasks)
    monkeypatch.setattr(prediction, "BATCH_TREES", 5)
    monkeypatch.setattr(prediction, "ROW_TREES", 5)
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["prediction.py", "--out", str(out), "--turns", "2"])
    prediction.main()
    lines = pd.read_csv(out)
    assert set(lines["size"]) == {10_000, 1_000, 100, 1}
    assert (lines["microseconds"] > 0).all()
    assert "Single rows" in capsys.readouterr().out


# ------------------------------------------------------------------------------------------------
# The benchmark of threads runs, and its ratios are those of turns.
# ------------------------------------------------------------------------------------------------


def test_ratios_are_medians_over_turns() -> None:
    lines = [
        {"method": "odrf", "trees": 9, "n": 50, "classes": 2, "threads": threads,
         "repetition": turn, "seconds": seconds, "processor_seconds": 1.0}
        for turn, both in enumerate([(4.0, 2.0), (9.0, 3.0), (2.0, 2.0)])
        for threads, seconds in zip((1, 2), both, strict=True)
    ]  # fmt: skip
    assert "| odrf | 9 | 50 | 2 | 4.0 | 2.0 | 2.0 |" in cores.report(pd.DataFrame(lines))


@pytest.mark.weekly
def test_fits_are_timed_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CASES", [("odt", 1, 2000, 1), ("odrf", 100, 500, 2)])
    out = tmp_path / "cores.csv"
    monkeypatch.setattr(sys, "argv", ["cores.py", "--out", str(out), "--repetitions", "1"])
    cores.main()
    found = pd.read_csv(out)
    assert found["threads"].tolist() == [1, 2, 1, 2]
    assert (found["seconds"] > 0).all()


# ------------------------------------------------------------------------------------------------
# The benchmark of partial dependence runs, and its ways agree.
# ------------------------------------------------------------------------------------------------


def test_all_cases_are_timed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["partial_dependence.py", "--quick"])
    monkeypatch.setattr(
        partial_dependence, "CASES", {"a number": ["x0"], "number and factor": ["x0", "few"]}
    )
    partial_dependence.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["a number", "number and factor"]


# ------------------------------------------------------------------------------------------------
# Another version of the package is imported from its folder, wherever the script runs.
# ------------------------------------------------------------------------------------------------


def test_the_package_of_the_folder_is_imported(tmp_path: Path) -> None:
    (tmp_path / "odrf.py").write_text("THERE = True")
    found = seconds_of("import odrf", "assert odrf.THERE", str(tmp_path), tmp_path)
    assert found["import"] > 0
