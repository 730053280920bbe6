"""Numbers that variables are set to, beyond those of the training rows, are warned of."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf

WARNING = "'a' is set to 2, but the training rows have 0.*predictions beyond"


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"a": rng.random(80), "k": rng.integers(1, 4, 80), "b": rng.random(80) > 0.5}
    )
    return rows.assign(y=rows["a"] + rows["k"])


@pytest.fixture(scope="module")
def forest(data):
    return odrf.odrf("y ~ a + C(k) + b", data, n_trees=40, inference=True, seed=1)


CALLS = {
    "predictions": lambda fit, a: fit.predictions(at={"a": [0.5, a]}),
    "comparisons": lambda fit, a: fit.comparisons("a", contrast=(0.5, a)),
    "at": lambda fit, a: fit.comparisons("b", at={"a": a}),
    "partial": lambda fit, a: fit.partial("a", values=[0.5, a]),
}


@pytest.mark.filterwarnings("ignore:.*trees are few")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_a_number_beyond_the_training_rows_warns(forest, call):
    with pytest.warns(UserWarning, match=WARNING):
        call(forest, 2.0)


@pytest.mark.filterwarnings("error:.*is set to")
@pytest.mark.filterwarnings("ignore:.*trees are few")
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_ends_of_the_range_do_not(forest, data, call):
    call(forest, data["a"].max())
    call(forest, data["a"].min())


@pytest.mark.filterwarnings("error:.*is set to")
@pytest.mark.filterwarnings("ignore:.*trees are few")
def test_levels_and_truths_are_left_alone(forest):
    forest.predictions(at={"k": [1, 3], "b": [True, False]})
    forest.predictions(at={"b": True})
    forest.comparisons("k", contrast=(1, 3))


@pytest.mark.filterwarnings("ignore:.*trees are few")
def test_rows_without_weight_do_not_count(data):
    data = pd.concat([data, data.head(1).assign(a=9.0)]).assign(w=[1.0] * len(data) + [0.0])
    fit = odrf.odrf("y ~ a", data, weights="w", n_trees=40, inference=True, seed=1)
    with pytest.warns(UserWarning, match=WARNING):
        fit.predictions(at={"a": 2})
