"""Results have the same bits for any number of threads of the linear algebra."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

import odrf
from odrf.fits.stacking import mean_products

# OpenBLAS divides products of vectors among threads from 10,000 numbers on.
ROWS = 12_000
PREDICTORS = ["a", "b", "c"]


@cache
def table():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.uniform(size=(ROWS, 3)), columns=PREDICTORS)
    data["y"] = np.sin(5 * data["a"]) + data["b"] + rng.normal(size=ROWS) / 3
    data["k"] = pd.cut(data["y"] + rng.normal(size=ROWS) / 3, 3, labels=["low", "middle", "high"])
    data["w"] = rng.uniform(0.5, 2, ROWS)
    return data


@cache
def grown(response):
    return odrf.odrf(f"{response} ~ a + b + c", table(), n_trees=20, weights="w", seed=1, n_jobs=2)


def products_that_weights_of_kinds_are_from():
    rng = np.random.default_rng(1)
    unseen = [rng.random((ROWS, 4)) < 0.4 for _ in range(2)]
    return mean_products(rng.uniform(size=(2, 2, ROWS)), unseen, table()["w"].to_numpy())[0]


def calibrated():
    return grown("k").calibrate("beta").predict(table()[:300], type="prob")


def intervals():
    return grown("y").get_prediction(table()[:300]).summary_frame()


def comparisons():
    return grown("y").comparisons(["a", "b"]).covariance


def pruned():
    tree = odrf.odt("y ~ a + b + c", table(), weights="w", seed=1)
    return tree.pruning_path(newdata=table()).table


def distilled():
    return np.array(grown("y").surrogate().fidelity)


MEASURED = {each.__name__: each for each in (
    products_that_weights_of_kinds_are_from, calibrated, intervals, comparisons, pruned, distilled,
)}  # fmt: skip


@pytest.mark.parametrize("name", MEASURED)
def test_the_number_of_threads_changes_no_bit(name):
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            found.append(np.asarray(MEASURED[name]()))
    np.testing.assert_array_equal(*found)
