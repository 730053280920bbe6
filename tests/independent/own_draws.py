"""Write which rows the trees of two forests drew, for ``forests.R``: from the root of the project,

python tests/independent/own_draws.py
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd

import odrf

__all__ = ["AXIS", "CASES", "NEW", "ROWS", "first_rows", "grown"]

# Predictors are not so strongly related that splits on two of them divide the rows of a node alike.
CASES = {
    "diabetes": "progression ~ age + bmi + bp + tc + hdl + ltg + glu",
    "breast_cancer": (
        "diagnosis ~ mean_texture + mean_smoothness + mean_symmetry + mean_fractal_dimension"
        " + texture_error + smoothness_error + symmetry_error"
    ),
}
ROWS, NEW = 200, 40
AXIS = {"projection": "axis", "split_search": "exact", "min_leaf": 1, "seed": 3}


def first_rows(table, n):
    """The first n rows of a table; numbers as in the script."""
    response, *numbers = re.findall(r"\w+", CASES[table])
    data = odrf.load_data(table)[[response, *numbers]].iloc[:n].reset_index(drop=True)
    # a cut, the middle of two numbers, is then no number of another row
    data[numbers] = np.exp(data[numbers] / data[numbers].abs().max())
    return data


def grown(table):
    """A forest of bootstrapped trees that try all predictors at every node, and new rows."""
    data = first_rows(table, ROWS + NEW)
    options = AXIS | {"n_trees": 20, "blend": False, "n_singles": 7, "max_depth": 2}
    return odrf.odrf(CASES[table], data.iloc[:ROWS], **options), data.iloc[ROWS:]


if __name__ == "__main__":
    for table in CASES:
        forest, _ = grown(table)
        draws = forest.fit.draws
        drawn = pd.DataFrame({f"tree{b}": draws.again(b)[0] for b in range(len(draws.streams))})
        drawn.to_csv(Path(__file__).with_name(f"draws_{table}.csv"), index=False)
