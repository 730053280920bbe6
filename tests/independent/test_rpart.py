"""Pruning paths and cross-validated errors against those of rpart (``rpart.R``)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf

PATHS = pd.read_csv(Path(__file__).with_name("rpart_paths.csv"))
FOLDS = 10
# Table, response, and the rows of the path down to which no two cuts of a fold's tree tie in gain:
# below, where nodes have a dozen rows, both take different ones.
CASES = [
    ("diabetes", "progression", 28),
    ("breast_cancer", "diagnosis", 3),
    ("wine", "cultivar", 4),
    ("penguins", "species", 4),
    ("auto_mpg", "mpg", 17),
    ("hitters", "salary", 18),
]


def complete_rows(table, response):
    """The rows without empty cells; numbers as in the script."""
    data = odrf.load_data(table).dropna().reset_index(drop=True)
    numbers = [c for c in data.select_dtypes("number") if c != response]
    data[numbers] = np.exp(data[numbers] / data[numbers].abs().max())
    return data


@pytest.mark.parametrize(("table", "response", "untied"), CASES)
def test_paths_are_those_of_rpart(table, response, untied):
    data, theirs = complete_rows(table, response), PATHS[PATHS["table"] == table]
    tree = odrf.odt(
        f"{response} ~ .",
        data,
        projection="axis",
        alpha=None,
        split_search="exact",
        min_leaf=7,
        seed=1,
    )
    path = tree.pruning_path(cv=np.arange(len(data)) % FOLDS).table.iloc[::-1]
    cp = path["alpha"] / path["error"].iloc[0]
    assert path["leaves"].tolist() == theirs["leaves"].tolist()
    np.testing.assert_allclose(cp, theirs["cp"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(path["relative_error"], theirs["relative_error"], rtol=0, atol=1e-12)
    compared = np.flatnonzero(theirs["ambiguous"].to_numpy()[:untied] == 0)
    assert len(compared) >= untied - 2
    for column in ("xerror", "xstd"):
        ours = path[column].to_numpy()[compared]
        np.testing.assert_allclose(ours, theirs[column].to_numpy()[compared], rtol=0, atol=1e-12)
