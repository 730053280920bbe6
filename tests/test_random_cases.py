"""Some cases of the random harness; more by ``python tests/random_cases.py``."""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from cases.arguments import ELSEWHERE, OF_CASE, VALUES
from cases.asking import public_names, unexplained
from cases.attempts import SLOW, Attempts
from cases.case import KINDS, Case, random_case
from cases.ranges import Tally, cause, run_cases, try_seed
from cases.times import OF_TIMES
from odrf.results import boosted, forest, guided, tree
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults

RESULTS = [
    *(tree.ODTResults, forest.ODRFResults, boosted.ODBTResults, guided.GRAFResults),
    *(SurvivalTreeResults, SurvivalForestResults, SurvivalBoostedResults),
]


# The blocks of each kind, how many calls each has, and from which seed on: 40,000 calls of
# functions and methods, and 2,000 of the command; the first blocks of `USUAL` in every run.
BLOCKS = {"moderate": 16, "extreme": 18, "hostile": 6, "survival": 40, "command": 8}
CALLS, COMMANDS, SEEDS = 500, 250, 10_000
USUAL = ("moderate", "hostile", "survival")
TRIED = [
    pytest.param(kind, block, marks=[] if kind in USUAL and not block else [pytest.mark.weekly])
    for kind, n in BLOCKS.items()
    for block in range(n)
]


@pytest.mark.parametrize(("kind", "block"), TRIED)
def test_calls_are_answered_or_refused(kind, block):
    calls, unexplained, seed = 0, [], SEEDS * block
    while calls < (COMMANDS if kind == "command" else CALLS):
        tried = try_seed(kind, seed, usual=True)
        calls += tried.n
        again = f"python tests/random_cases.py {kind} --seed {seed} --usual"
        # what takes long in a test may be compiled just then
        unexplained += [f"{again}: {words}" for words in tried.unexplained if SLOW not in words]
        seed += 1
    assert not unexplained


def test_a_seed_gives_the_same_case():
    for kind in KINDS:
        one, other = (random_case(3, kind) for _ in range(2))
        pd.testing.assert_frame_equal(one.data, other.data)
        assert (one.formula, one.options.keys()) == (other.formula, other.options.keys())


@pytest.mark.parametrize("result", RESULTS)
def test_every_parameter_of_every_method_has_values(result):
    lacking = set()
    for name in public_names(result):
        method = inspect.getattr_static(result, name)
        if inspect.isfunction(method):
            for one in list(inspect.signature(method).parameters)[1:]:
                known = one in VALUES or one in OF_CASE or (name, one) in ELSEWHERE
                known = known or one in OF_TIMES or (name, one) in OF_TIMES
                lacking |= set() if known else {f"{name}({one})"}
    assert not lacking


def usual_case():
    data = pd.DataFrame({"a": np.arange(20.0), "y": np.arange(20.0) % 7})
    options = {"seed": 1, "n_jobs": 1}
    return Case(1, "moderate", "odt", "y ~ a", data, data[:5], options)


def test_a_fault_is_reported(monkeypatch):
    case = usual_case()
    assert unexplained(case, everything=True) == []
    assert unexplained(replace(case, formula="y ~ b")) is None

    def fails(*_, **__):
        raise ZeroDivisionError("nothing")

    monkeypatch.setattr(odrf.odt("y ~ a", case.data).__class__, "rules", fails)
    monkeypatch.setattr("cases.asking.public_names", lambda _: ["rules"])
    (words,) = unexplained(case, everything=True)
    assert words.startswith("rules(): ZeroDivisionError")


def test_wrong_predictions_are_reported(monkeypatch):
    predict = tree.ODTResults.predict
    monkeypatch.setattr(tree.ODTResults, "predict", lambda *a, **k: predict(*a, **k) * np.nan)
    assert any("not finite" in words for words in unexplained(usual_case()))


def test_faults_of_one_cause_are_counted_together():
    tally = Tally()
    for seed, value in enumerate(("'a'", "'b c'")):
        words = f"tree(i={seed}): KeyError at tree.py:7 in frame.py:8: no {value} of {seed}.5"
        tally.add("extreme", seed, Attempts(unexplained=[words], n=3))
    ((words, found),) = tally.causes.items()
    assert words == "KeyError at tree.py:7 in frame.py:8: no … of …" and len(found) == 2
    assert str(tally).startswith("2 cases, 6 calls, 0 refused, 2 unexplained, of 1 causes")
    assert cause("3 leaves, max_leaves=2") == cause("4 leaves, max_leaves=3")


def test_a_range_of_seeds_is_tried_in_processes_and_late_ones_are_ended():
    one = run_cases("extreme", range(1))
    assert one.cases == 1 and one.calls == try_seed("extreme", 0).n
    late = run_cases("extreme", range(1), seconds=0.0)
    assert late.cases == 1 and all("does not end" in words for words in late.causes)
