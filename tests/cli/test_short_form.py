""""""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odrf import load_data, odrf
from odrf.cli import main

ROOT = Path(__file__).parents[2]
QUICK = ["--trees", "10", "--seed", "1"]


@pytest.fixture
def wine(tmp_path):
    path = tmp_path / "wine.csv"
    load_data("wine").to_csv(path, index=False)
    return str(path)


@pytest.fixture
def diabetes(tmp_path):
    path = tmp_path / "diabetes.tsv.gz"
    load_data("diabetes").to_csv(path, index=False, sep="\t")
    return str(path)


def refusal(capsys, *arguments):
    """The one message that a refused command writes."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("odrf: error: ")
    assert "Traceback" not in captured.err
    return captured.err


def test_summary_is_that_of_the_function(wine, capsys):
    assert main(["cultivar ~ .", wine, *QUICK]) == 0
    captured = capsys.readouterr()
    fit = odrf("cultivar ~ .", load_data("wine"), n_trees=10, seed=1)
    assert captured.out == f"{fit.summary()}\n"
    assert captured.err == ""


def test_tree_is_one_tree(diabetes, capsys):
    assert main(["log(progression) ~ bmi + ltg", diabetes, "--tree"]) == 0
    assert "odt(" in capsys.readouterr().out


def test_plot_is_written_as_a_picture(wine, tmp_path, capsys):
    picture = tmp_path / "forest.png"
    assert main(["cultivar ~ .", wine, *QUICK, "--plot", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert f"wrote the plot to {picture}" in capsys.readouterr().err


def test_class_predictions_are_those_of_the_function(wine, tmp_path, capsys):
    out = tmp_path / "predictions.csv"
    assert main(["cultivar ~ .", wine, *QUICK, "--predict", wine, "--out", str(out)]) == 0
    assert f"wrote predictions of 178 rows to {out}" in capsys.readouterr().err
    written = pd.read_csv(out, index_col="row")
    assert list(written) == ["prediction", "prob_class_0", "prob_class_1", "prob_class_2"]
    assert list(written.index) == list(range(1, 179))
    data = load_data("wine")
    fit = odrf("cultivar ~ .", data, n_trees=10, seed=1)
    assert list(written["prediction"]) == list(fit.predict(data, type="class"))
    np.testing.assert_allclose(written.iloc[:, 1:], fit.predict(data, type="prob"))


def test_regression_predictions_are_one_column(diabetes, tmp_path):
    out = tmp_path / "predictions.csv"
    assert (
        main(["progression ~ .", diabetes, *QUICK, "--predict", diabetes, "--out", str(out)]) == 0
    )
    data = load_data("diabetes")
    fit = odrf("progression ~ .", data, n_trees=10, seed=1)
    written = pd.read_csv(out, index_col="row")
    np.testing.assert_allclose(written["prediction"], fit.predict(data))


def test_type_chooses_what_is_predicted(diabetes, tmp_path):
    out = tmp_path / "leaves.csv"
    command = ["progression ~ .", diabetes, *QUICK, "--predict", diabetes, "--out", str(out)]
    assert main([*command, "--type", "leaf"]) == 0
    assert pd.read_csv(out, index_col="row").shape == (442, 10)


def test_missing_rows_are_left_out_on_request(tmp_path, capsys):
    path = tmp_path / "penguins.csv"
    load_data("penguins").to_csv(path, index=False)
    assert "sex" in refusal(capsys, "species ~ .", str(path), "--missing", "raise")
    assert main(["species ~ .", str(path), *QUICK]) == 0
    assert "(11 dropped)" not in capsys.readouterr().out
    assert main(["species ~ .", str(path), *QUICK, "--missing", "drop"]) == 0


def test_warning_is_one_line_without_a_source_line(tmp_path, capsys):
    path = tmp_path / "binary.csv"
    data = load_data("diabetes")
    data.assign(high=(data["progression"] > 150).astype(int)).to_csv(path, index=False)
    assert main(["high ~ bmi + ltg", str(path), "--tree"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("odrf: warning: ")
    assert "use --kind classification if they are classes, --kind regression to" in lines[0]


def test_bad_formula_names_the_column(wine, capsys):
    assert "did you mean 'alcohol'" in refusal(capsys, "cultivar ~ alcohl", wine)


def test_absent_table_is_named(capsys):
    assert "absent.csv: No such file" in refusal(capsys, "y ~ .", "absent.csv")


def test_unreadable_table_is_named(tmp_path, capsys):
    path = tmp_path / "empty.csv"
    path.touch()
    assert f"{path} is empty" in refusal(capsys, "y ~ .", str(path))


def test_new_table_without_a_column_names_it(wine, tmp_path, capsys):
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    load_data("wine").drop(columns="proline").to_csv(new, index=False)
    assert main(["cultivar ~ .", wine, *QUICK, "--predict", str(new), "--out", str(out)]) == 2
    assert "proline" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--predict", "new.csv"], "--out FILE"),
        (["--out", "out.csv"], "--predict TABLE"),
        (["--type", "leaf"], "--predict TABLE"),
        (["--plot", "forest.bmp"], "'.png'"),
        (["--plot", "no-folder/forest.png"], "no-folder"),
        (["--plot", ".png"], "'.png'"),
        (["--predict", "new.csv", "--out", "no-folder/out.csv"], "no-folder"),
        (["--predict", "new.csv", "--out", "out.parquet"], "csv"),
        (["--predict", "new.csv", "--out", "."], "is a folder"),
    ],
)
def test_what_cannot_be_written_is_refused_before_the_fit(wine, capsys, extra, message):
    assert message in refusal(capsys, "cultivar ~ .", wine, *extra)


def test_no_file_that_is_read_is_written(wine, tmp_path, capsys):
    new = tmp_path / "new.csv"
    new.write_bytes(Path(wine).read_bytes())
    other_name = tmp_path / "link.png"
    other_name.hardlink_to(new)
    for extra in (
        ["--predict", str(new), "--out", wine],
        ["--predict", str(new), "--out", str(tmp_path / "." / "new.csv")],
        ["--predict", str(new), "--out", str(tmp_path / "out.png"), "--plot", str(other_name)],
        ["--predict", str(new), "--out", str(tmp_path / "x.png"), "--plot", f"{tmp_path}/x.png"],
    ):
        assert "the same file" in refusal(capsys, "cultivar ~ .", wine, *extra)
    assert new.read_bytes() == Path(wine).read_bytes()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("t.csv.gz", lambda whole: whole[:-40]),
        ("t.csv.gz", lambda whole: b"no gzip at all"),
        ("t.csv.gz", lambda whole: whole[:50] + b"damaged" + whole[57:]),
        ("t.csv.zip", lambda whole: whole[:-40]),
        ("t.csv.zip", lambda whole: whole[:100] + b"damaged" * 9 + whole[163:]),
        ("t.csv.xz", lambda whole: whole[:-40]),
        ("t.csv.bz2", lambda whole: whole[:-40]),
        ("t.csv", lambda whole: b"\xff\xfe\x00" + whole),
        ("t.parquet", lambda whole: whole[:-40]),
    ],
)
def test_damaged_tables_are_named(tmp_path, capsys, name, change):
    path = tmp_path / name
    frame = load_data("wine")
    if name.endswith("parquet"):
        path.write_bytes(b"PAR1" + bytes(100))
    else:
        frame.to_csv(path, index=False)
    path.write_bytes(change(path.read_bytes()))
    assert f"{path} cannot be read" in refusal(capsys, "cultivar ~ .", str(path))


def test_new_rows_that_do_not_fit_are_refused_before_the_fit(wine, diabetes, tmp_path, capsys):
    out = ["--out", str(tmp_path / "out.csv")]
    assert "lacks columns" in refusal(capsys, "cultivar ~ .", wine, "--predict", diabetes, *out)
    extra = ["--predict", diabetes, *out, "--type", "prob"]
    assert "needs classes" in refusal(capsys, "progression ~ .", diabetes, *extra)


@pytest.mark.parametrize(
    ("formula", "part"),
    [
        ("cultivar ~ I(alcohol + 0*__import__('os').getpid())", "__import__"),
        ("cultivar ~ np.load(alcohol)", "np.load"),
        ("cultivar ~ os.getpid() * alcohol", "os"),
        ("I(cultivar + str(sys.path)) ~ alcohol", "sys"),
        ("cultivar ~ pd.read_csv(alcohol)", "pd"),
        ("cultivar ~ alcohol.to_csv('written')", "alcohol.to_csv"),
    ],
)
def test_a_formula_runs_no_code_but_that_of_the_package(wine, capsys, monkeypatch, formula, part):
    monkeypatch.chdir(Path(wine).parent)
    assert part in refusal(capsys, formula, wine, "--tree")
    assert not Path("written").exists()


def test_a_formula_may_compute(wine):
    formula = "cultivar ~ np.log(alcohol) + bs(ash, 4) + I(hue > 1) + proline.clip(0, 900)"
    assert main([formula, wine, "--tree", "--seed", "1"]) == 0


def test_a_name_that_is_code_stays_a_name(wine, tmp_path):
    path = tmp_path / "odd.csv"
    evil = "I(alcohol/0 + 0*__import__('os').mkdir('made'))"
    load_data("wine").rename(columns={"ash": evil, "hue": "a b"}).to_csv(path, index=False)
    assert main(["cultivar ~ .", str(path), "--tree", "--seed", "1"]) == 0
    fit = odrf("cultivar ~ .", pd.read_csv(path), n_trees=30, seed=1)
    best = fit.select_variables().best("min")
    again = odrf(best.formula, pd.read_csv(path), n_trees=5, seed=1)
    assert again.design.predictors == best.design.predictors
    assert not Path("made").exists()


def test_an_interrupted_command_says_so(wine, capsys, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("odrf.cli.commands.fit_tables", interrupted)
    assert main(["cultivar ~ .", wine]) == 130
    assert capsys.readouterr().err == "odrf: interrupted\n"


@pytest.mark.parametrize(
    "extra", [["--tree", "--trees", "5"], ["--kind", "count"], ["--trees", "x"]]
)
def test_arguments_that_do_not_parse_exit_with_2(wine, extra):
    with pytest.raises(SystemExit) as stop:
        main(["cultivar ~ .", wine, *extra])
    assert stop.value.code == 2


def test_module_runs_as_a_command(wine):
    done = subprocess.run(
        [sys.executable, "-m", "odrf", "cultivar ~ nothing", wine],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("odrf: error: ")
    assert "Traceback" not in done.stderr


def test_reader_that_leaves_early_is_no_error(wine):
    command = [sys.executable, "-m", "odrf", "cultivar ~ .", wine, "--tree"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1
