"""Exponential survival trees, their pruning and their scale against R (``exponential_trees.R``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odrf.engine.directions.candidates import PLAIN, feature_groups_of
from odrf.engine.splits.impurity import POISSON, SQUARED_ERROR
from odrf.engine.trees.routing import leaf_nodes
from odrf.pruning.complexity import critical_alphas, nested_subtrees, pruned
from odrf.pruning.event_deviance import node_events, with_event_deviance, with_shrunken_rates
from odrf.statistics.survival.observation import exponential_scale
from problems import CART, Problem

FOLDER = Path(__file__).parent
ROWS, NODES, PATHS = (pd.read_csv(FOLDER / f"{name}.csv") for name in ("rows", "nodes", "paths"))
SHRINK = [0.0, 1.0, 2.0]
tables = pytest.mark.parametrize("table", ["smooth", "monthly"])
shrinks = pytest.mark.parametrize("shrink", SHRINK)


def of_table(data, table, shrink=None):
    chosen = data[data["table"] == table]
    return chosen if shrink is None else chosen[chosen["shrink"] == shrink]


def exposure_of(rows):
    """Exposures as rpart has them: case weights have no part in the scale."""
    time = rows["time"].to_numpy(float)
    return exponential_scale(time, rows["event"].to_numpy()).exposure(time)


def grown(table, response=None):
    """The rows, their exposures, a tree of all predictors, and its columns of data."""
    rows = of_table(ROWS, table)
    exposure = exposure_of(rows)
    weights, rate = rows["weight"].to_numpy() * exposure, rows["event"].to_numpy() / exposure
    X = rows[["V1", "V2", "V3", "V4"]].to_numpy(np.float32).T.copy()
    groups = feature_groups_of(np.arange(5), np.full(4, PLAIN, dtype=np.int8))
    recipe = CART._replace(criterion=POISSON, n_singles=4, min_leaf=8)
    problem = Problem(X, rate, weights, groups, recipe)
    return rows, exposure, problem


def heap_numbers(tree):
    """Numbers of the nodes as in rpart: 2·i and 2·i + 1 below i, that of the lower rate first."""
    numbers, events = {0: 1}, with_shrunken_rates(tree, np.inf)
    for node in np.flatnonzero(tree.left >= 0):
        if node not in numbers:
            continue
        left, right = tree.left[node], tree.left[node] + 1
        lower = left if events.value[left, 0] < events.value[right, 0] else right
        for child in (left, right):
            numbers[child] = 2 * numbers[node] + (child != lower)
    return numbers


def shrunken(tree, shrink):
    return with_shrunken_rates(tree, shrink if shrink > 0 else np.inf)


@tables
def test_times_are_scaled_as_by_rpart(table):
    rows = of_table(ROWS, table)
    np.testing.assert_allclose(exposure_of(rows), rows["exposure"], rtol=1e-13)


def test_times_of_late_rows_are_those_of_a_poisson_regression_of_the_pieces():
    late = pd.read_csv(FOLDER / "late_rows.csv")
    time, start, weights = (late[c].to_numpy(float) for c in ("time", "start", "weight"))
    scale = exponential_scale(time, late["event"].to_numpy(), weights, start)
    np.testing.assert_allclose(scale.exposure(time, start), late["exposure"], rtol=1e-11)


@shrinks
@tables
def test_nodes_are_those_of_rpart(table, shrink):
    _, _, problem = grown(table)
    tree, theirs = problem.grow(), of_table(NODES, table, shrink).set_index("node")
    tree = shrunken(tree, shrink)
    tree = pruned(tree, critical_alphas(tree), 0.0)
    numbers = heap_numbers(tree)
    assert sorted(numbers.values()) == sorted(theirs.index)
    for node, number in numbers.items():
        own = theirs.loc[number]
        column = tree.index[tree.start[node] : tree.start[node + 1]]
        split = f"V{column[0] + 1}" if tree.left[node] >= 0 else "<leaf>"
        assert (split, tree.count[node]) == (own["variable"], own["rows"])
        assert tree.value[node, 0] == pytest.approx(own["rate"], rel=1e-12)
        deviance = 2 * tree.weight[node] * tree.impurity[node]
        assert deviance == pytest.approx(own["deviance"], rel=1e-11, abs=1e-11)


@shrinks
@tables
def test_paths_are_those_of_rpart(table, shrink):
    _, _, problem = grown(table)
    found = nested_subtrees(shrunken(problem.grow(), shrink))
    theirs = of_table(PATHS, table, shrink).iloc[::-1]
    assert (found.leaves - 1).tolist() == theirs["nsplit"].tolist()
    root = found.error[-1]
    np.testing.assert_allclose(found.alpha / root, theirs["cp"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(found.error / root, theirs["relative_error"], rtol=0, atol=1e-11)


@tables
def test_a_tree_of_another_criterion_is_told_the_deviance_of_its_nodes(table):
    rows, exposure, problem = grown(table)
    grown_by_it = problem.grow()
    same = problem.but(criterion=SQUARED_ERROR)
    event, weights = rows["event"].to_numpy(), rows["weight"].to_numpy()
    for tree in (grown_by_it, same.grow()):
        nodes = node_events(tree, leaf_nodes(tree, problem.X, 1), event, exposure, weights)
        told = with_event_deviance(tree, nodes)
        assert nodes.events[0, 0] == pytest.approx(np.sum(weights * event))
        if tree is grown_by_it:
            for name in ("value", "weight", "impurity", "gain"):
                np.testing.assert_allclose(
                    getattr(told, name), getattr(tree, name), rtol=1e-9, atol=1e-13
                )
