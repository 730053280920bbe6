"""What golden models come to in a few numbers, and how much of each of them rounding decides.

Splits of nearly equal gain fall otherwise where a processor or a compiler rounds otherwise.  The
same happens when columns are in other units.  So each model is fitted in several units: a figure
has a centre, and a half-width in which it may lie on any machine.

``python tests/golden/figures.py`` writes them anew, where a change of fits is meant.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.models import MODELS, in_other_units
from odrf.fits.responses import residuals

__all__ = ["EXPECTED", "figures", "figures_of"]

EXPECTED = Path(__file__).with_name("expected.json")
# Each compiles kernels of its own; record.py has them.
LEFT_OUT = (
    "tree of classes", "rc", "sphere", "rotation", "cca", "lda", "ridge", "least_squares", "ppr",
    "pda", "pca", "patch", "exact", "batched",
)  # fmt: skip
# In how many units, and how many standard deviations of the figures make the half-width.
UNITS, DEVIATIONS = 12, 3


def figures(name: str, units: int = 0) -> dict[str, float]:
    """Return the figures of a model, whose tables are in the units of a number; 0 for their own."""
    with in_other_units(units):
        return figures_of(MODELS[name]())


def figures_of(fit: Any) -> dict[str, float]:
    """Return sizes and means of a fit's predictions, residuals, leaves and importances."""
    type = "response" if fit.classes is None else "prob"
    predictions = pd.DataFrame(fit.predict(type=type, training="in-bag"))
    first = predictions.iloc[:, 0]
    return {
        "mean prediction": float(first.mean()),
        "standard deviation of predictions": float(first.std(ddof=0)),
        "mean residual": float(np.abs(residuals(fit.fit, predictions.to_numpy())).mean()),
        "leaves": float(np.mean(fit.n_leaves)),
        "largest importance": float(fit.importance("impurity")["share"].max()),
    }


def spread(name: str) -> dict[str, list[float]]:
    """Return the centre and the half-width of each figure of a model."""
    table = pd.DataFrame([figures(name, units) for units in range(UNITS)])
    width = DEVIATIONS * table.std()
    return {figure: [float(table[figure].mean()), float(width[figure])] for figure in table}


if __name__ == "__main__":
    kept = [name for name in MODELS if not set(name.split(", ")).intersection(LEFT_OUT)]
    expected = {name: spread(name) for name in kept}
    EXPECTED.write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
