"""Every option of boosting, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import AUTO, checked_part, checked_whole
from odrf.engine.boosting.losses import LOSSES, Loss
from odrf.engine.boosting.plan import Plan
from odrf.engine.rows.sampling import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.settings import NO_PENALTY, Settings
from odrf.engine.splits.criteria import SQUARED_ERROR
from odrf.errors import InputError, allowed
from odrf.options.control import (
    EXACT_ROWS,
    FOREST_DIRECTION_ROWS,
    FOREST_NEWTON_STEPS,
    NO_LIMIT,
    checked_subset_size,
    checked_thresholds,
)
from odrf.options.rule import OOB
from odrf.options.table import EXACT, NEWTON, REFIT, checked_options
from odrf.projections.axis import Axis
from odrf.projections.estimated.linear import Logistic
from odrf.projections.family import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection
from odrf.projections.sparse import Sparse

__all__ = ["BoostingControl", "resolve_boosting"]

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
    plan : Plan
        The options as the engine reads them.
    mixture : Mixture
        How many directions of which family a node tries.
    split_search : str
        ``"auto"`` or ``"exact"``.
    validation : float, "oob" or None
        Share of the rows held out to choose the number of rounds, or that those out of the runs'
        bags choose it.
    patience : int
        Rounds without a smaller loss of these rows, after which it ends.
    seed : int
        Repeats the fit.
    n_jobs : int
        Threads.
    """

    kind: str
    plan: Plan
    mixture: Mixture
    split_search: str
    validation: float | str | None
    patience: int
    seed: int
    n_jobs: int

    @property
    def loss(self) -> str:
        """The name of the loss."""
        return self.plan.loss.name

    @property
    def n_outputs(self) -> int:
        """Trees of a round of one run: 1, K of the multinomial loss, K - 1 of the ordinal."""
        return self.plan.n_outputs

    @property
    def n_trees(self) -> int:
        """Rounds at most."""
        return self.plan.n_rounds

    @property
    def learning_rate(self) -> float:
        """By which leaves are shrunken."""
        return self.plan.rate

    @property
    def leaf_values(self) -> str:
        """``"newton"`` or ``"refit"``."""
        return REFIT if self.plan.refit else NEWTON

    @property
    def l2(self) -> float:
        """Penalty on the squares of leaf values."""
        return self.plan.l2

    @property
    def subset_size(self) -> str | int:
        """Predictors in each random subset: ``"random"`` or a number."""
        return self.plan.settings.subset_size or "random"

    @property
    def n_thresholds(self) -> str | int:
        """Random thresholds tried along a direction, or ``"all"``."""
        return self.plan.settings.n_thresholds or "all"

    @property
    def max_depth(self) -> int:
        """Most splits between root and leaf."""
        return self.plan.settings.max_depth

    @property
    def min_leaf(self) -> int:
        """Fewest rows of a leaf."""
        return self.plan.settings.min_leaf

    @property
    def sample_fraction(self) -> float:
        """Share of the rows that each tree draws, without replacement; 1 for all."""
        return self.plan.sampling.fraction

    @property
    def n_runs(self) -> int:
        """Boosting runs, of which the fit is the mean."""
        return self.plan.n_runs

    @property
    def run_predictors(self) -> int:
        """Predictors that each run draws."""
        return self.plan.run_predictors

    @property
    def tree_predictors(self) -> int:
        """Predictors that each tree draws of those of its run."""
        return self.plan.tree_predictors

    def with_rounds(self, n_trees: int) -> BoostingControl:
        """Return the options for another number of rounds."""
        return replace(self, plan=self.plan._replace(n_rounds=n_trees))


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
    options = checked_options("odbt", options)
    loss = LOSSES[_loss(options["loss"], kind, n_classes, ordered)]()
    if loss.of_counts:
        _require_counts(y, weights)
    n_runs, leaf_values = options["n_runs"], options["leaf_values"]
    _require_refittable(leaf_values, loss)
    in_run = _run_predictors(options["run_predictors"], n_runs, P)
    in_tree = _some_of(in_run, options["predictor_fraction"])
    # its trees are regressions, whatever the response
    table = Table(in_tree, math.ceil(p * in_tree / P), 1, True, ranges, grid)
    families, n_singles, n_projections = _candidates(options, in_tree)
    if in_tree < P:
        _require_narrowable(families)
    mixture = mixture_for(families, n_singles, n_projections, table)
    fraction, validation = options["sample_fraction"], _validation(options["validation"], n_runs)
    plan = Plan(
        loss=loss,
        n_outputs=loss.outputs(n_classes),
        n_runs=n_runs,
        n_rounds=options["n_trees"],
        rate=_learning_rate(options["learning_rate"], leaf_values),
        l2=options["l2"],
        refit=leaf_values == REFIT,
        patience=None if validation is None else options["patience"],
        run_predictors=in_run,
        tree_predictors=in_tree,
        sampling=Sampling(ALL_ROWS if fraction == 1 else SUBSAMPLE, fraction),
        settings=_settings(options, in_tree, families),
        mixture=mixture,
    )
    return BoostingControl(
        kind=kind,
        plan=plan,
        mixture=mixture,
        split_search=options["split_search"],
        validation=validation,
        patience=options["patience"],
        seed=options["seed"],
        n_jobs=options["n_jobs"],
    )


def _settings(options: Mapping[str, Any], P: int, families: Mapping[Family, float]) -> Settings:
    """Return the options of a tree as the engine reads them: those of a regression."""
    size = checked_subset_size(options["subset_size"], P)
    thresholds = checked_thresholds(options["n_thresholds"], families)
    return Settings(
        criterion=SQUARED_ERROR,
        n_classes=1,
        max_leaves=NO_LIMIT,
        min_leaf=options["min_leaf"],
        max_depth=options["max_depth"],
        penalty=NO_PENALTY,
        subset_size=0 if isinstance(size, str) else size,
        newton_steps=FOREST_NEWTON_STEPS,
        direction_rows=FOREST_DIRECTION_ROWS,
        n_thresholds=0 if isinstance(thresholds, str) else thresholds,
        exact_rows=NO_LIMIT if options["split_search"] == EXACT else EXACT_ROWS[0],
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
    if LOSSES[value].binary and n_classes > 2:
        raise InputError(f'loss="{value}" is for two classes, here are {n_classes}: use "auto"')
    if LOSSES[value].ordered and not ordered:
        raise InputError(
            f'loss="{value}" needs ordered classes: make the response an ordered categorical, with '
            'pandas.CategoricalDtype(…, ordered=True), or use "auto"'
        )
    return value


def _require_refittable(leaf_values: str, loss: Loss) -> None:
    """Raise `InputError` where leaves are to be refitted, and the loss is no squared error."""
    if leaf_values == REFIT and not loss.least_squares:
        raise InputError(
            f'leaf_values="refit" fits leaves by least squares, and the loss is "{loss.name}": use '
            '"newton", or loss="squared_error"'
        )


def _learning_rate(value: Any, leaf_values: str) -> float:
    if value == AUTO:
        return LEARNING_RATE[leaf_values]
    if leaf_values == REFIT and value != 1:
        raise InputError(
            f'learning_rate={value!r} shrinks nothing where leaves are refitted: leave it "auto", '
            "and let l2, n_trees or max_depth keep the fit smooth"
        )
    return float(value)


def _validation(value: Any, n_runs: int) -> float | str | None:
    """Return which rows choose the number of rounds."""
    if value == OOB:
        if n_runs == 1:
            raise InputError(
                'validation="oob" needs runs with rows of their own: use several, as in '
                "n_runs=10, or hold out a share of the rows, as in validation=0.2"
            )
        return str(value)
    return None if value is None else checked_part("validation", value)


def _run_predictors(share: float, n_runs: int, P: int) -> int:
    """Return how many of the P predictors each run sees."""
    if n_runs == 1 and share < 1:
        raise InputError(
            f"run_predictors={share!r} would leave predictors out of the only run: use several, "
            f"as in n_runs=10, or predictor_fraction={share!r}, which each tree draws anew"
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
