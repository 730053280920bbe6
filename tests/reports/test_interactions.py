"""H statistics, beside loops with predict."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.fits.curves import grown_on_permuted


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(200, 3)), columns=["x", "z", "u"])
    data["f"] = rng.choice(["high", "low", "mid"], 200)
    data["y"] = 3 * data["x"] * data["z"] + 2 * data["u"] + rng.normal(size=200) / 3
    data["c"] = np.select([data["y"] < -1, data["y"] < 1], ["below", "mid"], "over")
    return data


def h_of_pair(predict, rows, first, second):
    """Friedman and Popescu's equation (44), with all rows as the sample."""
    n = len(rows)

    def partial(names):
        out = []
        for i in range(n):
            out.append(predict(rows.assign(**{k: rows[k].iloc[i] for k in names})).mean(axis=0))
        return np.array(out) - np.mean(out, axis=0)

    both, one, other = partial([first, second]), partial([first]), partial([second])
    rest = both - one - other
    return np.sqrt((rest**2).sum() / n), np.sqrt((rest**2).sum() / (both**2).sum())


def h_overall(predict, rows, name):
    """Equation (45)."""
    n = len(rows)
    others = [column for column in rows if column != name]
    own, rest = [], []
    for i in range(n):
        own.append(predict(rows.assign(**{name: rows[name].iloc[i]})).mean(axis=0))
        rest.append(predict(rows.assign(**{k: rows[k].iloc[i] for k in others})).mean(axis=0))
    centred = [part - np.mean(part, axis=0) for part in (predict(rows), own, rest)]
    left = centred[0] - centred[1] - centred[2]
    return np.sqrt((left**2).sum() / n), np.sqrt((left**2).sum() / (centred[0] ** 2).sum())


@pytest.mark.parametrize("grow", [odrf.odrf, odrf.odbt])
def test_statistics_are_those_of_loops(grow, data):
    fit = grow("c ~ x + z + f", data, n_trees=6, seed=1)
    new = data[["x", "z", "f"]][:12]
    found = fit.interactions(newdata=new, permutations=0)

    def predict(rows):
        return fit.predict(rows, "prob").to_numpy()

    for row in found.table.itertuples():
        expected = h_of_pair(predict, new, row.first, row.second)
        np.testing.assert_allclose([row.strength, row.H], expected, atol=1e-12)
    for row in found.overall.itertuples():
        expected = h_overall(predict, new, row.variable)
        np.testing.assert_allclose([row.strength, row.H], expected, atol=1e-12)
    assert found.table["strength"].is_monotonic_decreasing


@pytest.mark.parametrize("response", ["y", "c"])
def test_what_no_tree_has_together_does_not_interact(response, data):
    new = data[["x", "z", "u", "f"]][:12]
    stump = {"max_leaves": 2, "projection": "axis", "blend": False, "n_trees": 12, "seed": 1}
    found = odrf.odrf(f"{response} ~ x + z + u + f", data, **stump).interactions(
        newdata=new, permutations=0
    )
    for table in (found.table, found.overall):
        assert (table[["strength", "H"]] == 0).all(axis=None)


def test_what_interacts_is_above_the_noise(data):
    fit = odrf.odrf("y ~ x + z + u", data, n_trees=50, seed=1)
    found = fit.interactions(rows=60)
    top = found.table.iloc[0]
    assert {top["first"], top["second"]} == {"x", "z"}
    assert top["strength"] > 2 * top["noise"]
    assert (found.table["strength"][1:] < top["strength"] / 2).all()
    assert found.overall["variable"].iloc[-1] == "u"


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
def test_fits_to_permuted_responses_are_of_the_same_kind(grow, data):
    few = {} if grow is odrf.odt else {"n_trees": 6}
    weights = np.arange(1.0, len(data) + 1)
    fit = grow("c ~ x + f", data, weights=weights, seed=1, **few).fit
    null = grown_on_permuted(fit, 3)
    assert type(null) is type(fit) and null.control.seed == fit.control.seed
    order = np.argsort(null.data.weights)
    assert (null.data.y[order] == fit.data.y).all()
    assert not (null.data.y == fit.data.y).all()
    again = grown_on_permuted(fit, 3)
    assert (null.forest.value == again.forest.value).all()


def test_the_same_call_gives_the_same(data):
    fit = odrf.odrf("y ~ x + z", data, n_trees=5, seed=1)
    assert fit.interactions(rows=20).table.equals(fit.interactions(rows=20).table)


def test_what_cannot_be_asked(data):
    fit = odrf.odrf("y ~ x + z", data, n_trees=5, seed=1)
    for asked in ("x", ["x"], ["x", "x"]):
        with pytest.raises(InputError, match="two or more"):
            fit.interactions(asked)
    with pytest.raises(InputError, match="no predictor"):
        fit.interactions(["x", "u"])
    with pytest.raises(InputError, match="1 rows have values of all"):
        fit.interactions(newdata=data.assign(x=data["x"].where(data.index < 1)))
    with pytest.raises(InputError, match="rows"):
        fit.interactions(rows=1)
