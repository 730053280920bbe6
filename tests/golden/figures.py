"""What golden models come to in a few numbers that hold on any machine.

``python tests/golden/figures.py`` writes them anew, where a change of fits is meant.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.models import MODELS
from odrf.fits.prediction.training_rows import residuals

__all__ = ["EXPECTED", "figures"]

EXPECTED = Path(__file__).with_name("expected.json")
# Each compiles kernels of its own; record.py has them.
LEFT_OUT = (
    "tree of classes", "rc", "sphere", "rotation", "cca", "lda", "ridge", "least_squares", "ppr",
    "pda", "pca", "patch", "exact", "batched",
)  # fmt: skip


def figures(name: str) -> dict[str, float]:
    """Return sizes and means of a model's predictions, residuals, leaves and importances."""
    fit = MODELS[name]()
    type = "response" if fit.classes is None else "prob"
    predictions = pd.DataFrame(fit.predict(type=type, training="in-bag"))
    first = predictions.iloc[:, 0]
    return {
        "mean prediction": float(first.mean()),
        "standard deviation of predictions": float(first.std(ddof=0)),
        "mean residual": float(np.abs(residuals(fit.fit, predictions.to_numpy())).mean()),
        "leaves": float(fit.n_leaves.mean()),
        "largest importance": float(fit.importance("impurity")["share"].max()),
    }


if __name__ == "__main__":
    kept = [name for name in MODELS if not set(name.split(", ")).intersection(LEFT_OUT)]
    table = {name: figures(name) for name in kept}
    EXPECTED.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
