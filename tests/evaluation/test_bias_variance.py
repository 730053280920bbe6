"""Bias and variance of models: planted cases, samples, requests."""

from __future__ import annotations

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier

import odrf
from odrf import InputError, bias_variance, simulate
from odrf.evaluation.bias_variance import james, kohavi_wolpert, squared
from odrf.simulate.problem import one_hot
from reference import decomposition as reference

NUMBERS = simulate.friedman1()
CLASSES = simulate.orthant(p=2, noise=0.2)


@pytest.fixture
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


@pytest.mark.usefixtures("closed")
def test_the_truth_has_neither_bias_nor_variance():
    found = bias_variance(CLASSES, best(CLASSES), 30, repeats=4, seed=1).table.loc["Always", 30]
    assert found["error"] == pytest.approx(0.2)
    assert found["bayes_error"] == pytest.approx(0.2)
    for name in ("bias", "variance", "systematic_effect", "variance_effect", "kw_variance"):
        assert found[name] == pytest.approx(0, abs=1e-12)
    numbers = bias_variance(NUMBERS, best(NUMBERS), 30, repeats=4, seed=1).table.loc["Always", 30]
    assert numbers.tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
def test_samples_of_a_table_overlap_and_miss_the_test(data):
    model = constant("over")
    bias_variance(("side ~ a + b", data), model, 30, repeats=8, seed=1, n_jobs=1)
    test = set(model.tests[0].index)
    assert len(test) == 50
    drawn = [set(sample.index) for sample in model.samples]
    assert all(len(rows) == 30 and not rows & test for rows in drawn)
    assert len(set.union(*drawn)) > 45
    assert len({frozenset(rows) for rows in drawn}) == 8


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
def test_threads_and_other_sizes_change_nothing():
    models = {"tree": odrf.odt, "forest": partial(odrf.odrf, n_trees=3)}
    ask = partial(bias_variance, CLASSES, models, repeats=3, test_rows=60, seed=7)
    found = [ask([40, 80], n_jobs=jobs).table for jobs in (1, 3)]
    pd.testing.assert_frame_equal(*found)
    pd.testing.assert_frame_equal(ask(80).table, found[0].loc[[("tree", 80), ("forest", 80)]])
    assert not ask(80, seed=8).table.equals(ask(80).table)


@pytest.mark.usefixtures("closed")
def test_functions_of_the_user(data):
    def doubled(column):
        return 2 * column

    found = bias_variance(("y ~ doubled(a) + b", data), odrf.odt, 20, repeats=2, seed=1)
    assert found.models == ("odt",)


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
def test_squared_bias_below_0_is_told():
    noisy = Always(lambda newdata: NUMBERS.truth(newdata) + len(noisy.tests) % 3 - 1)
    found = bias_variance(NUMBERS, noisy, 20, repeats=3, seed=1, n_jobs=1)
    assert found.table["bias2"].item() == pytest.approx(-1 / 3)
    assert "can fall below 0" in str(found.summary())


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
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


@pytest.mark.usefixtures("closed")
def test_bad_requests_of_a_table(data):
    with pytest.raises(InputError, match="n=50: use at most 49"):
        bias_variance(("y ~ a", data), odrf.odt, 50)
    with pytest.raises(InputError, match="test_rows=98 leaves 2 of 100 rows"):
        bias_variance(("y ~ a", data), odrf.odt, 2, test_rows=98)
    with pytest.raises(InputError, match="must be a data frame"):
        bias_variance((data, "y ~ a"), odrf.odt, 20)


@pytest.mark.usefixtures("closed")
def test_a_model_that_fails_is_named():
    def broken(formula, data):
        raise RuntimeError("no")

    with pytest.raises(InputError, match="model 'broken' fails on 20 rows: RuntimeError: no"):
        bias_variance(NUMBERS, broken, 20)


# ------------------------------------------------------------------------------------------------
# Bias and variance against their definitions, row by row, and what must add up.
# ------------------------------------------------------------------------------------------------


@st.composite
def classes(draw):
    """Predicted codes and probabilities, many of them tied or certain."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    R, m, K = draw(st.integers(2, 7)), draw(st.integers(1, 6)), draw(st.integers(2, 4))
    parts = rng.integers(0, 4, (m, K))
    parts[:, 0] += parts.sum(axis=1) == 0
    return rng.integers(0, K, (R, m)), parts / parts.sum(axis=1, keepdims=True)


@st.composite
def numbers(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    R, m = draw(st.integers(2, 7)), draw(st.integers(1, 6))
    return rng.normal(size=(R, m)), rng.normal(size=m), float(rng.exponential())


def assert_rows(found, row_by_row):
    for name, by_row in found.items():
        np.testing.assert_allclose(by_row, [row[name] for row in row_by_row], atol=1e-12)


@settings(deadline=None)
@given(classes())
def test_definitions_of_classes(case):
    predicted, truth = case
    rows = list(zip(predicted.T.tolist(), truth.tolist(), strict=True))
    assert_rows(james(predicted, truth), [reference.james(*row) for row in rows])
    assert_rows(kohavi_wolpert(predicted, truth), [reference.kohavi_wolpert(*row) for row in rows])


@settings(deadline=None)
@given(numbers())
def test_definitions_of_numbers(case):
    predicted, truth, noise = case
    rows = zip(predicted.T.tolist(), truth.tolist(), strict=True)
    expected = [reference.squared(*row, noise) for row in rows]
    assert_rows(squared(predicted, truth, noise), expected)


@settings(deadline=None)
@given(classes())
def test_both_decompositions_of_classes_add_up(case):
    found, halves = james(*case), kohavi_wolpert(*case)
    whole = found["bayes_error"] + found["systematic_effect"] + found["variance_effect"]
    np.testing.assert_allclose(whole, found["error"], atol=1e-12)
    of_halves = halves["noise"] + halves["bias2"] + halves["variance"]
    np.testing.assert_allclose(of_halves, found["error"])
    assert (found["systematic_effect"] >= 0).all()
    assert ((found["systematic_effect"] > 1e-12) == (found["bias"] > 0)).all()


@settings(deadline=None)
@given(numbers())
def test_parts_of_the_squared_error_add_up(case):
    found = squared(*case)
    np.testing.assert_allclose(found["noise"] + found["bias2"] + found["variance"], found["error"])


@settings(deadline=None)
@given(classes(), st.randoms())
def test_names_of_classes_and_order_of_samples_do_not_matter(case, random):
    predicted, truth = case
    K = truth.shape[1]
    code = np.array(random.sample(range(K), K))
    renamed = code[predicted][::-1]
    for decompose in (james, kohavi_wolpert):
        found, expected = (
            decompose(renamed, truth[:, np.argsort(code)]),
            decompose(predicted, truth),
        )
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], atol=1e-12)


@settings(deadline=None)
@given(classes())
def test_labels_as_truth_give_the_published_equations(case):
    predicted, truth = case
    K, R = truth.shape[1], len(predicted)
    y = truth.argmax(axis=1)
    bias2, variance, error = reference.published(predicted, y, K)
    found = kohavi_wolpert(predicted, one_hot(y, K))
    assert found["noise"].mean() == 0
    assert 2 * found["bias2"].mean() == pytest.approx(bias2)
    assert 2 * found["variance"].mean() * (R - 1) / R == pytest.approx(variance)
    assert james(predicted, one_hot(y, K))["error"].mean() == pytest.approx(error)


def test_estimates_are_unbiased():
    # each row is one experiment of three samples: the mean over rows is the expectation
    rng = np.random.default_rng(1)
    m, chance = 40_000, np.array([0.5, 0.3, 0.2])
    truth = np.tile([0.1, 0.7, 0.2], (m, 1))
    found = kohavi_wolpert(rng.choice(3, (3, m), p=chance), truth)
    assert found["bias2"].mean() == pytest.approx(np.sum((truth[0] - chance) ** 2) / 2, abs=0.008)
    assert found["variance"].mean() == pytest.approx((1 - np.sum(chance**2)) / 2, abs=0.008)
    numbers = squared(2 + rng.normal(size=(3, m)), np.full(m, 2.5), 0.25)
    assert numbers["bias2"].mean() == pytest.approx(0.25, abs=0.03)
    assert numbers["variance"].mean() == pytest.approx(1.0, abs=0.03)


def test_variance_can_help():
    # the systematic class is wrong, and the others are sometimes right
    found = james(np.array([[0], [0], [1], [2]]), np.array([[0.0, 1.0, 0.0]]))
    assert found["variance_effect"][0] == pytest.approx(-0.25)
    assert found["bias"][0] == 1
