"""Every option of a fit, validated once, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from odrf.engine.candidates import LDA, LEAST_SQUARES, LOGISTIC
from odrf.engine.impurity import ENTROPY, GINI, SQUARED_ERROR
from odrf.engine.parallel import available_cores
from odrf.engine.sampling import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Sampling
from odrf.engine.settings import AIC, BIC, NO_PENALTY, Settings
from odrf.errors import InputError, allowed
from odrf.pruning.prices import RULES
from odrf.sizes import leaf_limit, leaf_price, rule_along

__all__ = ["Control", "checked_jobs", "checked_part", "checked_seed", "checked_whole", "resolve"]

CRITERIA = {"squared_error": SQUARED_ERROR, "gini": GINI, "entropy": ENTROPY}
ESTIMATORS = {"logistic": LOGISTIC, "least_squares": LEAST_SQUARES, "lda": LDA}
PROJECTIONS = [*ESTIMATORS, "sparse", "axis"]
PENALTIES = {None: NO_PENALTY, "aic": AIC, "bic": BIC}
RESAMPLES = {"none": ALL_ROWS, "bootstrap": BOOTSTRAP, "subsample": SUBSAMPLE}
SUBSAMPLE_FRACTION = 0.632
# A forest averages its directions' errors away; a single tree's are read.
FOREST_DIRECTION_ROWS, TREE_DIRECTION_ROWS = 200, 1000
FOREST_NEWTON_STEPS, TREE_NEWTON_STEPS = 2, 8
# Bins cost more, compared with sorting, where they hold many classes.
EXACT_ROWS = (64, 128)
SPLIT_SEARCHES = ("auto", "exact")
MANY_SINGLES = 60
NONZEROS = 3
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
    projection : str
        Family of directions: ``"logistic"``, ``"least_squares"``, ``"lda"``, ``"sparse"`` or
        ``"axis"``.
    subset_size : "random" or int
        Predictors in each random subset.
    density : float
        λ, the share of nonzeros of a sparse direction.
    n_singles, n_projections : int
        Predictors tried singly at each node, and directions.
    n_sparse : int
        How many of the directions are sparse; the others are estimated.
    max_leaves : int or None
        t_n; None for no limit.
    max_leaves_rule : str
        How t_n came about, as shown to the user.
    min_leaf : int
    max_depth : int or None
    criterion : str
        ``"squared_error"``, ``"gini"`` or ``"entropy"``.
    penalty : str or None
        ``"aic"``, ``"bic"`` or None.
    n_thresholds : "all" or int
        Random cuts tried along a direction.
    split_search : str
        ``"auto"`` or ``"exact"``.
    resample : str
        ``"bootstrap"``, ``"subsample"`` or ``"none"``.
    sample_fraction : float
    alpha : float or None
        Pruning penalty α_n.
    alpha_rule : str
        How α came about.
    max_leaves_along, alpha_along : tuple of float
        What their rules give at n times 10 to the `odrf.sizes.EXPONENTS`; empty without a rule.
    pruning : str
        ``"weakest_link"`` or ``"growth"``: which subtrees there are to choose from.
    seed : int
        Repeats the fit.
    n_jobs : int
        Threads.
    """

    kind: str
    n_classes: int
    n_trees: int
    projection: str
    subset_size: str | int
    density: float
    n_singles: int
    n_projections: int
    n_sparse: int
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
    alpha: float | None
    alpha_rule: str
    max_leaves_along: tuple[float, ...]
    alpha_along: tuple[float, ...]
    pruning: str
    seed: int
    n_jobs: int

    def sampling(self) -> Sampling:
        """Return how the engine draws each tree's rows."""
        return Sampling(RESAMPLES[self.resample], self.sample_fraction)

    def settings(self) -> Settings:
        """Return the options of growth as the engine reads them."""
        lone = self.n_trees == 1 and self.resample == "none"
        return Settings(
            criterion=CRITERIA[self.criterion],
            n_classes=self.n_classes,
            family=ESTIMATORS.get(self.projection, LOGISTIC),
            subset_size=0 if isinstance(self.subset_size, str) else self.subset_size,
            density=self.density,
            n_singles=self.n_singles,
            n_sparse=self.n_sparse,
            n_projections=self.n_projections - self.n_sparse,
            max_leaves=NO_LIMIT if self.max_leaves is None else self.max_leaves,
            min_leaf=self.min_leaf,
            max_depth=NO_LIMIT if self.max_depth is None else self.max_depth,
            penalty=PENALTIES[self.penalty],
            newton_steps=TREE_NEWTON_STEPS if lone else FOREST_NEWTON_STEPS,
            direction_rows=TREE_DIRECTION_ROWS if lone else FOREST_DIRECTION_ROWS,
            n_thresholds=0 if isinstance(self.n_thresholds, str) else self.n_thresholds,
            exact_rows=NO_LIMIT if self.split_search == "exact" else EXACT_ROWS[self.n_classes > 2],
        )


def resolve(
    options: Mapping[str, Any], *, kind: str, n: int, P: int, p: int, n_classes: int
) -> Control:
    """Validate the raw `options` of a call and resolve those that depend on the data.

    Parameters
    ----------
    options : mapping
        Every argument of `odrf.odrf` that concerns growth, under its public name.
    kind : {"regression", "classification"}
    n, P, p, n_classes : int
        Rows, predictors, columns and classes (1 for a regression) of the data.

    Raises
    ------
    InputError
        Naming the argument at fault and what it may be.
    """
    projection = _one_of("projection", options["projection"], PROJECTIONS)
    if projection == "lda" and kind == "regression":
        raise InputError('projection="lda" needs classes: use "least_squares" or "logistic"')
    resample = _one_of("resample", options["resample"], list(RESAMPLES))
    lone = options["n_trees"] == 1 and resample == "none"
    max_leaves, rule = leaf_limit(options["max_leaves"], n, lone)
    alpha, alpha_rule = leaf_price(options["alpha"], n, lone)
    n_projections = _n_projections(options["n_projections"], projection, P, p)
    n_sparse = n_projections if projection == "sparse" else options.get("n_sparse", 0)
    max_depth = options["max_depth"]
    return Control(
        kind=kind,
        n_classes=n_classes,
        n_trees=checked_whole("n_trees", options["n_trees"], 1),
        projection=projection,
        subset_size=_subset_size(options["subset_size"], P),
        n_singles=_n_singles(options["n_singles"], projection, kind, options["n_trees"], P),
        n_projections=n_projections,
        n_sparse=n_sparse,
        density=_density(options["density"], projection, p),
        max_leaves=max_leaves,
        max_leaves_rule=rule,
        min_leaf=_min_leaf(options["min_leaf"], n),
        max_depth=None if max_depth is None else checked_whole("max_depth", max_depth, 0),
        criterion=_criterion(options["criterion"], kind, projection),
        penalty=_one_of("penalty", options["penalty"], list(PENALTIES)),
        n_thresholds=_n_thresholds(options["n_thresholds"]),
        split_search=_one_of("split_search", options["split_search"], list(SPLIT_SEARCHES)),
        resample=resample,
        sample_fraction=_fraction(options["sample_fraction"], resample),
        alpha=alpha,
        alpha_rule=alpha_rule,
        max_leaves_along=rule_along(options["max_leaves"], n),
        alpha_along=rule_along(options["alpha"], n),
        pruning=_one_of("pruning", options["pruning"], list(RULES)),
        seed=checked_seed(options["seed"]),
        n_jobs=checked_jobs(options["n_jobs"]),
    )


def _one_of(argument: str, value: Any, choices: list[Any]) -> Any:
    if (value is not None and not isinstance(value, str)) or value not in choices:
        raise allowed(argument, value, choices)
    return value


def checked_whole(argument: str, value: Any, least: int) -> int:
    """Return the whole number `value`; raise `InputError` where it is none, or below `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise InputError(f"{argument}={value!r}: use a whole number of at least {least}")
    return int(value)


def _share(argument: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0, up to 1')
    return float(value)


def checked_part(argument: str, value: Any) -> float:
    """Return the share `value`; raise `InputError` where it is none, or nothing, or all."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise InputError(f"{argument}={value!r}: use a share above 0 and below 1")
    return float(value)


def _subset_size(value: Any, P: int) -> str | int:
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


def _n_singles(value: Any, projection: str, kind: str, n_trees: Any, P: int) -> int:
    if projection == "sparse":
        if value not in ("auto", 0):
            raise InputError(
                f'n_singles={value!r} does not go with projection="sparse", whose directions of '
                "one column are its singles: leave it out"
            )
        return 0
    if value != "auto":
        return min(checked_whole("n_singles", value, 0 if projection != "axis" else 1), P)
    if n_trees == 1:
        return P
    if projection == "axis":
        return math.ceil(P / 3) if kind == "regression" else math.ceil(math.sqrt(P))
    return min(P, max(MANY_SINGLES, math.ceil(math.sqrt(P))))


def _density(value: Any, projection: str, p: int) -> float:
    if value == "auto":
        return min(NONZEROS / p, 1.0)
    if projection != "sparse":
        raise InputError(
            f'density={value!r} goes with projection="sparse" alone: leave it out, '
            "or choose that projection"
        )
    return _share("density", value)


def _n_projections(value: Any, projection: str, P: int, p: int) -> int:
    if projection == "axis":
        if value not in ("auto", 0):
            raise InputError(
                f'n_projections={value!r} does not go with projection="axis", which tries single '
                "predictors only: leave it out, or choose another projection"
            )
        return 0
    if value != "auto":
        return checked_whole("n_projections", value, 1)
    return p if projection == "sparse" else max(5, math.ceil(math.sqrt(P)))


def _n_thresholds(value: Any) -> str | int:
    if isinstance(value, str) and value != "all":
        raise InputError(f'n_thresholds={value!r}: use "all" or a whole number')
    return value if isinstance(value, str) else checked_whole("n_thresholds", value, 1)


def _min_leaf(value: Any, n: int) -> int:
    least = checked_whole("min_leaf", value, 1)
    if least > n:
        raise InputError(f"min_leaf={least} is above the number of rows, {n}: use a smaller one")
    return least


def _criterion(value: Any, kind: str, projection: str) -> str:
    choices = ["squared_error"] if kind == "regression" else ["gini", "entropy"]
    if value == "auto":
        # Of many random directions entropy finds the better ones; estimated ones gain nothing.
        return choices[-1] if projection == "sparse" else choices[0]
    if value in CRITERIA and value not in choices:
        suited = " or ".join(repr(choice) for choice in choices)
        raise InputError(f"criterion={value!r} does not go with a {kind}: use {suited}")
    return str(_one_of("criterion", value, ["auto", *CRITERIA]))


def _fraction(value: Any, resample: str) -> float:
    if value == "auto":
        return SUBSAMPLE_FRACTION if resample == "subsample" else 1.0
    return _share("sample_fraction", value)


def checked_seed(value: Any) -> int:
    """Return the number that a seed of any kind comes to; for None one by chance."""
    if value is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(value, np.random.Generator):
        return int(value.integers(2**63))
    if isinstance(value, np.random.SeedSequence):
        return int(value.generate_state(1, np.uint64)[0])
    return checked_whole("seed", value, 0)


def checked_jobs(value: Any) -> int:
    """Return the number of threads asked for; all cores for None."""
    if value is None or value == -1:
        return available_cores()
    return checked_whole("n_jobs", value, 1)
