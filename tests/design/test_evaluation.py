from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import patsy
import pytest
from patsy import EvalEnvironment

from odrf.design.evaluation import Evaluation
from odrf.design.formula import read_atom
from odrf.errors import InputError


def evaluation(code, frame, names=None):
    env = EvalEnvironment([names or {}])
    return Evaluation(read_atom(code, list(frame.columns), env), frame, env)


class Least:
    """A stateful transform of the user's: less the least training value."""

    def memorize_chunk(self, x):
        self.least = min(x)

    def memorize_finish(self):
        pass

    def transform(self, x):
        return x - self.least


less_least = patsy.stateful_transform(Least)
NAMES = {"np": np, "math": math, "less_least": less_least, "pbs": patsy.bs, "shift": 3}


@pytest.mark.parametrize(
    "code",
    [
        "log(bmi)",
        "np.log(bmi) + shift",
        "math.pi * bmi",
        "less_least(bmi)",
        "center(np.log(bmi))",
        "scale(bmi)",
        "bs(bmi, 4)",
        "pbs(bmi, 4)",
        "cr(bmi, df=3)",
        "poly(bmi, 2)",
        "bs(Q('odd name'), df=5)",
        "C(sex)",
        "te(cr(bmi, df=3), cr(age, df=3))",
    ],
)
def test_what_was_learned_survives_pickling(code, people):
    learned = evaluation(code, people, NAMES)
    again = pickle.loads(pickle.dumps(learned))
    few = people.iloc[[7, 3]]
    before, after = learned.values(few).data, again.values(few).data
    assert before.equals(after)


def test_transforms_remember_the_training_rows(people):
    centred = evaluation("center(bmi)", people)
    expected = people["bmi"].iloc[:3] - people["bmi"].mean()
    np.testing.assert_allclose(centred.values(people.iloc[:3]).data, expected)
    assert evaluation("less_least(age)", people, NAMES).values(people).data.min() == 0


def test_a_row_alone_equals_itself_among_the_others(people):
    learned = evaluation("log(bmi)", people)
    together = learned.values(people).data
    for label in people.index:
        assert learned.values(people.loc[[label]]).data.item() == together[label]


def test_only_the_names_used_are_kept(people):
    learned = evaluation("np.log(bmi)", people, NAMES | {"big": np.zeros(10**6)})
    assert len(pickle.dumps(learned)) < 1000


def test_columns_come_in_types_that_functions_know():
    frame = pd.DataFrame(
        {
            "small": np.array([250, 10], dtype="uint8"),
            "nullable": pd.array([1, 2], dtype="Int16"),
            "objects": pd.Series([1, 2.5], dtype=object),
            "flag": pd.array([True, False], dtype="boolean"),
        }
    )
    assert evaluation("I(small - 255 + small)", frame).values(frame).data.tolist() == [245, -235]
    assert evaluation("exp(nullable)", frame).values(frame).data.dtype == np.float64
    assert evaluation("sqrt(objects)", frame).values(frame).data.dtype == np.float64
    assert evaluation("I(~flag)", frame).values(frame).data.tolist() == [False, True]


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("log(sex)", r"'log\(sex\)' cannot be evaluated: "),
        ("log(bmi, 2)", r"takes no base: write log2\(x\), log10\(x\) or log\(x\)/log\(2\)"),
        ("log(bmi, 2) + log(bmi)", "log.* takes no base"),
        ("log(bmi, base=2)", "log.* takes no base"),
        ("bmi | sex", r"'\|' is a logical or.*use groups="),
        ("bs(bmi, 1)", "ValueError: df=1 is too small"),
        ("bs(bmi, 'x')", "TypeError"),
        ("bmi.nonsense", "AttributeError"),
        ("np.mean(bmi)", "must give one value for each row"),
        ("log(-bmi)", "not a number in 30 rows"),
    ],
)
def test_code_that_fails(code, message, people):
    with pytest.raises(InputError, match=message):
        evaluation(code, people).values(people)
