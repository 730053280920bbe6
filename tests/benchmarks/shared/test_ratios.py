"""Losses beside those of another method, over several tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.shared.ratios import beside_default, error_of_excess, excess


def test_the_excess_is_that_of_the_geometric_mean():
    logs = pd.DataFrame({"twice": np.log([1.0, 4.0]), "half": np.log([0.5, 0.5])})
    assert excess(logs).tolist() == pytest.approx([100.0, -50.0])


def test_its_standard_error_is_by_the_delta_method():
    logs = pd.DataFrame({"a": np.random.default_rng(0).normal(0.3, 0.01, 400)})
    means = np.random.default_rng(1).choice(logs["a"], (2000, 400)).mean(axis=1)
    resampled = (100 * np.expm1(means)).std()
    assert error_of_excess(logs)["a"] == pytest.approx(resampled, rel=0.05)


def test_losses_beside_those_of_the_default():
    means = pd.DataFrame({"default": [1.0, 2.0, 0.0], "other": [2.0, 1.0, 0.5]})
    odd = np.array([True, False, True])
    told = beside_default(means, "default", 0.5, odd)
    # ratios 2.5 / 1.5, 1.5 / 2.5 and 1 / 0.5
    assert told.loc["other"].tolist()[:3] == ["+82.6", "-40.0", "+26.0"]
    assert told.loc["other", "better, worse"] == "1, 2"
    assert told.loc["default"].tolist()[:4] == ["+0.0"] * 4
