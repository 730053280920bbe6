from __future__ import annotations

import math

import numpy as np
import patsy
from patsy import EvalEnvironment

from odrf.design.functions import FUNCTIONS, users_names


def test_the_users_own_meaning_wins():
    def log(x):
        return x

    assert users_names({"log", "sqrt"}, EvalEnvironment([{"log": log}])) == {"log": log}


def test_narrower_functions_of_the_same_name_give_way():
    env = EvalEnvironment([{"log": math.log, "bs": patsy.bs, "floor": math.floor}])
    assert users_names({"log", "bs", "floor"}, env) == {}


def test_elementary_functions_are_numpys():
    assert FUNCTIONS["log"] is np.log
    assert FUNCTIONS["sqrt"] is np.sqrt
