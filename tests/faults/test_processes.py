"""Processes made after a fit work, however they are made, and give the bits of the first."""

from __future__ import annotations

import sys

import pytest

from apart import script

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
BY = {
    "fork": "from multiprocessing import get_context; p = get_context('fork').Pool(2).map",
    "spawn": "from multiprocessing import get_context; p = get_context('spawn').Pool(2).map",
    "loky": (
        "from joblib import Parallel, delayed\n"
        "    p = lambda f, xs: Parallel(2)(delayed(f)(x) for x in xs)"
    ),
    "threads": "from concurrent.futures import ThreadPoolExecutor; p = ThreadPoolExecutor(8).map",
}
CODE = """
import others, odrf
if __name__ == "__main__":
    alone = [others.forest(seed) for seed in range({number})]
    {by}
    assert list(p(others.forest, range({number}))) == alone, "fits differ"
    fit = odrf.odrf("y ~ .", others.table(), n_trees=8, seed=1, **others.AXIS)
    assert set(p(others.predicted, [fit] * {number})) == {{alone[1]}}, "predictions differ"
    print("same")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.parametrize("by", BY)
def test_other_processes_and_threads_give_the_same_bits(tmp_path, by):
    if by == "loky":
        pytest.importorskip("joblib")
    (tmp_path / "others.py").write_text(OTHERS)
    main = tmp_path / "main.py"
    main.write_text(CODE.format(by=BY[by], number=8 if by == "threads" else 2))
    done = script(main)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "same\n"
