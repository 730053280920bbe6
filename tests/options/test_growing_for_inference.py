"""Forests that are grown for standard errors: what is chosen, what stays, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf import InputError, load, odrf
from resampled import all_counts

RNG = np.random.default_rng(3)
DATA = pd.DataFrame(RNG.normal(size=(80, 3)), columns=["a", "b", "c"])
DATA["y"] = DATA["a"] + RNG.normal(size=80)


def test_trees_are_of_one_kind_and_draw_few_of_the_rows():
    fit = odrf("y ~ .", DATA, n_trees=120, inference=True, seed=1).fit
    assert fit.control.inference and fit.blend is None
    assert all(counts.sum() == 24 and counts.max() == 1 for counts in all_counts(fit.draws))


def test_it_is_the_forest_with_these_options():
    short = odrf("y ~ .", DATA, n_trees=20, inference=True, seed=1)
    options = {"blend": False, "resample": "subsample", "sample_fraction": 0.3}
    long = odrf("y ~ .", DATA, n_trees=20, seed=1, **options)
    np.testing.assert_array_equal(short.fittedvalues, long.fittedvalues)
    assert not long.fit.control.inference


def test_other_options_stay():
    options = {"honest": True, "sample_fraction": 0.4, "min_leaf": 4}
    control = odrf("y ~ .", DATA, n_trees=10, inference=True, seed=1, **options).fit.control
    assert control.honest and control.sample_fraction == 0.4 and control.min_leaf == 4


@pytest.mark.parametrize(
    "option",
    [
        {"resample": "bootstrap"},
        {"blend": True},
        {"blend": np.bool_(True)},
        {"resample": np.ones(2)},
    ],
)
def test_what_contradicts_it_is_refused(option):
    name = next(iter(option))
    with pytest.raises(InputError, match=f"^{name}=.* with inference=True.*leave out one"):
        odrf("y ~ .", DATA, inference=True, **option)


def test_the_same_said_twice_is_fine():
    said = {"resample": "subsample", "blend": np.bool_(False)}
    fit = odrf("y ~ .", DATA, n_trees=5, inference=True, seed=1, **said).fit
    assert fit.control.resample == "subsample"


def test_it_is_kept_by_more_trees_and_in_files(tmp_path):
    forest = odrf("y ~ .", DATA, n_trees=5, inference=True, seed=1)
    assert forest.grow(5).fit.control.inference
    forest.save(tmp_path / "forest.odrf")
    assert load(tmp_path / "forest.odrf").fit.control.inference
    assert "grown for standard errors" in str(forest.summary())
