"""What messages advise can be typed in a shell, and works."""

from __future__ import annotations

import re
import shlex
import warnings

import numpy as np
import pandas as pd
import pytest

from odrf.cli import main
from odrf.cli.settings import in_shell_words

ROWS = 90


def table(response, predictor=lambda i: i % 7, names="y,x"):
    """Text of rows with these cells."""
    rows = [f"{response(i)},{predictor(i)}\n" for i in range(ROWS)]
    return f"{names}\n" + "".join(rows)


def spelled(i):
    return ["u", "U ", "v"][i % 3]


TREE = ["tree", "y ~ .", "t.csv"]
ADVICE = {
    "two numbers": (table(lambda i: i % 2), TREE, "use --set kind=classification if they"),
    "two numbers, short form": (
        table(lambda i: i % 2), ["y ~ .", "t.csv", "--tree"], "use --kind classification if they"
    ),
    "names of their own": (table(lambda i: f"name{i}"), TREE, "or write C(y) if these are"),
    "names as a predictor": (
        table(lambda i: i % 7, lambda i: f"name{i}"), TREE, "or write C(x) if it is a factor"
    ),
    "a sign among many": (
        table(lambda i: i % 7, lambda i: i if i % 50 else "?"), TREE, "add --na '?' if they"
    ),
    "a sign among many responses": (
        table(lambda i: i if i % 50 else "?"), TREE, "add --na '?' if they are empty"
    ),
    "missing values": (
        table(lambda i: i % 7, lambda i: i if i % 50 else ""),
        [*TREE, "--set", "missing=raise"], "fit with --set missing=split",
    ),
    "one name twice": (
        table(lambda i: i % 7, lambda i: f"{i % 5},{i % 5}", "y,x,x"), TREE,
        "leave it out by - x_2 at the end",
    ),
    "the response twice": (
        table(lambda i: i % 7, lambda i: f"{i % 5},{i % 7}", "y,x,y"), TREE,
        "leave it out by - y_2 at the end",
    ),
}  # fmt: skip


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def followed(said, words):
    """Return a command changed as a message advises."""
    options = re.search(r"(?:use|with|add) ((?:--[a-z]+ (?:'[^']*'|[^\s,;:]+) ?)+)", said)
    category = re.search(r"write C\((\w+)\)", said)
    left_out = re.search(r"leave it out by (- \w+) at the end", said)
    if options:
        return [*(word for word in words if word != "missing=raise"), *shlex.split(options[1])]
    if category:
        formula = "C(y) ~ x" if category[1] == "y" else "y ~ C(x)"
    else:
        formula = f"y ~ . {left_out[1]}"
    return [formula if "~" in word else word for word in words]


@pytest.mark.parametrize("name", ADVICE)
def test_advice_works_in_the_shell(inside, capsys, name):
    text, words, advised = ADVICE[name]
    (inside / "t.csv").write_text(text)
    main(words)
    said = capsys.readouterr().err
    assert advised in said
    line = next(line for line in said.splitlines() if advised in line)
    again = [word for word in followed(line, words) if name != "missing values" or word != "--set"]
    if name == "missing values":
        again = [*TREE, "--set", "missing=split"]
    status = main(again)
    assert status == 0, capsys.readouterr().err
    assert advised not in capsys.readouterr().err or "twice" in name


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ('use kind="classification", or', "use --set kind=classification, or"),
        ("use groups='a b' if", "use --set 'groups=a b' if"),
        ("use n_trees=300, or the forest's grow(288)", "use --set n_trees=300, or the forest's gr"),
        ('use predict(training="in-bag")', 'use predict(training="in-bag")'),
        ("--set seed=-1: use", "--set seed=-1: use"),
        ("type='x' is not known", "--set type=x is not known"),
        (
            "'x' has levels that differ: 'u', 'U '; join them with data['x'] = "
            "data['x'].str.strip().str.lower(), or write C(x) if they are different",
            "'x' has levels that differ: 'u', 'U '; write them alike in the table, or write C(x)",
        ),
        (
            "taken as a factor: turn it into numbers with pd.to_numeric(data['x'].str.replace("
            "'[$]', '', regex=True)), or write C(x) if they are labels",
            "taken as a factor: write plain numbers in the table, or write C(x) if they are labels",
        ),
        (
            "turn it into numbers with pd.to_numeric(data['x'], errors='coerce'), which makes "
            "'?' and '--' missing, or write",
            "add --na '?' --na=-- if they are empty, or write",
        ),
        (
            "turn it into dates with pd.to_datetime(data['x'], format='%d.%m.%Y')",
            "write numbers for them in the table",
        ),
    ],
)
def test_arguments_and_code_become_options(message, words):
    assert in_shell_words(message).startswith(words)


@pytest.mark.parametrize("response", [True, False])
def test_dates_are_taken_apart_in_the_formula(inside, capsys, response):
    data = pd.DataFrame({"y": pd.timedelta_range("1D", periods=ROWS), "x": np.arange(ROWS) % 7})
    data["d"] = pd.Series([pd.Timestamp("2020-01-01").time()] * ROWS)
    data.to_parquet("t.parquet")
    formula = "y ~ x" if response else "x ~ d"
    assert main(["tree", formula, "t.parquet"]) == 2
    said = capsys.readouterr().err
    assert "data[" not in said
    if response:
        assert "such as y.dt.total_seconds() in the formula" in said
        assert main(["tree", "y.dt.total_seconds() ~ x", "t.parquet"]) == 0


def test_no_advice_of_the_command_is_code(inside, capsys):
    (inside / "t.csv").write_text(table(spelled, lambda i: f"${i}.5" if i % 9 else "?"))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        main(TREE)
    said = capsys.readouterr().err
    assert "pd." not in said and "data[" not in said
