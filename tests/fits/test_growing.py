"""Fits to rows that belong together: grown, enlarged, updated, combined, saved, summed up."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.resamples import Draws
from odrf.engine.trees.routing import predict
from odrf.errors import InputError
from odrf.fits import growing
from odrf.fits.growing import chosen_scale, scale_errors
from odrf.options.criteria import SPLIT_SCALES


@pytest.fixture(scope="module")
def data():
    """40 subjects with 4 rows each, in three strata and in time."""
    rng = np.random.default_rng(6)
    subject = np.repeat(np.arange(40), 4)
    x, z = rng.normal(size=(2, 160))
    level, mark = rng.normal(size=(2, 40))[:, subject]
    table = pd.DataFrame({"y": x + level + rng.normal(size=160) / 4, "x": x, "z": z / 50 + mark})
    return table.assign(id=subject, region=subject % 3, day=np.arange(160) // 2)


OPTIONS = {"n_trees": 20, "seed": 1, "blend": False}


def unseen(forest):
    return forest.fit.draws.all_unseen()


def by_subject(mask, data):
    """Whether the rows of each subject are alike."""
    first = np.unique(data["id"], return_index=True)[1]
    return (mask == mask[:, first][:, data["id"]]).all()


def test_out_of_bag_a_subject_is_new(data):
    forest = odrf.odrf("y ~ x + z", data, groups="id", **OPTIONS)
    alone = odrf.odrf("y ~ x + z", data, **OPTIONS)
    assert by_subject(unseen(forest), data) and not by_subject(unseen(alone), data)
    assert forest.oob_error > 1.2 * alone.oob_error
    assert "Groups" in str(forest.summary()) and "40 (id)" in str(forest.summary())
    assert "bootstrap of the groups" in str(forest.summary())
    assert "Groups" not in str(alone.summary())


@pytest.mark.parametrize("given", [{"groups": "id"}, {"strata": "region"}, {"order": "day"}])
@pytest.mark.parametrize("blend", [False, True])
def test_a_seed_gives_the_same_forest_for_any_number_of_threads(data, given, blend):
    options = {**OPTIONS, **given, "n_trees": 25, "blend": blend}
    one, other = (odrf.odrf("y ~ x + z", data, n_jobs=jobs, **options) for jobs in (1, 2))
    assert one.predict(data).equals(other.predict(data))
    assert one.oob_error == other.oob_error
    fewer = odrf.odrf("y ~ x + z", data, **{**options, "n_trees": 20})
    assert fewer.grow(5).predict(data).equals(one.predict(data))


def test_a_saved_fit_repeats_its_draws(data, tmp_path):
    forest = odrf.odrf("y ~ x + z", data, groups="id", strata="region", **OPTIONS)
    forest.save(tmp_path / "forest.odrf")
    again = odrf.load(tmp_path / "forest.odrf")
    assert (unseen(again) == unseen(forest)).all()
    assert again.oob_error == forest.oob_error


def test_updates_keep_groups_whole(data):
    start = odrf.odrf("y ~ x + z", data[data["day"] < 50], groups="id", **OPTIONS)
    # the last of the first rows share a subject with the first of the new ones
    later = start.update(data[data["day"] >= 50].iloc[::-1])
    rows = pd.concat([data[data["day"] < 50], data[data["day"] >= 50].iloc[::-1]])
    structure = later.fit.data.structure
    assert structure.labels["groups"][structure.groups].tolist() == rows["id"].tolist()
    assert by_subject(unseen(later)[:, np.argsort(rows.index)], data)
    assert (unseen(later)[:, :100] == unseen(start)).all()
    with pytest.raises(InputError, match="groups='id' is not a column of the data"):
        start.update(data.drop(columns="id"))
    ordered = odrf.odrf("y ~ x + z", data, order="day", **OPTIONS)
    with pytest.raises(InputError, match=r"update\(\) cannot add rows to a fit with order="):
        ordered.update(data)


def test_forests_of_other_groups_are_not_combined(data):
    one = odrf.odrf("y ~ x + z", data, groups="id", **OPTIONS)
    two = odrf.odrf("y ~ x + z", data, groups="id", **{**OPTIONS, "seed": 2})
    assert by_subject(unseen(one.combine(two)), data)
    for other in ({}, {"groups": data["id"] // 2}):
        with pytest.raises(InputError, match="groups="):
            one.combine(odrf.odrf("y ~ x + z", data, **{**OPTIONS, **other, "seed": 2}))


def test_in_time_out_of_bag_rows_are_later(data):
    forest = odrf.odrf("y ~ x + z", data, order="day", **OPTIONS)
    known = forest.oob_prediction.notna()
    assert not known[data["day"] < 40].any() and known[data["day"] > 70].all()
    assert forest.predict().isna().equals(~known)
    table = forest.importance("permutation")
    assert table["importance"].idxmax() == "x"
    assert "80 times (day)" in str(forest.summary())


def test_importances_of_trees_without_rows_out_of_bag_are_not_counted(data):
    """Half of the trees of a fit in time have none; the others are not diluted by them."""
    forest = odrf.odrf("y ~ x + z", data, order="day", **{**OPTIONS, "n_trees": 100})
    evaluated = unseen(forest).any(axis=1)
    assert 30 < evaluated.sum() < 70
    alone = [forest.tree(int(b)).fit for b in np.flatnonzero(evaluated)[:3]]
    assert all(each.draws.all_unseen().any() for each in alone)
    table = forest.importance("permutation")
    variance = data["y"].var()
    assert table.loc["x", "importance"] > 0.5 * variance


def test_runs_of_boosting_leave_subjects_or_later_times_out(data):
    fit = odrf.odbt("y ~ x + z", data, groups="id", n_trees=5, n_runs=6, seed=1)
    missed = np.array([run.missed for run in fit.fit.boosted.drawn])
    assert by_subject(missed, data) and missed.any()
    counts = np.array([run.counts for run in fit.fit.boosted.drawn])
    assert by_subject(counts, data) and ((counts == 0) == missed).all()
    fit = odrf.odbt("y ~ x + z", data, order="day", n_trees=5, n_runs=8, seed=1)
    for run in fit.fit.boosted.drawn:
        last = data["day"][run.counts > 0].max()
        assert (data["day"][run.missed] > last).all()
    assert fit.oob_prediction[data["day"] < 40].isna().all()
    assert fit.oob_prediction[data["day"] > 75].notna().all()


def test_trees_of_boosting_draw_whole_subjects(data):
    """With as many rows as subjects, a subsample of half the rows is one of half the subjects."""
    one = odrf.odbt("y ~ x + z", data, groups="id", n_trees=3, sample_fraction=0.5, seed=1)
    counts = one.forest.count[one.forest.root[:-1]]
    assert counts.tolist() == [80, 80, 80]


def test_halves_of_an_honest_tree_have_other_subjects(data):
    tree = odrf.odt("y ~ x + z", data, groups="id", honest=True, alpha=None, seed=1)
    filling = tree.fit.draws.filling(0)[None] > 0
    assert by_subject(filling, data) and filling.sum() == 80
    assert tree.forest.count[0] == 80


def test_errors_of_importances_have_subjects_as_units(data):
    doubled = pd.concat([data] * 4, ignore_index=True)
    forest = odrf.odrf("y ~ x + z", doubled, groups="id", **OPTIONS)
    table = forest.importance("permutation")
    of_rows = np.hypot(table["std_error"], 0) ** 2 - table["monte_carlo_error"] ** 2
    alone = odrf.odrf("y ~ x + z", data, groups="id", **OPTIONS).importance("permutation")
    as_before = alone["std_error"] ** 2 - alone["monte_carlo_error"] ** 2
    assert of_rows["x"] == pytest.approx(as_before["x"], rel=0.5)


# ------------------------------------------------------------------------------------------------
# Choosing the scale of the splits by out-of-bag errors of pilot trees.
# ------------------------------------------------------------------------------------------------

NAMES = ["response", "log", "ranks"]


def table(n, seed=0):
    """Rows of a response that predictors multiply, in groups of three, with weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["y"] = np.exp((frame["a"] + frame["b"] + rng.normal(size=n)) / 2)
    return frame.assign(g=np.arange(n) // 3, w=rng.integers(0, 3, n))


def parts(fit):
    return fit.fit.design, fit.fit.data, fit.control


def squared_error_of_many_trees(errors, unseen, weights, units):
    """The mean product of errors of different trees, and by unit its numerator and denominator."""
    products, pairs = np.zeros(units.max() + 1), np.zeros(units.max() + 1)
    for i in range(len(errors)):
        for a, b in permutations(np.flatnonzero(unseen[i]), 2):
            products[units[i]] += weights[i] * errors[i, a] * errors[i, b]
            pairs[units[i]] += weights[i]
    return products.sum() / pairs.sum(), products, pairs


@pytest.mark.parametrize("options", [{}, {"weights": "w"}, {"groups": "g"}])
def test_errors_are_mean_products_of_the_errors_of_different_trees(options, monkeypatch):
    monkeypatch.setattr(growing, "PILOTS", 5)
    frame = table(60)
    fit = odrf.odrf("y ~ a + b + c", frame, n_trees=2, min_leaf=3, seed=1, **options)
    design, data, control = parts(fit)
    of_scales, standard_errors = scale_errors(design, data, control, NAMES)
    sampling = control.sampling._replace(resample=2, fraction=0.5)
    unseen = Draws(data.weights, [sampling] * 5, streams(0, 0, 5), 1, data.codes).all_unseen().T
    units = np.arange(60) if "groups" not in options else data.codes.groups
    expected = []
    for name in NAMES:
        forest = grow_forest(
            data.X, data.y, data.weights, design.feature_groups, sampling,
            control.settings._replace(split_scale=SPLIT_SCALES[name]), control.mixture,
            streams(0, 0, 5), 1, lambda: None, data.codes,
        )  # fmt: skip
        predicted = [predict(forest.tree(b), data.X, 1)[:, 0] for b in range(5)]
        errors = np.array(predicted).T - data.y[:, None]
        expected.append(squared_error_of_many_trees(errors, unseen, data.weights, units))
    errors = [error for error, _, _ in expected]
    np.testing.assert_allclose(of_scales, errors, rtol=1e-10)
    assert standard_errors[0] == 0
    (first, at_first, pairs), *others = expected
    for (error, products, _), standard_error in zip(others, standard_errors[1:], strict=True):
        rest = products - at_first - (error - first) * pairs
        assert standard_error == pytest.approx(np.sqrt((rest**2).sum()) / pairs.sum())


def test_the_logarithm_is_chosen_where_predictors_multiply():
    fit = odrf.odrf("y ~ a + b + c + d", table(600), n_trees=2, seed=1)
    name, errors = chosen_scale(*parts(fit))
    assert name != "response"
    assert errors[name] == min(errors.values()) < 0.95 * errors["response"]
    assert set(errors) == {"response", "log", "normal"}


def test_scales_alike_are_not_compared():
    frame = table(300)
    frame["y"] = frame["a"] + np.random.default_rng(1).random(300)
    fit = odrf.odrf("y ~ a + b", frame, n_trees=2, seed=1)
    assert "normal" not in chosen_scale(*parts(fit))[1]
    frame["y"] = 100 + (frame["a"] > 0)
    fit = odrf.odrf("y ~ a + b", frame, kind="regression", n_trees=2, seed=1)
    assert chosen_scale(*parts(fit)) == ("response", {})


def test_neither_the_seed_nor_the_threads_nor_the_number_of_trees_change_the_choice():
    frame = table(90)
    found = [
        scale_errors(*parts(odrf.odrf("y ~ a + b", frame, **options)), NAMES)
        for options in (
            {"n_trees": 2, "seed": 1, "n_jobs": 1}, {"n_trees": 5, "seed": 2, "n_jobs": 3},
        )
    ]  # fmt: skip
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


def test_where_no_row_is_out_of_bag_the_response_stays(monkeypatch):
    monkeypatch.setattr(growing, "PILOTS", 1)
    fit = odrf.odrf("y ~ a + b", table(40), n_trees=2, seed=1)
    name, errors = chosen_scale(*parts(fit))
    assert name == "response"
    assert set(errors.values()) == {0.0}


@pytest.mark.parametrize("largest", [1e60, 1e-50])
def test_extreme_responses_are_compared(largest):
    frame = table(60)
    frame["y"] *= largest / frame["y"].max()
    fit = odrf.odrf("y ~ a + b", frame, n_trees=2, seed=1)
    name, _ = chosen_scale(*parts(fit))
    assert name in SPLIT_SCALES
