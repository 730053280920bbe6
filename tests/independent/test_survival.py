"""Survival by lifelines, scikit-survival and R: see ``survival_anchors.py`` and ``survival.R``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lifetimes import incidence_by_cause
from odrf.statistics.survival.curves import (
    cumulative_incidence,
    kaplan_meier,
    number_at_risk,
    risk_sets,
)
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    dynamic_areas,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.pseudo_values import (
    restricted_mean_pseudo_values,
    survival_pseudo_values,
)
from odrf.statistics.survival.scores import brier_scores
from reference import survival as twin

ROWS = pd.read_csv(Path(__file__).with_name("survival_rows.csv"))
COLUMNS = {name: ROWS[name].to_numpy() for name in ROWS}
TIME, EVENT, SCORE = (COLUMNS[name] for name in ("time", "event", "score"))
HAPPENED, WEIGHTS, COPIES = EVENT > 0, COLUMNS["weights"], COLUMNS["copies"].astype(float)
# as in the scripts
AT = np.array([0.55, 1.05, 1.55, 2.05])
RISK = ROWS[[f"risk{m}" for m in range(len(AT))]].to_numpy()
EARLY = np.floor(10 * COLUMNS["start"]) / 10
DISTINCT = TIME + 1e-4 * np.arange(1, len(TIME) + 1)
TRAINING, NEW = slice(0, 80), slice(80, None)


def table(name):
    found = pd.read_csv(Path(__file__).with_name(f"survival_{name}.csv"))
    return dict(list(found.groupby("what", sort=False)))


PYTHON, R = table("python"), table("r")


def twins(time=TIME, weights=None, start=None):
    """The rows as the twins take them."""
    weights = np.ones(len(time)) if weights is None else weights
    start = np.zeros(len(time)) if start is None else start
    return twin.Rows(time.tolist(), EVENT.tolist(), weights.tolist(), start.tolist())


def equal(ours, theirs, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(ours, theirs["value"], rtol=rtol, atol=atol)


LIFELINES = {
    "plain": {},
    "weighted": {"weights": COPIES},
    "late": {"weights": COPIES, "start": COLUMNS["start"]},
}
OF_R = {
    "plain": {},
    "weighted": {"weights": COPIES},
    "late": {"weights": COPIES, "start": EARLY},
    "robust": {"weights": WEIGHTS},
    "robust late": {"weights": WEIGHTS, "start": EARLY},
}


@pytest.mark.parametrize("name", LIFELINES)
def test_curves_are_those_of_lifelines(name):
    ours = kaplan_meier(TIME, EVENT, **LIFELINES[name])
    equal(ours.survival, PYTHON[f"survival {name}"])
    assert ours.times.tolist() == PYTHON[f"survival {name}"]["at"].tolist()
    for limits, side in zip(ours.limits(), ("low", "high"), strict=True):
        alive = ours.survival > 0
        equal(limits[alive], PYTHON[f"{side} {name}"][alive])
    hazards = [twin.cumulative_hazard(twins(**LIFELINES[name]), t) for t in ours.times]
    equal(hazards, PYTHON[f"hazard {name}"])


@pytest.mark.parametrize("name", OF_R)
def test_curves_and_errors_are_those_of_r(name):
    ours = kaplan_meier(TIME, EVENT, **OF_R[name])
    robust = name.startswith("robust")
    equal(ours.survival, R[f"survival {name}"])
    equal(ours.sets.at_risk, R[f"at risk {name}"])
    equal(number_at_risk(ours.times, TIME, **OF_R[name]), R[f"at risk {name}"])
    if robust:
        alive = ours.survival > 0
        variance = cumulative_incidence(TIME, EVENT, **OF_R[name]).robust_variance
        equal(np.sqrt(variance)[alive], R[f"error {name}"][alive])
    else:
        equal(np.sqrt(ours.variance), R[f"error {name}"])
        for limits, side in zip(ours.limits(), ("low", "high"), strict=True):
            equal(limits, R[f"{side} {name}"])
    hazards = [twin.cumulative_hazard(twins(**OF_R[name]), t) for t in ours.times]
    equal(hazards, R[f"hazard {name}"])


def test_the_median_is_that_of_r():
    equal(kaplan_meier(TIME, EVENT).quantile(), R["median"])


def test_the_curve_of_censoring_is_that_of_scikit_survival():
    equal(censoring_curve(TIME, EVENT)(AT), PYTHON["censoring"])


def test_harrells_c_is_that_of_scikit_survival():
    ours = harrells_c(TIME, EVENT, SCORE)
    equal([ours.estimate], PYTHON["harrell"])
    equal([ours.tied], PYTHON["tied"])
    equal([ours.in_order - ours.tied / 2], PYTHON["in order"])
    equal([ours.compared - ours.in_order - ours.tied / 2], PYTHON["not in order"])


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {}),
        ("weighted", {"weights": WEIGHTS}),
        ("late", {"weights": WEIGHTS, "start": EARLY}),
    ],
)
def test_harrells_c_and_its_error_are_those_of_r(name, options):
    ours = harrells_c(TIME, EVENT, SCORE, **options)
    equal([ours.estimate], R[f"concordance {name}"])
    equal([ours.std_error**2], R[f"variance of concordance {name}"])


def evaluated(name):
    """The rows that are evaluated, and the curve of other rows if they are new."""
    if not name:
        return slice(None), None
    return NEW, censoring_curve(TIME[TRAINING], EVENT[TRAINING])


@pytest.mark.parametrize("name", ["", " new"])
def test_unos_c_is_that_of_scikit_survival(name):
    rows, G = evaluated(name)
    given = TIME[rows], EVENT[rows], SCORE[rows]
    equal([unos_c(*given, t, observed=G).estimate for t in AT], PYTHON[f"uno{name}"])


def test_unos_c_is_that_of_r():
    theirs = R["concordance by censoring"]
    equal([unos_c(TIME, EVENT, SCORE, float(t)).estimate for t in theirs["at"]], theirs)


@pytest.mark.parametrize("name", ["", " new"])
def test_brier_scores_are_those_of_scikit_survival(name):
    rows, G = evaluated(name)
    ours = brier_scores(TIME[rows], EVENT[rows], RISK[rows], AT, observed=G)
    equal(ours.score, PYTHON[f"brier{name}"])
    equal([ours.integrated.estimate], PYTHON[f"integrated brier{name}"])


@pytest.mark.parametrize("name", ["", " new"])
def test_areas_are_those_of_scikit_survival(name):
    rows, G = evaluated(name)
    ours = dynamic_areas(TIME[rows], EVENT[rows], RISK[rows], AT, observed=G)
    equal(ours.area, PYTHON[f"area{name}"])
    equal([ours.mean.estimate], PYTHON[f"mean area{name}"])


@pytest.mark.parametrize("cause", [1, 2])
@pytest.mark.parametrize("name", LIFELINES)
def test_incidences_and_variances_are_those_of_lifelines(name, cause):
    distinct = TIME + 1e-4 * np.arange(len(TIME))
    ours = incidence_by_cause(distinct, EVENT, **LIFELINES[name])[cause]
    of_cause = np.isin(ours.times, distinct[cause == EVENT])
    equal(ours.incidence[of_cause], PYTHON[f"incidence of {cause} {name}"])
    equal(ours.variance[of_cause], PYTHON[f"variance of {cause} {name}"])


@pytest.mark.parametrize("cause", [1, 2])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", {}),
        ("weighted", {"weights": WEIGHTS}),
        ("late", {"weights": WEIGHTS, "start": EARLY}),
    ],
)
def test_incidences_and_robust_errors_are_those_of_r(name, options, cause):
    ours = incidence_by_cause(TIME, EVENT, **options)[cause]
    equal(ours.incidence, R[f"incidence of {cause} {name}"])
    equal(np.sqrt(ours.robust_variance), R[f"robust error of {cause} {name}"])


@pytest.mark.parametrize("cause", [1, 2])
def test_incidences_are_those_of_cmprsk(cause):
    ours = incidence_by_cause(TIME, EVENT)[cause]
    equal(ours.incidence, R[f"cmprsk incidence of {cause}"])


@pytest.mark.parametrize("cause", [1, 2])
def test_grays_test_of_the_twin_is_that_of_cmprsk(cause):
    rows, group, stratum = twins(), COLUMNS["group"].tolist(), COLUMNS["stratum"]
    levels = sorted(set(group))
    plain = twin.grays_test(rows, group, cause, levels)
    equal(twin.statistic(*plain), R[f"gray plain of {cause}"])
    score, covariance = 0.0, 0.0
    for h in np.unique(stratum):
        inside = np.flatnonzero(stratum == h)
        part = twin.Rows(*([column[i] for i in inside] for column in rows))
        found = twin.grays_test(part, [group[i] for i in inside], cause, levels)
        score, covariance = score + found[0], covariance + found[1]
    equal(twin.statistic(score, covariance), R[f"gray in strata of {cause}"])


@pytest.mark.parametrize("cause", [None, 1])
def test_areas_brier_scores_and_errors_are_those_of_risk_regression(cause):
    """Their errors are standard deviations of approximate influences; times are distinct."""
    rows, name = (DISTINCT, EVENT, RISK, AT, cause), f"of {cause}" if cause else "of all"
    larger = np.sqrt(len(TIME) / (len(TIME) - 1))
    areas, scores = dynamic_areas(*rows), brier_scores(*rows)
    equal(areas.area, R[f"riskRegression area {name}"])
    equal(areas.std_error * larger, R[f"error of riskRegression area {name}"], 1e-3)
    equal(scores.score, R[f"riskRegression brier {name}"])
    equal(scores.std_error * larger, R[f"error of riskRegression brier {name}"], 1e-3)


def test_the_concordance_of_a_cause_is_that_of_pec():
    theirs = R["pec concordance"]
    ours = [concordance_of_cause(DISTINCT, EVENT, SCORE, 1, float(t)) for t in theirs["at"]]
    equal([each.estimate for each in ours], theirs)


def test_restricted_means_of_the_twin_are_those_of_r():
    theirs = R["restricted mean"]
    equal([twin.restricted_mean(twins(), float(t)) for t in theirs["at"]], theirs)


def test_pseudo_values_are_those_of_r():
    """Its own are by the infinitesimal jackknife, too."""
    sets = risk_sets(TIME, EVENT)
    equal(survival_pseudo_values(sets, 1.05), R["infinitesimal pseudo"])
    equal(restricted_mean_pseudo_values(sets, 1.05), R["infinitesimal pseudo mean"])


def test_log_rank_tests_of_the_twin_are_those_of_lifelines_and_r():
    group, stratum, one = COLUMNS["group"].tolist(), COLUMNS["stratum"].tolist(), [0] * len(TIME)
    plain = twin.statistic(*twin.log_rank(twins(), group, one))
    equal(plain, PYTHON["log-rank"])
    equal(plain, R["log-rank"])
    weighted = twin.log_rank(twins(weights=COPIES), group, one)
    equal(twin.statistic(*weighted), PYTHON["log-rank weighted"])
    in_strata = twin.log_rank(twins(), group, stratum)
    equal(twin.statistic(*in_strata), R["log-rank in strata"])
    late = twin.log_rank(twins(DISTINCT, start=EARLY), group, stratum)
    equal(twin.statistic(*late), R["log-rank late in strata"])
