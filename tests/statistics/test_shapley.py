"""Weights of boxes against Shapley values of the games that are 1 in them."""

from __future__ import annotations

from itertools import product

import numpy as np

from odrf.statistics.shapley import box_weights
from reference.shapley import values_by_definition


def test_weights_are_shapley_values_of_boxes():
    weights = box_weights()
    for a, b, others in product(range(4), range(4), range(2)):
        n = a + b + others
        if n == 0:
            continue
        game = {
            coalition: np.array([float(all(coalition[:a]) and not any(coalition[a : a + b]))])
            for coalition in product((0, 1), repeat=n)
        }
        values = values_by_definition(game)[:, 0]
        expected = [weights[a, b]] * a + [-weights[b, a]] * b + [0.0] * others
        np.testing.assert_allclose(values, expected, atol=1e-15)
