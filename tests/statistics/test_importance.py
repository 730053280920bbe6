"""Impurity importance: shared by coefficients, conserved over the tree."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from nothing_matters import unrelated
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.fits.held_out import held_out_trees, responses_held_out
from odrf.statistics import importance as held_out_importance_of_out_of_bag_importance
from odrf.statistics.importance import (
    effective_number,
    held_out_importance,
    impurity_importance,
    largest,
    out_of_bag_importance,
    permuted_importance,
)
from odrf.statistics.strength import of_classes, of_numbers, sizes_to_try
from problems import problems
from reference.importance import (
    evaluated_by_definition,
    means_below,
    own_response,
    permuted_by_definition,
    shares,
)
from stumps import stump


def test_a_split_is_shared_by_the_size_of_its_coefficients():
    importance = impurity_importance(stump({2: 0.6, 0: -0.8}, 0.1, gain=0.7), np.arange(4))
    np.testing.assert_allclose(importance, [0.4, 0.0, 0.3])


@pytest.mark.parametrize(
    ("levels", "range_"),
    [([0.6, 0.0], 0.6), ([0.3, 0.6], 0.6), ([-0.1, -0.4], 0.4), ([-0.2, 0.4], 0.6)],
)
def test_a_factor_counts_by_the_range_of_its_coefficients(levels, range_):
    terms = {column: coef for column, coef in enumerate((-0.8, *levels)) if coef}
    importance = impurity_importance(stump(terms, 0.1, gain=0.7), np.array([0, 1, 3]))
    np.testing.assert_allclose(importance, np.array([0.8, range_]) * 0.7 / (0.8 + range_))


def test_a_forest_has_the_mean_over_its_trees():
    forest = joined([stump({0: 1.0}, 0.5, gain=1.0), stump({1: 1.0}, 0.5, gain=0.5)], 2)
    np.testing.assert_allclose(impurity_importance(forest, np.arange(3)), [0.5, 0.25])


def test_splits_switched_off_do_not_count():
    tree = stump({0: 1.0}, 0.5)
    pruned = tree.keeping(np.zeros(3, dtype=bool))
    assert impurity_importance(tree, np.arange(2)) == pytest.approx([1.0])
    assert impurity_importance(pruned, np.arange(2)) == pytest.approx([0.0])


def test_a_tree_without_weight_or_splits_has_no_importance():
    tree = stump({0: 1.0}, 0.5).keeping(np.zeros(3, dtype=bool))
    with np.errstate(all="raise"):
        importance = impurity_importance(replace(tree, weight=np.zeros(3)), np.arange(2))
    assert importance == pytest.approx([0.0])


@settings(deadline=None)
@given(problems(), st.integers(1, 3))
def test_importances_add_up_to_the_impurity_removed(problem, n_trees):
    forest = problem.grow(n_trees)
    leaf = np.where(forest.is_leaf(), forest.weight * forest.impurity, 0.0)
    root = forest.root[:-1]
    removed = forest.impurity[root] - np.add.reduceat(leaf, root) / forest.weight[root]
    importance = impurity_importance(forest, problem.feature_groups.first)
    assert importance.shape == problem.feature_groups.types.shape
    assert (importance >= 0).all()
    assert importance.sum() == pytest.approx(removed.mean(), abs=1e-9)


@settings(deadline=None)
@given(problems())
def test_every_split_is_shared_as_by_the_definition(problem):
    tree, first = problem.grow(), problem.feature_groups.first
    predictor, P = np.repeat(np.arange(len(first) - 1), np.diff(first)), len(first) - 1
    expected = np.zeros(P)
    for node in np.flatnonzero(tree.is_split()):
        terms = slice(*tree.start[node : node + 2])
        decrease = tree.weight[node] * tree.gain[node] / tree.weight[0]
        expected += decrease * shares(predictor[tree.index[terms]], tree.coef[terms], P)
    np.testing.assert_allclose(impurity_importance(tree, first), expected, atol=1e-12)


@settings(deadline=None)
@given(problems())
def test_weights_have_no_unit(problem):
    tree, first = problem.grow(), problem.feature_groups.first
    heavier = replace(tree, weight=4 * tree.weight)
    np.testing.assert_allclose(
        impurity_importance(heavier, first), impurity_importance(tree, first), rtol=1e-12
    )


# ------------------------------------------------------------------------------------------------
# Held-out importances: their definition, no relation, a relation, too few rows.
# ------------------------------------------------------------------------------------------------

FITS = {
    "tree": partial(odrf.odt, alpha=None),
    "tree of few leaves": partial(odrf.odt, max_leaves=6),
    "boosted": partial(odrf.odbt, n_trees=15),
    "runs": partial(odrf.odbt, n_trees=8, n_runs=3),
    "guided": partial(odrf.graf, n_trees=16),
    "forest of all rows": partial(odrf.odrf, n_trees=8, resample="none"),
}
SMALL = {
    **{name: FITS[name] for name in ("tree", "runs")},
    "pruned": partial(odrf.odt, alpha=0.01),
    "boosted": partial(odrf.odbt, n_trees=3),
    "refitted": partial(odrf.odbt, n_trees=3, leaf_values="refit", loss="auto"),
    "rounds chosen": partial(odrf.odbt, n_trees=6, validation=0.3, patience=2),
    "guided": partial(odrf.graf, n_trees=3),
    "forest": partial(odrf.odrf, n_trees=4),
    "forest of all rows": partial(odrf.odrf, n_trees=3, resample="none", alpha=0.001),
    "blend of all rows": partial(odrf.odrf, n_trees=12, resample="subsample", sample_fraction=1.0),
}


def table(n, seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    data["f"] = pd.Categorical(rng.choice(list("uvw"), n))
    data["y"] = data["a"] + rng.normal(size=n)
    data["two"] = np.where(data["y"] > 0, "no", "yes")
    data["three"] = pd.cut(data["y"], 3, labels=["low", "mid", "top"]).astype(str)
    data["ranks"] = pd.Categorical(data["three"], ["low", "mid", "top"], ordered=True)
    return data


@settings(max_examples=25, deadline=None)
@given(
    st.sampled_from(sorted(SMALL)),
    st.sampled_from(["y", "two", "three", "ranks"]),
    st.integers(8, 60),
    st.integers(0, 99),
    st.booleans(),
)
def test_it_is_its_definition(name, response, n, seed, weighted):
    data = table(n, seed)
    if name == "refitted":
        response = "y"
    weights = np.arange(n) % 3 + (seed % 2) if weighted else None
    try:
        fit = SMALL[name](f"{response} ~ a + b + f", data, weights=weights, seed=seed).fit
    except InputError:
        return
    parts, y = held_out_trees(fit), responses_held_out(fit)
    if parts is None:
        return
    X, weights, first = fit.data.X, fit.data.weights, fit.design.first
    expected, n_used, K = np.zeros(3), 0, y.shape[1]
    rng = np.random.default_rng(fit.control.seed)
    for forest, evaluating in parts:
        rows = np.flatnonzero(evaluating & (weights > 0))
        if len(rows) > 1:
            if name == "guided":
                expected += permuted_by_definition(forest, X, y, weights, rows, first, rng)
                n_used += 1
                continue
            centred = y - np.average(y[rows], axis=0, weights=weights[rows])
            value = means_below(forest) if fit.summed else forest.value
            of_part = evaluated_by_definition(
                forest, X, centred, weights, rows, first, value,
                lambda b: [b % K] if fit.summed else slice(None),
            )  # fmt: skip
            expected += of_part / (1 if fit.summed else forest.n_trees)
            n_used += 1
    if name == "guided":
        found = permuted_importance(parts, X, y, weights, first, fit.control.seed, 2)
    else:
        found = held_out_importance(parts, X, y, weights, first, fit.summed, 2)
    np.testing.assert_allclose(found, expected / max(n_used, 1), rtol=1e-6, atol=1e-12)


@pytest.mark.weekly
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("name", FITS)
def test_no_kind_of_predictor_leads_where_none_matters(name, classes):
    tables = []
    for seed in range(24):
        data = unrelated(120, np.random.default_rng(seed))
        if classes:
            data["y"] = np.where(data["y"] > 0, "yes", "no")
        tables.append(FITS[name]("y ~ .", data, seed=seed).importance()["importance"])
    importance = pd.concat(tables, axis=1)
    z = importance.mean(axis=1) / (importance.std(axis=1) / np.sqrt(importance.shape[1]))
    assert z.abs().max() < 3.5, z
    assert importance.idxmax().value_counts().max() <= 12


SIZED = {
    "by cross-validation": partial(odrf.odt, alpha="cv"),
    "by rate": partial(odrf.odt, max_leaves="sqrt", alpha=None),
    "by both": partial(odrf.odt, max_leaves="sqrt", alpha="1se"),
    "by rows held out": partial(odrf.odbt, n_trees=20, validation=0.3, patience=3),
}


@pytest.mark.parametrize("name", [*FITS, *SIZED])
def test_rows_that_evaluate_have_chosen_nothing(name):
    data = table(90, 5)
    fit = {**FITS, **SIZED}[name]("y ~ a + b + f", data, seed=2).fit
    parts = held_out_trees(fit)
    for number, (forest, rows) in enumerate(parts):
        y = fit.data.y.copy()
        y[rows] = -3 * y[rows][::-1]
        other = held_out_trees(replace(fit, training=replace(fit.data, y=y)))[number]
        np.testing.assert_array_equal(other.rows, rows)
        for name in ("left", "threshold", "index", "coef", "value"):
            np.testing.assert_array_equal(getattr(other.forest, name), getattr(forest, name))


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("name", FITS)
def test_a_predictor_that_matters_leads_those_of_noise(name, classes):
    data = unrelated(300, np.random.default_rng(1))
    data["y"] += 2 * data["number"]
    if classes:
        data["y"] = np.where(data["y"] > 0, "yes", "no")
    fit = FITS[name]("y ~ .", data, seed=1)
    shown = fit.importance()
    assert shown.index[0] == "number"
    assert shown["share"].iloc[0] > 0.4
    assert shown["share"].iloc[1:].max() < 0.2
    assert shown["share"].clip(lower=0).sum() == pytest.approx(1)
    pd.testing.assert_frame_equal(shown, fit.importance("held_out"))


@pytest.mark.parametrize("name", FITS)
def test_it_is_what_summary_and_plot_show_first(name):
    fit = FITS[name]("cultivar ~ .", odrf.load_data("wine"), seed=1)
    table = fit.importance()
    assert ", held out" in str(fit.summary())
    panel = fit.plot("importance")
    assert "held out" in panel.get_xlabel().replace("\n", " ")
    assert [label.get_text() for label in panel.get_yticklabels()] == list(table.index[:15])
    table.loc[:] = 0.0
    assert (fit.importance()["importance"] != 0).any()


@pytest.mark.parametrize("name", [*FITS, *SIZED])
def test_it_is_the_same_for_any_number_of_threads_and_once_loaded(name, tmp_path):
    data = odrf.load_data("wine")[::2]
    one, two = ({**FITS, **SIZED}[name]("cultivar ~ .", data, n_jobs=k, seed=1) for k in (1, 2))
    expected = two.importance()
    one.save(tmp_path / "fit")
    for other in (
        one,
        odrf.load(tmp_path / "fit"),
        copy.deepcopy(one),
        pickle.loads(pickle.dumps(two)),
    ):
        pd.testing.assert_frame_equal(other.importance(), expected)


def test_fits_that_were_changed_are_evaluated_as_they_are():
    data = table(120, 3)
    tree = odrf.odt("y ~ a + b", data[:80], alpha=None, seed=1)
    root = tree.prune(leaves=1)
    assert (root.importance()["importance"] == 0).all()
    assert (tree.importance()["importance"] != 0).any()
    parts = held_out_trees(tree.prune(leaves=3).fit)
    assert [part.forest.leaves()[0] <= 3 for part in parts] == [True] * 5
    updated = tree.update(data[80:])
    assert len(held_out_trees(updated.fit)[0].rows) == 120
    assert updated.importance().index[0] == "a"
    of_forest = odrf.odrf("y ~ a + b", data, n_trees=3, seed=1).tree(1)
    assert held_out_trees(of_forest.fit)[0].forest.n_nodes == of_forest.forest.n_nodes
    guided = [odrf.graf("y ~ a + b", data, n_trees=3, seed=seed) for seed in (1, 2)]
    for fit in (guided[0].grow(2), guided[0].combine(guided[1])):
        assert fit.importance().index[0] == "a"
    boosted = odrf.odbt("y ~ a + b", data, n_trees=3, seed=1).grow(4)
    at_once = odrf.odbt("y ~ a + b", data, n_trees=7, seed=1)
    pd.testing.assert_frame_equal(boosted.importance(), at_once.importance())


def test_an_offset_has_no_part_in_the_importance():
    rng = np.random.default_rng(4)
    data = pd.DataFrame({"a": rng.normal(size=400), "exposure": rng.uniform(0, 8, 400)})
    data["noise"] = data["exposure"] + 0.1 * rng.normal(size=400)
    data["y"] = rng.poisson(np.exp(data["a"] + data["exposure"] / 4))
    fit = odrf.odbt(
        "y ~ a + noise", data, offset=data["exposure"] / 4, loss="poisson", n_trees=20, seed=1
    )
    share = fit.importance()["share"]
    assert share.index[0] == "a"
    assert abs(share["noise"]) < 0.1


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odbt, odrf.graf])
def test_too_few_rows_are_said(grow):
    data = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "y": [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]})
    options = {} if grow is odrf.graf else {"min_leaf": 1}
    fit = grow("y ~ a", data, kind="regression", seed=1, **options)
    pd.testing.assert_frame_equal(fit.importance(), fit.importance("impurity"))
    assert "The rows that chose the splits also evaluate" in str(fit.summary())
    assert "held out" not in fit.plot("importance").get_xlabel()
    with pytest.raises(InputError, match='type="held_out" needs more rows'):
        fit.importance("held_out")


# ------------------------------------------------------------------------------------------------
# Out-of-bag importances against their definition, row by row, and under no relation.
# ------------------------------------------------------------------------------------------------


def by_definition(forest, X, y, first, draws):
    """Follow every out-of-bag row through every tree, and note what each split adds."""
    target, importance, n_used = own_response(forest, y), np.zeros(len(first) - 1), 0
    centred = target - np.average(target, axis=0, weights=draws.weights)
    for b in range(forest.n_trees):
        rows, tree = np.flatnonzero(draws.unseen(b) & (draws.weights > 0)), forest.tree(b)
        n_used += len(rows) > 0
        importance += evaluated_by_definition(
            tree, X, centred, draws.weights, rows, first, tree.value, lambda _: slice(None)
        )
    return importance / n_used


@pytest.mark.parametrize("formula", ["body_mass_g ~ .", "species ~ ."])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_its_definition_of_out_of_bag_importance(formula, weighted):
    data = odrf.load_data("penguins").dropna().iloc[::4]
    weights = np.arange(len(data)) % 3 if weighted else None
    fit = odrf.odrf(formula, data, weights=weights, n_trees=7, seed=2).fit
    arguments = fit.forest, fit.data.X, fit.data.y, fit.design.first, fit.draws
    np.testing.assert_allclose(
        out_of_bag_importance(*arguments), by_definition(*arguments), rtol=1e-6, atol=1e-12
    )


@pytest.mark.parametrize("at_once", [1, 100])
def test_sums_of_a_few_trees_at_a_time_are_the_same(monkeypatch, at_once):
    """Those of all trees would take as much memory as the trees."""
    fit = odrf.odrf("species ~ .", odrf.load_data("penguins").dropna(), n_trees=7, seed=2).fit
    arguments = fit.forest, fit.data.X, fit.data.y, fit.design.first, fit.draws
    expected, largest = out_of_bag_importance(*arguments), []
    trees = type(fit.forest).trees

    def recorded(forest, begin, end):
        part = trees(forest, begin, end)
        largest.append(part.value.size if part.n_trees > 1 else 0)
        return part

    monkeypatch.setattr(type(fit.forest), "trees", recorded)
    monkeypatch.setattr(held_out_importance_of_out_of_bag_importance, "SUMS_AT_ONCE", at_once)
    assert np.array_equal(out_of_bag_importance(*arguments), expected)
    assert len(largest) > 1
    assert max(largest) <= at_once


@pytest.mark.weekly
@pytest.mark.parametrize("classes", [False, True])
def test_no_kind_of_predictor_leads_where_none_matters_of_out_of_bag_importance(classes):
    tables = []
    for seed in range(12):
        data = unrelated(150, np.random.default_rng(seed))
        if classes:
            data["y"] = np.where(data["y"] > 0, "yes", "no")
        tables.append(odrf.odrf("y ~ .", data, n_trees=40, seed=seed).importance()["importance"])
    importance = pd.concat(tables, axis=1)
    z = importance.mean(axis=1) / (importance.std(axis=1) / np.sqrt(importance.shape[1]))
    assert z.abs().max() < 3.5, z
    assert importance.idxmax().value_counts().max() <= 7


def test_it_is_what_summary_and_plot_show_first_of_out_of_bag_importance():
    fit = odrf.odrf("cultivar ~ .", odrf.load_data("wine"), n_trees=30, seed=1)
    table = fit.importance()
    pd.testing.assert_frame_equal(table, fit.importance(type="out_of_bag"))
    assert table["share"].clip(lower=0).sum() == pytest.approx(1)
    assert "impurity removed, out of bag" in str(fit.summary())
    assert "impurity removed, out of bag" in fit.plot("importance").get_xlabel()


def test_without_rows_out_of_bag_other_trees_are_evaluated_by_rows_held_out():
    data = odrf.load_data("wine")
    fit = odrf.odrf("cultivar ~ .", data, n_trees=5, resample="none", seed=1)
    pd.testing.assert_frame_equal(fit.importance(), fit.importance(type="held_out"))
    with pytest.raises(InputError, match="Out-of-bag importances need"):
        fit.importance(type="out_of_bag")
    with pytest.raises(InputError, match="out_of_bag"):
        odrf.odt("cultivar ~ .", data).importance(type="out_of_bag")


# ------------------------------------------------------------------------------------------------
# How many importances matter, and which.
# ------------------------------------------------------------------------------------------------

IMPORTANCES = st.lists(st.just(0.0) | st.floats(1e-9, 1e6), min_size=1, max_size=9)


def plain_number(importance, order):
    """Of order 2, the reciprocal of the probability that two draws are the same."""
    shares = [w / sum(importance) for w in importance if w > 0]
    if not shares:
        return 0.0
    if order == 2:
        return 1 / sum(s * s for s in shares)
    return math.prod((1 / s) ** s for s in shares)


@given(IMPORTANCES, st.sampled_from([1, 2]))
def test_it_is_the_number_of_hill(importance, order):
    found = effective_number(np.array(importance), order)
    assert found == pytest.approx(plain_number(importance, order), rel=1e-9)
    assert found == 0 or 1 - 1e-9 <= found <= len(importance) + 1e-9


@given(IMPORTANCES)
def test_small_ones_count_less_for_the_order_2(importance):
    w = np.array(importance)
    assert effective_number(w, 2) <= effective_number(w, 1) + 1e-9


@given(st.integers(1, 9), st.integers(0, 9), st.floats(1e-300, 1e300), st.sampled_from([1, 2]))
def test_of_equal_ones_it_is_their_number(m, zeros, size, order):
    importance = np.array([size] * m + [0.0] * zeros)
    assert effective_number(importance, order) == pytest.approx(m)


@given(IMPORTANCES, st.floats(0, 9))
def test_the_largest_are_as_many_as_asked_for(importance, number):
    w = np.array(importance)
    found = largest(w, number)
    assert len(found) == min(math.ceil(number), len(w))
    assert list(found) == sorted(set(found))
    others = np.delete(w, found)
    assert not len(others) or not len(found) or others.max() <= w[found].min()


def test_of_equal_ones_the_first_are_taken():
    assert largest(np.zeros(4), 1.5).tolist() == [0, 1]


# ------------------------------------------------------------------------------------------------
# Strength and correlation against Breiman's definitions, row by row and tree by tree.
# ------------------------------------------------------------------------------------------------


def plain_of_classes(predicted, unseen, y, K):
    """Definitions 3 and 4 and Appendix II, in words: votes, margins, raw margins."""
    margins, rivals = {}, {}
    right = known = 0
    for i in range(len(y)):
        votes = [predicted[i, b] for b in range(predicted.shape[1]) if unseen[i, b]]
        if not votes:
            continue
        share = [votes.count(k) / len(votes) for k in range(K)]
        rivals[i] = max((k for k in range(K) if k != y[i]), key=lambda k: (share[k], -k))
        margins[i] = share[y[i]] - share[rivals[i]]
        known += 1
        right += share.index(max(share)) == y[i]
    raws = [
        {
            i: (predicted[i, b] == y[i]) * 1.0 - (predicted[i, b] == rivals[i])
            for i in range(len(y))
            if unseen[i, b]
        }
        for b in range(predicted.shape[1])
    ]
    deviation = np.mean([np.std(list(raw.values())) for raw in raws if raw])
    of_rows = [[raw[i] for raw in raws if i in raw] for i in range(len(y))]
    several = [row for row in of_rows if len(row) > 1]
    correlation = np.nan
    if several and deviation > 0:
        products = [np.mean([a * b for a, b in permutations(row, 2)]) for row in several]
        covariance = np.mean(products) - np.mean([np.mean(row) for row in several]) ** 2
        correlation = np.clip(covariance / deviation**2, -1, 1)
    strength = np.mean(list(margins.values()))
    return strength, correlation, 1 - right / known


@st.composite
def forests(draw):
    """Votes of a few trees on a few rows, right more often than not."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, B, K = draw(st.integers(5, 30)), draw(st.integers(2, 8)), draw(st.integers(2, 4))
    y = rng.integers(0, K, n)
    predicted = np.where(rng.random((n, B)) < 0.6, y[:, None], rng.integers(0, K, (n, B)))
    unseen = rng.random((n, B)) < 0.6
    unseen[0] = True
    return predicted, unseen, y, K


@settings(deadline=None)
@given(forests())
def test_classes(case):
    predicted, unseen, y, K = case
    B = predicted.shape[1]
    (found,) = of_classes(predicted, unseen, y, np.ones(len(y)), K, [B])
    strength, correlation, error = plain_of_classes(predicted, unseen, y, K)
    assert found.strength == pytest.approx(strength)
    assert found.correlation == pytest.approx(correlation, nan_ok=True)
    assert found.error == pytest.approx(error)
    if strength <= 0:
        assert found.bound == np.inf
    elif abs(correlation) > 1e-12:
        bound = correlation * (1 - strength**2) / strength**2 if correlation > 0 else np.nan
        assert found.bound == pytest.approx(bound, nan_ok=True)


@settings(deadline=None)
@given(forests(), st.integers(2, 8))
def test_the_first_trees_are_evaluated_as_if_alone(case, size):
    predicted, unseen, y, K = case
    B = predicted.shape[1]
    size = min(size, B)
    path = of_classes(predicted, unseen, y, np.ones(len(y)), K, sorted({size, B}))
    (alone,) = of_classes(predicted[:, :size], unseen[:, :size], y, np.ones(len(y)), K, [size])
    np.testing.assert_allclose(path[0], alone)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 7))
def test_numbers(seed, B):
    rng = np.random.default_rng(seed)
    residual, unseen = rng.normal(size=(12, B)), rng.random((12, B)) < 0.7
    unseen[:2] = True
    (found,) = of_numbers(residual, unseen, np.ones(12), [B])
    pairs = []
    for b in range(B):
        for c in range(B):
            both = unseen[:, b] & unseen[:, c]
            if b != c:
                pairs.append(np.mean(residual[both, b] * residual[both, c]))
    errors = [np.mean(residual[unseen[:, b], b] ** 2) for b in range(B)]
    correlation = np.mean(pairs) / np.mean(np.sqrt(errors)) ** 2
    assert found.correlation == pytest.approx(np.clip(correlation, -1, 1))
    assert found.strength == pytest.approx(np.mean(errors))
    # Jensen's inequality: the error of very many trees is the mean product of two residuals
    assert not 0 <= correlation <= 1 or found.bound >= np.mean(pairs) - 1e-12
    together = [residual[i, unseen[i]].mean() ** 2 for i in range(12) if unseen[i].any()]
    assert found.error == pytest.approx(np.mean(together))
    bound = found.correlation * found.strength if correlation >= 0 else np.nan
    assert found.bound == pytest.approx(bound, nan_ok=True)


def test_known_correlation_is_found():
    # residuals = common part of variance 0.3 + independent part of variance 0.7
    rng = np.random.default_rng(0)
    residual = np.sqrt(0.3) * rng.normal(size=(4000, 1)) + np.sqrt(0.7) * rng.normal(
        size=(4000, 40)
    )
    unseen = rng.random((4000, 40)) < 0.4
    (found,) = of_numbers(residual, unseen, np.ones(4000), [40])
    assert found.correlation == pytest.approx(0.3, abs=0.02)
    assert found.strength == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize("B", [2, 3, 40])
def test_known_correlation_of_raw_margins_is_found_by_few_trees(B):
    # a tree errs with a probability of the row, of variance 0.02 and mean 0.2
    rng = np.random.default_rng(2)
    errs = rng.random((40_000, B)) < rng.beta(1.4, 5.6, 40_000)[:, None]
    unseen, y = rng.random((40_000, B)) < 0.4, np.zeros(40_000, dtype=np.int64)
    (found,) = of_classes(errs.astype(np.int64), unseen, y, np.ones(40_000), 2, [B])
    assert found.correlation == pytest.approx(0.02 / 0.16, abs=0.03)


def test_no_correlation_is_above_1():
    errs, unseen = np.zeros((40, 2), dtype=np.int64), np.ones((40, 2), dtype=bool)
    errs[:3], unseen[:20, 0], unseen[4:10] = 1, False, False
    unseen[:6] = True
    residual = np.where(errs == 1, 5.0, 0.1)
    y, weights = np.zeros(40, dtype=np.int64), np.ones(40)
    for found in (
        of_classes(errs, unseen, y, weights, 2, [2]),
        of_numbers(residual, unseen, weights, [2]),
    ):
        assert found[0].correlation == 1


def test_the_bound_is_above_the_error_of_many_trees_of_two_kinds():
    # kinds with other errors that leave out other shares of the rows, as in a blend
    rng = np.random.default_rng(1)
    spread = np.repeat([0.2, 1.0], 400)
    residual = rng.normal(size=(500, 1)) + spread * rng.normal(size=(500, 800))
    unseen = rng.random((500, 800)) < np.repeat([0.6, 0.2], 400)
    (found,) = of_numbers(residual, unseen, np.ones(500), [800])
    assert found.strength == pytest.approx(np.mean(residual**2), rel=0.02)
    assert found.bound > np.mean(residual.mean(axis=1) ** 2)


def test_sizes_rise_to_all_trees():
    assert sizes_to_try(2) == [2]
    sizes = sizes_to_try(500)
    assert (sizes[0], sizes[-1]) == (2, 500)
    assert sizes == sorted(set(sizes))


def test_trees_that_drew_all_rows_have_no_strength():
    unseen, weights = np.zeros((4, 3), dtype=bool), np.ones(4)
    unseen[1, 2] = True
    codes = np.zeros((4, 3), dtype=np.int64)
    for two, three in (
        of_classes(codes, unseen, codes[:, 0], weights, 2, [2, 3]),
        of_numbers(np.ones((4, 3)), unseen, weights, [2, 3]),
    ):
        assert two.trees == 2 and np.isnan(two[1:]).all()
        assert three.trees == 3 and np.isfinite([three.strength, three.error]).all()


def test_trees_that_err_only_on_rows_of_no_weight_have_no_correlation():
    codes, unseen = np.array([[0, 0], [1, 0], [0, 1]]), np.ones((3, 2), dtype=bool)
    weights = np.array([1e14, 1e-286, 1e-286])
    (found,) = of_classes(codes, unseen, np.zeros(3, dtype=np.int64), weights, 2, [2])
    assert found.strength == 1 and np.isnan(found.correlation) and np.isnan(found.bound)
