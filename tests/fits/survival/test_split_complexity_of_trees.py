"""Trees for times to an event, pruned by the log-rank statistics of their splits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.pruning import grown_without
from odrf.fits.responses import folds_asked
from reference.exponential import rows_of_nodes
from reference.survival import Rows, log_rank, statistic

FORMULA = "Surv(time, event) ~ ."


def rows(n=160, seed=3, causes=1):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.random((n, 3)), columns=["a", "b", "c"])
    time = rng.exponential(1 / np.exp(3 * x["a"] - 2 * (x["b"] > 0.6))) + 0.01
    event = np.where(rng.random(n) < 0.75, rng.integers(1, causes + 1, n), 0)
    if causes == 1:
        return x.assign(time=time, event=event)
    names = pd.Categorical.from_codes(event, ["censored", "one", "other"])
    return x.assign(time=time, event=names)


@pytest.fixture(scope="module")
def tree():
    return odrf.odt(FORMULA, rows(), alpha=None, max_leaves=9, seed=1)


def of_groups(time, event, left, weights=None):
    """The log-rank statistic of two groups of rows."""
    weights = np.ones(len(time)) if weights is None else weights
    rows = Rows(time.tolist(), [int(e) for e in event], weights.tolist(), [0.0] * len(time))
    return statistic(*log_rank(rows, left.tolist(), [0] * len(time)))


def below(nodes, node):
    of = nodes.loc[node]
    if of["leaf"]:
        return [node]
    return below(nodes, of["left"]) + below(nodes, of["right"])


@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_show_the_statistic_of_each_split(weighted):
    data = rows()
    weights = np.random.default_rng(1).integers(1, 5, len(data)) * 1.0
    given = weights if weighted else None
    tree = odrf.odt(FORMULA, data, weights=given, alpha=None, max_leaves=6, seed=1)
    leaf, nodes = tree.predict(type="leaf")[0].to_numpy(), tree.nodes
    assert nodes["log_rank"].isna().equals(nodes["leaf"])
    for node in nodes.index[~nodes["leaf"]]:
        left = np.isin(leaf, below(nodes, nodes["left"][node]))
        here = np.isin(leaf, below(nodes, node))
        time, event = data["time"].to_numpy()[here], data["event"].to_numpy()[here]
        counts = weights[here] if weighted else None
        expected = of_groups(time, event, left[here], counts)
        assert nodes["log_rank"][node] == pytest.approx(expected)


def test_the_path_takes_the_subtrees_by_their_statistics(tree):
    table = tree.pruning_path(loss="log_rank", cv=None).table
    statistics = tree.nodes["log_rank"]
    assert table["error"].iloc[-1] == pytest.approx(statistics.sum())
    for alpha, leaves, error in table[["alpha", "leaves", "error"]].to_numpy():
        small = tree.prune(alpha=alpha, loss="log_rank")
        assert small.n_leaves[0] == leaves
        kept = small.nodes["log_rank"].sum()
        assert kept == pytest.approx(statistics.sum() - error)
        # what is told of the nodes stays
        columns = ["weight", "impurity", "relative_hazard"]
        assert small.nodes[columns].equals(tree.nodes.loc[small.nodes.index, columns])


def test_a_tree_is_pruned_by_each_choice(tree):
    path = tree.pruning_path(loss="log_rank", cv=4)
    assert path.loss == "log_rank"
    assert path.best("min").nodes.equals(tree.prune(rule="min", path=path).nodes)
    assert tree.prune(rule="1se", loss="log_rank").path.is_evaluated
    assert tree.prune(leaves=3, loss="log_rank").n_leaves[0] <= 3
    small = tree.prune(alpha=1e9, loss="log_rank")
    assert small.n_leaves[0] == 1
    assert small.fit.call.endswith(".prune(alpha=1000000000.0, loss='log_rank')")
    # alpha= of odt() is on another scale
    assert small.fit.control.alpha is None
    assert "log-rank" in str(path.summary())
    assert "log-rank" in tree.pruning_path(loss="log_rank", cv=None).plot().get_ylabel()


@pytest.mark.parametrize("loss", ["error", "log_rank"])
def test_held_out_rows_judge_by_the_deviance(tree, loss):
    path = tree.pruning_path(loss=loss, newdata=rows())
    for k, error in enumerate(path.table["xerror"]):
        nodes = path.tree(k).nodes
        leaves = nodes[nodes["leaf"]]
        total = (leaves["weight"] * leaves["impurity"]).sum()
        root = (nodes["weight"] * nodes["impurity"])[0]
        assert error == pytest.approx(total / root)


@pytest.mark.parametrize("causes", [1, 2])
def test_statistics_of_folds_are_as_of_all_rows(causes):
    data, fold = rows(causes=causes), np.arange(160) % 4
    tree = odrf.odt(FORMULA, data, alpha=None, max_leaves=6, seed=1)
    _, grown = grown_without(tree.fit, folds_asked(tree.fit, fold, 1, ""), 1, False, "log_rank")
    time, event = tree.fit.times.time, tree.fit.times.event
    for f, (of_fold, _) in enumerate(grown):
        leaf, total = leaf_nodes(of_fold, tree.fit.data.X, 1)[:, 0], 0.0
        branches = rows_of_nodes(of_fold.left, 0, leaf)
        for node in np.flatnonzero(of_fold.is_split()):
            here = branches[node][fold[branches[node]] != f]
            left = np.isin(here, branches[of_fold.left[node]])
            for cause in range(1, causes + 1):
                total += of_groups(time[here], event[here] == cause, left)
        assert of_fold.impurity[0] == pytest.approx(total * 160 / 120)


def test_trees_of_folds_with_causes_are_pruned_by_the_deviance():
    data = rows(300, causes=2)
    tree = odrf.odt(FORMULA, data, alpha=None, max_leaves=8, seed=1)
    path = tree.pruning_path(cv=3, seed=1).table
    # of several values of a node, those of classes would make other trees of the folds
    by_deviance = tree.pruning_path(cv=3, seed=1, loss="impurity").table
    pd.testing.assert_frame_equal(path, by_deviance)


def test_losses_that_do_not_fit_are_refused(tree):
    path = tree.pruning_path(loss="log_rank", cv=None)
    with pytest.raises(odrf.InputError, match="is not that of path="):
        tree.prune(leaves=2, loss="error", path=path)
    with pytest.raises(odrf.InputError, match="loss='log-rank'"):
        tree.prune(leaves=2, loss="log-rank")
    other = odrf.odt("a ~ b + c", rows(), alpha=None, seed=1)
    for call in (other.pruning_path, lambda loss: other.prune(leaves=1, loss=loss)):
        with pytest.raises(odrf.InputError, match="times to an event"):
            call(loss="log_rank")


def test_saved_trees_keep_their_statistics(tree, tmp_path):
    tree.save(tmp_path / "tree")
    again = odrf.load(tmp_path / "tree")
    assert again.nodes.equals(tree.nodes)
    small, same = (one.prune(alpha=20, loss="log_rank") for one in (tree, again))
    assert 1 < small.n_leaves[0] < tree.n_leaves[0] and small.nodes.equals(same.nodes)
    small.save(tmp_path / "small")
    kept = odrf.load(tmp_path / "small")
    assert kept.nodes.equals(small.nodes) and kept.path.loss == "log_rank"
    assert kept.parent.nodes.equals(tree.nodes)


def test_trees_of_classes_are_pruned_by_the_loss_that_is_given():
    data = rows(120).assign(kind=lambda of: np.where(of["a"] + of["c"] > 1, "u", "v"))
    tree = odrf.odt("kind ~ a + b", data, alpha=None, seed=1)
    small = tree.prune(alpha=0.05, loss="impurity")
    path = tree.pruning_path(loss="impurity", cv=None)
    assert small.path.loss == "impurity"
    assert small.nodes.equals(tree.prune(alpha=0.05, path=path).nodes)
