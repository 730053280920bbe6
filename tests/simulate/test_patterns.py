"""Patterns on a plane, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf import InputError, simulate
from reference import simulation as naive

NAIVE = {
    "rings": naive.ring,
    "pie": naive.slice_of_pie,
    "checkerboard": naive.square_of_board,
}


@pytest.mark.parametrize("name", NAIVE)
@pytest.mark.parametrize(("classes", "number"), [(2, 2), (2, 5), (3, 4), (5, 9)])
def test_classes_lie_where_the_pattern_has_them(name, classes, number):
    problem = getattr(simulate, name)(classes=classes, number=number)
    data = problem.sample(1500, seed=1)
    rows = data[["x1", "x2"]].to_numpy().tolist()
    assert data["y"].tolist() == [NAIVE[name](row, number, classes) for row in rows]
    assert data["y"].nunique() == classes
    assert problem.classes == tuple(str(k + 1) for k in range(classes))


@pytest.mark.parametrize(("name", "number"), [("rings", 6), ("pie", 9), ("checkerboard", 3)])
def test_pieces_by_default(name, number):
    data, same = (
        getattr(simulate, name)(classes=3, number=pieces).sample(500, seed=4)
        for pieces in (None, number)
    )
    pd.testing.assert_frame_equal(data, same)


def test_rows_are_uniform():
    disc = simulate.rings().sample(8000, seed=2)
    far = np.hypot(disc["x1"], disc["x2"])
    shares = np.histogram(far, [0, 0.25, 0.5, 0.75, 1])[0] / 8000
    np.testing.assert_allclose(shares, [1 / 16, 3 / 16, 5 / 16, 7 / 16], atol=0.025)
    slices = simulate.pie(classes=4, number=4).sample(8000, seed=2)["y"].value_counts() / 8000
    np.testing.assert_allclose(slices, 0.25, atol=0.025)
    squares = simulate.checkerboard(classes=3).sample(8000, seed=2)["y"].value_counts() / 8000
    np.testing.assert_allclose(squares, 1 / 3, atol=0.025)


@pytest.mark.parametrize("name", ["rings", "pie"])
def test_beside_the_disc_nothing_is_known(name):
    problem = getattr(simulate, name)(noise=0.1)
    truth = problem.truth(pd.DataFrame({"x1": [0.9, 1.0, -0.1], "x2": [0.9, 0.0, 0.9]}))
    assert np.isnan(truth[0]).all()
    np.testing.assert_allclose(truth[1:].max(axis=1), 0.9)


def test_exclusive_or():
    data = simulate.checkerboard().sample(300, seed=3)
    differ = (data["x1"] > 0) != (data["x2"] > 0)
    assert (data["y"] == np.where(differ, "2", "1")).all()


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("rings", {"classes": 1}, "classes=1: use a whole number of at least 2"),
        ("rings", {"classes": 3, "number": 2}, "number=2: use a whole number of at least 3"),
        ("pie", {"classes": 4, "number": 3}, "number=3: use a whole number of at least 4"),
        ("checkerboard", {"classes": 5, "number": 2}, "number=2: use .* at least 3"),
        ("checkerboard", {"noise": 0.5}, r"noise=0\.5: use a number from 0 to below 0\.5"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
