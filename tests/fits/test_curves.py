"""Predictions at points of a grid, beside predict() of rows whose values were set."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.curves import curves_of_rows
from odrf.fits.fit import raw_rows

FITS = {
    "tree": partial(odrf.odt, alpha=None),
    "tree with surrogates": partial(odrf.odt, missing="surrogate", alpha=None),
    "forest": partial(odrf.odrf, n_trees=7),
    "boosted": partial(odrf.odbt, n_trees=5),
    "boosted in runs": partial(odrf.odbt, n_trees=3, n_runs=2),
    "guided": partial(odrf.graf, n_trees=7),
}
CASES = [
    *((name, "number") for name in FITS if name != "guided"),
    *((name, "class") for name in ("forest", "boosted", "guided")),
]
POINTS = {
    "a number": {"x": [-1.0, 0.2, 0.2, 3.0]},
    "falling": {"x": [2.0, 0.1, -2.0]},
    "a factor": {"f": ["q", "p", "r"]},
    "two": {"x": [0.0, 0.0, 1.0, 1.0], "f": ["p", "q", "p", "q"]},
    "in a product": {"z": [0.5, 1.5]},
    "a whole number": {"k": [2, 3, 5]},
    "many levels": {"g": list("adh")},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    n = 90
    data = pd.DataFrame({name: rng.normal(size=n) for name in "xzu"})
    data["f"] = rng.choice(list("pqr"), n)
    data["g"] = rng.choice(list("abcdefgh"), n)
    data["k"] = rng.integers(1, 7, n)
    score = data["x"] * data["z"] + (data["f"] == "p") - data["u"] + data["k"] / 3
    data["number"] = score + rng.normal(size=n) / 3
    data["class"] = np.select([score < 0, score < 1.5], ["low", "mid"], "top")
    data.loc[::9, "u"] = np.nan
    data.loc[4::9, "x"] = np.nan
    return data


@pytest.fixture(scope="module")
def fits(rows):
    right = "x + x:z + z + u + f + g + np.log(k) + k"
    return {(name, y): FITS[name](f"{y} ~ {right}", rows, seed=1) for name, y in CASES}


def by_predict(result, frame, points):
    """Predictions (n, G, K), each by a call of predict."""
    out = []
    for at in range(len(next(iter(points.values())))):
        new = frame.assign(**{name: values[at] for name, values in points.items()})
        kind = "response" if result.classes is None else "prob"
        out.append(np.asarray(result.predict(new, kind)).reshape(len(frame), -1))
    return np.stack(out, axis=1)


@pytest.mark.parametrize("points", POINTS.values(), ids=POINTS)
@pytest.mark.parametrize(("name", "y"), CASES)
def test_predictions_are_those_of_predict(fits, rows, name, y, points):
    result = fits[name, y]
    fit = result.fit
    given = {column: np.asarray(values) for column, values in points.items()}
    for newdata in (None, rows.iloc[5:40]):
        raw = raw_rows(fit, newdata)
        blocks = list(curves_of_rows(fit, raw, given))
        predicted = np.concatenate([block.predicted for block in blocks])
        # numbers are read back from the matrix to seven digits
        frame = raw.frame if newdata is None else newdata
        np.testing.assert_allclose(predicted, by_predict(result, frame, points), atol=1e-12)


@pytest.mark.parametrize(("name", "y"), CASES)
def test_empty_cells_that_training_does_not_have(fits, rows, name, y):
    result = fits[name, y]
    new = rows.iloc[:20].copy()
    new.loc[::2, "z"] = np.nan
    new.loc[1::2, "x"] = np.nan
    for points in ({"x": [0.0, 1.0]}, {"u": [0.0, 1.0]}):
        given = {column: np.asarray(values) for column, values in points.items()}
        blocks = list(curves_of_rows(result.fit, raw_rows(result.fit, new), given))
        predicted = np.concatenate([block.predicted for block in blocks])
        np.testing.assert_allclose(predicted, by_predict(result, new, points), atol=1e-12)


@pytest.mark.filterwarnings("ignore:.*no training row has:UserWarning")
@pytest.mark.parametrize("points", [["p", "new", "q"], ["new", "p", "q"]])
def test_levels_that_no_training_row_has(rows, points):
    result = odrf.odrf("number ~ x + f + f:z", rows, n_trees=7, blend=False, seed=1)
    new = rows.iloc[:40].copy()
    new.loc[::2, "z"] = np.nan
    for newdata in (None, new):
        raw = raw_rows(result.fit, newdata)
        blocks = list(curves_of_rows(result.fit, raw, {"f": np.asarray(points)}))
        predicted = np.concatenate([block.predicted for block in blocks])
        frame = raw.frame if newdata is None else newdata
        np.testing.assert_allclose(predicted, by_predict(result, frame, {"f": points}), atol=1e-12)


def test_offsets_of_training_rows_stay(rows):
    full = rows.dropna()
    result = odrf.odbt("number ~ x + z", full, offset="u", n_trees=3, seed=1)
    raw = raw_rows(result.fit)
    blocks = list(curves_of_rows(result.fit, raw, {"x": np.array([0.0, 1.0])}))
    predicted = np.concatenate([block.predicted for block in blocks])
    frame = raw.frame.assign(u=full["u"])
    np.testing.assert_allclose(predicted, by_predict(result, frame, {"x": [0.0, 1.0]}))
