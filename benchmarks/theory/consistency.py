"""Test errors of oblique, sparse and axis-parallel forests against the number of training rows.

    python -m benchmarks.theory.consistency --out consistency.csv [--curves biau_bic,parity]
                                            [--repeats 10]
    python -m benchmarks.theory.consistency --report consistency.csv --plot consistency.png

The experiments of Tomita et al. (JMLR 21, 2020).  Biau's problem (Figure 1B) with two settings.
Axis-parallel splits that must decrease the impurity in the population leave an error of 1/6; so in
the first setting trees are grown on all rows and splits are penalised by BIC.  In the second
setting trees are grown to purity on bootstrap samples, where some splits divide the checkerboard by
chance.  Sparse parity and orthant (Figure 2): RF, SPORF and F-RC at their defaults, and tuned by
the out-of-bag error of 30 trees, RF over p^¼, p^½, p^¾ and p predictors at a node, the others over
p and p² (at most 100) projections of 2 to 5 predictors each, on average.  The csv has one line for
each forest.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

from benchmarks.shared.runs import plotting_parser
from benchmarks.shared.simulated import FORESTS, TO_PURITY, Method, with_tuned
from benchmarks.theory.curves import AS_GIVEN, Curve, run_or_report, table
from odrf.projections import Sparse
from odrf.simulate import biau, orthant, sparse_parity

# With two predictors, a direction has one or both of them with equal probability.
TWO_PREDICTORS: dict[str, dict[str, Any]] = {
    "SPORF": {"projection": Sparse(0.5), "n_projections": 4},
    "F-RC": {"n_projections": 4},
}
BIC_ON_ALL_ROWS = {"resample": "none", "penalty": "bic"}
ONE_AT_A_NODE = {"n_singles": 1}
DEFAULT: dict[str, Method] = {"odrf": ({}, {})}

OF_BIAU = {name: {**options, **TWO_PREDICTORS.get(name, {})} for name, options in FORESTS.items()}
BIAU_SIZES = (100, 300, 1000, 3000, 10_000, 30_000)
PARITY, ORTHANT = sparse_parity(), orthant()
CURVES = {
    "biau": Curve(
        "Biau's problem, trees to purity on bootstraps",
        biau(),
        BIAU_SIZES,
        {name: ({**options, **TO_PURITY}, {}) for name, options in OF_BIAU.items()} | DEFAULT,
        ("SPORF", "RF"),
        bound=1 / 6,
    ),
    "biau_bic": Curve(
        "Biau's problem, splits charged by BIC, all rows",
        biau(),
        BIAU_SIZES,
        {name: ({**options, **BIC_ON_ALL_ROWS}, {}) for name, options in OF_BIAU.items()}
        | {"RF, one at a node": ({**OF_BIAU["RF"], **BIC_ON_ALL_ROWS, **ONE_AT_A_NODE}, {})},
        ("SPORF", "RF"),
        bound=1 / 6,
    ),
    "parity": Curve(
        "Sparse parity, 3 of 20 predictors relevant",
        PARITY,
        (500, 1000, 2000, 5000, 10_000),
        with_tuned(FORESTS, PARITY.p) | DEFAULT,
        ("SPORF, tuned", "RF, tuned"),
    ),
    "orthant": Curve(
        "Orthant, 6 predictors, 64 classes",
        ORTHANT,
        (200, 400, 800, 2000, 4000),
        with_tuned(FORESTS, ORTHANT.p) | DEFAULT,
        ("SPORF, tuned", "RF, tuned"),
    ),
}


def report(lines: pd.DataFrame) -> str:
    """Write the errors of each curve in per cent, and the chosen options, as markdown."""
    parts = []
    for name, of_curve in lines.groupby("curve", sort=False):
        curve = CURVES[str(name)]
        parts += [f"{curve.title}: test error in per cent", table(of_curve, curve)]
        tuned = of_curve[of_curve["chosen"] != AS_GIVEN]
        for method, of_method in tuned.groupby("method", sort=False):
            most = of_method.groupby("n")["chosen"].agg(lambda chosen: chosen.mode()[0])
            words = "; ".join(f"n = {n}: {chosen}" for n, chosen in most.items())
            parts.append(f"Chosen most often for {method}: {words}")
    return "\n\n".join(parts)


def main() -> int:
    """Grow the forests, or report an existing csv."""
    asked = plotting_parser(__doc__ or "", "consistency.csv", repeats=10, trees=100)
    return run_or_report(CURVES, report, asked)


if __name__ == "__main__":
    sys.exit(main())
