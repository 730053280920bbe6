"""The strongest methods of published comparisons: boosters, networks, kernels.

All are at their defaults, and three are also tuned, each for a number of seconds that its name
tells: LightGBM, CatBoost and RealMLP; see ``tuned.py``.

The functions are as those of ``methods.py``.  Factors are passed as factors, as the documentation
of each library says.  The libraries hold out rows for validation where they do so by default: 20 %
in ChimeraBoost and in pytabkit, whose methods are RealMLP-TD, TabM and xRFM with tuned defaults,
15 % in each of the explainable boosting machine's 14 bags.  CatBoost and Perpetual hold out none.

``trees`` of the setting has no effect.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd

from benchmarks.methods.methods import (
    BUDGETS,
    Method,
    Predict,
    Setting,
    class_of,
    fitted,
    is_factor,
)
from benchmarks.methods.tuned import TUNED, tuned

__all__ = ["ANCHORS"]


def catboost(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """CatBoost: 1,000 rounds of symmetric trees on ordered statistics of the factors."""
    model = class_of("catboost", "CatBoost", task)(
        cat_features=_factors(train),
        random_seed=setting.seed,
        thread_count=setting.threads,
        allow_writing_files=False,
        verbose=False,
    )
    return fitted(model, _as_text, train, task)


def chimeraboost(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """ChimeraBoost: symmetric trees, the number of rounds chosen on rows held out."""
    model = class_of("chimeraboost", "ChimeraBoost", task)(
        cat_features=_factors(train), random_state=setting.seed, thread_count=setting.threads
    )
    return fitted(model, _as_text, train, task)


def explainable_boosting(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """The explainable boosting machine: a sum of functions of one and of two predictors."""
    model = class_of("interpret.glassbox", "ExplainableBoosting", task)(
        random_state=setting.seed, n_jobs=setting.threads
    )
    return fitted(model, _as_text, train, task)


def perpetual(train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """Perpetual: boosted trees that stop by themselves."""
    model = class_of("perpetual", "Perpetual", task)(seed=setting.seed, num_threads=setting.threads)
    return fitted(model, _as_it_is, train, task)


def of_pytabkit(family: str, train: pd.DataFrame, task: str, setting: Setting) -> Predict:
    """A method of pytabkit with the defaults that its authors tuned on other tables."""
    model = class_of("pytabkit", family, task)(
        device="cpu", random_state=setting.seed, n_threads=setting.threads
    )
    return fitted(model, _as_it_is, train, task)


def _factors(train: pd.DataFrame) -> list[str]:
    return [str(name) for name in train if name != "y" and is_factor(train[name])]


def _as_it_is(rows: pd.DataFrame) -> pd.DataFrame:
    return rows


def _as_text(rows: pd.DataFrame) -> Any:
    """Return the rows with factors as text, which these libraries take for categories."""
    return rows.astype({name: str for name in rows if is_factor(rows[name])}).astype(
        {name: object for name in rows if is_factor(rows[name])}
    )


ANCHORS: dict[str, Method] = {
    "catboost": Method("catboost", catboost),
    # nothing is compiled, and few rows take 20 seconds
    "ebm": Method("interpret", explainable_boosting, warm_up=False),
    "chimeraboost": Method("chimeraboost", chimeraboost),
    "perpetual": Method("perpetual", perpetual),
    "realmlp": Method("pytabkit", partial(of_pytabkit, "RealMLP_TD_")),
    "tabm": Method("pytabkit", partial(of_pytabkit, "TabM_D_")),
    "xrfm": Method("pytabkit", partial(of_pytabkit, "XRFM_D_")),
    **{
        # it would take as long with few rows
        f"{name}_{seconds}s": Method("pytabkit", partial(tuned, family, seconds), warm_up=False)
        for name, family in TUNED.items()
        for seconds in BUDGETS
    },
}
