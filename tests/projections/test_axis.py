"""Single predictors: factors with rare levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf

COMMON, RARE = ["a", "b", "c"], ["d", "e", "f"]


def table(kind, n=400, seed=3):
    """A predictor that matters, and a factor of noise: three levels of many rows, three of one."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y = 3 * x + rng.normal(size=n) / 2
    level = np.concatenate([RARE, rng.choice(COMMON, n - len(RARE))])
    y[: len(RARE)] = [4.0, -1.0, 4.0]
    if kind != "regression":
        classes = {"two classes": ["u", "v"], "three classes": ["u", "v", "w"]}[kind]
        y = np.array(classes)[np.clip(y * len(classes) / 3, 0, len(classes) - 1).astype(int)]
    return pd.DataFrame({"y": y, "x": x, "level": level})


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_rare_levels_of_a_factor_of_few_levels_do_no_harm(kind):
    data = table(kind)
    options = {"projection": "axis", "n_singles": 2, "n_trees": 60, "min_leaf": 5, "seed": 1}
    rare = odrf.odrf("y ~ .", data, **options)
    none = odrf.odrf("y ~ .", data.replace({"level": dict.fromkeys(RARE, "a")}), **options)
    assert rare.oob_error < 1.03 * none.oob_error
    assert rare.importance()["share"]["level"] < 0.05


@pytest.mark.parametrize("kind", ["regression", "two classes", "three classes"])
def test_a_rare_level_is_in_a_leaf_with_others(kind):
    data = table(kind)
    tree = odrf.odt("y ~ level", data, projection="axis", min_leaf=5, seed=1)
    leaf = tree.predict(type="leaf").to_numpy()
    level = data["level"].to_numpy()
    assert set(leaf[np.isin(level, RARE)]) <= set(leaf[np.isin(level, COMMON)])
