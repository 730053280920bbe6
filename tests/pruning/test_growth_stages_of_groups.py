"""Errors of stages of growth where trees draw groups: these are the units of standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.errors import error_estimates
from odrf import odrf
from odrf.fits.prediction.scores import out_of_bag_loss


@pytest.mark.parametrize("kind", error_estimates.KINDS)
def test_the_last_stage_has_the_standard_error_of_the_forest(kind):
    data = error_estimates.draw(kind, "groups", 120, np.random.default_rng(1))
    forest = odrf(
        "y ~ a + b", data, n_trees=30, projection="axis", groups="group", blend=False, seed=1
    )
    last = forest.growth_path().table.iloc[-1]
    assert (last["test"], last["std_error"]) == pytest.approx(out_of_bag_loss(forest.fit), rel=1e-9)
