"""The table of the kinds of trees in a blended forest."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from odrf.fits.blending import Blend
from odrf.options.control import Control

__all__ = ["kinds_table"]


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
