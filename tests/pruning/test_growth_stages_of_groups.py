"""Errors of stages of growth where trees draw groups: these are the units of standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.errors import error_estimates
from odrf import odrf, odt
from odrf.fits.scores import out_of_bag_loss
from odrf.pruning.growth_stages import DEPTH, evaluated_stages, stages_of


@pytest.mark.parametrize("kind", error_estimates.KINDS)
def test_the_last_stage_has_the_standard_error_of_the_forest(kind):
    data = error_estimates.draw(kind, "groups", 120, np.random.default_rng(1))
    forest = odrf(
        "y ~ a + b", data, n_trees=30, projection="axis", groups="group", blend=False, seed=1
    )
    last = forest.growth_path().table.iloc[-1]
    assert (last["test"], last["std_error"]) == pytest.approx(out_of_bag_loss(forest.fit), rel=1e-9)


def test_groups_are_units_for_one_tree_on_all_rows_too():
    data = error_estimates.draw("regression", "groups", 120, np.random.default_rng(1))
    fit = odt("y ~ a + b", data, projection="axis", alpha=None, max_depth=3, seed=1).fit
    stages, groups = stages_of(fit.forest, DEPTH), np.arange(120) // 4
    rows = fit.forest, stages, fit.data.X, fit.data.y, fit.data.weights, 1
    of_groups = evaluated_stages(*rows, groups=groups)
    by_masks = evaluated_stages(*rows, np.ones((1, 120), dtype=bool), groups=groups)
    assert of_groups.standard_error == pytest.approx(by_masks.standard_error)
    assert not np.allclose(of_groups.standard_error, evaluated_stages(*rows).standard_error)
