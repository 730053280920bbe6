"""No fit shares memory with the table that it was fitted to, which the user may write to."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.sklearn import (
    GRAFClassifier,
    GRAFRegressor,
    ODBTClassifier,
    ODBTRegressor,
    ODRFClassifier,
    ODRFRegressor,
    ODRFSurvival,
    ODTRegressor,
)

ROWS = 60
# What belongs to the process and no fit.
SHARED_BY_ALL = (type, ModuleType, FunctionType)


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "when"])
    data["when"] = np.exp(data["when"])
    data["w"] = rng.uniform(1, 2, ROWS)
    data["g"] = np.repeat(np.arange(ROWS / 4), 4)
    data["y"] = data["a"] + rng.normal(size=ROWS)
    data["dead"] = rng.random(ROWS) < 0.7
    return data


def arrays_of(result):
    """Every array that is reached from a result by attributes, items and cells of tables."""
    found, seen, left = [], set(), [result]
    while left:
        value = left.pop()
        if id(value) in seen or isinstance(value, SHARED_BY_ALL):
            continue
        seen.add(id(value))
        if isinstance(value, np.ndarray):
            found.append(value)
        elif isinstance(value, pd.DataFrame):
            found += [column.to_numpy() for _, column in value.items()]
        elif isinstance(value, pd.Series | pd.Index):
            found.append(value.to_numpy())
        else:
            left += gc.get_referents(value)
    return found


def assert_apart(result, *tables):
    cells = [np.asarray(table[name]) for table in tables for name in table]
    found = arrays_of(result)
    assert len(found) > 5
    for array in found:
        for column in cells:
            assert not np.shares_memory(array, column)


FITS = {
    "odt": lambda data: odrf.odt("y ~ a + b", data, seed=1),
    "odt of missing values by surrogates": lambda data: odrf.odt(
        "y ~ a + b", data, missing="surrogate", seed=1
    ),
    "odrf": lambda data: odrf.odrf("y ~ a + b", data, n_trees=3, seed=1),
    "odrf of a computed column": lambda data: odrf.odrf("y ~ I(a) + a:b", data, n_trees=3, seed=1),
    "odrf by columns": lambda data: odrf.odrf(
        "y ~ a + b", data, n_trees=3, weights="w", groups="g", seed=1
    ),
    "odrf by values": lambda data: odrf.odrf(
        "y ~ a + b",
        data,
        n_trees=3,
        weights=data["w"].to_numpy(),
        order=data["when"].to_numpy(),
        seed=1,
    ),
    "odbt": lambda data: odrf.odbt("y ~ a + b", data, n_trees=3, seed=1),
    "odbt with an offset": lambda data: odrf.odbt("y ~ a", data, offset="b", n_trees=3, seed=1),
    "odbt in runs": lambda data: odrf.odbt("y ~ a + b", data, n_trees=3, n_runs=3, seed=1),
    "graf": lambda data: odrf.graf("y ~ a + b", data, n_trees=3, seed=1),
    "graf of all columns": lambda data: odrf.graf("y ~ .", data, n_trees=3, seed=1),
    "auto": lambda data: odrf.auto("y ~ a + b", data, n_trees=20, seed=1),
    "times": lambda data: odrf.odrf("Surv(when, dead) ~ a + b", data, n_trees=3, seed=1),
    "entries": lambda data: odrf.odt(
        "Surv(w, stop, dead) ~ a", data.assign(stop=data["w"] + 1), seed=1
    ),
    "boosted times": lambda data: odrf.odbt("Surv(when, dead) ~ a", data, n_trees=3, seed=1),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", FITS)
def test_a_fit_shares_no_memory_with_its_table(name, numbers):
    assert_apart(FITS[name](numbers), numbers)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_an_updated_fit_shares_no_memory_with_its_tables(numbers):
    more = numbers.iloc[:20].copy()
    fit = odrf.odrf("y ~ a + b", numbers, n_trees=3, seed=1).update(more)
    assert_apart(fit, numbers, more)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("as_array", [False, True], ids=["frame", "array"])
@pytest.mark.parametrize(
    "estimator",
    [
        ODTRegressor(),
        ODRFRegressor(n_trees=3),
        ODRFClassifier(n_trees=3),
        ODBTRegressor(n_trees=3),
        ODBTClassifier(n_trees=3),
        GRAFRegressor(n_trees=3),
        GRAFClassifier(n_trees=3),
        ODRFSurvival(n_trees=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_an_estimator_shares_no_memory_with_its_table(estimator, as_array, numbers):
    X, y = numbers[["a", "b"]], numbers["y"]
    if isinstance(estimator, ODRFSurvival):
        y = np.rec.fromarrays([numbers["dead"], numbers["when"]], names=["dead", "when"])
        held = pd.DataFrame(y, copy=False)
    else:
        if estimator._kind == "classification":
            y = (y > 0).astype(float)
        held = y.to_frame()
    if as_array:
        X, y = X.to_numpy(), np.asarray(y)
        held = pd.DataFrame({j: X[:, j] for j in range(2)} | {"y": y}, copy=False)
        assert np.shares_memory(held[0].to_numpy(), X)
    given = X if isinstance(X, pd.DataFrame) else held[[0, 1]]
    assert_apart(estimator.fit(X, y, sample_weight=numbers["w"]), given, held, numbers)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", ["odt", "odrf", "odbt", "graf"])
def test_a_fit_stays_as_it_is_when_its_table_is_written_to(name, numbers):
    fit = FITS[name](numbers)
    residuals, summary = fit.resid, str(fit.summary())
    numbers.loc[: ROWS // 2, ["a", "y"]] = 1e3
    pd.testing.assert_series_equal(fit.resid, residuals)
    assert str(fit.summary()) == summary
