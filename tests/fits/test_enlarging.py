"""A forest with more trees is the forest that has had them from the start."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from forests import same_bits
from odrf import InputError

quick = settings(deadline=None, max_examples=8)
REGRESSION, CLASSES = "y ~ a + b + f", "c ~ a + b + f"


@pytest.fixture(scope="module")
def long_table(table):
    """Rows enough for pilots that grow with the forest."""
    rng = np.random.default_rng(5)
    rows = pd.concat([table] * 5, ignore_index=True)
    return rows.assign(a=rows["a"] + rng.normal(size=600), y=rows["y"] + rng.normal(size=600))


def require_same(larger, at_once):
    assert same_bits(larger.forest, at_once.forest)
    assert larger.fit.streams.tobytes() == at_once.fit.streams.tobytes()
    assert larger.control == at_once.control
    assert larger.fittedvalues.equals(at_once.fittedvalues)
    if larger.control.resample != "none":
        assert larger.error_path.equals(at_once.error_path)
        assert larger.oob_prediction.equals(at_once.oob_prediction)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"honest": True},
        {"resample": "subsample", "sample_fraction": lambda n: n**-0.1},
        {"resample": "none"},
        {"projection": "rotation"},
        {"projection": {"axis": 1, "sparse": 2}, "criterion": "entropy"},
        {"weights": np.arange(120) % 3, "max_leaves": lambda n: n**0.5},
        {"alpha": 0.02, "pruning": "growth"},
        {"alpha": "oob"},
        {"alpha": "1/sqrt(n)"},
    ],
    ids=lambda options: ", ".join(options) or "default",
)
def test_grown_on_is_grown_at_once(table, options):
    at_once = odrf.odrf(CLASSES, table, n_trees=9, blend=False, seed=2, **options)
    first = odrf.odrf(CLASSES, table, n_trees=4, blend=False, seed=2, **options)
    before = first.fittedvalues
    larger = first.grow(5)
    require_same(larger, at_once)
    assert first.forest.n_trees == 4
    assert first.fittedvalues.equals(before)
    assert (larger.parent is None) == (at_once.parent is None)
    if at_once.parent is not None:
        assert same_bits(larger.parent.forest, at_once.parent.forest)
        assert (larger.n_leaves < larger.parent.n_leaves).any()
    assert larger.call == f"{first.call}.grow(5)"
    assert larger.summary().call == larger.call
    assert "of 9 trees" in repr(larger)


@quick
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(0, 9))
def test_steps_do_not_matter(table, B, k, m, seed):
    start = odrf.odrf(REGRESSION, table, n_trees=B, seed=seed, n_jobs=1)
    at_once = odrf.odrf(REGRESSION, table, n_trees=B + k + m, seed=seed, n_jobs=1)
    require_same(start.grow(k).grow(m), at_once)
    require_same(start.grow(k + m), at_once)


def test_a_forest_of_one_tree_is_of_trees_that_try_fewer_predictors(table):
    options = {"projection": "axis", "seed": 1}
    start = odrf.odrf(REGRESSION, table, n_trees=1, **options)
    at_once = odrf.odrf(REGRESSION, table, n_trees=3, **options)
    assert start.control.mixture != at_once.control.mixture
    require_same(start.grow(2), at_once)


def test_what_only_a_tree_alone_can_do_is_refused(table):
    tree = odrf.odrf(REGRESSION, table, n_trees=1, resample="none", max_leaves="sqrt", seed=1)
    with pytest.raises(InputError, match="max_leaves='sqrt'"):
        tree.grow(1)


def test_a_forest_of_one_kind_stays_so(table):
    at_once = odrf.odrf(REGRESSION, table, n_trees=100, blend=False, seed=1)
    larger = odrf.odrf(REGRESSION, table, n_trees=50, seed=1).grow(50)
    require_same(larger, at_once)
    with pytest.raises(InputError, match="all trees are of one kind"):
        larger.kinds  # noqa: B018
    again = larger.select_variables(drop=0.5).best("min")
    with pytest.raises(InputError, match="all trees are of one kind"):
        again.kinds  # noqa: B018


@pytest.mark.parametrize(("B", "k"), [(20, 3), (20, 8), (25, 40)])
@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
def test_blends(long_table, formula, B, k):
    options = {"blend": True, "seed": 4, "n_jobs": 1}
    at_once = odrf.odrf(formula, long_table, n_trees=B + k, **options)
    larger = odrf.odrf(formula, long_table, n_trees=B, **options).grow(k)
    require_same(larger, at_once)
    assert larger.kinds.equals(at_once.kinds)
    assert larger.fit.kinds == at_once.fit.kinds
    assert larger.fit.request == at_once.fit.request


def test_a_blend_keeps_its_trees_where_its_pilots_are_the_same(long_table, monkeypatch):
    start = odrf.odrf(REGRESSION, long_table, n_trees=20, blend=True, seed=4)
    evaluated = []
    monkeypatch.setattr("odrf.fits.growing.judge_of_pilots", lambda *_: evaluated.append)
    larger = start.grow(3)
    assert evaluated == []
    assert larger.forest.n_trees == 23


def test_threads_change_no_bit(table):
    start = odrf.odrf(CLASSES, table, n_trees=5, seed=1, n_jobs=2)
    one, three = start.grow(7, n_jobs=1), start.grow(7, n_jobs=3)
    require_same(one, three)
    assert one.control.n_jobs == 2


def test_after_it_has_been_on_disk(table, tmp_path):
    start = odrf.odrf(
        CLASSES, table, n_trees=5, alpha=lambda n: 1 / n, seed=np.random.default_rng(1)
    )
    start.save(tmp_path / "fit.odrf")
    require_same(odrf.load(tmp_path / "fit.odrf").grow(4), start.grow(4))


def test_trees_that_the_user_pruned_are_not_joined_by_others(number_forest):
    for pruned in (number_forest.prune(0.02), number_forest.prune(rule="oob")):
        with pytest.raises(InputError, match="use its parent"):
            pruned.grow(2)
        assert pruned.parent.grow(2).prune(0.02).forest.n_trees == 14


def test_a_forest_pruned_by_its_option_and_again_by_the_user(table):
    pruned = odrf.odrf(CLASSES, table, n_trees=5, alpha=0.01, seed=1).prune(0.05)
    with pytest.raises(InputError, match="use its parent"):
        pruned.grow(2)
    assert pruned.parent.grow(2).control.alpha == 0.01


def test_unpruned_trees_of_a_selection_stay_unpruned(table):
    forest = odrf.odrf(CLASSES, table, n_trees=10, alpha=0.05, seed=1)
    selected = forest.select_variables(drop=0.5).best("min")
    assert selected.parent is None
    larger = selected.grow(3)
    assert same_bits(larger.tree(4).forest, selected.tree(4).forest)
    assert larger.parent is None


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True])
def test_how_many_is_a_whole_number(number_forest, k):
    with pytest.raises(InputError, match=r"k=.*: use a whole number of at least 1"):
        number_forest.grow(k)


def test_progress_is_shown_on_request(number_forest, capsys):
    number_forest.grow(3)
    assert capsys.readouterr().err == ""
    number_forest.grow(3, progress=True)
    assert "3/3" in capsys.readouterr().err


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
def test_guided_forests(table, formula):
    options = {"subspace": 2, "seed": 3}
    at_once = odrf.graf(formula, table, n_trees=9, **options)
    start = odrf.graf(formula, table, n_trees=4, n_jobs=1, **options)
    larger = start.grow(2).grow(3, n_jobs=2)
    assert same_bits(larger.guided, at_once.guided)
    assert larger.fit.streams.tobytes() == at_once.fit.streams.tobytes()
    assert larger.predict().equals(at_once.predict())
    assert larger.sensitivity().table.equals(at_once.sensitivity().table)
    assert larger.call == f"{start.call}.grow(2).grow(3)"
    assert larger.control.n_trees == 9
