"""Tables that Excel, R and SAS write, and new rows that look unlike the training rows."""

from __future__ import annotations

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.cli import main

N = 120
OPTIONS = ("--seed", "1", "--set", "max_leaves=3", "--set", "alpha=none")


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.choice(["007", "012", "x"], N), "x": rng.normal(size=N)})
    return frame.assign(y=3.0 * (frame["code"] == "007") + frame["x"])


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(capsys, *arguments):
    assert main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith("odrf: error: ") and said.count("\n") == 1
    return said


def answer(capsys, *arguments):
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def test_codes_of_digits_stay_text_in_rows_to_predict(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    new = data[data["code"] != "x"].head(4)
    new.to_csv("new.csv", index=False)
    expected = odrf.odt("y ~ .", data, seed=1, max_leaves=3, alpha=None).predict(new)
    predict = ("--predict", "new.csv", "--out", "out.csv")
    answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS, "--save", "fit.odrf", *predict)
    assert pd.read_csv("out.csv")["prediction"].tolist() == expected.tolist()
    found = pd.read_csv(io.StringIO(answer(capsys, "predict", "fit.odrf", "new.csv")))
    assert found["prediction"].tolist() == expected.tolist()
    answer(capsys, "fit", "--load", "fit.odrf", "--predict", "new.csv", "--out", "again.csv")
    assert pd.read_csv("again.csv")["prediction"].tolist() == expected.tolist()


def test_classes_of_digits_stay_text_in_rows_held_out(inside, data, capsys):
    data["y"] = np.where(data["x"] > 0, data["code"], "x")
    data.to_csv("table.csv", index=False)
    answer(capsys, "tree", "y ~ x", "table.csv", *OPTIONS, "--save", "fit.odrf")
    data[data["y"] != "x"].to_csv("new.csv", index=False)
    assert "Pruning path" in answer(capsys, "prune", "fit.odrf", "--newdata", "new.csv")


def test_semicolons_and_decimal_commas(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    data.to_csv("table2.csv", index=False, sep=";", decimal=",")
    plain = answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS)
    assert answer(capsys, "tree", "y ~ .", "table2.csv", *OPTIONS, "--format", "csv2") == plain
    said = refusal(capsys, "tree", "y ~ .", "table2.csv")
    assert (
        "table2.csv has one column, 'code;x;y': if ';' separates columns, add --format csv2" in said
    )


def test_tabs_in_a_file_of_another_ending(inside, data, capsys):
    data.to_csv("table.txt", index=False, sep="\t")
    assert "add --format tsv" in refusal(capsys, "tree", "y ~ .", "table.txt")
    answer(capsys, "tree", "y ~ .", "table.txt", *OPTIONS, "--format", "tsv")


def test_text_in_utf16_is_refused_with_the_way_out(inside, data, capsys):
    data.to_csv("table.csv", index=False, encoding="utf-16")
    assert "iconv -f utf-16 -t utf-8" in refusal(capsys, "tree", "y ~ .", "table.csv")


def test_columns_that_bars_separate_are_refused_with_the_way_out(inside, data, capsys):
    data.to_csv("table.csv", index=False, sep="|")
    assert "if '|' separates columns" in refusal(capsys, "tree", "y ~ .", "table.csv")
    data.to_csv("table.tsv", index=False)
    assert "add --format csv" in refusal(capsys, "tree", "y ~ .", "table.tsv")


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t"), ("csv2", ";")])
def test_separators_at_the_end_of_rows_shift_no_column(format, separator, inside, data, capsys):
    decimal = "," if format == "csv2" else "."
    data.to_csv("plain.txt", index=False, sep=separator, decimal=decimal)
    head, *rows = (inside / "plain.txt").read_text().splitlines()
    text = "\n".join([head, *(row + separator for row in rows)])
    (inside / "ends.txt").write_text(text)
    said = []
    for name in ("plain", "ends"):
        model = ("--format", format, "--save", f"{name}.odrf")
        answer(capsys, "tree", "y ~ .", f"{name}.txt", *OPTIONS, *model)
        said.append(answer(capsys, "predict", "plain.odrf", f"{name}.txt", "--format", format))
    assert said[0] == said[1]
    assert odrf.load("ends.odrf").rules() == odrf.load("plain.odrf").rules()


def test_a_table_from_stdin_is_looked_through_too(inside, data, capsys, monkeypatch):
    data.to_csv("table.csv", index=False)
    answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS, "--save", "fit.odrf")
    expected = answer(capsys, "predict", "fit.odrf", "table.csv")
    head, *rows = (inside / "table.csv").read_text().splitlines()
    for end, refused in ((",", False), (",1", True)):
        text = "\n".join([head, *(f"{row}{end}" for row in rows)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
        if refused:
            said = refusal(capsys, "predict", "fit.odrf", "-")
            assert "the table from stdin" in said and "line 2 4 fields" in said
        else:
            assert answer(capsys, "predict", "fit.odrf", "-") == expected


def test_row_names_of_r_are_said(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    head, *rows = (inside / "table.csv").read_text().splitlines()
    text = "\n".join([head, *(f'"{i}",{row}' for i, row in enumerate(rows))])
    (inside / "r.csv").write_text(text)
    assert main(("tree", "y ~ .", "r.csv", *OPTIONS)) == 0
    found = capsys.readouterr()
    assert found.err.count("write.table") == 1 and found.err.count("\n") == 1
    assert found.out == answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS)


def test_text_that_is_not_utf8_is_refused_with_the_way_out(inside, data, capsys):
    data.rename(columns={"x": "größe"}).to_csv("table.csv", index=False, encoding="latin-1")
    said = refusal(capsys, "tree", "y ~ .", "table.csv")
    assert "table.csv cannot be read: it is no text in UTF-8" in said and "iconv" in said


@pytest.mark.parametrize("name", ["table.xlsx", "table.RData"])
def test_files_of_other_programs_are_refused_with_the_way_out(name, inside, data, capsys):
    data.to_csv(name, index=False)
    said = refusal(capsys, "tree", "y ~ .", name, *OPTIONS)
    assert f"{name} is a file in " in said and "save the table as .csv or .parquet" in said
    assert answer(capsys, "tree", "y ~ x", name, *OPTIONS, "--format", "csv")


@pytest.mark.parametrize("name", ["table.TSV", "table.Parquet", "table.tsv.GZ"])
def test_endings_may_have_capitals(name, inside, data, capsys):
    if "Parquet" in name:
        data.to_parquet(name)
    else:
        data.to_csv(name, index=False, sep="\t", compression="infer")
    answer(capsys, "tree", "y ~ .", name, *OPTIONS)


def test_characters_that_the_output_lacks_are_said_with_the_way_out(
    inside, data, capsys, monkeypatch
):
    data.rename(columns={"x": "größe"}).to_csv("table.csv", index=False)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    said = refusal(capsys, "tree", "y ~ .", "table.csv", *OPTIONS)
    assert "characters that ascii lacks" in said and "PYTHONIOENCODING=utf-8" in said


def test_a_class_may_be_called_as_the_numbers_of_rows(inside, data, capsys):
    data.assign(y=np.where(data["x"] > 0, "row", "other")).to_csv("table.csv", index=False)
    answer(capsys, "tree", "y ~ x", "table.csv", *OPTIONS, "--save", "fit.odrf")
    asked = ("predict", "fit.odrf", "table.csv", "--type", "prob")
    assert answer(capsys, *asked).splitlines()[0] == "row_,other,row"
    first = json.loads(answer(capsys, *asked, "--json"))["predictions"][0]
    assert first["row_"] == 1 and first["other"] + first["row"] == 1


def test_rows_of_other_lengths_are_refused_in_one_line(inside, capsys):
    (inside / "table.csv").write_text("a,y\n1,2\n1,2,3\n")
    assert "line 3" in refusal(capsys, "tree", "y ~ .", "table.csv")


def test_a_byte_order_mark_is_no_part_of_a_name(inside, data, capsys):
    data.to_csv("table.csv", index=False, encoding="utf-8-sig")
    answer(capsys, "tree", "y ~ code", "table.csv", *OPTIONS)


def test_too_few_models_are_said_in_words_of_the_command(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    for models in ((), ("--model", "tree")):
        said = refusal(capsys, "compare", "y ~ .", "table.csv", *models)
        assert "--model is needed twice or more, as in --model tree --model forest" in said


def test_the_short_form_reads_the_format_that_it_advises(inside, data, capsys):
    data.to_csv("table.csv", index=False, sep=";", decimal=",")
    said = refusal(capsys, "y ~ .", "table.csv", "--tree")
    assert "--format csv2" in said
    short = answer(capsys, "y ~ .", "table.csv", "--tree", "--seed", "1", "--format", "csv2")
    data.to_csv("plain.csv", index=False)
    assert answer(capsys, "y ~ .", "plain.csv", "--tree", "--seed", "1") == short


def test_unseen_levels_of_rows_to_predict_are_said_once(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    data.assign(code="new").to_csv("new.csv", index=False)
    predict = ("--predict", "new.csv", "--out", "out.csv")
    assert main(("tree", "y ~ .", "table.csv", *OPTIONS, *predict)) == 0
    assert capsys.readouterr().err.count("'code' has levels that no training row has") == 1
    refusing = ("--set", "unseen=raise", *predict)
    assert "Recode these rows" in refusal(capsys, "tree", "y ~ .", "table.csv", *refusing)


def test_a_file_that_is_written_is_not_stdout(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS, "--save", "fit.odrf")
    said = refusal(capsys, "predict", "fit.odrf", "table.csv", "--out", "-")
    assert "--out - is no file: name one; predict writes to stdout without it" in said
    assert "--save - is no file" in refusal(capsys, "tree", "y ~ .", "table.csv", "--save", "-")
    assert not (inside / "-").exists()


def test_options_of_one_tree_are_refused_for_a_forest(inside, data, capsys):
    data.to_csv("table.csv", index=False)
    forest = ("forest", "y ~ .", "table.csv", "--set", "n_trees=2", "--seed", "1")
    answer(capsys, *forest, "--save", "fit.odrf")
    for option in (("--leaves", "3"), ("--newdata", "table.csv")):
        said = refusal(capsys, "prune", "fit.odrf", *option)
        assert f"{option[0]} is for one tree, and fit.odrf is a forest: use --rule or" in said


@pytest.mark.parametrize("name", ["fit", "predict", "prune", "compare", "tune"])
def test_examples_and_exit_codes_are_lines_of_their_own(name, capsys):
    with pytest.raises(SystemExit):
        main((name, "--help"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[lines.index("example:") + 1].startswith(f"  odrf {name} ")
    assert lines[lines.index("exit codes:") + 1].startswith("  0 success")
    assert max(map(len, lines[lines.index("exit codes:") :])) < 80


def test_cumulative_probabilities_of_ordered_classes(inside, data, capsys):
    labels = np.select([data["x"] < -1, data["x"] < 1], ["low", "middle"], "high")
    ordered = pd.Categorical(labels, categories=["low", "middle", "high"], ordered=True)
    tree = odrf.odt("level ~ x", data.assign(level=ordered), seed=1, max_leaves=4, alpha=None)
    tree.save("fit.odrf")
    data.to_csv("new.csv", index=False)
    asked = ("predict", "fit.odrf", "new.csv", "--type", "cumulative")
    found = pd.read_csv(io.StringIO(answer(capsys, *asked)))
    expected = tree.predict(data, type="cumulative")
    assert found.columns.tolist() == ["row", "low", "middle"]
    assert np.allclose(found[["low", "middle"]], expected)
    odrf.odt("y ~ x", data, seed=1, max_leaves=4, alpha=None).save("fit.odrf")
    assert "needs classes" in refusal(capsys, *asked)


@pytest.mark.parametrize(
    ("cells", "format", "said"),
    [
        (["1.234,5", "2.345,5", "12,5"], "csv2", "'x' has points of thousands, such as '1.234,5'"),
        (["1.234", "2.345", "12"], "csv2", "'x' has points of thousands, such as '1.234'"),
        (["1", "2", "?"], "csv", "'x' has '?' among numbers"),
        (["1.5", "2", "  "], "csv", "'x' has '  ' among numbers"),
    ],
)
def test_numbers_that_are_read_as_text_are_told(inside, capsys, cells, format, said):
    rows = "".join(f"{i % 7};{cells[i % 3]}\n" for i in range(60))
    text = "y;x\n" + rows
    (inside / "t.csv").write_text(text if format == "csv2" else text.replace(";", ","))
    assert main(("tree", "y ~ x", "t.csv", *OPTIONS, "--format", format)) == 0
    assert said in capsys.readouterr().err


def test_labels_are_no_numbers_read_as_text(inside, capsys):
    (inside / "t.csv").write_text("y;x\n" + "".join(f"{i % 7};{'ab1'[i % 3]}\n" for i in range(60)))
    assert main(("tree", "y ~ x", "t.csv", *OPTIONS, "--format", "csv2")) == 0
    assert "'x' has" not in capsys.readouterr().err
