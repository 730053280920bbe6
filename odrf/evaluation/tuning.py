"""Choosing options by out-of-bag error or cross-validation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from tqdm import tqdm

from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.api.trees import odrf
from odrf.design import build_design
from odrf.design.formulas.lookup import environment, looked_up_in
from odrf.errors import InputError, allowed, nearest
from odrf.evaluation.comparing import compare
from odrf.evaluation.tuned import Tuning
from odrf.fits.prediction.scores import error_name, out_of_bag_loss
from odrf.results.base import TreeResults
from odrf.results.forest import ODRFResults

__all__ = ["tune"]

METHODS = ("oob", "cv")
# More candidates than this are raced: begun with a part of the trees, the better half going on.
MANY, ROUNDS, FEWEST_TREES = 16, 4, 100
FEWEST = 2

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


def tune(
    formula: str,
    data: pd.DataFrame,
    grid: Grid,
    *,
    model: Callable[..., TreeResults] = odrf,
    method: str = "oob",
    cv: int = 10,
    halving: str | bool = "auto",
    seed: int = 0,
    progress: bool = False,
    **fixed: Any,
) -> Tuning:
    """Judge every combination of options and find the best.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame
    grid : mapping of str to sequence, or sequence of mappings
        The values to try of each option, in all combinations; or the combinations one by one.
    model : callable, default `odrf`
        `odrf` or `odt`, or a function of formula, data and options that returns what they do.
    method : {"oob", "cv"}, default "oob"
        Judge by the rows out of bag, which forests have and which count by their case weights, or
        by cross-validation, on the same folds for all candidates, where a row counts once.
    cv : int, default 10
        Folds, for ``method="cv"``.
    halving : "auto" or bool, default "auto"
        Successive halving (Jamieson and Talwalkar 2016), by default of more than 16 forests: all
        candidates begin with an eighth of the trees, but no fewer than 100, and the better half of
        each round goes on with twice as many.
    seed : int, default 0
        Of every fit and of the folds, so that candidates differ by their options alone.
    progress : bool, default False
        Show a progress bar.
    **fixed
        Options that all candidates share.

    Returns
    -------
    Tuning
        With ``table``, ``best``, ``best_options``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If `grid` is empty or names an unknown option, or one that is fixed; or what a fit
        raises.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> found = odrf.tune("progression ~ .", data, {"min_leaf": [2, 30]}, n_trees=30)
    >>> found.best_options
    {'min_leaf': 30}
    """
    if method not in METHODS:
        raise allowed("method", method, METHODS)
    candidates = _candidates(grid, model, fixed)
    env = environment(1)
    reading = {name: fixed[name] for name in DESIGN_ARGUMENTS if name in fixed}
    kind = build_design(formula, data, env=env, **reading)[0].response.kind
    fit_of = partial(model, seed=seed, **fixed)
    fit = partial(fit_of, formula, data)
    with looked_up_in(env):
        if method == "cv":
            models = {str(i): partial(fit_of, **c) for i, c in candidates.items()}
            found = compare(formula, data, models, cv=cv, seed=seed, progress=progress).table
            judged = pd.DataFrame.from_dict(candidates, orient="index")
            judged["error"] = [found["mean"][str(i)] for i in candidates]
            judged["std"] = [found["se"][str(i)] for i in candidates]
        else:
            _require_one_population(candidates)
            rounds = _rounds(halving, candidates, model, fixed)
            judged = _out_of_bag(fit, candidates, rounds, progress)
    facts = {
        "Candidates": str(len(candidates)),
        "Judged by": "out-of-bag rows" if method == "oob" else f"{cv}-fold cross-validation",
        "Error": error_name(kind),
        "Seed": str(seed),
    }

    def refit(**options: Any) -> TreeResults:
        with looked_up_in(env):
            return fit(**options)

    return Tuning(f"tune({formula!r}, data, …)", judged, candidates, refit, facts)


def _candidates(
    grid: Grid, model: Callable[..., Any], fixed: Mapping[str, Any]
) -> dict[int, dict[str, Any]]:
    """Return the options of each candidate, numbered; raise `InputError` where there are none."""
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"grid[{name!r}]={values!r}: give a list of values to try")
        combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    else:
        combinations = [dict(options) for options in grid]
    if len(combinations) < FEWEST or not all(combinations):
        raise InputError(
            f"grid holds {len(combinations)} combinations of options: name at least one option, "
            "and two values to try of it"
        )
    known = inspect.signature(model).parameters
    takes_any = any(p.kind is p.VAR_KEYWORD for p in known.values())
    for name in dict.fromkeys(name for options in combinations for name in options):
        if name in fixed:
            raise InputError(f"{name!r} is in grid and fixed as well: leave one of them out")
        if name == "seed" or (name not in known and not takes_any):
            raise InputError(
                f"grid names {name!r}, which is no option to try{nearest(name, known)}"
            )
    return dict(enumerate(combinations))


def _require_one_population(candidates: Mapping[int, Mapping[str, Any]]) -> None:
    """Raise `InputError` where out-of-bag errors of candidates would be of differing rows."""
    for name in ("weights", "class_weights"):
        if any(name in options for options in candidates.values()):
            raise InputError(
                f"grid names {name!r}: out-of-bag errors count rows by their weights, so those of "
                'candidates that weigh them differently cannot be compared; use method="cv"'
            )


def _rounds(
    halving: str | bool,
    candidates: Mapping[int, Mapping[str, Any]],
    model: Callable[..., Any],
    fixed: Mapping[str, Any],
) -> list[int] | None:
    """Return the numbers of trees of successive rounds; None where candidates say themselves."""
    known = inspect.signature(model).parameters
    named = any("n_trees" in options for options in candidates.values())
    can_race = "n_trees" in known and not named
    if not isinstance(halving, bool) and halving != "auto":
        raise InputError(f'halving={halving!r}: use "auto", True or False')
    if halving is True and not can_race:
        raise InputError(
            "halving=True needs a model with n_trees, and these not in the grid: use halving=False"
        )
    if not can_race:
        return None
    most = int(fixed.get("n_trees", known["n_trees"].default))
    if halving is False or (halving == "auto" and len(candidates) <= MANY):
        return [most]
    fewest = min(FEWEST_TREES, most)
    return sorted({max(fewest, most >> k) for k in range(ROUNDS)})


def _out_of_bag(
    fit: Callable[..., TreeResults],
    candidates: Mapping[int, dict[str, Any]],
    rounds: list[int] | None,
    progress: bool,
) -> pd.DataFrame:
    """Judge candidates by their rows out of bag, in rounds that the better half survives."""
    found: dict[int, dict[str, Any]] = {}
    alive = list(candidates)
    with tqdm(unit="fit", disable=not progress) as bar:
        for trees in [0] if rounds is None else rounds:
            for i in alive:
                size = {} if rounds is None else {"n_trees": trees}
                error, spread = _loss(fit(**(size | candidates[i])))
                raced = {"trees": trees} if rounds is not None and len(rounds) > 1 else {}
                found[i] = {**candidates[i], **raced, "error": error, "std": spread}
                bar.update()
            alive = sorted(alive, key=lambda i: found[i]["error"])[: -(-len(alive) // 2)]
    return pd.DataFrame.from_dict(found, orient="index")


def _loss(fit: TreeResults) -> tuple[float, float]:
    if not isinstance(fit, ODRFResults):
        raise InputError(
            'method="oob" needs rows out of bag, as forests of odrf.odrf have: use method="cv"'
        )
    return out_of_bag_loss(fit.fit)
