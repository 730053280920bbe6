"""Rows with missing values: in training, and in predictors that have none in training."""

from __future__ import annotations

import re
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.missing import reading_empty_cells
from odrf.sklearn import ODRFClassifier
from reference.holes import terms_projected

N = 160


def table(seed: int = 0, holes: str = "") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(N, 3)), columns=list("abc"))
    data["f"] = rng.choice(list("uvw"), N)
    data["g"] = rng.choice([f"level {k}" for k in range(12)], N)
    signal = data["a"] + 2 * data["b"] + (data["f"] == "u")
    data["y"] = signal + rng.normal(size=N) / 4
    data["k"] = np.where(signal > 1, "high", np.where(signal < -1, "low", "mid"))
    for name in holes:
        data.loc[rng.random(N) < 0.3, name] = np.nan
    return data


FORMULAS = ["y ~ a + b + c + f + g", "k ~ a + b + c + f + g"]
FITS = {
    "odt": lambda formula, data: odrf.odt(formula, data, missing="split", seed=1),
    "odrf": lambda formula, data: odrf.odrf(formula, data, missing="split", n_trees=8, seed=1),
    "odbt": lambda formula, data: odrf.odbt(formula, data, missing="split", n_trees=8, seed=1),
    "graf": lambda formula, data: odrf.graf(formula, data, missing="split", n_trees=8, seed=1),
}


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("holes", ["", "abfg"])
def test_every_row_is_predicted(kind, formula, holes):
    data = table(holes=holes)
    fit = FITS[kind](formula, data)
    assert fit.nobs == N and fit.predict(data).notna().all()
    new = table(seed=1, holes="abcfg")
    assert fit.predict(new).notna().all()
    # a row alone is predicted as among others
    pd.testing.assert_series_equal(fit.predict(new[5:8]), fit.predict(new)[5:8])
    if kind != "odbt":
        row_predictor = fit.row_predictor()
        one_by_one = [row_predictor(row) for row in new[list("abcfg")].to_dict("records")]
        assert fit.predict(new).tolist() == one_by_one


def test_terms_without_a_fill_of_their_own_have_the_mean_of_the_node():
    data = table(holes="b")
    fit = odrf.odt("y ~ a + b + c", data, missing="split", max_leaves=6, seed=1).fit
    new = table(seed=1, holes="ac").drop(columns="b").assign(b=1.0)
    X, complete = fit.design.matrix(new)
    assert complete.all() and np.isnan(X[0]).any()
    reading, padded = reading_empty_cells(fit, X)
    leaves = leaf_nodes(reading.forest, padded, 1)[:, 0]
    forest, rows = fit.forest, fit.data.X
    reached = {0: np.ones(N, dtype=bool)}
    node_of = np.zeros(N, dtype=int)
    for node in np.flatnonzero(forest.is_split()):
        terms = slice(*forest.start[node : node + 2])
        index, coef = forest.index[terms], forest.coef[terms]
        inside = reached[node]
        fills = rows[index][:, inside].mean(axis=1)
        for X_of, members, store in ((rows, inside, True), (X, node_of == node, False)):
            left = terms_projected(X_of, index, coef, fills) <= forest.threshold[node]
            if store:
                reached[forest.left[node]] = members & left
                reached[forest.left[node] + 1] = members & ~left
            else:
                node_of[members] = forest.left[node] + ~left[members]
    assert (node_of == leaves).all()


@pytest.mark.parametrize(
    ("missing", "words"), [("split", "each split sends"), ("median", "filled by the median")]
)
def test_the_summary_counts_missing_values_of_predictors(missing, words):
    data = table(holes="af")
    fit = odrf.odt("y ~ a + b + f", data, missing=missing, seed=1)
    said = str(fit.summary())
    assert words in said and f"a {data['a'].isna().sum()}" in " ".join(said.split())


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("empty", [None, pd.NA], ids=str)
def test_an_empty_cell_among_objects_is_one_whatever_stands_for_it(kind, empty):
    data = table(holes="a").assign(t=lambda data: data["b"] > 0)
    objects = data[["a", "b", "t"]].astype(object)
    objects.loc[5:9, "t"] = np.nan
    as_given = objects.where(objects.notna(), empty)
    fits = [FITS[kind]("y ~ .", cells.assign(y=data["y"])) for cells in (objects, as_given)]
    expected, found = (fit.predict(objects) for fit in fits)
    assert found.equals(expected)
    assert fits[0].predict(as_given).equals(expected)
    # a column with nothing but a missing value, and a row made from one of another table
    row = as_given.loc[7:7].assign(b=pd.Series([empty], [7], dtype=object))
    assert fits[0].predict(row).equals(fits[0].predict(row.assign(b=np.nan)))
    assert fits[0].predict(as_given.loc[7].to_frame().T).equals(expected.loc[7:7])


def test_an_estimator_takes_objects_of_nullable_types():
    data = table(holes="ab")
    X = data[["a", "b", "c"]]
    nullable = X.convert_dtypes().astype(object)
    fits = [ODRFClassifier(n_trees=3, random_state=1).fit(X, data["k"]) for X in (X, nullable)]
    assert (fits[0].predict(X) == fits[1].predict(nullable)).all()


def test_rows_without_new_empty_cells_are_read_by_the_fit_itself():
    data = table(holes="ab")
    fit = odrf.odt("y ~ a + b + c", data, missing="split", max_leaves=6, seed=1).fit
    X, _ = fit.design.matrix(table(seed=1, holes="ab"))
    assert reading_empty_cells(fit, X) == (fit, X)


def test_holes_that_tell_the_response_are_found():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.random(400), "b": rng.random(400)})
    hidden = rng.random(400) < 0.5
    data["y"] = hidden + rng.normal(size=400) / 10
    data.loc[hidden, "a"] = np.nan
    fit = odrf.odrf("y ~ a + b", data, missing="split", n_trees=30, seed=1)
    assert fit.oob_error < 0.02
    assert fit.importance("permutation")["importance"].idxmax() == "a"


def test_median_fills_by_medians_and_commonest_levels():
    data = table(holes="af")
    fit = odrf.odt("y ~ a + b + f", data, missing="median", seed=1)
    by_hand = data.fillna({"a": data["a"].median(), "f": data["f"].mode()[0]})
    other = odrf.odt("y ~ a + b + f", by_hand, seed=1)
    pd.testing.assert_series_equal(fit.predict(by_hand), other.predict(by_hand))
    new = table(seed=1, holes="abf")
    filled = new.fillna(
        {"a": data["a"].median(), "b": data["b"].median(), "f": data["f"].mode()[0]}
    )
    pd.testing.assert_series_equal(fit.predict(new), other.predict(filled))
    assert fit.design.fills["a"] == data["a"].median()


@pytest.mark.parametrize("missing", ["raise", "split", "median", "drop"])
def test_rows_without_a_response_are_left_out_and_counted(missing):
    data = table()
    data.loc[:9, "y"] = np.nan
    fit = odrf.odt("y ~ a + b", data, missing=missing, seed=1)
    assert (fit.nobs, fit.fit.data.n_dropped) == (N - 10, 10)
    assert "10 dropped" in str(fit.summary())


def test_without_empty_cells_nothing_changes():
    data = table()
    split, plain = (
        odrf.odrf("k ~ a + b + f + g", data, missing=missing, n_trees=5, seed=1)
        for missing in ("split", "raise")
    )
    for name in ("threshold", "index", "coef", "value"):
        np.testing.assert_array_equal(getattr(split.forest, name), getattr(plain.forest, name))


def test_unseen_levels_are_missing_or_refused():
    data = table()
    new = data[:4].assign(f=["z", "u", "v", "w"])
    refusing = odrf.odt("y ~ a + f", data, unseen="raise", seed=1)
    with pytest.raises(odrf.InputError, match=r"'f' has levels .*'z' in 1 row.*unseen=.missing"):
        refusing.predict(new)
    for missing in ("raise", "split"):
        fit = odrf.odt("y ~ a + f", data, missing=missing, seed=1)
        with pytest.warns(UserWarning, match="'f' has levels") as said:
            assert fit.predict(new).notna().all()
        assert len(said) == 1
    holed = table(holes="f")
    fit = odrf.odt("y ~ a + f", holed, missing="split", seed=1)
    with pytest.warns(UserWarning, match="'f' has levels"):
        unseen = fit.predict(new)
    assert unseen[0] == fit.predict(new.assign(f=[None, "u", "v", "w"]))[0]


def test_a_saved_fit_predicts_the_same(tmp_path):
    fit = odrf.odrf(FORMULAS[0], table(holes="abf"), missing="split", n_trees=5, seed=1)
    fit.save(tmp_path / "fit.odrf")
    new = table(seed=1, holes="abcf")
    again = odrf.load(tmp_path / "fit.odrf")
    pd.testing.assert_series_equal(again.predict(new), fit.predict(new))


def test_grown_updated_and_pruned_fits_keep_their_fills():
    data, new = table(holes="abf"), table(seed=1, holes="abcf")
    forest = odrf.odrf(FORMULAS[0], data, missing="split", n_trees=5, seed=1)
    assert forest.grow(5).predict(new).notna().all()
    updated = forest.update(new)
    assert updated.nobs == 2 * N and updated.predict(new).notna().all()
    tree = odrf.odt(FORMULAS[0], data, missing="split", seed=1)
    assert tree.prune(leaves=4).predict(new).notna().all()
    assert len(tree.pruning_path(newdata=new).table) > 1
    honest = odrf.odrf(FORMULAS[0], data, missing="split", honest=True, n_trees=5, seed=1)
    assert honest.predict(new).notna().all()


def test_a_fit_without_rows_names_the_column_that_it_cannot_fill():
    penguins = odrf.load_data("penguins").dropna()
    fit = odrf.odrf("species ~ island + year + body_mass_g", penguins, n_trees=5, seed=1)
    new = penguins.head(2).astype({"year": float}).assign(year=[2007.0, np.nan])
    with pytest.raises(odrf.InputError, match=r"'year' is missing in new rows .*: fill in these"):
        fit.without_data().predict(new)


# ------------------------------------------------------------------------------------------------
# Levels that no training row has: declared or not, they are treated alike, and said.
# ------------------------------------------------------------------------------------------------

FITS_OF_UNSEEN_LEVELS = {
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


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("name", FITS_OF_UNSEEN_LEVELS)
def test_declared_and_undeclared_levels_are_alike(rows, name, response):
    formula, declared = f"{response} ~ a + b + f", pd.CategoricalDtype(["x", "new", "y", "z"])
    plain = FITS_OF_UNSEEN_LEVELS[name](formula, rows, seed=1)
    aware = FITS_OF_UNSEEN_LEVELS[name](formula, rows.assign(f=rows["f"].astype(declared)), seed=1)
    levels = FITS_OF_UNSEEN_LEVELS[name](
        f"{response} ~ a + b + C(f, levels=['x', 'y', 'z', 'new'])", rows, seed=1
    )
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


@pytest.mark.usefixtures("few_pilots")
def test_there_is_one_warning_for_all_factors(rows):
    fit = odrf.odt("y ~ a + f + g", rows.assign(g=rows["f"]), seed=1)
    new = of_level(rows, "new")
    with pytest.warns(
        UserWarning, match=r"^2 factors have .*: 'f' has 'new' .*; 'g' has"
    ) as caught:
        fit.predict(new.assign(g=new["f"]))
    assert len(caught) == 1 and caught[0].filename == __file__


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("missing", ["split", "drop"])
def test_such_rows_have_none_of_the_levels(rows, missing):
    fit = odrf.odt("y ~ a + f", rows, missing=missing, seed=1)
    with pytest.warns(UserWarning, match="levels that no training row has"):
        X, _ = fit.design.matrix(of_level(rows, "new"))
    assert fit.design.columns == ("a", "f[x]", "f[y]", "f[z]")
    unknown = X[1:, [3, 8]]
    assert np.isnan(unknown).all() if missing == "split" else (unknown == 0).all()
    assert (X[1:].sum(axis=0) == 1).sum() == 118


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("missing", ["split", "surrogate", "median", "drop", "raise"])
def test_the_warning_says_what_such_a_level_counts_as(rows, missing):
    fit = odrf.odt("y ~ f", rows, missing=missing, seed=1)
    kept = missing in ("split", "surrogate")
    said = "They count as missing values: " if kept else "have none of the known levels: "
    with pytest.warns(UserWarning, match=said):
        predicted = fit.predict(of_level(rows, "new"))
    if kept:
        assert predicted.equals(fit.predict(of_level(rows, None)))


@pytest.mark.usefixtures("few_pilots")
def test_a_misspelt_level_has_a_suggestion(rows):
    long = rows.assign(f=rows["f"].map({"x": "europe", "y": "japan", "z": "usa"}))
    fit = odrf.odt("y ~ f + a", long, seed=1)
    with pytest.warns(UserWarning, match="'europa' in 1 row .* did you mean 'europe'"):
        fit.predict(long.head(1).assign(f="europa"))


@pytest.mark.usefixtures("few_pilots")
def test_an_ordered_level_needs_a_rank(rows):
    dtype = pd.CategoricalDtype(["x", "between", "y", "z"], ordered=True)
    fit = odrf.odt("y ~ f + a", rows.assign(f=rows["f"].astype(dtype)), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # a declared category has a rank, whether or not a row has it
        fit.predict(of_level(rows, "between", dtype))
    with pytest.raises(InputError, match=r"unknown levels .new. .* an ordered factor: .* rank"):
        fit.predict(of_level(rows, "new"))


@pytest.mark.usefixtures("few_pilots")
def test_new_training_rows_are_told_of_too(rows):
    fit = odrf.odrf("y ~ f + a", rows[:60], n_trees=3, seed=1)
    with pytest.warns(UserWarning, match="no training row has: 'new' in 10 rows") as caught:
        assert fit.update(rows[60:70].assign(f="new")).nobs == 70
    assert caught[0].filename == __file__


@pytest.mark.usefixtures("few_pilots")
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


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("formula", ["y ~ a + f", "y ~ a * f"])
@pytest.mark.parametrize(("asked", "levels"), SETTINGS)
def test_levels_that_a_user_sets_are_said_once_and_as_set(rows, asked, levels, formula):
    fit = odrf.odt(formula, rows, seed=1)
    with pytest.warns(UserWarning) as caught:
        asked(fit)
    (said,) = (str(each.message) for each in caught)
    assert re.match(SET.format(levels), said) and " row" not in said.replace("training row", "")
    assert caught[0].filename == __file__


@pytest.mark.usefixtures("few_pilots")
def test_several_factors_that_a_user_sets_are_said_together(rows):
    fit = odrf.odt("y ~ a + f + g", rows.assign(g=rows["f"]), seed=1)
    said = "^2 factors are set to levels that no training row has: 'f' to 'p'; 'g' to 'q'. They"
    with pytest.warns(UserWarning, match=said) as caught:
        fit.predictions(at={"f": ["p", "x"], "g": ["q", "y"]})
    assert len(caught) == 1


@pytest.mark.usefixtures("few_pilots")
def test_a_misspelt_level_that_a_user_sets_has_a_suggestion(rows):
    long = rows.assign(f=rows["f"].map({"x": "europe", "y": "japan", "z": "usa"}))
    fit = odrf.odt("y ~ f + a", long, seed=1)
    with pytest.warns(UserWarning, match="use a known level if .* did you mean 'europe'"):
        fit.predictions(at={"f": "europa"})
    refusing = odrf.odt("y ~ f + a", long, unseen="raise", seed=1)
    said = "'f' is set to 'europa', .* Use a known level; did you mean 'europe'.*, or fit with"
    with pytest.raises(InputError, match=said):
        refusing.predictions(at={"f": "europa"})


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize(
    ("method", "variables"), [("predictions", []), ("comparisons", ["a"]), ("slopes", ["a"])]
)
def test_levels_of_new_rows_are_said_once_and_not_as_set(rows, method, variables):
    fit = odrf.odt("y ~ a * f + b", rows, seed=1)
    with pytest.warns(UserWarning, match=SAID) as caught:
        getattr(fit, method)(*variables, newdata=of_level(rows, "new"), at={"b": [0.1, 0.2]})
    assert len(caught) == 1


@pytest.mark.usefixtures("few_pilots")
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


@pytest.mark.usefixtures("few_pilots")
def test_missing_values_that_a_user_sets_are_not_beyond_the_training_rows(rows):
    fit = odrf.odt("y ~ a + f", rows, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.predictions(at={"a": [np.nan, 0.5], "f": [None, "x"]})


# ------------------------------------------------------------------------------------------------
# Whole numbers that floats do not tell apart: no step or grid is made of them.
# ------------------------------------------------------------------------------------------------


K = np.random.default_rng(0).integers(0, 50, 200)
EFFECTS = {
    "sd": lambda fit: fit.comparisons("x", contrast="sd"),
    "iqr": lambda fit: fit.comparisons("x", contrast="iqr"),
    "unit": lambda fit: fit.comparisons("x", contrast="unit"),
    "slopes": lambda fit: fit.slopes("x"),
    "partial": lambda fit: fit.partial("x"),
    "two": lambda fit: fit.partial(["x", "z"]),
    "ice": lambda fit: fit.ice("x"),
    "ale": lambda fit: fit.ale("x"),
}


def fitted(x):
    z = np.random.default_rng(1).normal(size=len(K))
    return odrf.odrf("y ~ x + z", pd.DataFrame({"x": x, "z": z, "y": 1.0 * K}), seed=1, n_trees=5)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64"])
def test_steps_and_grids_are_refused(dtype):
    fit = fitted(pd.Series(2**60 + K).astype(dtype))
    for effect in EFFECTS.values():
        with pytest.raises(InputError, match=r"'x' has whole numbers beyond 2\*\*53.*less the"):
            effect(fit)


@pytest.mark.filterwarnings("ignore")
def test_two_values_are_compared_exactly_and_smaller_numbers_as_ever():
    x = pd.Series(2**60 + K)
    pair = (2**60 + 2, 2**60 + 40)
    large = fitted(x).comparisons("x", contrast=pair).table["estimate"]
    small = fitted(x - 2**60).comparisons("x", contrast=(2, 40)).table["estimate"]
    assert large.tolist() == pytest.approx(small.tolist()) and large[0] > 10
    assert all(effect(fitted(x - 2**60)) is not None for effect in EFFECTS.values())


@pytest.mark.filterwarnings("ignore")
def test_among_all_variables_they_are_left_out_as_dates_are():
    large, small = fitted(pd.Series(2**60 + K)), fitted(pd.Series(K))
    assert set(large.comparisons().table["term"]) == {"z"} == set(large.slopes().table["term"])
    assert set(small.comparisons().table["term"]) == {"x", "z"} == set(small.slopes().table["term"])
    row = pd.DataFrame({"x": [2**60 + 3], "z": [0.5]})
    found = large.explain(row)
    assert list(found.slopes.index) == ["z"]
    assert not found.changes["variables"].str.contains("x").any()
    alone = odrf.odt("y ~ x", pd.DataFrame({"x": 2**60 + K, "y": 1.0 * K}), seed=1)
    for effect in (alone.comparisons, alone.slopes):
        with pytest.raises(InputError, match=r"'x' has whole numbers beyond"):
            effect()


@pytest.mark.filterwarnings("ignore")
def test_large_numbers_are_set_exactly_and_shared_out_as_small_ones():
    large, small = fitted(pd.Series(2**60 + K)), fitted(pd.Series(K))
    values = [2**60 + 2, 2**60 + 40]
    at = large.predictions(at={"x": values}).table["estimate"]
    assert at.tolist() == pytest.approx(
        small.predictions(at={"x": [2, 40]}).table["estimate"].tolist()
    )
    rows = pd.DataFrame({"x": [2**60 + 3, 2**60 + 44], "z": [0.5, -1.0]})
    values = [fit.shap(rows.assign(x=rows["x"] - less)).values
              for fit, less in ((large, 0), (small, 2**60))]  # fmt: skip
    assert values[0] == pytest.approx(values[1], abs=0.1)


@pytest.mark.filterwarnings("ignore")
def test_interactions_tell_them_apart():
    found = []
    for least in (0, 2**60):
        data = pd.DataFrame(
            {"x": least + K % 2, "z": K // 2 % 2, "y": 1.0 * (K % 2) * (K // 2 % 2)}
        )
        fit = odrf.odt("y ~ x + z", data, seed=1, alpha=None, projection="axis")
        found.append(fit.interactions(permutations=0).table["strength"][0])
    assert found[0] == pytest.approx(found[1]) and found[0] > 0.1


@pytest.mark.parametrize("first", [2**60, 2**63])
def test_whole_numbers_may_come_as_objects(first):
    numbers = [first + k for k in range(60)]
    kind = np.uint64 if first >= 2**63 else np.int64
    data = pd.DataFrame({"x": np.array(numbers, dtype=kind), "y": np.arange(60.0)})
    tree = odrf.odt("y ~ x", data, alpha=None, seed=1)
    told = tree.predict(data)
    assert told.nunique() > 4
    objects = data.assign(x=pd.Series(numbers, dtype=object))
    pd.testing.assert_series_equal(tree.predict(objects), told)
