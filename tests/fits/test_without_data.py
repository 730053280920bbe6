"""Fits without training rows: what they still do, and what they refuse."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError


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
    assert fit.fit.data.has_rows
