"""Surrogates of splits: those that rpart prints, and how they are listed."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import odrf
from tests.reports.rpart_surrogates import IRIS, STAGEC, Printed, stagec

STUMP = {"projection": "axis", "max_leaves": 2, "min_leaf": 1, "split_search": "exact", "seed": 1}


def iris() -> pd.DataFrame:
    table = load_iris(as_frame=True).data
    table.columns = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    return table


def stump_of(table: pd.DataFrame, printed: Printed) -> odrf.ODTResults:
    """Fit the split of rpart: its two sides are the response, and unknown sides are between."""
    rows = table.query(printed.rows, engine="python")
    name, _, cut, _ = printed.primary.split()
    side = np.where(rows[name].isna(), 0.5, rows[name] >= float(cut))
    data = rows.assign(side=side)
    return odrf.odt("side ~ .", data, missing="surrogate", kind="regression", **STUMP)


def as_printed(tree: odrf.ODTResults, side: str) -> list[list[str]]:
    """Return the surrogates in the words of `rpart_surrogates`, where small values go to `side`."""
    design, splits = tree.fit.design, tree.fit.forest.surrogates
    other = {"left": "right", "right": "left"}
    lines = []
    for s in range(len(splits.agree)):
        terms = slice(splits.start[s], splits.start[s + 1])
        columns, coef = splits.column[terms], splits.coef[terms]
        predictor = np.searchsorted(design.first, columns[0], side="right") - 1
        if len(columns) > 1:
            sent = dict(zip(columns - design.first[predictor], coef <= 0, strict=True))
            levels = [sent.get(level) for level in range(3)]
            sides = {True: side[0].upper(), False: other[side][0].upper(), None: "-"}
            words = ["as", "".join(sides[level] for level in levels), "left"]
        else:
            low, span = design.scaling.low[columns[0]], design.scaling.range[columns[0]]
            cut = low + span * splits.threshold[s] / coef[0]
            words = ["<", f"{cut:.4g}", other[side] if splits.flipped[s] else side]
        figures = [f"{splits.agree[s]:.3f}", f"{splits.adj[s]:.3f}", str(splits.n_split[s])]
        lines.append([design.predictors[predictor], *words, *figures])
    return lines


def expected(printed: Printed) -> list[list[str]]:
    lines = []
    for line in printed.surrogates:
        *words, agree, adj, n_split = line.split()
        lines.append([*words, f"{float(agree):.3f}", f"{float(adj):.3f}", n_split])
    return lines


@pytest.mark.parametrize("printed", STAGEC, ids=lambda printed: printed.primary)
def test_surrogates_are_those_that_rpart_prints_for_a_table_with_empty_cells(printed):
    tree = stump_of(stagec(), printed)
    name, _, cut, side = printed.primary.split()
    assert tree.splits["predictor"][0] == name
    assert tree.splits["threshold"][0] == pytest.approx(float(cut), rel=1e-3)
    assert as_printed(tree, side) == expected(printed)


@pytest.mark.parametrize("printed", IRIS, ids=lambda printed: printed.primary)
def test_surrogates_are_those_that_rpart_prints_for_iris(printed):
    tree = stump_of(iris(), printed)
    assert as_printed(tree, "left") == expected(printed)


def gbsg2_with_empty_cells() -> pd.DataFrame:
    data = odrf.load_data("gbsg2")
    empty = np.random.default_rng(1).random((2, len(data))) < 0.15
    return data.assign(
        age=data["age"].astype(float).mask(empty[0]),
        nodes=data["nodes"].astype(float).mask(empty[1]),
    )


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
def test_surrogates_of_survival_trees_agree_for_a_share_of_the_rows(criterion, weighted):
    data = gbsg2_with_empty_cells()
    data["w"] = np.random.default_rng(2).integers(1, 4, len(data)) if weighted else 1
    tree = odrf.odt(
        "Surv(time, event) ~ . - w", data, missing="surrogate", projection="axis", max_leaves=2,
        seed=1, criterion=criterion, weights="w",
    )  # fmt: skip
    table = tree.surrogates
    assert (table["node"] == 0).all() and (table["agree"].diff().dropna() <= 0).all()
    known = data[data[table["split"][0].split()[0]].notna()]
    left = known.eval(table["split"][0])
    numbers = table[table["surrogate"].str.fullmatch(r"\w+ (<=|>) [\d.]+")]
    assert len(numbers) > 1
    for condition, agree in zip(numbers["surrogate"], numbers["agree"], strict=True):
        name = condition.split()[0]
        same = known[name].notna() & (known.eval(condition) == left)
        assert np.average(same, weights=known["w"]) == pytest.approx(agree)


def test_what_the_summary_of_a_survival_tree_shows_is_in_its_table():
    data = gbsg2_with_empty_cells()
    options = {"missing": "surrogate", "max_leaves": 3, "seed": 1}
    tree = odrf.odt("Surv(time, event) ~ .", data, **options)
    (shown,) = (t for name, t in tree.summary().sections.items() if name.startswith("Surrogates"))
    np.testing.assert_allclose(shown["agree"], tree.surrogates["agree"], atol=5e-4)
    other = odrf.odt("Surv(time, event) ~ .", data, max_leaves=3, seed=1)
    with pytest.raises(odrf.InputError, match='missing="surrogate"'):
        _ = other.surrogates


# ------------------------------------------------------------------------------------------------
# One rule where none is given: the best fit, its row, its size and the mark of the plot agree.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def paths():
    data = odrf.load_data("diabetes")
    tree = odrf.odt("progression ~ .", data, seed=1)
    forest = odrf.odrf("progression ~ .", data, n_trees=25, seed=1)
    return [
        tree.pruning_path(cv=5), tree.growth_path(cv=5), forest.growth_path(along="depth"),
        forest.pruning_path(), forest.select_variables(),
    ]  # fmt: skip


def marked(ax: plt.Axes) -> float:
    """Return where the circle stands that marks the choice."""
    (circle,) = [line for line in ax.lines if line.get_marker() == "o" and line.get_mew() >= 1.5]
    return float(np.ravel(circle.get_ydata())[0])


def test_the_plot_marks_what_the_rule_chooses(paths):
    for path in paths:
        error = next(name for name in ("xerror", "test", "error") if name in path.table)
        for given in ({}, {"rule": "min"}, {"rule": "1se"}):
            chosen = path.table[error].iloc[path.row(**given)]
            assert marked(path.plot(**given)) == pytest.approx(chosen), type(path)
            plt.close("all")


def test_the_best_fit_is_that_of_the_row(paths):
    pruning, growth, depth, forests, steps = paths
    for given in ({}, {"rule": "min"}, {"rule": "1se"}):
        rows = [path.row(**given) for path in paths]
        assert pruning.best(**given).n_leaves == pruning.table["leaves"][rows[0]]
        assert growth.best_size(**given) == growth.table["leaves"][rows[1]]
        assert depth.best_size(**given) == depth.table["depth"][rows[2]]
        found = forests.best(**given).n_leaves.mean()
        assert found == pytest.approx(forests.table["leaves"][rows[3]])
        assert len(steps.selected(**given)) == steps.table["predictors"][rows[4]]


def test_a_tree_is_pruned_by_an_alpha_as_a_forest_is(paths):
    pruning, *_, forests, _ = paths
    for path in (pruning, forests):
        alpha = float(path.table["alpha"].iloc[len(path.table) // 2])
        fit = path.best("min").parent
        assert np.array_equal(fit.prune(alpha).n_leaves, fit.prune(alpha=alpha).n_leaves)
