"""Trees of `odrf.odt` for survival times against rpart (``survival_trees.R``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf

FOLDER = Path(__file__).parent
ROWS, NODES, PATHS = (pd.read_csv(FOLDER / f"{name}.csv") for name in ("rows", "nodes", "paths"))


@pytest.fixture(scope="module", params=["simulated", "veteran"])
def table(request):
    return request.param


def of_table(data, table):
    return data[data["table"] == table].drop(columns="table").reset_index(drop=True)


@pytest.fixture(scope="module")
def tree(table):
    """As rpart grows it: single predictors, all cuts, leaves of 7 rows."""
    rows = of_table(ROWS, table).drop(columns="fold")
    return odrf.odt(
        "Surv(time, event) ~ .", rows, criterion="exponential", projection="axis", min_leaf=7,
        alpha=None, split_search="exact", seed=1,
    )  # fmt: skip


def test_the_nodes_are_those_of_rpart(tree, table):
    pruned = tree.prune(alpha=0.0)
    nodes, theirs = pruned.nodes, of_table(NODES, table)
    ours = nodes.assign(deviance=nodes["weight"] * nodes["impurity"])
    columns = ["count", "events", "relative_hazard", "deviance"]
    ours = ours.sort_values(columns)[columns].to_numpy(float)
    names = ["rows", "events", "hazard", "deviance"]
    np.testing.assert_allclose(ours, theirs.sort_values(names)[names], rtol=1e-9)
    split = pruned.splits.drop_duplicates("node")["predictor"].value_counts().to_dict()
    assert split == theirs.loc[theirs["variable"] != "<leaf>", "variable"].value_counts().to_dict()


def test_the_path_is_the_cp_table_of_rpart(tree, table):
    folds = of_table(ROWS, table)["fold"].to_numpy()
    ours, theirs = tree.pruning_path(cv=folds).table, of_table(PATHS, table).iloc[::-1]
    assert (ours["leaves"] - 1).tolist() == theirs["nsplit"].tolist()
    root = ours["error"].iloc[-1]
    np.testing.assert_allclose(ours["alpha"] / root, theirs["cp"], rtol=0, atol=1e-11)
    for column in ("relative_error", "xerror", "xstd"):
        np.testing.assert_allclose(ours[column], theirs[column], rtol=1e-9, err_msg=column)
