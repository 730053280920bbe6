"""Results of boosted oblique trees for survival times."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, odbt
from odrf.statistics.survival.discrimination import dynamic_areas, harrells_c
from odrf.statistics.survival.scores import calibration_at

FORMULA = "Surv(time, event) ~ ."
LAWS = ["lognormal", "loglogistic", "weibull"]
ONE_RUN = {"n_runs": 1, "validation": None}
PROBLEM = odrf.simulate.proportional_hazards()


@pytest.fixture(scope="module")
def data():
    frame = PROBLEM.sample(150, seed=1)
    return frame.set_index(frame.index + 10)


@pytest.fixture(scope="module")
def new():
    return PROBLEM.sample(400, seed=2)


@pytest.fixture(scope="module")
def hazards(data):
    return odbt(FORMULA, data, n_trees=12, seed=1, **ONE_RUN)


def test_new_empty_cells_count_as_means_of_nodes(data, new):
    stump = odbt("Surv(time, event) ~ x1", data, n_trees=1, max_depth=1, seed=1, **ONE_RUN)
    empty, mean = new[:3].assign(x1=np.nan), new[:3].assign(x1=data["x1"].mean())
    least = new[:3].assign(x1=data["x1"].min())
    found = stump.predict(empty, type="link")
    assert found.equals(stump.predict(mean, type="link"))
    assert not found.equals(stump.predict(least, type="link"))


@pytest.fixture(scope="module")
def runs(data):
    return odbt(FORMULA, data, n_trees=12, n_runs=8, validation=None, seed=1)


@pytest.mark.parametrize("loss", ["auto", *LAWS])
@pytest.mark.parametrize("options", [{}, ONE_RUN, {"validation": 0.3}, {"n_runs": 8}])
def test_risks_put_new_rows_in_order(data, new, loss, options):
    fit = odbt(FORMULA, data, loss=loss, n_trees=20, seed=1, **options)
    C = harrells_c(new["time"], new["event"], fit.predict(new).to_numpy())
    assert C.estimate > 0.62
    survival = fit.predict(new, type="survival", times=[0.1, 0.5, 2.0])
    assert (np.diff(survival, axis=1) <= 0).all()
    assert survival.to_numpy().min() >= 0
    assert fit.control.loss == ("cox" if loss == "auto" else loss)


def test_predictions_agree_with_each_other(data, new, hazards):
    at = [0.0, 0.2, 1.0]
    survival = hazards.predict(new, type="survival", times=at)
    assert list(survival) == at
    assert survival.index.equals(new.index)
    assert (survival[0.0] == 1).all()
    cumulative = hazards.predict(new, type="hazard", times=at)
    assert np.exp(-cumulative).to_numpy() == pytest.approx(survival.to_numpy())
    median = hazards.predict(new, type="time")
    assert hazards.predict(new, type="quantile", quantiles=0.5)[0.5].tolist() == median.tolist()
    reached = np.isfinite(median)
    for row in np.flatnonzero(reached)[:5]:
        curve = hazards.predict(new.iloc[[row]], type="survival").iloc[0]
        assert median.iloc[row] == curve.index[(curve <= 0.5).argmax()]
    grid = np.linspace(0, 1, 5001)[:-1] + 1e-4
    curve = hazards.predict(new.iloc[:3], type="survival", times=grid)
    area = hazards.predict(new.iloc[:3], type="rmst", times=1.0)[1.0]
    assert curve.mean(axis=1).tolist() == pytest.approx(area.tolist(), rel=1e-3)
    assert hazards.predict(new, type="risk").tolist() == hazards.predict(new, type="link").tolist()
    assert hazards.predict(type="leaf").shape == (150, 12)
    whole = hazards.predict(new, type="survival")
    assert list(whole) == hazards.event_times.tolist()


def test_times_are_longer_where_scores_of_failure_times_are(data, new):
    fit = odbt(FORMULA, data, loss="weibull", n_trees=10, seed=1)
    link, risk, median = (fit.predict(new, type=kind) for kind in ("link", "risk", "time"))
    assert (risk == -link).all()
    assert (np.argsort(link) == np.argsort(median)).all()


def test_scores_of_training_rows_are_out_of_bag_with_several_runs(data, runs):
    assert not runs.predict().equals(runs.predict(training="in-bag"))
    assert runs.predict(training="in-bag").tolist() == runs.predict(data).tolist()
    assert runs.fit.evaluated == "out of bag"
    assert runs.fit.curves.slope != 1
    known = runs.predict().notna().to_numpy()
    risk = runs.predict()[known].to_numpy()
    C = harrells_c(data["time"][known], data["event"][known], risk)
    assert runs.score().loc["harrell_c", "estimate"] == pytest.approx(C.estimate)


def test_calibrated_curves_are_better_than_those_of_training_rows(new):
    data = PROBLEM.sample(200, seed=3)
    fit = odbt(FORMULA, data, n_trees=100, n_runs=10, validation=None, seed=1)
    grid = np.quantile(new["time"], [0.25, 0.5, 0.75])
    truth = PROBLEM.survival(new, grid)
    calibrated = fit.predict(new, type="survival", times=grid)
    single = odbt(FORMULA, data, n_trees=100, seed=1, **ONE_RUN)
    single = single.predict(new, type="survival", times=grid)
    assert fit.fit.curves.slope < 0.8
    assert ((calibrated - truth) ** 2).mean().mean() < 0.7 * ((single - truth) ** 2).mean().mean()


@pytest.mark.parametrize(
    ("options", "source"),
    [
        ({}, "out of bag"),
        (ONE_RUN, "training"),
        ({"n_runs": 1}, "held out"),
        ({"validation": 0.3}, "held out"),
        ({"n_runs": 8}, "out of bag"),
    ],
)
def test_rows_that_the_trees_have_not_seen_evaluate(data, new, options, source):
    fit = odbt(FORMULA, data, n_trees=10, seed=1, **options)
    table = fit.score()
    assert table.index.name == source
    assert list(table.index) == ["harrell_c", "uno_c", "integrated_brier", "explained"]
    evaluated = fit.score(new)
    C = harrells_c(new["time"], new["event"], fit.predict(new).to_numpy())
    assert evaluated.loc["harrell_c", "estimate"] == pytest.approx(C.estimate)
    assert evaluated.loc["explained", "estimate"] > 0.02
    assert repr(fit).count("Harrell's C") == 1
    with pytest.raises(InputError, match="offset="):
        fit.score(offset=0.0)


def test_rows_held_out_have_the_same_share_of_events(data):
    fit = odbt(FORMULA, data, n_trees=5, validation=0.3, seed=1)
    event = data["event"].to_numpy()
    assert fit.held_out.sum() == 45
    assert abs(event[fit.held_out].sum() - 0.3 * event.sum()) <= 1
    assert fit.fit.evaluated == "held out"
    assert list(fit.loss_path) == ["training", "validation"]
    few = odbt(FORMULA, data, n_trees=5, validation=0.1, seed=1)
    assert few.fit.evaluated == "training"


def test_rows_without_an_event_do_not_choose_the_rounds(data):
    first = data["event"].cumsum() <= 3
    few = data.assign(event=data["event"] & first)
    with pytest.raises(InputError, match=r"validation=0\.1 holds out no row with an event"):
        odbt(FORMULA, few, n_trees=5, validation=0.1, seed=1)
    assert odbt(FORMULA, few, n_trees=5, validation=0.5, seed=1).held_out.sum() == 75


def test_weights_of_zero_leave_rows_out(data):
    some = np.arange(150) % 3 > 0
    weighted = odbt(FORMULA, data, n_trees=5, weights=some.astype(float), seed=1, **ONE_RUN)
    alone = odbt(FORMULA, data[some], n_trees=5, seed=1, **ONE_RUN)
    at = [0.1, 1.0]
    one = weighted.predict(data, type="survival", times=at)
    other = alone.predict(data, type="survival", times=at)
    assert one.equals(other)
    assert weighted.loss_path.equals(alone.loss_path)


def test_late_entry_is_no_time_at_risk(data):
    late = data.assign(start=0.5 * data["time"])
    truncated = odbt("Surv(start, time, event) ~ .", late, n_trees=5, seed=1, **ONE_RUN)
    plain = odbt("Surv(time, event) ~ . - start", late, n_trees=5, seed=1, **ONE_RUN)
    at = [1.0]
    assert (
        truncated.predict(late, type="hazard", times=at).to_numpy().mean()
        > plain.predict(late, type="hazard", times=at).to_numpy().mean()
    )


def test_an_offset_is_part_of_the_score(data, new):
    shift = data["x1"].to_numpy()
    fit = odbt(FORMULA, data, n_trees=5, offset=shift, seed=1, **ONE_RUN)
    without = fit.predict(data, type="link", offset=0.0)
    assert fit.predict(type="link").to_numpy() == pytest.approx(without + shift)
    with pytest.raises(InputError, match="offset= needs newdata="):
        fit.predict(offset=1.0)


def test_more_rounds_later(data, hazards, runs, new):
    for fit, options in [(hazards, ONE_RUN), (runs, ONE_RUN | {"n_runs": 8})]:
        grown, once = fit.grow(3), odbt(FORMULA, data, n_trees=15, seed=1, **options)
        for kind in ("risk", "survival"):
            assert grown.predict(new, type=kind).equals(once.predict(new, type=kind))


@pytest.mark.parametrize("loss", ["cox", *LAWS])
def test_a_file_has_the_curves(tmp_path, data, new, loss):
    fit = odbt(FORMULA, data, loss=loss, n_trees=3, n_runs=8, seed=1)
    for whole in (True, False):
        fit.save(tmp_path / "fit", data=whole)
        loaded = odrf.load(tmp_path / "fit")
        for kind in ("risk", "survival", "rmst"):
            assert loaded.predict(new, type=kind).equals(fit.predict(new, type=kind))
    with pytest.raises(InputError, match="without"):
        loaded.score()
    assert "left out" in repr(loaded)
    assert pickle.loads(pickle.dumps(fit)).predict(new).equals(fit.predict(new))


@pytest.mark.parametrize("loss", ["cox", "loglogistic"])
def test_threads_change_nothing(data, new, loss):
    one, two = (
        odbt(FORMULA, data, loss=loss, n_trees=4, n_runs=3, seed=1, n_jobs=k) for k in (1, 2)
    )
    assert one.predict(new, type="survival").equals(two.predict(new, type="survival"))
    assert one.loss_path.equals(two.loss_path)


def test_importances_name_the_predictors_that_matter(hazards):
    table = hazards.importance()
    assert set(table.index[:3]) <= {f"x{j}" for j in range(1, PROBLEM.relevant + 1)}
    assert hazards.importance("impurity")["share"].sum() == pytest.approx(1.0)


def test_plots_and_summaries_say_what_the_fit_is(data, hazards, runs):
    for fit, words in [(hazards, "training rows"), (runs, "out of bag")]:
        text = str(fit.summary())
        assert words in text
        assert f"{data['event'].sum()} at" in text
        assert "Boosted oblique trees, Cox loss: survival" in repr(fit)
    assert "too far apart" in str(hazards.summary(detail=True))
    assert "out-of-bag scores" in str(runs.summary())
    assert "Scale" in str(odbt(FORMULA, data, loss="weibull", n_trees=2, seed=1).summary())
    for kind in ("loss", "importance"):
        assert hazards.plot(kind) is not None
    plt.close("all")


def test_what_cannot_be_fitted_is_refused(data):
    zero = data.assign(time=np.where(np.arange(150) == 3, 0.0, data["time"]))
    with pytest.raises(InputError, match="logarithms of times"):
        odbt(FORMULA, zero, loss="weibull")
    odbt(FORMULA, zero, n_trees=1, seed=1)
    causes = pd.Categorical.from_codes(np.arange(150) % 3, ["none", "heart", "other"])
    with pytest.raises(InputError, match=r"Surv\(time, event == 'heart'\)"):
        odbt(FORMULA, data.assign(event=causes))
    with pytest.raises(InputError, match="is not for a survival time: use 'cox' or"):
        odbt(FORMULA, data, loss="huber")
    with pytest.raises(InputError, match=r"or the response Surv\(time, event\)"):
        odbt("time ~ . - event", data, loss="cox")
    fit = odbt(FORMULA, data, n_trees=1, seed=1)
    with pytest.raises(InputError, match="times= is for"):
        fit.predict(type="time", times=1.0)
    with pytest.raises(InputError, match="type="):
        fit.predict(type="prob")
    for options in ({}, {"validation": 0.2}):
        with pytest.raises(InputError, match="fit with validation=None"):
            odbt(FORMULA, data, n_trees=2, seed=1, **options).grow(1)


def test_the_default_stops_early_where_nothing_matters():
    noise = odrf.simulate.proportional_hazards(p=4, relevant=1)
    data, new = noise.sample(120, seed=5), noise.sample(500, seed=6)
    data, new = (rows[["time", "event", "x3", "x4"]] for rows in (data, new))
    fit = odbt(FORMULA, data, seed=1)
    assert fit.control.validation == "oob"
    assert fit.control.n_runs == 10
    assert fit.n_rounds < 50
    assert fit.fit.evaluated == "out of bag"
    assert fit.score(new).loc["explained", "estimate"] > -0.03
    all_rounds = odbt(FORMULA, data, seed=1, **ONE_RUN)
    assert all_rounds.n_rounds == 100
    assert all_rounds.score(new).loc["explained", "estimate"] < -0.3


@pytest.mark.parametrize(
    ("options", "runs", "validation"),
    [
        ({}, 10, "oob"),
        ({"n_runs": 3}, 3, "oob"),
        ({"n_runs": 1}, 1, 0.2),
        ({"validation": 0.3}, 1, 0.3),
        ({"validation": "oob"}, 10, "oob"),
        ({"validation": None}, 10, None),
        (ONE_RUN, 1, None),
        ({"patience": 3}, 10, "oob"),
    ],
)
def test_runs_and_validation_by_default(data, options, runs, validation):
    control = odbt(FORMULA, data, n_trees=2, seed=1, **options).control
    assert (control.n_runs, control.validation) == (runs, validation)
    assert control.patience == options.get("patience", 20)


# ------------------------------------------------------------------------------------------------
# Curves of boosted trees: drawn, evaluated at a time, and of fits that keep only what predicts.
# ------------------------------------------------------------------------------------------------

PROBLEM_OF_JUDGED_BOOSTED_CURVES = odrf.simulate.proportional_hazards(p=4, relevant=2)
DATA, NEW = (
    PROBLEM_OF_JUDGED_BOOSTED_CURVES.sample(150, seed=1),
    PROBLEM_OF_JUDGED_BOOSTED_CURVES.sample(100, seed=2),
)
KINDS = [{}, {"validation": 0.3}, {"n_runs": 6}, {"loss": "weibull"}]


@pytest.fixture(scope="module", params=KINDS, ids=str)
def fit(request):
    return odbt(FORMULA, DATA, n_trees=12, seed=1, **request.param)


def evaluates(fit):
    """The training validation rows, and their predicted probabilities of an event by the times."""
    rows = fit.held_out.to_numpy() if fit.held_out.any() else np.ones(len(DATA), dtype=bool)

    def risk(times):
        predicted = fit.predict(type="survival", times=times).to_numpy()
        return 1 - predicted[rows & ~np.isnan(predicted[:, 0])]

    known = rows & fit.predict().notna().to_numpy()
    return DATA[known], risk


def test_calibration_is_that_of_rows_that_the_trees_have_not_seen(fit):
    rows, risk = evaluates(fit)
    found = fit.calibration(0.5, groups=3, level=0.9)
    event = rows["event"].to_numpy()
    known = calibration_at(rows["time"].to_numpy(), event, risk([0.5])[:, 0], 0.5, 3, level=0.9)
    np.testing.assert_allclose(found.table["observed"], known.observed)
    np.testing.assert_allclose(found.table["predicted"], known.predicted)
    np.testing.assert_allclose(found.table["conf_low"], known.low)
    assert len(fit.calibration(0.5, NEW, groups=4).table) == 4
    assert found.plot().lines


def test_areas_are_those_of_rows_that_the_trees_have_not_seen(fit):
    rows, risk = evaluates(fit)
    report = fit.roc(0.5)
    at = report.table.index.to_numpy()
    known = dynamic_areas(rows["time"].to_numpy(), rows["event"].to_numpy(), risk(at), at)
    np.testing.assert_allclose(report.table["auc"], known.area)
    assert report.mean["auc"] == pytest.approx(known.mean.estimate)
    new = fit.roc(0.5, NEW)
    assert "100, new" in str(new.summary())


def test_curves_are_predictions(fit):
    report = fit.curves(NEW.head(3), times=[1.0, 0.5])
    np.testing.assert_array_equal(
        report.table, fit.predict(NEW.head(3), type="survival", times=[0.5, 1.0])
    )
    np.testing.assert_array_equal(
        report.quartiles, fit.predict(NEW.head(3), type="quantile"), strict=True
    )
    assert [text.get_text() for text in report.plot().texts][1] == "150"


def test_groups_of_risk_are_drawn_with_what_was_observed(fit):
    ax = fit.plot("curves")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["lowest", "2", "3", "highest"]
    counts = [text for text in ax.texts if text.get_ha() == "center"]
    at_start = [text.get_text() for text in counts if text.xy[0] == 0]
    assert sum(map(int, at_start)) == len(evaluates(fit)[0])


def test_offsets_count():
    data = DATA.assign(known=DATA["x1"] * 2)
    fit = odbt(FORMULA, data, offset="known", n_trees=5, seed=1)
    new = NEW.assign(known=NEW["x1"] * 2)
    given = fit.curves(NEW, [0.5], offset=NEW["x1"].to_numpy() * 2)
    assert given.table.equals(fit.curves(new, [0.5]).table)
    assert fit.roc(0.5, new).table.equals(fit.roc(0.5, NEW, offset=NEW["x1"] * 2).table)
    with pytest.raises(InputError, match=r"offset= needs newdata="):
        fit.calibration(0.5, offset=0.0)
    with pytest.raises(InputError, match="offset"):
        fit.curves(NEW)


def test_fits_without_rows_predict_new_rows(fit, tmp_path):
    bare = fit.without_data()
    times = [0.2, 1.0]
    expected = fit.predict(NEW, type="survival", times=times)
    assert bare.predict(NEW, type="survival", times=times).equals(expected)
    assert bare.curves(NEW, times).table.shape == (100, 2)
    assert "left out" in repr(bare)
    bare.save(tmp_path / "fit")
    loaded = odrf.load(tmp_path / "fit")
    assert loaded.predict(NEW, type="survival", times=times).equals(expected)
    for needs_rows in (lambda: bare.roc(0.5), bare.score, bare.summary, bare.predict):
        with pytest.raises(InputError, match="training rows"):
            needs_rows()


def test_a_fit_whose_evaluates_have_no_event_is_shown_without_scores():
    # one event, which both runs draw
    data = DATA.assign(event=DATA["time"] == DATA["time"].min())
    fit = odbt(FORMULA, data, n_runs=2, n_trees=5, seed=2)
    seen = fit.predict().isna()
    assert seen[data["event"]].all()
    assert "Harrell" not in repr(fit)
    assert "no row that evaluates has an event" in str(fit.summary())
    with pytest.raises(InputError, match=r"none of the \d+ validation rows has an event"):
        fit.roc(0.5)


def test_a_loss_that_no_row_tells_is_shown_as_such():
    # all rows are of two blocks in time, which each of the runs draws
    fit = odbt(FORMULA, DATA[:12], n_runs=2, n_trees=2, order=np.arange(12) // 6, seed=4)
    assert fit.loss_path["out-of-bag"].isna().all()
    assert "nan" not in str(fit.summary())


def test_no_theorem_covers_sums_of_trees(fit):
    report = fit.consistency()
    assert report.conclusion.startswith("No result covers it: [I] and [C] are about trees whose")
    of_curves = report.table[report.table["quantity"] == "steps of a score"]
    assert of_curves["verdict"].tolist() == ["does not hold"] * 2
