"""The benchmark of intervals runs, resumes, and finds about the coverage that is promised."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.inference import (
    effects_coverage,
    effects_of_truth,
    groups,
    importance,
    intervals,
    null_selection,
    probabilities_coverage,
    survival_importance,
)
from benchmarks.inference import interval_coverage as coverage
from benchmarks.inference.effects_coverage import EFFECTS, PREDICTORS
from benchmarks.inference.interval_inventory import inventory


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_pilots: None
) -> Callable[..., pd.DataFrame]:
    """Run the script on small problems and return what its csv then holds."""
    monkeypatch.setattr(intervals, "MEAN_ROWS", 40)
    monkeypatch.setattr(intervals, "MEAN_TREES", 100)
    monkeypatch.setattr(intervals, "MEAN_POINTS", 30)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --rows 150 --trees 40"
        monkeypatch.setattr(sys, "argv", ["intervals.py", *always.split(), *options])
        assert intervals.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_coverage(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--repeats", "2")
    out, err = capsys.readouterr()
    assert "holds none of abalone, concrete" in err
    assert out.count("\n| ") == 3 * 2 + 3 * 3 + 3 * 4 + 1
    covered = lines.groupby(["problem", "method"])["covered"].mean()
    assert covered[:, "conformal"].between(0.91, 0.99).all()
    assert covered[:, "quantile"].between(0.84, 0.99).all()
    assert covered[:, "stack"].between(0.91, 0.99).all()
    width = lines.groupby(["problem", "method"])["width"].mean()
    assert width[:, "stack, narrow"].lt(width[:, "stack, wide"]).all()
    assert covered[:, "stack, narrow"].between(0.85, 1.0).all()
    for trees in ("100 trees", "as advised"):
        assert covered[:, f"jackknife, {trees}"].between(0.75, 1.0).all()
        # the interval does not allow for the forest's bias
        assert covered[:, f"jackknife, {trees}, truth"].lt(covered[:, f"jackknife, {trees}"]).all()
    assert (lines["missing"] == 0).all()
    again = run("--repeats", "9")
    assert again.equals(lines)


# ------------------------------------------------------------------------------------------------
# The benchmark of effects runs, resumes, knows the truth, and recognises intervals that cover.
# ------------------------------------------------------------------------------------------------


def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forests = ["inference", "little bags"]
    options = ["--quick", "--truths", "linear", "--forests", *forests]
    options += ["--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["effects_coverage.py", *options])
    assert effects_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 3 * len(forests) and list(lines["forest"].unique()) == forests
    assert first.count("\n| ") == 3 + 2 + 1
    assert effects_coverage.main() == 0
    assert capsys.readouterr().out == first


def test_a_run_of_effects_of_the_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--truths", "factors", "--out", str(tmp_path / "out.csv")]
    options += ["--table", str(tmp_path / "table.csv")]
    monkeypatch.setattr(sys, "argv", ["effects_of_truth.py", *options])
    assert effects_of_truth.main() == 0
    table = pd.read_csv(tmp_path / "table.csv")
    assert table["target"].tolist() == ["truth", "forest"] and (table["samples"] == 3).all()
    assert capsys.readouterr().out.count("100, factors") == 2


def test_the_true_effects_of_a_plane() -> None:
    for truth in ("linear", "correlated"):
        found = effects_coverage.true_effects(truth)
        np.testing.assert_allclose(
            found, [1, 0.5, -0.5, 0, 2, 1, -1, 0, 1, 0.5, -0.5, 0], atol=1e-9
        )


@pytest.mark.parametrize(("factor", "covered"), [(1.0, 95.0), (0.5, 67.3)])
def test_normal_estimates_are_covered_as_often_as_intervals_are_wide(
    factor: float, covered: float
) -> None:
    rng = np.random.default_rng(1)
    names = [f"slope {name}" for name in PREDICTORS]
    samples = pd.DataFrame(rng.normal(3.0, 2.0, (5000, 4)), columns=names)
    samples[[f"error of {name}" for name in names]] = factor * 2.0
    found = effects_coverage.evaluated(samples, "slope", dict.fromkeys(EFFECTS, 3.0))
    for words in ("expectation covered, %", "truth covered, %"):
        assert float(found[words].split(" ")[0]) == pytest.approx(covered, abs=1.0)
    assert float(found["standard error / empirical"].split(" ")[0]) == pytest.approx(
        factor, rel=0.03
    )


# ------------------------------------------------------------------------------------------------
# The benchmark of intervals runs, and finds the coverage and the sizes that are known.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_pilots")
def test_a_run_of_interval_coverage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    asked = ["--problems", "check", "comparisons", "--quick", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["interval_coverage.py", *asked])
    assert coverage.main() == 0
    lines = pd.read_csv(out)
    assert lines["measured"].between(0, 1).all()
    assert lines["what"].str.startswith(("interval: ", "test: ")).all()


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize(("width", "covered"), [(1.96, 0.95), (1.0, 0.683)])
def test_intervals_of_a_known_width(width: float, covered: float) -> None:
    estimate = np.random.default_rng(1).normal(3, 1, (500, 4))
    samples = [{"x": (e, e - width, e + width)} for e in estimate]
    ((what, R, _, measured, error, *_),) = coverage.coverage_lines(samples)
    assert (what, R) == ("interval: x", 500)
    assert abs(measured - covered) < 4 * error
    assert error < 0.02


@pytest.mark.usefixtures("few_pilots")
def test_bands_must_hold_at_all_points() -> None:
    name = "x" + coverage.TOGETHER
    estimate = np.random.default_rng(1).normal(3, 1, (500, 4))
    samples = [{name: (e, e - 1.96, e + 1.96)} for e in estimate]
    ((*_, measured, error, _, _),) = coverage.coverage_lines(samples)
    assert abs(measured - 0.95**4) < 4 * error


@pytest.mark.usefixtures("few_pilots")
def test_sizes_and_distances_of_p_values() -> None:
    rng = np.random.default_rng(1)
    samples = [{"right": [rng.random()], "wrong": [rng.random() ** 2]} for _ in range(500)]
    right, wrong = coverage.size_lines(samples)
    assert abs(right[3] - 0.05) < 4 * right[4] and right[6] > 0.001
    assert abs(wrong[3] - 0.05**0.5) < 4 * wrong[4] and wrong[6] < 1e-6
    assert wrong[5] == pytest.approx(0.25, abs=0.06)


# ------------------------------------------------------------------------------------------------
# The benchmark of intervals of probabilities runs, and its scores have the areas asked for.
# ------------------------------------------------------------------------------------------------


def test_a_run_of_probabilities_coverage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in {"AREAS": (0.7,), "SIZES": (40,), "RATES": (0.5,), "MANY": 1000}.items():
        monkeypatch.setattr(probabilities_coverage, name, few)
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["probabilities_coverage.py", "--quick", "--out", str(out)])
    probabilities_coverage.main()
    lines = pd.read_csv(out)
    assert lines["what"].tolist() == ["area 0.7", "precision 0.7", "bins", "band"]
    assert lines["coverage"].between(0, 1).all() and (lines["width"] > 0).all()


@pytest.mark.parametrize("area", [0.5, 0.7, 0.98])
def test_scores_have_the_area_that_is_asked(area: float) -> None:
    p, event = probabilities_coverage.scored(np.random.default_rng(1), 40_000, 0.3, area)
    assert event.mean() == pytest.approx(0.3)
    assert roc_auc_score(event, p) == pytest.approx(area, abs=0.01)


# ------------------------------------------------------------------------------------------------
# The benchmark of groups runs, resumes, and finds what groups= promises.
# ------------------------------------------------------------------------------------------------


def test_a_run_of_groups(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(groups, "GROUPS", 30)
    monkeypatch.setattr(groups, "ROWS", 8)
    monkeypatch.setattr(groups, "NEW_GROUPS", 100)
    monkeypatch.setattr(groups, "SHARES", (0.6,))
    options = ["--repeats", "3", "--trees", "40", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["groups.py", *options])
    assert groups.main() == 0
    first = capsys.readouterr().out
    assert first.count("\n| ") == 2 + 1
    lines = pd.read_csv(tmp_path / "out.csv").groupby("method").mean(numeric_only=True)
    assert lines.loc["groups", "covered"] > 0.84 > 0.8 > lines.loc["rows", "covered"]
    assert lines.loc["rows", "oob"] > lines.loc["rows", "new"] + 0.2
    assert abs(lines.loc["groups", "oob"] - lines.loc["groups", "new"]) < 0.2
    assert groups.main() == 0
    assert capsys.readouterr().out == first


# ------------------------------------------------------------------------------------------------
# The benchmark of errors of importances runs, resumes, and finds them right for noise.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_pilots")
def test_noise_is_within_its_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importance, "ROWS", (80,))
    out = tmp_path / "importance.csv"

    def run(*options: str) -> pd.DataFrame:
        always = ["importance.py", "--out", str(out), "--trees", "40"]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert importance.main() == 0
        return pd.read_csv(out)

    lines = run("--repeats", "2")
    assert len(lines) == 2 * 2 * 2 * 8
    assert capsys.readouterr().out.count("\n| ") == 2 * 2 + 1
    noise = lines[~lines["predictor"].isin(["x0", "x1"])]
    assert 0.5 < (noise["importance"] / noise["std_error"]).std() < 1.4
    assert (lines["std_error"] > lines["monte_carlo_error"]).all()
    assert run("--repeats", "9").equals(lines)


def test_tests_of_importance_for_times_run_and_keep_their_level(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "survival_importance.csv")
    monkeypatch.setattr(sys, "argv", ["survival_importance.py", "--quick", "--out", out])
    assert survival_importance.main() == 0
    first = capsys.readouterr().out
    assert first.count("\n| ") == 3 * 3 + 1 + 3 + 2
    assert survival_importance.main() == 0
    assert capsys.readouterr().out == first
    results = Path(survival_importance.__file__).with_name("results")
    lines = pd.read_csv(results / "survival_importance.csv")
    without = lines[lines["method"].isin(["conditional", "loco"]) & lines["term"].isin(["c", "d"])]
    of_samples = without.groupby(["method", "correlation", "repeat"])["rejected"].mean()
    sizes = of_samples.groupby(["method", "correlation"]).agg(["mean", "sem"])
    assert (sizes["mean"] < 0.05 + 2.6 * sizes["sem"]).all()


# ------------------------------------------------------------------------------------------------
# The inventory of intervals reads the committed results, and lists those that are printed.
# ------------------------------------------------------------------------------------------------

RESULTS = Path(__file__).parents[2] / "benchmarks" / "inference" / "results"


def test_the_inventory_lists_what_has_intervals() -> None:
    table = inventory(RESULTS)
    assert not table["interval"].duplicated().any()
    listed = " ".join(table["interval"])
    for method in (
        "predict", "get_prediction", "predictions", "comparisons", "slopes", "hypotheses",
        "partial", "ale", "importance", "calibration", "discrimination", "predictive_check",
        "learning_curve",
    ):  # fmt: skip
        assert f"{method}(" in listed
    assert table["covered"].between(table["lowest"], table["highest"]).all()
    assert table["highest"].max() <= 1


def test_the_committed_table_is_that_of_the_committed_results() -> None:
    written = pd.read_csv(RESULTS / "interval_inventory.csv")
    pd.testing.assert_frame_equal(written, inventory(RESULTS), rtol=1e-3, check_dtype=False)


# ------------------------------------------------------------------------------------------------
# The benchmark of choices among predictors that do not matter runs.
# ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("few_pilots")
def test_a_run_of_null_selection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["null_selection.py", "--quick", "--out", str(out)])
    assert null_selection.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * 2 * 2
    assert lines["chosen"].isin([*null_selection.PREDICTORS, "none"]).all()
