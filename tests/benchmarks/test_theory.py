"""Benchmarks of consistency run, resume and report, and small runs show what the large ones do."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from benchmarks.shared import simulated
from benchmarks.shared.simulated import FORESTS, draw, fitted, loss, with_tuned
from benchmarks.theory import bias_variance, consistency, directions, exponents, strength
from benchmarks.theory.curves import AS_GIVEN, Curve
from odrf import simulate
from odrf.projections import Sparse


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run a script with few rows and trees, and return what its csv then holds."""

    def run_it(script: ModuleType, *options: str) -> pd.DataFrame:
        if hasattr(script, "CURVES"):
            small = {
                name: replace(curve, sizes=(60, 90, 120)) for name, curve in script.CURVES.items()
            }
            monkeypatch.setattr(script, "CURVES", small)
        monkeypatch.setattr(exponents, "DRAWS", 5)
        monkeypatch.setattr(simulated, "TEST_ROWS", 200)
        always = f"--out {tmp_path / 'out.csv'} --trees 4 --repeats 2"
        monkeypatch.setattr(sys, "argv", ["script.py", *always.split(), *options])
        assert script.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def mean_error(curve: Curve, method: str, n: int, trees: int, repeats: int) -> float:
    """Return the mean test error of a method of the curve."""
    errors = []
    for repeat in range(repeats):
        train, seed = draw(curve.problem, n, repeat, 1)
        fit, _ = fitted(train, curve.methods[method], trees, seed)
        errors.append(loss(fit, curve.problem))
    return float(np.mean(errors))


# The scripts


@pytest.mark.parametrize(
    "script, curves", [(consistency, "biau_bic,parity"), (exponents, "radial,additive")]
)
def test_curves(
    run: Callable[..., pd.DataFrame],
    script: ModuleType,
    curves: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = run(script, "--curves", curves)
    assert not lines.duplicated(["curve", "n", "repeat", "method"]).any()
    fits = sum(len(script.CURVES[name].methods) for name in curves.split(","))
    assert len(lines) == fits * 3 * 2
    assert ((lines["chosen"] != AS_GIVEN) == lines["method"].str.endswith("tuned")).all()
    out = capsys.readouterr().out
    assert all(script.CURVES[name].title in out for name in curves.split(","))
    lost = lines.drop(index=[3, 8])
    lost.to_csv(tmp_path / "out.csv", index=False)
    again = run(script, "--curves", curves).sort_values(["curve", "n", "repeat", "method"])
    pd.testing.assert_frame_equal(
        again.reset_index(drop=True),
        lines.sort_values(["curve", "n", "repeat", "method"]).reset_index(drop=True),
    )
    whole = capsys.readouterr().out
    run(script, "--report", str(tmp_path / "out.csv"), "--plot", str(tmp_path / "out.png"))
    assert (tmp_path / "out.png").stat().st_size > 10_000
    assert capsys.readouterr().out == whole


def test_directions(
    run: Callable[..., pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(directions, "--plot", str(tmp_path / "out.png"))
    assert (tmp_path / "out.png").stat().st_size > 10_000
    assert len(lines) == 2 * 2 * directions.TOP
    theta = lines[directions.PROBLEM.predictors].to_numpy()
    assert np.allclose((theta**2).sum(axis=1), 1, atol=1e-4)
    assert ((theta != 0).sum(axis=1) == lines["predictors"]).all()
    assert (lines["bayes_error"] <= 0.5).all()
    assert "| RF | 0 ± 0 | 1.0 ± 0.0 |" in capsys.readouterr().out


# What they compute


def test_a_law_and_its_slopes_are_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponents, "DRAWS", 50)
    curve = exponents.CURVES["radial"]
    lines = pd.DataFrame(
        [
            ("radial", n, repeat, "ODRF", factor * (0.01 + 3 * n**-0.6), AS_GIVEN)
            for repeat, factor in enumerate((0.9, 1.1))
            for n in curve.sizes
        ],
        columns=["curve", "n", "repeat", "method", "error", "chosen"],
    )
    found = exponents.laws(lines, curve)
    assert "| ODRF | 0.01 (0.009 to 0.011) | 0.60 (0.6 to 0.6) |" in found
    steep, flat = (float(value) for value in re.findall(r"\| ([\d.]+) ± 0.00", found))
    assert 0 < flat < steep < 0.6


def test_decreases_are_summed_along_directions() -> None:
    train, seed = draw(directions.PROBLEM, 200, 0, 1)
    fit, _ = fitted(train, (directions.METHODS["SPORF"], {}), 5, seed)
    forest, summed = fit.forest, defaultdict(float)
    for b in range(forest.n_trees):
        root = forest.root[b]
        for node in range(root, forest.root[b + 1]):
            if forest.left[node] >= 0:
                terms = slice(forest.start[node], forest.start[node + 1])
                signs = np.zeros(directions.PROBLEM.p, dtype=int)
                signs[forest.index[terms]] = np.sign(forest.coef[terms])
                key = max(tuple(signs), tuple(-signs))
                summed[key] += forest.weight[node] / forest.weight[root] * forest.gain[node]
    found = directions.top_directions(fit)
    largest = sorted(summed.values(), reverse=True)[: directions.TOP]
    assert np.allclose(found["decrease"], largest)
    first = np.sign(found[directions.PROBLEM.predictors].to_numpy()[0]).astype(int)
    assert np.isclose(summed[max(tuple(first), tuple(-first))], largest[0])


def test_grids_are_those_of_the_paper() -> None:
    methods = with_tuned(FORESTS, 20)
    assert methods["RF, tuned"][1] == {"n_singles": [3, 5, 10, 20]}
    assert methods["SPORF, tuned"][1] == {
        "n_projections": [20, 100],
        "projection": [Sparse(0.1), Sparse(0.15), Sparse(0.2), Sparse(0.25)],
    }
    assert not methods["SPORF"][1] and "ODRF, tuned" not in methods


# What they are to show, in small


def test_wary_axis_parallel_trees_do_not_see_the_checkerboard() -> None:
    curve = consistency.CURVES["biau_bic"]
    error = {
        method: mean_error(curve, method, 3000, trees=20, repeats=2)
        for method in ("RF", "SPORF", "ODRF")
    }
    assert 0.14 < error["RF"] < 0.20
    assert error["SPORF"] < 0.05 and error["ODRF"] < 0.05


def test_tuned_sparse_projections_see_parity() -> None:
    problem = simulate.sparse_parity(p=8)
    curve = replace(
        consistency.CURVES["parity"], problem=problem, methods=with_tuned(FORESTS, problem.p)
    )
    rf, sporf = (mean_error(curve, name, 600, 20, 2) for name in curve.rivals[::-1])
    assert sporf < rf - 0.03


def test_the_important_directions_of_trunk_have_several_predictors() -> None:
    train, seed = draw(directions.PROBLEM, directions.ROWS, 0, 1)
    rf, sporf = (
        directions.top_directions(fitted(train, (directions.METHODS[name], {}), 50, seed)[0])
        for name in ("RF", "SPORF")
    )
    assert np.allclose(np.sort(rf["bayes_error"]), norm.cdf(-directions.MEAN), atol=1e-6)
    assert (sporf["predictors"] > 1).mean() > 0.5
    assert sporf["bayes_error"].mean() < rf["bayes_error"].mean() - 0.1


def test_oblique_forests_learn_oblique_functions_faster_and_additive_ones_as_fast() -> None:
    ratio = {
        name: mean_error(exponents.CURVES[name], "ODRF", 2000, 20, 1)
        / mean_error(exponents.CURVES[name], "RF", 2000, 20, 1)
        for name in ("ridge_sum", "additive")
    }
    assert ratio["ridge_sum"] < 0.8
    assert 0.7 < ratio["additive"] < 1.4


def test_fully_grown_trees_keep_some_of_the_noise() -> None:
    curve = exponents.CURVES["single_index"]
    full, few = (mean_error(curve, name, 8000, 20, 1) for name in ("ODRF", "ODRF, n^0.7 leaves"))
    assert few < 0.6 * full


# ------------------------------------------------------------------------------------------------
# The benchmark of strength runs, resumes, and finds strong trees where they are to be.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def run_of_strength(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script and return what its csv then holds."""

    def run_it(*options: str) -> pd.DataFrame:
        always = ["strength.py", "--out", str(tmp_path / "out.csv")]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert strength.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


@pytest.mark.usefixtures("few_pilots")
def test_every_forest_is_evaluated_once(
    run_of_strength: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = {name: setting._replace(n=60) for name, setting in strength.SETTINGS.items()}
    monkeypatch.setattr(strength, "SETTINGS", small)
    monkeypatch.setattr(simulated, "TEST_ROWS", 200)
    lines = run_of_strength("--trees", "6", "--repeats", "1")
    assert len(lines) == 4 * len(strength.METHODS)
    assert not lines.duplicated(["setting", "repeat", "method"]).any()
    assert lines["strength"].between(-1, 1).all()
    out = capsys.readouterr().out
    assert out.count("\n| ") == 4 * (1 + 1 + len(strength.METHODS))
    report = ("--report", str(tmp_path / "out.csv"), "--plot", str(tmp_path / "out.png"))
    assert run_of_strength("--trees", "6", "--repeats", "1", *report).equals(lines)
    assert capsys.readouterr().out == out
    assert (tmp_path / "out.png").stat().st_size > 10_000


@pytest.mark.usefixtures("few_pilots")
def test_sparse_projections_make_stronger_trees_of_parity(
    run_of_strength: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    parity = strength.Setting("Parity", simulate.sparse_parity(p=6), 500)
    settings = {"parity": parity, "trunk": strength.SETTINGS["trunk_100"]}
    monkeypatch.setattr(strength, "SETTINGS", settings)
    monkeypatch.setattr(strength, "METHODS", ["RF", "SPORF, tuned"])
    lines = run_of_strength("--trees", "40", "--repeats", "2")
    mean = lines.groupby(["setting", "method"])[strength.FIGURES].mean()
    rf, sporf = mean.loc["parity", "RF"], mean.loc["parity", "SPORF, tuned"]
    assert sporf["strength"] > rf["strength"] + 0.1
    assert sporf["test_error"] < rf["test_error"]
    assert mean.loc[("trunk", "SPORF, tuned"), "strength"] > mean.loc[("trunk", "RF"), "strength"]


# ------------------------------------------------------------------------------------------------
# The benchmark of bias and variance runs, resumes, and reports what adds up.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def run_of_bias_variance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., pd.DataFrame]:
    """Run the script on small samples and return what its csv then holds."""
    monkeypatch.setattr(bias_variance, "METHODS", dict(list(bias_variance.METHODS.items())[:2]))

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--out {tmp_path / 'out.csv'} --trees 5 --test-rows 100 --sizes 60,120"
        monkeypatch.setattr(sys, "argv", ["bias_variance.py", *always.split(), *options])
        assert bias_variance.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_terms_add_up(
    run_of_bias_variance: Callable[..., pd.DataFrame],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    lines = run_of_bias_variance("--repeats", "4")
    assert lines["n"].tolist() == [60, 60, 120, 120]
    assert lines["method"].tolist() == ["RF", "SPORF"] * 2
    np.testing.assert_allclose(lines["error"], lines["bias"] + lines["variance_effect"])
    np.testing.assert_allclose(lines["error"], lines["kw_bias2"] + lines["kw_variance"])
    first = capsys.readouterr().out
    assert first.count("\n| ") == 4 * 4
    assert run_of_bias_variance("--repeats", "9").equals(lines)
    assert capsys.readouterr().out == first
    run_of_bias_variance("--report", str(tmp_path / "out.csv"))
    assert capsys.readouterr().out == first
