"""Errors of new rows, predicted before they are learned."""

from __future__ import annotations

from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, simulate

mpl.use("agg")
FORMULAS = {"regression": "y ~ a + b + f", "classification": "c ~ a + b + f"}


def fitted(table, kind, function):
    options = {"alpha": "1se"} if function is odrf.odt else {"n_trees": 6, "n_jobs": 1}
    return function(FORMULAS[kind], table[:60], seed=1, **options)


def losses(fit, rows):
    """The losses of rows by their own definition."""
    y = rows[fit.formula.split(" ~")[0]]
    predicted = fit.predict(rows)
    wrong = (predicted != y) if fit.kind == "classification" else (predicted - y) ** 2
    return wrong.astype(float)


@pytest.mark.parametrize("kind", list(FORMULAS))
@pytest.mark.parametrize("function", [odrf.odt, odrf.odrf])
def test_rows_are_predicted_before_they_are_learned(table, kind, function):
    fit, ends, expected = fitted(table, kind, function), [60, 90, 91, 120], []
    for begin, end in pairwise(ends):
        rows = table[begin:end]
        expected.append(losses(fit, rows).mean())
        fit = fit.update(rows)
    found = fit.drift_path().table
    np.testing.assert_allclose(found["error"], expected, rtol=1e-9)
    assert found["rows"].tolist() == [30, 1, 29]
    assert found.index.tolist() == [60, 90, 91] and found.index.name == "first"
    blocks = fit.drift_path(rows=25).table
    assert blocks["rows"].tolist() == [25, 25, 10]
    whole = np.average(found["error"], weights=found["rows"])
    assert np.average(blocks["error"], weights=blocks["rows"]) == pytest.approx(whole)


def test_case_weights_count(table):
    weighted = table.assign(w=np.arange(120) % 3 / 2)
    first = odrf.odrf("y ~ a + b + f", weighted[:60], weights="w", n_trees=5, seed=1, n_jobs=1)
    [error] = first.update(weighted[60:]).drift_path().table["error"]
    expected = np.average(losses(first, weighted[60:]), weights=weighted["w"][60:])
    assert error == pytest.approx(expected)


def test_files_keep_it_and_combined_forests_do_not(table, tmp_path):
    fits = [
        odrf.odrf("y ~ a", table[:60], n_trees=3, seed=seed, n_jobs=1).update(table[60:90])
        for seed in (1, 2)
    ]
    fits[0].save(tmp_path / "fit.odrf")
    again = odrf.load(tmp_path / "fit.odrf")
    pd.testing.assert_frame_equal(again.drift_path().table, fits[0].drift_path().table)
    both = fits[0].combine(fits[1])
    with pytest.raises(InputError, match=r"of combine\(\) has not predicted .* made of"):
        both.drift_path()
    later = both.update(table[90:]).drift_path().table
    assert later["error"].isna().tolist() == [True, False]
    with pytest.raises(InputError, match="needs an updated fit"):
        fits[0].tree(1).drift_path()


def test_a_change_is_seen():
    data = simulate.friedman1().sample(900, seed=1)
    data.loc[600:, "y"] = data.loc[600:, "y"].to_numpy()[::-1]
    fit = odrf.odrf("y ~ .", data[:300], n_trees=10, blend=False, seed=1, n_jobs=1)
    for begin in range(300, 900, 100):
        fit = fit.update(data[begin : begin + 100])
    path = fit.drift_path()
    z = path.table["z"].to_numpy()
    assert abs(z[1:3]).max() < 3 < z[3]
    assert f"Error more than 3 SE above before  {(z > 3).sum()} block" in str(path)
    labels = [text.get_text() for text in path.plot().get_legend().get_texts()]
    assert labels[-1] == "larger than before"
    assert "errors that rise tell of drift" in " ".join(str(path.summary()).split())


def test_what_is_refused(table):
    first = odrf.odt("y ~ a", table[:60], seed=1)
    with pytest.raises(InputError, match=r"call update\(newdata\) first"):
        first.drift_path()
    with pytest.raises(InputError, match="rows=0: use a whole number of at least 1"):
        first.update(table[60:]).drift_path(rows=0)
