"""Curves of boosted trees: drawn, judged at a time, and of fits that keep only what predicts."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf import InputError, odbt
from odrf.statistics.survival.calibration import calibration_at
from odrf.statistics.survival.discrimination import dynamic_areas

FORMULA = "Surv(time, event) ~ ."
PROBLEM = odrf.simulate.proportional_hazards(p=4, relevant=2)
DATA, NEW = PROBLEM.sample(150, seed=1), PROBLEM.sample(100, seed=2)
KINDS = [{}, {"validation": 0.3}, {"n_runs": 6}, {"loss": "weibull"}]


@pytest.fixture(scope="module", params=KINDS, ids=str)
def fit(request):
    return odbt(FORMULA, DATA, n_trees=12, seed=1, **request.param)


def judges(fit):
    """The training rows that judge, and their predicted probabilities of an event by the times."""
    rows = fit.held_out.to_numpy() if fit.held_out.any() else np.ones(len(DATA), dtype=bool)

    def risk(times):
        predicted = fit.predict(type="survival", times=times).to_numpy()
        return 1 - predicted[rows & ~np.isnan(predicted[:, 0])]

    known = rows & fit.predict().notna().to_numpy()
    return DATA[known], risk


def test_calibration_is_that_of_rows_that_the_trees_have_not_seen(fit):
    rows, risk = judges(fit)
    found = fit.calibration(0.5, groups=3, level=0.9)
    event = rows["event"].to_numpy()
    known = calibration_at(rows["time"].to_numpy(), event, risk([0.5])[:, 0], 0.5, 3, level=0.9)
    np.testing.assert_allclose(found.table["observed"], known.observed)
    np.testing.assert_allclose(found.table["predicted"], known.predicted)
    np.testing.assert_allclose(found.table["conf_low"], known.low)
    assert len(fit.calibration(0.5, NEW, groups=4).table) == 4
    assert found.plot().lines


def test_areas_are_those_of_rows_that_the_trees_have_not_seen(fit):
    rows, risk = judges(fit)
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
    assert sum(map(int, at_start)) == len(judges(fit)[0])


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


def test_a_fit_whose_judges_have_no_event_is_shown_without_scores():
    # one event, which both runs draw
    data = DATA.assign(event=DATA["time"] == DATA["time"].min())
    fit = odbt(FORMULA, data, n_runs=2, n_trees=5, seed=2)
    seen = fit.predict().isna()
    assert seen[data["event"]].all()
    assert "Harrell" not in repr(fit)
    assert "no row that judges has an event" in str(fit.summary())
    with pytest.raises(InputError, match=r"none of the \d+ rows that judge has an event"):
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
