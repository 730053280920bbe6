"""Single predictors: factors with rare levels."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError
from odrf.projections import ExtraTrees
from odrf.projections.base import Table

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


# ------------------------------------------------------------------------------------------------
# Extremely randomised trees: single predictors, one random cut each.
# ------------------------------------------------------------------------------------------------


def same(one, other):
    names = ("left", "threshold", "index", "value")
    return all(
        getattr(one.forest, name).tobytes() == getattr(other.forest, name).tobytes()
        for name in names
    )


def test_the_numbers_of_the_paper():
    table = Table(P=9, p=12, n_classes=3, single_tree=False)
    assert ExtraTrees().n_default(table) == 3
    assert ExtraTrees().n_default(table._replace(n_classes=1)) == 9


def test_they_are_single_predictors_with_one_random_cut_each():
    data = odrf.load_data("wine")
    options = {"n_trees": 10, "seed": 1}
    extra = odrf.odrf("cultivar ~ .", data, projection="extra", **options)
    assert extra.control.n_thresholds == 1
    assert same(
        extra, odrf.odrf("cultivar ~ .", data, projection="axis", n_thresholds=1, **options)
    )
    greedy = odrf.odrf("cultivar ~ .", data, projection="extra", n_thresholds="all", **options)
    assert same(greedy, odrf.odrf("cultivar ~ .", data, projection="axis", **options))
    assert "extra" in str(extra.summary())
    assert "Thresholds       1 at random" in str(extra.summary())
    assert "Thresholds" not in str(greedy.summary())
    assert (np.diff(extra.forest.start) <= 1).all()


def test_mixed_with_greedy_ones_the_number_of_cuts_is_asked_for():
    data = odrf.load_data("wine")
    mixed = {"extra": 3, "logistic": 1}
    with pytest.raises(InputError, match='n_thresholds="auto": the families'):
        odrf.odrf("cultivar ~ .", data, projection=mixed, n_trees=2)
    fit = odrf.odrf("cultivar ~ .", data, projection=mixed, n_thresholds=2, n_trees=2, seed=1)
    assert (fit.control.n_thresholds, fit.control.mixture.n_singles) == (2, 7)


def test_n_projections_do_not_go_with_it():
    with pytest.raises(InputError, match='n_projections=2 does not go with projection="extra"'):
        odrf.odrf(
            "cultivar ~ .", odrf.load_data("wine"), projection="extra", n_projections=2, n_trees=2
        )
