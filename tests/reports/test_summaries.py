"""Fits that reproduce their training rows say so; what rounding leaves is no error."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.scores import explained_part
from odrf.reports.importance import with_shares
from odrf.reports.summaries import training_score, without_rounding

ROUNDED = re.compile(r"\de-(1[0-9]|[2-9]\d)")


def rows(n=100):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    y = 3.1 * data["a"] + data["b"] + rng.normal(size=n)
    return data.assign(y=y, k=np.where(y > 0, "high", "low"))


DATA = rows()
WHOLE = {"alpha": None, "min_leaf": 1}
REPRODUCING = {
    "tree": lambda: odrf.odt("y ~ a + b + c", DATA, seed=1, **WHOLE),
    "tree of classes": lambda: odrf.odt("k ~ a + b + c", DATA, seed=1, **WHOLE),
    "guided": lambda: odrf.graf("y ~ a + b + c", DATA, n_trees=10, subspace="all", seed=1),
    "guided classes": lambda: odrf.graf("k ~ a + b + c", DATA, n_trees=10, seed=1),
    "boosted": lambda: odrf.odbt(
        "y ~ a + b + c", DATA, n_trees=600, learning_rate=1.0, min_leaf=1, seed=1
    ),
}


@pytest.mark.parametrize("name", REPRODUCING)
def test_reproduced_rows_are_said_to_be(name):
    fit = REPRODUCING[name]()
    kind = "error rate" if fit.kind == "classification" else "MSE"
    said = "0 (the training rows are reproduced)"
    assert fit.summary().facts[f"Training {kind}"] == said
    assert said in repr(fit)
    assert not ROUNDED.search(f"{fit!r} {fit.summary()}")


@pytest.mark.parametrize("response", ["y", "k"])
def test_the_error_of_the_largest_subtree_is_0(response):
    data = rows(150).assign(k=lambda rows: pd.cut(rows["y"], 3, labels=list("uvw")))
    for seed in range(4):
        tree = odrf.odt(f"{response} ~ a + b + c", data, seed=seed, **WHOLE)
        assert tree.pruning_path(cv=None).table["error"].iloc[0] == 0


def test_an_error_that_is_one_is_told_as_it_is():
    tree = odrf.odt("y ~ a + b + c", DATA, max_leaves=4, seed=1)
    error = ((DATA["y"] - tree.predict(DATA)) ** 2).mean()
    assert float(tree.summary().facts["Training MSE"]) == pytest.approx(error, rel=1e-3)


def test_between_them_it_is_nearly():
    assert training_score(0.5, 0.9995) == {
        "Training MSE": "0.5 (the training rows are nearly reproduced)"
    }
    assert training_score(0.5, 0.5) == training_score(0.5, float("nan")) == {"Training MSE": "0.5"}
    assert training_score(1e-5, None) == {"Training error rate": "1e-05"}


def test_losses_keep_all_but_rounding():
    losses = pd.DataFrame({"training": [2.0, -1e-13, 1e-11, np.nan]})
    assert without_rounding(losses)["training"].tolist()[:3] == [2.0, 0.0, 1e-11]
    assert without_rounding(losses)["training"].isna().tolist() == [False] * 3 + [True]


def test_what_rounding_leaves_of_an_explained_part_is_0():
    assert explained_part(1 - 1e-16, 1.0) == 0 == explained_part(3.0000000000000004, 3.0)
    assert explained_part(0.25, 1.0) == 0.75 and explained_part(2.0, 1.0) == -1
    assert np.isnan(explained_part(0.0, 0.0))


def test_shares_are_of_the_importances_above_0():
    design = SimpleNamespace(predictors=("a", "b", "c"))
    fit = SimpleNamespace(design=design)
    table = with_shares(fit, np.array([-2.0, 1.0, 3.0]))
    assert table["share"].to_dict() == {"c": 0.75, "b": 0.25, "a": 0.0}
    assert table["importance"].to_dict() == {"c": 3.0, "b": 1.0, "a": -2.0}
    assert (with_shares(fit, np.array([-2.0, -1.0, 0.0]))["share"] == 0).all()
