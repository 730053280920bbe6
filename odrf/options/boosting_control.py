"""Every option of boosting, validated once, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import (
    checked_amount,
    checked_jobs,
    checked_part,
    checked_seed,
    checked_whole,
    is_number,
)
from odrf.engine.boosting.losses import LOSSES
from odrf.engine.boosting.plan import Plan
from odrf.engine.rows.sampling import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.settings import NO_PENALTY, Settings
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.errors import InputError, allowed
from odrf.options.control import (
    EXACT_ROWS,
    FOREST_DIRECTION_ROWS,
    FOREST_NEWTON_STEPS,
    NO_LIMIT,
    SPLIT_SEARCHES,
    checked_subset_size,
    checked_thresholds,
)
from odrf.projections.axis import Axis
from odrf.projections.estimated.linear import Logistic
from odrf.projections.family import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection
from odrf.projections.sparse import Sparse

__all__ = ["REFIT", "BoostingControl", "resolve_boosting"]

AUTO = "auto"
EXACT = "exact"
NEWTON, REFIT = "newton", "refit"
OUT_OF_BAG = "oob"
# By which leaves are shrunken by default; leaves that are refitted are not.
LEARNING_RATE = {NEWTON: 0.1, REFIT: 1.0}
# Directions of each oblique family that a node tries by default: as many as there are predictors,
# within these bounds.
FEWEST, MOST = 5, 8


@dataclass(frozen=True)
class BoostingControl:
    """The options of boosting as they were used.

    Attributes
    ----------
    kind : str
        ``"regression"`` or ``"classification"``.
    loss : str
    n_outputs : int
        Trees of a round of one run: the number of classes for ``"multinomial"``, one less for
        ``"ordinal"``, 1 for the other losses.
    n_trees : int
        Rounds at most.
    learning_rate : float
    mixture : Mixture
        How many directions of which family a node tries.
    subset_size : "random" or int
        Predictors in each random subset.
    n_thresholds : "all" or int
        Random cuts tried along a direction.
    max_depth, min_leaf : int
    leaf_values : str
        ``"newton"`` or ``"refit"``.
    l2 : float
    sample_fraction : float
        Share of the rows that each tree draws, without replacement; 1 for all.
    n_runs : int
        Boosting runs, of which the fit is the mean.
    run_predictors, tree_predictors : int
        Predictors that each run draws, and of these each tree.
    split_search : str
        ``"auto"`` or ``"exact"``.
    validation : float, "oob" or None
        Share of the rows held out to choose the number of rounds, or that those out of the runs'
        bags choose it.
    patience : int
    seed : int
        Repeats the fit.
    n_jobs : int
        Threads.
    """

    kind: str
    loss: str
    n_outputs: int
    n_trees: int
    learning_rate: float
    mixture: Mixture
    subset_size: str | int
    n_thresholds: str | int
    max_depth: int
    min_leaf: int
    leaf_values: str
    l2: float
    sample_fraction: float
    n_runs: int
    run_predictors: int
    tree_predictors: int
    split_search: str
    validation: float | str | None
    patience: int
    seed: int
    n_jobs: int

    def plan(self) -> Plan:
        """Return the options as the engine reads them."""
        all_rows = self.sample_fraction == 1
        return Plan(
            loss=LOSSES[self.loss](),
            n_outputs=self.n_outputs,
            n_runs=self.n_runs,
            n_rounds=self.n_trees,
            rate=self.learning_rate,
            l2=self.l2,
            refit=self.leaf_values == REFIT,
            patience=None if self.validation is None else self.patience,
            run_predictors=self.run_predictors,
            tree_predictors=self.tree_predictors,
            sampling=Sampling(ALL_ROWS if all_rows else SUBSAMPLE, self.sample_fraction),
            settings=self._settings(),
            mixture=self.mixture,
        )

    def _settings(self) -> Settings:
        return Settings(
            criterion=SQUARED_ERROR,
            n_classes=1,
            max_leaves=NO_LIMIT,
            min_leaf=self.min_leaf,
            max_depth=self.max_depth,
            penalty=NO_PENALTY,
            subset_size=0 if isinstance(self.subset_size, str) else self.subset_size,
            newton_steps=FOREST_NEWTON_STEPS,
            direction_rows=FOREST_DIRECTION_ROWS,
            n_thresholds=0 if isinstance(self.n_thresholds, str) else self.n_thresholds,
            exact_rows=NO_LIMIT if self.split_search == EXACT else EXACT_ROWS[0],
        )


def resolve_boosting(
    options: Mapping[str, Any],
    *,
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    kind: str,
    P: int,
    p: int,
    n_classes: int,
    ordered: bool = False,
    ranges: NDArray[np.float64] | None = None,
    grid: tuple[int, int, int] | None = None,
) -> BoostingControl:
    """Validate the raw `options` of a call and resolve those that depend on the data.

    Parameters
    ----------
    options : mapping
        Every argument of `odrf.odbt` that concerns growth, under its public name.
    y, weights : (n,) float64
        Response, or class codes, and case weights.
    kind : {"regression", "classification"}
    P, p, n_classes : int
        Predictors, columns and classes (1 for a regression) of the data.
    ordered : bool
        Whether the classes are.
    ranges, grid
        As `odrf.projections.family.Table` has them.

    Raises
    ------
    InputError
        Naming the argument at fault and what it may be.
    """
    loss = _loss(options["loss"], kind, n_classes, ordered)
    if loss == "poisson":
        _require_counts(y, weights)
    n_runs = checked_whole("n_runs", options["n_runs"], 1)
    in_run = _run_predictors(options["run_predictors"], n_runs, P)
    in_tree = _some_of(in_run, _share("predictor_fraction", options["predictor_fraction"]))
    # its trees are regressions, whatever the response
    table = Table(in_tree, math.ceil(p * in_tree / P), 1, True, ranges, grid)
    families, n_singles, n_projections = _candidates(options, in_tree)
    if in_tree < P:
        _require_narrowable(families)
    leaf_values = _leaf_values(options["leaf_values"], loss)
    split_search = options["split_search"]
    if split_search not in SPLIT_SEARCHES:
        raise allowed("split_search", split_search, SPLIT_SEARCHES)
    return BoostingControl(
        kind=kind,
        loss=loss,
        n_outputs=LOSSES[loss]().outputs(n_classes),
        n_trees=checked_whole("n_trees", options["n_trees"], 1),
        learning_rate=_learning_rate(options["learning_rate"], leaf_values),
        mixture=mixture_for(families, n_singles, n_projections, table),
        subset_size=checked_subset_size(options["subset_size"], in_tree),
        n_thresholds=checked_thresholds(options["n_thresholds"], families),
        max_depth=checked_whole("max_depth", options["max_depth"], 1),
        min_leaf=checked_whole("min_leaf", options["min_leaf"], 1),
        leaf_values=leaf_values,
        l2=checked_amount("l2", options["l2"]),
        sample_fraction=_share("sample_fraction", options["sample_fraction"]),
        n_runs=n_runs,
        run_predictors=in_run,
        tree_predictors=in_tree,
        split_search=split_search,
        validation=_validation(options["validation"], n_runs),
        patience=checked_whole("patience", options["patience"], 1),
        seed=checked_seed(options["seed"]),
        n_jobs=checked_jobs(options["n_jobs"]),
    )


def _candidates(options: Mapping[str, Any], P: int) -> tuple[dict[Family, float], Any, Any]:
    """Return families with their shares, and the numbers of singles and of directions.

    By default single predictors, sparse directions and estimated ones.
    """
    n_singles, n_projections = options["n_singles"], options["n_projections"]
    if options["projection"] != AUTO:
        return read_projection(options["projection"]), n_singles, n_projections
    singles = P if n_singles == AUTO else min(P, checked_whole("n_singles", n_singles, 1))
    oblique = 2 * min(max(P, FEWEST), MOST)
    if n_projections != AUTO:
        oblique = checked_whole("n_projections", n_projections, 2)
    shares = {Axis(): singles, Sparse(): oblique // 2, Logistic(): oblique - oblique // 2}
    # in proportion to the numbers that they then are
    return {family: float(k) for family, k in shares.items()}, AUTO, singles + oblique


def _loss(value: Any, kind: str, n_classes: int, ordered: bool) -> str:
    """Return the name of the loss, which suits the response."""
    if value == AUTO:
        usual = "logistic" if n_classes == 2 else "ordinal" if ordered else "multinomial"
        return "squared_error" if kind == "regression" else usual
    suited = [name for name, loss in LOSSES.items() if loss.kind == kind]
    if isinstance(value, str) and value in LOSSES and value not in suited:
        listing = " or ".join(repr(name) for name in suited)
        raise InputError(f"loss={value!r} does not go with a {kind}: use {listing}")
    if not isinstance(value, str) or value not in LOSSES:
        raise allowed("loss", value, [AUTO, *LOSSES])
    if value == "logistic" and n_classes > 2:
        raise InputError(f'loss="logistic" is for two classes, here are {n_classes}: use "auto"')
    if value == "ordinal" and not ordered:
        raise InputError(
            'loss="ordinal" needs ordered classes: make the response an ordered categorical, with '
            'pandas.CategoricalDtype(…, ordered=True), or use "auto"'
        )
    return value


def _leaf_values(value: Any, loss: str) -> str:
    """Return how leaves get their values, which suits the loss."""
    if value not in (NEWTON, REFIT):
        raise allowed("leaf_values", value, [NEWTON, REFIT])
    if value == REFIT and loss != "squared_error":
        raise InputError(
            f'leaf_values="refit" fits leaves by least squares, and the loss is "{loss}": use '
            '"newton", or loss="squared_error"'
        )
    return str(value)


def _learning_rate(value: Any, leaf_values: str) -> float:
    if value == AUTO:
        return LEARNING_RATE[leaf_values]
    rate = _share("learning_rate", value)
    if leaf_values == REFIT and rate != 1:
        raise InputError(
            f'learning_rate={value!r} shrinks nothing where leaves are refitted: leave it "auto", '
            "and let l2, n_trees or max_depth keep the fit smooth"
        )
    return rate


def _validation(value: Any, n_runs: int) -> float | str | None:
    """Return which rows choose the number of rounds."""
    if value == OUT_OF_BAG:
        if n_runs == 1:
            raise InputError(
                'validation="oob" needs runs with rows of their own: use several, as in '
                "n_runs=10, or hold out a share of the rows, as in validation=0.2"
            )
        return str(value)
    return None if value is None else checked_part("validation", value)


def _run_predictors(value: Any, n_runs: int, P: int) -> int:
    """Return how many of the P predictors each run sees."""
    share = _share("run_predictors", value)
    if n_runs == 1 and share < 1:
        raise InputError(
            f"run_predictors={value!r} would leave predictors out of the only run: use several, "
            f"as in n_runs=10, or predictor_fraction={value!r}, which each tree draws anew"
        )
    return _some_of(P, share)


def _some_of(P: int, share: float) -> int:
    return max(1, round(share * P))


def _require_narrowable(families: Mapping[Family, float]) -> None:
    """Raise `InputError` where directions are laid out over all columns."""
    for family in families:
        if not family.narrows:
            raise InputError(
                f'projection="{family.name}" needs all predictors in every tree: leave '
                "predictor_fraction and run_predictors at 1"
            )


def _require_counts(y: NDArray[np.float64], weights: NDArray[np.float64]) -> None:
    if (y < 0).any():
        raise InputError(
            f'loss="poisson" is for responses of at least 0, the least here is {y.min():g}: '
            'use "squared_error"'
        )
    if not (weights * y).any():
        raise InputError(
            'loss="poisson" needs a response above 0 in some row of positive weight: '
            'use "squared_error"'
        )


def _share(argument: str, value: Any) -> float:
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number above 0 and at most 1")
    return float(value)
