"""The accuracy benchmark follows its protocols, resumes, survives failures and reports rightly."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import friedmanchisquare, wilcoxon

from benchmarks.accuracy import (
    accuracy,
    anchored,
    by_table,
    forest_beside,
    line_trees,
    stacks,
    table_run,
)
from benchmarks.accuracy.elo import PRIOR, elo_ratings
from benchmarks.accuracy.neighbours import beside
from benchmarks.accuracy.report import View, report
from benchmarks.accuracy.results_file import COLUMNS, Results
from benchmarks.accuracy.scores import ERROR, KAPPA, mean_scores, read_results
from benchmarks.accuracy.table_groups import groups_of_tables
from benchmarks.methods.fitter import Answer, Failure, Fitter, Request
from benchmarks.methods.methods import METHODS, Setting
from benchmarks.options import kinds
from benchmarks.shared.measures import measures
from benchmarks.shared.protocol import PROTOCOLS, partitions
from benchmarks.shared.ranks import (
    friedman,
    mean_ranks,
    pairwise_wilcoxon,
    relative_differences,
    wilcoxon_against,
)
from benchmarks.shared.tables import read_table, read_with_holes, table_names
from fitted_here import Here

pytest.importorskip("sklearn")


TREES = 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A regression with a factor, and three classes."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(100, 10, (60, 3)).round(2), columns=["a", "b [cm]", "c"])
    level = rng.choice(["u", "v"], 60).astype(object)
    level[7] = "rare"
    X["f"] = level
    X.assign(y=X["a"] + rng.normal(size=60)).to_csv(tmp_path / "line.csv.gz", index=False)
    classes = np.digitize(X["a"], [95, 105])
    X.assign(y=classes).to_csv(tmp_path / "bands.csv.gz", index=False)
    (tmp_path / "index.csv").write_text("name,task\nline,regression\nbands,classification\n")
    return tmp_path


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script with some options and return what its csv then holds."""

    def run_it(*options: str, methods: str = "rf,et") -> pd.DataFrame:
        always = f"--data {folder} --out {folder / 'out.csv'} --trees {TREES} --methods {methods}"
        monkeypatch.setattr(sys, "argv", ["accuracy.py", *always.split(), *options])
        assert accuracy.main() == 0
        return pd.read_csv(folder / "out.csv")

    return run_it


# Tables


def test_a_column_that_costs_more_rows_than_it_is_worth_goes_before_them(folder: Path) -> None:
    whole = pd.read_csv(folder / "line.csv.gz")
    holes = whole.copy()
    holes.loc[10:, "c"] = np.nan
    holes.loc[[3, 20], "a"] = np.nan
    holes.to_csv(folder / "line.csv.gz", index=False)
    kept = whole.drop(columns="c").drop(index=[3, 20]).reset_index(drop=True)
    read = read_table(folder, "line").data.astype({"f": object})
    pd.testing.assert_frame_equal(read, kept, check_dtype=False)


def test_a_table_is_read_with_its_holes(folder: Path) -> None:
    holes = pd.read_csv(folder / "line.csv.gz")
    holes.loc[10:, "c"] = np.nan
    holes.loc[3, "f"] = np.nan
    holes.loc[5, "y"] = np.nan
    holes.to_csv(folder / "line.csv.gz", index=False)
    read = read_with_holes(folder, "line").data
    assert len(read) == len(holes) - 1 and read["c"].isna().sum() == 50
    assert isinstance(read["f"].dtype, pd.CategoricalDtype) and read["f"].isna().sum() == 1


def test_images_are_read_as_rows_of_pixels(folder: Path) -> None:
    x = np.arange(5 * 4, dtype=np.uint8).reshape(5, 2, 2)
    y = np.array([0, 1, 1, 0, 1])
    np.savez(folder / "dots.npz", x_train=x[:3], y_train=y[:3], x_test=x[3:], y_test=y[3:])
    with (folder / "index.csv").open("a") as index:
        index.write("dots,classification\n")
    assert table_names(folder) == ["line", "bands", "dots"]
    data = read_table(folder, "dots").data
    assert data["pixel3"].tolist() == [3, 7, 11, 15, 19]
    assert data["y"].tolist() == ["0", "1", "1", "0", "1"]


# Protocols and measures


def test_random_partitions_are_reproducible_and_two_thirds_train(folder: Path) -> None:
    table = read_table(folder, "line")
    first, again = ([*partitions(table, PROTOCOLS["Z"], 3, seed=1)] for _ in range(2))
    assert len(first) == 3
    for one, two in zip(first, again, strict=True):
        pd.testing.assert_frame_equal(one.train, two.train)
        assert (len(one.train), len(one.test)) == (40, 20)
        assert not set(one.train.index) & set(one.test.index)
    other = next(partitions(table, PROTOCOLS["Z"], 1, seed=2))
    assert set(other.train.index) != set(first[0].train.index) != set(first[1].train.index)


def test_no_more_than_2000_rows_train_but_by_protocol_a(folder: Path) -> None:
    data = pd.DataFrame({"x": range(3500), "y": range(3500)})
    data.to_csv(folder / "line.csv.gz", index=False)
    for name, sizes in {"Z": (2000, 1500), "A": (2333, 1167)}.items():
        rows = next(partitions(read_table(folder, "line"), PROTOCOLS[name], 1, 0))
        assert (len(rows.train), len(rows.test)) == sizes


def test_predictors_are_scaled_on_the_training_rows_and_keep_their_levels(folder: Path) -> None:
    rows = next(partitions(read_table(folder, "line"), PROTOCOLS["Z"], 1, 0))
    assert rows.train.columns.tolist() == ["x1", "x2", "x3", "x4", "y"]
    numbers = rows.train[["x1", "x2", "x3"]]
    assert numbers.min().tolist() == pytest.approx([0, 0, 0])
    assert numbers.max().tolist() == pytest.approx([1, 1, 1])
    raw = read_table(folder, "line").data.loc[rows.test.index, "a"]
    assert np.corrcoef(raw, rows.test["x1"])[0, 1] == pytest.approx(1)
    for part in (rows.train, rows.test):
        assert part["x4"].cat.categories.tolist() == ["rare", "u", "v"]


@pytest.mark.parametrize("name, folds", [("T", 5), ("G", 4)])
def test_folds_test_each_row_once_and_keep_the_shares(folder: Path, name: str, folds: int) -> None:
    table = read_table(folder, "bands")
    rows = [*partitions(table, PROTOCOLS[name], folds, 0)]
    tested = [row for part in rows for row in part.test.index]
    assert len(rows) == folds and sorted(tested) == [*range(60)]
    counts = pd.DataFrame([part.test["y"].value_counts() for part in rows])
    assert (counts.max() - counts.min() <= 1).all()


def test_rpe_by_hand() -> None:
    evaluated = measures(
        "regression", np.array([1.0, 3.0]), pd.Series([0.0, 4.0]), pd.Series([1, 5])
    )
    assert evaluated == {"rpe": pytest.approx((0 + 4) / (1 + 9)), "rae": pytest.approx(2 / (1 + 3))}


def test_error_and_kappa_by_hand() -> None:
    # 5 of 8 agree; the margins are 4 and 4, and 5 and 3: by chance 0.5
    train = pd.Series(list("ab"))
    test = pd.Series(list("aaaabbbb"))
    probability = np.array([0.9, 0.8, 0.7, 0.1, 0.6, 0.6, 0.4, 0.3])
    evaluated = measures("classification", np.c_[probability, 1 - probability], train, test)
    assert evaluated["error_percent"] == pytest.approx(37.5)
    assert evaluated["kappa"] == pytest.approx((0.625 - 0.5) / 0.5)
    pairs = [a > b for a in probability[:4] for b in probability[4:]]
    assert evaluated["auc"] == pytest.approx(np.mean(pairs))


def test_scores_of_probabilities_by_hand() -> None:
    probability = np.array([[0.5, 0.5], [0.0, 1.0], [0.2, 0.8]])
    train, test = pd.Series(list("ab")), pd.Series(["a", "a", "c"])
    evaluated = measures("classification", probability, train, test)
    assert evaluated["log_loss"] == pytest.approx(-np.log([0.5, 0.001, 0.001]).mean())
    assert evaluated["brier"] == pytest.approx(np.mean([0.5, 2.0, 0.2**2 + 0.8**2 + 1]))


def test_a_class_without_training_rows_is_an_error() -> None:
    evaluated = measures(
        "classification", np.array([[1.0, 0.0]] * 2), pd.Series(list("ab")), pd.Series(list("ac"))
    )
    assert evaluated["error_percent"] == 50 and "auc" not in evaluated


def test_predictions_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        measures("regression", np.array([np.nan]), pd.Series([0.0, 4.0]), pd.Series([1.0]))


@pytest.mark.parametrize("method", ["rf", "rf_codes", "hgb"])
def test_methods_meet_levels_without_training_rows(folder: Path, method: str) -> None:
    data = read_table(folder, "bands").data.set_axis(["x1", "x2", "x3", "x4", "y"], axis=1)
    without, rare = data[data["x4"] != "rare"], data[data["x4"] == "rare"]
    predict = METHODS[method].fit(without, "classification", Setting(TREES, 0, 1))
    assert predict(rare.drop(columns="y")).sum() == pytest.approx(1)


@pytest.mark.parametrize("method", ["odrf", "odbt"])
def test_this_package_meets_levels_without_training_rows(folder: Path, method: str) -> None:
    data = read_table(folder, "line").data.set_axis(["x1", "x2", "x3", "x4", "y"], axis=1)
    without, rare = data[data["x4"] != "rare"], data[data["x4"] == "rare"]
    predict = METHODS[method].fit(without, "regression", Setting(TREES, 0, 1))
    assert np.isfinite(predict(rare.drop(columns="y"))).all()


# Running


def test_a_run_stopped_in_the_middle_of_a_line_goes_on_with_the_same_settings(
    folder: Path, run: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_run, "Fitter", Here)
    options = ["--tables", "bands", "--partitions", "3"]
    whole = run(*options)
    assert whole.groupby("method").size().tolist() == [3, 3]
    assert (whole["status"] == "ok").all() and (whole["classes"] == 3).all()
    out = folder / "out.csv"
    lines = out.read_text().splitlines(keepends=True)
    out.write_text("".join(lines[:4]) + lines[4][:30])
    resumed = run(*options)
    key = ["table", "protocol", "partition", "method", "seed"]
    assert not resumed.duplicated(key).any()
    scores = [
        frame.set_index(key)[["error_percent", "kappa"]].sort_index() for frame in (whole, resumed)
    ]
    pd.testing.assert_frame_equal(*scores)
    assert out.read_text().startswith("".join(lines[:4]))  # and what was there is not run again
    with pytest.raises(SystemExit, match="begun with --trees 3"):
        run(*options, "--trees", "4")


def test_failures_and_slow_tables_are_written_down(run: Callable[..., pd.DataFrame]) -> None:
    options = ["--protocols", "Z,T", "--partitions", "3", "--python", f"treeple={sys.executable}"]
    slow = ["--slow-seconds", "0", "--slow-partitions", "2", "--tables", "bands"]
    written = run(*options, *slow, methods="rf,treeple")
    failed = written[written["method"] == "treeple"]
    assert (failed["status"] == "failed").all()
    assert failed["message"].str.contains("No module named 'treeple'").all()
    assert written[["rpe", "fit_s"]].isna().sum().tolist() == [len(written), len(failed)]
    done = written[written["method"] == "rf"].groupby("protocol")["partition"].max()
    assert done.to_dict() == {"T": 4, "Z": 1}
    assert written.query("protocol == 'Z' and partition == 1")["slow"].tolist() == [True, True]


def test_what_takes_too_long_is_stopped(folder: Path) -> None:
    rows = next(partitions(read_table(folder, "line"), PROTOCOLS["Z"], 1, 0))
    request = Request(
        "rf", "regression", rows.train, rows.test.drop(columns="y"), Setting(TREES, 0, 1)
    )
    with Fitter(sys.executable, threads=1) as fitter:
        assert fitter.fit(request, limit=0.01) == Failure("timed out", "not done within 0.01 s")
        answer = fitter.fit(request, limit=60)  # in a new process
    assert isinstance(answer, Answer)
    assert answer.prediction.shape == (20,) and answer.fit_s > 0
    assert "scikit-learn" in answer.packages


def test_the_end_of_the_process_is_a_failure(tmp_path: Path) -> None:
    interpreter = tmp_path / "python"
    interpreter.write_text("#!/bin/sh\necho out of memory >&2\nexit 3\n")
    interpreter.chmod(0o755)
    request = Request("rf", "regression", pd.DataFrame(), pd.DataFrame(), Setting(TREES, 0, 1))
    with Fitter(str(interpreter), threads=1) as fitter:
        outcome = fitter.fit(request, limit=60)
    assert outcome == Failure("failed", "the process ended: status 3, out of memory")


def test_another_file_is_not_added_to(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("table,error\nline,1\n")
    with pytest.raises(SystemExit, match="another file"):
        Results(tmp_path / "out.csv")


def test_without_data_nothing_is_done(
    folder: Path, run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "index.csv").unlink()
    (folder / "out.csv").write_text("untouched\n")
    assert run().columns.tolist() == ["untouched"]
    assert "nothing to do" in capsys.readouterr().err


# Report


def lines(scores: dict[str, dict[str, list[float]]], measure: str, **values: object) -> str:
    """Csv of tables → methods → scores of the partitions; nan is a failure."""
    common = {"protocol": "Z", "seed": 0, "task": "classification", "classes": 2, "rarest": 0.5}
    common |= {"fit_s": 1.0, "predict_s": 0.5, "trees": 5, "threads": 1, "version": "1"}
    rows = [
        {**common, **values, "table": table, "method": method, "partition": partition}
        | {measure: score, "status": "failed" if np.isnan(score) else "ok", "message": "broken"}
        for table, methods in scores.items()
        for method, listed in methods.items()
        for partition, score in enumerate(listed)
    ]
    return pd.DataFrame(rows, columns=COLUMNS).to_csv(index=False)


SCORES = {
    "iris": {"odrf": [2.0, 4.0], "rf": [4.0, 6.0], "et": [3.0, 3.0]},
    "servo": {"odrf": [20.0, 22.0], "rf": [10.0, 11.0], "et": [30.0, np.nan]},
    "glass": {"odrf": [1.0, 1.0], "rf": [2.0, 2.0], "et": [np.nan, np.nan]},
}


@pytest.fixture
def results(tmp_path: Path) -> pd.DataFrame:
    (tmp_path / "out.csv").write_text(lines(SCORES, "error_percent"))
    return read_results([tmp_path / "out.csv"])


def test_means_are_over_the_partitions_that_all_did(results: pd.DataFrame) -> None:
    means = mean_scores(results, ERROR)
    assert means.partitions.to_dict() == {"iris": 2, "servo": 1, "glass": 2}
    assert means.mean.loc["iris"].to_dict() == {"odrf": 3, "rf": 5, "et": 3}
    assert means.mean.loc["servo"].to_dict() == {"odrf": 20, "rf": 10, "et": 30}
    assert means.se.loc["iris", "odrf"] == pytest.approx(np.std([2, 4], ddof=1) / np.sqrt(2))
    assert np.isnan(means.mean.loc["glass", "et"])


def test_the_last_of_several_files_counts(tmp_path: Path) -> None:
    new = {"iris": {"odrf": [1.0, 1.0]}}
    for name, scores in (("old.csv", SCORES), ("new.csv", new)):
        (tmp_path / name).write_text(lines(scores, "error_percent"))
    merged = read_results([tmp_path / "old.csv", tmp_path / "new.csv"], ["rf", "odrf"])
    means = mean_scores(merged, ERROR).mean
    assert means.columns.tolist() == ["rf", "odrf"]
    assert means.loc["iris"].tolist() == [5, 1]


def test_report(results: pd.DataFrame, tmp_path: Path) -> None:
    view = View("odrf", "rf", ["odrf", "rf"], ["servo"], 0.05, None, tmp_path)
    text = report(results, view)
    assert "| iris (2) | **3.00 ± 1.00** | 5.00 ± 1.00 | **3.00 ± 0.00** |" in text
    assert "| servo (1) | 20.00 | **10.00** | 30.00 |" in text
    assert "| glass (2) | **1.00 ± 0.00** | 2.00 ± 0.00 | – |" in text
    assert "| average of 3 | 8.00 | **5.67** | – |" in text
    assert "| average of 2 with all methods | 11.50 | **7.50** | 16.50 |" in text
    assert "| bests | **2** | 1 | 1 |" in text
    assert "| mean rank | **1.50** | 2.00 | 2.50 |" in text
    assert "| odrf, rf | **1.33** | 1.67 |  |" in text
    assert "| servo | 20.00 | rf 10.00 | 2.00 |" in text
    assert "standard error of the paired difference: servo (ratio 2.00)" in text
    assert "* glass, Z, et: failed, 2 partitions: broken" in text
    assert (tmp_path / "cd_Z_classification.png").stat().st_size


def test_scores_of_probabilities_are_reported_where_they_were_written(tmp_path: Path) -> None:
    scores = {"iris": {"odrf": [0.2, 0.4], "rf": [0.5, 0.7]}}
    (tmp_path / "out.csv").write_text(lines(scores, "log_loss", error_percent=1.0))
    view = View("odrf", "rf", [], [], 0.05, None, tmp_path)
    text = report(read_results([tmp_path / "out.csv"]), view)
    assert "### Log loss" in text and "### Brier" not in text
    assert "| iris (2) | **0.3000 ± 0.1000** | 0.6000 ± 0.1000 |" in text


def test_kappa_is_ranked_downwards(tmp_path: Path) -> None:
    scores = {"iris": {"odrf": [0.9, 0.8], "rf": [0.7, 0.6]}}
    (tmp_path / "out.csv").write_text(lines(scores, "kappa", protocol="T"))
    results = read_results([tmp_path / "out.csv"])
    assert mean_ranks(mean_scores(results, KAPPA).loss).to_dict() == {"odrf": 1, "rf": 2}
    view = View("odrf", "rf", [], [], 0.05, None, tmp_path)
    assert "| iris (2) | **0.850 ± 0.050** | 0.650 ± 0.050 |" in report(results, view)


def test_all_rows_are_reported_as_random_partitions_are(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text(lines(SCORES, "error_percent", protocol="A"))
    text = report(
        read_results([tmp_path / "out.csv"]), View("odrf", "rf", [], [], 0.05, None, tmp_path)
    )
    assert "## Random partitions with two thirds of all rows for training, classification" in text
    assert "| iris (2) | **3.00 ± 1.00** | 5.00 ± 1.00 | **3.00 ± 0.00** |" in text


def test_published_and_measured_figures_stand_beside(tmp_path: Path) -> None:
    scores = {
        "magic": {"odrf": [13.0, 13.0], "rf": [14.0, 14.0]},
        "madelon": {"odrf": [30.0, 32.0], "rf": [35.0, 36.0]},
        "spambase": {"odrf": [5.0, 5.0], "rf": [6.0, 6.0]},
    }
    (tmp_path / "out.csv").write_text(lines(scores, "error_percent"))
    peers = tmp_path / "peers.csv"
    columns = ["dataset", "method", "metric", "mean", "sd", "reps"]
    with peers.open("w", newline="") as file:
        csv.writer(file).writerows([columns, ["madelon", "ODRF_PPR100", "MR_percent", 38, 2.0, 16]])
    view = View("odrf", "rf", [], [], 0.05, peers, tmp_path)
    text = report(read_results([tmp_path / "out.csv"]), view)
    averages = next(line for line in text.splitlines() if line.startswith("| average of 2 |"))
    cells = averages.split(" | ")
    assert cells[1:3] == ["18.00", "20.75"]
    assert cells[-1] == f"{(39.93 + 4.86) / 2:.2f} |"  # published ODRF, without MAGIC
    assert "| madelon | 31.00 ± 1.00 | 38.00 ± 0.50 |" in text


# Losses of each table


@pytest.fixture(scope="module")
def of_tables() -> pd.DataFrame:
    return pd.read_csv(by_table.RESULTS / "by_table.csv")


def test_the_losses_of_tables_are_those_of_the_results(of_tables: pd.DataFrame) -> None:
    now = by_table.losses_by_table(by_table.RESULTS)[list(of_tables)].reset_index(drop=True)
    now["partitions"] = now["partitions"].astype(float)
    pd.testing.assert_frame_equal(now, of_tables, check_dtype=False, rtol=1e-5)


def test_ratios_are_to_the_best_method_of_others(of_tables: pd.DataFrame, tmp_path: Path) -> None:
    ratios = by_table.ratios(of_tables, "600 s")
    assert len(ratios) == 51
    assert ratios.drop(columns="auto_600s").min(axis=1).eq(1).all()
    assert ratios.loc["glass", "auto_600s"] == pytest.approx(21.3333 / 18.5556, abs=1e-4)
    by_table.plot(of_tables, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


# Tests over tables


@pytest.fixture
def losses() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.random((12, 3)) + np.array([0, 0.2, 0.5]), columns=["odrf", "rf", "et"])


def test_no_result_ranks_last() -> None:
    losses = pd.DataFrame({"a": [1.0, 1.0], "b": [1.0, np.nan], "c": [3.0, 2.0]})
    assert mean_ranks(losses).tolist() == [1.25, 2.25, 2.5]


def test_friedman_is_scipys(losses: pd.DataFrame) -> None:
    expected = friedmanchisquare(*losses.to_numpy().T)
    assert friedman(losses) == pytest.approx((expected.statistic, expected.pvalue))
    assert np.isnan(friedman(losses[["odrf", "rf"]])[0])


def test_wilcoxon_is_one_sided_and_corrected(losses: pd.DataFrame) -> None:
    losses.loc[0, "et"] = np.nan
    tests = wilcoxon_against(losses.drop(columns="odrf").rsub(losses["odrf"], axis=0))
    for method in ("rf", "et"):
        known = losses[["odrf", method]].dropna()
        p = wilcoxon(known["odrf"], known[method], alternative="less").pvalue
        assert tests.loc[method, "p"] == pytest.approx(p)
        assert tests.loc[method, "p_bonferroni"] == pytest.approx(min(1, 2 * p))
        assert tests.loc[method, "wins"] == (known["odrf"] < known[method]).sum()
    every = pairwise_wilcoxon(losses)
    assert every["odrf"].drop("odrf").tolist() == pytest.approx(tests["p_bonferroni"].tolist())
    assert every.loc["odrf", "et"] > 0.9


def test_methods_that_always_tie_are_not_tested() -> None:
    tests = wilcoxon_against(pd.DataFrame({"rf": [0.0, 0.0], "et": [-1.0, -2.0]}))
    assert np.isnan(tests.loc["rf", "p"])
    assert tests.loc["et", "p_bonferroni"] == pytest.approx(0.25)


def test_relative_differences_have_no_unit() -> None:
    losses = pd.DataFrame({"odrf": [1.0, 0.0, 0.0], "rf": [3.0, 0.0, 2.0]})
    assert relative_differences(losses, "odrf")["rf"].tolist() == [-1, 0, -2]


def test_sets_of_kinds_are_compared_with_those_of_the_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = folder / "kinds.csv"
    options = f"--data {folder} --out {out} --trees 40 --repeats 2"
    monkeypatch.setattr(sys, "argv", ["kinds.py", *options.split()])
    assert kinds.main() == 0
    lines = pd.read_csv(out)
    assert (lines["loss"] >= 0).all()
    assert (lines.groupby(["table", "set"]).size() == 2).all()
    sets = lines.groupby("task")["set"].unique()
    assert "default without few" in sets["classification"]
    assert "default without few" not in sets["regression"]
    printed = capsys.readouterr().out
    assert "classification, 1 tables" in printed and "| default |" in printed
    monkeypatch.setattr(sys, "argv", ["kinds.py", "--report", str(out)])
    assert kinds.main() == 0
    assert capsys.readouterr().out == printed


# ------------------------------------------------------------------------------------------------
# The report of the forest and the stack beside other methods.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    names = [f"table{i}" for i in range(6)]
    stacks = pd.DataFrame(
        [
            (name, 0, model, np.nan, loss * (1 + i / 10), loss / 9, 1 - loss / 20)
            for i, name in enumerate(names)
            for model, loss in (("forest", 5.0), ("together", 4.0), ("boosted runs", 1.0))
        ],
        columns=["table", "partition", "model", "rpe", "error_percent", "log_loss", "auc"],
    )
    # on a partition that few methods have
    stacks.loc[len(stacks)] = ("table0", 1, "forest", np.nan, 99.0, 99.0, 0.5)
    stacks.loc[len(stacks)] = ("table0", 1, "together", np.nan, 99.0, 99.0, 0.5)
    others = pd.DataFrame(
        [
            (name, "Z", 0, method, "ok", np.nan, loss, loss / 9, 1 - loss / 20)
            for i, name in enumerate(names)
            for method, loss in (("one", 4.5 + i), ("other", 2.0 if i == 3 else 9.0))
        ],
        columns=[
            *("table", "protocol", "partition", "method", "status"),
            *("rpe", "error_percent", "log_loss", "auc"),
        ],
    )
    others.loc[len(others)] = ("table9", "Z", 0, "one", "ok", np.nan, 1.0, 1.0, 1.0)
    others.loc[len(others)] = ("table1", "Z", 0, "late", "timed out", *[np.nan] * 4)
    sizes = {"n": [90, 90, 900, 9000, 9000, 9000], "p": 4, "n_categorical": 0}
    index = pd.DataFrame({"name": names, "task": "classification", **sizes})
    index.to_csv(tmp_path / "index.csv", index=False)
    stacks.to_csv(tmp_path / "stacks.csv", index=False)
    others.to_csv(tmp_path / "others.csv", index=False)
    return [str(tmp_path / name) for name in ("stacks.csv", "others.csv")]


def test_the_report_ranks_and_tests(files, capsys, monkeypatch):
    folder = str(Path(files[0]).parent)
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--data", folder])
    assert anchored.main() == 0
    told = capsys.readouterr().out
    assert "| table | auto | odrf | one | other |" in told
    assert "| table0 | **4** | 5 | 4.5 | 9 |" in told
    assert "| table3 | 5.2 | 6.5 | 7.5 | **2** |" in told
    assert "table9" not in told and "late" not in told
    # auto is first on five tables of six, and second on one
    assert "| auto | 1.17 |" in told
    assert "Elo ratings if one has 1,000, 6 tables" in told and "| one | 3.08 | 1000 |" in told
    assert "Friedman: χ²" in told and "critical difference" in told
    assert "| fewer than 500 training rows (2) | **1.00** | 2.75 | 2.25 | 4.00 |" in told
    assert "500 to 1,999 (1)" in told and "factors" not in told
    assert "| one | 6 | 0 | 0 | 0.016 | 0.031 |" in told
    assert "above 1.1: table3 (2.60)" in told
    assert "**log loss of classes**" in told
    curves = told.split("**1 − AUC of two classes**")[1]
    assert "| table0 | **0.2** | 0.25 | 0.225 | 0.45 |" in curves
    assert "| auto | 1.17 |" in curves


def test_the_brief_report_is_one_table(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--brief"])
    assert anchored.main() == 0
    title, _, *rows = capsys.readouterr().out.strip().splitlines()
    columns = ["error, 6 tables", "Elo, one 1,000", "auto better, p", "odrf better, p"]
    columns += ["log loss, 6 tables", "AUC, 6 tables"]
    assert title == "| method | " + " | ".join(columns) + " |"
    assert [row.split(" | ")[0] for row in rows] == ["| auto", "| odrf", "| one", "| other"]
    assert rows[0].startswith("| auto | **1.17** |")
    assert "| – | – |" in rows[0]
    assert "| 3.08 | 1000 | 0.031 |" in rows[2]


def test_classes_of_which_there_are_more_than_two_have_no_curve(files, capsys, monkeypatch):
    for file in files:
        lines = pd.read_csv(file)
        lines.loc[lines["table"] == "table2", "auc"] = np.nan
        lines.to_csv(file, index=False)
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--data", "-"])
    assert anchored.main() == 0
    errors, curves = capsys.readouterr().out.split("**1 − AUC of two classes**")
    assert "| table2 |" in errors and "| table2 |" not in curves


def test_some_methods_alone(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--methods", "one", "--data", "-"])
    assert anchored.main() == 0
    told = capsys.readouterr().out
    assert "other |" not in told.splitlines()[2] and "above 1.1: none" in told


def test_another_protocol(files, capsys, monkeypatch):
    lines = pd.read_csv(files[1])
    lines[lines["method"] == "other"].assign(protocol="A", method="third").to_csv(files[0])
    pd.concat([lines.assign(protocol="A"), lines]).to_csv(files[1], index=False)
    asked = ["anchored.py", *files, "--own", "one", "--protocol", "A", "--data", "-"]
    monkeypatch.setattr("sys.argv", asked)
    assert anchored.main() == 0
    assert "| table | one | other | third |" in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [*asked[:-4], "--data", "-"])
    assert anchored.main() == 0
    assert "| table | one | other |" in capsys.readouterr().out


def test_of_one_file_with_an_own_method(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["anchored.py", files[1], "--own", "one", "--data", "-"])
    assert anchored.main() == 0
    told = capsys.readouterr().out
    assert "| table | one | other |" in told and "table9" in told
    assert "| other | 4 | 0 | 2 |" in told
    assert "Ratio of one to the best other method above 1.1: table3 (3.75)." in told


def test_of_regressions_alone(files, capsys, monkeypatch):
    for file in files:
        lines = pd.read_csv(file)
        lines["rpe"] = lines["error_percent"]
        lines.assign(error_percent=np.nan, log_loss=np.nan, auc=np.nan).to_csv(file, index=False)
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--data", "-"])
    assert anchored.main() == 0
    told = capsys.readouterr().out
    assert "| table0 | **4** | 5 | 4.5 | 9 |" in told
    assert "log loss of classes" not in told and "AUC" not in told


def test_few_tables_make_no_ranks(files, capsys, monkeypatch):
    lines = pd.read_csv(files[1])
    lines[lines["table"].isin(["table0", "table1"])].to_csv(files[1], index=False)
    monkeypatch.setattr("sys.argv", ["anchored.py", *files, "--brief"])
    assert anchored.main() == 0
    assert "fewer than 5 tables have results of all methods" in capsys.readouterr().out


def test_files_of_our_methods_alone_have_nothing_beside_them(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["anchored.py", files[0], "--data", "-"])
    with pytest.raises(SystemExit):
        anchored.main()
    assert "the files have no methods of others" in capsys.readouterr().err


def test_our_methods_without_results_are_named(files, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["anchored.py", files[1], "--data", "-"])
    with pytest.raises(SystemExit):
        anchored.main()
    assert "no results of auto, odrf: use --own" in capsys.readouterr().err


def test_a_method_that_always_ties_is_no_test_to_correct_for():
    rng = np.random.default_rng(0)
    ours = rng.uniform(1, 2, 12)
    losses = pd.DataFrame(
        {"auto": ours, "same": ours, "worse": ours + 1, "other": ours + rng.normal(0, 1, 12)}
    )
    cells = anchored._tested(losses, "auto", ["auto"])
    assert cells.loc["same", ["p", "p, Holm"]].tolist() == ["–", "–"]
    assert float(cells.loc["worse", "p, Holm"]) == pytest.approx(
        2 * float(cells.loc["worse", "p"]), rel=0.05
    )


# ------------------------------------------------------------------------------------------------
# The benchmark of stacks of models on a small table.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def folder_of_stacks(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    data.assign(y=np.where(score > 0, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["score", "sides"], "task": ["regression", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder_of_stacks, capsys, monkeypatch, few_pilots):
    out = folder_of_stacks / "out.csv"
    words = ["stacks.py", "--data", str(folder_of_stacks), "--trees", "20", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    monkeypatch.setattr("odrf.api.stack.MOST_ROUNDS", 5)
    assert stacks.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["score", "sides"]
    of_score, of_sides = (lines.loc[lines["place"] == place, "model"].tolist() for place in (1, 2))
    assert of_score == [
        "forest",
        "together",
        "forest on splines",
        "kernel smoother",
        "oblique smoother",
        "boosted runs",
    ]
    calibrated = [f"forest, {method}" for method in ("power", "isotonic", "platt", "beta")]
    smoothers = ["kernel smoother", "oblique smoother"]
    assert of_sides == ["forest", "together", *smoothers, "boosted runs", *calibrated]
    assert (lines.groupby("table")["rpe"].count() == [6, 0]).all()
    of_two = lines.loc[lines["table"] == "sides", "auc"]
    assert of_two.between(0.5, 1.0).all() and lines["auc"].count() == len(of_two)
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["stacks.py", "--report", str(out)])
    assert stacks.main() == 0
    assert capsys.readouterr().out == told
    twice = pd.concat([lines, lines.assign(partition=1, rpe=9.0)])
    twice.to_csv(out, index=False)
    monkeypatch.setattr("sys.argv", ["stacks.py", "--report", str(out), "--partition", "0"])
    assert stacks.main() == 0
    assert capsys.readouterr().out == told
    for measure in [name for measured in stacks.TASKS.values() for name in measured]:
        assert f"{measure}, 1 tables:" in told
    assert "Time of the stack" in told


def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["stacks.py", "--data", str(tmp_path)])
    assert stacks.main() == 0
    assert "nothing to do" in capsys.readouterr().err


# ------------------------------------------------------------------------------------------------
# Elo ratings of methods.
# ------------------------------------------------------------------------------------------------


@given(won=st.integers(0, 30), lost=st.integers(1, 30))
def test_two_methods_differ_by_the_logarithm_of_their_odds(won, lost):
    losses = pd.DataFrame({"a": [0.0] * won + [1.0] * lost, "b": [0.5] * (won + lost)})
    ratings = elo_ratings(losses, "b", 1000)["elo"]
    odds = (won + PRIOR) / (lost + PRIOR)
    assert ratings["b"] == 1000
    assert ratings["a"] == pytest.approx(1000 + 400 * np.log10(odds), abs=1e-4)


def test_equal_losses_are_half_a_win_for_both():
    losses = pd.DataFrame({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    np.testing.assert_allclose(elo_ratings(losses, "a", 1500)["elo"], 1500)


def test_the_best_is_first_and_the_interval_holds_its_rating():
    draw = np.random.default_rng(0)
    skill = {"weak": 1.0, "middle": 0.6, "strong": 0.0}
    losses = pd.DataFrame({name: worse + draw.normal(size=60) for name, worse in skill.items()})
    ratings = elo_ratings(losses, "middle", 1000)
    assert list(ratings.index) == ["strong", "middle", "weak"]
    assert (ratings["conf_low"] <= ratings["elo"]).all()
    assert (ratings["elo"] <= ratings["conf_high"]).all()
    assert ratings.loc["middle", "conf_low"] == ratings.loc["middle", "conf_high"] == 1000


# ------------------------------------------------------------------------------------------------
# The report of today's forest beside another method.
# ------------------------------------------------------------------------------------------------


@pytest.mark.weekly
def test_the_forests_are_compared_on_the_same_partitions(tmp_path, capsys, monkeypatch):
    now = pd.DataFrame(
        {
            "table": ["a", "a", "b", "c"],
            "partition": [0, 1, 0, 0],
            "model": "forest",
            "rpe": [np.nan, np.nan, 0.2, np.nan],
            "error_percent": [10.0, 12.0, np.nan, 7.0],
        }
    )
    then = now.rename(columns={"model": "method"}).assign(method="odrf", protocol="Z", status="ok")
    then["error_percent"] = [9.0, 9.0, np.nan, 7.0]
    now.loc[len(now)] = ("a", 2, "forest", np.nan, 90.0)  # not in the other file
    now.to_csv(tmp_path / "now.csv", index=False)
    then.to_csv(tmp_path / "then.csv", index=False)
    files = [str(tmp_path / name) for name in ("now.csv", "then.csv")]
    monkeypatch.setattr("sys.argv", ["forest_beside.py", *files])
    assert forest_beside.main() == 0
    told = capsys.readouterr().out
    assert "| classification | 2 | +10.0 | 10.5 |" in told
    assert "| regression | 1 | +0.0 |" in told
    assert "| a | 2 | 11 | 9 | +22.2 | +2.0 |" in told
    assert "| b |" not in told and "| c |" not in told


# ------------------------------------------------------------------------------------------------
# Groups of tables.
# ------------------------------------------------------------------------------------------------


def test_every_table_is_in_one_group_of_each_sort(tmp_path):
    index = pd.DataFrame(
        {
            "name": ["small", "large", "mixed"],
            "task": ["regression", "classification", "classification"],
            "n": [300, 20_000, 1500],
            "p": [4, 100, 20],
            "n_categorical": [4, 0, 3],
        }
    )
    index.to_csv(tmp_path / "index.csv", index=False)
    groups = groups_of_tables(tmp_path, pd.Series({"small": 0.05, "mixed": 5.0, "large": 4.9}))
    members = list(groups.values())
    by_rows, by_predictors, by_factors, by_noise = (
        members[:3], members[3:6], members[6:9], members[9:],
    )  # fmt: skip
    assert by_rows == [["small"], ["mixed"], ["large"]]
    assert by_predictors == [["small"], ["mixed"], ["large"]]
    assert by_factors == [["large"], ["mixed"], ["small"]]
    assert by_noise == [["small", "large"], ["mixed"]]


# ------------------------------------------------------------------------------------------------
# Oblique forests beside the forest of this package.
# ------------------------------------------------------------------------------------------------


def test_only_random_partitions_count():
    lines = [
        ("one", "Z", 0, "odrf", 0.5, np.nan, 1.0),
        ("one", "Z", 0, "treeple", 0.6, np.nan, 4.0),
        ("two", "Z", 0, "odrf", np.nan, 9.0, 1.0),
        ("two", "Z", 0, "treeple", np.nan, 8.0, 1.0),
        ("two", "T", 0, "odrf", np.nan, 1.0, 100.0),
        ("two", "T", 0, "treeple", np.nan, 9.0, 1.0),
    ]
    columns = ["table", "protocol", "partition", "method", "rpe", "error_percent", "fit_s"]
    results = pd.DataFrame(lines, columns=columns).assign(status="ok")
    errors, times = beside(results, "treeple")
    assert errors == "odrf is better on 1 of 2 tables, worse on 1"
    assert times == "2.0 ×"


def test_the_page_about_lines_has_the_tables_of_its_csv():
    root = Path(line_trees.__file__).parents[2]
    lines = pd.read_csv(root / "benchmarks" / "accuracy" / "results" / "line_trees.csv")
    tables = line_trees.report(lines).split("\n\n", 1)[1]
    assert tables in (root / "vignettes" / "lines.md").read_text(encoding="utf-8")
