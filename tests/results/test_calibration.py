"""Calibration and discrimination of fits: which rows evaluate, and what is shown."""

import pickle
from dataclasses import replace
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

import odrf
from blends import with_quick_stacks
from odrf import InputError
from odrf.cli.commands import main
from odrf.fits.refit import cross_fitted_rows
from odrf.reports.checks import CalibratedFit
from odrf.statistics.discrimination import area_under_roc


@pytest.fixture(scope="module")
def two_classes(table):
    data = table.assign(c=np.where(table["y"] > 0.4, "yes", "no"))
    return odrf.odrf("c ~ a + b + f", data, n_trees=40, seed=1), data


def test_training_rows_are_evaluated_out_of_bag(two_classes):
    fit, data = two_classes
    p, event = fit.oob_prob["yes"], data["c"] == "yes"
    calibration, discrimination = fit.calibration(), fit.discrimination()
    assert calibration.brier.loc["yes", "score"] == pytest.approx(brier_score_loss(event, p))
    assert discrimination.table["estimate"].iloc[0] == pytest.approx(roc_auc_score(event, p))
    assert "out of bag" in str(calibration.summary())
    assert "out of bag" in str(discrimination.summary())


def test_new_rows_are_evaluated_by_all_trees(two_classes):
    fit, data = two_classes
    p, event = fit.predict(data, type="prob")["yes"], data["c"] == "yes"
    assert fit.discrimination(data).table["estimate"].iloc[0] == pytest.approx(
        roc_auc_score(event, p)
    )


def test_each_of_several_classes_is_an_event(class_forest, table):
    found = class_forest.discrimination(table)
    assert found.table["class"].unique().tolist() == ["low", "mid", "top"]
    p = class_forest.predict(table, type="prob")
    for label in p:
        area = found.table[found.table["class"] == label]["estimate"].iloc[0]
        assert area == pytest.approx(roc_auc_score(table["c"] == label, p[label]))
    calibration = class_forest.calibration(table, bins=4)
    assert calibration.brier.index.tolist() == ["low", "mid", "top"]
    assert set(calibration.curves["class"]) == {"low", "mid", "top"}


def test_case_weights_count(table):
    weights = 1.0 + np.arange(len(table)) % 3
    fit = odrf.odrf("c ~ a + b + f", table, weights=weights, n_trees=40, seed=1)
    p = fit.oob_prob["top"]
    expected = roc_auc_score(table["c"] == "top", p, sample_weight=weights)
    found = fit.discrimination().table.set_index(["class", "measure"])["estimate"]
    assert found["top", "area under ROC curve"] == pytest.approx(expected)


def test_the_same_each_time(two_classes):
    fit, _ = two_classes
    assert fit.calibration().curves.equals(fit.calibration().curves)
    assert fit.discrimination().table.equals(fit.discrimination().table)


def test_curves_are_drawn(two_classes, class_forest):
    for fit in (two_classes[0], class_forest):
        classes = 1 if len(fit.classes) == 2 else 3
        for ax in (fit.calibration().plot(), *map(fit.discrimination().plot, ("roc", "benefit"))):
            assert len(ax.lines) >= classes
            assert len(ax.get_legend_handles_labels()[1]) >= classes


def test_bad_arguments_are_named(two_classes, number_forest, class_tree, table):
    fit, data = two_classes
    with pytest.raises(InputError, match="was fitted as a number"):
        number_forest.calibration()
    with pytest.raises(InputError, match="newdata="):
        class_tree.discrimination()
    with pytest.raises(InputError, match="one class only"):
        fit.calibration(data[data["c"] == "yes"])
    with pytest.raises(InputError, match="bins="):
        fit.calibration(bins=1)
    with pytest.raises(InputError, match="kind='area' is not known"):
        fit.discrimination().plot("area")
    with pytest.raises(InputError, match="lacks column"):
        fit.calibration(data.drop(columns="c"))


@pytest.mark.parametrize("method", ["isotonic", "platt", "beta"])
def test_calibrated_fits_predict_by_their_maps(two_classes, class_forest, table, method):
    fit, data = two_classes
    calibrated = fit.calibrate(method)
    p, q = (each.predict(data, type="prob")["yes"] for each in (fit, calibrated))
    np.testing.assert_allclose(q, calibrated.recalibration.maps[1](p.to_numpy()))
    assert calibrated.table.loc["yes", "before"] == pytest.approx(
        fit.calibration().brier.loc["yes", "score"]
    )
    several = class_forest.calibrate(method)
    q = several.predict(table, type="prob")
    np.testing.assert_allclose(q.sum(axis=1), 1.0)
    assert (several.predict(table).astype(str) == q.idxmax(axis=1).astype(str)).all()
    assert several.summary().facts["Method"] == method
    assert len(several.plot().lines) == 4


def test_a_power_leaves_the_order_of_classes(two_classes, class_forest, table):
    for fit, data in (two_classes, (class_forest, table)):
        calibrated = fit.calibrate()
        assert calibrated.method == "power"
        assert calibrated.predict(data).equals(fit.predict(data))
        (power,) = calibrated.recalibration.maps
        odds = fit.predict(data, type="prob").clip(1e-3) ** power.exponent
        expected = odds.div(odds.sum(axis=1), axis=0)
        found = calibrated.predict(data, type="prob")
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        if len(fit.classes) == 2:
            at, curve = calibrated.plot().lines[-1].get_data()
            drawn = np.interp(fit.predict(data, type="prob")["yes"], at, curve)
            np.testing.assert_allclose(drawn, found["yes"], atol=1e-3)


def test_a_calibrated_fit_says_who_has_what_it_lacks(two_classes):
    calibrated = two_classes[0].calibrate()
    with pytest.raises(InputError, match=r"no 'to_sklearn': .*CalibratedClassifierCV"):
        calibrated.to_sklearn()
    with pytest.raises(InputError, match=r"no 'importance': ask the fit whose calibrate\(\)"):
        calibrated.importance()
    assert not hasattr(calibrated, "importance") and not hasattr(calibrated, "_repr_x_")


def test_a_calibrated_fit_can_be_pickled(two_classes):
    fit, data = two_classes
    calibrated = fit.calibrate()
    again = pickle.loads(pickle.dumps(calibrated))
    assert again.predict(data, type="prob").equals(calibrated.predict(data, type="prob"))


@pytest.mark.parametrize("method", ["power", "isotonic", "platt", "beta"])
@pytest.mark.parametrize("data_kept", [True, False])
def test_a_calibrated_fit_comes_back_from_its_file(two_classes, tmp_path, method, data_kept):
    fit, data = two_classes
    calibrated = fit.calibrate(method)
    calibrated.save(tmp_path / "calibrated.odrf", data=data_kept)
    again = odrf.load(tmp_path / "calibrated.odrf")
    assert again.predict(data, type="prob").equals(calibrated.predict(data, type="prob"))
    assert again.predict(data).equals(calibrated.predict(data))
    assert again.table.equals(calibrated.table)
    assert str(again.summary()) == str(calibrated.summary())


def test_a_calibrated_stack_comes_back_from_its_file(table, tmp_path):
    data = table.assign(c=np.where(table["y"] > table["y"].median(), "yes", "no"))
    with with_quick_stacks():
        calibrated = odrf.auto("c ~ a + b", data, n_trees=20, seed=1).calibrate()
    for data_kept in (True, False):
        calibrated.save(tmp_path / "calibrated.odrf", data=data_kept)
        again = odrf.load(tmp_path / "calibrated.odrf")
        assert again.predict(data, type="prob").equals(calibrated.predict(data, type="prob"))


def test_a_file_of_maps_that_decrease_is_refused(two_classes, tmp_path):
    calibrated = two_classes[0].calibrate("isotonic")
    maps = calibrated.recalibration.maps
    upside_down = replace(maps[1], value=maps[1].value[::-1])
    for wrong in ((maps[0], upside_down), maps[:1]):
        broken = CalibratedFit(replace(calibrated.recalibration, maps=wrong))
        broken.save(tmp_path / "broken.odrf")
        with pytest.raises(InputError, match="do not fit together"):
            odrf.load(tmp_path / "broken.odrf")


def test_the_command_predicts_by_a_calibrated_fit(two_classes, tmp_path, capsys):
    fit, data = two_classes
    calibrated = fit.calibrate("platt")
    calibrated.save(tmp_path / "calibrated.odrf")
    data.head(3).to_csv(tmp_path / "new.csv")
    asked = [str(tmp_path / "calibrated.odrf"), str(tmp_path / "new.csv"), "--type", "prob"]
    assert main(["predict", *asked]) == 0
    shown = pd.read_csv(StringIO(capsys.readouterr().out), index_col="row")
    expected = calibrated.predict(data.head(3), type="prob")
    np.testing.assert_allclose(shown, expected, rtol=1e-6)


def test_calibration_is_refused_where_it_cannot_be(two_classes, number_forest, class_tree):
    with pytest.raises(InputError, match="method='linear' is not known"):
        two_classes[0].calibrate("linear")
    with pytest.raises(InputError, match="was fitted as a number"):
        number_forest.calibrate()
    with pytest.raises(InputError, match="cv='many' is not a number of folds"):
        class_tree.calibrate(cv="many")
    with pytest.raises(InputError, match="cv=1 is not a number of folds"):
        class_tree.calibrate(cv=1)


def fits_without_rows_out(data):
    return {
        "tree": odrf.odt("c ~ a + b + f", data, seed=1),
        "guided": odrf.graf("c ~ a + b", data, n_trees=4, seed=1),
        "boosted": odrf.odbt("c ~ a + b", data, n_trees=4, seed=1),
    }


def test_fits_without_rows_out_of_bag_are_calibrated_by_cross_fitting(two_classes):
    _, data = two_classes
    for name, fit in fits_without_rows_out(data).items():
        calibrated = fit.calibrate("platt")
        p = calibrated.predict(data, type="prob")["yes"]
        assert p.between(0, 1).all()
        assert calibrated.summary().facts["Learned from"] == (
            f"{len(data)} rows held out by 5-fold cross-validation"
        ), name
        assert fit.calibrate("platt").table.equals(calibrated.table)


def test_classes_of_held_out_rows_do_not_matter(two_classes):
    _, data = two_classes
    held = np.arange(len(data)) % 2 == 0
    other = data["c"].map({"yes": "no", "no": "yes"}).where(held, data["c"])
    changed = fits_without_rows_out(data.assign(c=other))
    for name, fit in fits_without_rows_out(data).items():
        p, q = (cross_fitted_rows(each.fit, held).probabilities for each in (fit, changed[name]))
        np.testing.assert_array_equal(p[held], q[held])
        assert not np.allclose(p[~held], q[~held]), name


@pytest.mark.parametrize("choice", [{"leaves": 1}, {"alpha": 1e9}, {"rule": "1se"}])
def test_a_pruned_tree_is_pruned_in_each_fold(two_classes, choice):
    _, data = two_classes
    whole = odrf.odt("c ~ a + b + f", data, alpha=None, seed=1)
    most = len(np.unique(cross_fitted_rows(whole.fit, 3).probabilities[:, 0]))
    found = cross_fitted_rows(whole.prune(**choice).fit, 3).probabilities
    assert len(np.unique(found[:, 0])) < most
    if "rule" not in choice:
        assert len(np.unique(found[:, 0])) <= 3


def test_a_tree_pruned_twice_is_pruned_in_each_fold_as_if_at_once(two_classes):
    _, data = two_classes
    whole = odrf.odt("c ~ a + b + f", data, alpha=None, min_leaf=2, seed=1)
    small = whole.prune(leaves=int(whole.pruning_path(cv=None).table["leaves"].iloc[-3]))
    once, twice = (cross_fitted_rows(tree.fit, 3) for tree in (small, small.prune(alpha=0.0)))
    np.testing.assert_array_equal(once.probabilities, twice.probabilities)


def test_folds_of_cross_fitting_keep_groups_whole_and_follow_time(two_classes):
    _, data = two_classes
    groups = np.arange(len(data)) // 10
    tree = odrf.odt("c ~ a + b", data, groups=groups, seed=1)
    assert "of whole groups" in tree.calibrate().summary().facts["Learned from"]
    in_time = odrf.odt("c ~ a + b", data, order=np.arange(len(data)), seed=1)
    learned = in_time.calibrate().summary().facts["Learned from"]
    assert "in time" in learned
    assert int(learned.split()[0]) < len(data)


def test_any_fit_is_cross_fitted_on_request(two_classes):
    _, data = two_classes
    few = odrf.odrf("c ~ a + b + f", data, n_trees=5, seed=1)
    assert "3-fold" in few.calibrate(cv=3).summary().facts["Learned from"]
    with pytest.raises(InputError, match="leave cv= out"):
        few.prune(rule="oob").calibrate(cv=3)


def test_intervals_of_fits_with_groups_are_over_groups(two_classes):
    _, data = two_classes
    data = data.assign(who=np.arange(len(data)) // 6)
    fit = odrf.odrf("c ~ a + b + f", data, groups="who", n_trees=40, seed=1)
    found = fit.discrimination()
    p, event, w = fit.oob_prob["yes"].to_numpy(), (data["c"] == "yes").to_numpy(float), 1.0
    expected = area_under_roc(p, event, np.full(len(p), w), 0.95, data["who"].to_numpy())
    assert found.table["std_error"].iloc[0] == pytest.approx(expected.std_error)
    assert found.summary().facts["Independent"] == "20 groups of rows"
    new = fit.discrimination(data)
    assert new.summary().facts["Independent"] == "20 groups of rows"
    assert "Independent" not in fit.discrimination(data.drop(columns="who")).summary().facts
    assert "Independent" in fit.calibration().summary().facts
    fold_of_group = fit.calibrate("platt")
    assert fold_of_group.table.notna().all(axis=None)


def test_the_plot_says_that_its_band_is_pointwise(two_classes):
    assert "pointwise" in two_classes[0].calibration().plot().get_title()


def test_a_single_row_out_of_bag_calibrates_nothing():
    data = pd.DataFrame({"a": range(6), "y": ["u", "v"] * 3})
    fit = odrf.odrf("y ~ a", data, n_trees=3, order=list(range(6)), seed=3)
    with pytest.raises(InputError):
        fit.calibrate()


def test_reports_say_whether_rows_count_by_class_weights(two_classes):
    fit, data = two_classes
    balanced = odrf.odrf("c ~ a + b + f", data, n_trees=10, class_weights="balanced", seed=1)
    for report in (balanced.calibration(), balanced.discrimination(), balanced.calibrate()):
        assert "out of bag, with class weights" in str(report.summary())
    assert "with class weights" in str(balanced.calibrate(cv=3).summary())
    assert "with class weights" not in str(fit.calibration().summary())
    assert "with class weights" not in str(balanced.calibration(data).summary())
