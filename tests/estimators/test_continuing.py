"""Estimators that go on from an earlier fit, after errors, interrupts and further rows."""

from __future__ import annotations

import pytest

from odrf.errors import InputError
from odrf.sklearn import ODRFRegressor

PREDICTORS = ["a", "b", "f"]


@pytest.fixture
def warm(table):
    forest = ODRFRegressor(n_trees=4, warm_start=True, random_state=1)
    return forest.fit(table[PREDICTORS], table["y"])


def test_after_an_interrupt_the_missing_trees_are_grown(warm, table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    X, y = table[PREDICTORS], table["y"]
    with monkeypatch.context() as patched:
        patched.setattr(type(warm.results_), "grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warm.set_params(n_trees=8).fit(X, y)
    assert warm.fit(X, y).results_.forest.n_trees == 8


def test_options_that_were_refused_once_are_refused_again(warm, table):
    X, y = table[PREDICTORS], table["y"]
    warm.set_params(warm_start=False).fit(X, y).set_params(warm_start=True, min_leaf=-1)
    for _ in range(2):
        with pytest.raises(InputError, match="min_leaf=-1"):
            warm.fit(X, y)


def test_a_warm_start_does_not_keep_rows_of_partial_fit(warm, table):
    X, y = table[PREDICTORS], table["y"]
    warm.fit(X, y).partial_fit(X[:20], y[:20])
    assert warm.results_.nobs == 140
    assert warm.fit(X, y).results_.nobs == 120


@pytest.mark.parametrize(
    "options", [{"n_trees": "9"}, {"n_trees": 9, "backend": "dusk"}], ids=["n_trees", "backend"]
)
def test_a_warm_start_checks_what_may_change(warm, table, options):
    with pytest.raises(InputError, match=f"^{list(options)[-1]}="):
        warm.set_params(**options).fit(table[PREDICTORS], table["y"])
