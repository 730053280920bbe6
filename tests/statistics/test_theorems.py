"""Which theorem covers what, by rules whose limits are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from odrf.engine.trees.routing import leaf_nodes
from odrf.options.sizes import EXPONENTS
from odrf.statistics.theorems import (
    ASSUMED,
    CONTRADICTED,
    DIFFERS,
    FAILS,
    HOLDS,
    UNKNOWN,
    FitProperties,
    conclusion,
    conditions,
    leaf_diameters,
    limit_status,
    normal_quantiles,
    predictors_per_split,
    ratios,
    tail_index,
    tail_p,
)
from problems import plain, problems

N = 400
TREE = FitProperties(
    forest=False,
    classes=False,
    n=N,
    P=6,
    subset_size=None,
    family="",
    axis_trees=False,
    leaves=20,
    leaves_along=(),
    limited=True,
    alpha=None,
    alpha_along=(),
    drawn=1.0,
    drawn_along=(),
    replaced=True,
    honest=False,
    single_columns=True,
    full=False,
)

GAUSS = " if Y is sub-Gaussian and what differs does no harm"


def along(rule):
    return tuple(rule(N * 10.0**k) for k in EXPONENTS)


def status(facts, statement):
    found = [c for c in conditions(facts) if c.theorem.startswith("[Z]")]
    return {c.statement: c.status for c in found}[statement]


@pytest.mark.parametrize(
    ("rule", "slowly"),
    [
        (lambda n: n**0.5, HOLDS),
        (lambda n: n**0.9, HOLDS),
        (lambda n: n**0.95, HOLDS),
        (lambda n: n / np.log(n) ** 5, HOLDS),
        (lambda n: n / np.log(n) ** 4, FAILS),
        (lambda n: n / np.log(n) ** 3, FAILS),
        (lambda n: n / 10, FAILS),
    ],
)
def test_numbers_of_leaves_must_grow_slowly(rule, slowly):
    facts = replace(TREE, leaves=rule(N), leaves_along=along(rule))
    assert status(facts, "t_n → ∞") == HOLDS
    assert status(facts, "t_n = o(n/ln⁴n)") == slowly
    assert conclusion(facts).startswith("Consistent for any" if slowly == HOLDS else "No result")


@pytest.mark.parametrize(
    ("rule", "falls", "slowly"),
    [
        (lambda n: n**-0.5, HOLDS, HOLDS),
        (lambda n: np.log(n) ** 6 / n, HOLDS, HOLDS),
        (lambda n: np.log(n) ** 5 / n, HOLDS, FAILS),
        (lambda n: 1 / n, HOLDS, FAILS),
        (lambda n: 0.3, FAILS, HOLDS),
        (lambda n: 1 / np.log(np.log(n)), HOLDS, HOLDS),
    ],
)
def test_alpha_must_fall_slowly(rule, falls, slowly):
    facts = replace(TREE, alpha=rule(N), alpha_along=along(rule))
    assert status(facts, "α_n → 0") == falls
    assert status(facts, "ln⁵n/(α_n·n) → 0") == slowly


def test_a_number_cannot_be_status():
    assert status(TREE, "t_n → ∞") == status(TREE, "t_n = o(n/ln⁴n)") == UNKNOWN
    assert "cannot be evaluated" in conclusion(TREE)
    pruned = replace(TREE, alpha=0.1)
    assert status(pruned, "α_n → 0") == UNKNOWN
    assert status(replace(TREE, alpha=0.0), "ln⁵n/(α_n·n) → 0") == FAILS
    assert limit_status((), True) == UNKNOWN


def test_leaves_of_bounded_size_are_too_many():
    facts = replace(TREE, limited=False)
    assert status(facts, "t_n → ∞") == HOLDS
    assert status(facts, "t_n = o(n/ln⁴n)") == FAILS


def test_quantities_are_those_at_n():
    rule = lambda n: n**0.5  # noqa: E731
    facts = replace(TREE, leaves=20, leaves_along=along(rule))
    (quantity,) = (c.quantity for c in conditions(facts) if "ln⁴n" in c.statement)
    assert quantity == f"t_n·ln⁴n/n = {20 * np.log(400) ** 4 / 400:.3g}"
    found = ratios(facts)
    np.testing.assert_allclose(found["1/t_n"], [1 / rule(N * 10.0**k) for k in range(13)])
    n = N * 10.0 ** np.arange(13)
    np.testing.assert_allclose(found["t_n·ln⁴n/n"], np.log(n) ** 4 / n**0.5)
    assert ratios(TREE) == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, f"any continuous regression function{GAUSS}, by [Z] Theorem 1."),
        ({"forest": True}, f"any continuous regression function{GAUSS}, by [Z] Theorem 4."),
        (
            {"classes": True},
            "any continuous P(class | x) if what differs does no harm, by [Z] Theorem 2.",
        ),
        ({"subset_size": 6}, f"any continuous regression function{GAUSS}, by [Z] Theorem 1."),
        (
            {"subset_size": 2},
            f"2 variables each{GAUSS}, by [Z] Corollary 1; no result of [Z] is about other truths.",
        ),
        (
            {"subset_size": 1, "forest": True},
            f"one variable each{GAUSS}, by [Z] Corollary 1; no result of [Z] is about other "
            "truths.",
        ),
        (
            {"forest": True, "axis_trees": True},
            "not those on single predictors; blend=False would do.",
        ),
    ],
)
def test_what_follows(changes, words):
    facts = replace(TREE, leaves_along=along(lambda n: n**0.5), **changes)
    assert conclusion(facts).endswith(words)


def test_pruning_decides_which_theorem():
    facts = replace(TREE, limited=False, alpha=0.1, alpha_along=along(lambda n: n**-0.5))
    assert "[Z] Theorem 3" in conclusion(facts)
    assert "[Z] Theorem 5" in conclusion(replace(facts, forest=True))
    assert "[Z] Corollary 2" in conclusion(replace(facts, subset_size=2))


def test_directions_that_are_not_estimated_on_subsets_are_not_covered():
    facts = replace(TREE, family="sparse", leaves_along=along(lambda n: n**0.5))
    assert status(facts, "best direction is found") == FAILS
    assert status(facts, "subsets of any size") == FAILS
    assert conclusion(facts).startswith("No result of [Z] applies")
    assert "not those of sparse" in conclusion(facts)


def test_bounded_indicators_are_sub_gaussian():
    assert status(TREE, "Y sub-Gaussian") == ASSUMED
    assert status(replace(TREE, classes=True), "Y sub-Gaussian") == HOLDS


def test_honest_forests_are_another_result():
    names = {c.theorem for c in conditions(replace(TREE, forest=True))}
    assert names == {"[Z] Theorem 4", "[P] Theorem 2"}
    assert {c.theorem for c in conditions(TREE)} == {"[Z] Theorem 1"}
    assert {c.theorem for c in conditions(replace(TREE, honest=True))} == {"[P] Theorem 2"}


HONEST = replace(
    TREE,
    forest=True,
    classes=True,
    honest=True,
    replaced=False,
    full=True,
    limited=False,
    drawn=N**-0.3,
    drawn_along=along(lambda n: n**-0.3),
)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {},
            "Consistent if P(class | x) is Lipschitz, the density of x is bounded away from 0 and",
        ),
        (
            {"drawn": 0.6, "drawn_along": ()},
            "asks for s/n → 0; sample_fraction=lambda n: n**-0.3 would do.",
        ),
        ({"drawn_along": along(lambda n: 0.6)}, "asks for s/n → 0; sample_fraction="),
        ({"drawn_along": along(lambda n: 9 / n)}, "[P] Theorem 2 asks for s → ∞."),
        (
            {"replaced": True, "drawn_along": ()},
            'replacement and s/n → 0; resample="subsample" and sample_fraction=lambda',
        ),
        ({"classes": False}, "asks for a forest for classes."),
        ({"forest": False}, "asks for a forest for classes."),
        ({"full": False}, "asks for leaves of bounded size."),
        ({"single_columns": False}, "asks for each predictor alone."),
        ({"single_columns": None}, "cannot be evaluated, because of: each predictor alone."),
        ({"full": False, "drawn_along": ()}, "asks for s/n → 0 and leaves of bounded size."),
    ],
)
def test_what_follows_for_honest_forests(changes, words):
    assert words in conclusion(replace(HONEST, **changes))


def test_subsamples_along_n():
    found = ratios(HONEST)
    n = N * 10.0 ** np.arange(13)
    np.testing.assert_allclose(found["s/n"], n**-0.3)
    np.testing.assert_allclose(found["1/s"], n**-0.7)
    assert ratios(replace(HONEST, drawn_along=())) == {}


def test_that_leaves_are_filled_by_others_is_for_honest_trees_only():
    quantities = {
        honest: {
            c.statement: (c.quantity, c.status) for c in conditions(replace(HONEST, honest=honest))
        }["leaves filled by other rows"]
        for honest in (True, False)
    }
    assert quantities[True] == ("half of a tree's rows", HOLDS)
    assert quantities[False] == ("the rows that choose the splits", FAILS)


ROOT = along(lambda n: n**0.5)
ROOT_OF_ALPHA = along(lambda n: n**-0.5)


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        (lambda n: 0.1 + n**-0.1, FAILS),
        (lambda n: 0.1 + n**-0.5, FAILS),
        (lambda n: 0.1 + 1 / np.log(n), FAILS),
        (lambda n: 1 / np.log(np.log(n)), HOLDS),
        (lambda n: n**-0.01, HOLDS),
        (lambda n: 1 + 1e-16 * np.cos(n), FAILS),
    ],
)
def test_a_rule_that_falls_to_a_positive_limit_does_not_tend_to_0(rule, limit):
    assert limit_status(along(rule), False) == limit
    assert limit_status([1 / value for value in along(rule)], True) == limit


@pytest.mark.parametrize("changes", [{}, {"alpha": 0.1, "alpha_along": along(lambda n: n**-0.5)}])
def test_a_fixed_depth_bounds_the_leaves_too(changes):
    facts = replace(TREE, leaves_along=ROOT, **changes, stopped=("max_depth=2",))
    assert status(facts, "t_n → ∞") == UNKNOWN
    assert conclusion(facts).endswith(
        "cannot be evaluated: max_depth=2 does not show a change with n; max_depth=None would do."
    )


def test_a_pruned_tree_must_grow_too():
    rate = {"alpha": 0.1, "alpha_along": along(lambda n: n**-0.5)}
    fixed = replace(TREE, **rate)
    assert status(fixed, "t_n → ∞") == UNKNOWN
    assert "cannot be evaluated: a fixed number" in conclusion(fixed)
    free = replace(TREE, limited=False, **rate)
    assert status(free, "t_n → ∞") == HOLDS
    assert conclusion(free).startswith("Consistent")
    constant = replace(TREE, leaves_along=along(lambda n: 4), **rate)
    assert "fails t_n → ∞" in conclusion(constant)


def test_leaves_are_few_for_the_rows_that_a_tree_draws():
    facts = replace(TREE, forest=True, leaves_along=ROOT, drawn=N**-0.9)
    assert conclusion(facts).startswith("Consistent")
    few = replace(facts, drawn_along=along(lambda n: n**-0.9))
    assert status(few, "t_n = o(n/ln⁴n)") == FAILS
    assert "the rule fails t_n = o(n/ln⁴n)" in conclusion(few)
    pruned = replace(few, limited=False, alpha=0.1, alpha_along=along(lambda n: n**-0.5))
    assert status(pruned, "ln⁵n/(α_n·n) → 0") == FAILS


def test_a_size_that_data_have_chosen_follows_no_rule():
    facts = replace(TREE, limited=False, alpha=0.1, no_rule="held-out rows chose α")
    assert "cannot be evaluated: held-out rows chose α; alpha=" in conclusion(facts)
    cut = replace(TREE, cut=True, limited=False)
    assert status(cut, "t_n → ∞") == status(cut, "t_n = o(n/ln⁴n)") == UNKNOWN
    assert "cannot be evaluated" in conclusion(cut)


@pytest.mark.parametrize(
    ("changes", "statement", "words"),
    [
        ({"penalty": "bic"}, "splits until t_n leaves", 'not with penalty="bic"'),
        ({"criterion": "entropy"}, "variance or Gini index", 'criterion="gini" would do'),
        ({"random_cuts": 1.0}, "best cut of a direction", 'n_thresholds="all" would do'),
    ],
)
def test_splits_that_the_theorems_are_not_about(changes, statement, words):
    facts = replace(TREE, leaves_along=ROOT, **changes)
    assert status(facts, statement) == FAILS
    assert conclusion(facts).startswith("No result of [Z] applies")
    assert words in conclusion(facts)


def test_a_theorem_that_covers_some_of_the_trees_says_so():
    facts = replace(TREE, forest=True, leaves_along=ROOT, random_cuts=0.4)
    assert conclusion(facts) == (
        "[Z] Theorem 4 covers some of the trees, which are consistent for any continuous "
        f"regression function{GAUSS}, but not those with random cuts; blend=False would do."
    )
    pairs = conclusion(replace(facts, subset_size=2, axis_trees=True))
    assert pairs.startswith("[Z] Corollary 1 covers some of the trees, which are consistent where")
    assert "but not those on single predictors and those with random cuts" in pairs


def test_what_the_theorems_take_for_granted_is_assumed():
    for facts in (TREE, replace(TREE, forest=True), replace(TREE, alpha=0.1)):
        assert status(facts, "best direction is found") == DIFFERS
        assert status(facts, "x in [0, 1]^p") == ASSUMED


def test_that_labels_prune_trees_of_classes_is_told():
    facts = replace(
        TREE, limited=False, classes=True, n_classes=3, alpha=0.1, alpha_along=ROOT_OF_ALPHA
    )
    assert conclusion(facts).endswith(
        "and it holds for the error rate as for squared error, by [Z] Theorem 3."
    )
    assert status(facts, "pruned by squared error") == status(facts, "two classes") == DIFFERS
    by_rows = replace(facts, constant_by="10-fold cross-validation")
    assert status(by_rows, "the rate has a fixed constant") == DIFFERS


def test_that_the_forest_of_the_theorems_draws_no_rows_is_told():
    forest = replace(TREE, forest=True)
    assert status(forest, "all rows in each tree") == DIFFERS
    assert status(replace(forest, replaced=False, drawn=0.5), "all rows in each tree") == DIFFERS
    assert status(replace(forest, replaced=False), "all rows in each tree") == HOLDS
    assert "all rows in each tree" not in {c.statement for c in conditions(TREE)}


@pytest.mark.parametrize(
    ("changes", "statement", "words"),
    [
        ({"tails": "tail index 1.08"}, "Y sub-Gaussian", "Y sub-Gaussian (tail index 1.08)."),
        ({"short": "2 leaves"}, "splits until t_n leaves", "splits until t_n leaves (2 leaves)."),
    ],
)
def test_data_that_contradict_a_condition_leave_no_conclusion(changes, statement, words):
    facts = replace(TREE, leaves_along=ROOT, **changes)
    assert status(facts, statement) == CONTRADICTED
    assert conclusion(facts).startswith("No conclusion: by [Z] Theorem 1 it is consistent for any")
    assert conclusion(facts).endswith(f"but the data contradict a condition: {words}")
    classes = replace(facts, classes=True, short="")
    assert conclusion(classes).startswith("Consistent")
    partly = conclusion(replace(facts, forest=True, axis_trees=True))
    assert partly.endswith(f"; the data contradict a condition: {words}")


@pytest.mark.parametrize(
    ("changes", "statement"),
    [
        ({}, "subsets of any size"),
        ({}, "best direction is found"),
        ({"exact_rows": 64}, "best cut of a direction"),
        ({"min_leaf": 5}, "splits until t_n leaves"),
    ],
)
def test_what_is_known_to_be_otherwise_differs(changes, statement):
    facts = replace(TREE, leaves_along=ROOT, **changes)
    assert status(facts, statement) == DIFFERS
    assert "what differs does no harm" in conclusion(facts)
    single = replace(TREE, leaves_along=ROOT, P=1)
    assert "differs" not in conclusion(single)


def test_a_way_out_is_told_only_if_it_is_one():
    few = replace(TREE, forest=True, drawn=N**-0.9, drawn_along=along(lambda n: n**-0.9))
    failing = conclusion(replace(few, leaves_along=ROOT))
    assert failing.endswith("because the rule fails t_n = o(n/ln⁴n).")
    several = replace(TREE, random_cuts=1.0, stopped=("max_depth=3",))
    assert conclusion(several).endswith(
        '; n_thresholds="all", max_depth=None and max_leaves=lambda n: n**0.5 would do.'
    )
    assert "would do" not in conclusion(replace(several, family="sparse"))
    scaled = conclusion(replace(TREE, scale="the logarithm"))
    assert 'split_scale="response" and max_leaves=lambda n: n**0.5 would do.' in scaled
    honest = replace(HONEST, drawn_along=(), single_columns=None)
    assert "would do" not in conclusion(honest)


# ------------------------------------------------------------------------------------------------
# Evidence from data and trees against plain counting.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0.25, 0.5, 1.0])
def test_tails_of_a_power_law_have_its_index(index):
    rng = np.random.default_rng(1)
    values = rng.random(40_000) ** -index * rng.choice([-1, 1], 40_000)
    assert tail_index(values) == pytest.approx(index, rel=0.1)


def test_normal_tails_are_not_heavy_and_cauchy_s_are():
    rng = np.random.default_rng(2)
    p = [tail_p(rng.normal(size=300), seed) for seed in range(40)]
    assert 0.3 < np.mean(p) < 0.7
    assert tail_p(rng.standard_cauchy(300), 0) < 0.01
    assert tail_p(3 * rng.standard_t(3, 9000), 0) < 0.01
    assert tail_index(np.zeros(30)) == 0.0


def test_normal_quantiles_are_a_normal_s():
    values = normal_quantiles(7 + 3 * np.random.default_rng(0).normal(size=20_000))
    np.testing.assert_allclose(
        np.quantile(values, [0.1, 0.5, 0.9]), norm.ppf([0.1, 0.5, 0.9]), atol=0.05
    )
    assert np.isfinite(normal_quantiles(np.zeros(9))).all()


@settings(deadline=None, max_examples=30)
@given(problems())
def test_diameters_are_those_of_the_boxes_around_leaves(problem):
    forest, X = problem.grow(2), problem.X.astype(float)
    found = leaf_diameters(forest, problem.X, 1)
    whole = np.sqrt(np.sum(np.ptp(X, axis=1) ** 2)) or 1.0
    for b, leaf in enumerate(leaf_nodes(forest, problem.X, 1).T):
        each = [np.sqrt(np.sum(np.ptp(X[:, leaf == node], axis=1) ** 2)) for node in leaf]
        np.testing.assert_allclose(found[:, b], np.array(each) / whole, atol=1e-12)


def test_diameters_shrink_as_trees_grow():
    X = np.random.default_rng(0).random((2, 400))
    y = np.sin(6 * X[0]) + X[1]
    sizes = [
        leaf_diameters(plain(X, y, max_leaves=t).grow(), X.astype("f4"), 1).mean()
        for t in (1, 8, 64)
    ]
    assert sizes[0] == pytest.approx(1)
    assert sizes[0] > sizes[1] > sizes[2]


@settings(deadline=None, max_examples=40)
@given(problems(), st.integers(1, 3))
def test_predictors_of_each_split_are_counted(problem, n_trees):
    forest = problem.grow(n_trees)
    found = predictors_per_split(forest, problem.feature_groups.first)
    owners = np.repeat(
        np.arange(len(problem.feature_groups.types)), np.diff(problem.feature_groups.first)
    )
    counts = [
        len({int(owners[column]) for column in forest.index[forest.start[i] : forest.start[i + 1]]})
        for i in np.flatnonzero(forest.left >= 0)
    ]
    np.testing.assert_array_equal(found, np.bincount(counts, minlength=1)[1:])
