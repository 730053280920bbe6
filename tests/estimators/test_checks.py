"""The checks of scikit-learn itself."""

from __future__ import annotations

from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import estimator_checks

from estimators.instances import DEFAULT, EXACT, STACKS
from odrf.sklearn import ODTRegressor

pytestmark = pytest.mark.usefixtures("quick_stacks")

# Weights and repeated rows lead to different random draws.
OF_WEIGHTS = {"check_sample_weight_equivalence_on_dense_data", "check_sample_weights_invariance"}


def checks_of(estimator):
    """Return all checks of the scikit-learn that is installed."""
    if hasattr(estimator_checks, "estimator_checks_generator"):
        return estimator_checks.estimator_checks_generator(estimator, legacy=True)
    return estimator_checks.check_estimator(estimator, generate_only=True)  # scikit-learn 1.5


def run(estimator, left_out=frozenset()):
    """Run the checks and print their names."""
    print(f"\n{estimator}")
    names = []
    for each, check in checks_of(estimator):
        name = check.func.__name__
        if name in left_out:
            continue
        try:
            check(each)
        except SkipTest as reason:
            print(f"  {name}: skipped, {reason}")
            continue
        print(f"  {name}: passed")
        names.append(name)
    return names


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", EXACT, ids=lambda each: type(each).__name__)
def test_every_check_passes(estimator):
    names = run(estimator)
    assert OF_WEIGHTS & set(names)
    assert len(names) > 40


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", STACKS, ids=lambda each: type(each).__name__)
def test_every_check_but_that_of_repeated_rows_passes_with_stacks(estimator, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.smoothers.MOST_ROWS", 30)
    assert len(run(estimator, OF_WEIGHTS)) > 40


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("estimator", DEFAULT, ids=lambda each: type(each).__name__)
def test_every_check_that_random_draws_can_pass_passes_with_default_options(estimator):
    assert len(run(estimator, OF_WEIGHTS)) > 40


@pytest.mark.parametrize("estimator", DEFAULT, ids=lambda each: type(each).__name__)
def test_a_row_of_weight_0_is_as_if_it_was_not_there(estimator, table):
    X, y = table[["a", "b", "f"]], table["c" if hasattr(estimator, "predict_proba") else "y"]
    estimator = clone(estimator).set_params(random_state=1)
    some = np.arange(len(X)) % 3 > 0
    weighted = clone(estimator).fit(X, y, sample_weight=some)
    there = clone(estimator).fit(X[some], y[some])
    assert (weighted.predict(X) == there.predict(X)).all()
    assert weighted.results_.nobs == some.sum()
    tripled = clone(estimator).fit(X, y, sample_weight=1 + 2 * some)
    assert tripled.results_.fit.data.weights.tolist() == (1 + 2 * some).tolist()


@pytest.mark.filterwarnings("ignore")
def test_every_check_but_that_of_repeated_rows_passes_with_lines():
    assert len(run(ODTRegressor(leaves="linear"), OF_WEIGHTS)) > 40
