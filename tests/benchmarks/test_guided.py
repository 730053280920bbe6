"""The benchmark of guided forests, on small problems."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.guided import guided, guided_device, sensitivity
from odrf import graf, load_data, odrf, simulate


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script with few rows and trees, and return what its csv then holds."""
    data = tmp_path / "tables"
    data.mkdir()
    wine = load_data("wine").rename(columns={"cultivar": "y"})
    wine[[*wine.columns.drop("y"), "y"]].to_csv(data / "sonar.csv.gz", index=False)
    index = pd.DataFrame(
        {"name": ["sonar"], "task": ["classification"], "n": [len(wine)], "p": [13]}
    )
    index.to_csv(data / "index.csv", index=False)
    small = {
        "PREDICTORS": (3, 5),
        "FINAL_TREES": 10,
        "TUNING_TREES": 3,
        "TUNING_FOLDS": 2,
        "SUBSPACES": ("sqrt", "all"),
        "LEAST": (2,),
        "ALONG": {"trees": (2, 10), "rows": (60,)},
        "RBF_ROWS": 80,
        "RBF_SAMPLES": 3,
        "RBF_METHODS": ("GRAF", "RF"),
    }
    for name, value in small.items():
        monkeypatch.setattr(guided, name, value)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {data} --out {tmp_path / 'out.csv'} --trees 10 --repeats 2"
        monkeypatch.setattr(sys, "argv", ["guided.py", *always.split(), *options])
        assert guided.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_hypercubes(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--parts", "hypercube")
    counts = lines.groupby("method").size()
    assert {"GRAF", "GRAF, 5", "RF", "ET", "oblique, ridge"} <= set(counts.index)
    assert (counts == 2 * 2 * 2).all()
    assert lines["value"].between(-1, 1).all()
    measured = lines.set_index("method")["size"]
    assert (measured["GRAF"] > 0).all()
    assert measured["RF"].isna().all()
    assert "mean size of the model" in capsys.readouterr().out
    assert run("--parts", "hypercube").equals(lines)


def test_tables_beside_what_was_published(
    run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run("--parts", "tables")
    assert lines.groupby("method").size().to_dict() == dict.fromkeys(
        ("GRAF", "GRAF, region", "RF"), 2 * 4
    )
    assert (lines["value"] > 0.7).all()
    assert "| sonar |" in capsys.readouterr().out


def test_bias_and_variance(
    run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run("--parts", "rbf")
    assert len(lines) == 2 * (2 + 2)
    assert lines["bias2"].add(lines["variance"]).sub(lines["value"]).abs().max() < 0.1
    assert "**2 classes, by trees**" in capsys.readouterr().out


def test_a_model_is_as_large_as_the_paper_counts() -> None:
    rows = simulate.hypercube(4).sample(60, seed=1)
    forest = odrf("y ~ .", rows, projection="sphere", n_trees=2, blend=False, seed=1)
    inner = forest.n_leaves - 1
    assert guided.size_of(forest) == (inner * (4 + 1) + 2 * inner + forest.n_leaves).sum()
    fit = graf("y ~ .", rows, n_trees=2, seed=1)
    assert guided.size_of(fit) == fit.model_size


# ------------------------------------------------------------------------------------------------
# The benchmark of kept rows runs, resumes, and reports what is lost.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def run_of_sensitivity(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pd.DataFrame]:
    """Run the script on two small tables and return what its csv then holds."""
    monkeypatch.setattr(sensitivity, "TUNING_TREES", 2)
    monkeypatch.setattr(sensitivity, "MODEL_TREES", 3)
    names = ["board", "slices"]
    index = pd.DataFrame({"name": names, "task": "classification"})
    index.to_csv(tmp_path / "index.csv", index=False)
    for name, problem in zip(names, (simulate.checkerboard(), simulate.pie()), strict=True):
        problem.sample(150, seed=1).to_csv(tmp_path / f"{name}.csv.gz", index=False)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 4 --rows 120"
        always += " --tables board,slices"
        monkeypatch.setattr(sys, "argv", ["sensitivity.py", *always.split(), *options])
        assert sensitivity.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(
    run_of_sensitivity: Callable[..., pd.DataFrame],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = run_of_sensitivity("--repeats", "2")
    assert len(lines) == 2 * 2 * 6 * 2
    assert not lines.duplicated(["table", "repeat", "rows", "model"]).any()
    assert (lines["n_train"] == 84).all() and lines["error"].between(0, 1).all()
    out = capsys.readouterr().out
    assert out.count("\n| ") == 2 * (2 + 2)
    assert run_of_sensitivity("--repeats", "2", "--report", str(tmp_path / "out.csv")).equals(lines)
    assert capsys.readouterr().out == out
    assert run_of_sensitivity("--repeats", "2").equals(lines)


def test_losses_are_against_all_rows() -> None:
    keys = ["table", "repeat", "rows", "model", "error"]
    errors = [("all rows", 0.1), ("uniform", 0.2), ("top, regions of 2", 0.15)]
    lines = [("t", repeat, rows, "odrf", error) for repeat in range(2) for rows, error in errors]
    text = sensitivity.report(pd.DataFrame(lines, columns=keys))
    assert text.splitlines()[-1] == "| t | 10.0 | 10.0 ± 0.0 | **5.0 ± 0.0** |"


def test_rows_of_one_class_predict_it() -> None:
    data = pd.DataFrame({"x": range(4), "y": list("aaab")})
    assert sensitivity.errors(data[:2], data, "all", 1) == {"odrf": 0.25, "graf": 0.25}


# ------------------------------------------------------------------------------------------------
# The benchmark of the ways in which planes are evaluated, on small problems.
# ------------------------------------------------------------------------------------------------


@pytest.mark.weekly
def test_the_ways_are_timed_and_agree(tmp_path, monkeypatch, capsys):
    out = tmp_path / "guided_device.csv"
    monkeypatch.setattr(guided_device, "SIZES", (100, 200, 300))
    monkeypatch.setattr(guided_device, "PREDICTORS_AND_TRIALS", ((3, 3),))
    always = ["guided_device.py", "--out", str(out), "--repeats", "1", "--trees", "2"]
    monkeypatch.setattr(sys, "argv", [*always, "--rows", "200"])
    assert guided_device.main() == 0
    lines = pd.read_csv(out)
    assert lines["rows"].unique().tolist() == [100, 200]
    assert lines["way"].unique().tolist()[:2] == ["plain", "batched"]
    assert (lines["agreement"] == 1).all()
    assert lines.groupby(["rows", "threads"])["kappa"].nunique().eq(1).all()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["guided_device.py", "--report", str(out)])
    assert guided_device.main() == 0
    assert "at least 100.00 % of the rows have the class" in capsys.readouterr().out
