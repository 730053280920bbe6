"""Events, exposure and deviance of nodes against sums over rows; pruning by shrunken rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.resamples import estimation_counts
from odrf.engine.splits.impurity import POISSON
from odrf.engine.trees.routing import leaf_nodes
from odrf.pruning.complexity import critical_alphas, decreases, nested_subtrees, pruned
from odrf.pruning.event_deviance import node_events, with_event_deviance, with_shrunken_rates
from problems import noisy, problems
from reference.exponential import deviance, rows_of_nodes, shrunken_rate
from reference.pruning import all_subtrees

unhurried = settings(deadline=None, max_examples=60)
variations = st.sampled_from([0.1, 0.3, 1.0, 10.0, np.inf])


@st.composite
def survived(draw, n_trees=2, max_leaves=1000):
    """Trees, whatever their criterion, and what `node_events` takes of their rows."""
    problem = draw(problems())
    sampling = problem.sampling._replace(honest=draw(st.booleans()))
    problem = replace(problem, sampling=sampling)
    problem = problem.but(max_leaves=min(max_leaves, problem.settings.max_leaves))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, forest = len(problem.y), problem.grow(n_trees)
    event, exposure = rng.integers(0, 3, n), rng.exponential(size=n) + 1e-3
    streams = problem.streams(n_trees)
    counts = [estimation_counts(state.copy(), problem.weights, sampling) for state in streams]
    rows = leaf_nodes(forest, problem.X, 1), event, exposure, problem.weights, np.transpose(counts)
    return forest, rows


def told(forest, rows):
    return with_event_deviance(forest, node_events(forest, *rows))


def branches(forest, rows):
    """Each node, its root, and the events, exposures and weights of the training rows below it."""
    leaf, event, exposure, weights, counts = rows
    for tree, root in enumerate(forest.root[:-1]):
        times = weights * counts[:, tree]
        for node, below in rows_of_nodes(forest.left, root, leaf[:, tree]).items():
            used = below[times[below] > 0]
            yield node, root, (event[used] > 0, exposure[used], times[used])


@unhurried
@given(survived())
def test_nodes_sum_up_their_rows(case):
    forest, rows = case
    nodes = node_events(forest, *rows)
    for node, _, here in branches(*case):
        events, at_risk = np.sum(here[2] * here[0]), np.sum(here[2] * here[1])
        assert nodes.events[node, 0] == pytest.approx(events)
        assert nodes.exposure[node] == pytest.approx(at_risk)
        expected = deviance(*here, events / at_risk) if events > 0 else 0.0
        assert nodes.deviance[node] == pytest.approx(expected, abs=1e-9)


@unhurried
@given(survived(), variations)
def test_rates_are_shrunken_to_that_of_the_root(case, variation):
    plain = told(*case)
    shrunken = with_shrunken_rates(plain, variation)
    assert shrunken.gain is plain.gain and shrunken.weight is plain.weight
    for node, root, here in branches(*case):
        overall, found = plain.value[root, 0], shrunken.value[node, 0]
        if overall == 0.0:
            assert found == shrunken.impurity[node] == 0.0
        elif len(here[0]):
            events, at_risk = np.sum(here[2] * here[0]), np.sum(here[2] * here[1])
            assert found == pytest.approx(shrunken_rate(events, at_risk, overall, variation))
            expected = deviance(*here, found) if found > 0 else 0.0
            loss = 2 * shrunken.weight[node] * shrunken.impurity[node]
            assert loss == pytest.approx(expected, abs=1e-9)


@unhurried
@given(survived(), variations)
def test_the_deviance_of_causes_is_the_sum_of_theirs(case, variation):
    """Of each cause as if events of the others were censored."""
    forest, (leaf, event, *rest) = case
    both = with_event_deviance(forest, node_events(forest, leaf, event, *rest, n_causes=2))
    alone = [told(forest, (leaf, event == cause, *rest)) for cause in (1, 2)]
    for several, parts in (
        (both, alone),
        (
            with_shrunken_rates(both, variation),
            [with_shrunken_rates(each, variation) for each in alone],
        ),
    ):
        rates = np.column_stack([each.value for each in parts])
        np.testing.assert_allclose(several.value, rates, rtol=1e-12, atol=1e-300)
        for name in ("impurity", "gain"):
            total = np.sum([getattr(each, name) for each in parts], axis=0)
            np.testing.assert_allclose(getattr(several, name), total, rtol=1e-7, atol=1e-9)


@unhurried
@given(survived(), variations)
def test_nodes_without_rows_have_what_their_parent_has(case, variation):
    forest, rows = case
    for described in (told(forest, rows), with_shrunken_rates(told(forest, rows), variation)):
        for node in np.flatnonzero(described.left >= 0):
            for child in (described.left[node], described.left[node] + 1):
                if described.weight[child] == 0.0:
                    assert (described.value[child] == described.value[node]).all()
                    assert described.impurity[child] == described.impurity[node]
                    assert described.gain[child] == 0.0


@unhurried
@given(survived(n_trees=1, max_leaves=7), variations, st.floats(0, 3))
def test_no_subtree_costs_less_than_the_weakest_link_s(case, variation, share):
    tree, rows = case
    tree = with_shrunken_rates(told(tree, rows), variation)
    loss = tree.weight * tree.impurity / max(float(tree.weight[0]), 1e-300)
    alpha = share * loss[0] / int(tree.leaves()[0])

    def cost(some):
        return loss[some.is_leaf()].sum() + alpha * int(some.leaves()[0])

    least = cost(pruned(tree, critical_alphas(tree), alpha))
    children = {node: int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}
    for splits in all_subtrees(children):
        kept = np.isin(np.arange(tree.n_nodes), list(splits))
        assert least <= cost(tree.keeping(kept)) + 1e-9


def test_branches_that_raise_the_deviance_are_pruned_at_0_and_the_path_begins_without_them():
    problem, rng = noisy(n=200, min_leaf=5), np.random.default_rng(1)
    exposure = rng.exponential(size=200)
    event = (rng.random(200) < 0.5).astype(int)
    tree = problem.grow()
    rows = leaf_nodes(tree, problem.X, 1), event, exposure, np.ones(200)
    tree = with_shrunken_rates(told(tree, rows), 0.3)
    raised = decreases(tree) < 0
    assert raised.any()
    critical, path = critical_alphas(tree), nested_subtrees(tree)
    assert (critical >= 0).all() and not pruned(tree, critical, 0.0).is_split()[raised].all()
    assert path.alpha[0] == 0 and (np.diff(path.alpha) > 0).all()
    assert (np.diff(path.error) > 0).all() and path.leaves[0] < tree.leaves()[0]


def test_a_tree_grown_by_rates_is_told_what_it_has():
    problem, rng = noisy(n=200, min_leaf=5), np.random.default_rng(1)
    exposure, event = rng.exponential(size=200), (rng.random(200) < 0.5).astype(int)
    problem = replace(problem, y=event / exposure, weights=exposure).but(criterion=POISSON)
    tree = problem.grow()
    found = told(tree, (leaf_nodes(tree, problem.X, 1), event, exposure, np.ones(200)))
    for name in ("value", "weight", "impurity", "gain"):
        np.testing.assert_allclose(getattr(found, name), getattr(tree, name), atol=1e-13)
