"""Random arguments of any method: each parameter has values by its name, found by inspection."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cases.columns import Rng, choice
from cases.times import OF_TIMES
from hostile import HOSTILE

__all__ = ["VALUES", "random_arguments", "short_arguments"]

SHORT: dict[str, Any] = {"progress": False, "n_jobs": 1, "seed": 1}
# What makes a case long, whatever its outcome.
LONG = ("2**40", "2**80")
# Values by the name of the parameter; `data`, `new`, `fit`, `columns` and `folder` are the case's.
VALUES: dict[str, list[Any]] = {
    "adjust": ["holm", "bh", None], "along": ["leaves", "depth", "trees"],
    "alpha": [0.0, 0.01, 1e9, "same"], "at": [None, "means", "median"], "ax": [None],
    "background": [2, 5], "bandwidth": [0.3, "auto"], "bins": [1, 2, 10], "bits": [16, 32],
    "cause": [None, "event"], "change": [None],
    "channels": [1], "comparison": ["difference", "ratio", "lnratio"], "complete": [True, False],
    "contrast": [None, "reference", "pairwise"], "cv": [2, 3, None], "data": [True, False],
    "detail": [True, False], "dialect": ["duckdb", "sqlite", "postgresql"], "digits": [1, 4],
    "draws": [10], "drop": [0.5], "estimand": ["survival", "rmst", "incidence", "lost"],
    "fdr": [0.5], "fraction": [0.1, 0.5, 1.0], "groups": [None],
    "i": [0], "interval": ["confidence", "prediction"], "k": [1, 2],
    "kind": ["tree", "importance", "error"], "leaves": [1, 2, 3], "level": [0.5, 0.9, 0.999],
    "loss": ["error", "deviance", "log_rank"], "max_boxes": [8, 64], "max_depth": [1, 2],
    "max_leaves": [2, 8], "max_steps": [1, 5], "max_terms": [1, 2],
    "method": ["auto", "sample"],
    "n_jobs": [1], "name": ["f", "predict"], "nearest": [1, 3], "offset": [None, 0.5],
    "permutations": [1, 2], "points": [1, 2, 5], "population": [True, False],
    "priors": [None, "uniform"], "progress": [False], "pruning": ["weakest_link", "growth"],
    "target": [None, "forest"],
    "keep": [None, 20],
    "quantiles": [[0.5], [0.0, 1.0]], "resamples": [0, 3], "revise": ["auto", 1], "rounds": [2],
    "rows": [2, 5], "rule": ["min", "1se", "oob"], "seed": [0, 1], "shape": [None],
    "subset_sizes": [None, [1]], "test": ["t", "permutation"], "tolerance": [1e-3], "top": [1, 3],
    "time": [0.5, 1.0], "times": [None, 0.5, [0.2, 1.0]], "training": ["in-bag", "out-of-bag"],
    "tree": [0],
    "type": ["response", "class", "prob", None],
    "values": [None], "weights": [None],
}  # fmt: skip
# Values that depend on the case, by the name of the parameter.
OF_CASE: dict[str, Callable[[Rng, Any, Any, Path], Any]] = {
    "newdata": lambda rng, case, _, __: choice(rng, [case.data, case.data, case.new]),
    "other": lambda _, __, fit, ___: fit,
    "source": lambda _, case, __, ___: [case.new],
    "row": lambda _, case, __, ___: case.data.iloc[[0]],
    "path": lambda _, __, ___, folder: folder / "fit",
    "by": lambda rng, _, fit, ___: choice(rng, list(fit.design.schema.columns)),
    "variable": lambda rng, _, fit, ___: choice(rng, list(fit.design.schema.columns)),
    "variables": lambda rng, _, fit, ___: choice(
        rng, [one(list(fit.design.schema.columns)) for one in (_first, partial(_some, k=2))]
    ),
}
# A name that stands for something else in some methods.
ELSEWHERE: dict[tuple[str, str], list[Any]] = {
    ("prune", "path"): [None], ("plot", "kind"): ["tree", "importance", None],
    ("update", "weights"): [None], ("importance", "groups"): [None],
    ("predict", "type"): [
        *("response", "class", "prob", "leaf", "trees", "cumulative", "quantile", "link"),
    ],
    ("proximity", "type"): ["plain", "oob"],
    ("importance", "type"): ["impurity", "held_out", "permutation"],
    ("select_variables", "method"): ["boruta", "knockoff", "backward"],
    ("calibrate", "method"): ["isotonic", "platt", "power"],
    ("approximate", "method"): ["sample", "top"],
}  # fmt: skip
# Arguments without which a call is long.
NEEDED: dict[str, dict[str, Any]] = {
    "select_variables": {"rounds": 2}, "interactions": {"rows": 3, "permutations": 1},
    "shap": {"background": 3, "max_boxes": 64}, "ice": {"rows": 5}, "growth_path": {"cv": 2},
    "shap_interactions": {"background": 2, "max_boxes": 16}, "pruning_path": {"cv": 2},
}  # fmt: skip
# All pairs of 60 variables take minutes.
ALWAYS = {("interactions", "variables")}


def _first(columns: list[str]) -> Any:
    return columns[0]


def _some(columns: list[str], k: int) -> Any:
    return columns[-k:]


def short_arguments(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what keeps a call of a function or method short and repeatable."""
    known = inspect.signature(function).parameters
    needed = {**SHORT, **NEEDED.get(function.__name__, {})}
    return {name: value for name, value in needed.items() if name in known}


def random_arguments(
    rng: Rng, method: Callable[..., Any], case: Any, fit: Any, folder: Path, hostile: bool
) -> dict[str, Any]:
    """Return arguments of a bound method; `hostile` makes one of them any value at all."""
    given = short_arguments(method)
    parameters = {
        name: one
        for name, one in inspect.signature(method).parameters.items()
        if one.kind is not one.VAR_KEYWORD and one.kind is not one.VAR_POSITIONAL
    }
    often = choice(rng, [0.0, 0.2, 0.5])
    for name, one in parameters.items():
        always = one.default is one.empty or (method.__name__, name) in ALWAYS
        if always or (rng.random() < often and name not in given):
            given[name] = _value(rng, method.__name__, one, case, fit, folder)
    if hostile and parameters:
        name = choice(rng, list(parameters))
        words = [words for words in HOSTILE if words not in LONG or not _counts(parameters[name])]
        value = HOSTILE[choice(rng, words)]
        # A text is a file to write.
        given[name] = folder / "fit" if name == "path" and isinstance(value, str) else value
    return given


def _value(rng: Rng, method: str, one: inspect.Parameter, case: Any, fit: Any, folder: Path) -> Any:
    if fit.kind == "survival":
        of_times = OF_TIMES.get((method, one.name)) or OF_TIMES.get(one.name)
        if of_times is not None:
            return of_times(rng, fit)
    if (method, one.name) in ELSEWHERE:
        return choice(rng, ELSEWHERE[method, one.name])
    if one.name in OF_CASE:
        return OF_CASE[one.name](rng, case, fit, folder)
    return choice(rng, VALUES[one.name])


def _counts(one: inspect.Parameter) -> bool:
    """Return whether a large value asks for that much work."""
    return isinstance(one.default, int) or one.name in ("n_jobs", "draws", "background", "k")
