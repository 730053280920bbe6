"""Sensitivities of the rows of a guided forest, and the rows that it keeps."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, simulate
from odrf.engine.trees.routing import leaf_nodes
from odrf.statistics.sensitivity import mean_sensitivity, planes_until


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def data():
    """Rings of two classes, with a column that no model uses, under labels."""
    frame = simulate.rings().sample(240, seed=1).assign(note="kept")
    return frame.set_axis([f"row{i}" for i in range(240)])


@pytest.fixture(scope="module")
def fit(data):
    return odrf.graf("y ~ x1 + x2", data, n_trees=20, subspace="all", seed=3, n_jobs=1)


@pytest.fixture(scope="module")
def found(fit):
    return fit.sensitivity()


def test_table(fit, data, found):
    table = found.table
    assert table.index.equals(data.index)
    order = np.random.default_rng(np.random.SeedSequence(3, spawn_key=(0, 0))).permutation(240)
    expected = mean_sensitivity(
        leaf_nodes(fit.forest, fit.fit.data.X, 1),
        planes_until(fit.guided),
        fit.fit.data.y.astype(int),
        2,
        order,
    )
    np.testing.assert_array_equal(table["sensitivity"], expected)
    np.testing.assert_allclose(table["probability"], expected / expected.sum())
    assert sorted(table["rank"]) == list(range(1, 241))
    assert table.sort_values("rank")["sensitivity"].is_monotonic_decreasing
    assert fit.sensitivity() is found


def test_threads_and_saving_change_nothing(fit, data, found):
    again = odrf.graf("y ~ x1 + x2", data, n_trees=20, subspace="all", seed=3, n_jobs=3)
    pd.testing.assert_frame_equal(again.sensitivity().table, found.table)
    loaded = pickle.loads(pickle.dumps(fit))
    pd.testing.assert_frame_equal(loaded.sensitivity().table, found.table)


def test_rows_near_class_boundaries_are_sensitive(data, found):
    near = (np.hypot(data["x1"], data["x2"]) * 4) % 1
    boundary = (np.minimum(near, 1 - near) < 0.15) & (np.hypot(data["x1"], data["x2"]) < 0.85)
    p = found.table["probability"] * 240
    assert p[boundary].mean() > 1.3 * p[~boundary].mean()


def test_rows_of_a_regression_count_as_one_class(table):
    fit = odrf.graf("y ~ a + b", table, n_trees=5, seed=1)
    sensitivity = fit.sensitivity().table["sensitivity"]
    assert np.expm1(sensitivity).sum() == pytest.approx(1, abs=0.05)
    assert len(fit.approximate(0.1)) == 12


def test_a_forest_without_planes_has_all_rows_alike(data):
    fit = odrf.graf("y ~ x1 + x2", data, n_trees=3, min_split=1000, seed=1)
    table = fit.sensitivity().table
    np.testing.assert_allclose(table["probability"], 1 / 240)
    assert table["rank"].tolist() == list(range(1, 241))
    fit.sensitivity().plot()
    assert "Effective rows" in str(fit.sensitivity().summary())


@pytest.mark.parametrize("method", ["top", "sample", "uniform"])
def test_parts_are_rows_of_the_data(fit, data, method):
    part = fit.approximate(0.25, method)
    assert len(part) == 60
    pd.testing.assert_frame_equal(part, data[data.index.isin(part.index)])
    assert fit.approximate(0.25, method).equals(part)
    larger = fit.approximate(0.5, method)
    assert set(part.index) < set(larger.index)
    assert fit.approximate(1.0, method).equals(data)
    other = fit.approximate(0.25, method, seed=9)
    assert other.equals(part) == (method == "top")


def test_top_rows_and_drawn_rows(fit, found):
    rank, p = found.table["rank"], found.table["probability"]
    assert set(fit.approximate(0.1, "top").index) == set(rank.index[rank <= 24])
    drawn = [p[fit.approximate(0.1, "sample", seed=seed).index].mean() for seed in range(30)]
    alike = [p[fit.approximate(0.1, "uniform", seed=seed).index].mean() for seed in range(30)]
    assert np.mean(alike) == pytest.approx(1 / 240, rel=0.1)
    assert np.mean(drawn) > 1.15 * np.mean(alike)


def test_rows_are_rounded_up(fit):
    assert [len(fit.approximate(share)) for share in (0.001, 0.1, 0.101)] == [1, 24, 25]


def test_rows_with_missing_values_are_not_kept(data):
    holes = data.assign(x1=data["x1"].where(data["x1"] > -0.8))
    fit = odrf.graf("y ~ x1 + x2", holes, n_trees=2, missing="drop", seed=1)
    part = fit.approximate(0.5)
    assert part["x1"].notna().all()
    assert len(part) == -(-fit.nobs // 2)
    assert fit.sensitivity().table.index.equals(holes.index[holes["x1"].notna()])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0,), "fraction=0: use a number above 0 and at most 1"),
        ((1.1,), "fraction=1.1"),
        ((True,), "fraction=True"),
        (("half",), "fraction='half'"),
        ((0.5, "tops"), "method='tops' is not known: .*did you mean 'top'"),
    ],
)
def test_invalid_parts(fit, arguments, words):
    with pytest.raises(InputError, match=words):
        fit.approximate(*arguments)


def test_an_invalid_seed_of_a_part(fit):
    with pytest.raises(InputError, match="seed=-1"):
        fit.approximate(0.5, seed=-1)


def test_overlap(found):
    rank = found.table["rank"].to_numpy()
    best = np.flatnonzero(rank <= 40)
    same = found.overlap(best)
    assert same.to_dict() == {
        "support_vectors": 40,
        "share": 40 / 240,
        "overlap": 1,
        "chance": 40 / 240,
    }
    half = np.concatenate([best[:20], np.flatnonzero(rank > 40)[:20]])
    assert found.overlap(half)["overlap"] == 0.5
    assert found.overlap(half.tolist())["overlap"] == 0.5


def test_overlap_with_a_support_vector_machine(data, found):
    svm = pytest.importorskip("sklearn.svm").SVC(C=100, gamma=10).fit(data[["x1", "x2"]], data["y"])
    line = found.overlap(svm)
    assert line["support_vectors"] == len(svm.support_)
    assert line["overlap"] > line["chance"]
    svm.fit(data[["x1", "x2"]][:200], data["y"][:200])
    with pytest.raises(InputError, match="svm was fitted to 200 rows, the forest to 240"):
        found.overlap(svm)


@pytest.mark.parametrize(
    "at", [[], [-1], [240], [3, 3], [0.5], [[1, 2]], np.ones(240, dtype=bool), "a", object()]
)
def test_invalid_positions(found, at):
    with pytest.raises(InputError, match="whole numbers from 0 to 239, each once"):
        found.overlap(at)


def test_summary(found):
    text = str(found.summary())
    for words in ("Effective rows", "25% of the rows", "class 2", "First 10 rows", "θ/Θ"):
        assert words in text
    kept = found.summary().tables[1]
    assert kept["probability"].is_monotonic_increasing
    assert kept["probability"].iloc[-1] == pytest.approx(1)
    assert repr(found).startswith("Sensitivity of rows\n  Rows            240\n")


def test_drawing(found, data):
    panels = found.plot(fraction=0.1)
    titles = [panel.get_title() for panel in panels]
    assert titles == [
        "sensitivity",
        "uniform, 10 %",
        "by probability, 10 %",
        "most sensitive, 10 %",
    ]
    assert [len(panel.collections[-1].get_offsets()) for panel in panels] == [240, 24, 24, 24]
    top = panels[3].collections[-1].get_offsets()
    rank = found.table["rank"]
    expected = data.loc[rank.index[rank <= 24], ["x1", "x2"]]
    np.testing.assert_allclose(np.sort(top, axis=0), np.sort(expected, axis=0))
    legend = panels[3].get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["1", "2"]
    given = plt.subplots(2, 2)[1]
    assert found.plot("x2", "x1", ax=given)[0] is given[0, 0]
    assert given[0, 0].get_xlabel() == "x2"


def test_drawing_numbers(table):
    fit = odrf.graf("y ~ a + b + f", table, n_trees=3, seed=1)
    panels = fit.sensitivity().plot()
    assert panels[0].get_xlabel() == "a"
    assert panels[3].get_legend() is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"x": "x1"}, "y=None: give x= and y=, two numeric columns of 'x1', 'x2'"),
        ({"x": "note", "y": "x1"}, "x='note': give x= and y="),
        ({"fraction": 2}, "fraction=2"),
        ({"ax": plt.subplots(1, 3)[1]}, "ax holds 3 axes: 4 are drawn on"),
    ],
)
def test_invalid_plots(found, arguments, words):
    with pytest.raises(InputError, match=words):
        found.plot(**arguments)


def test_more_predictors_must_be_named():
    data = simulate.trunk(p=3).sample(60, seed=1)
    fit = odrf.graf("y ~ .", data, n_trees=2, seed=1)
    with pytest.raises(InputError, match="x=None: give x= and y=, two numeric columns"):
        fit.sensitivity().plot()
    assert len(fit.sensitivity().plot("x1", "x3")) == 4
