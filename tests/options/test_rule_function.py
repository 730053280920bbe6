"""Functions of n are restored after loading if they can be imported by name."""

from __future__ import annotations

import math
import pickle

import pytest

from odrf import InputError
from odrf.options.sizes import RuleFunction


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
        InputError, match=r"sample_fraction= was a function of n, .* fit with a named"
    ):
        _ = again.function
