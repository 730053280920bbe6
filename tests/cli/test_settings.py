"""Nothing on the command line runs as code."""

from __future__ import annotations

import pytest

import odrf
from odrf import load_data
from odrf.cli import main
from odrf.cli.settings import read_grid, read_options
from odrf.errors import InputError

HOSTILE = [
    "progression ~ I(bmi + 0*__import__('os').mkdir('made'))",
    "progression ~ np.load('made')",
    "progression ~ bmi.to_csv('made')",
    "I(progression + 0*open('made', 'w').write('')) ~ bmi",
    "progression ~ bmi.map(eval)",
    "progression ~ (lambda: open('made', 'w'))()",
    "progression ~ bmi.__class__.__base__.__subclasses__()",
    "progression ~ [open(c, 'w') for c in ['made']]",
]
ANY = "progression ~ ."
COMMANDS = [
    ["{}", "table.csv"],
    ["fit", "{}", "table.csv"],
    ["tree", "{}", "table.csv"],
    ["boost", "{}", "table.csv", "--set", "n_trees=2"],
    ["graf", "{}", "table.csv", "--set", "n_trees=2"],
    ["compare", "{}", "table.csv", "--model", "tree", "--model", "a=tree"],
    [
        "compare",
        "progression ~ .",
        "table.csv",
        "--model",
        "tree",
        "--model",
        'a=tree formula="{}"',
    ],
    ["tune", "{}", "table.csv", "--grid", "min_leaf=2,3", "--set", "n_trees=2"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("hostile")
    load_data("diabetes").to_csv(made / "table.csv", index=False)
    return made


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("formula", HOSTILE)
def test_no_command_runs_the_code_of_a_formula(folder, monkeypatch, capsys, command, formula):
    monkeypatch.chdir(folder)
    assert main([word.replace("{}", formula) for word in command]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("odrf: error: ") and "Traceback" not in captured.err
    assert [path.name for path in folder.iterdir()] == ["table.csv"]


@pytest.mark.parametrize(
    "value",
    [
        "lambda n: n**0.5",
        "open('made', 'w')",
        "__import__('os').mkdir('made')",
        "[open('made', 'w')]",
        "odrf.Patch(width=(2, 5))",
        "{'axis': eval('1')}",
    ],
)
def test_no_value_is_run(folder, monkeypatch, value):
    monkeypatch.chdir(folder)
    with pytest.raises(InputError, match="is code"):
        read_options([f"max_leaves={value}"], [odrf.odt])
    with pytest.raises(InputError, match="is code"):
        read_grid([f"max_leaves=3,{value}"], [odrf.odt])
    assert not (folder / "made").exists()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("5", 5),
        ("-0.5", -0.5),
        ("1e3", 1000.0),
        ("gini", "gini"),
        ("'gini'", "gini"),
        ("log6/n", "log6/n"),
        ("None", None),
        ("none", None),
        ("null", None),
        ("true", True),
        ("False", False),
        ("[1, 2]", [1, 2]),
        ("{'axis': 0.5, 'sparse': 0.5}", {"axis": 0.5, "sparse": 0.5}),
        ("", ""),
        ("a=b", "a=b"),
        ("[1", "[1"),
        ("(" * 5000, "(" * 5000),
        ("9" * 5000, "9" * 5000),
        ("-" * 100_000 + "1", "-" * 100_000 + "1"),
    ],
)
def test_values_are_plain(text, value):
    found = read_options([f"alpha={text}"], [odrf.odt])
    assert found == {"alpha": value} and type(found["alpha"]) is type(value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("2,5,10", [2, 5, 10]),
        ("axis, logistic", ["axis", "logistic"]),
        ("{'axis': 0.5, 'sparse': 0.5},axis", [{"axis": 0.5, "sparse": 0.5}, "axis"]),
        ("'a,b',none", ["a,b", None]),
        ("[1, 2],(3, [4, 5])", [[1, 2], (3, [4, 5])]),
        ("1se,cv", ["1se", "cv"]),
        ("3", [3]),
    ],
)
def test_a_grid_is_divided_at_its_commas(text, values):
    assert read_grid([f"projection={text}"], [odrf.odt]) == {"projection": values}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["min_leaf"], "write name=value"),
        (["=3"], "write name=value"),
        (["min_laef=3"], "did you mean 'min_leaf'"),
        (["min_leaf=3", "min_leaf=4"], "twice"),
        (["data=3"], "it is the table"),
        (["progress=true"], "use --progress"),
        (["weights=[1, 2]"], "name a column"),
    ],
)
def test_a_word_that_is_no_option_is_refused(words, message):
    with pytest.raises(InputError, match=message):
        read_options(words, [odrf.odt])


def test_a_column_may_have_the_name_of_a_number():
    assert read_options(["weights=3"], [odrf.odt]) == {"weights": "3"}
    for name in ("groups", "order", "strata"):
        assert read_options([f"{name}=2020"], [odrf.odt]) == {name: "2020"}
    assert read_options(["weights=w(kg)"], [odrf.odt]) == {"weights": "w(kg)"}
