"""One number of the curves of a survival forest, as a regression forest of the same trees."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf.errors import InputError

DATA = odrf.simulate.hazard_jump(p=3).sample(150, seed=1)
ESTIMANDS = {"survival": "S(0.4)", "rmst": "RMST(0.4)", "hazard": "H(0.4)"}


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("Surv(time, event) ~ .", DATA, n_trees=20, seed=1)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_predictions_are_those_of_the_curves(forest, estimand):
    fit = forest.estimand(estimand, time=0.4)
    for newdata in (DATA, None):
        expected = forest.predict(newdata, type=estimand, times=0.4)[0.4]
        np.testing.assert_allclose(fit.predict(newdata), expected, rtol=1e-12)
    assert fit.design.response.name == ESTIMANDS[estimand]
    assert (fit.estimand, fit.time) == (estimand, 0.4)
    assert fit.call == f"{forest.call}.estimand({estimand!r}, time=0.4)"
    assert fit.predict(DATA, type="leaf").equals(forest.predict(DATA, type="leaf"))


def test_nodes_above_leaves_have_means_of_leaves(forest):
    trees = forest.estimand("survival", time=0.4).forest
    for i in np.flatnonzero(trees.left >= 0):
        children = slice(trees.left[i], trees.left[i] + 2)
        mean = np.average(trees.value[children, 0], weights=trees.weight[children])
        assert trees.value[i, 0] == pytest.approx(mean)


def test_whole_times_are_named_without_a_point():
    data = DATA.assign(time=DATA["time"] * 1000)
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    assert forest.estimand("rmst", time=365).design.response.name == "RMST(365)"
    assert forest.estimand("survival", time=36.5).design.response.name == "S(36.5)"


def test_responses_are_pseudo_values(forest):
    fit = forest.estimand("survival", time=0.4)
    seen = (DATA["time"] > 0.4) | DATA["event"]
    # of a row that nobody was lost before, they say what happened
    assert np.corrcoef(fit.fit.data.y[seen], DATA["time"][seen] > 0.4)[0, 1] > 0.9
    known = fit.predict().notna()
    error = ((fit.fit.data.y - fit.predict())[known] ** 2).mean()
    assert fit.oob_error == pytest.approx(error)


def test_several_causes_are_one_event():
    data = odrf.simulate.competing_risks().sample(150, seed=1)
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=5, seed=1)
    time = float(data["time"].median())
    values = forest.estimand("survival", time=time).predict(data)
    np.testing.assert_allclose(values, forest.predict(data, type="survival", times=time)[time])


@pytest.mark.parametrize(
    ("estimand", "time", "message"),
    [
        ("mean", 1.0, "^estimand='mean' is not known"),
        ("survival", "soon", "^time='soon': use a number above 0"),
        ("survival", -1, "^time=-1: use a number above 0"),
        ("survival", float("inf"), "^time=inf: use a number above 0"),
        ("survival", 1e-9, "^time=1e-09: the first event is at .*: use a later time"),
        ("hazard", 1e9, "^time=1000000000.0: the last row was observed until .*earlier"),
        ("survival", float(DATA["time"].max()), "is the same for all .*: use an earlier time"),
    ],
)
def test_times_without_an_answer(forest, estimand, time, message):
    if "is the same" in message:
        data = DATA.assign(event=DATA["event"] | (DATA["time"] == DATA["time"].max()))
        forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    with pytest.raises(InputError, match=message):
        forest.estimand(estimand, time=time)


def test_a_restricted_mean_up_to_the_first_event_is_that_of_all(forest):
    first = float(forest.event_times[0])
    with pytest.raises(InputError, match="all rows have the same curve until then"):
        forest.estimand("rmst", time=first)
    assert forest.estimand("survival", time=first).oob_error > 0


def test_times_after_the_last_event_warn():
    data = DATA.assign(event=DATA["event"] & (DATA["time"] < DATA["time"].max()))
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    with pytest.warns(UserWarning, match="curves stay as they are"):
        late = forest.estimand("survival", time=float(data["time"].max()))
    np.testing.assert_array_equal(
        late.predict(data), forest.predict(data, type="survival").iloc[:, -1]
    )
