"""With NUMBA_DISABLE_JIT=1 everything runs as plain Python, and predicts the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
# Leaves in `found` what fits of all families and functions predict.
SCRIPT = """
import odrf
from odrf.projections import FAMILIES

data = odrf.load_data("penguins").dropna()[::12]
right = "bill_length_mm + bill_depth_mm + body_mass_g + sex + island"
found = {}
for name, family in FAMILIES.items():
    # numbers only: other tests compile the same kernels
    fit = odrf.odt("species ~ bill_length_mm + bill_depth_mm + body_mass_g", data,
                   projection=family(shape=(1, 3)) if name == "patch" else name, seed=1)
    found[name] = fit.predict(data, type="prob").to_numpy().tolist()
for function in (odrf.odrf, odrf.odbt, odrf.graf):
    for left in ("species", "flipper_length_mm"):
        fit = function(f"{left} ~ {right}", data, n_trees=3, seed=1)
        kind = "response" if left != "species" else "prob"
        found[f"{function.__name__} {left}"] = fit.predict(data, type=kind).to_numpy().tolist()
forest = odrf.odrf(f"species ~ {right}", data, n_trees=3, seed=1)
found["pruned"] = forest.prune(rule="oob").predict(data, type="prob").to_numpy().tolist()
found["updated"] = forest.update(data).predict(data, type="prob").to_numpy().tolist()
found["permutation"] = forest.importance("permutation")["importance"].tolist()
"""


def without_compiler() -> dict[str, list]:
    code = f"{SCRIPT}\nimport json, sys\njson.dump(found, sys.stdout)"
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def compiled() -> dict[str, list]:
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        exec(SCRIPT, names)
    return names["found"]


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0",
    reason="plain Python needs the rules of NumPy 2 for sums of signed and unsigned integers",
)
def test_everything_runs_and_predicts_the_same():
    plain, expected = without_compiler(), compiled()
    assert plain.keys() == expected.keys()
    for name in plain:
        np.testing.assert_allclose(plain[name], expected[name], rtol=1e-6, atol=1e-9, err_msg=name)
