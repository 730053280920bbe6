"""Curves of single rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=["x", "z"])
    data["f"] = rng.choice(["high", "low", "mid"], 150)
    data["y"] = data["x"] * data["z"] + (data["f"] == "low") + rng.normal(size=150) / 3
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["below", "mid"], "over")
    return data.set_index(pd.Index([f"r{i}" for i in range(150)]))


@pytest.fixture(scope="module")
def classes(data):
    return odrf.odrf("c ~ x + z + f", data, n_trees=9, seed=1)


def test_curves_are_predictions_of_the_rows(classes, data):
    found = classes.ice("x", values=[-1.0, 0.5], newdata=data[:30])
    for value in (-1.0, 0.5):
        expected = classes.predict(data[:30].assign(x=value), "prob")
        at = found.table[found.table["value"] == value].pivot(
            index="row", columns="class", values="estimate"
        )
        np.testing.assert_allclose(at.loc[expected.index], expected[at.columns], atol=1e-12)


def test_rows_are_drawn_by_the_seed(classes, data):
    found = classes.ice("f", rows=20)
    assert found.frame.equals(classes.ice("f", rows=20).frame)
    assert len(found.frame) == 20 and found.frame.index.isin(data.index).all()
    assert len(classes.ice("f", rows=1000).frame) == len(data)


def test_centred_lines_begin_at_zero(classes):
    drawn = classes.ice("x", rows=20).plot(centred=True, colour="f", of="over")
    lines = drawn.collections[0].get_segments()
    assert len(lines) == 20 and all(line[0, 1] == 0 for line in lines)
    assert "change of probability of over" in drawn.get_ylabel().replace("\n", " ")


def test_colours_are_those_of_the_variable(classes):
    found = classes.ice("x", rows=30)
    lines = found.plot(colour="z").collections[0]
    assert lines.get_array().tolist() == found.frame["z"].tolist()
    colours = pd.Series(map(tuple, found.plot(colour="f").collections[0].get_colors()))
    assert colours.groupby(found.frame["f"].to_numpy()).nunique().eq(1).all()
    assert colours.nunique() == 3


def test_what_cannot_be_asked(classes):
    found = classes.ice("x", rows=3)
    with pytest.raises(InputError, match="colour='w' is no variable"):
        found.plot(colour="w")
    with pytest.raises(InputError, match="is no variable"):
        found.plot(colour=["f"])
    with pytest.raises(InputError, match="use some of 'below'"):
        found.plot(of="beyond")
    with pytest.raises(InputError, match="one variable"):
        classes.ice(["x", "z"])
    with pytest.raises(InputError, match="rows=0"):
        classes.ice("x", rows=0)
