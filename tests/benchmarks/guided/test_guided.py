"""The benchmark of guided forests, on small problems."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.guided import guided
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
