"""Choosing options of a model by out-of-bag error or cross-validation."""

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
from odrf.checks import checked_switch
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
# With more candidates than MANY, halving="auto" means successive halving.
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
    """Evaluate combinations of options and find the best.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame
    grid : mapping of str to sequence, or sequence of mappings
        Values to try of each option, in all combinations; or a list of combinations.
    model : callable, default `odrf`
        `odrf` or `odt`, or a function of formula, data and options that returns such a fit.
    method : {"oob", "cv"}, default "oob"
        - ``"oob"``: the error on out-of-bag rows, which count by their case weights.  Only for
          forests.
        - ``"cv"``: the error by cross-validation, on the same folds for all candidates.  Every row
          counts once.
    cv : int, default 10
        Number of folds, for ``method="cv"``.
    halving : "auto" or bool, default "auto"
        Whether to use successive halving (Jamieson and Talwalkar 2016).  All candidates are grown
        with an eighth of the trees, but with no fewer than 100; then the better half with twice as
        many, and so on.  ``"auto"`` uses it for more than 16 candidates.  Only for
        ``method="oob"``, and if `n_trees` is not in the grid.
    seed : int, default 0
        Seed of every fit and of the folds, so that candidates differ only by their options.
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
        If `grid` has fewer than two combinations, or names an option that is unknown or also
        fixed; or if a fit fails.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tuning = odrf.tune("progression ~ .", data, {"min_leaf": [2, 30]}, n_trees=30)
    >>> tuning.best_options
    {'min_leaf': 30}
    """
    if method not in METHODS:
        raise allowed("method", method, METHODS)
    candidates = _candidates(grid, model, fixed)
    env = environment(1)
    design_arguments = {name: fixed[name] for name in DESIGN_ARGUMENTS if name in fixed}
    kind = build_design(formula, data, env=env, **design_arguments)[0].response.kind
    seeded = partial(model, seed=seed, **fixed)
    fit = partial(seeded, formula, data)
    with looked_up_in(env):
        if method == "cv":
            models = {str(i): partial(seeded, **options) for i, options in candidates.items()}
            compared = compare(formula, data, models, cv=cv, seed=seed, progress=progress).table
            table = pd.DataFrame.from_dict(candidates, orient="index")
            table["error"] = [compared["estimate"][str(i)] for i in candidates]
            table["std_error"] = [compared["std_error"][str(i)] for i in candidates]
        else:
            _require_same_weights(candidates)
            rounds = _rounds(halving, candidates, model, fixed)
            table = _out_of_bag(fit, candidates, rounds, progress)
    facts = {
        "Candidates": str(len(candidates)),
        "Evaluated by": "out-of-bag rows" if method == "oob" else f"{cv}-fold cross-validation",
        "Error": error_name(kind),
        "Seed": str(seed),
    }

    def refit(**options: Any) -> TreeResults:
        with looked_up_in(env):
            return fit(**options)

    return Tuning(f"tune({formula!r}, data, …)", table, candidates, refit, facts)


def _candidates(
    grid: Grid, model: Callable[..., Any], fixed: Mapping[str, Any]
) -> dict[int, dict[str, Any]]:
    """Return the options of each candidate by its number; raise `InputError` if invalid."""
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray):
                raise InputError(f"grid[{name!r}]={values!r}: use a list of values to try")
        combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    else:
        combinations = [dict(options) for options in grid]
    if len(combinations) < FEWEST or not all(combinations):
        raise InputError(
            f"grid holds {len(combinations)} combinations of options: name at least one option, "
            "with at least two values to try"
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


def _require_same_weights(candidates: Mapping[int, Mapping[str, Any]]) -> None:
    """Raise `InputError` if candidates would weigh the out-of-bag rows differently."""
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
    """Return the numbers of trees of successive rounds; None if the model or grid sets them."""
    known = inspect.signature(model).parameters
    in_grid = any("n_trees" in options for options in candidates.values())
    can_halve = "n_trees" in known and not in_grid
    halving = checked_switch("halving", halving)
    if halving is True and not can_halve:
        raise InputError(
            "halving=True needs a model with an option n_trees that is not in grid: use "
            "halving=False"
        )
    if not can_halve:
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
    """Evaluate candidates on out-of-bag rows; the better half of each round enters the next."""
    rows: dict[int, dict[str, Any]] = {}
    remaining = list(candidates)
    with tqdm(unit="fit", disable=not progress) as bar:
        for trees in [0] if rounds is None else rounds:
            for i in remaining:
                size = {} if rounds is None else {"n_trees": trees}
                error, std_error = _out_of_bag_error(fit(**(size | candidates[i])))
                column = {"trees": trees} if rounds is not None and len(rounds) > 1 else {}
                rows[i] = {**candidates[i], **column, "error": error, "std_error": std_error}
                bar.update()
            remaining.sort(key=lambda i: rows[i]["error"])
            remaining = remaining[: -(-len(remaining) // 2)]
    return pd.DataFrame.from_dict(rows, orient="index")


def _out_of_bag_error(fit: TreeResults) -> tuple[float, float]:
    if not isinstance(fit, ODRFResults):
        raise InputError(
            'method="oob" needs out-of-bag rows, which only forests of odrf.odrf have: use '
            'method="cv"'
        )
    return out_of_bag_loss(fit.fit)
