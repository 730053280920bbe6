"""Commands on tables of times to an event."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import simulate
from odrf.cli import main

FORMULA = "Surv(time, event) ~ ."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("lifetimes")
    data = simulate.proportional_hazards(p=3, relevant=2).sample(120, seed=1)
    data.to_csv(made / "table.csv", index=False)
    data = pd.read_csv(made / "table.csv")
    odrf.odrf(FORMULA, data, n_trees=8, seed=1).save(made / "forest.odrf")
    odrf.odt("x1 ~ x2", data, alpha=None, seed=1).save(made / "number.odrf")
    names = np.array(["no", "a", "b"])[np.where(data["event"], 1 + np.arange(120) % 2, 0)]
    causes = data.assign(event=pd.Categorical(names, ["no", "a", "b"]))
    odrf.odrf(FORMULA, causes, n_trees=8, seed=1).save(made / "causes.odrf")
    return made


@pytest.fixture(autouse=True)
def inside(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def fit(folder):
    return odrf.load(folder / "forest.odrf")


def output(capsys, *arguments):
    assert main(arguments) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def table_of(text):
    return pd.read_csv(io.StringIO(text), index_col="row")


def test_a_fit_is_that_of_the_function(capsys, fit):
    found = output(
        capsys, "fit", FORMULA, "table.csv", "--set", "n_trees=8", "--seed", "1", "--json"
    )
    described = json.loads(found)
    assert described["kind"] == "survival"
    assert described["classes"] is None
    assert described["leaves"] == fit.n_leaves.tolist()
    short = output(capsys, FORMULA, "table.csv", "--trees", "8", "--seed", "1")
    assert "Integrated Brier score" in short
    assert str(fit.summary()).split("Scores")[1] == short.rstrip("\n").split("Scores")[1]


def test_predictions_are_risks_or_curves_at_times(capsys, fit):
    data = pd.read_csv("table.csv")
    risks = table_of(output(capsys, "predict", "forest.odrf", "table.csv"))
    np.testing.assert_allclose(risks["prediction"], fit.predict(data), rtol=1e-12)
    for how in (["--times", "0.5,1"], ["--set", "times=0.5,1"]):
        curves = output(capsys, "predict", "forest.odrf", "table.csv", "--type", "survival", *how)
        expected = fit.predict(data, type="survival", times=[0.5, 1.0])
        np.testing.assert_allclose(table_of(curves), expected, rtol=1e-12)
    of_causes = output(
        capsys, "predict", "causes.odrf", "table.csv", "--type", "incidence", "--times", "1"
    )
    assert table_of(of_causes).columns.tolist() == ["a 1.0", "b 1.0"]


def test_quantiles_of_numbers(capsys):
    data = pd.read_csv("table.csv")
    forest = odrf.odrf("x1 ~ x2", data, n_trees=8, seed=1)
    forest.save("numbers.odrf")
    asked = ["predict", "numbers.odrf", "table.csv", "--type", "quantile"]
    usual, chosen = forest.predict(data, "quantile"), forest.predict(data, quantiles=[0.1, 0.9])
    np.testing.assert_allclose(table_of(output(capsys, *asked)), usual, rtol=1e-12)
    found = table_of(output(capsys, *asked, "--set", "quantiles=[0.1,0.9]"))
    np.testing.assert_allclose(found, chosen, rtol=1e-12)
    assert found.columns.tolist() == ["0.1", "0.9"]


def test_rows_are_predicted_by_the_fit_at_once(capsys, fit):
    how = ["--predict", "table.csv", "--out", "new.csv", "--type", "rmst", "--times", "1"]
    output(capsys, "forest", FORMULA, "table.csv", "--set", "n_trees=8", "--seed", "1", *how)
    expected = fit.predict(pd.read_csv("table.csv"), type="rmst", times=1.0)
    np.testing.assert_allclose(pd.read_csv("new.csv", index_col="row"), expected, rtol=1e-12)


def test_studies(capsys):
    models = ["--model", "tree", "--model", "boost n_trees=5"]
    compared = output(
        capsys, "compare", FORMULA, "table.csv", *models, "--set", "cv=3",
        "--set", "metric=uno_c", "--seed", "1", "--json",
    )  # fmt: skip
    assert json.loads(compared)["metric"] == "uno_c"
    tuned = output(
        capsys, "tune", FORMULA, "table.csv", "--grid", "min_leaf=2,20", "--set", "n_trees=8",
        "--seed", "1", "--json",
    )  # fmt: skip
    assert json.loads(tuned)["metric"] == "integrated_brier"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["predict", "forest.odrf", "table.csv", "--type", "prob"], "needs classes, and the resp"),
        (["predict", "forest.odrf", "table.csv", "--type", "trees"], "type='trees' is not known"),
        (["predict", "number.odrf", "table.csv", "--type", "risk"], "is for times to an event"),
        (["predict", "number.odrf", "table.csv", "--times", "1"], "--times is for times to an"),
        (["predict", "forest.odrf", "table.csv", "--times", "1"], "times= is for the types"),
        (["predict", "forest.odrf", "table.csv", "--times", "a"], "write numbers, as in --times"),
        (
            ["predict", "forest.odrf", "table.csv", "--times", "1", "--set", "times=1"],
            "are the same",
        ),
        (["fit", FORMULA, "table.csv", "--times", "1"], "--times needs --predict"),
        (["graf", FORMULA, "table.csv"], "is a time to an event"),
    ],
)
def test_refusals(capsys, arguments, message):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("odrf: error: ")
    assert message in captured.err
    assert captured.err.count("\n") == 1
