"""Surrogates of splits: those that rpart prints, and how they are listed."""

from __future__ import annotations

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
