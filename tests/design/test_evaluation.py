""""""

from __future__ import annotations

import math
import pickle
import time
import warnings
from threading import Thread

import numpy as np
import pandas as pd
import patsy
import pytest
from patsy import EvalEnvironment

import odrf
from odrf.design.evaluation import Evaluation, alike
from odrf.design.formula import read_atom, read_formula
from odrf.design.predictors import learn_predictors
from odrf.errors import InputError


def evaluation(code, frame, names=None):
    env = EvalEnvironment([names or {}])
    return Evaluation(read_atom(code, list(frame.columns), env), frame, env)


class Least:
    """A stateful transform of the user's: less the least training value."""

    def memorize_chunk(self, x):
        self.least = min(x)

    def memorize_finish(self):
        pass

    def transform(self, x):
        return x - self.least


less_least = patsy.stateful_transform(Least)
NAMES = {"np": np, "math": math, "less_least": less_least, "pbs": patsy.bs, "shift": 3}


@pytest.mark.parametrize(
    "code",
    [
        "log(bmi)",
        "np.log(bmi) + shift",
        "math.pi * bmi",
        "less_least(bmi)",
        "center(np.log(bmi))",
        "scale(bmi)",
        "bs(bmi, 4)",
        "pbs(bmi, 4)",
        "cr(bmi, df=3)",
        "poly(bmi, 2)",
        "bs(Q('odd name'), df=5)",
        "C(sex)",
        "te(cr(bmi, df=3), cr(age, df=3))",
    ],
)
def test_what_was_learned_survives_pickling(code, people):
    learned = evaluation(code, people, NAMES)
    again = pickle.loads(pickle.dumps(learned))
    few = people.iloc[[7, 3]]
    before, after = learned.values(few).data, again.values(few).data
    assert before.equals(after)


def test_transforms_remember_the_training_rows(people):
    centred = evaluation("center(bmi)", people)
    expected = people["bmi"].iloc[:3] - people["bmi"].mean()
    np.testing.assert_allclose(centred.values(people.iloc[:3]).data, expected)
    assert evaluation("less_least(age)", people, NAMES).values(people).data.min() == 0


def test_a_row_alone_equals_itself_among_the_others(people):
    learned = evaluation("log(bmi)", people)
    together = learned.values(people).data
    for label in people.index:
        assert learned.values(people.loc[[label]]).data.item() == together[label]


def test_only_the_names_used_are_kept(people):
    learned = evaluation("np.log(bmi)", people, NAMES | {"big": np.zeros(10**6)})
    assert len(pickle.dumps(learned)) < 1000


def test_columns_come_in_types_that_functions_know():
    frame = pd.DataFrame(
        {
            "small": np.array([250, 10], dtype="uint8"),
            "nullable": pd.array([1, 2], dtype="Int16"),
            "objects": pd.Series([1, 2.5], dtype=object),
            "flag": pd.array([True, False], dtype="boolean"),
        }
    )
    assert evaluation("I(small - 255 + small)", frame).values(frame).data.tolist() == [245, -235]
    assert evaluation("exp(nullable)", frame).values(frame).data.dtype == np.float64
    assert evaluation("sqrt(objects)", frame).values(frame).data.dtype == np.float64
    assert evaluation("I(~flag)", frame).values(frame).data.tolist() == [False, True]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("log(sex)", r"'log\(sex\)' cannot be evaluated: "),
        ("log(bmi, 2)", r"takes no base: write log2\(x\), log10\(x\) or log\(x\)/log\(2\)"),
        ("log(bmi, 2) + log(bmi)", "log.* takes no base"),
        ("log(bmi, base=2)", "log.* takes no base"),
        ("bmi | sex", r"'\|' is a logical or.*use groups="),
        ("bs(bmi, 1)", "ValueError: df=1 is too small"),
        ("bs(bmi, 'x')", "TypeError"),
        ("bmi.nonsense", "AttributeError"),
        ("np.mean(bmi)", "must give one value for each row"),
        ("log(-bmi)", "not a number in 30 rows"),
    ],
)
def test_code_that_fails(code, message, people):
    with pytest.raises(InputError, match=message):
        evaluation(code, people).values(people)


# ------------------------------------------------------------------------------------------------
# Expressions whose value in one row depends on the other rows are named in a warning.
# ------------------------------------------------------------------------------------------------


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
