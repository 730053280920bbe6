"""Expressions whose value in one row depends on the other rows are named in a warning."""

from __future__ import annotations

import time
import warnings
from threading import Thread

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment

import odrf
from odrf.design.evaluation import alike
from odrf.design.formula import read_formula
from odrf.design.predictors import learn_predictors


@pytest.fixture(scope="module")
def cars():
    return odrf.load_data("auto_mpg").dropna()


def in_wider_bins(weight):
    return pd.cut(weight, 4).astype(str)


def in_bins_of_its_own(weight):
    return pd.cut(weight, [0, 2500, 3500, 9000])


def of_twenty_rows_or_more(weight):
    if len(weight) < 20:
        raise ValueError("too few")
    return weight / 2


DEPENDING = [
    "I(weight - weight.mean())",
    "I((weight - weight.mean()) / weight.std())",
    "I(weight / max(weight))",
    "I(weight - min(weight))",
    "weight.rank()",
    "I(weight > weight.median())",
    "I(weight >= weight.median())",
    "I(weight > weight.quantile(0.9))",
    "I(weight == weight.max())",
    "np.cumsum(weight)",
    "weight.shift(1).fillna(0)",
    "origin.astype(str).astype('category').cat.codes",
    "weight.groupby(origin).transform('mean')",
    "in_wider_bins(weight)",
    "pd.get_dummies(origin.astype(str))",
]
OWN = [
    "weight",
    "I(weight / 7 + year)",
    "np.log(weight)",
    "I(np.log(weight) - 8)",
    "I(weight > 3000)",
    "np.where(weight > 3000, 'heavy', 'light')",
    "C(origin)",
    "origin.str.upper()",
    "pd.get_dummies(origin)",
    "in_bins_of_its_own(weight)",
    "center(weight)",
    "scale(weight)",
    "standardize(weight)",
    "bs(weight, 4)",
    "cr(weight, 4)",
    "poly(weight, 3)",
    "I(center(weight) / 2)",
    "of_twenty_rows_or_more(weight)",
]


@pytest.mark.parametrize("term", DEPENDING)
def test_terms_that_need_all_rows_are_named(term, cars):
    with pytest.warns(UserWarning) as said:
        odrf.odt(f"mpg ~ {term} + year", cars, max_leaves=3, alpha=None, seed=1)
    (warning,) = said
    assert term.split("(")[0] in str(warning.message)
    assert "a row alone gets another value" in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.parametrize("term", OWN)
def test_terms_of_one_row_and_those_that_remember_are_not(term, cars):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.odt(f"mpg ~ {term} + year", cars, max_leaves=3, alpha=None, seed=1)


def test_one_warning_names_all_terms(cars):
    holes = cars.assign(weight=cars["weight"].where(cars["year"] > 71))
    with pytest.warns(UserWarning) as said:
        odrf.odt("mpg ~ weight.rank() + year.rank() + log(weight)", holes, max_leaves=3, seed=1)
    (warning,) = said
    assert "computes 'weight.rank()', 'year.rank()' from all rows" in str(warning.message)


def test_the_response_may_need_all_rows(cars):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.odt("I(mpg - mpg.mean()) ~ weight", cars, max_leaves=3, alpha=None, seed=1)


def test_few_rows_are_evaluated():
    asked = []

    def noted(a):
        asked.append(len(a))
        return 2 * a

    data = pd.DataFrame({"a": np.arange(20_000.0), "y": np.arange(20_000.0) % 7})
    odrf.odt("y ~ noted(a)", data, max_leaves=2, alpha=None, seed=1)
    assert sum(n for n in asked if n < len(data)) <= 500


def test_tables_that_differ_by_rounding_are_alike():
    one = pd.DataFrame({"a": [1e9, 1e-9]})
    assert alike(one, one * (1 + 1e-15)) and alike(one, one + 1e-6)
    assert not alike(one, one + 1)
    assert not alike(one, one.iloc[:1])
    assert not alike(pd.DataFrame({"a": ["u", "v"]}), pd.DataFrame({"a": ["u", "u"]}))


def test_threads_that_read_formulas_at_once_silence_no_later_warning():
    """Python has one list of filters of warnings for all threads."""
    data = pd.DataFrame({"a": np.arange(400.0), "y": np.arange(400.0)})

    def slow(a):
        if len(a) == 100:  # a half of the rows that are evaluated again
            time.sleep(0.2)
        return 2 * a

    env = EvalEnvironment.capture()
    terms = read_formula("y ~ slow(a)", list(data.columns), env).terms
    threads = [Thread(target=learn_predictors, args=(terms, data, {}, env)) for _ in range(2)]
    before = list(warnings.filters)
    with warnings.catch_warnings():
        for thread in threads:
            thread.start()
            time.sleep(0.1)
        for thread in threads:
            thread.join()
        assert warnings.filters == before
