"""Every option of a fit, validated once, resolved for the data at hand, and frozen."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_jobs, checked_seed, checked_truth, checked_whole
from odrf.engine.rows.sampling import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Batch, Sampling
from odrf.engine.settings import AIC, BIC, NO_PENALTY, Settings
from odrf.engine.splits.impurity import ENTROPY, GINI, ORDINAL, SQUARED_ERROR
from odrf.errors import InputError, allowed
from odrf.options.sizes import complexity_parameter, leaf_limit, row_share, rule_along
from odrf.projections.family import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection
from odrf.pruning.complexity import RULES

__all__ = [
    "EXACT_ROWS",
    "NO_LIMIT",
    "Control",
    "checked_subset_size",
    "checked_thresholds",
    "resolve",
]

CRITERIA = {
    "squared_error": SQUARED_ERROR,
    "gini": GINI,
    "entropy": ENTROPY,
    "ordinal": ORDINAL,
}
PENALTIES = {None: NO_PENALTY, "aic": AIC, "bic": BIC}
RESAMPLES = {"none": ALL_ROWS, "bootstrap": BOOTSTRAP, "subsample": SUBSAMPLE}
SUBSAMPLE_FRACTION = 0.632
# A forest averages its directions' errors away; a single tree's are read.
FOREST_DIRECTION_ROWS, TREE_DIRECTION_ROWS = 200, 1000
FOREST_NEWTON_STEPS, TREE_NEWTON_STEPS = 2, 8
# Bins cost more, compared with sorting, where they hold many classes.
EXACT_ROWS = (64, 128)
SPLIT_SEARCHES = ("auto", "exact")
NO_LIMIT = int(np.iinfo(np.int64).max)


@dataclass(frozen=True)
class Control:
    """The options of a fit as they were used.

    Attributes
    ----------
    kind : str
        ``"regression"`` or ``"classification"``.
    n_classes : int
        K; 1 for a regression.
    n_trees : int
    mixture : Mixture
        How many directions of which family a node tries.
    subset_size : "random" or int
        Predictors in each random subset.
    max_leaves : int or None
        t_n; None for no limit.
    max_leaves_rule : str
        How t_n came about, as shown to the user.
    min_leaf : int
    max_depth : int or None
    criterion : str
        ``"squared_error"``, ``"gini"``, ``"entropy"`` or ``"ordinal"``.
    penalty : str or None
        ``"aic"``, ``"bic"`` or None.
    n_thresholds : "all" or int
        Random cuts tried along a direction.
    split_search : str
        ``"auto"`` or ``"exact"``.
    resample : str
        ``"bootstrap"``, ``"subsample"`` or ``"none"``.
    sample_fraction : float
    honest : bool
        Whether a tree's shape and what its nodes say are of disjoint halves of its rows.
    alpha : float or None
        Pruning penalty α_n.
    alpha_rule : str
        How α came about.
    max_leaves_along, alpha_along, sample_fraction_along : tuple of float
        What their rules give at n times 10 to the `odrf.options.sizes.EXPONENTS`; empty without
        a rule.
    pruning : str
        ``"weakest_link"`` or ``"growth"``: which subtrees there are to choose from.
    seed : int
        Repeats the fit.
    n_jobs : int
        Threads.
    batches : tuple of Batch
        The rows that were added to the trees after they had been grown.
    """

    kind: str
    n_classes: int
    n_trees: int
    mixture: Mixture
    subset_size: str | int
    max_leaves: int | None
    max_leaves_rule: str
    min_leaf: int
    max_depth: int | None
    criterion: str
    penalty: str | None
    n_thresholds: str | int
    split_search: str
    resample: str
    sample_fraction: float
    honest: bool
    alpha: float | None
    alpha_rule: str
    max_leaves_along: tuple[float, ...]
    alpha_along: tuple[float, ...]
    sample_fraction_along: tuple[float, ...]
    pruning: str
    seed: int
    n_jobs: int
    batches: tuple[Batch, ...] = ()

    def sampling(self) -> Sampling:
        """Return how the engine draws each tree's rows."""
        return Sampling(RESAMPLES[self.resample], self.sample_fraction, self.honest, self.batches)

    def settings(self) -> Settings:
        """Return the options of growth as the engine reads them."""
        lone = self.n_trees == 1 and self.resample == "none"
        return Settings(
            criterion=CRITERIA[self.criterion],
            n_classes=self.n_classes,
            max_leaves=NO_LIMIT if self.max_leaves is None else self.max_leaves,
            min_leaf=self.min_leaf,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            penalty=PENALTIES[self.penalty],
            subset_size=0 if isinstance(self.subset_size, str) else self.subset_size,
            newton_steps=TREE_NEWTON_STEPS if lone else FOREST_NEWTON_STEPS,
            direction_rows=TREE_DIRECTION_ROWS if lone else FOREST_DIRECTION_ROWS,
            n_thresholds=0 if isinstance(self.n_thresholds, str) else self.n_thresholds,
            exact_rows=NO_LIMIT if self.split_search == "exact" else EXACT_ROWS[self.n_classes > 2],
        )


def resolve(
    options: Mapping[str, Any],
    *,
    kind: str,
    n: int,
    P: int,
    p: int,
    n_classes: int,
    ordinal: bool = False,
    ranges: NDArray[np.float64] | None = None,
    grid: tuple[int, int, int] | None = None,
) -> Control:
    """Validate the raw `options` of a call and resolve those that depend on the data.

    Parameters
    ----------
    options : mapping
        Every argument of `odrf.odrf` that concerns growth, under its public name.
    kind : {"regression", "classification"}
    n, P, p, n_classes : int
        Rows, predictors, columns and classes (1 for a regression) of the data.
    ordinal : bool, default False
        Whether there are three or more classes, and these are ordered.
    ranges, grid
        As `odrf.projections.family.Table` has them.

    Raises
    ------
    InputError
        Naming the argument at fault and what it may be.
    """
    families = read_projection(options["projection"])
    n_trees = checked_whole("n_trees", options["n_trees"], 1)
    table = Table(P, p, n_classes, n_trees == 1, ranges, grid)
    resample = _one_of("resample", options["resample"], list(RESAMPLES))
    lone = options["n_trees"] == 1 and resample == "none"
    max_leaves, rule = leaf_limit(options["max_leaves"], n, lone)
    alpha, alpha_rule = complexity_parameter(options["alpha"], n, lone)
    max_depth = options["max_depth"]
    return Control(
        kind=kind,
        n_classes=n_classes,
        n_trees=n_trees,
        mixture=mixture_for(families, options["n_singles"], options["n_projections"], table),
        subset_size=checked_subset_size(options["subset_size"], P),
        max_leaves=max_leaves,
        max_leaves_rule=rule,
        min_leaf=_min_leaf(options["min_leaf"], n),
        max_depth=None if max_depth is None else checked_whole("max_depth", max_depth, 0),
        criterion=_criterion(options["criterion"], kind, families, ordinal),
        penalty=_one_of("penalty", options["penalty"], list(PENALTIES)),
        n_thresholds=checked_thresholds(options["n_thresholds"], families),
        split_search=_one_of("split_search", options["split_search"], list(SPLIT_SEARCHES)),
        resample=resample,
        sample_fraction=_fraction(options["sample_fraction"], resample, n),
        honest=checked_truth("honest", options["honest"]),
        alpha=alpha,
        alpha_rule=alpha_rule,
        max_leaves_along=rule_along(options["max_leaves"], n),
        alpha_along=rule_along(options["alpha"], n),
        sample_fraction_along=rule_along(options["sample_fraction"], n),
        pruning=_one_of("pruning", options["pruning"], list(RULES)),
        seed=checked_seed(options["seed"]),
        n_jobs=checked_jobs(options["n_jobs"]),
    )


def _one_of(argument: str, value: Any, choices: list[Any]) -> Any:
    if (value is not None and not isinstance(value, str)) or value not in choices:
        raise allowed(argument, value, choices)
    return value


def checked_subset_size(value: Any, P: int) -> str | int:
    """Return the predictors in each subset; raise `InputError` unless there can be so many."""
    if value == "random":
        return "random"
    if isinstance(value, str):
        raise InputError(f'subset_size={value!r}: use "random" or a whole number')
    size = checked_whole("subset_size", value, 1)
    if size > P:
        raise InputError(
            f"subset_size={size} is above the number of predictors, {P}: "
            f'use "random" or a whole number from 1 to {P}'
        )
    return size


def checked_thresholds(value: Any, families: Collection[Family]) -> str | int:
    """Return how many random cuts are tried along a direction, or "all"."""
    if value == "auto":
        own = {family.n_thresholds for family in families}
        if len(own) > 1:
            raise InputError(
                'n_thresholds="auto": the families of projection= differ in how many cuts they '
                'try: use "all" or a whole number'
            )
        return own.pop()
    if isinstance(value, str) and value != "all":
        raise InputError(f'n_thresholds={value!r}: use "auto", "all" or a whole number')
    return value if isinstance(value, str) else checked_whole("n_thresholds", value, 1)


def _min_leaf(value: Any, n: int) -> int:
    least = checked_whole("min_leaf", value, 1)
    if least > n:
        raise InputError(f"min_leaf={least} is above the number of rows, {n}: use a smaller one")
    return least


def _criterion(value: Any, kind: str, families: Collection[Family], ordinal: bool) -> str:
    choices = ["squared_error"] if kind == "regression" else ["gini", "entropy"]
    if ordinal and value in ("auto", "ordinal"):
        return "ordinal"
    if value == "auto":
        best = {family.criterion for family in families}
        return choices[0] if kind == "regression" or len(best) > 1 else best.pop()
    if value in CRITERIA and value not in choices:
        suited = " or ".join(repr(choice) for choice in choices)
        if value == "ordinal" and kind != "regression":
            raise InputError(
                'criterion="ordinal" needs three or more ordered classes: make the response an '
                "ordered categorical, with pandas.CategoricalDtype(…, ordered=True), or use "
                f"{suited}"
            )
        raise InputError(f"criterion={value!r} does not go with a {kind}: use {suited}")
    return str(_one_of("criterion", value, ["auto", *CRITERIA]))


def _fraction(value: Any, resample: str, n: int) -> float:
    if isinstance(value, str) and value == "auto":
        return SUBSAMPLE_FRACTION if resample == "subsample" else 1.0
    return row_share(value, n)
