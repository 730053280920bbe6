"""How large trees may be: names, numbers and functions of n."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from odrf import InputError as InputErrorRuleFunction
from odrf.errors import InputError
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
