"""The table of the kinds of trees in a blended forest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from odrf.fits.blending import Blend
from odrf.options.control import Control

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


def kinds_notes(kind: str, n_rows: int) -> list[str]:
    """Return what to say below the table: of a fit of a `kind` of response to `n_rows` rows."""
    notes = [
        f"pilot_error is the out-of-bag {ERRORS[kind]} of very many trees of a kind, estimated "
        "from a few trees."
    ]
    if n_rows < FEW_ROWS:
        notes.append(
            "Out-of-bag rows chose the weights of the kinds of trees. With so few rows the "
            "out-of-bag error is a little too low: see benchmarks/optimism.py."
        )
    return notes
