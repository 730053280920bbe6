"""Every option of boosting, validated once, resolved for the data at hand, and frozen."""

from __future__ import annotations

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
from odrf.control import (
    EXACT_ROWS,
    FOREST_DIRECTION_ROWS,
    FOREST_NEWTON_STEPS,
    NO_LIMIT,
    SPLIT_SEARCHES,
    checked_subset_size,
    checked_thresholds,
)
from odrf.engine.boosting.growing import Plan
from odrf.engine.boosting.losses import LOSSES
from odrf.engine.impurity import SQUARED_ERROR
from odrf.engine.sampling import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.settings import NO_PENALTY, Settings
from odrf.errors import InputError, allowed
from odrf.projections.axis import Axis
from odrf.projections.estimated import Logistic
from odrf.projections.family import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection
from odrf.projections.sparse import Sparse

__all__ = ["BoostingControl", "resolve_boosting"]

AUTO = "auto"
EXACT = "exact"
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
        Trees of a round: 1, or the number of classes.
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
    l2 : float
    sample_fraction : float
        Share of the rows that each tree draws, without replacement; 1 for all.
    split_search : str
        ``"auto"`` or ``"exact"``.
    validation : float or None
        Share of the rows held out to choose the number of rounds.
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
    l2: float
    sample_fraction: float
    split_search: str
    validation: float | None
    patience: int
    seed: int
    n_jobs: int

    def plan(self) -> Plan:
        """Return the options as the engine reads them."""
        all_rows = self.sample_fraction == 1
        return Plan(
            loss=LOSSES[self.loss](),
            n_outputs=self.n_outputs,
            n_rounds=self.n_trees,
            rate=self.learning_rate,
            l2=self.l2,
            patience=self.patience,
            sampling=Sampling(ALL_ROWS if all_rows else SUBSAMPLE, self.sample_fraction),
            settings=self._settings(),
            source=self.mixture,
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
    ranges, grid
        As `odrf.projections.family.Table` has them.

    Raises
    ------
    InputError
        Naming the argument at fault and what it may be.
    """
    loss = _loss(options["loss"], kind, n_classes)
    if loss == "poisson":
        _require_counts(y, weights)
    # its trees are regressions, whatever the response
    table = Table(P, p, 1, True, ranges, grid)
    families, n_singles, n_projections = _candidates(options, P)
    split_search = options["split_search"]
    if split_search not in SPLIT_SEARCHES:
        raise allowed("split_search", split_search, SPLIT_SEARCHES)
    validation = options["validation"]
    return BoostingControl(
        kind=kind,
        loss=loss,
        n_outputs=LOSSES[loss]().outputs(n_classes),
        n_trees=checked_whole("n_trees", options["n_trees"], 1),
        learning_rate=_share("learning_rate", options["learning_rate"]),
        mixture=mixture_for(families, n_singles, n_projections, table),
        subset_size=checked_subset_size(options["subset_size"], P),
        n_thresholds=checked_thresholds(options["n_thresholds"], families),
        max_depth=checked_whole("max_depth", options["max_depth"], 1),
        min_leaf=checked_whole("min_leaf", options["min_leaf"], 1),
        l2=checked_amount("l2", options["l2"]),
        sample_fraction=_share("sample_fraction", options["sample_fraction"]),
        split_search=split_search,
        validation=None if validation is None else checked_part("validation", validation),
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


def _loss(value: Any, kind: str, n_classes: int) -> str:
    """Return the name of the loss, which suits the response."""
    if value == AUTO:
        usual = "logistic" if n_classes == 2 else "multinomial"
        return "squared_error" if kind == "regression" else usual
    suited = [name for name, loss in LOSSES.items() if loss.kind == kind]
    if isinstance(value, str) and value in LOSSES and value not in suited:
        listing = " or ".join(repr(name) for name in suited)
        raise InputError(f"loss={value!r} does not go with a {kind}: use {listing}")
    if not isinstance(value, str) or value not in LOSSES:
        raise allowed("loss", value, [AUTO, *LOSSES])
    if value == "logistic" and n_classes > 2:
        raise InputError(f'loss="logistic" is for two classes, here are {n_classes}: use "auto"')
    return value


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
