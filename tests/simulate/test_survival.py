"""Censored times against the truth that their problems state."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from odrf import InputError, simulate
from reference import simulation as naive

MAKERS = [
    "accelerated_failure",
    "competing_risks",
    "crossing_hazards",
    "hazard_interaction",
    "hazard_jump",
    "proportional_hazards",
]
TIMES = [0.2, 0.7, 1.0, 1.6]


def made(name, **arguments):
    return getattr(simulate, name)(**arguments)


def rows_of(data, problem):
    return data[problem.predictors].to_numpy().tolist()


def own_survival(problem, data):
    """S at each row's own time, by the definition."""
    name = problem.name.replace(" ", "_")
    return np.array(
        [
            math.exp(-sum(naive.cumulative_hazards(name, row, t)))
            for row, t in zip(rows_of(data, problem), data["time"], strict=True)
        ]
    )


@pytest.mark.parametrize("name", MAKERS)
def test_truth_is_that_of_the_definition(name):
    problem = made(name)
    data = problem.sample(12, seed=1)
    survival = problem.survival(data, [0, *TIMES])
    assert (survival[:, 0] == 1).all()
    causes = problem.causes or (None,)
    incidence = [problem.cumulative_incidence(data, TIMES, cause) for cause in causes]
    mean = problem.restricted_mean(data, 1.6)
    for i, row in enumerate(rows_of(data, problem)):

        def share(t, row=row):
            return math.exp(-sum(naive.cumulative_hazards(name, row, t)))

        assert survival[i, 1:] == pytest.approx([share(t) for t in TIMES], rel=1e-9)
        assert mean[i] == pytest.approx(quad(share, 0, 1.6)[0], rel=1e-6)
        for k in range(len(causes)):
            # events of the cause are hazard times survival, added up over time
            def event(t, row=row, k=k):
                step = 1e-5 * t
                ends = [naive.cumulative_hazards(name, row, t + d)[k] for d in (-step, step)]
                return (
                    (ends[1] - ends[0])
                    / (2 * step)
                    * math.exp(-sum(naive.cumulative_hazards(name, row, t)))
                )

            ended = [quad(event, 1e-12, t)[0] for t in TIMES]
            assert incidence[k][i] == pytest.approx(ended, abs=1e-4)


@pytest.mark.parametrize("name", MAKERS)
def test_times_without_censoring_follow_the_truth_everywhere(name):
    problem = made(name, censored=0)
    data = problem.sample(12_000, seed=2)
    assert (data["event"] != "censored").all() if problem.causes else data["event"].all()
    # S at a row's own time is uniform, whatever its predictors
    own = own_survival(problem, data)
    assert kstest(own, "uniform").pvalue > 0.001
    third = pd.qcut(problem.restricted_mean(data, 1.0), 3, labels=False, duplicates="drop")
    for group in np.unique(third):
        assert kstest(own[third == group], "uniform").pvalue > 0.001
        here = data[third == group]
        at = np.array([(here["time"] > t).mean() for t in TIMES])
        np.testing.assert_allclose(problem.survival(here, TIMES).mean(axis=0), at, atol=0.025)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("censored", [0.05, 0.3, 0.8])
def test_as_many_rows_are_censored_as_was_asked_for(name, censored):
    problem = made(name, censored=censored)
    data = problem.sample(40_000, seed=3)
    lost = data["event"] == "censored" if problem.causes else ~data["event"]
    assert lost.mean() == pytest.approx(censored, abs=0.01)


@pytest.mark.parametrize("name", MAKERS)
def test_censoring_tells_nothing_of_the_event(name):
    problem = made(name, censored=0.5)
    data = problem.sample(2500, seed=4)
    seen = (data["event"] != "censored") if problem.causes else data["event"]
    time, ended = data["time"].tolist(), seen.tolist()
    estimated = [naive.kaplan_meier(time, ended, t) for t in TIMES[:3]]
    expected = problem.survival(data, TIMES[:3]).mean(axis=0)
    np.testing.assert_allclose(estimated, expected, atol=0.045)
    np.testing.assert_allclose(
        [naive.kaplan_meier(time, [not event for event in ended], t) for t in TIMES[:3]],
        np.exp(-problem.censoring_rate * np.array(TIMES[:3])),
        atol=0.06,
    )


def test_causes_compete():
    problem = simulate.competing_risks(censored=0)
    data = problem.sample(30_000, seed=5)
    assert list(data["event"].cat.categories) == ["censored", "1", "2"]
    for cause in problem.causes:
        seen = [((data["time"] <= t) & (data["event"] == cause)).mean() for t in TIMES]
        expected = problem.cumulative_incidence(data, TIMES, cause)
        np.testing.assert_allclose(expected.mean(axis=0), seen, atol=0.01)
        likely = expected[:, 1] > np.median(expected[:, 1])
        shares = [(data["event"] == cause)[likely == side].mean() for side in (False, True)]
        assert shares[1] - shares[0] > 0.2
    either = problem.cumulative_incidence(data, TIMES)
    np.testing.assert_allclose(either, 1 - problem.survival(data, TIMES))


def test_only_hazards_that_cross_meet_in_a_point():
    crossing = simulate.crossing_hazards()
    data = crossing.sample(200, seed=6)
    assert crossing.survival(data, [1]) == pytest.approx(np.exp(-1))
    early, late = crossing.survival(data, [0.5, 2]).T
    assert (np.argsort(early) == np.argsort(-late)).all()
    steady = simulate.proportional_hazards()
    early, late = steady.survival(data, [0.3, 0.6]).T
    assert (np.argsort(early) == np.argsort(late)).all()


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_gives_the_same_rows_also_after_pickling(name):
    problem = made(name)
    data = problem.sample(30, seed=5)
    again = pickle.loads(pickle.dumps(made(name))).sample(30, seed=5)
    pd.testing.assert_frame_equal(data, again)
    assert list(data.columns) == [*problem.predictors, "time", "event"]
    assert (data["time"] > 0).all()
    fewer = made(name, censored=0.1).sample(30, seed=5)
    pd.testing.assert_frame_equal(fewer[problem.predictors], data[problem.predictors])
    assert (fewer["time"] >= data["time"]).all()


@pytest.mark.parametrize(
    ("name", "most"), [(name, 2 if name == "crossing_hazards" else 10) for name in MAKERS]
)
def test_the_strongest_problems_still_have_times(name, most):
    argument = "spread" if name == "accelerated_failure" else "strength"
    problem = made(name, **{argument: most}, censored=0.001)
    data = problem.sample(2000, seed=7)
    assert np.isfinite(data["time"]).all()
    assert (data["time"] > 0).all()
    assert np.isfinite(problem.restricted_mean(data, 3.0)).all()


def test_restricted_means_of_very_flat_hazards():
    problem = simulate.crossing_hazards(p=9, relevant=9, strength=2)
    data = pd.DataFrame(np.full((1, 9), -1.0), columns=problem.predictors)
    for until in (0.5, 1.0, 30.0):
        area, _ = quad(lambda t: problem.survival(data, [t])[0, 0], 0, until)
        np.testing.assert_allclose(problem.restricted_mean(data, until), area, rtol=1e-4)


def test_problems_tell_what_they_are():
    problem = simulate.competing_risks(censored=0.25)
    assert repr(problem) == (
        "<SurvivalProblem competing risks: 10 predictors, 4 relevant; 2 causes, 25% censored>"
    )
    with pytest.raises(AttributeError):
        problem.censored = 0.5


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("proportional_hazards", {"p": 4}, "relevant=5: use .* at most 4, all predictors"),
        ("proportional_hazards", {"censored": 1}, "censored=1: use a number from 0 to below 1"),
        ("proportional_hazards", {"strength": 11}, "strength=11: use a number from -10 to 10"),
        ("crossing_hazards", {"strength": -3}, "strength=-3: use a number from -2 to 2"),
        ("hazard_interaction", {"p": 1}, "p=1: use a whole number of at least 2"),
        ("hazard_jump", {"strength": np.nan}, "strength=nan: use a number"),
        ("competing_risks", {"relevant": 3}, "relevant=3: use an even number"),
        ("accelerated_failure", {"spread": 0}, "spread=0: use a number above 0 and at most 10"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda one, two, data: one.survival(data, 1), "times has 0 dimensions: use a list"),
        (lambda one, two, data: one.survival(data, ["a"]), "times holds no numbers"),
        (lambda one, two, data: one.survival(data, [-1]), "times holds values that are no times"),
        (lambda one, two, data: one.survival(data, [np.inf]), "use finite numbers of at least 0"),
        (lambda one, two, data: one.survival(data[["x1"]], [1]), "no column 'x2': hazard jump"),
        (lambda one, two, data: one.restricted_mean(data, -1), "until=-1: use a finite number"),
        (lambda one, two, data: one.cumulative_incidence(data, [1], "1"), "has one cause; leave"),
        (lambda one, two, data: two.cumulative_incidence(data, [1], "3"), "cause='3' is not known"),
        (lambda one, two, data: one.sample(0), "n=0: use a whole number of at least 1"),
    ],
)
def test_truth_that_cannot_be_told(call, words):
    problem = simulate.hazard_jump()
    data = problem.sample(5, seed=1)
    with pytest.raises(InputError, match=words):
        call(problem, simulate.competing_risks(), data)
