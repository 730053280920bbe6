"""Compiling what the main functions need, before the first fit: ``odrf --warm``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np
import pandas as pd

from odrf.api.boosting import odbt
from odrf.api.forests import odrf
from odrf.api.guided import graf
from odrf.api.trees import odt
from odrf.engine.compiling import unannounced
from odrf.errors import without_warnings
from odrf.public.progress import progress_bar

ROWS: Final = 60
RESPONSES: Final = {"numbers": 1, "two classes": 2, "three classes": 3}
TIMES: Final = "Surv(time, event) ~ ."
# Whether a predictor is a factor and cells are missing: what does for both does for each alone.
PREDICTORS: Final = {"": False, ", with a factor and missing cells": True}


def compile_beforehand(progress: bool = True) -> None:
    """Compile what trees and forests need, and keep it on disk for later processes.

    Fits trees and forests to small made-up tables: for numbers, classes and survival times as
    responses, with numbers, a factor and missing cells as predictors.  What is on disk already is
    not compiled again.  The bar is all that it shows, unless compiled code cannot be kept.
    """
    fits = _fits()
    with (
        without_warnings(),
        unannounced(),
        progress_bar(fits.items(), unit="fit", desc="compiling", progress=progress) as bar,
    ):
        for words, fit in bar:
            bar.set_postfix_str(words)
            fit()


def _fits() -> dict[str, Callable[[], Any]]:
    """Return the fits, by what they are."""
    fits: dict[str, Callable[[], Any]] = {}
    for words, K in RESPONSES.items():
        for others, with_both in PREDICTORS.items():
            table = _table(K, with_both)
            fits[f"forest for {words}{others}"] = partial(_forest, table)
            fits[f"tree for {words}{others}"] = partial(odt, "y ~ .", table, seed=1)
        table = _table(K, False)
        fits[f"boosted trees for {words}"] = partial(odbt, "y ~ .", table, n_trees=2, seed=1)
        fits[f"guided forest for {words}"] = partial(graf, "y ~ .", table, n_trees=2, seed=1)
    for others, with_both in PREDICTORS.items():
        table = _table_of_times(with_both)
        fits[f"forest for times{others}"] = partial(_forest_of_times, table)
        fits[f"tree for times{others}"] = partial(odt, TIMES, table, seed=1)
    fits["boosted trees for times"] = partial(
        odbt, TIMES, _table_of_times(False), n_trees=2, seed=1
    )
    numbers = _table(1, False)
    fits["boosted trees that grow best-first"] = partial(
        odbt, "y ~ .", numbers, n_trees=2, max_leaves=4, seed=1
    )
    for others, with_both in PREDICTORS.items():
        fits[f"tree of lines{others}"] = partial(_tree_of_lines, _table(1, with_both))
    fits["forest on rows in chunks"] = partial(odrf, "y ~ .", [numbers], n_trees=2, seed=1)
    fits["tree with splits on ranks"] = partial(odt, "y ~ .", numbers, split_scale="ranks", seed=1)
    return fits


def _tree_of_lines(table: pd.DataFrame) -> None:
    """Fit a tree whose leaves are lines to a table, and predict."""
    odt("y ~ .", table, leaves="linear", seed=1).predict(table)


def _forest(table: pd.DataFrame) -> None:
    """Fit a forest to a table, and predict."""
    fit = odrf("y ~ .", table, n_trees=2, seed=1)
    fit.predict(table)
    fit.importance()


def _forest_of_times(table: pd.DataFrame) -> None:
    """Fit a survival forest to a table, and predict."""
    fit: Any = odrf(TIMES, table, n_trees=2, seed=1)
    fit.predict(table)
    fit.predict(table, type="survival")


def _table_of_times(with_both: bool) -> pd.DataFrame:
    """Return a table with survival times, of which a third are censored."""
    table = _table(1, with_both)
    table["time"] = np.exp(table.pop("y"))
    return table.assign(event=np.arange(ROWS) % 3 > 0)


def _table(K: int, with_both: bool) -> pd.DataFrame:
    """Return a table with a number (K = 1) or one of K classes to predict."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(ROWS, 3)), columns=["a", "b", "c"])
    signal = table["a"] + table["b"]
    ranks = signal.rank(method="first").astype(int) - 1
    table["y"] = signal if K == 1 else (ranks * K // ROWS).map("class {}".format)
    if with_both:
        table["f"] = rng.choice(list("uvwxyzst"), ROWS)
        table.loc[rng.random(ROWS) < 0.2, "b"] = np.nan
    return table
