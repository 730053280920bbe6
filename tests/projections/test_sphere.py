"""The sampler of directions uniform on the sphere."""

from __future__ import annotations

from itertools import chain

import numpy as np
from scipy.stats import beta, kstest

from drawing import directions
from odrf.projections import Sphere
from problems import noisy


def test_directions_are_uniform_on_the_sphere():
    drawn = list(chain(*directions(Sphere(), noisy(30), 4, 1_000)))
    theta = np.array([theta for columns, theta in drawn if columns.tolist() == [0, 1, 2, 3, 4]])
    assert len(theta) == len(drawn) == 4_000
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1, rtol=1e-6)
    # a squared coordinate of a uniform direction in p dimensions is beta(1/2, (p - 1)/2)
    for coordinate in theta.T:
        assert kstest(coordinate**2, beta(0.5, 2).cdf).pvalue > 0.001
    # and so is that of any rotated direction
    rotated = theta @ np.ones(5) / np.sqrt(5)
    assert kstest(rotated**2, beta(0.5, 2).cdf).pvalue > 0.001
    assert abs(np.mean(theta > 0) - 0.5) < 0.02
