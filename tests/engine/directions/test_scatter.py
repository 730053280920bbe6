"""Scatter between classes and within them, against matrix formulas."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings

import reference.discriminants as twin
from odrf.engine.directions.estimation import between, class_scatter_for, whiten, within
from samples import classed


@settings(deadline=None)
@given(classed())
def test_roots_and_within_are_those_of_the_twin_and_whitened_roots_solve(sample):
    Z, y, a = sample
    m, d = Z.shape
    classes, A = class_scatter_for(7, d), np.empty((d, d))
    g = between(np.ascontiguousarray(Z.T), d, m, a, y, a @ Z, a.sum(), classes)
    present = np.unique(y)
    assert g == len(present)
    np.testing.assert_allclose(classes.weight[:g], [a[y == k].sum() for k in present])
    roots = classes.roots[:g]
    np.testing.assert_allclose(roots.T @ roots, twin.between(Z, y, a), atol=1e-12 * a.sum())

    classes.total[:] = twin.scatter(Z, a)
    within(classes.roots, g, d, 0.3, classes, A)
    W = twin.scatter(Z, a) - twin.between(Z, y, a)
    expected = 0.7 * W + 0.3 * np.diag(np.diag(W))
    np.testing.assert_allclose(np.tril(A), np.tril(expected), atol=1e-12 * a.sum())

    A = expected + np.eye(d)
    assert whiten(A.copy(), g, d, classes)
    np.testing.assert_allclose(
        classes.whitened[:g] @ classes.whitened[:g].T,
        roots @ np.linalg.solve(A, roots.T),
        atol=1e-9 * a.sum(),
    )
    assert not whiten(np.zeros((d, d)), g, d, classes)
