"""Processes made after a fit work, however they are made, and give the bits of the first."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import pytest

import odrf
from apart import script
from odrf.engine.growth import forest_builder
from odrf.engine.trees import routing

# `others` in a module, so that new processes find its function.
OTHERS = """
import numpy as np
import pandas as pd
import odrf

AXIS = {"projection": "axis", "blend": False}

def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return pd.DataFrame(X, columns=list("abcd")).assign(y=X[:, 0] + rng.normal(size=400))

def forest(seed):
    fit = odrf.odrf("y ~ .", table(), n_trees=8, seed=seed, n_jobs=2, **AXIS)
    return fit.predict(table()).to_numpy().tobytes()

def predicted(fit):
    return fit.predict(table()).to_numpy().tobytes()
"""
# All in one process: each way to start others begins where the ways before have left it.
CODE = """
import sys
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context

import odrf
import others

def pools(by):
    if by == "loky":
        from joblib import Parallel, delayed
        return lambda f, xs: Parallel(2)(delayed(f)(x) for x in xs)
    if by == "threads":
        return ThreadPoolExecutor(8).map
    return get_context(by).Pool(2).map

if __name__ == "__main__":
    alone = [others.forest(seed) for seed in range(8)]
    fit = odrf.odrf("y ~ .", others.table(), n_trees=8, seed=1, **others.AXIS)
    for by in sys.argv[1:]:
        number, apply = 8 if by == "threads" else 2, pools(by)
        fits = list(apply(others.forest, range(number))) == alone[:number]
        predictions = set(apply(others.predicted, [fit] * number)) == {alone[1]}
        print(by, "same fits" * fits, "same predictions" * predictions)
"""
BY = ["threads", "fork", "spawn", *(["loky"] if find_spec("joblib") else [])]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_other_processes_and_threads_give_the_same_bits(tmp_path):
    (tmp_path / "others.py").write_text(OTHERS)
    main = tmp_path / "main.py"
    main.write_text(CODE)
    done = script(main, *BY)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"{by} same fits same predictions" for by in BY]


# ------------------------------------------------------------------------------------------------
# What goes wrong in a thread that works reaches the caller, and the session goes on.
# ------------------------------------------------------------------------------------------------

SMALL = {"projection": "axis", "blend": False, "seed": 1}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("error", [MemoryError("no room"), FloatingPointError(), SystemError("x")])
def test_an_error_in_growth_reaches_the_caller(rows, monkeypatch, n_jobs, error):
    expected = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL).predict(rows)
    grow, calls = forest_builder.TreeBuilder.tree, []

    def failing(*arguments, **options):
        calls.append(1)
        if len(calls) == 5:
            raise error
        return grow(*arguments, **options)

    with monkeypatch.context() as changed:
        changed.setattr(forest_builder.TreeBuilder, "tree", failing)
        with pytest.raises(type(error)) as raised:
            odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL)
    assert raised.value is error
    again = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=n_jobs, **SMALL)
    assert again.predict(rows).equals(expected)


def test_an_error_in_a_prediction_reaches_the_caller(rows, monkeypatch):
    fit = odrf.odrf("y ~ .", rows, n_trees=8, n_jobs=3, **SMALL)
    expected = fit.predict(rows)

    def failing(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as changed:
        changed.setattr(routing, "leaves_of", failing)
        with pytest.raises(MemoryError, match="no room"):
            fit.predict(rows)
    assert fit.predict(rows).equals(expected)
