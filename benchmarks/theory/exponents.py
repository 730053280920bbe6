"""Learning rates of forests with oblique splits of random size, and of the random forest.

    python -m benchmarks.theory.exponents --out exponents.csv [--curves radial,additive]
                                          [--repeats 4]
    python -m benchmarks.theory.exponents --report exponents.csv --plot exponents.png

The mean squared distance of a forest from the regression function m, at 250 to 32,000 training
rows, and the power law a + b·n^(-c) fitted to it.  By Zhan, Liu and Xia, ODRF with subsets of
random size is consistent for every continuous m; ODRF_1, the ordinary random forest RF, only for
sums of functions of single predictors.  Three of the functions depend on all predictors together,
and one is additive.  Both theorems need t_n = o(n/ln⁴n) leaves, which fully grown trees do not
have.  This matters with two predictors, so there are also forests with trees of n^0.7 leaves.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import plotting_parser
from benchmarks.shared.simulated import FORESTS, Method
from benchmarks.theory.curves import Curve, run_or_report, table
from odrf.evaluation.learning_curve import bootstrap_power_laws, fit_power_law
from odrf.simulate import additive, radial, ridge_sum, single_index

SIZES = tuple(250 * 2**k for k in range(8))
DRAWS, LAW_SEED = 500, 0
DOUBLINGS = 2
FULL: dict[str, Method] = {name: (FORESTS[name], {}) for name in ("ODRF", "RF")}
FEW_LEAVES: dict[str, Method] = {
    f"{name}, n^0.7 leaves": ({**options, "max_leaves": lambda n: n**0.7}, {})
    for name, (options, _) in FULL.items()
}
RIVALS = ("ODRF", "RF")
CURVES = {
    "single_index": Curve(
        "Single index, 2 predictors",
        single_index(p=2, relevant=2),
        SIZES,
        FULL | FEW_LEAVES,
        RIVALS,
    ),
    "radial": Curve("Radial, 5 predictors", radial(p=5, relevant=5), SIZES, FULL, RIVALS),
    "ridge_sum": Curve("Three ridges, 10 predictors", ridge_sum(p=10), SIZES, FULL, RIVALS),
    "additive": Curve("Additive, 4 of 10 predictors", additive(p=10), SIZES, FULL, RIVALS),
}


def report(lines: pd.DataFrame) -> str:
    """Write the errors of each curve, their power laws and slopes, as markdown."""
    parts = []
    for name, of_curve in lines.groupby("curve", sort=False):
        curve = CURVES[str(name)]
        parts += [f"{curve.title}: mean (m̂ − m)²", table(of_curve, curve), laws(of_curve, curve)]
    return "\n\n".join(parts)


def laws(lines: pd.DataFrame, curve: Curve) -> str:
    """Write each method's power law, and the slopes of its first and last two doublings of n."""
    shown = {}
    for method in curve.methods:
        of_method = lines[lines["method"] == method]
        if of_method.empty:
            continue
        wide = of_method.pivot(index="repeat", columns="n", values="error").dropna()
        n, error = wide.columns.to_numpy(float), wide.to_numpy()
        law = fit_power_law(n, error.mean(axis=0))
        resampled = bootstrap_power_laws(n, error, DRAWS, LAW_SEED)
        shown[method] = {
            "a": f"{law.a:.2g} ({_middle([drawn.a for drawn in resampled])})",
            "c": f"{law.c:.2f} ({_middle([drawn.c for drawn in resampled])})",
            "first slope": slope(n[: DOUBLINGS + 1], error[:, : DOUBLINGS + 1]),
            "last slope": slope(n[-DOUBLINGS - 1 :], error[:, -DOUBLINGS - 1 :]),
        }
    return markdown_table(pd.DataFrame.from_dict(shown, orient="index"), "error = a + b·n^(−c)")


def slope(n: NDArray[np.float64], error: NDArray[np.float64]) -> str:
    """Write −Δ log error / Δ log n between the ends, and its standard error over repeats."""
    each = -np.log(error[:, -1] / error[:, 0]) / np.log(n[-1] / n[0])
    return f"{each.mean():.2f} ± {each.std(ddof=1) / len(each) ** 0.5:.2f}"


def _middle(values: list[float]) -> str:
    """Write the middle 95 % of the values."""
    low, high = np.quantile(values, [0.025, 0.975])
    return f"{low:.2g} to {high:.2g}"


def main() -> int:
    """Grow the forests, or report an existing csv."""
    asked = plotting_parser(__doc__ or "", "exponents.csv", repeats=4, trees=100)
    return run_or_report(CURVES, report, asked)


if __name__ == "__main__":
    sys.exit(main())
