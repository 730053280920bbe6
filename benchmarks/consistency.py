"""Where are oblique forests consistent and axis-parallel ones not, and what do sparse ones gain?

    python benchmarks/consistency.py --out consistency.csv [--curves biau_bic,parity] [--repeats 10]
    python benchmarks/consistency.py --report consistency.csv --plot consistency.png

Test errors against the number of training rows, as in Tomita et al. (JMLR 21, 2020).  Biau's
problem (Figure 1B) twice: axis-parallel splits that must gain something in the population leave
an error of 1/6, so that one setting has trees on all rows whose splits are charged by BIC; trees
grown to purity on bootstraps find their way into the checkerboard by chance.  Sparse parity and
orthant (Figure 2): RF, SPORF and F-RC as they are by default, and tuned by the out-of-bag error
of 30 trees, RF over p^¼, p^½, p^¾ and p predictors at a node, the others over p and p² (at most
100) projections of 2 to 5 predictors each, on average.  The csv has one line for each forest.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

from curves import AS_GIVEN, Curve, follow, table
from odrf.projections import Sparse
from odrf.simulate import biau, orthant, sparse_parity
from runs import plotting_parser
from simulated import FORESTS, TO_PURITY, Method, with_tuned

# With two predictors, a direction has both or one of them with equal chance.
OWN: dict[str, dict[str, Any]] = {
    "SPORF": {"projection": Sparse(0.5), "n_projections": 4},
    "F-RC": {"n_projections": 4},
}
WARY = {"resample": "none", "penalty": "bic"}
ONE_AT_A_NODE = {"n_singles": 1}
DEFAULT: dict[str, Method] = {"odrf": ({}, {})}

OF_BIAU = {name: {**options, **OWN.get(name, {})} for name, options in FORESTS.items()}
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
        {name: ({**options, **WARY}, {}) for name, options in OF_BIAU.items()}
        | {"RF, one at a node": ({**OF_BIAU["RF"], **WARY, **ONE_AT_A_NODE}, {})},
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
    """Show the errors of each curve in per cent, and what was chosen, as markdown."""
    parts = []
    for name, own in lines.groupby("curve", sort=False):
        curve = CURVES[str(name)]
        parts += [f"{curve.title}: test error in per cent", table(own, curve)]
        tuned = own[own["chosen"] != AS_GIVEN]
        for method, of_method in tuned.groupby("method", sort=False):
            most = of_method.groupby("n")["chosen"].agg(lambda chosen: chosen.mode()[0])
            words = "; ".join(f"n = {n}: {chosen}" for n, chosen in most.items())
            parts.append(f"Chosen most often for {method}: {words}")
    return "\n\n".join(parts)


def main() -> int:
    """Grow the forests, or report what a csv holds."""
    asked = plotting_parser(__doc__ or "", "consistency.csv", repeats=10, trees=100)
    return follow(CURVES, report, asked)


if __name__ == "__main__":
    sys.exit(main())
