"""The incidence of a cause, and the time lost by it, as numbers of a survival forest's curves."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from lifetimes import incidence_by_cause
from odrf.errors import InputError
from odrf.statistics.survival.pseudo_values import incidence_pseudo_values

FORMULA = "Surv(time, event) ~ ."
NAMES = {"incidence": "F(1, relapse)", "lost": "L(1, relapse)"}
pytestmark = pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")


def simulated(n: int, seed: int) -> pd.DataFrame:
    data = odrf.simulate.competing_risks(p=4).sample(n, seed=seed)
    codes = data["event"].astype(str).map({"censored": 0, "1": 1, "2": 2})
    event = pd.Categorical.from_codes(codes, ["censored", "relapse", "death"])
    return data.assign(event=event)


DATA, NEW = simulated(200, 1), simulated(20, 2)


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1)


@pytest.mark.parametrize("estimand", NAMES)
def test_predictions_are_those_of_the_curves(forest, estimand):
    fit = forest.estimand(estimand, time=1, cause="relapse")
    for newdata in (NEW, None):
        expected = forest.predict(newdata, type=estimand, times=1, cause="relapse")[1]
        np.testing.assert_allclose(fit.predict(newdata), expected, rtol=1e-9, atol=1e-12)
    assert fit.design.response.name == NAMES[estimand]
    assert (fit.estimand, fit.time, fit.cause) == (estimand, 1, "relapse")
    assert fit.call == f"{forest.call}.estimand({estimand!r}, time=1, cause='relapse')"


def test_the_causes_and_survival_add_up(forest):
    of_causes = [
        forest.estimand("incidence", time=1, cause=cause) for cause in ("relapse", "death")
    ]
    survival = forest.estimand("survival", time=1)
    for read in (lambda fit: fit.predict(NEW), lambda fit: fit.fit.data.y):
        np.testing.assert_allclose(sum(map(read, of_causes)) + read(survival), 1.0)


def test_responses_are_pseudo_values_of_the_weighted_estimate():
    rows = DATA.assign(w=np.random.default_rng(1).uniform(0.5, 2, len(DATA)), start=0.0)
    rows["start"] = rows["time"] / 4
    fit = odrf.odrf(
        "Surv(start, time, event) ~ x1 + x2", rows, n_trees=5, weights="w", seed=1
    ).estimand("incidence", time=1, cause="death")
    codes = rows["event"].cat.codes.to_numpy(np.int64)
    weights = fit.fit.data.weights
    time, start = (rows[name].to_numpy() for name in ("time", "start"))
    found = incidence_by_cause(time, codes, weights, start)[2]
    np.testing.assert_allclose(fit.fit.data.y, incidence_pseudo_values(found, 1.0))


def test_comparisons_are_differences_of_incidences(forest):
    fit = forest.estimand("incidence", time=1, cause="death")
    table = fit.comparisons("x1", contrast=(-0.5, 0.5)).table
    low, high = (
        forest.predict(DATA.assign(x1=x), type="incidence", times=1, cause="death")[1].mean()
        for x in (-0.5, 0.5)
    )
    assert table["estimate"].item() == pytest.approx(high - low)
    assert table["std_error"].item() > 0


def test_partial_dependence_and_confidence_intervals(forest):
    fit = forest.estimand("lost", time=1, cause="relapse")
    curve = fit.partial("x1", values=[0.5]).table
    lost = forest.predict(DATA.assign(x1=0.5), type="lost", times=1, cause="relapse")[1]
    assert curve["estimate"].item() == pytest.approx(lost.mean())
    frame = fit.predict(NEW, interval="confidence")
    lost = forest.predict(NEW, type="lost", times=1, cause="relapse")[1]
    np.testing.assert_allclose(frame["estimate"], lost, rtol=1e-9)
    assert (frame["conf_low"] < lost).all() and (lost < frame["conf_high"]).all()


def test_pseudo_values_are_predicted_out_of_bag(forest):
    for cause in ("relapse", "death"):
        fit = forest.estimand("incidence", time=1, cause=cause)
        assert fit.oob_error < 0.9 * fit.fit.data.y.var()
        assert fit.importance("permutation")["importance"].max() > 0


def test_files(forest, tmp_path):
    fit = forest.estimand("incidence", time=1, cause="death")
    fit.save(tmp_path / "fit")
    again = odrf.load(tmp_path / "fit")
    assert (again.estimand, again.time, again.cause) == ("incidence", 1.0, "death")
    assert again.predict().equals(fit.predict())
    assert again.comparisons("x1").table.equals(fit.comparisons("x1").table)
    assert "Cumulative incidence of death at 1" in repr(again)
    lost = forest.estimand("lost", time=1.5, cause="death")
    assert "time lost by death up to 1.5" in str(lost.summary())


def test_of_one_cause_the_incidence_is_1_minus_survival():
    data = DATA.assign(event=DATA["event"] != "censored")
    forest = odrf.odrf(FORMULA, data, n_trees=20, seed=1)
    incidence, survival = (forest.estimand(each, time=1) for each in ("incidence", "survival"))
    np.testing.assert_allclose(incidence.predict(NEW), 1 - survival.predict(NEW))
    np.testing.assert_allclose(incidence.fit.data.y, 1 - survival.fit.data.y, atol=1e-12)
    assert incidence.design.response.name == "F(1)" and incidence.cause is None
    assert incidence.fit.in_words == "cumulative incidence of the event at 1"
    lost, mean = (forest.estimand(each, time=1) for each in ("lost", "rmst"))
    np.testing.assert_allclose(lost.predict(NEW) + mean.predict(NEW), 1)
    with pytest.raises(InputError, match=r"^cause='event': there is one cause: leave cause= out"):
        forest.estimand("incidence", time=1, cause="event")


def test_where_all_had_the_event_incidences_are_the_same():
    data = DATA.assign(event=True)
    forest = odrf.odrf(FORMULA, data, n_trees=2, seed=1)
    with pytest.raises(InputError, match="is the same for all training rows"):
        forest.estimand("incidence", time=float(data["time"].max()))


def test_causes_by_numbers_and_without_events():
    codes = DATA["event"].cat.codes
    rows = DATA.assign(event=pd.Categorical(codes, [0, 1, 2, 7]))
    forest = odrf.odrf(FORMULA, rows, n_trees=5, seed=1)
    assert forest.estimand("incidence", time=1, cause=2).cause == "2"
    with pytest.raises(InputError, match=r"^cause=7 is not known: use one of '1', '2', of which"):
        forest.estimand("incidence", time=1, cause=7)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"estimand": "incidence", "time": 1}, "use cause= with one of 'relapse', 'death'"),
        ({"estimand": "lost", "time": 1}, "^estimand='lost' is of one cause of events"),
        ({"estimand": "lost", "time": 1, "cause": "x"}, "^cause='x' is not known"),
        (
            {"estimand": "survival", "time": 1, "cause": "death"},
            "^cause='death': 'survival' is of all together: leave cause= out",
        ),
    ],
)
def test_refusals(forest, asked, message):
    with pytest.raises(InputError, match=message):
        forest.estimand(**asked)


def test_times_before_the_first_event_of_the_cause(forest):
    first = DATA.loc[DATA["event"] == "death", "time"].min()
    message = "the first event of cause 'death' is at .*: use a later time"
    for estimand, time in (("incidence", first * 0.999), ("lost", first)):
        with pytest.raises(InputError, match=message):
            forest.estimand(estimand, time=time, cause="death")
    assert forest.estimand("incidence", time=first, cause="death").oob_error > 0
