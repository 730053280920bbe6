"""The table of the kinds of trees in a blended forest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from odrf.fits.blending import Blend
from odrf.fits.fit import Fit
from odrf.fits.survival.fit import EstimandFit
from odrf.options.tree import Control

__all__ = ["kinds_notes", "kinds_table"]

ERRORS = {
    "regression": "mean squared error",
    "classification": "Brier score",
    "survival": "sum of Brier scores at nine times",
}
# A blend of fewer rows has a noticeably optimistic out-of-bag error.
FEW_ROWS = 300


def kinds_table(blend: Blend, kinds: Mapping[str, Control]) -> pd.DataFrame:
    """Return the table `odrf.results.forest.ODRFResults.kinds`."""
    controls = list(kinds.values())
    return pd.DataFrame(
        {
            "trees": np.bincount(blend.of_tree, minlength=len(kinds)),
            "weight": blend.weights,
            "pilot_error": blend.errors,
            "rows": [control.sample_fraction for control in controls],
            "cuts": [str(control.n_thresholds) for control in controls],
            "min_leaf": [control.min_leaf for control in controls],
            "singles": [control.mixture.n_singles for control in controls],
            "directions": [control.mixture.n_directions for control in controls],
        },
        index=pd.Index(list(kinds), name="kind"),
    )


def kinds_notes(fit: Fit) -> list[str]:
    """Return what to say below the table of a blended forest."""
    # a number of survival curves has the trees of a survival forest, and their pilots
    kind = "survival" if isinstance(fit, EstimandFit) else fit.kind
    notes = [
        f"pilot_error is the out-of-bag {ERRORS[kind]} of very many trees of a kind, estimated "
        "from a few trees."
    ]
    if fit.data.n_rows < FEW_ROWS:
        notes.append(
            "Out-of-bag rows chose the weights of the kinds of trees. With so few rows the "
            "out-of-bag error is a little too low: see benchmarks/errors/optimism.py."
        )
    return notes
