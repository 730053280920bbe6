"""Bias and variance against their definitions, row by row, and what must add up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.evaluation.bias_variance import james, kohavi_wolpert, squared
from odrf.simulate.problem import one_hot
from reference import decomposition as reference


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
    for name, by_row in found._asdict().items():
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
    whole = found.bayes_error + found.systematic_effect + found.variance_effect
    np.testing.assert_allclose(whole, found.error, atol=1e-12)
    np.testing.assert_allclose(halves.noise + halves.bias2 + halves.variance, found.error)
    assert (found.systematic_effect >= 0).all()
    assert ((found.systematic_effect > 1e-12) == (found.bias > 0)).all()


@settings(deadline=None)
@given(numbers())
def test_parts_of_the_squared_error_add_up(case):
    found = squared(*case)
    np.testing.assert_allclose(found.noise + found.bias2 + found.variance, found.error)


@settings(deadline=None)
@given(classes(), st.randoms())
def test_names_of_classes_and_order_of_samples_do_not_matter(case, random):
    predicted, truth = case
    K = truth.shape[1]
    code = np.array(random.sample(range(K), K))
    renamed = code[predicted][::-1]
    for decompose in (james, kohavi_wolpert):
        np.testing.assert_allclose(
            decompose(renamed, truth[:, np.argsort(code)]), decompose(predicted, truth), atol=1e-12
        )


@settings(deadline=None)
@given(classes())
def test_labels_as_truth_give_the_published_equations(case):
    predicted, truth = case
    K, R = truth.shape[1], len(predicted)
    y = truth.argmax(axis=1)
    bias2, variance, error = reference.published(predicted, y, K)
    found = kohavi_wolpert(predicted, one_hot(y, K))
    assert found.noise.mean() == 0
    assert 2 * found.bias2.mean() == pytest.approx(bias2)
    assert 2 * found.variance.mean() * (R - 1) / R == pytest.approx(variance)
    assert james(predicted, one_hot(y, K)).error.mean() == pytest.approx(error)


def test_estimates_are_unbiased():
    # each row is one experiment of three samples: the mean over rows is the expectation
    rng = np.random.default_rng(1)
    m, chance = 40_000, np.array([0.5, 0.3, 0.2])
    truth = np.tile([0.1, 0.7, 0.2], (m, 1))
    found = kohavi_wolpert(rng.choice(3, (3, m), p=chance), truth)
    assert found.bias2.mean() == pytest.approx(np.sum((truth[0] - chance) ** 2) / 2, abs=0.008)
    assert found.variance.mean() == pytest.approx((1 - np.sum(chance**2)) / 2, abs=0.008)
    numbers = squared(2 + rng.normal(size=(3, m)), np.full(m, 2.5), 0.25)
    assert numbers.bias2.mean() == pytest.approx(0.25, abs=0.03)
    assert numbers.variance.mean() == pytest.approx(1.0, abs=0.03)


def test_variance_can_help():
    # the systematic class is wrong, and the others are sometimes right
    found = james(np.array([[0], [0], [1], [2]]), np.array([[0.0, 1.0, 0.0]]))
    assert found.variance_effect[0] == pytest.approx(-0.25)
    assert found.bias[0] == 1
