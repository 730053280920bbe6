"""The incidence of a cause, and the time lost by it, as numbers of a survival forest's curves."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from lifetimes import incidence_by_cause
from odrf.errors import AbsentError, InputError
from odrf.results.absent import NEED
from odrf.results.survival.estimand import WITHOUT
from odrf.statistics.survival.pseudo_values import incidence_pseudo_values

FORMULA = "Surv(time, event) ~ ."
NAMES = {"incidence": "F(1, relapse)", "lost": "L(1, relapse)"}


def simulated(n: int, seed: int) -> pd.DataFrame:
    data = odrf.simulate.competing_risks(p=4).sample(n, seed=seed)
    codes = data["event"].astype(str).map({"censored": 0, "1": 1, "2": 2})
    event = pd.Categorical.from_codes(codes, ["censored", "relapse", "death"])
    return data.assign(event=event)


DATA, NEW = simulated(200, 1), simulated(20, 2)


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
@pytest.mark.parametrize("estimand", NAMES)
def test_predictions_are_those_of_the_curves(forest, estimand):
    fit = forest.estimand(estimand, time=1, cause="relapse")
    for newdata in (NEW, None):
        expected = forest.predict(newdata, type=estimand, times=1, cause="relapse")[1]
        np.testing.assert_allclose(fit.predict(newdata), expected, rtol=1e-9, atol=1e-12)
    assert fit.design.response.name == NAMES[estimand]
    assert (fit.estimand, fit.time, fit.cause) == (estimand, 1, "relapse")
    assert fit.call == f"{forest.call}.estimand({estimand!r}, time=1, cause='relapse')"


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_the_causes_and_survival_add_up(forest):
    of_causes = [
        forest.estimand("incidence", time=1, cause=cause) for cause in ("relapse", "death")
    ]
    survival = forest.estimand("survival", time=1)
    for read in (lambda fit: fit.predict(NEW), lambda fit: fit.fit.data.y):
        np.testing.assert_allclose(sum(map(read, of_causes)) + read(survival), 1.0)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
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


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_comparisons_are_differences_of_incidences(forest):
    fit = forest.estimand("incidence", time=1, cause="death")
    table = fit.comparisons("x1", contrast=(-0.5, 0.5)).table
    low, high = (
        forest.predict(DATA.assign(x1=x), type="incidence", times=1, cause="death")[1].mean()
        for x in (-0.5, 0.5)
    )
    assert table["estimate"].item() == pytest.approx(high - low)
    assert table["std_error"].item() > 0


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_partial_dependence_and_confidence_intervals(forest):
    fit = forest.estimand("lost", time=1, cause="relapse")
    curve = fit.partial("x1", values=[0.5]).table
    lost = forest.predict(DATA.assign(x1=0.5), type="lost", times=1, cause="relapse")[1]
    assert curve["estimate"].item() == pytest.approx(lost.mean())
    frame = fit.predict(NEW, interval="confidence")
    lost = forest.predict(NEW, type="lost", times=1, cause="relapse")[1]
    np.testing.assert_allclose(frame["estimate"], lost, rtol=1e-9)
    assert (frame["conf_low"] < lost).all() and (lost < frame["conf_high"]).all()


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_pseudo_values_are_predicted_out_of_bag(forest):
    for cause in ("relapse", "death"):
        fit = forest.estimand("incidence", time=1, cause=cause)
        assert fit.oob_error < 0.9 * fit.fit.data.y.var()
        assert fit.importance("permutation")["importance"].max() > 0


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
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


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
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


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_where_all_had_the_event_incidences_are_the_same():
    data = DATA.assign(event=True)
    forest = odrf.odrf(FORMULA, data, n_trees=2, seed=1)
    with pytest.raises(InputError, match="is the same for all training rows"):
        forest.estimand("incidence", time=float(data["time"].max()))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_causes_by_numbers_and_without_events():
    codes = DATA["event"].cat.codes
    rows = DATA.assign(event=pd.Categorical(codes, [0, 1, 2, 7]))
    forest = odrf.odrf(FORMULA, rows, n_trees=5, seed=1)
    assert forest.estimand("incidence", time=1, cause=2).cause == "2"
    with pytest.raises(InputError, match=r"^cause=7 is not known: use one of '1', '2', of which"):
        forest.estimand("incidence", time=1, cause=7)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
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


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_times_before_the_first_event_of_the_cause(forest):
    first = DATA.loc[DATA["event"] == "death", "time"].min()
    message = "the first event of cause 'death' is at .*: use a later time"
    for estimand, time in (("incidence", first * 0.999), ("lost", first)):
        with pytest.raises(InputError, match=message):
            forest.estimand(estimand, time=time, cause="death")
    assert forest.estimand("incidence", time=first, cause="death").oob_error > 0


# ------------------------------------------------------------------------------------------------
# What one number of the curves has of a regression forest, and what it refuses.
# ------------------------------------------------------------------------------------------------

DATA_OF_ESTIMAND_RESULTS = odrf.simulate.hazard_jump(p=3).sample(150, seed=1)


@pytest.fixture(scope="module")
def forest_of_estimand_results():
    return odrf.odrf(
        "Surv(time, event) ~ .", DATA_OF_ESTIMAND_RESULTS, n_trees=150, inference=True, seed=1
    )


@pytest.fixture(scope="module")
def fit(forest_of_estimand_results):
    return forest_of_estimand_results.estimand("survival", time=0.4)


def test_partial_dependence_is_the_mean_of_curves(forest_of_estimand_results, fit):
    curve = fit.partial("x1", values=[-0.5, 0.5]).table
    for value, estimate in zip(curve["value"], curve["estimate"], strict=True):
        survival = forest_of_estimand_results.predict(
            DATA_OF_ESTIMAND_RESULTS.assign(x1=value), type="survival", times=0.4
        )[0.4]
        assert estimate == pytest.approx(survival.mean())
    assert (curve["std_error"] > 0).all()


def test_comparisons_are_differences_of_restricted_means(forest_of_estimand_results):
    table = (
        forest_of_estimand_results.estimand("rmst", time=0.5)
        .comparisons("x1", contrast=(-0.5, 0.5))
        .table
    )
    low, high = (
        forest_of_estimand_results.predict(
            DATA_OF_ESTIMAND_RESULTS.assign(x1=value), type="rmst", times=0.5
        )[0.5].mean()
        for value in (-0.5, 0.5)
    )
    assert table["estimate"].item() == pytest.approx(high - low)
    assert table["std_error"].item() > 0


def test_shapley_values_add_up(forest_of_estimand_results, fit):
    rows = DATA_OF_ESTIMAND_RESULTS.head(3)
    values = fit.shap(rows, background=DATA_OF_ESTIMAND_RESULTS.head(10))
    predicted = forest_of_estimand_results.predict(rows, type="survival", times=0.4)[0.4]
    np.testing.assert_allclose(values.base + values.values.sum(axis=1), predicted)


def test_confidence_intervals(forest_of_estimand_results, fit):
    frame = fit.predict(DATA_OF_ESTIMAND_RESULTS.head(5), interval="confidence")
    survival = forest_of_estimand_results.predict(
        DATA_OF_ESTIMAND_RESULTS.head(5), type="survival", times=0.4
    )[0.4]
    np.testing.assert_allclose(frame["estimate"], survival)
    assert (frame["conf_low"] < survival).all() and (survival < frame["conf_high"]).all()


def test_intervals_of_probabilities_are_probabilities(forest_of_estimand_results):
    """Nearly nobody has had the event by an early time: plain intervals would pass 1."""
    early = forest_of_estimand_results.estimand("survival", time=0.06)
    frame = early.predict(interval="confidence")
    assert (frame["estimate"] + 1.96 * frame["std_error"] > 1).any()
    tables = [frame, early.predictions().table, early.predictions(at={"x1": [-0.5, 0.5]}).table]
    tables += [early.partial("x1").table, early.partial(["x1", "x2"]).table]
    for table in tables:
        limits = table[["conf_low", "conf_high"]].dropna()
        assert len(limits) and limits.min().min() >= 0 and limits.max().max() <= 1
    means = forest_of_estimand_results.estimand("rmst", time=0.06).predict(interval="confidence")
    plain = means["estimate"] + 1.959964 * means["std_error"]
    np.testing.assert_allclose(means["conf_high"], plain, rtol=1e-6)
    differences = early.comparisons("x1").table
    plain = differences["estimate"] - 1.959964 * differences["std_error"]
    np.testing.assert_allclose(differences["conf_low"], plain, rtol=1e-5)


def test_importances_tell_relevant_predictors(fit):
    for type in (None, "out_of_bag", "permutation"):
        assert fit.importance(type)["importance"].idxmin() == "x3"


def test_a_surrogate_tree_imitates_the_number(fit):
    tree = fit.surrogate(max_leaves=4)
    assert tree.fidelity > 0.3


def test_other_readings(fit):
    for found in (
        fit.ale("x1"), fit.ice("x1"), fit.slopes(), fit.explain(DATA_OF_ESTIMAND_RESULTS.head(1)),
        fit.interactions(["x1", "x2"], rows=5), fit.proximity(), fit.summary(),
    ):  # fmt: skip
        assert repr(found)
    assert "survival at 0.4" in str(fit.summary()) and "Survival at 0.4" in repr(fit)
    assert np.isclose(
        fit.row_predictor()(DATA_OF_ESTIMAND_RESULTS.loc[0]),
        fit.predict(DATA_OF_ESTIMAND_RESULTS)[0],
    )
    fit.plot()
    plt.close("all")


def test_files_of_estimand_results(fit, tmp_path):
    fit.save(tmp_path / "fit")
    again = odrf.load(tmp_path / "fit")
    assert type(again) is type(fit) and (again.estimand, again.time) == ("survival", 0.4)
    assert again.predict().equals(fit.predict())
    assert again.comparisons().table.equals(fit.comparisons().table)
    assert pickle.loads(pickle.dumps(fit)).predict().equals(fit.predict())


@pytest.mark.parametrize("name", [name for name in WITHOUT if name in NEED])
def test_what_would_grow_or_change_trees_is_not_there(fit, name):
    with pytest.raises(AbsentError, match=f"^EstimandResults has no '{name}': ") as caught:
        getattr(fit, name)
    assert str(caught.value).endswith(WITHOUT[name])
    assert not hasattr(fit, name)
    assert isinstance(caught.value, InputError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.predict(interval="prediction"), "those of pseudo-values"),
        (lambda fit: fit.predict(type="quantile"), "those of pseudo-values"),
        (lambda fit: fit.predict(quantiles=0.5), "those of pseudo-values"),
        (lambda fit: fit.interactions(permutations=1), "^permutations=1: it grows trees anew"),
        (lambda fit: fit.proximity(type="weights"), '^type="weights": .*use type="plain"'),
        (lambda fit: fit.importance("impurity"), "found for curves.*out_of_bag"),
        (lambda fit: fit.importance("held_out"), "grows trees anew.*out_of_bag"),
        (lambda fit: fit.importance("conditional"), "not for numbers of curves.*grows trees anew"),
        (lambda fit: fit.importance("knockoff"), "grows trees anew.*out_of_bag"),
        (lambda fit: fit.importance("all"), "^type='all' is not known"),
        (
            lambda fit: fit.design.labelled(DATA_OF_ESTIMAND_RESULTS),
            "is a survival time, and no number",
        ),
    ],
)
def test_refusals_of_estimand_results(fit, call, message):
    with pytest.raises(InputError, match=message):
        call(fit)


def test_misspelt_names(fit):
    with pytest.raises(AttributeError, match=r"has no 'predictt'; did you mean 'predict'\?$"):
        fit.predictt()


# ------------------------------------------------------------------------------------------------
# Intervals and bands of the incidence of a cause.
# ------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
@pytest.mark.parametrize("newdata", [NEW, None])
def test_standard_errors_are_those_of_the_incidence_at_each_time(forest, newdata):
    table = forest.bands(newdata, times=[0.5, 1], cause="death").table
    for time in (0.5, 1):
        of_time = table[table["time"] == time]
        fit = forest.estimand("incidence", time=time, cause="death")
        expected = fit.predict(newdata, interval="confidence")
        np.testing.assert_allclose(of_time["estimate"], expected["estimate"], rtol=1e-9)
        np.testing.assert_allclose(of_time["std_error"], expected["std_error"], rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_bands_never_fall_and_have_intervals_inside(forest):
    found = forest.bands(NEW, cause="relapse")
    table = found.table
    low, conf_low, estimate, conf_high, high = (
        table[name] for name in ("band_low", "conf_low", "estimate", "conf_high", "band_high")
    )
    assert (low >= 0).all() and (high <= 1).all()
    assert (low <= conf_low).all() and (conf_high <= high).all()
    assert (conf_low <= estimate + 1e-12).all() and (estimate <= conf_high + 1e-12).all()
    by_row = table.groupby("row")[["band_low", "band_high"]]
    assert (by_row.diff().dropna() >= 0).all(axis=None)
    assert (found.reach > 1.96).all()


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_intervals_are_symmetric_for_the_logarithm_of_hazards(forest):
    table = forest.bands(NEW, times=1, cause="relapse").table
    table = table[(table["estimate"] > 0.05) & (table["estimate"] < 0.95)]

    def scale(p):
        return np.log(-np.log1p(-p))

    up = scale(table["conf_high"]) - scale(table["estimate"])
    np.testing.assert_allclose(up, scale(table["estimate"]) - scale(table["conf_low"]))


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_of_one_cause_they_are_1_minus_those_of_survival():
    data = DATA.assign(event=DATA["event"] != "censored")
    forest = odrf.odrf(FORMULA, data, n_trees=100, inference=True, seed=1)
    survival = forest.bands(NEW).table
    incidence = forest.bands(NEW, cause="event").table
    for name, turned in (("estimate", "estimate"), ("conf_low", "conf_high")):
        np.testing.assert_allclose(incidence[name], 1 - survival[turned], atol=1e-8)
    # the width is found by random draws, which rounding can turn
    np.testing.assert_allclose(incidence["band_high"], 1 - survival["band_low"], atol=0.01)


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_before_the_first_event_of_the_cause(forest):
    first = float(DATA.loc[DATA["event"] == "death", "time"].min())
    table = forest.bands(NEW, times=[0.0, first / 2, 1], cause="death").table
    at_0, early, later = (table[table["time"] == time] for time in (0.0, first / 2, 1))
    assert (at_0[["estimate", "conf_low", "conf_high", "band_high"]] == 0).all(axis=None)
    assert (early["std_error"] == 0).all() and (early["band_low"] == 0).all()
    np.testing.assert_array_equal(early["band_high"], later["band_high"])


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_it_shows_itself(forest):
    found = forest.bands(NEW, times=[0.5, 1], cause="death")
    assert found.cause == "death"
    assert "Incidences of death with bands" in repr(found)
    assert "Incidence of death by time" in str(found.summary())
    axes = found.plot()
    assert axes.get_ylabel() == "predicted incidence of death"
    assert all(line.get_ydata()[0] == 0 for line in axes.get_lines())
    plt.close("all")


@pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")
def test_an_unknown_cause(forest):
    with pytest.raises(InputError, match="cause='x' is not known: use one of 'relapse'"):
        forest.bands(NEW, cause="x")
