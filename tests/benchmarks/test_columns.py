"""The benchmarks of missing values and of factors: holes by their mechanisms, runs, reports."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.columns import (
    comparison,
    factors,
    factors_time,
    images,
    images_report,
    level_effects,
    missing,
    missing_time,
    noise_factors,
    outlying_values,
)
from benchmarks.columns.comparison import case_losses, rank_table
from benchmarks.columns.holes import MECHANISMS, with_holes
from benchmarks.methods.methods import METHODS, Setting, indicators
from benchmarks.methods.raw_methods import RAW_METHODS, fill_by_median
from fitted_here import Here

pytest.importorskip("sklearn")


LEVELS = ["low", "middle", "high"]


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    """Five numbers, a factor, and a response."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(600, 5)), columns=[f"x{j}" for j in range(1, 6)])
    data["x6"] = pd.Categorical(rng.choice(LEVELS, 600), LEVELS)
    return data.assign(y=data["x1"] + data["x2"] + rng.normal(size=600))


@pytest.fixture
def folder(tmp_path: Path, data: pd.DataFrame) -> Path:
    """A table without missing values, one with them, both under names that the benchmarks know."""
    data.head(120).to_csv(tmp_path / "concrete.csv.gz", index=False)
    holed = with_holes(data.head(120), "random", 0.2, [1])
    holed.assign(y=np.where(holed["y"] > 0, "u", "v")).to_csv(
        tmp_path / "ozone.csv.gz", index=False
    )
    data.head(120).to_csv(tmp_path / "servo.csv.gz", index=False)
    index = "name,task\nconcrete,regression\nozone,classification\nservo,regression\n"
    (tmp_path / "index.csv").write_text(index)
    return tmp_path


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, few_pilots: None
) -> Callable[..., pd.DataFrame]:
    """Run a script with some options and return what its csv then holds."""
    monkeypatch.setattr(comparison, "Fitter", Here)

    def run_it(script: str, *options: str) -> pd.DataFrame:
        always = f"--data {folder} --out {folder / 'out.csv'} --trees 3 --rows 60"
        monkeypatch.setattr(sys, "argv", [f"{script}.py", *always.split(), *options])
        assert import_module(f"benchmarks.columns.{script}").main() == 0
        return pd.read_csv(folder / "out.csv")

    return run_it


# Holes


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_share_of_the_cells_is_emptied(data: pd.DataFrame, mechanism: str) -> None:
    holed = with_holes(data, mechanism, 0.3, [5])
    shares = holed.isna().mean()
    emptied = shares[shares > 0]
    assert np.allclose(emptied, 0.3) and "y" not in emptied
    assert len(emptied) == (3 if mechanism == "other" else 6)
    pd.testing.assert_frame_equal(holed.fillna(data), data)
    assert holed.isna().to_numpy()[with_holes(data, mechanism, 0.1, [5]).isna().to_numpy()].all()
    assert not holed.equals(with_holes(data, mechanism, 0.3, [6]))


def correlations(data: pd.DataFrame, mechanism: str) -> pd.DataFrame:
    """Correlations of the columns (rows of the result) with the holes of each predictor."""
    values = data.assign(x6=data["x6"].cat.codes)
    holes = with_holes(data, mechanism, 0.3, [5]).isna().astype(float)
    return pd.DataFrame({name: values.corrwith(holes[name]) for name in holes if holes[name].any()})


def test_holes_at_random_follow_nothing(data: pd.DataFrame) -> None:
    assert (correlations(data, "random").abs() < 0.15).all(axis=None)


def test_holes_by_another_predictor_follow_one_without_holes(data: pd.DataFrame) -> None:
    found = correlations(data, "other")
    whole = found.drop(index=[*found, "y"])
    assert len(whole) == 3
    assert (whole.abs().max() > 0.3).all() and ((whole.abs() < 0.15).sum() == 2).all()
    assert (found.loc[[*found]].abs() < 0.15).all(axis=None)


def test_holes_by_themselves_follow_their_own_value(data: pd.DataFrame) -> None:
    found = correlations(data, "itself")
    own = np.diag(found.loc[[*found], [*found]])
    assert (own[:5] > 0.4).all()
    holes = with_holes(data, "itself", 0.3, [5])["x6"].isna()
    assert np.ptp(holes.groupby(data["x6"], observed=True).mean()) > 0.4


def test_holes_by_the_response_say_something_of_it(data: pd.DataFrame) -> None:
    found = correlations(data, "response")
    assert (found.loc["y"] > 0.1).all()
    assert (found.loc["y"] > found.loc["x3":"x5"].max()).all()


def test_an_empty_factor_has_empty_indicators(data: pd.DataFrame) -> None:
    rows = data.drop(columns="y").head(4).copy()
    rows.loc[2, "x6"] = np.nan
    columns = indicators(rows)
    assert columns.loc[2, [f"x6_{level}" for level in LEVELS]].isna().all()
    assert columns.isna().to_numpy().sum() == 3
    assert columns.drop(index=2).iloc[:, 5:].sum(axis=1).eq(1).all()


# Methods


@pytest.mark.parametrize("name", [*RAW_METHODS, "rf", "hgb"])
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_methods_take_empty_cells(data: pd.DataFrame, name: str, task: str) -> None:
    method = (METHODS | RAW_METHODS)[name]
    pytest.importorskip(method.library.partition(".")[0])
    rows = data.assign(y=np.where(data["y"] > 0, "u", "v")) if task == "classification" else data
    if name != "odrf_indicators":
        rows = with_holes(rows, "random", 0.2, [3])
    predict = method.fit(rows.iloc[:400], task, Setting(20, 0, 1))
    predicted = predict(rows.iloc[400:].drop(columns="y"))
    test = rows["y"].iloc[400:]
    if task == "regression":
        assert np.mean((predicted - test) ** 2) < 0.75 * test.var()
    else:
        assert np.allclose(predicted.sum(axis=1), 1)
        assert np.mean((predicted[:, 1] > 0.5) == (test == "v")) > 0.6


def test_a_class_of_incomplete_rows_alone_gets_no_probability(data: pd.DataFrame) -> None:
    rows = data.head(90).assign(y=np.repeat(["u", "v", "w"], 30))
    rows.loc[rows["y"] == "v", "x1"] = np.nan
    predict = RAW_METHODS["odrf_drop"].fit(rows, "classification", Setting(3, 0, 1))
    predicted = predict(rows.drop(columns="y"))
    assert (predicted[:, 1] == 0).all() and np.allclose(predicted.sum(axis=1), 1)


def test_filling_uses_the_training_rows_alone(data: pd.DataFrame) -> None:
    holed = with_holes(data, "itself", 0.5, [3])
    train, test = holed.iloc[:400], holed.iloc[400:]
    filled = fill_by_median(train)(test)
    assert filled.notna().to_numpy().all()
    assert (filled["x1"][test["x1"].isna()] == train["x1"].median()).all()
    assert (filled["x6"][test["x6"].isna()] == train["x6"].mode()[0]).all()
    pd.testing.assert_frame_equal(filled.where(test.notna()), test)


# Runs


def test_a_run_on_empty_cells(
    run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--shares", "0.3", "--methods", "odrf_split,odrf_drop,rf"]
    first = run("missing", *options, "--repeats", "1")
    lines = run("missing", *options, "--repeats", "2")
    assert lines.head(len(first)).equals(first)
    assert len(lines) == 2 * 3 * (4 + 1)
    assert set(lines["mechanism"]) == {"own", *MECHANISMS}
    assert lines.query("method == 'rf'")["loss"].between(0, 2).all()
    assert lines.query("method == 'rf' and table == 'ozone'")["log_loss"].notna().all()
    own = lines[lines["mechanism"] == missing.OWN]
    assert np.allclose(own["share"], 0.2)
    printed = capsys.readouterr().out
    for text in ("| itself 30% | 1 |", "| own | 1 |", "| all | 5 |", "median ratio to rf"):
        assert text in printed


def test_the_report_compares_splits_with_every_other_method() -> None:
    ratios = {"rf": 4.0, "odrf_split": 1.0, "odrf_median": 2.0}
    lines = pd.DataFrame(
        [
            {"table": table, "method": method, "loss": scale * ratio}
            for table, scale in (("a", 1.0), ("b", 2.0), ("c", 5.0))
            for method, ratio in ratios.items()
        ]
    ).assign(mechanism="itself", share=0.3, partition=0, status="ok", fit_s=1.0, classes=1)
    text = missing.report(lines)
    assert "| itself 30% | 3 | **1.00** | 2.00 | 3.00 |" in text
    assert "| itself | 0.500 (3:0, 0.12) | 0.250 (3:0, 0.12) |" in text
    assert "Every fit came to its end." in text


def test_a_method_without_a_result_on_a_partition_has_no_mean() -> None:
    lines = pd.DataFrame(
        {
            "table": ["a"] * 4,
            "partition": [0, 0, 1, 1],
            "method": ["u", "v"] * 2,
            "loss": [1.0, 0.5, 3.0, np.nan],
        }
    )
    losses = case_losses(lines, ["table"])
    assert losses.loc["a", "u"] == 2 and np.isnan(losses.loc["a", "v"])
    assert "| a | 1 | **1.00** | 2.00 |" in rank_table(losses, ["table"], "table")


def test_a_run_on_factors(
    run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--methods", "odrf,odrf_indicators,rf", "--repeats", "2"]
    lines = run("factors", *options)
    assert len(lines) == 2 * 3 and set(lines["table"]) == {"servo"}
    assert lines["loss"].between(0, 2).all() and (lines["n_train"] == 60).all()
    assert run("factors", *options).equals(lines)
    printed = capsys.readouterr().out
    assert "| servo |" in printed and "| rf |" in printed
    assert factors.losses_table(case_losses(lines, factors.CASE)) in printed


def test_times_with_and_without_empty_cells(
    run: Callable[..., pd.DataFrame],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(missing_time, "TABLES", ("concrete",))
    options = ["--repeats", "2"]
    run("missing_time", *options, "--label", "before")
    lines = run("missing_time", *options)
    assert len(lines) == 2 * 3 * 2 and (lines["seconds"] > 0).all()
    assert lines.groupby(["repeat", "cells"])["checksum"].nunique().eq(1).all()
    assert lines.groupby(["repeat", "label"])["checksum"].nunique().eq(3).all()
    lines.loc[lines["label"] == "now", "checksum"] = "other"
    assert capsys.readouterr().out.count(" yes |") == 1 + 2
    assert missing_time.report(lines).count(" no |") == 1


# ------------------------------------------------------------------------------------------------
# The benchmark of images runs, goes on, reports and draws.
# ------------------------------------------------------------------------------------------------

SMALL = "--problems circle,digits --largest 100 --trees 2 --data nowhere"


@pytest.fixture
def run_of_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], pd.DataFrame]:
    """Run the script with options and return what its csv then holds."""
    monkeypatch.setattr(images, "TEST_ROWS", 200)
    out = tmp_path / "images.csv"

    def run_it(options: str) -> pd.DataFrame:
        monkeypatch.setattr(sys, "argv", ["images.py", "--out", str(out), *options.split()])
        assert images.main() == 0
        return pd.read_csv(out)

    return run_it


def test_a_run_goes_on_with_what_is_there_and_is_reported_and_drawn(
    run_of_images: Callable[[str], pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run_of_images(f"{SMALL} --repeats 1")
    of = lines.groupby("problem")
    assert of["n"].unique().map(list).to_dict() == {"circle": [50, 100], "digits": [100]}
    assert of["method"].nunique().to_dict() == {"circle": 5, "digits": 3}
    assert lines["error"].between(0, 1).all()
    assert (lines.loc[lines["method"] == "MF", "candidates"].unique() == [50, 8]).all()
    capsys.readouterr()
    more = run_of_images(f"{SMALL} --repeats 2")
    assert more.head(len(lines)).equals(lines)
    assert len(more) == 2 * len(lines)
    said = capsys.readouterr().out
    run_of_images(f"--report {tmp_path / 'images.csv'} --plot {tmp_path / 'curves.png'}")
    assert capsys.readouterr().out == said
    run_of_images(f"--importance {tmp_path / 'pixels.png'} --data nowhere --trees 2")
    assert (tmp_path / "curves.png").exists() and (tmp_path / "pixels.png").exists()


def test_medians_are_compared() -> None:
    lines = pd.DataFrame(
        {
            "problem": "rings",
            "n": [10, 10, 20, 20, 10, 10, 20, 20, 10, 10, 20, 20],
            "method": ["MF"] * 4 + ["RF"] * 4 + ["SPORF"] * 4,
            "error": [0.1, 0.3, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3, 0.1, 0.1, 0.4, 0.4],
            "fit_s": [2.0, 4.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
        }
    )
    (row,) = images_report.against(lines).itertuples()
    assert list(row)[1:] == ["1, 1, 0", "1, 0, 1", "3.00"]


# ------------------------------------------------------------------------------------------------
# The benchmark of simulated effects of levels.
# ------------------------------------------------------------------------------------------------


def test_simulated_levels_with_and_without_effects(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(level_effects, "LEVELS", (20,))
    monkeypatch.setattr(level_effects, "ROWS", (150,))
    monkeypatch.setattr(level_effects, "EFFECTS", {"none": 0.0, "strong": 2.0})
    out = tmp_path / "out.csv"
    words = f"level_effects.py --repeats 2 --trees 30 --out {out}"
    monkeypatch.setattr("sys.argv", words.split())
    with warnings.catch_warnings():  # small samples may lack a level
        warnings.filterwarnings("ignore", message=".*levels that no training row has")
        assert level_effects.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * 2 * 2 * 4
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["level_effects.py", "--report", str(out)])
    assert level_effects.main() == 0
    assert capsys.readouterr().out == told
    assert "two classes, 20 levels, 150 rows" in told and " of 6 are more than 5 % behind" in told
    errors = lines.pivot_table(index=["response", "effect"], columns="method", values="error")
    of_strong = errors.xs("strong", level="effect")
    assert (of_strong["odrf"] < 0.9 * of_strong["odrf without"]).all()
    of_none = errors.xs("none", level="effect")
    assert (of_none["odrf"] < 1.1 * of_none["odrf without"]).all()


# ------------------------------------------------------------------------------------------------
# The benchmark of times on factors runs, resumes, and reports.
# ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_times_on_factors_are_measured(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(list("uvw"), 200)})
    data["y"] = data["a"] + (data["b"] == "u") + 0.3 * rng.normal(size=200)
    data.to_csv(tmp_path / "servo.csv.gz", index=False)
    index = pd.DataFrame({"name": ["servo"], "task": ["regression"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    out = tmp_path / "out.csv"
    arguments = ["factors_time.py", "--data", str(tmp_path), "--out", str(out), "--trees", "5"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "400"])
    assert factors_time.main() == 0
    lines = pd.read_csv(out)
    assert lines["part"].tolist() == ["5,000 levels", "servo", "servo"]
    assert (lines["fit"] > 0).all()
    assert lines["error"].between(0, 10).all()
    printed = capsys.readouterr().out
    assert "400 rows" in printed
    assert "servo" in printed
    before = out.read_text()
    assert factors_time.main() == 0
    assert out.read_text() == before


# ------------------------------------------------------------------------------------------------
# The benchmark of factors of noise runs, resumes, and finds that they cost little.
# ------------------------------------------------------------------------------------------------


def test_a_factor_of_noise_costs_little(tmp_path, monkeypatch, capsys, few_pilots):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    data = pd.DataFrame(X, columns=list("abc")).assign(y=X[:, 0] + 0.3 * rng.normal(size=200))
    data.to_csv(tmp_path / "auto_mpg.csv.gz", index=False)
    index = pd.DataFrame({"name": ["auto_mpg"], "task": ["regression"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    monkeypatch.setattr(noise_factors, "LEVELS", (0, 40))
    out = tmp_path / "out.csv"
    arguments = ["noise_factors.py", "--data", str(tmp_path), "--out", str(out), "--trees", "20"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert noise_factors.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 3
    ratio = lines["error_with"].mean() / lines["error"].mean()
    assert ratio < 1.15
    assert lines.query("levels == 40")["share"].mean() < 0.02
    printed = capsys.readouterr().out
    assert "auto_mpg, 400, 40 levels" in printed
    before = out.read_text()
    assert noise_factors.main() == 0
    assert out.read_text() == before


# ------------------------------------------------------------------------------------------------
# The benchmark of outlying values runs, resumes, and finds that trees do not mind them.
# ------------------------------------------------------------------------------------------------


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
