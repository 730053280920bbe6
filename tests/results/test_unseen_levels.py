"""Levels that no training row has: declared or not, they are treated alike, and said."""

from __future__ import annotations

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

pytestmark = pytest.mark.usefixtures("few_pilots")

FITS = {
    "tree": odrf.odt,
    "forest": partial(odrf.odrf, n_trees=12),
    "blend": partial(odrf.odrf, n_trees=30, blend=True),
    "boosted": partial(odrf.odbt, n_trees=3),
    "guided": partial(odrf.graf, n_trees=3),
}
RESPONSES = ("y", "two", "c", "o")
SAID = r"'f' has levels that no training row has: 'new' in 2 rows \(index 'row3', 'row8'\)"


@pytest.fixture(scope="module")
def rows(table):
    grades = pd.CategoricalDtype(["low", "mid", "top"], ordered=True)
    return table.assign(
        two=np.where(table["y"] > 0.4, "above", "below"), o=table["c"].astype(grades)
    )


def of_level(table, level, dtype=None):
    """The table with another level in two rows."""
    column = table["f"].astype(object).copy()
    column.loc[["row3", "row8"]] = level
    return table.assign(f=column if dtype is None else column.astype(dtype))


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("name", FITS)
def test_declared_and_undeclared_levels_are_alike(rows, name, response):
    formula, declared = f"{response} ~ a + b + f", pd.CategoricalDtype(["x", "new", "y", "z"])
    plain = FITS[name](formula, rows, seed=1)
    aware = FITS[name](formula, rows.assign(f=rows["f"].astype(declared)), seed=1)
    levels = FITS[name](f"{response} ~ a + b + C(f, levels=['x', 'y', 'z', 'new'])", rows, seed=1)
    found = []
    for fit, new in (
        (plain, of_level(rows, "new")),
        (plain, of_level(rows, "new", declared)),
        (aware, of_level(rows, "new")),
        (aware, of_level(rows, "new", declared)),
    ):
        with pytest.warns(UserWarning, match=SAID) as caught:
            found.append(fit.predict(new))
        assert len(caught) == 1 and caught[0].filename == __file__
    assert all(one.equals(found[0]) for one in found[1:])
    with pytest.warns(UserWarning, match="no training row has: 'new' in 2 rows"):
        X, _ = levels.design.matrix(of_level(rows, "new"))
    at = [i for i, column in enumerate(levels.design.columns) if column.startswith("C(f")]
    assert np.isnan(X[np.ix_(at, [3, 8])]).all() and (X[at].sum(axis=0) == 1).sum() == 118
    if hasattr(plain, "row_predictor"):
        new = of_level(rows, "new").loc["row3", ["a", "b", "f"]]
        for fit in (plain, aware):
            with pytest.warns(UserWarning, match="no training row has: 'new' in 1 row"):
                assert fit.row_predictor()(new) == found[0]["row3"]


def test_there_is_one_warning_for_all_factors(rows):
    fit = odrf.odt("y ~ a + f + g", rows.assign(g=rows["f"]), seed=1)
    new = of_level(rows, "new")
    with pytest.warns(
        UserWarning, match=r"^2 factors have .*: 'f' has 'new' .*; 'g' has"
    ) as caught:
        fit.predict(new.assign(g=new["f"]))
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.parametrize("missing", ["split", "drop"])
def test_such_rows_have_none_of_the_levels(rows, missing):
    fit = odrf.odt("y ~ a + f", rows, missing=missing, seed=1)
    with pytest.warns(UserWarning, match="levels that no training row has"):
        X, _ = fit.design.matrix(of_level(rows, "new"))
    assert fit.design.columns == ("a", "f[x]", "f[y]", "f[z]")
    unknown = X[1:, [3, 8]]
    assert np.isnan(unknown).all() if missing == "split" else (unknown == 0).all()
    assert (X[1:].sum(axis=0) == 1).sum() == 118


@pytest.mark.parametrize("missing", ["split", "surrogate", "median", "drop", "raise"])
def test_the_warning_says_what_such_a_level_counts_as(rows, missing):
    fit = odrf.odt("y ~ f", rows, missing=missing, seed=1)
    kept = missing in ("split", "surrogate")
    said = "They count as missing values: " if kept else "have none of the known levels: "
    with pytest.warns(UserWarning, match=said):
        predicted = fit.predict(of_level(rows, "new"))
    if kept:
        assert predicted.equals(fit.predict(of_level(rows, None)))


def test_a_misspelt_level_has_a_suggestion(rows):
    long = rows.assign(f=rows["f"].map({"x": "europe", "y": "japan", "z": "usa"}))
    fit = odrf.odt("y ~ f + a", long, seed=1)
    with pytest.warns(UserWarning, match="'europa' in 1 row .* did you mean 'europe'"):
        fit.predict(long.head(1).assign(f="europa"))


def test_an_ordered_level_needs_a_rank(rows):
    dtype = pd.CategoricalDtype(["x", "between", "y", "z"], ordered=True)
    fit = odrf.odt("y ~ f + a", rows.assign(f=rows["f"].astype(dtype)), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # a declared category has a rank, whether or not a row has it
        fit.predict(of_level(rows, "between", dtype))
    with pytest.raises(InputError, match=r"unknown levels .new. .* an ordered factor: .* rank"):
        fit.predict(of_level(rows, "new"))


def test_new_training_rows_are_told_of_too(rows):
    fit = odrf.odrf("y ~ f + a", rows[:60], n_trees=3, seed=1)
    with pytest.warns(UserWarning, match="no training row has: 'new' in 10 rows") as caught:
        assert fit.update(rows[60:70].assign(f="new")).nobs == 70
    assert caught[0].filename == __file__


def test_folds_that_lack_a_level_are_not_worth_a_word(rows):
    data = of_level(rows, "rare")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        odrf.compare("y ~ a + f", data, {"tree": odrf.odt, "other": odrf.odt}, cv=8, seed=1)
        odrf.tune("y ~ a + f", data, {"min_leaf": [1, 9]}, n_trees=4, method="cv", cv=8, seed=1)
        odrf.odt("y ~ a + f", data, seed=1).pruning_path(cv=8)


SET = "^'f' is set to {}, which no training row has; known are 'x', 'y', 'z'. They count as missing"
SETTINGS = [
    (lambda fit: fit.predictions(at={"f": ["new", "x"], "a": [0.1, 0.2, 0.3]}), "'new'"),
    (lambda fit: fit.predictions(at={"f": ["new", "x", "old"]}), "'new', 'old'"),
    (lambda fit: fit.comparisons("a", at={"f": ["new", "x"]}, contrast=(0.1, 0.9)), "'new'"),
    (lambda fit: fit.comparisons("f", contrast=("x", "new"), at={"a": [0.1, 0.9]}), "'new'"),
    (lambda fit: fit.slopes("a", at={"f": "new"}), "'new'"),
    (lambda fit: fit.partial("f", values=["x", "new"]), "'new'"),
    (lambda fit: fit.partial(["f", "a"], values={"f": ["x", "new"]}), "'new'"),
    (lambda fit: fit.ice("f", values=["x", "new"]), "'new'"),
]


@pytest.mark.parametrize("formula", ["y ~ a + f", "y ~ a * f"])
@pytest.mark.parametrize(("asked", "levels"), SETTINGS)
def test_levels_that_a_user_sets_are_said_once_and_as_set(rows, asked, levels, formula):
    fit = odrf.odt(formula, rows, seed=1)
    with pytest.warns(UserWarning) as caught:
        asked(fit)
    (said,) = (str(each.message) for each in caught)
    assert re.match(SET.format(levels), said) and " row" not in said.replace("training row", "")
    assert caught[0].filename == __file__


def test_several_factors_that_a_user_sets_are_said_together(rows):
    fit = odrf.odt("y ~ a + f + g", rows.assign(g=rows["f"]), seed=1)
    said = "^2 factors are set to levels that no training row has: 'f' to 'p'; 'g' to 'q'. They"
    with pytest.warns(UserWarning, match=said) as caught:
        fit.predictions(at={"f": ["p", "x"], "g": ["q", "y"]})
    assert len(caught) == 1


def test_a_misspelt_level_that_a_user_sets_has_a_suggestion(rows):
    long = rows.assign(f=rows["f"].map({"x": "europe", "y": "japan", "z": "usa"}))
    fit = odrf.odt("y ~ f + a", long, seed=1)
    with pytest.warns(UserWarning, match="use a known level if .* did you mean 'europe'"):
        fit.predictions(at={"f": "europa"})
    refusing = odrf.odt("y ~ f + a", long, unseen="raise", seed=1)
    said = "'f' is set to 'europa', .* Use a known level; did you mean 'europe'.*, or fit with"
    with pytest.raises(InputError, match=said):
        refusing.predictions(at={"f": "europa"})


@pytest.mark.parametrize(
    ("method", "variables"), [("predictions", []), ("comparisons", ["a"]), ("slopes", ["a"])]
)
def test_levels_of_new_rows_are_said_once_and_not_as_set(rows, method, variables):
    fit = odrf.odt("y ~ a * f + b", rows, seed=1)
    with pytest.warns(UserWarning, match=SAID) as caught:
        getattr(fit, method)(*variables, newdata=of_level(rows, "new"), at={"b": [0.1, 0.2]})
    assert len(caught) == 1


@pytest.mark.parametrize(
    "asked",
    [
        lambda fit, new: fit.partial("f", newdata=new),
        lambda fit, new: fit.ice("f", newdata=new),
        lambda fit, new: fit.ale("f", newdata=new),
        lambda fit, new: fit.interactions(["f", "a"], newdata=new, rows=10, permutations=1),
    ],
)
def test_curves_say_the_levels_of_new_rows_once(rows, asked):
    fit = odrf.odt("y ~ a + f + b", rows, seed=1)
    with pytest.warns(UserWarning, match=SAID) as caught:
        asked(fit, of_level(rows, "new"))
    assert len(caught) == 1


def test_missing_values_that_a_user_sets_are_not_beyond_the_training_rows(rows):
    fit = odrf.odt("y ~ a + f", rows, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.predictions(at={"a": [np.nan, 0.5], "f": [None, "x"]})
