"""Laws of variables from which other variables tell little: labels of rows, empty columns."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.factors import stored
from odrf.errors import InputError
from odrf.fits.importance_tests import LabelLaw, NumberLaw, distinct_draws, laws_given_others


def test_a_factor_of_a_level_for_nearly_each_row_has_a_law():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=42)})
    frame["g"] = pd.Categorical([f"u{i % 40}" for i in range(42)])
    law = laws_given_others(frame, ["g"], 1, 1)["g"]
    assert isinstance(law, LabelLaw)
    assert law.shares.shape == (42, 40)
    np.testing.assert_allclose(law.shares.sum(axis=1), 1.0)


def test_a_variable_that_is_empty_where_another_is_known_tells_nothing_of_it():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["a"], frame["b"] = frame["a"][:30], frame["b"][30:]
    law = laws_given_others(frame, ["a"], 1, 1)["a"]
    assert isinstance(law, NumberLaw)
    np.testing.assert_allclose(law.mean, frame["a"].mean())
    law = laws_given_others(frame.assign(c=frame["a"].fillna(0.0)), ["a"], 1, 1)["a"]
    np.testing.assert_allclose(law.mean, frame["a"][:30])


def test_text_that_the_fit_has_taken_as_a_factor_is_one_here_without_a_word():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=40), "name": [f"n{i % 38}" for i in range(40)]})
    frame["answer"] = rng.choice(["yes", "yes ", "no"], 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        law = laws_given_others(frame, ["x"], 1, 1)["x"]
    assert len(law.mean) == 40


# ------------------------------------------------------------------------------------------------
# Rows of several draws, each different row once: against comparing row by row.
# ------------------------------------------------------------------------------------------------


def drawn(seed, n=40, p=5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(p, n)).astype(np.float32)
    X[0, :5] = np.nan
    draws = []
    for _ in range(4):
        draw = X.copy()
        draw[1] = rng.integers(0, 3, n)
        draw[3, ::2] = rng.normal(size=n // 2)
        draws.append(draw)
    X[1] = rng.integers(0, 3, n)
    return X, draws


@pytest.mark.parametrize("seed", range(3))
def test_each_different_row_is_there_once(seed):
    X, draws = drawn(seed)
    changed, row, number = distinct_draws(X, draws)
    for d, draw in enumerate(draws):
        for i in range(X.shape[1]):
            same = np.array_equal(draw[:, i], X[:, i], equal_nan=True)
            assert (number[d, i] < 0) == same
            if not same:
                assert row[number[d, i]] == i
                np.testing.assert_array_equal(stored(changed)[:, number[d, i]], draw[:, i])
    different = {
        (i, draw[:, i].tobytes())
        for draw in draws
        for i in range(X.shape[1])
        if draw[:, i].tobytes() != X[:, i].tobytes()
    }
    assert len(row) == len(different)


def test_nothing_has_changed():
    X, _ = drawn(0)
    changed, row, number = distinct_draws(X, [X.copy(), X.copy()])
    assert changed.shape == (5, 0) and not len(row) and (number == -1).all()


# ------------------------------------------------------------------------------------------------
# Fits without training rows: what they still do, and what they refuse.
# ------------------------------------------------------------------------------------------------


def table(n=200):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.random((n, 3)), columns=list("abc"))
    data["f"] = pd.Categorical([f"l{k:02d}" for k in rng.integers(12, size=n)])
    data["g"] = pd.Categorical(rng.choice(["u", "v"], n))
    y = 3 * data.a + data.b * data.c + (data.f == "l03") + rng.normal(size=n) / 5
    return data.assign(y=y, k=np.where(y > y.median(), "high", "low"))


DATA = table()
NUMBERS, CLASSES = DATA.drop(columns="k"), DATA.drop(columns="y")
CASES = {
    "forest": lambda: odrf.odrf("y ~ .", NUMBERS, n_trees=8, seed=1),
    "forest of classes": lambda: odrf.odrf("k ~ .", CLASSES, n_trees=8, seed=1),
    "blend": lambda: odrf.odrf("k ~ .", CLASSES, n_trees=20, blend=True, seed=1),
    "tree": lambda: odrf.odt("y ~ .", NUMBERS, seed=1),
    "boosted": lambda: odrf.odbt("y ~ .", NUMBERS, n_trees=8, seed=1),
    "boosted classes": lambda: odrf.odbt("k ~ .", CLASSES, n_trees=5, n_runs=3, seed=1),
}


@pytest.fixture(scope="module")
def fits():
    return {name: make() for name, make in CASES.items()}


def numbers_of(fit, rows):
    kind = "prob" if fit.kind == "classification" else "response"
    return fit.predict(rows, type=kind).to_numpy(dtype=float)


def test_what_is_gone_says_what_to_use_instead(fits):
    with pytest.raises(InputError, match=r"no argument 'compact': use without_data\(\) of the fit"):
        odrf.odrf("y ~ .", NUMBERS, n_trees=2, compact=16)
    for fit in fits.values():
        for name in ("compact", "compaction"):
            with pytest.raises(InputError, match=rf"no '{name}': use without_data\(\) .* save"):
                getattr(fit, name)()


@pytest.mark.parametrize("name", CASES)
def test_a_fit_without_rows_predicts_and_refuses_the_rest(fits, name):
    fit = fits[name]
    bare = fit.without_data()
    assert (numbers_of(bare, DATA) == numbers_of(fit, DATA)).all()
    assert bare.nobs == len(DATA) and "left out" in repr(bare)
    for ask in (lambda: bare.predict(), lambda: bare.resid, lambda: bare.summary()):
        with pytest.raises(InputError, match=r"or made without them, by without_data\(\)"):
            ask()
    assert fit.rows is not None
