"""The kinds of trees of a blended forest, through the face."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError
from odrf.kinds import kinds_of_trees


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.random((250, 4)), columns=list("abcd"))
    frame["y"] = frame.a + 2 * frame.b + rng.normal(size=250) / 4
    frame["side"] = np.where(frame.y > 1.5, "over", "below")
    return frame


@pytest.fixture(scope="module")
def fit(data):
    return odrf.odrf("side ~ a + b + c + d", data, n_trees=40, blend=True, seed=1)


def test_the_kinds_have_a_table(fit):
    assert fit.kinds.index.tolist() == ["best", "random", "extra", "smooth"]
    assert fit.kinds.trees.sum() == fit.forest.n_trees == 40
    assert fit.kinds.weight.sum() == pytest.approx(1.0)
    assert fit.kinds.cuts.tolist() == ["all", "3", "1", "all"]
    assert fit.kinds.min_leaf.tolist() == [2, 1, 1, 10]
    assert fit.kinds.singles.tolist() == [4, 4, 2, 4]
    assert fit.kinds.directions.tolist() == [5, 5, 1, 5]
    assert (fit.kinds.pilot_error > 0).all()


def test_the_summary_tells_the_kinds(fit):
    text = str(fit.summary())
    assert "Kinds of trees" in text
    assert "subsample of 80% of the rows" in text
    assert "blend=True" in text


def test_a_tree_keeps_the_options_of_its_kind(fit):
    for i in (0, 7, 39):
        kind = fit.fit.blend.of_tree[i]
        tree = fit.tree(i)
        assert tree.control.min_leaf == fit.kinds.min_leaf.iloc[kind]
        assert tree.fit.blend is None
        assert tree.forest.threshold.tobytes() == fit.forest.tree(i).threshold.tobytes()


def test_it_predicts_prunes_and_pickles_as_any_forest(fit, data):
    again = pickle.loads(pickle.dumps(fit))
    assert again.predict(data).equals(fit.predict(data))
    assert again.kinds.equals(fit.kinds)
    assert fit.oob_error < 0.25
    assert fit.prune(0.01).n_leaves.mean() < fit.n_leaves.mean()


def test_a_seed_repeats_it_for_any_number_of_threads(data):
    one, other = (
        odrf.odrf("y ~ a + b", data, n_trees=25, blend=True, seed=9, n_jobs=jobs) for jobs in (1, 3)
    )
    assert one.predict(data).equals(other.predict(data))


def test_what_is_given_holds_for_all_kinds(data):
    fit = odrf.odrf("y ~ a + b", data, n_trees=20, blend=True, min_leaf=7, seed=1)
    assert fit.kinds.min_leaf.unique().tolist() == [7]
    assert fit.kinds.index.tolist() == ["best", "random", "extra"]


def test_the_sample_is_one_for_all_kinds():
    options = {"resample": "auto", "sample_fraction": "auto", "min_leaf": 2}
    for kind in kinds_of_trees(options, set(), 9, True).values():
        assert (kind["resample"], kind["sample_fraction"]) == ("subsample", 0.8)
    given = options | {"resample": "bootstrap"}
    for kind in kinds_of_trees(given, {"resample"}, 9, True).values():
        assert (kind["resample"], kind["sample_fraction"]) == ("bootstrap", "auto")


def test_trees_of_one_kind_have_no_table(data):
    with pytest.raises(InputError, match="blend=True"):
        _ = odrf.odrf("y ~ a + b", data, n_trees=3, seed=1).kinds


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 19}, "n_trees=19 with blend=True: use at least 20"),
        ({"n_trees": 30, "resample": "none"}, 'resample="none" with blend=True'),
    ],
)
def test_a_blend_needs_trees_and_unseen_rows(data, options, message):
    with pytest.raises(InputError, match=message):
        odrf.odrf("y ~ a + b", data, blend=True, **options)
