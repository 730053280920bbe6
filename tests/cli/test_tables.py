"""Tables that Excel, R and SAS write, and new rows that look unlike the training rows."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.cli import main
from odrf.cli.files import TableForm
from odrf.cli.tables import read_table

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
        "table2.csv has one column, 'code;x;y': if ';' separates columns, add --format csv2, or"
        in said
    )


def test_tabs_in_a_file_of_another_ending(inside, data, capsys):
    data.to_csv("table.txt", index=False, sep="\t")
    assert "add --format tsv" in refusal(capsys, "tree", "y ~ .", "table.txt")
    answer(capsys, "tree", "y ~ .", "table.txt", *OPTIONS, "--format", "tsv")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-8-sig"])
def test_text_with_a_mark_of_its_encoding_is_read(inside, data, capsys, monkeypatch, encoding):
    data.rename(columns={"x": "größe"}).to_csv("plain.csv", index=False)
    plain = answer(capsys, "tree", "y ~ .", "plain.csv", *OPTIONS)
    mark = "" if encoding in ("utf-16", "utf-8-sig") else "\ufeff"
    content = (mark + (inside / "plain.csv").read_text(encoding="utf-8")).encode(encoding)
    (inside / "table.csv").write_bytes(content)
    assert answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS) == plain
    (inside / "table.csv.gz").write_bytes(gzip.compress(content))
    assert answer(capsys, "tree", "y ~ .", "table.csv.gz", *OPTIONS) == plain
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert answer(capsys, "tree", "y ~ .", "-", *OPTIONS) == plain


def test_encodings_are_named(inside, data, capsys):
    data.rename(columns={"x": "größe"}).to_csv("table.csv", index=False, encoding="cp1252")
    asked = ("tree", "y ~ .", "table.csv", *OPTIONS, "--encoding")
    assert "größe" in answer(capsys, *asked, "cp1252")
    said = refusal(capsys, *asked, "nothing")
    assert "--encoding nothing is not known: use one such as latin-1" in said
    assert "no text in --encoding ascii: use another one" in refusal(capsys, *asked, "ascii")


@pytest.mark.parametrize("sep", ["|", ";", "tab", r"\t", " ", "space", ":"])
def test_columns_may_have_any_separator(inside, data, capsys, monkeypatch, sep):
    data.to_csv("plain.csv", index=False)
    plain = answer(capsys, "tree", "y ~ .", "plain.csv", *OPTIONS)
    character = {"tab": "\t", r"\t": "\t", "space": " "}.get(sep, sep)
    text = data.to_csv(index=False, sep=character)
    if character == " ":
        text = "".join(f"  {line} \n" for line in text.replace(" ", "   ").splitlines())
    (inside / "table.csv").write_text(text)
    asked = (*OPTIONS, "--sep", sep)
    assert answer(capsys, "tree", "y ~ .", "table.csv", *asked) == plain
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert answer(capsys, "tree", "y ~ .", "-", *asked) == plain


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sep", "ab"], "--sep 'ab': use one character"),
        (["--decimal", ";"], "--decimal ';': use a point or a comma"),
        (["--comment", ""], "--comment is empty"),
    ],
)
def test_forms_of_tables_are_checked(inside, data, capsys, options, said):
    data.to_csv("table.csv", index=False)
    assert said in refusal(capsys, "tree", "y ~ .", "table.csv", *options)
    data.to_parquet("table.parquet")
    for words in (["--na", "?"], ["--sep", "|"], ["--encoding", "utf-8"]):
        said = refusal(capsys, "tree", "y ~ .", "table.parquet", *words)
        assert f"{words[0]} is for tables of text, and table.parquet is none" in said


@pytest.mark.parametrize(
    ("begin", "options"),
    [
        ("# made today\n", []),
        ("#\n# a, b, c\n\n", []),
        ("# one,two,three\n", []),
        ("// made today\n", ["--comment", "//"]),
    ],
)
def test_comments_before_the_names_are_left_out(inside, data, capsys, begin, options):
    data.to_csv("plain.csv", index=False)
    plain = answer(capsys, "tree", "y ~ .", "plain.csv", *OPTIONS)
    text = (inside / "plain.csv").read_text()
    (inside / "table.csv").write_text(begin + text)
    assert answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS, *options) == plain
    (inside / "table.csv").write_text(begin + text + "1,2\n")
    said = refusal(capsys, "tree", "y ~ .", "table.csv", *OPTIONS, *options)
    assert f"line {N + 2 + begin.count(chr(10))} 2 fields" in said


def test_names_may_begin_with_a_sharp(inside, data, capsys):
    data.rename(columns={"code": "#code"}).to_csv("table.csv", index=False)
    assert "#code" in answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS)
    text = (inside / "table.csv").read_text()
    (inside / "table.csv").write_text(f"# made today, and\n{text}")
    assert "#code" in answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS)


def test_blanks_after_separators_and_around_names_do_not_count(inside, data, capsys):
    data.to_csv("plain.csv", index=False)
    plain = answer(capsys, "tree", "y ~ .", "plain.csv", *OPTIONS)
    head, rows = (inside / "plain.csv").read_text().split("\n", 1)
    for names in (head, "code , x , y"):
        (inside / "table.csv").write_text(f"{names}\n{rows.replace(',', ',  ')}")
        assert answer(capsys, "tree", "y ~ .", "table.csv", *OPTIONS) == plain


def test_na_may_be_a_level(inside, data, capsys):
    data["code"] = data["code"].replace("x", "NA")
    data.to_csv("table.csv", index=False)
    asked = ("tree", "y ~ .", "table.csv", *OPTIONS)
    assert "code 3" in answer(capsys, *asked).replace(str((data["code"] == "NA").sum()), "3")
    levels = answer(capsys, *asked, "--na", "", "--save", "fit.odrf", "--json")
    assert "Missing values" not in levels
    expected = odrf.odt("y ~ .", data, seed=1, max_leaves=3, alpha=None).predict(data)
    # what was a level in training is one in new rows, without the option
    found = pd.read_csv(io.StringIO(answer(capsys, "predict", "fit.odrf", "table.csv")))
    assert np.allclose(found["prediction"], expected)


@pytest.mark.parametrize(
    ("cells", "form", "expected"),
    [
        (["1,234", "12", "-1,234,567"], ["--format", "csv"], [1234, 12, -1234567]),
        (["1,234.5", "12.25", "0.5"], ["--format", "csv"], [1234.5, 12.25, 0.5]),
        (["1.234,5", "2.345,5", "12,5"], ["--format", "csv2"], [1234.5, 2345.5, 12.5]),
        (["1.234.567", "2.345", "12"], ["--format", "csv2"], [1234567, 2345, 12]),
        (["1.234,5", "12,5", "2"], ["--decimal", ","], [1234.5, 12.5, 2]),
        (["1,234", "12", "2"], ["--decimal", "."], [1234, 12, 2]),
        (["1 234.5", "12", "2"], [], [1234.5, 12, 2]),
        (["1'234'567", "12", "2"], [], [1234567, 12, 2]),
        (["1\u202f234\u202f567", "12", "2"], [], [1234567, 12, 2]),
        (["1,234.5", "?", "2"], ["--na", "?"], [1234.5, None, 2]),
    ],
)
def test_signs_of_thousands_are_read(inside, capsys, cells, form, expected):
    sep = ";" if "csv2" in form else ","
    rows = [f'{i % 7}{sep}"{cells[i % 3]}"' for i in range(60)]
    (inside / "t.csv").write_text("\n".join([f"y{sep}x", *rows]))
    options = dict(zip(form[::2], form[1::2], strict=True))
    na = tuple(options.pop("--na", ()))
    assert main(("tree", "y ~ x", "t.csv", *OPTIONS, *form)) == 0
    assert capsys.readouterr().err == ""
    given = TableForm(**{name[2:]: value for name, value in options.items()}, na=na)
    found = read_table(Path("t.csv"), given)["x"]
    assert found.head(3).astype(object).where(found.head(3).notna(), None).tolist() == expected


# ------------------------------------------------------------------------------------------------
# What messages advise is done, and works.
# ------------------------------------------------------------------------------------------------


def column(*cells):
    """Text of rows with these cells, one after the other, as x; y has numbers."""
    rows = [f'{i % 7},"{cells[i % len(cells)]}"\n' for i in range(90)]
    return "y,x\n" + "".join(rows)


def apart(separator):
    return column("1", "2").replace('"', "").replace(",", separator)


WHOLE = [str(number) for number in range(30)]
ADVICE = {
    "few whole numbers": (column("1", "2", "?"), "'x' has '?' among numbers"),
    "the response": (column("1", "2", "3", "?").replace("y,x", "x,y"), "'y' has '?' among numbers"),
    "many numbers": (column(*WHOLE, "?"), "'x' has '?' among numbers"),
    "numbers of their own": (
        "y,x\n" + "".join(f"{i % 7},{i if i % 20 else '?'}\n" for i in range(90)),
        "'x' has '?' among numbers",
    ),
    "other words": (column(*WHOLE, "off", "not done"), "'x' has 'off' among numbers"),
    "a line": (column("1.5", "2", "--"), "'x' has '--' among numbers"),
    "a sign before it": (column("1.5", "2", "-", "."), "'x' has '-' among numbers"),
    "blanks": (column("1.5", "2", " "), "'x' has ' ' among numbers"),
    "thousands too": (column("1,234.5", "12", "?"), "'x' has '?' among numbers"),
    "decimal commas": (column("1,5", "2", "12,25"), "'x' has decimal commas, such as '1,5'"),
    "commas of both": (column("1,234", "2,5", "12"), "'x' has decimal commas, such as"),
    "thousands or not": (column("1,234", "2"), "'x' has commas of thousands: '1,234' is read as"),
    "semicolons": (apart(";"), "one column, 'y;x'"),
    "bars": (apart("|"), "one column, 'y|x'"),
    "tabs": (apart("\t"), "one column, "),
    "blanks between": (apart("  "), "one column, 'y  x'"),
    "comments within": (column("1", "2") + "# end\n", "if lines that begin with # are comments"),
    "latin letters": (column("ä", "b").encode("latin-1"), "it is no text in UTF-8"),
}  # fmt: skip


def advised(said):
    """Return the options that a message advises to add."""
    found = re.search(r" (?:add|as in)((?: --[a-z]+[= ](?:'[^']*'|[^\s,;]+))+)", said)
    return shlex.split(found[1])


@pytest.mark.parametrize("name", ADVICE)
def test_advice_about_tables_works(inside, capsys, name):
    text, said = ADVICE[name]
    (inside / "t.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    main(("tree", "y ~ .", "t.csv", *OPTIONS))
    message = capsys.readouterr().err
    assert said in message
    options = advised(message)
    assert main(("tree", "y ~ .", "t.csv", *OPTIONS, *options)) == 0
    assert capsys.readouterr().err == "", options


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
    assert "table.csv cannot be read: it is no text in UTF-8: name its encoding" in said


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


def test_codes_with_blanks_may_be_labels(inside, capsys):
    rows = "".join(f"{i % 7},{['110 001', '560 034', '400 070'][i % 3]}\n" for i in range(60))
    (inside / "t.csv").write_text("y,x\n" + rows)
    assert main(("tree", "y ~ x", "t.csv", *OPTIONS)) == 0
    said = capsys.readouterr().err
    assert "'x' has blanks of thousands: '110 001' is read as 110001; write C(x) if" in said
    assert "1 (3 columns)" in answer(capsys, "tree", "y ~ C(x)", "t.csv", *OPTIONS)


def test_labels_are_no_numbers_read_as_text(inside, capsys):
    (inside / "t.csv").write_text("y;x\n" + "".join(f"{i % 7};{'ab1'[i % 3]}\n" for i in range(60)))
    assert main(("tree", "y ~ x", "t.csv", *OPTIONS, "--format", "csv2")) == 0
    assert "'x' has" not in capsys.readouterr().err
