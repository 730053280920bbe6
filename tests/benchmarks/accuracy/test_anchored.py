"""The report of the forest and the stack beside other methods."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.accuracy import anchored


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
