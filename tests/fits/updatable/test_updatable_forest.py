"""Fits that rows come to one by one, and that keep a sample of a stream."""

from __future__ import annotations

import threading
import warnings
import weakref

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from forests import same_bits
from odrf import InputError, simulate
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.updatable import updatable_tree
from odrf.engine.updatable.updatable_tree import UpdatableTree
from odrf.fits import updating
from odrf.fits.updatable.updatable_forest import UpdatableForest, has_updatable_trees
from reference.honesty import filled
from reference.reservoir import kept
from resampled import all_counts

REGRESSION, CLASSES = "y ~ a + b + f", "c ~ a + b + f"


@pytest.fixture(scope="module")
def rows():
    """400 rows with a number, three classes, a factor and two numeric predictors."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"a": rng.normal(size=400), "b": rng.normal(size=400)})
    data["f"] = rng.choice(["x", "y", "z"], 400)
    score = data["a"] + data["b"] + (data["f"] == "x")
    data["y"] = score + rng.normal(size=400) / 4
    data["c"] = np.select([score < 0, score < 1], ["low", "mid"], "top")
    return data


def forest(data, formula=REGRESSION, **options):
    return odrf.odrf(formula, data, **{"n_trees": 4, "seed": 1, "n_jobs": 1} | options)


def one_by_one(fit, data, **options):
    for i in range(len(data)):
        fit = fit.update(data[i : i + 1], **options)
    return fit


def require_numbers_of_rows(fit):
    """The nodes of each tree say what the rows say that it drew, and that are there."""
    own = fit.fit
    counts, options = all_counts(own.draws).astype(np.int64), own.control.settings
    for b in range(len(counts)):
        tree = own.forest.tree(b)
        expected = filled(
            tree, own.data.X, own.data.y, own.data.weights, counts[b], options.criterion,
            options.n_classes,
        )  # fmt: skip
        nodes = [expected[i] for i in range(tree.n_nodes)]
        assert tree.count.tolist() == [node.count for node in nodes]
        for name in ("weight", "value", "impurity"):
            values = [getattr(node, name) for node in nodes]
            np.testing.assert_allclose(getattr(tree, name), values, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
def test_one_by_one_the_draws_and_the_nodes_are_those_of_all_rows(rows, formula):
    first = forest(rows[:300], formula)
    fit = one_by_one(first, rows[300:320])
    assert has_updatable_trees(fit.fit)
    require_numbers_of_rows(fit)
    at_once = first.update(rows[300:400]).fit
    assert all_counts(fit.fit.draws).tolist() == all_counts(at_once.draws)[:, :320].tolist()
    assert fit.fit.data.X.tolist() == at_once.data.X[:, :320].tolist()
    assert fit.fit.data.index.tolist() == list(range(320))
    assert fit.call == f"{first.call}.update(…, 20 times, 20 rows)"
    assert fit.drift_path().table["rows"].tolist() == [1] * 20
    assert (fit.changes["leaves"] == fit.n_leaves).all()


def test_splits_of_single_columns_are_those_that_all_nodes_give(rows, monkeypatch):
    """Where no direction is drawn, the order of the rows of a leaf does not matter."""
    options = {"projection": "axis", "n_projections": "auto"}
    first = odrf.odt(REGRESSION, rows[:300], alpha=None, seed=1, **options)
    quick = one_by_one(first, rows[300:330])
    monkeypatch.setattr(updating, "FEW", 10**9)
    slow = one_by_one(first, rows[300:330])
    assert not has_updatable_trees(slow.fit)
    for name in ("left", "threshold", "start", "index", "coef", "order", "count"):
        one, other = getattr(quick.forest, name), getattr(slow.forest, name)
        np.testing.assert_array_equal(one, other, err_msg=name)
    for name in ("value", "weight", "impurity", "gain"):
        one, other = getattr(quick.forest, name), getattr(slow.forest, name)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12, err_msg=name)
    assert quick.fit.n_at_split.tolist() == slow.fit.n_at_split.tolist()
    path = quick.drift_path().table["error"]
    np.testing.assert_allclose(path, slow.drift_path().table["error"], rtol=1e-9)


@pytest.mark.parametrize("keep", [None, 250])
def test_earlier_fits_say_what_they_said(rows, keep):
    fits, said = [forest(rows[:300])], []
    for begin in range(300, 318, 3):
        fits.append(fits[-1].update(rows[begin : begin + 3], keep=keep, revise=100))
        said.append(fits[-1].predict(rows).to_numpy())
    unread = forest(rows[:300])
    chain = [unread := unread.update(rows[i : i + 3], keep=keep, revise=100)
             for i in range(300, 318, 3)]  # fmt: skip
    for fit, late, expected in zip(fits[1:], chain, said, strict=True):
        assert late.predict(rows).to_numpy().tolist() == expected.tolist()
        assert same_bits(fit.forest, late.forest)
        assert fit.fit.n_at_split.tolist() == late.fit.n_at_split.tolist()
        assert fit.fit.data.y.tolist() == late.fit.data.y.tolist()
        assert all_counts(fit.fit.draws).tolist() == all_counts(late.fit.draws).tolist()
        assert fit.nobs == late.nobs
    again = chain[2].update(rows[309:312], keep=keep, revise=100)  # from a fit that is not the last
    assert same_bits(again.forest, chain[3].forest)


def test_an_interrupted_update_changes_nothing(rows, monkeypatch):
    fit = one_by_one(forest(rows[:300]), rows[300:303])
    said, calls, updated = fit.predict(rows).tolist(), [], UpdatableTree.updated
    expected = forest(rows[:300])
    expected = one_by_one(expected, rows[300:306])

    def interrupted(self, *args):
        calls.append(1)
        changed = updated(self, *args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return changed

    fit = one_by_one(forest(rows[:300]), rows[300:303])
    with monkeypatch.context() as patch:
        patch.setattr(UpdatableTree, "updated", interrupted)
        with pytest.raises(KeyboardInterrupt):
            fit.update(rows[303:304])
    assert len(calls) == 3 and fit.predict(rows).tolist() == said and fit.nobs == 303
    assert same_bits(one_by_one(fit, rows[303:306]).forest, expected.forest)


def test_threads_that_nobody_waits_for_change_no_earlier_fit(rows, monkeypatch):
    """An update is interrupted while a thread looks for the nodes that it is about to change."""
    said = one_by_one(forest(rows[:300]), rows[300:302]).predict(rows).tolist()
    fit = one_by_one(forest(rows[:300]), rows[300:302])
    trees = fit.fit.forest.__dict__["_version"].updatable.trees
    looking, released = threading.Event(), threading.Event()
    reach, update = updatable_tree.reach, UpdatableTree.updated

    def reached(*args):
        looking.set()
        assert released.wait(20)
        return reach(*args)

    def updated(self, *args):
        if self is trees[0]:
            assert looking.wait(20)
            raise KeyboardInterrupt
        return update(self, *args)

    monkeypatch.setattr(updatable_tree, "reach", reached)
    monkeypatch.setattr(UpdatableTree, "updated", updated)
    with pytest.raises(KeyboardInterrupt):
        fit.update(rows[302:], keep=200, n_jobs=2)
    released.set()
    for thread in threading.enumerate():
        if thread.name == "odrf worker":
            thread.join(20)
    assert fit.predict(rows).tolist() == said


def test_two_threads_update_the_same_fit(rows, monkeypatch):
    """The second one begins before the first one has changed a tree; and the fit is read, too."""
    fit = one_by_one(forest(rows[:300]), rows[300:302])
    said = fit.predict(rows).tolist()
    expected = [fit.update(part).predict(rows).tolist() for part in (rows[302:305], rows[305:310])]
    fit = one_by_one(forest(rows[:300]), rows[300:302])
    predicted, began, found = UpdatableForest.predicted, threading.Event(), {}

    def slowly_predicted(self, cells):
        if not began.is_set():
            began.set()
            threading.Event().wait(0.3)
        return predicted(self, cells)

    def run(name, part):
        found[name] = fit.predict(rows) if part is None else fit.update(part).predict(rows)

    monkeypatch.setattr(UpdatableForest, "predicted", slowly_predicted)
    parts = {"first": rows[302:305], "second": rows[305:310], "read": None}
    threads = [threading.Thread(target=run, args=item) for item in parts.items()]
    threads[0].start()
    assert began.wait(20)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(20)
    found = {name: each.tolist() for name, each in found.items()}
    assert found == {"first": expected[0], "second": expected[1], "read": said}
    assert fit.predict(rows).tolist() == said and fit.nobs == 302


def test_what_no_fit_has_is_free(rows):
    fit = one_by_one(forest(rows[:300]), rows[300:302])
    version = weakref.ref(fit.forest.__dict__["_version"])
    fit = fit.update(rows[302:303])
    assert version() is None


def test_files_and_threads_change_no_bit(rows, tmp_path):
    for keep in (None, 200):
        fit = one_by_one(forest(rows[:300]), rows[300:303], keep=keep)
        fit.save(tmp_path / "fit.odrf")
        loaded = odrf.load(tmp_path / "fit.odrf")
        assert loaded.oob_error == fit.oob_error
        one, other, three = (
            each.update(rows[303:400], keep=keep, n_jobs=jobs)
            for each, jobs in ((fit, 1), (loaded, 1), (fit, 3))
        )
        assert same_bits(one.forest, other.forest) and same_bits(one.forest, three.forest)
        assert one.drift_path().table.equals(other.drift_path().table)
        assert all_counts(one.fit.draws).tolist() == all_counts(other.fit.draws).tolist()
        assert other.call == one.call


@settings(max_examples=6, deadline=None)
@given(st.lists(st.integers(1, 80), max_size=5), st.sampled_from([REGRESSION, CLASSES]))
def test_batches_of_any_size_keep_the_same_sample(rows, sizes, formula):
    first, fit, end = forest(rows[:150], formula), forest(rows[:150], formula), 150
    for size in sizes:
        if end + size < 400:
            fit, end = fit.update(rows[end : end + size], keep=120), end + size
    fit = fit.update(rows[end:], keep=120)
    at_once = first.update(rows[150:], keep=120)
    assert fit.fit.data.index.tolist() == kept(1, 400, 120) == fit.fit.stream.numbers.tolist()
    for name in ("counts", "states", "numbers"):
        one, other = (getattr(each.fit.stream, name) for each in (fit, at_once))
        assert one.tolist() == other.tolist()
    assert (fit.nobs, fit.fit.stream.seen) == (120, 400)
    everything = all_counts(first.update(rows[150:]).fit.draws)
    assert fit.fit.stream.counts.tolist() == everything[:, fit.fit.stream.numbers].tolist()
    require_numbers_of_rows(fit)
    assert fit.drift_path().table["rows"].sum() == 250


def test_what_asks_which_rows_were_drawn(rows):
    fit = forest(rows[:200], n_trees=40).update(rows[200:], keep=150)
    assert fit.nobs == 150 and np.isfinite(fit.oob_error)
    unseen = fit.fit.stream.counts == 0
    by_tree = np.array([fit.tree(i).predict().to_numpy() for i in range(40)])
    expected = (by_tree * unseen).sum(axis=0) / unseen.sum(axis=0)
    np.testing.assert_allclose(fit.oob_prediction, expected)
    assert fit.importance("permutation")["importance"].notna().all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert (fit.predict(interval="confidence").dropna()["conf_low"]).notna().all()
    assert fit.prune(rule="oob").n_leaves.sum() < fit.n_leaves.sum()
    assert "150" in str(fit.summary())
    smaller = fit.update(rows[:5], keep=100)
    assert smaller.nobs == 100
    assert smaller.update(rows[5:9]).nobs == 100


def test_a_sample_without_first_rows_has_intervals(rows):
    fits = [forest(rows[:20], n_trees=30, seed=seed).update(rows[20:], keep=12) for seed in (2, 4)]
    assert 0 in [fit.control.batches[0].begin for fit in fits]
    for fit in fits:
        assert fit.predict(rows[:3], interval="confidence")["std_error"].gt(0).all()
        assert fit.update(rows[:4]).nobs == 12
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert np.isfinite(fit.oob_error)


def test_blends_and_pruned_trees_keep_samples(rows):
    blend = forest(rows[:200], n_trees=24, blend=True).update(rows[200:], keep=150)
    assert blend.nobs == 150 and blend.kinds["trees"].sum() == 24
    require_numbers_of_rows(blend)
    tree = odrf.odt(REGRESSION, rows[:200], alpha="1se", seed=1)
    smaller = tree.update(rows[200:300], keep=150, alpha="same")
    assert smaller.nobs == 150 and smaller.control.alpha == tree.control.alpha
    assert smaller.n_leaves < smaller.parent.n_leaves
    assert smaller.update(rows[300:301], alpha="same").drift_path().table["rows"].sum() == 101


def test_a_change_of_the_truth_is_seen_and_followed():
    data = simulate.friedman1().sample(3000, seed=1)
    data.loc[1500:, "y"] = -data.loc[1500:, "y"]
    fit = odrf.odrf("y ~ .", data[:300], n_trees=10, blend=False, seed=1, n_jobs=1)
    for begin in range(300, 3000, 300):
        fit = fit.update(data[begin : begin + 300], keep=300)
    path = fit.drift_path().table
    assert path["z"].iloc[4] > 3 and path["error"].iloc[-1] < path["error"].iloc[4]
    assert fit.drift_path(rows=600).table["rows"].tolist() == [600, 600, 600, 600, 300]


def test_what_does_not_go_with_a_sample(rows):
    fit = forest(rows[:200]).update(rows[200:300], keep=150)
    for call, words in [
        (lambda: fit.update(rows[300:], keep=160), "do not come back"),
        (lambda: fit.update(rows[300:], keep=5), "keep=5: use a whole number of at least 10"),
        (lambda: forest(rows[:99], honest=True).update(rows[99:], keep=50), "honest=True"),
        (lambda: forest(rows[:99], groups="f").update(rows[99:], keep=50), "groups="),
        (lambda: fit.combine(forest(rows[:200], seed=2)), "keep="),
        (lambda: fit.grow(2), "grow\\(\\) the forest first"),
        (lambda: fit.tree(0).drift_path(), "needs an updated fit"),
    ]:
        with pytest.raises(InputError, match=words):
            call()


def test_missing_weights_and_cells(rows):
    gaps = rows.assign(w=1.0)
    gaps.loc[310, "a"], gaps.loc[311, "y"] = np.nan, np.nan
    weighted = forest(gaps[:300], weights="w")
    fit = one_by_one(weighted, gaps[300:311].assign(w=[0, 2] + [1] * 9))
    assert fit.fit.data.weights[300:303].tolist() == [2, 1, 1]  # none has the weight 0
    require_numbers_of_rows(fit)
    both = fit.update(gaps[310:313])
    assert both.fit.data.n_dropped == 1 and both.nobs == 312
    with pytest.raises(InputError, match="give weights="):
        one_by_one(forest(rows[:300]), rows[300:301], weights=[2.0]).update(rows[301:302])


def test_the_rows_and_nodes_that_left_take_no_room(rows, monkeypatch):
    fit = forest(rows[:300])
    made = []
    init = UpdatableForest.__init__
    monkeypatch.setattr(
        UpdatableForest, "__init__", lambda self, fit: made.append(1) or init(self, fit)
    )
    for _ in range(4):
        fit = fit.update(rows, keep=40)
        version = fit.forest.__dict__["_version"]
        assert version.updatable.rows.used <= 300 + 400 * 2
    assert fit.nobs == 40 and 1 < len(made) <= 4
    assert isinstance(fit.forest, Forest)
