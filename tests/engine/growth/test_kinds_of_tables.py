"""For how many kinds of tables the kernel that grows trees is compiled."""

from __future__ import annotations

import numpy as np
import pytest
from numba import typeof

from odrf.engine.directions.candidates import INDICATORS, PLAIN, feature_groups_of
from odrf.engine.splits.impurity import GINI, SQUARED_ERROR
from odrf.engine.splits.splitter import as_searched, scratch_for
from problems import CART

NUMBERS, FACTOR = np.array([PLAIN, PLAIN]), np.array([PLAIN, INDICATORS])
NO_HOLES, HOLES = np.array([False, False]), np.array([True, False])


def types_of(types, holes, n_classes, exact_rows):
    """The types of what the kernel is given that differ between tables."""
    widths = np.where(types == INDICATORS, 3, 1) + holes
    groups = feature_groups_of(np.cumsum([0, *widths]), types.astype(np.int8), holes)
    criterion = SQUARED_ERROR if n_classes == 1 else GINI
    recipe = CART._replace(n_classes=n_classes, criterion=criterion, exact_rows=exact_rows)
    groups = as_searched(groups, recipe.settings)
    scratch = scratch_for(50, 50, groups, recipe.settings, recipe.mixture)
    samplers = recipe.mixture.samplers(groups, recipe.settings, 50)
    return typeof((groups, scratch, samplers))


@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_all_tables_but_plain_ones_without_exact_cuts_share_one_kernel(n_classes):
    others = [(FACTOR, NO_HOLES), (NUMBERS, HOLES), (FACTOR, HOLES)]
    shared = {types_of(*one, n_classes, exact) for one in others for exact in (0, 1000)}
    shared.add(types_of(NUMBERS, NO_HOLES, n_classes, 1000))
    plain = types_of(NUMBERS, NO_HOLES, n_classes, 0)
    assert len(shared) == 1 and plain not in shared
