"""Errors of models that learn from the rows that a guided forest chooses."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, simulate

TREE = {"tree": partial(odrf.odt, max_leaves=8, min_leaf=1)}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def rows():
    problem = simulate.checkerboard(classes=3)
    return problem.sample(120, seed=1), problem.sample(80, seed=2)


@pytest.fixture(scope="module")
def fit(rows):
    return odrf.graf("y ~ .", rows[0], n_trees=10, subspace="all", seed=3, n_jobs=1)


class Seen:
    """A model that keeps the rows and the seed it was given."""

    def __init__(self):
        self.given = []

    def __call__(self, formula, data, seed):
        self.given.append((formula, set(data.index), seed))

        class Fit:
            def predict(self, newdata):
                return np.repeat(data["y"].iloc[0], len(newdata))

        return Fit()


@pytest.fixture(scope="module")
def curve(fit, rows):
    models = TREE | {"guided": partial(odrf.graf, n_trees=3)}
    return odrf.approximation_curve(
        fit, rows[1], models, fractions=[1, 0.2, 0.5], repeats=3, seed=5, n_jobs=1
    )


def test_models_learn_from_the_same_parts_smaller_ones_within_larger(fit, rows):
    first, second = Seen(), Seen()
    models = {"first": first, "second": second}
    odrf.approximation_curve(
        fit, rows[1], models, fractions=[0.1, 0.3, 1], repeats=2, seed=1, n_jobs=1
    )
    assert first.given == second.given
    formulas, parts, seeds = zip(*first.given, strict=True)
    assert set(formulas) == {"y ~ x1 + x2"}
    # for each repeat two parts by each of three methods, and once all rows
    assert sorted(map(len, parts)) == [12] * 6 + [36] * 6 + [120] * 2
    assert len(set(seeds)) == 2
    small, large = ([part for part in parts if len(part) == size] for size in (12, 36))
    assert all(any(part < other for other in large) for part in small)
    best = set(np.flatnonzero(fit.sensitivity().table["rank"] <= 12))
    assert small.count(best) == 2
    assert len({frozenset(part) for part in small}) == 5


@pytest.mark.parametrize(
    "right", [". - `left out`", "(. - `left out`)^2", "`a b`:f + f", ". - b + np.log(np.abs(b))"]
)
@pytest.mark.parametrize("left", ["class", "factor(`class`)"])
def test_a_formula_of_any_kind(left, right):
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a b", "b", "left out"])
    data["f"], data["class"] = rng.choice(list("uvw"), 60), rng.choice(["p", "q"], 60)
    fit = odrf.graf(f"{left} ~ {right}", data, n_trees=2, seed=1, n_jobs=1)
    seen = {"seen": TREE["tree"]}
    curve = odrf.approximation_curve(fit, data, seen, fractions=[0.5], repeats=1, seed=1, n_jobs=1)
    assert curve.table["error"].between(0, 1).all()


def test_errors_are_those_of_the_test_rows(fit, rows, curve):
    train, test = rows
    assert curve.models == ("tree", "guided")
    assert curve.errors.shape == (3 * 3 * 3, 2)
    assert (curve.n, curve.n_test, curve.seed) == (120, 80, 5)
    whole = TREE["tree"]("y ~ .", train, seed=0)
    error = (whole.predict(test) != test["y"]).mean()
    alike = curve.errors.xs(1.0, level="fraction").groupby(level="repeat")["guided"].nunique()
    assert (alike == 1).all()
    top = fit.approximate(0.2, "top")
    grown = curve.errors.loc[(1, "top", 0.2), "tree"]
    seeds = range(40)
    found = [(TREE["tree"]("y ~ .", top, seed=s).predict(test) != test["y"]).mean()
             for s in seeds]  # fmt: skip
    assert min(found) <= grown <= max(found)
    assert abs(curve.table.loc[("tree", "top", 1.0), "error"] - error) < 0.3


def test_table(curve):
    table = curve.table
    assert table.index.names == ["model", "method", "fraction"]
    assert table.index.unique("fraction").tolist() == [0.2, 0.5, 1.0]
    assert table.index.unique("method").tolist() == ["uniform", "sample", "top"]
    own = curve.errors.loc[(slice(None), "sample", 0.5), "guided"]
    line = table.loc[("guided", "sample", 0.5)]
    assert line["error"] == pytest.approx(own.mean())
    assert line["std_error"] == pytest.approx(own.std(ddof=1) / np.sqrt(3))


def test_threads_change_nothing(fit, rows, curve):
    models = TREE | {"guided": partial(odrf.graf, n_trees=3)}
    again = odrf.approximation_curve(
        fit, rows[1], models, fractions=[0.2, 0.5, 1], repeats=3, seed=5, n_jobs=3
    )
    pd.testing.assert_frame_equal(again.errors, curve.errors)


def test_models_by_default_have_the_options_of_the_fit(fit, rows, monkeypatch):
    asked = []
    monkeypatch.setattr(odrf.evaluation.approximation, "TREES", 2)
    monkeypatch.setattr(
        odrf.evaluation.approximation,
        "graf",
        lambda *data, **options: asked.append(options) or odrf.graf(*data, **options),
    )
    found = odrf.approximation_curve(fit, rows[1], fractions=[0.5], repeats=1, seed=1, n_jobs=1)
    assert found.models == ("graf", "forest")
    assert asked[0] == {
        "n_trees": 2, "subspace": 2, "trials": 2, "min_split": 2, "origin": "data",
    }  # fmt: skip


def test_numbers(rows):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.random(90), "f": rng.choice(list("uvw"), 90)})
    data["y"] = data["a"] + (data["f"] == "u")
    fit = odrf.graf("np.sqrt(y) ~ a + f", data[:60], n_trees=4, seed=1)
    found = odrf.approximation_curve(fit, data[60:], TREE, fractions=[0.05, 1], repeats=2, seed=1)
    assert found.metric.words == "mean squared error"
    tree = TREE["tree"]("np.sqrt(y) ~ a + f", data[:60], seed=1)
    mse = ((tree.predict(data[60:]) - np.sqrt(data["y"][60:])) ** 2).mean()
    assert found.table.loc[("tree", "top", 1.0), "error"] == pytest.approx(mse, rel=0.5)


def test_classes_that_are_numbers_and_a_column_of_weights(rows):
    train, test = (part.assign(y=part["y"].astype(int), w=1.0) for part in rows)
    fit = odrf.graf("y ~ .", train, kind="classification", weights="w", n_trees=4, seed=1)
    seen = Seen()
    found = odrf.approximation_curve(fit, test, {"m": seen} | TREE, fractions=[0.5], repeats=1)
    assert found.metric.name == "error"
    assert found.errors["tree"].max() < 0.8
    function = odrf.graf("np.abs(y) ~ x1", train, kind="classification", n_trees=2, seed=1)
    with pytest.raises(InputError, match=r"'np.abs\(y\)' for classes, which other models"):
        odrf.approximation_curve(function, test, TREE)


def test_rows_of_one_class_predict_it(rows):
    test = rows[1]
    train = rows[0].assign(y=np.where(np.arange(120) < 118, "1", "2"))
    fit = odrf.graf("y ~ .", train, n_trees=2, seed=1)
    part = fit.approximate(1 / 60, "top")
    alone = test.assign(y="1")
    found = odrf.approximation_curve(fit, alone, TREE, fractions=[1 / 60], repeats=4, seed=2)
    few = found.errors.loc[(slice(None), "uniform", 1 / 60), "tree"]
    assert few.median() == 0
    assert part["y"].nunique() == 1
    assert (found.errors.loc[(slice(None), "top", 1 / 60), "tree"] == 1).all()


def test_rows_with_missing_values_are_left_out(rows):
    train, test = (part.assign(x1=part["x1"].where(part["x1"] > -0.9)) for part in rows)
    fit = odrf.graf("y ~ .", train, missing="drop", n_trees=2, seed=1)
    found = odrf.approximation_curve(fit, test, TREE, fractions=[1], repeats=1, seed=1)
    assert (found.n, found.n_test) == (train["x1"].notna().sum(), test["x1"].notna().sum())


def test_functions_of_the_user(rows):
    def doubled(column):
        return 2 * column

    fit = odrf.graf("y ~ doubled(x1) + x2", rows[0], n_trees=2, seed=1)
    found = odrf.approximation_curve(fit, rows[1], TREE, fractions=[1], repeats=1, seed=1)
    assert found.formula == "y ~ doubled(x1) + x2"


def test_summary_and_drawing(curve):
    text = str(curve.summary())
    for words in ("error rate", "Test rows", "guided: mean error", "most sensitive"):
        assert words in text
    panels = curve.plot()
    assert [panel.get_title() for panel in panels] == ["tree", "guided"]
    named = [text.get_text() for text in panels[1].get_legend().get_texts()]
    assert named == ["uniform", "by probability", "most sensitive"]
    drawn = panels[1].containers[0][0].get_ydata().astype(float)
    np.testing.assert_allclose(drawn, curve.table["error"].loc["guided"].loc["uniform"])
    given = plt.subplots(1, 2)[1]
    assert curve.plot(ax=given)[1] is given[1]
    with pytest.raises(InputError, match="ax holds 1 axes: 2 are drawn on"):
        curve.plot(ax=given[0])
    assert repr(curve).startswith("Approximation of data: mean errors")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"fractions": [0.5, 1.5]}, r"fraction=1\.5: use a number above 0"),
        ({"fractions": []}, "fractions is empty"),
        ({"fractions": 0.5}, r"fractions=0\.5: use a list of shares"),
        ({"fractions": [0.001]}, r"0\.001 of 120 rows is less than 2 rows"),
        ({"repeats": 0}, "repeats=0"),
        ({"models": {}}, "name at least 1"),
        ({"models": {"m": "x1 ~ x2"}}, "model 'm': formula 'x1 ~ x2' has another response"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_bad_requests(fit, rows, options, words):
    with pytest.raises(InputError, match=words):
        odrf.approximation_curve(fit, rows[1], **({"models": TREE} | options))


def test_what_cannot_be_evaluated(fit, rows):
    with pytest.raises(InputError, match="ODRFResults: only guided forests have sensitivities"):
        odrf.approximation_curve(odrf.odrf("y ~ .", rows[0], n_trees=2), rows[1])
    with pytest.raises(InputError, match="new data lacks column 'x2'"):
        odrf.approximation_curve(fit, rows[1].drop(columns="x2"))
    with pytest.raises(InputError, match="lacks column 'y' of the response"):
        odrf.approximation_curve(fit, rows[1].drop(columns="y"))

    def broken(formula, data):
        raise RuntimeError("no")

    with pytest.raises(InputError, match=r"'b' fails on 0\.1 of the rows, uniform: RuntimeError"):
        odrf.approximation_curve(fit, rows[1], {"b": broken}, fractions=[0.1], n_jobs=1)
