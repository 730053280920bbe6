"""Counters far beyond the rows of any test: each holds, or is refused by name."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from engine.splits.test_cuts import best, binned
from nodes import described
from odrf.design import design, new_rows, scaling
from odrf.engine.memory import MOST_LEVELS, MOST_PLACES, MOST_ROWS
from odrf.engine.rows import rows_at
from odrf.engine.splits.histograms import COUNT
from odrf.engine.splits.impurity import ENTROPY, GINI, SQUARED_ERROR, describe, whole_logs
from odrf.engine.trees import concatenate, packing
from odrf.engine.trees.packing import pack
from odrf.engine.trees.routing import leaves_of
from problems import noisy
from reference.impurity import cuts, gain


@pytest.mark.parametrize("criterion", [SQUARED_ERROR, GINI, ENTROPY])
def test_a_bin_counts_as_many_rows_as_a_table_may_have(criterion):
    assert MOST_ROWS == COUNT
    counts = np.array([2**27, 2**27 - 1, 5, 7])
    values, y, w = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0]), counts * 1.0
    node = described(y, w, counts, criterion, 2)
    _, found, at = binned(values.astype(np.float32), node, 32, 12)
    assert found == pytest.approx(gain(y, w, values < 1, criterion), rel=1e-6)
    assert at == 0
    assert binned(values.astype(np.float32), node, 32, 13)[1:] == (0.0, -1)


@pytest.mark.parametrize("criterion", [SQUARED_ERROR, GINI, ENTROPY])
def test_numbers_of_rows_beyond_32_bits_are_added_up(criterion):
    counts = np.array([2**31 - 1, 2**31 - 1, 2**31 - 1, 9])
    values, y, w = np.arange(4.0), np.array([0.0, 1.0, 0.0, 1.0]), counts * 1.0
    for min_leaf in (1, 10, 2**31, 2**32):
        found, _ = best(values, y, w, counts, criterion, min_leaf, 2)
        gains = [gain(y, w, left, criterion) for left in cuts(values, counts, min_leaf)]
        assert found == pytest.approx(max([0.0, *gains]), rel=1e-9)


def test_a_node_describes_more_rows_than_32_bits_hold():
    counts = np.array([2**31 - 1, 2**31 - 1, 9])
    y, X = np.array([0.0, 1.0, 5.0]), np.zeros((1, 3), dtype=np.float32)
    rows = rows_at(np.arange(3), X, y, np.ones(3), counts, True)
    node = describe(rows, 0, 3, np.empty(1), np.empty(3), whole_logs(SQUARED_ERROR, 3), 0, 0.0)
    assert node.n_rows == node.weight == counts.sum()
    assert node.value[0] == pytest.approx(np.average(y, weights=counts), rel=1e-14)


@pytest.mark.skipif(sys.platform == "win32", reason="files have no holes by default")
def test_records_beyond_32_bits_of_words_are_walked():
    problem = noisy(n=300)
    packed = problem.grow(2).packed
    far = 2**31 + 5
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "words")
        with path.open("wb") as file:  # a file with a hole: no memory, and hardly any disk
            file.seek(4 * far)
            file.write(packed.words.tobytes())
        words = np.memmap(path, dtype=np.int32, mode="r")
        moved = packed._replace(
            root=packed.root + far, words=np.asarray(words), floats=np.asarray(words.view("f4"))
        )
        everything = slice(0, problem.X.shape[1])
        found = leaves_of(moved, problem.X, everything)
        assert (found == leaves_of(packed, problem.X, everything)).all()
        del moved, words


def test_more_nodes_than_leaves_have_numbers_are_refused(monkeypatch):
    one = noisy(n=60).grow(1)
    arrays = (one.left, one.threshold, one.start, one.index, one.coef)
    with pytest.raises(odrf.InputError, match=r"2147483648 nodes of all trees .*n_trees="):
        pack(np.array([0, MOST_PLACES + 1]), *arrays)
    monkeypatch.setattr(packing, "MOST_PLACES", one.n_nodes)
    with pytest.raises(odrf.InputError, match="that describe a tree"):
        pack(one.root, *arrays)
    monkeypatch.setattr(concatenate, "MOST_PLACES", 1)
    with pytest.raises(odrf.InputError, match="nodes of all trees"):
        noisy(n=60).grow(2)


def test_more_rows_than_a_bin_counts_are_refused(monkeypatch):
    data = pd.DataFrame({"y": np.arange(20.0), "a": np.arange(20.0) % 7})
    fit = odrf.odt("y ~ a", data, alpha=None, seed=1)
    monkeypatch.setattr(design, "MOST_ROWS", 19)
    with pytest.raises(odrf.InputError, match="20 rows of data are more than 19"):
        odrf.odt("y ~ a", data, alpha=None, seed=1)
    monkeypatch.setattr(new_rows, "MOST_ROWS", 30)
    with pytest.raises(odrf.InputError, match=r"40 rows, old and new, .*newdata"):
        fit.update(data)


def test_levels_are_whole_numbers_in_float32_or_refused(monkeypatch):
    assert np.float32(MOST_LEVELS) - np.float32(1) == MOST_LEVELS - 1
    assert np.float32(MOST_LEVELS + 1) == MOST_LEVELS
    data = pd.DataFrame({"y": np.arange(20.0), "f": [f"level {k}" for k in range(20)]})
    monkeypatch.setattr(scaling, "MOST_LEVELS", 19)
    with pytest.raises(odrf.InputError, match="20 levels of a factor are more than 19"):
        odrf.odt("y ~ f", data, alpha=None, seed=1)


# ------------------------------------------------------------------------------------------------
# No kernel reads or writes beyond the end of an array, whatever the weights are.
#
# The fits run as plain Python, where NumPy checks every index as compiled code with bounds checks
# does, and nothing is compiled.  `.ci/kernels` runs all tests of the engine with checks.
# ------------------------------------------------------------------------------------------------

FITS = """
import numpy as np
import pandas as pd
from odrf import load_data, odt

data = load_data("breast_cancer")[::6]
data["size"] = pd.qcut(data["mean_radius"], 3, labels=["s", "m", "l"]).astype(str)
for criterion in ("entropy", "gini"):
    for weight in (1e-6, 1.0, 3.7e8, 1e12, 1e19):
        weights = np.linspace(weight / 2, weight, len(data))
        for projection in ("logistic", "sparse"):
            options = {"weights": weights, "criterion": criterion, "projection": projection}
            for response in ("diagnosis", "size"):
                formula = f"{response} ~ mean_texture + mean_area"
                odt(formula, data, min_leaf=1, alpha=None, seed=1, **options)
"""


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="plain Python needs the rules of NumPy 2 for sums of signed and unsigned integers",
)
def test_weighted_fits_stay_within_the_bounds_of_arrays():
    checked = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    run = subprocess.run(
        [sys.executable, "-c", FITS], env=checked, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
