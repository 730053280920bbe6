"""Tests of tree."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from odrf import InputError as InputErrorGrowingForInference
from odrf import InputError as InputErrorRuleFunction
from odrf import load, odrf
from odrf.engine.kernel_params import BIC, NO_LIMIT
from odrf.engine.resamples import SUBSAMPLE, Sampling
from odrf.engine.running import usual_threads
from odrf.engine.splits.impurity import ENTROPY
from odrf.errors import InputError
from odrf.options.options import Options
from odrf.options.sizes import (
    CV,
    EXPONENTS,
    FEWEST_ROWS,
    FIXED,
    FUNCTION,
    NONE,
    RATE,
    Rule,
    RuleFunction,
    complexity_parameter,
    rate_along,
    row_share,
)
from odrf.options.tree import ResolvedOptions, resolve
from odrf.projections.sparse import Sparse
from resampled import all_counts


def control(
    kind: str = "regression", n: int = 100, P: int = 10, p: int = 12, **options: Any
) -> ResolvedOptions:
    n_classes = 1 if kind == "regression" else 3
    usual = Options(n_trees=10, blend=False, resample="bootstrap", seed=1)
    request = replace(usual, **options).checked()
    return resolve(request, kind=kind, n=n, P=P, p=p, n_classes=n_classes)


def classes(**options: Any) -> ResolvedOptions:
    return control("classification", **options)


def test_a_control_is_frozen():
    with pytest.raises(FrozenInstanceError):
        control().seed = 3


def test_defaults():
    found = control()
    assert (found.criterion, classes().criterion) == ("squared_error", "gini")
    assert classes(projection="sparse").criterion == "entropy"
    assert control(projection="sparse").criterion == "squared_error"
    assert (found.mixture.n_singles, found.mixture.n_directions) == (10, 5)
    assert (found.n_thresholds, control(projection="extra").n_thresholds) == ("all", 1)
    assert (found.max_leaves, found.max_leaves_rule) == (None, Rule("none"))
    assert found.n_jobs == usual_threads()
    assert found.seed == 1


@pytest.mark.parametrize(
    ("n_trees", "projection", "kind", "P", "n_singles"),
    [
        (1, "logistic", "regression", 5000, 5000),
        (1, "axis", "classification", 90, 90),
        (10, "logistic", "regression", 60, 60),
        (10, "logistic", "regression", 61, 60),
        (10, "logistic", "regression", 5000, 71),
        (10, "axis", "regression", 10, 4),
        (10, "axis", "classification", 10, 4),
        (10, "axis", "classification", 90, 10),
    ],
)
def test_predictors_tried_singly(n_trees, projection, kind, P, n_singles):
    found = control(kind, P=P, n_trees=n_trees, projection=projection)
    assert found.mixture.n_singles == n_singles


@pytest.mark.parametrize(("P", "n_projections"), [(1, 5), (25, 5), (26, 6), (5000, 71)])
def test_directions_tried(P, n_projections):
    assert control(P=P).mixture.n_directions == n_projections


def test_axis_tries_no_directions():
    assert control(projection="axis").mixture.n_directions == 0


def test_sparse_directions_take_the_place_of_singles():
    assert control(projection="sparse").mixture.shares == ((Sparse(), 12),)
    assert control(projection="sparse", n_trees=1).mixture.n_singles == 0
    dense = Sparse(density=0.5)
    assert control(projection=dense, n_projections=7).mixture.shares == ((dense, 7),)


def test_an_exact_search_bins_no_node():
    """For any number of rows, without overflow in the engine."""
    settings, most = control(split_search="exact").settings, 2**32
    assert most <= settings.exact_rows <= NO_LIMIT
    settings = control().settings
    assert 0 < settings.exact_rows < classes().settings.exact_rows < 10_000


@pytest.mark.parametrize("make", [control, classes])
def test_a_single_tree_of_up_to_10000_rows_is_searched_exactly(make):
    single = {"n_trees": 1, "resample": "none"}
    small, large = make(n=10_000, **single), make(n=10_001, **single)
    assert (small.split_search, small.settings.exact_rows) == ("exact", NO_LIMIT)
    assert large.split_search == "auto"
    assert large.settings.exact_rows == make(n=10_001).settings.exact_rows
    asked = make(n=10_001, split_search="exact", **single)
    assert (asked.split_search, asked.settings.exact_rows) == ("exact", NO_LIMIT)


@pytest.mark.parametrize("options", [{}, {"n_trees": 1}, {"resample": "none"}])
def test_trees_of_a_forest_are_not(options):
    assert control(**options).split_search == "auto"


def test_rules_of_leaves():
    def root(n: int) -> float:
        return n**0.5

    found = control(max_leaves=7)
    assert (found.max_leaves, found.max_leaves_rule) == (7, Rule("fixed"))
    found = control(max_leaves=root)
    assert found.max_leaves == 10
    assert (found.max_leaves_rule.kind, found.max_leaves_rule.name) == ("function", "root")
    assert found.max_leaves_rule.along[:2] == (10.0, 1000**0.5)
    assert control(max_leaves=lambda n: np.log(n)).max_leaves == 4
    assert control(max_leaves=lambda n: 5 * n).max_leaves == 100


def test_engine_settings():
    found = classes(
        projection="lda",
        criterion="entropy",
        penalty="bic",
        subset_size=3,
        max_depth=4,
        resample="subsample",
    )
    settings = found.settings
    assert (settings.criterion, settings.penalty) == (ENTROPY, BIC)
    assert (settings.subset_size, settings.max_depth, settings.n_classes) == (3, 4, 3)
    assert settings.max_leaves == NO_LIMIT
    assert found.sampling == Sampling(SUBSAMPLE, 0.632)
    assert classes(honest=True, sample_fraction=0.5).sampling == Sampling(1, 0.5, honest=True)
    assert classes().settings.subset_size == 0


def test_a_rule_of_the_rows_drawn():
    found = control(sample_fraction=lambda n: n**-0.5, resample="subsample")
    assert found.sample_fraction == 0.1
    assert found.sample_fraction_rule.along[:3] == pytest.approx([0.1, 1000**-0.5, 0.01])
    assert control(sample_fraction=0.5).sample_fraction_rule.along == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"projection": "logit"}, "projection='logit'.*'logistic', 'least_squares'.*mean 'logist"),
        ({"projection": None}, "projection=None.*'axis'"),
        ({"resample": "boot"}, "resample='boot' is not known.*'bootstrap'"),
        ({"penalty": "aicc"}, "penalty='aicc' is not known: use one of None, 'aic', 'bic'"),
        ({"criterion": "mse"}, "criterion='mse' is not known.*'squared_error'"),
        ({"criterion": "gini"}, "criterion='gini' is not for a regression"),
        ({"projection": "lda"}, 'projection="lda" is for classification'),
        ({"subset_size": 11}, "subset_size=11 is above the number of predictors, 10"),
        ({"subset_size": 0}, "subset_size=0: use a whole number of at least 1"),
        ({"subset_size": "all"}, "subset_size='all': use \"random\" or a whole number"),
        (
            {"projection": "axis", "subset_size": 3},
            'subset_size=3 does not go with projection="axis"',
        ),
        ({"n_trees": 0}, "n_trees=0: use a whole number"),
        ({"n_trees": 2.5}, "n_trees=2.5: use a whole number"),
        ({"n_trees": True}, "n_trees=True: use a whole number"),
        ({"n_singles": -1}, "n_singles=-1"),
        ({"n_projections": 0}, "n_projections=0"),
        ({"projection": "axis", "n_projections": 3}, 'does not go with projection="axis"'),
        ({"projection": "axis", "n_singles": 0}, "n_singles=0"),
        ({"projection": "sparse", "n_singles": 3}, 'does not go with projection="sparse"'),
        ({"n_thresholds": "some"}, 'n_thresholds=\'some\': use "auto", "all" or a whole'),
        ({"n_thresholds": 0}, "n_thresholds=0: use a whole number of at least 1"),
        ({"split_search": "fast"}, "split_search='fast' is not known.*'auto', 'exact'"),
        ({"split_search": None}, "split_search=None"),
        ({"min_leaf": 101}, "min_leaf=101 is above the number of rows, 100: .*=1; the default"),
        ({"min_leaf": 0}, "min_leaf=0"),
        ({"max_leaves": 0}, "max_leaves=0"),
        ({"max_leaves": "sqrt"}, "max_leaves='sqrt'"),
        ({"max_leaves": lambda n: n - 100}, "max_leaves: the function gives 0 for n = 100"),
        ({"max_leaves": lambda n: float("nan")}, "max_leaves: the function gives nan"),
        ({"max_leaves": lambda n: None}, "max_leaves: the function gives None"),
        ({"max_depth": -1}, "max_depth=-1"),
        ({"alpha": -0.1}, "alpha=-0.1: use a finite number of at least 0"),
        ({"alpha": "cv"}, "alpha=.cv.: use .oob., "),
        ({"sample_fraction": 0}, "sample_fraction=0"),
        ({"resample": "none", "sample_fraction": 0.5}, 'has no effect with resample="none"'),
        ({"sample_fraction": 1.5}, "sample_fraction=1.5"),
        ({"sample_fraction": True}, "sample_fraction=True"),
        ({"sample_fraction": "half"}, "sample_fraction='half': use \"auto\", a number above 0"),
        ({"sample_fraction": lambda n: n}, "sample_fraction: the function gives 100.0 for n = 100"),
        ({"sample_fraction": lambda n: 0}, "sample_fraction: the function gives 0.0 for n = 100"),
        ({"sample_fraction": lambda n: None}, "sample_fraction: the function gives None"),
        ({"honest": "yes"}, "honest='yes': use True or False"),
        ({"honest": 1}, "honest=1: use True or False"),
        ({"seed": -1}, "seed=-1"),
        ({"seed": "a"}, "seed='a'"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_errors_name_the_option(options, message):
    with pytest.raises(InputError, match=message):
        control(**options)


def test_criteria_of_a_regression_are_not_for_classes():
    with pytest.raises(InputError, match="is not for a classification: use 'gini' or"):
        classes(criterion="squared_error")


# ------------------------------------------------------------------------------------------------
# Forests that are grown for standard errors: what is chosen, what stays, what is refused.
# ------------------------------------------------------------------------------------------------

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
    ],
)
def test_what_contradicts_it_is_refused(option):
    name = next(iter(option))
    with pytest.raises(
        InputErrorGrowingForInference, match=f"^{name}=.* with inference=True.*leave out one"
    ):
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


# ------------------------------------------------------------------------------------------------
# How large trees may be: names, numbers and functions of n.
# ------------------------------------------------------------------------------------------------


N = 10 * FEWEST_ROWS


def alpha(value, n=N, single_tree=True, limited=False):
    return complexity_parameter(value, n, single_tree, limited)


def test_a_tree_is_pruned_by_itself_if_it_is_not_limited_and_rows_are_enough():
    assert alpha("auto") == alpha("auto", FEWEST_ROWS) == (None, Rule(CV))
    assert alpha("auto", limited=True) == (None, Rule(NONE))
    assert alpha("auto", FEWEST_ROWS - 1) == (None, Rule(NONE))


@pytest.mark.parametrize("limited", [False, True])
@pytest.mark.parametrize("name", ["cv", "1se"])
def test_a_rule_that_is_named_holds(name, limited):
    assert alpha(name, limited=limited) == (None, Rule(name))


@pytest.mark.parametrize("single_tree", [False, True])
@pytest.mark.parametrize("name", ["log6/n", "1/sqrt(n)"])
def test_rates_are_for_trees_and_forests(name, single_tree):
    assert alpha(name, limited=True, single_tree=single_tree) == (None, Rule(RATE, name))


def test_rows_out_of_bag_are_those_of_forests():
    assert alpha("oob", single_tree=False) == (None, Rule("oob"))
    with pytest.raises(InputError, match="alpha='oob'"):
        alpha("oob")
    with pytest.raises(InputError, match="alpha='cv'"):
        alpha("cv", single_tree=False)


def test_numbers_and_functions():
    assert alpha(None) == (None, Rule(NONE))
    assert alpha(0.5) == (0.5, Rule(FIXED))
    found, rule = alpha(lambda n: 1 / n)
    assert found == 1 / N and rule.kind == FUNCTION
    assert rule.along[:3] == (1 / N, 1 / (10 * N), 1 / (100 * N))
    with pytest.raises(InputError, match="alpha: the function gives -1"):
        alpha(lambda n: -1)
    with pytest.raises(InputError, match="alpha: the function gives inf"):
        alpha(lambda n: math.inf)


@pytest.mark.parametrize("share", [1, 0.01])
def test_a_share_of_the_rows(share):
    assert row_share(share, N) == (share, Rule(FIXED))
    assert row_share(lambda n: share, N)[0] == share


@pytest.mark.parametrize("share", [0, 1.01, -0.5, "half", True])
def test_what_is_no_share_is_refused(share):
    with pytest.raises(InputError, match="sample_fraction"):
        row_share(share, N)
    with pytest.raises(InputError, match="sample_fraction"):
        row_share(lambda n: share, N)


def test_a_rate_is_followed_over_powers_of_ten():
    along = rate_along(3.0, math.sqrt, 50)
    np.testing.assert_allclose(along, [3 * math.sqrt(50.0 * 10.0**k) for k in EXPONENTS])


# ------------------------------------------------------------------------------------------------
# Functions of n are restored after loading if they can be imported by name.
# ------------------------------------------------------------------------------------------------


def test_a_rule_is_its_function():
    def rule(n):
        return n / 7

    assert RuleFunction("alpha", rule).function is rule


def test_named_functions_of_modules_are_found_again():
    again = pickle.loads(pickle.dumps(RuleFunction("max_leaves", math.sqrt)))
    assert again.function is math.sqrt and again.option == "max_leaves"


class Nameless:
    def __call__(self, n):
        return 0.5


@pytest.mark.parametrize("function", [lambda n: n / 2, Nameless()])
def test_other_functions_raise_when_they_are_needed(function):
    again = pickle.loads(pickle.dumps(RuleFunction("sample_fraction", function)))
    with pytest.raises(
        InputErrorRuleFunction, match=r"sample_fraction= was a function of n, .* fit with a named"
    ):
        _ = again.function
