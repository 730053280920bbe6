"""Laws of what a fit says: a table that says the same in another way gives the same answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import odrf
from test_laws import FITS, NUMBERS, Table, table

Said = Callable[[Any, Table], Any]
ASKED = [
    ("pruned tree", "y"), ("pruned tree", "two"), ("forest", "y"), ("boosted", "two"),
    ("guided", "y"),
]  # fmt: skip

METHODS: dict[str, Said] = {
    "importance": lambda fit, _: fit.importance(),
    "partial": lambda fit, _: fit.partial("f").table,
    "ale": lambda fit, _: fit.ale("f").table,
    "predictions": lambda fit, _: fit.predictions(by="f").table,
    "comparisons": lambda fit, _: fit.comparisons("f").table,
    "shap": lambda fit, data: fit.shap(data[:6], background=10, seed=1).values,
    "leaves": lambda fit, data: fit.predict(data, type="leaf"),
    "explanation": lambda fit, data: fit.explain(data.iloc[[0]]).predictors,
}
OF_SOME: dict[str, dict[str, Said]] = {
    "pruned tree": {
        "pruning path": lambda fit, _: fit.pruning_path(cv=3, seed=1).table,
        "growth path": lambda fit, _: fit.growth_path(cv=3, seed=1).table,
        "nodes": lambda fit, _: fit.nodes,
    },
    "forest": {
        "permutation": lambda fit, _: fit.importance("permutation"),
        "out of bag": lambda fit, _: fit.error_path,
        "outliers": lambda fit, _: fit.outliers(),
        "directions": lambda fit, _: fit.projection_importance(3, resamples=2).table[
            ["importance"]
        ],
        "strength": lambda fit, _: fit.strength_correlation([2]).table,
    },
    "boosted": {"loss path": lambda fit, _: fit.loss_path},
}


def fitted(name: str, response: str, data: Table, **options: Any) -> Any:
    return FITS[name](f"{response} ~ a + b + k + f", data, seed=3, **options)


def numbers(said: Any) -> np.ndarray:
    """Return all numbers of a table, a series or an array."""
    if isinstance(said, np.ndarray):
        return said
    frame = said.to_frame() if isinstance(said, pd.Series) else said
    return frame.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)


def answers(name: str, fit: Any, data: Table) -> dict[str, np.ndarray]:
    """Return what the methods say, as numbers."""
    asked = {**METHODS, **OF_SOME.get(name, {})}
    return {method: numbers(ask(fit, data)) for method, ask in asked.items()}


@cache
def usual(name: str, response: str) -> dict[str, np.ndarray]:
    """Return the answers for the table as it is."""
    return answers(name, fitted(name, response, table()), table())


def of_table(change: Callable[[Table], Table], name: str, response: str) -> dict[str, np.ndarray]:
    """Return the answers for the table said in another way."""
    data = change(table())
    return answers(name, fitted(name, response, data), data)


def saved_and_loaded(name: str, response: str, folder: Any) -> dict[str, np.ndarray]:
    """Return the answers of a fit from a file."""
    fitted(name, response, table()).save(folder / "fit")
    return answers(name, odrf.load(folder / "fit"), table())


def laid_out_otherwise(data: Table) -> Table:
    """Return the table with its columns in another order, labelled rows and declared levels."""
    labels = [f"r{k}" for k in range(len(data))]
    return data[data.columns[::-1]].set_axis(labels).astype({"f": "category"})


CHANGES: dict[str, Callable[[Table], Table]] = {
    "scaled by 8": lambda data: data.assign(**{name: 8 * data[name] for name in NUMBERS}),
    "float32": lambda data: data.astype(dict.fromkeys(NUMBERS, np.float32)),
    "laid out otherwise": laid_out_otherwise,
}


@pytest.mark.filterwarnings("ignore:5 trees are few")
@pytest.mark.parametrize(("name", "response"), ASKED)
@pytest.mark.parametrize("law", [*CHANGES, "7 threads", "saved and loaded"])
def test_methods_say_the_same_to_the_bit(law, name, response, tmp_path):
    if law in CHANGES:
        found = of_table(CHANGES[law], name, response)
    elif law == "saved and loaded":
        found = saved_and_loaded(name, response, tmp_path)
    else:
        found = answers(name, fitted(name, response, table(), n_jobs=int(law[0])), table())
    for method, expected in usual(name, response).items():
        assert expected.size
        np.testing.assert_array_equal(found[method], expected, err_msg=method)


def intervals(fit: Any, data: Table) -> pd.DataFrame:
    return fit.predict(data, interval="prediction")


def shares(fit: Any, data: Table) -> np.ndarray:
    return fit.shap(data, background=10, seed=1).values


@pytest.mark.parametrize("said", [intervals, shares])
def test_rows_are_explained_alike_in_any_company(said):
    fit, data = fitted("forest", "y", table()), table()[:9]
    parts = [numbers(said(fit, data[k : k + 4])) for k in range(0, 9, 4)]
    np.testing.assert_array_equal(np.concatenate(parts), numbers(said(fit, data)))


def compared(data: Table, **options: Any) -> pd.DataFrame:
    models = {"tree": FITS["axis tree"], "forest": FITS["forest"]}
    return odrf.compare("y ~ a + b + f", data, models, cv=3, seed=1, **options).table


def tuned(data: Table, **options: Any) -> pd.DataFrame:
    grid = {"min_leaf": [3, 9], "n_trees": [3]}
    return odrf.tune("y ~ a + b + f", data, grid, seed=1, **options).table


def learned(data: Table, **options: Any) -> pd.DataFrame:
    models = {"forest": FITS["forest"]}
    options = {"sizes": [20, 30, 40], "repeats": 2, "seed": 1, **options}
    return odrf.learning_curve("y ~ a + b + f", data, models, **options).table


@pytest.mark.parametrize("function", [compared, tuned, learned])
def test_several_fits_lead_to_the_same_conclusion_to_the_bit(function):
    expected = numbers(function(table()))
    for law, change in CHANGES.items():
        np.testing.assert_array_equal(numbers(function(change(table()))), expected, err_msg=law)
    np.testing.assert_array_equal(numbers(function(table(), n_jobs=2)), expected)


def slopes(data: Table) -> np.ndarray:
    return numbers(fitted("forest", "y", data).slopes("a").table[["estimate", "std_error"]])


@pytest.mark.filterwarnings("ignore:5 trees are few")
@pytest.mark.parametrize("law", CHANGES)
def test_slopes_are_those_of_the_unit(law):
    unit, rounding = (8, 1e-7) if law == "scaled by 8" else (1, 0)  # steps are rounded
    found = unit * slopes(CHANGES[law](table()))
    np.testing.assert_allclose(found, slopes(table()), rtol=rounding)


ROUNDED: dict[str, Callable[[Table], Table]] = {
    "scaled by 10": lambda data: data.assign(**{name: 10 * data[name] for name in NUMBERS}),
    "rows in another order": lambda data: data.sample(frac=1, random_state=1),
}


@pytest.mark.parametrize("response", ["y", "two"])
@pytest.mark.parametrize("law", ROUNDED)
def test_a_tree_says_the_same_but_for_rounding(law, response):
    data, changed = table(), ROUNDED[law](table())
    fits = [fitted("axis tree", response, rows) for rows in (data, changed)]
    for method in ("partial", "ale", "predictions", "comparisons"):
        expected, found = [numbers(METHODS[method](fit, data)) for fit in fits]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6, err_msg=method)


@pytest.mark.filterwarnings("ignore:5 trees are few")
@pytest.mark.parametrize("interval", ["prediction", "confidence"])
def test_intervals_of_a_row_alone_are_those_among_others_up_to_rounding(interval):
    fit, data = fitted("forest", "y", table()), table()[:9]
    alone = [numbers(fit.predict(data[k : k + 1], interval=interval)) for k in range(9)]
    together = numbers(fit.predict(data, interval=interval))
    np.testing.assert_allclose(np.concatenate(alone), together, rtol=1e-12)
