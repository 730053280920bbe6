"""The bytes of guided growth against the arrays that it makes."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.engine.guided.guided_bytes import OF_ROW, GuidedSizes, bytes_of_guided_growth
from odrf.engine.guided.guided_kernel import growth_for
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import planes_for
from odrf.engine.guided.regions import regions_for


@pytest.mark.parametrize("K", [1, 2, 7])
@pytest.mark.parametrize("batched", [False, True])
def test_they_are_those_of_all_arrays(K, batched):
    n, C, T = 500, 4, 3
    X, code, zeros = np.zeros((C, n), np.float32), np.zeros(n, np.int64), np.zeros(n)
    growth = growth_for(C, n)
    made = [*regions_for(X, code, zeros, zeros, K), *growth, *planes_for(T, C, n, K, batched)]
    expected = OF_ROW * n + sum(array.nbytes for array in made) - growth.reached.nbytes
    settings = GuidedSettings(K, 2, T, 2, True, batched)
    assert bytes_of_guided_growth(n, settings, GuidedSizes(C, 99, 49)) == pytest.approx(expected)
