"""The sub-commands of ``odrf``: each does what the function does."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import load_data, simulate
from odrf.cli import main

ROOT = Path(__file__).parents[2]
FORMULA = "progression ~ ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with tables, a saved tree and a saved forest."""
    made = tmp_path_factory.mktemp("commands")
    data = load_data("diabetes")
    data.to_csv(made / "table.csv", index=False)
    odrf.odt(FORMULA, data, alpha=None, seed=1).save(made / "tree.odrf")
    odrf.odrf(FORMULA, data, n_trees=10, seed=1).save(made / "forest.odrf")
    odrf.odbt(FORMULA, data, n_trees=3, seed=1).save(made / "boosted.odrf")
    return made


@pytest.fixture
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def output(capsys, *arguments):
    """What a command writes to stdout."""
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def parsed(capsys, *arguments):
    return json.loads(output(capsys, *arguments, "--json"))


def refusal(capsys, *arguments):
    """The one message that a refused command writes."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("odrf: error: ") and captured.err.count("\n") == 1
    return captured.err


@pytest.mark.parametrize(
    ("command", "function", "settings"),
    [
        (["fit"], odrf.odrf, {"n_trees": 10}),
        (["forest"], odrf.odrf, {"n_trees": 10, "min_leaf": 4}),
        (["fit", "--model", "tree"], odrf.odt, {"alpha": None}),
        (["tree"], odrf.odt, {"alpha": None, "projection": {"axis": 0.5, "logistic": 0.5}}),
        (["tree"], odrf.odt, {"leaves": "linear"}),
        (["boost"], odrf.odbt, {"n_trees": 3, "l2": 0.5}),
        (["graf"], odrf.graf, {"n_trees": 3}),
    ],
)
def test_a_fit_is_that_of_the_function(inside, capsys, command, function, settings):
    name, *more = command
    given = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    shown = output(capsys, name, FORMULA, "table.csv", *more, *given, "--seed", "1")
    fit = function(FORMULA, load_data("diabetes"), **settings, seed=1)
    assert shown == f"{fit.summary()}\n"


def test_a_fit_goes_through_a_file(inside, tmp_path, capsys):
    model, out = str(tmp_path / "m.odrf"), tmp_path / "p.csv"
    assert main(["tree", FORMULA, "table.csv", "--seed", "1", "--save", model]) == 0
    assert f"saved the fit to {model}" in capsys.readouterr().err
    assert main(["predict", model, "table.csv", "--out", str(out)]) == 0
    assert "wrote predictions of 442 rows" in capsys.readouterr().err
    data = load_data("diabetes")
    fit = odrf.odt(FORMULA, data, seed=1)
    written = pd.read_csv(out, index_col="row")
    np.testing.assert_allclose(written["prediction"], fit.predict(data))
    assert output(capsys, "predict", model, "table.csv") == out.read_text()
    assert output(capsys, "fit", "--load", model) == f"{fit.summary()}\n"


def test_a_file_without_training_rows_predicts(inside, tmp_path, capsys):
    model = str(tmp_path / "m.odrf")
    extra = ["--set", "max_leaves=4", "--save", model, "--without-data"]
    output(capsys, "tree", FORMULA, "table.csv", *extra)
    assert len(output(capsys, "predict", model, "table.csv").splitlines()) == 443
    with pytest.raises(odrf.InputError, match="training rows"):
        odrf.load(model).pruning_path()


def test_classes_come_with_their_probabilities(tmp_path, capsys):
    table, model = str(tmp_path / "wine.csv"), str(tmp_path / "m.odrf")
    load_data("wine").to_csv(table, index=False)
    assert main(["tree", "cultivar ~ .", table, "--save", model]) == 0
    capsys.readouterr()
    rows = parsed(capsys, "predict", model, table)["predictions"]
    assert list(rows[0])[:2] == ["row", "prediction"] and len(rows) == 178
    assert sum(list(rows[0].values())[2:]) == pytest.approx(1)
    priors = "priors={'class_0': 0.2, 'class_1': 0.2, 'class_2': 0.6}"
    assert output(capsys, "predict", model, table, "--type", "prob", "--set", priors)


def test_truth_and_predictions_are_written_side_by_side(inside, tmp_path, capsys):
    keep = ["--keep", "progression", "--keep", "age"]
    shown = output(capsys, "predict", "tree.odrf", "table.csv", *keep)
    found = pd.read_csv(io.StringIO(shown), index_col="row")
    data = load_data("diabetes")
    assert found.columns.tolist() == ["progression", "age", "prediction"]
    np.testing.assert_allclose(found["progression"], data["progression"])
    np.testing.assert_allclose(found["prediction"], odrf.load("tree.odrf").predict(data))
    out = tmp_path / "p.csv"
    fitted = ["tree", FORMULA, "table.csv", "--predict", "table.csv", "--out", str(out), *keep]
    assert main(fitted) == 0
    capsys.readouterr()
    assert pd.read_csv(out).columns.tolist() == ["row", "progression", "age", "prediction"]
    rows = parsed(capsys, "predict", "tree.odrf", "table.csv", "--keep", "age")["predictions"]
    assert list(rows[0]) == ["row", "age", "prediction"]


def test_a_kept_column_may_not_be_called_as_a_prediction(inside, tmp_path, capsys):
    table = str(tmp_path / "t.csv")
    load_data("diabetes").assign(prediction=1).to_csv(table, index=False)
    said = refusal(capsys, "predict", "tree.odrf", table, "--keep", "prediction")
    assert "--keep prediction: a column of predictions has this name, too: rename it" in said


def test_options_of_predict_are_reachable(inside, capsys):
    words = ["--set", "interval=prediction", "--set", "level=0.8"]
    shown = output(capsys, "predict", "forest.odrf", "table.csv", *words)
    written = pd.read_csv(io.StringIO(shown), index_col="row")
    fit, data = odrf.load("forest.odrf"), load_data("diabetes")
    expected = fit.predict(data, interval="prediction", level=0.8)
    np.testing.assert_allclose(written, expected)


@pytest.mark.parametrize("format", ["csv", "tsv", "parquet"])
def test_a_table_may_come_from_stdin(inside, capsys, monkeypatch, format):
    data, sent = load_data("diabetes"), io.BytesIO()
    if format == "parquet":
        data.to_parquet(sent)
    else:
        data.to_csv(sent, index=False, sep="\t" if format == "tsv" else ",")
    sent.seek(0)
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=sent))
    extra = [] if format == "csv" else ["--format", format]
    from_stdin = output(capsys, "predict", "tree.odrf", "-", *extra)
    assert from_stdin == output(capsys, "predict", "tree.odrf", "table.csv")


def test_format_says_what_a_file_is(inside, tmp_path, capsys):
    odd = tmp_path / "table.txt"
    load_data("diabetes").to_csv(odd, index=False, sep="\t")
    extra = ["--format", "tsv"]
    assert output(capsys, "predict", "tree.odrf", str(odd), *extra) == output(
        capsys, "predict", "tree.odrf", "table.csv"
    )


def test_prune_shows_the_path_and_saves_the_pruned_tree(inside, tmp_path, capsys):
    tree, small = odrf.load("tree.odrf"), tmp_path / "small.odrf"
    path = tree.pruning_path(cv=3)
    assert output(capsys, "prune", "tree.odrf", "--set", "cv=3") == f"{path.summary()}\n"
    extra = ["--set", "cv=3", "--rule", "1se", "--save", str(small)]
    found = parsed(capsys, "prune", "tree.odrf", *extra)
    chosen = path.best("1se")
    assert len(found["path"]) == len(path.table)
    assert found["pruned"]["leaves"] == [chosen.n_leaves]
    assert odrf.load(small).n_leaves == chosen.n_leaves
    assert parsed(capsys, "prune", "tree.odrf", "--leaves", "3")["pruned"]["leaves"] == [3]
    found = parsed(capsys, "prune", "tree.odrf", "--newdata", "table.csv", "--alpha", "50")
    expected = tree.pruning_path(newdata=load_data("diabetes")).table["xerror"]
    np.testing.assert_allclose([row["xerror"] for row in found["path"]], expected)


def test_prune_takes_forests_and_says_what_it_cannot_take(inside, capsys):
    found = parsed(capsys, "prune", "forest.odrf", "--rule", "min")
    assert len(found["pruned"]["leaves"]) == 10
    assert "validation=" in refusal(capsys, "prune", "boosted.odrf")


def test_compare_compares_on_the_same_folds(inside, capsys):
    models = ["--model", "tree", "--model", "small=tree max_leaves=4 formula='progression ~ bmi'"]
    extra = [*models, "--set", "cv=3", "--set", "metric=mae", "--seed", "2"]
    found = parsed(capsys, "compare", FORMULA, "table.csv", *extra)
    assert {row["model"] for row in found["table"]} == {"tree", "small"}
    assert (found["metric"], found["cv"], found["seed"]) == ("mae", 3, 2)

    def small(formula, data, seed=None):
        return odrf.odt(formula, data, max_leaves=4, seed=seed)

    again = odrf.compare(
        FORMULA, load_data("diabetes"),
        {"tree": odrf.odt, "small": ("progression ~ bmi", small)}, cv=3, metric="mae", seed=2,
    )  # fmt: skip
    np.testing.assert_allclose([row["tree"] for row in found["scores"]], again.scores["tree"])
    np.testing.assert_allclose([row["small"] for row in found["scores"]], again.scores["small"])


def test_tune_tries_the_grid_and_saves_the_best(inside, tmp_path, capsys):
    best = tmp_path / "best.odrf"
    extra = ["--grid", "min_leaf=2,30", "--set", "n_trees=10", "--seed", "1", "--save", str(best)]
    found = parsed(capsys, "tune", FORMULA, "table.csv", *extra)
    grid = {"min_leaf": [2, 30]}
    tuning = odrf.tune(FORMULA, load_data("diabetes"), grid, n_trees=10, seed=1)
    assert found["best_options"] == tuning.best_options
    errors = [row["error"] for row in found["table"]]
    np.testing.assert_allclose(errors, tuning.table["error"])
    assert odrf.load(best).control.min_leaf == tuning.best_options["min_leaf"]


def test_plots_are_pictures(inside, tmp_path, capsys):
    picture = tmp_path / "p.png"
    for command in (
        ["fit", "--load", "tree.odrf"],
        ["prune", "tree.odrf", "--set", "cv=none"],
    ):
        assert main([*command, "--plot", str(picture)]) == 0
        assert picture.read_bytes().startswith(b"\x89PNG")
        picture.unlink()


KEYS = {
    ("tree", FORMULA, "table.csv"): "formula kind classes rows trees leaves seed call facts tables "
    "notes files",
    ("predict", "tree.odrf", "table.csv"): "formula kind columns predictions files",
    ("prune", "tree.odrf", "--set", "cv=none"): "path pruned files",
    (
        "compare", FORMULA, "table.csv", "--model", "tree", "--model", "s=tree max_leaves=2",
        "--set", "cv=2",
    ): "formula metric cv repeats seed table pairs scores files",
    (
        "tune", FORMULA, "table.csv", "--grid", "max_leaves=2,4", "--model", "tree",
        "--set", "method=cv", "--set", "cv=2",
    ): "formula model metric seed best_options table files",
}  # fmt: skip


@pytest.mark.parametrize("command", KEYS, ids=lambda command: command[0])
def test_json_has_its_keys_and_the_page_names_them(inside, capsys, command):
    keys = KEYS[command].split()
    assert list(parsed(capsys, *command)) == ["command", "version", *keys]
    page = (ROOT / "vignettes/command-line.md").read_text(encoding="utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"| `{command[0]}`"))
    assert row.split(" | ")[1] == ", ".join(f"`{key}`" for key in keys)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tree", FORMULA], "table"),
        (["fit"], "--load FILE"),
        (["fit", FORMULA, "table.csv", "--load", "tree.odrf"], "leave a formula out"),
        (["fit", "--load", "tree.odrf", "--seed", "1"], "leave --seed out"),
        (["fit", "--load", "table.csv"], "is not a fit"),
        (["fit", "--load", "absent.odrf"], "no such file"),
        (["tree", FORMULA, "table.csv", "--without-data"], "--save FILE"),
        (["tree", FORMULA, "table.csv", "--save", "table.csv"], "the same file"),
        (["tree", FORMULA, "table.csv", "--save", "none/m.odrf"], "no folder"),
        (["tree", FORMULA, "table.csv", "--save", "x.png", "--plot", "x.png"], "the same file"),
        (["tree", FORMULA, "-", "--predict", "-", "--out", "x"], "stdin has one"),
        (["tree", FORMULA, "table.csv", "--seed", "1", "--set", "seed=2"], "leave one of them"),
        (["tree", FORMULA, "table.csv", "--set", "weights=wt"], "wt"),
        (["tree", FORMULA, "table.csv", "--seed", "-1"], "seed=-1"),
        (["predict", "tree.odrf", "table.csv", "--out", "tree.odrf"], "the same file"),
        (["predict", "tree.odrf", "table.csv", "--type", "prob"], "needs classes"),
        (["predict", "tree.odrf", "table.csv", "--set", "level=0.9"], "no such option"),
        (["predict", "tree.odrf", "table.csv", "--keep", "agee"], "did you mean 'age'"),
        (["predict", "tree.odrf", "table.csv", "--keep", "age", "--keep", "age"], "twice"),
        (["tree", FORMULA, "table.csv", "--keep", "age"], "--keep needs --predict"),
        (["prune", "tree.odrf", "--save", "x.odrf"], "--rule, --alpha or --leaves"),
        (["prune", "tree.odrf", "--rule", "min", "--save", "tree.odrf"], "the same file"),
        (["prune", "tree.odrf", "--set", "cv=none", "--rule", "min"], "cv"),
        (["compare", FORMULA, "table.csv", "--model", "tree"], "twice or more"),
        (["compare", FORMULA, "table.csv", "--model", "bush", "--model", "tree"], "'boost'"),
        (["compare", FORMULA, "table.csv", "--model", "tree", "--model", "tree"], "NAME=KIND"),
        (["compare", FORMULA, "table.csv", "--model", "tree 'x"], "quotes in pairs"),
        (["tune", FORMULA, "table.csv"], "--grid is missing"),
        (["tune", FORMULA, "table.csv", "--grid", "min_leaf=2"], "at least two"),
        (["tune", FORMULA, "table.csv", "--grid", "min_laef=2,3"], "did you mean 'min_leaf'"),
        (["tune", FORMULA, "table.csv", "--grid", "min_leaf=2,3", "--plot", "x.y"], "'.png'"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(inside, capsys, arguments, words):
    before = sorted(path.name for path in inside.iterdir())
    assert words in refusal(capsys, *arguments)
    assert sorted(path.name for path in inside.iterdir()) == before


def test_an_option_that_does_not_parse_exits_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["predict", "m.odrf"])
    assert stop.value.code == 2
    assert "\nodrf: error: " in capsys.readouterr().err


def test_weights_are_named_by_their_column(inside, capsys):
    found = parsed(
        capsys, "tree", "progression ~ bmi + bp", "table.csv", "--set", "weights=age", "--seed", "1"
    )
    data = load_data("diabetes")
    fit = odrf.odt("progression ~ bmi + bp", data, weights="age", seed=1)
    assert found["leaves"] == [fit.n_leaves]


def test_reader_of_predictions_that_leaves_early_is_no_error(folder):
    command = [sys.executable, "-m", "odrf", "predict", "tree.odrf", "table.csv"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    ) as process:  # fmt: skip
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (["--ntrees", "5"], "; an option of the model is written --set NAME=VALUE"),
        (["--n_trees=5"], "; an option of the model is written --set NAME=VALUE"),
        (["--saved", "x.odrf"], "; did you mean '--save'?"),
        (["further"], ""),
    ],
)
def test_unknown_arguments_are_named_with_the_way_out(arguments, way_out, inside, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["fit", FORMULA, "table.csv", *arguments])
    assert stop.value.code == 2
    message = f"odrf: error: unknown arguments: {' '.join(arguments)}{way_out}\n"
    assert capsys.readouterr().err.endswith(message)


# ------------------------------------------------------------------------------------------------
# Commands on tables of survival times.
# ------------------------------------------------------------------------------------------------

FORMULA_OF_TIMES_TO_EVENTS = "Surv(time, event) ~ ."


@pytest.fixture(scope="module")
def folder_of_times_to_events(tmp_path_factory):
    made = tmp_path_factory.mktemp("lifetimes")
    data = simulate.proportional_hazards(p=3, relevant=2).sample(120, seed=1)
    data.to_csv(made / "table.csv", index=False)
    data = pd.read_csv(made / "table.csv")
    odrf.odrf(FORMULA_OF_TIMES_TO_EVENTS, data, n_trees=8, seed=1).save(made / "forest.odrf")
    odrf.odt("x1 ~ x2", data, alpha=None, seed=1).save(made / "number.odrf")
    names = np.array(["no", "a", "b"])[np.where(data["event"], 1 + np.arange(120) % 2, 0)]
    causes = data.assign(event=pd.Categorical(names, ["no", "a", "b"]))
    odrf.odrf(FORMULA_OF_TIMES_TO_EVENTS, causes, n_trees=8, seed=1).save(made / "causes.odrf")
    return made


@pytest.fixture
def inside_of_times_to_events(folder_of_times_to_events, monkeypatch):
    monkeypatch.chdir(folder_of_times_to_events)
    return folder_of_times_to_events


@pytest.fixture
def fit(folder_of_times_to_events):
    return odrf.load(folder_of_times_to_events / "forest.odrf")


def output_of_times_to_events(capsys, *arguments):
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def table_of(text):
    return pd.read_csv(io.StringIO(text), index_col="row")


@pytest.mark.usefixtures("inside_of_times_to_events")
def test_a_fit_is_that_of_the_function_of_times_to_events(capsys, fit):
    found = output_of_times_to_events(
        capsys,
        "fit",
        FORMULA_OF_TIMES_TO_EVENTS,
        "table.csv",
        "--set",
        "n_trees=8",
        "--seed",
        "1",
        "--json",
    )
    described = json.loads(found)
    assert described["kind"] == "survival"
    assert described["classes"] is None
    assert described["leaves"] == fit.n_leaves.tolist()
    short = output_of_times_to_events(
        capsys, FORMULA_OF_TIMES_TO_EVENTS, "table.csv", "--trees", "8", "--seed", "1"
    )
    assert "Integrated Brier score" in short
    assert str(fit.summary()).split("Scores")[1] == short.rstrip("\n").split("Scores")[1]


@pytest.mark.usefixtures("inside_of_times_to_events")
def test_predictions_are_risks_or_curves_at_times(capsys, fit):
    data = pd.read_csv("table.csv")
    risks = table_of(output_of_times_to_events(capsys, "predict", "forest.odrf", "table.csv"))
    np.testing.assert_allclose(risks["prediction"], fit.predict(data), rtol=1e-12)
    for how in (["--times", "0.5,1"], ["--set", "times=0.5,1"]):
        curves = output_of_times_to_events(
            capsys, "predict", "forest.odrf", "table.csv", "--type", "survival", *how
        )
        expected = fit.predict(data, type="survival", times=[0.5, 1.0])
        np.testing.assert_allclose(table_of(curves), expected, rtol=1e-12)
    of_causes = output_of_times_to_events(
        capsys, "predict", "causes.odrf", "table.csv", "--type", "incidence", "--times", "1"
    )
    assert table_of(of_causes).columns.tolist() == ["a 1.0", "b 1.0"]


@pytest.mark.usefixtures("inside_of_times_to_events")
def test_quantiles_of_numbers(capsys):
    data = pd.read_csv("table.csv")
    forest = odrf.odrf("x1 ~ x2", data, n_trees=8, seed=1)
    forest.save("numbers.odrf")
    asked = ["predict", "numbers.odrf", "table.csv", "--type", "quantile"]
    usual, chosen = forest.predict(data, "quantile"), forest.predict(data, quantiles=[0.1, 0.9])
    np.testing.assert_allclose(
        table_of(output_of_times_to_events(capsys, *asked)), usual, rtol=1e-12
    )
    found = table_of(output_of_times_to_events(capsys, *asked, "--set", "quantiles=[0.1,0.9]"))
    np.testing.assert_allclose(found, chosen, rtol=1e-12)
    assert found.columns.tolist() == ["0.1", "0.9"]


@pytest.mark.usefixtures("inside_of_times_to_events")
def test_rows_are_predicted_by_the_fit_at_once(capsys, fit):
    how = ["--predict", "table.csv", "--out", "new.csv", "--type", "rmst", "--times", "1"]
    output_of_times_to_events(
        capsys,
        "forest",
        FORMULA_OF_TIMES_TO_EVENTS,
        "table.csv",
        "--set",
        "n_trees=8",
        "--seed",
        "1",
        *how,
    )
    expected = fit.predict(pd.read_csv("table.csv"), type="rmst", times=1.0)
    np.testing.assert_allclose(pd.read_csv("new.csv", index_col="row"), expected, rtol=1e-12)


@pytest.mark.usefixtures("inside_of_times_to_events")
def test_studies(capsys):
    models = ["--model", "tree", "--model", "boost n_trees=5"]
    compared = output_of_times_to_events(
        capsys, "compare", FORMULA_OF_TIMES_TO_EVENTS, "table.csv", *models, "--set", "cv=3",
        "--set", "metric=uno_c", "--seed", "1", "--json",
    )  # fmt: skip
    assert json.loads(compared)["metric"] == "uno_c"
    tuned = output_of_times_to_events(
        capsys, "tune", FORMULA_OF_TIMES_TO_EVENTS, "table.csv", "--grid", "min_leaf=2,20",
        "--set", "n_trees=8", "--seed", "1", "--json",
    )  # fmt: skip
    assert json.loads(tuned)["metric"] == "integrated_brier"


@pytest.mark.usefixtures("inside_of_times_to_events")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "forest.odrf", "table.csv", "--type", "prob"], "needs classes, and the resp"),
        (["predict", "forest.odrf", "table.csv", "--type", "trees"], "--type trees is not known"),
        (["predict", "number.odrf", "table.csv", "--type", "risk"], "is for survival times"),
        (["predict", "number.odrf", "table.csv", "--times", "1"], "--times is for survival times"),
        (["predict", "forest.odrf", "table.csv", "--times", "1"], "times= is for the types"),
        (["predict", "forest.odrf", "table.csv", "--times", "a"], "write numbers, as in --times"),
        (
            ["predict", "forest.odrf", "table.csv", "--times", "1", "--set", "times=1"],
            "are the same",
        ),
        (
            ["fit", FORMULA_OF_TIMES_TO_EVENTS, "table.csv", "--times", "1"],
            "--times needs --predict",
        ),
        (["graf", FORMULA_OF_TIMES_TO_EVENTS, "table.csv"], "is a survival time"),
    ],
)
def test_refusals(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("odrf: error: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1


# Trees whose leaves are lines.


def test_a_tree_of_lines_is_saved_compared_and_tuned(inside, tmp_path, capsys):
    model, data = str(tmp_path / "m.odrf"), load_data("diabetes")
    fit = odrf.odt(FORMULA, data, leaves="linear", seed=1)
    lines = ["--set", "leaves=linear", "--seed", "1"]
    output(capsys, "tree", FORMULA, "table.csv", *lines, "--save", model)
    shown = parsed(capsys, "predict", model, "table.csv")["predictions"]
    assert [row["prediction"] for row in shown] == fit.predict(data).tolist()
    models = ["--model", "lines=tree leaves=linear", "--model", "tree"]
    shown = output(capsys, "compare", FORMULA, "table.csv", *models, "--set", "cv=2")
    assert "lines" in shown
    grid = ["--model", "tree", "--grid", "leaves=constant,linear", "--set", "method=cv"]
    output(capsys, "tune", FORMULA, "table.csv", *grid, "--seed", "1", "--save", model)
    assert odrf.load(model).control.leaves == "linear"
