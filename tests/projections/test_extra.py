"""Extremely randomised trees: single predictors, one random cut each."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.errors import InputError
from odrf.projections import ExtraTrees
from odrf.projections.base import Table


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
