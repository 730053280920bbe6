"""A few cases of the random harness; run it with more seeds by ``python tests/random_cases.py``."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
import random_cases
from odrf.results.fitted import FittedResults
from random_cases import random_case, unexplained


@pytest.mark.parametrize(("extreme", "seed"), [(e, s) for e in (False, True) for s in range(20)])
def test_a_random_case_is_answered_or_refused(extreme, seed):
    # What takes long in a test may be compiled just then.
    found = unexplained(random_case(seed, extreme)) or []
    assert not [words for words in found if random_cases.SLOW not in words]


def test_a_seed_gives_the_same_case():
    for extreme in (False, True):
        one, other = (random_case(3, extreme) for _ in range(2))
        pd.testing.assert_frame_equal(one.data, other.data)
        assert (one.formula, one.options.keys()) == (other.formula, other.options.keys())


def usual_case():
    data = pd.DataFrame({"a": np.arange(20.0), "y": np.arange(20.0) % 7})
    options = {"seed": 1, "n_jobs": 1}
    return random_cases.Case(1, False, "odt", "y ~ a", data, data[:5], options)


def test_a_fault_is_reported(monkeypatch):
    case = usual_case()
    assert unexplained(case, everything=True) == []
    assert unexplained(replace(case, formula="y ~ b")) is None

    def fails(*_, **__):
        raise ZeroDivisionError("nothing")

    monkeypatch.setattr(odrf.odt("y ~ a", case.data).__class__, "rules", fails)
    (words,) = unexplained(case, everything=True)
    assert words.startswith("rules(): ZeroDivisionError")


def test_wrong_predictions_are_reported(monkeypatch):
    predict = FittedResults.predict
    monkeypatch.setattr(FittedResults, "predict", lambda *a, **k: predict(*a, **k) * np.nan)
    assert any("not finite" in words for words in unexplained(usual_case()))
