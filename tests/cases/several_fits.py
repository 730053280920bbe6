"""Functions of several fits: comparing, tuning and learning curves, with the options of a case."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import odrf
from cases.case import Case
from cases.columns import Rng, choice
from cases.options import FUNCTIONS, ROWS
from hostile import HOSTILE

__all__ = ["random_study"]

# Values of the arguments that are not those of a fit; few folds and repeats, so that it is short.
OF_FOLDS: dict[str, list[Any]] = {
    "cv": [2, 3], "repeats": [1, 2], "metric": ["auto", "r2", "mae", "log_loss", "accuracy"],
}  # fmt: skip
STUDIES: dict[str, dict[str, list[Any]]] = {
    "compare": OF_FOLDS,
    "tune": OF_FOLDS | {"method": ["oob", "cv"], "halving": ["auto", True, False]},
    "learning_curve": {
        "sizes": ["geometric", [3, 6, 9], [10, 20]], "repeats": [2], "metric": OF_FOLDS["metric"],
    },
}  # fmt: skip
METRICS_OF_TIMES = ["auto", "integrated_brier", "uno_c", "harrell_c", "r2"]
OF_ROWS = {"groups": "few", "order": "time", "strata": "few"}
GRIDS: dict[str, dict[str, list[Any]]] = {
    "odt": {"max_depth": [1, 3]}, "odrf": {"min_leaf": [1, 4]}, "odbt": {"n_trees": [1, 3]},
    "graf": {"min_split": [2, 9]},
}  # fmt: skip
# What would make a study long, whatever its outcome.
LONG = ("2**40", "2**80")


def random_study(rng: Rng, case: Case) -> tuple[str, Callable[[], Any]]:
    """Return a call of a function of several fits in words, and the call."""
    name = choice(rng, list(STUDIES))
    options = {key: value for key, value in case.options.items() if not _of_rows(key)}
    given: dict[str, Any] = {"repeats": 2} if name == "learning_curve" else {"cv": 2}
    of_times = {"metric": METRICS_OF_TIMES} if case.kind == "survival" else {}
    for key, values in STUDIES[name].items():
        if rng.random() < 0.2:
            given[key] = choice(rng, of_times.get(key, values))
    for key, way in OF_ROWS.items():
        if rng.random() < 0.1:
            given[key] = ROWS[way](rng, len(case.data))
    if case.hostile and rng.random() < 0.5:
        key = choice(rng, [*STUDIES[name], *OF_ROWS, "seed"])
        given[key] = HOSTILE[choice(rng, [words for words in HOSTILE if words not in LONG])]
    given = {"seed": case.seed, "n_jobs": 1, **given}
    words = ", ".join(f"{key}={value!r:.40}" for key, value in given.items())
    return f"{name}({words})", partial(_called, name, case, options, given)


def _called(name: str, case: Case, options: dict[str, Any], given: dict[str, Any]) -> Any:
    function = FUNCTIONS[case.function]
    if name == "tune":
        grid = GRIDS[case.function]
        fixed = {k: v for k, v in options.items() if k not in grid and k not in given}
        return odrf.tune(case.formula, case.data, grid, model=function, **given, **fixed)
    alone = {k: v for k, v in options.items() if k not in ("seed", "n_jobs")}
    models = {"case": partial(function, **alone), "tree": partial(odrf.odt, projection="axis")}
    return getattr(odrf, name)(case.formula, case.data, models, **given)


def _of_rows(name: str) -> bool:
    return name in (*OF_ROWS, "weights")
