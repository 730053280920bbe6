"""Covariances of curves, all rows at once, are those of each row's functionals alone."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE
from odrf.statistics.curves import curve_covariances
from odrf.statistics.effects import functional_covariance
from odrf.statistics.jackknife import distinguishes_rows, rows_of_trees
from resampled import forests


@settings(max_examples=30, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.integers(0, 99))
def test_curves_are_functionals(grown, seed):
    assume(distinguishes_rows(grown.draws()))
    values = np.random.default_rng(seed).normal(size=(len(grown.kinds), 3, 4))
    found = curve_covariances(values, rows_of_trees(grown.kinds, grown.draws(), False))
    for i, of_row in enumerate(found):
        alone = functional_covariance(values[:, i], grown.kinds, grown.draws())
        for name in ("raw", "bias", "of_trees"):
            np.testing.assert_allclose(
                getattr(of_row, name), getattr(alone, name), rtol=1e-9, atol=1e-12
            )
        assert (of_row.n_rows, of_row.n_trees) == (alone.n_rows, alone.n_trees)


@settings(max_examples=15, deadline=None)
@given(forests((SUBSAMPLE,)), st.integers(0, 99))
def test_trees_that_are_not_used_have_no_part(grown, seed):
    assume(distinguishes_rows(grown.draws()))
    rng = np.random.default_rng(seed)
    B = len(grown.kinds)
    values, used = rng.normal(size=(B, 2, 3)), rng.random((B, 2)) < 0.7
    rows = rows_of_trees(grown.kinds, grown.draws(), False)
    found = curve_covariances(values, rows, used)
    other = curve_covariances(np.where(used[:, :, None], values, 9.0), rows, used)
    for one, same in zip(found, other, strict=True):
        np.testing.assert_allclose(one.raw, same.raw, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(one.of_trees, same.of_trees, rtol=1e-9, atol=1e-12)
