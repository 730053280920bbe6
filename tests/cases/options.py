"""Random options of the functions that fit: valid ones, others out of range or of a wrong type."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

import odrf
from cases.columns import Rng, choice
from hostile import HOSTILE
from odrf.checks import is_word

__all__ = ["FUNCTIONS", "OPTIONS", "SURVIVAL_FUNCTIONS", "random_options", "usual_options"]

# Some values of each option; those that suit no function or response are refused.
FAMILIES = [
    *("axis", "cca", "logistic", "least_squares", "lda", "pca", "pda", "ppr", "ridge", "extra"),
    *("rc", "rotation", "sparse", "sphere", {"axis": 0.5, "sparse": 0.5}),
]
COMMON = ("axis", "logistic", "least_squares", "sparse")
OF_ALL: dict[str, list[Any]] = {
    "class_weights": ["balanced"], "missing": ["drop", "split", "median"],
    "unseen": ["missing", "raise"], "kind": ["classification", "regression"],
    "groups": ["few", "labels"], "order": ["few", "time"], "strata": ["few"],
}  # fmt: skip
OF_SPLITS: dict[str, list[Any]] = {
    "projection": FAMILIES, "subset_size": [1, 2], "n_projections": [1, 4], "n_singles": [1, 2],
    "n_thresholds": [1, 3, "all"], "split_search": ["exact"], "min_leaf": [1, 3, 100],
    "max_depth": [1, 3],
}  # fmt: skip
OF_TREES: dict[str, list[Any]] = {
    "max_leaves": [1, 2, 5], "alpha": [0.0, 0.01, 1.0], "pruning": ["growth"], "honest": [True],
    "criterion": ["gini", "entropy", "ordinal", "squared_error"], "penalty": ["aic", "bic"],
    "split_scale": ["log", "box_cox", "normal", "ranks"], "cause": ["event"],
}  # fmt: skip
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "odt": OF_ALL | OF_SPLITS | OF_TREES | {
        "alpha": [0.0, 0.01, "cv", "1se"], "max_leaves": [1, 2, 5, "sqrt"],
        "missing": ["surrogate"],
    },
    "odrf": OF_ALL | OF_SPLITS | OF_TREES | {
        "n_trees": [1, 2, 12], "resample": ["none", "bootstrap", "subsample"], "blend": [True],
        "sample_fraction": [0.2, 1.0], "alpha": [0.01, "oob"],
        "inference": [True], "objective": ["brier", "log_loss"],
        "split_scale": ["auto", "log", "ranks"],
    },
    "odbt": OF_ALL | OF_SPLITS | {
        "loss": ["absolute", "huber", "poisson", "squared_error", "logistic", "multinomial"],
        "n_trees": [1, 7], "learning_rate": [0.5, 1.0], "leaf_values": ["refit"], "l2": [0.0, 1e9],
        "sample_fraction": [0.4], "predictor_fraction": [0.5], "n_runs": [2, 3],
        "run_predictors": [0.5], "validation": ["oob", 0.3], "patience": [1],
        "max_leaves": [2, 5], "min_hessian": [0.5, 10],
    },
    "graf": OF_ALL | {
        "n_trees": [1, 6], "subspace": ["all", "half", "log2", 1], "trials": [1, 3],
        "min_split": [2, 5, 50], "origin": ["region"], "batched": [True, False],
        "device": ["cpu"],
    },
}  # fmt: skip
# What fits of survival times have, and what is for others and therefore asked seldom.
OF_OTHERS = ("class_weights", "kind", "objective", "criterion", "loss")
OF_TIMES: dict[str, dict[str, list[Any]]] = {
    "odt": {"criterion": ["log_rank", "exponential", "gini"]},
    "odrf": {"criterion": ["log_rank", "exponential"]},
    "odbt": {"loss": ["cox", "lognormal", "loglogistic", "weibull", "squared_error"]},
    "graf": {},
}
SURVIVAL_OPTIONS = {
    name: {key: one for key, one in of.items() if key not in OF_OTHERS} | OF_TIMES[name]
    for name, of in OPTIONS.items()
}
SURVIVAL_FUNCTIONS = ["odt"] * 9 + ["odrf"] * 9 + ["odbt"] * 9 + ["graf"]
TREES = {"odt": {}, "odrf": {"n_trees": 5}, "odbt": {"n_trees": 4}, "graf": {"n_trees": 3}}
FUNCTIONS = {name: getattr(odrf, name) for name in OPTIONS}
# Options that name rows get one value a row.
ROWS = {
    "few": lambda rng, n: rng.integers(3, size=n), "labels": lambda _, n: np.arange(n).astype(str),
    "time": lambda rng, n: rng.permutation(n),
}  # fmt: skip
# What would make a case long, whatever its outcome.
LONG = {"n_trees": ("2**40",), "n_runs": ("2**40",), "n_jobs": ("2**40", "2**80")}


def random_options(
    rng: Rng, function: str, n: int, hostile: bool, of_times: bool = False
) -> dict[str, Any]:
    """Return some options of a function for n rows; `hostile` makes one of them any value."""
    options = (SURVIVAL_OPTIONS if of_times else OPTIONS)[function]
    names = [str(name) for name in rng.permutation(list(options))[: rng.integers(6)]]
    given = {name: choice(rng, options[name]) for name in names}
    given |= {name: ROWS[value](rng, n) for name, value in given.items() if _of_rows(name)}
    if hostile:
        name = choice(rng, list(inspect.signature(FUNCTIONS[function]).parameters)[2:])
        words = [words for words in HOSTILE if words not in LONG.get(name, ())]
        given[name] = HOSTILE[choice(rng, words)]
    return {**TREES[function], **given}


def _of_rows(name: str) -> bool:
    return name in ("groups", "order", "strata")


def usual_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return options that need the kernels of usual trees only: others take 10 seconds each."""
    usual = dict(options)
    if options.get("projection") is not None and not any(
        is_word(options["projection"], name) for name in COMMON
    ):
        usual["projection"] = "sparse"
    if is_word(options.get("missing"), "surrogate"):
        usual["missing"] = "split"
    return usual
