"""Bias and variance of models: planted cases, samples, requests."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import odrf
from odrf import InputError, bias_variance, simulate

NUMBERS = simulate.friedman1()
CLASSES = simulate.orthant(p=2, noise=0.2)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.random((100, 2)), columns=list("ab"))
    frame["y"] = frame.a + 2 * frame.b + rng.normal(size=100) / 4
    frame["side"] = np.where(frame.y > 1.5, "over", "below")
    return frame


class Always:
    """A model that predicts by a rule that no training row changes; it keeps its samples."""

    def __init__(self, rule):
        self.rule, self.samples, self.tests = rule, [], []

    def __call__(self, formula, data):
        self.samples.append(data)
        return self

    def predict(self, newdata):
        self.tests.append(newdata)
        return self.rule(newdata)


def best(problem):
    def rule(newdata):
        truth = problem.truth(newdata)
        if problem.classes is None:
            return truth
        return np.array(problem.classes)[truth.argmax(axis=1)]

    return Always(rule)


def constant(value):
    return Always(lambda newdata: np.repeat(value, len(newdata)))


def test_the_truth_has_neither_bias_nor_variance():
    found = bias_variance(CLASSES, best(CLASSES), 30, repeats=4, seed=1).table.loc["Always", 30]
    assert found["error"] == pytest.approx(0.2)
    assert found["bayes_error"] == pytest.approx(0.2)
    for name in ("bias", "variance", "systematic_effect", "variance_effect", "kw_variance"):
        assert found[name] == pytest.approx(0, abs=1e-12)
    numbers = bias_variance(NUMBERS, best(NUMBERS), 30, repeats=4, seed=1).table.loc["Always", 30]
    assert numbers.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_a_constant_has_no_variance():
    models = {"one": constant(CLASSES.classes[0]), "zero": constant(CLASSES.classes[-1])}
    found = bias_variance(CLASSES, models, 30, repeats=3, seed=1)
    assert (found.table[["variance", "variance_effect", "kw_variance"]] == 0).all(axis=None)
    # three of four quadrants are another class's
    np.testing.assert_allclose(found.table["bias"], 0.75, atol=0.05)
    np.testing.assert_allclose(found.table["error"], 1 - 0.25, atol=0.05)
    numbers = bias_variance(NUMBERS, constant(0.0), 30, repeats=3, seed=1, test_rows=500)
    truth = NUMBERS.truth(NUMBERS.sample(20_000, seed=2))
    assert numbers.table["variance"].item() == 0
    assert numbers.table["bias2"].item() == pytest.approx(np.mean(truth**2), rel=0.1)
    assert numbers.std_error["bias2"].item() > 0


def test_the_nearest_row_repeats_the_noise():
    # its class is the truth with that row's own noise: no bias, and as much variance as noise
    nearest = KNeighborsClassifier(n_neighbors=1)
    found = bias_variance(CLASSES, {"1-NN": nearest}, 2000, repeats=30, test_rows=400, seed=1)
    row = found.table.loc["1-NN", 2000]
    P = np.array([0.8, 0.2 / 3, 0.2 / 3, 0.2 / 3])
    assert row["kw_bias2"] == pytest.approx(0, abs=0.01)
    assert row["kw_noise"] == pytest.approx((1 - np.sum(P**2)) / 2)
    assert row["kw_variance"] == pytest.approx(row["kw_noise"], abs=0.02)
    assert row["bias"] < 0.01
    assert row["variance"] == pytest.approx(0.2, abs=0.02)
    assert row["error"] == pytest.approx(1 - np.sum(P**2), abs=0.03)


def test_variance_of_least_squares():
    # normal predictors: a new row's squared error is σ²(1 + 1/n)(1 + p/(n - p - 2))
    p, n = 3, 40
    plane = simulate.Problem(
        "plane", p, p, None, 1.0, lambda rng, n: rng.normal(size=(n, p)), lambda X: X.sum(axis=1)
    )
    row = bias_variance(plane, LinearRegression(), n, repeats=60, test_rows=500, seed=1).table.iloc[
        0
    ]
    assert row["noise"] == 1
    assert row["bias2"] == pytest.approx(0, abs=0.01)
    assert row["variance"] == pytest.approx((1 + 1 / n) * (1 + p / (n - p - 2)) - 1, rel=0.3)


def test_all_models_meet_the_same_fresh_samples_and_one_test():
    one, other = constant(0.0), constant(1.0)
    bias_variance(
        NUMBERS, {"a": one, "b": other}, [20, 10], repeats=3, test_rows=50, seed=1, n_jobs=1
    )
    assert [len(sample) for sample in one.samples] == [10] * 3 + [20] * 3
    for mine, yours in zip(one.samples, other.samples, strict=True):
        pd.testing.assert_frame_equal(mine, yours)
    assert len({sample["x1"].iloc[0] for sample in one.samples}) == 6
    assert all(test.equals(one.tests[0]) and len(test) == 50 for test in one.tests + other.tests)


def test_samples_of_a_table_overlap_and_miss_the_test(data):
    model = constant("over")
    bias_variance(("side ~ a + b", data), model, 30, repeats=8, seed=1, n_jobs=1)
    test = set(model.tests[0].index)
    assert len(test) == 50
    drawn = [set(sample.index) for sample in model.samples]
    assert all(len(rows) == 30 and not rows & test for rows in drawn)
    assert len(set.union(*drawn)) > 45
    assert len({frozenset(rows) for rows in drawn}) == 8


def test_observed_responses_are_taken_for_the_truth(data):
    found = bias_variance(("side ~ a + b", data), constant("over"), 30, repeats=4, seed=1)
    assert not {"bayes_error", "kw_noise"} & set(found.table.columns)
    row = found.table.loc["Always", 30]
    assert row["error"] == row["bias"] == row["systematic_effect"]
    numbers = bias_variance(("y ~ a + b", data), odrf.odt, 30, repeats=4, seed=1, test_rows=20)
    assert numbers.table.columns.tolist() == ["error", "bias2", "variance"]
    row = numbers.table.loc["odt", 30]
    assert row["error"] == pytest.approx(row["bias2"] + row["variance"])
    assert numbers.experiment.test_rows == 20


def test_threads_and_other_sizes_change_nothing():
    models = {"tree": odrf.odt, "forest": partial(odrf.odrf, n_trees=3)}
    ask = partial(bias_variance, CLASSES, models, repeats=3, test_rows=60, seed=7)
    found = [ask([40, 80], n_jobs=jobs).table for jobs in (1, 3)]
    pd.testing.assert_frame_equal(*found)
    pd.testing.assert_frame_equal(ask(80).table, found[0].loc[[("tree", 80), ("forest", 80)]])
    assert not ask(80, seed=8).table.equals(ask(80).table)


def test_functions_of_the_user(data):
    def doubled(column):
        return 2 * column

    found = bias_variance(("y ~ doubled(a) + b", data), odrf.odt, 20, repeats=2, seed=1)
    assert found.models == ("odt",)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (odrf.odt, "odt"),
        (partial(odrf.odrf, n_trees=2), "odrf"),
        (("y ~ x1", odrf.odt), "odt"),
        ("y ~ x1", "odrf"),
        (LinearRegression(), "LinearRegression"),
    ],
)
def test_a_single_model_gets_a_name(model, name):
    assert bias_variance(NUMBERS, model, 20, repeats=2, test_rows=5, seed=1).models == (name,)


def test_summary_and_card(data):
    found = bias_variance(("side ~ a + b", data), odrf.odt, [20, 40], repeats=3, seed=1)
    text = str(found.summary())
    for words in (
        "James: error = systematic effect + variance effect",
        "Kohavi and Wolpert: error = bias² + variance",
        "odt, n = 40",
        "noise counts as bias",
        "n=[20, 40], repeats=3",
    ):
        assert words in text
    assert repr(found).startswith("Bias and variance on side ~ a + b\n")
    numbers = bias_variance(NUMBERS, best(NUMBERS), 20, repeats=3, seed=1)
    assert "error = noise + bias² + variance" in str(numbers.summary())
    assert "fall below 0" not in str(numbers.summary())


def test_squared_bias_below_0_is_told():
    noisy = Always(lambda newdata: NUMBERS.truth(newdata) + len(noisy.tests) % 3 - 1)
    found = bias_variance(NUMBERS, noisy, 20, repeats=3, seed=1, n_jobs=1)
    assert found.table["bias2"].item() == pytest.approx(-1 / 3)
    assert "can fall below 0" in str(found.summary())


def test_drawing(data):
    models = {"tree": odrf.odt, "constant": constant("over")}
    curves = bias_variance(("side ~ a", data), models, [20, 40], repeats=3, seed=1).plot()
    labels = [ax.get_ylabel() for ax in curves]
    assert labels == ["bias", "variance", "variance effect", "error rate"]
    assert [text.get_text() for text in curves[0].get_legend().get_texts()] == list(models)
    assert len({ax.get_ylim() for ax in curves}) == 1
    numbers = bias_variance(NUMBERS, odrf.odt, 20, repeats=3, test_rows=50, seed=1)
    dots = numbers.plot()
    assert [ax.get_xlabel() for ax in dots] == ["bias²", "variance", "mean squared error"]
    assert [text.get_text() for text in dots[-1].get_legend().get_texts()] == ["noise"]
    given = plt.subplots(1, 3)[1]
    assert numbers.plot(ax=given)[0] is given[0]
    with pytest.raises(InputError, match="ax holds 2 axes: bias and variance are drawn on 3"):
        numbers.plot(ax=given[:2])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n=1: use a whole number of training rows of at least 2"),
        ({"n": []}, "n=\\[\\]: use a whole number"),
        ({"n": "many"}, "n='many': use a whole number"),
        ({"n": [20.5]}, "use a whole number"),
        ({"n": True}, "use a whole number"),
        ({"repeats": 1}, "repeats=1: use a whole number of at least 2"),
        ({"test_rows": 1}, "test_rows=1: use a whole number of at least 2"),
        ({"models": {}}, "name at least 1"),
        ({"models": 3}, "model 'int' is of type int"),
        ({"models": {"other": "x1 ~ x2"}}, "model 'other': formula .* has another response"),
        ({"problem": "parity"}, "problem must be one of odrf.simulate's, or a pair"),
    ],
)
def test_bad_requests(options, message):
    asked = {"models": odrf.odt, "problem": NUMBERS, "n": 20, "repeats": 2} | options
    with pytest.raises(InputError, match=message):
        bias_variance(**asked)


def test_bad_requests_of_a_table(data):
    with pytest.raises(InputError, match="n=50: use at most 49"):
        bias_variance(("y ~ a", data), odrf.odt, 50)
    with pytest.raises(InputError, match="test_rows=98 leaves 2 of 100 rows"):
        bias_variance(("y ~ a", data), odrf.odt, 2, test_rows=98)
    with pytest.raises(InputError, match="must be a data frame"):
        bias_variance((data, "y ~ a"), odrf.odt, 20)


def test_a_model_that_fails_is_named():
    def broken(formula, data):
        raise RuntimeError("no")

    with pytest.raises(InputError, match="model 'broken' fails on 20 rows: RuntimeError: no"):
        bias_variance(NUMBERS, broken, 20)
