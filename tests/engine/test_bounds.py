"""No kernel reads or writes beyond the end of an array, whatever the weights are.

The fits run as plain Python, where NumPy checks every index as compiled code with bounds checks
does, and nothing is compiled.  `.ci/kernels` runs all tests of the engine with checks.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

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
