"""The options of boosting, resolved for the data at hand, and frozen; losses in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import (
    AUTO,
    MOST,
    Seed,
    checked_amount,
    checked_choice,
    checked_jobs,
    checked_part,
    checked_seed,
    checked_share,
    checked_whole,
    is_word,
)
from odrf.design import Design
from odrf.design.response import SURVIVAL
from odrf.design.weights import row_labels
from odrf.engine.boosting.leaf_values import BoostingParams
from odrf.engine.boosting.losses import LOSSES
from odrf.engine.directions.candidates import indicator_levels
from odrf.engine.kernel_params import NO_LIMIT, NO_PENALTY, KernelParams
from odrf.engine.resamples import ALL_ROWS, SUBSAMPLE, Sampling
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.errors import InputError
from odrf.options import words
from odrf.options.sizes import OOB
from odrf.options.tree import (
    EFFORT,
    EXACT,
    EXACT_ROWS,
    subset_size_of,
    thresholds_of,
)
from odrf.projections.axis import Axis
from odrf.projections.base import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection
from odrf.projections.regression import Logistic
from odrf.projections.sparse import Sparse

# Losses of boosting: in words, and which response each is for.

SPELLED = {
    "huber": "Huber",
    "poisson": "Poisson",
    "cox": "Cox",
    "weibull": "Weibull",
    "lognormal": "log-normal",
    "loglogistic": "log-logistic",
}
# Of these losses the mean is half of what their name says.
HALVES = {"squared_error": "half the squared error", "poisson": "half the Poisson deviance"}
# Of classes it depends on their number and order.
LOSS_OF_KIND = {"regression": "squared_error", SURVIVAL: "cox"}


def loss_in_words(name: str) -> str:
    """Return a loss by its name in texts.

    Examples
    --------
    >>> loss_in_words("squared_error"), loss_in_words("cox")
    ('squared error', 'Cox')
    """
    return SPELLED.get(name, name.replace("_", " "))


def mean_loss_in_words(name: str) -> str:
    """Return what the mean of a loss is a mean of.

    Examples
    --------
    >>> mean_loss_in_words("squared_error"), mean_loss_in_words("huber")
    ('half the squared error', 'Huber')
    """
    return HALVES.get(name, loss_in_words(name))


def checked_loss(value: words.LossName, kind: str, n_classes: int, ordered: bool) -> str:
    """Return the name of the loss; raise `InputError` if it does not suit the response."""
    checked_choice("loss", value, [AUTO, *LOSSES])
    if value == AUTO:
        of_classes = "logistic" if n_classes == 2 else "ordinal" if ordered else "multinomial"
        return LOSS_OF_KIND.get(kind, of_classes)
    suited = [name for name, loss in LOSSES.items() if loss.kind == kind]
    if value not in suited:
        listing = " or ".join(repr(name) for name in suited)
        what = "survival time" if kind == SURVIVAL else kind
        hint = ", or the response Surv(time, event)" if LOSSES[value].kind == SURVIVAL else ""
        raise InputError(f"loss={value!r} is not for a {what}: use {listing}{hint}")
    if LOSSES[value].binary and n_classes > 2:
        raise InputError(
            f'loss="{value}" is for two classes, the response has {n_classes}: use "auto"'
        )
    if LOSSES[value].ordered and not ordered:
        raise InputError(
            f'loss="{value}" needs ordered classes: make the response an ordered categorical, with '
            'pandas.CategoricalDtype(…, ordered=True), or use "auto"'
        )
    return str(value)


def require_counts(y: NDArray[np.float64]) -> None:
    """Raise `InputError` if responses (n,) are below 0, as no counts are."""
    if (y < 0).any():
        raise InputError(
            f'loss="poisson" is for responses of at least 0, the smallest is {y.min():g}: '
            'use "squared_error"'
        )


# The options of boosting, resolved for the data at hand, and frozen.

NEWTON, REFIT = "newton", "refit"
PATIENCE = 20
# Of survival times, whose scores are too far apart after all rounds: the runs, and the share of
# the rows that one run holds out (benchmarks/options/boosted_survival.py).
SURVIVAL_RUNS, SURVIVAL_SHARE = 10, 0.2
# Refitted leaves are not shrunken.
NEWTON_RATE, REFIT_RATE = 0.1, 1.0
# Directions of each oblique family that a node tries by default: as many as there are predictors,
# within these bounds.
FEWEST_DIRECTIONS, MOST_DIRECTIONS = 5, 8


@dataclass(frozen=True)
class BoostingOptions:
    """The arguments of `odrf.odbt` that concern boosting, as the user gave them."""

    loss: words.LossName = "auto"
    n_trees: int = 100
    learning_rate: float | words.Auto = "auto"
    projection: words.Projection = "auto"
    subset_size: words.SubsetSize = "random"
    n_projections: words.Number = "auto"
    n_singles: words.Number = "auto"
    max_depth: int = 5
    max_leaves: int | None = None
    min_leaf: int = 5
    min_hessian: float = 0.0
    leaf_values: words.LeafValues = "newton"
    l2: float = 1.0
    n_thresholds: words.Thresholds = "auto"
    split_search: words.SplitSearch = "auto"
    sample_fraction: float = 1.0
    predictor_fraction: float = 1.0
    n_runs: words.Number = "auto"
    run_predictors: float = 1.0
    validation: words.ValidationRows = "auto"
    patience: words.Number = "auto"
    offset: words.OfRows = None
    seed: Seed = None
    n_jobs: int | None = None

    def checked(self) -> BoostingOptions:
        """Return the options after the checks that need no data.

        Raises `InputError`, which names the option and says what to use, if one is invalid.
        """
        rate, leaves, runs, patience = (
            *(self.learning_rate, self.max_leaves),
            *(self.n_runs, self.patience),
        )
        return replace(
            self,
            n_trees=checked_whole("n_trees", self.n_trees, 1, MOST),
            learning_rate=rate if is_word(rate, AUTO) else checked_share("learning_rate", rate),
            max_depth=checked_whole("max_depth", self.max_depth, 1),
            max_leaves=None if leaves is None else checked_whole("max_leaves", leaves, 2),
            min_leaf=checked_whole("min_leaf", self.min_leaf, 1),
            min_hessian=checked_amount("min_hessian", self.min_hessian),
            leaf_values=checked_choice("leaf_values", self.leaf_values, (NEWTON, REFIT)),
            l2=checked_amount("l2", self.l2),
            split_search=checked_choice("split_search", self.split_search, (AUTO, EXACT)),
            sample_fraction=checked_share("sample_fraction", self.sample_fraction),
            predictor_fraction=checked_share("predictor_fraction", self.predictor_fraction),
            n_runs=runs if is_word(runs, AUTO) else checked_whole("n_runs", runs, 1, MOST),
            run_predictors=checked_share("run_predictors", self.run_predictors),
            patience=patience
            if is_word(patience, AUTO)
            else checked_whole("patience", patience, 1),
        )


@dataclass(frozen=True)
class ResolvedBoostingOptions:
    """The options of boosting, with the values that were used.

    `kind`: ``"regression"``, ``"classification"`` or ``"survival"``.  `plan`: the options as the
    engine reads them.  `mixture`: how many directions of each family a node tries.  `split_search`:
    ``"auto"`` or ``"exact"``.  `validation`: how the number of rounds is chosen: by a share of
    validation rows, or out of bag.  `patience`: boosting stops after this many rounds without a
    smaller loss on these rows.
    """

    kind: str
    plan: BoostingParams
    mixture: Mixture
    split_search: words.SplitSearch
    validation: words.Validation
    patience: int
    seed: int
    n_jobs: int

    @property
    def loss(self) -> words.LossName:
        """The name of the loss."""
        name: Any = self.plan.loss.name
        return name

    @property
    def n_outputs(self) -> int:
        """Trees in a round of one run: K with the multinomial loss, K - 1 with the ordinal, else 1.

        K is the number of classes.
        """
        return self.plan.n_outputs

    @property
    def n_trees(self) -> int:
        """Most rounds."""
        return self.plan.n_rounds

    @property
    def learning_rate(self) -> float:
        """Factor on the values of new leaves."""
        return self.plan.rate

    @property
    def leaf_values(self) -> words.LeafValues:
        """``"newton"`` or ``"refit"``."""
        return "refit" if self.plan.refit else "newton"

    @property
    def l2(self) -> float:
        """Penalty on the squares of leaf values."""
        return self.plan.l2

    @property
    def subset_size(self) -> words.SubsetSize:
        """Predictors in each random subset: ``"random"`` or a number."""
        return self.plan.settings.subset_size or "random"

    @property
    def n_thresholds(self) -> words.Thresholds:
        """Random thresholds tried along a direction, or ``"all"``."""
        return self.plan.settings.n_thresholds or "all"

    @property
    def max_depth(self) -> int:
        """Most splits between root and leaf."""
        return self.plan.settings.max_depth

    @property
    def max_leaves(self) -> int | None:
        """Most leaves of a tree, which then grows best-first; None if only its depth is limited."""
        return self.plan.settings.max_leaves if self.plan.settings.best_first else None

    @property
    def min_leaf(self) -> int:
        """Fewest rows of a leaf."""
        return self.plan.settings.min_leaf

    @property
    def min_hessian(self) -> float:
        """Least sum of the second derivatives of a leaf's rows."""
        return self.plan.settings.min_weight

    @property
    def sample_fraction(self) -> float:
        """Share of the rows that each tree draws, without replacement; 1 for all."""
        return self.plan.sampling.fraction

    @property
    def n_runs(self) -> int:
        """Boosting runs, whose mean is the fit."""
        return self.plan.n_runs

    @property
    def run_predictors(self) -> int:
        """Predictors that each run draws."""
        return self.plan.run_predictors

    @property
    def tree_predictors(self) -> int:
        """Predictors that each tree draws from those of its run."""
        return self.plan.tree_predictors

    def with_runs(self, n_runs: int) -> ResolvedBoostingOptions:
        """Return the options with `n_runs` runs."""
        return replace(self, plan=self.plan._replace(n_runs=n_runs))

    def with_rounds(self, n_trees: int) -> ResolvedBoostingOptions:
        """Return the options with `n_trees` rounds."""
        return replace(self, plan=self.plan._replace(n_rounds=n_trees))


def resolve_boosting(
    options: BoostingOptions, design: Design, y: NDArray[np.float64]
) -> ResolvedBoostingOptions:
    """Resolve the options of a call of `odrf.odbt`, which are checked, for the data.

    `y` (n,) are responses or class codes.  Raises `InputError`, which names the option and says
    what to use, if one does not go with the data.
    """
    response, P = design.response, len(design.predictors)
    name = checked_loss(options.loss, response.kind, response.n_classes, response.ordered)
    loss = LOSSES[name]()
    if loss.of_counts:
        require_counts(y)
    n_runs, validation = _runs_and_validation(options.n_runs, options.validation, response.kind)
    patience, refit = _patience(options.patience, validation), options.leaf_values == REFIT
    if refit and not loss.least_squares:
        raise InputError(
            f'leaf_values="refit" fits leaves by least squares, and the loss is "{loss.name}": use '
            'leaf_values="newton" or loss="squared_error"'
        )
    run_predictors = _run_predictors(options.run_predictors, n_runs, P)
    tree_predictors = _share_of(run_predictors, options.predictor_fraction)
    families, n_singles, n_projections = _candidates(options, tree_predictors)
    if tree_predictors < P:
        _require_narrowable(families)
    mixture = mixture_for(families, n_singles, n_projections, _table(design, tree_predictors))
    fraction = options.sample_fraction
    plan = BoostingParams(
        loss=loss,
        n_outputs=loss.outputs(response.n_classes),
        n_runs=n_runs,
        n_rounds=options.n_trees,
        rate=_learning_rate(options.learning_rate, refit),
        l2=options.l2,
        refit=refit,
        patience=None if validation is None else patience,
        run_predictors=run_predictors,
        tree_predictors=tree_predictors,
        sampling=Sampling(ALL_ROWS if fraction == 1 else SUBSAMPLE, fraction),
        settings=_kernel_params(options, response.n_classes, tree_predictors, families),
        mixture=mixture,
    )
    return ResolvedBoostingOptions(
        kind=response.kind,
        plan=plan,
        mixture=mixture,
        split_search=options.split_search,
        validation=validation,
        patience=patience,
        seed=checked_seed(options.seed),
        n_jobs=checked_jobs(options.n_jobs),
    )


def _table(design: Design, tree_predictors: int) -> Table:
    """Return what the families know of the table, of which a tree has some predictors.

    Boosting grows regression trees, whatever the response.
    """
    P = len(design.predictors)
    columns = math.ceil(len(design.columns) * tree_predictors / P)
    terms = math.ceil(design.n_terms * tree_predictors / P)
    return Table(
        tree_predictors, columns, 1, True, design.scaling.range, design.grid, terms,
        design.of_empty_cells,
    )  # fmt: skip


def _kernel_params(
    options: BoostingOptions, n_classes: int, tree_predictors: int, families: dict[Family, float]
) -> KernelParams:
    """Return what kernels take; the response has `n_classes`, that of a tree numbers."""
    leaves = options.max_leaves
    newton_steps, direction_rows = EFFORT[False]
    return KernelParams(
        criterion=SQUARED_ERROR,
        n_classes=1,
        max_leaves=NO_LIMIT if leaves is None else leaves,
        min_leaf=options.min_leaf,
        max_depth=options.max_depth,
        penalty=NO_PENALTY,
        subset_size=subset_size_of(options.subset_size, tree_predictors, families),
        newton_steps=newton_steps,
        direction_rows=direction_rows,
        n_thresholds=thresholds_of(options.n_thresholds, families),
        exact_rows=NO_LIMIT if options.split_search == EXACT else EXACT_ROWS[0],
        indicator_levels=indicator_levels(n_classes),
        best_first=leaves is not None,
        min_weight=options.min_hessian,
    )


def _candidates(options: BoostingOptions, P: int) -> tuple[dict[Family, float], Any, Any]:
    """Return families with their shares, and the numbers of single predictors and directions.

    By default single predictors, sparse directions and logistic directions.
    """
    n_singles, n_projections = options.n_singles, options.n_projections
    if not is_word(options.projection, AUTO):
        return read_projection(options.projection), n_singles, n_projections
    singles = P if is_word(n_singles, AUTO) else min(P, checked_whole("n_singles", n_singles, 1))
    oblique = 2 * min(max(P, FEWEST_DIRECTIONS), MOST_DIRECTIONS)
    if not is_word(n_projections, AUTO):
        oblique = checked_whole("n_projections", n_projections, 2, MOST)
    shares = {Axis(): singles, Sparse(): oblique // 2, Logistic(): oblique - oblique // 2}
    # shares equal to these numbers, so that apportioning their sum gives the numbers again
    return {family: float(k) for family, k in shares.items()}, AUTO, singles + oblique


def _learning_rate(value: float | words.Auto, refit: bool) -> float:
    if isinstance(value, str):
        return REFIT_RATE if refit else NEWTON_RATE
    if refit and value != 1:
        raise InputError(
            f'learning_rate={value!r} has no effect with leaf_values="refit": leave it "auto", and '
            "use l2, n_trees or max_depth against overfitting"
        )
    return value


def _runs_and_validation(
    n_runs: words.Number, value: Any, kind: str
) -> tuple[int, words.Validation]:
    """Return the number of runs, and ``"oob"``, the share of the rows to hold out, or None.

    By default the rounds of survival times are chosen, by rows that also calibrate the curves:
    those out of bag of several runs, or of one run some that are held out.
    """
    by_default, of_times = is_word(value, AUTO), kind == SURVIVAL
    if isinstance(n_runs, str):
        shared = of_times and (by_default or value is None or is_word(value, OOB))
        n_runs = SURVIVAL_RUNS if shared else 1
    if by_default:
        value = None if not of_times else OOB if n_runs > 1 else SURVIVAL_SHARE
    return n_runs, _validation(value, n_runs)


def _patience(value: words.Number, validation: words.Validation) -> int:
    """Return the rounds without a smaller loss after which boosting stops."""
    if isinstance(value, str):
        return PATIENCE
    if validation is None:
        raise InputError(
            f"patience={value} has no effect without validation=: add validation=0.2, say, or "
            "leave it out"
        )
    return value


def with_rows_held(
    options: BoostingOptions, data: pd.DataFrame
) -> tuple[BoostingOptions, NDArray[np.bool_] | None]:
    """Return the options, with a share, and which rows (n,) `validation` names; None if it is one.

    Raises `InputError` if these are not True or False for each row.
    """
    named = options.validation
    if not isinstance(named, list | tuple | np.ndarray | pd.Series) or np.ndim(named) == 0:
        return options, None
    held = row_labels("validation", named, data).infer_objects()
    if held.dtype != bool:
        raise InputError(
            "validation must be a share of the rows, such as 0.2, or True and False for each row"
        )
    share = float(held.mean())
    if not 0 < share < 1:
        raise InputError(
            f"validation is {held.iloc[0]} for all rows: some rows choose the number of rounds, "
            "and the trees are grown on the others"
        )
    return replace(options, validation=share), held.to_numpy(dtype=np.bool_)


def _validation(value: Any, n_runs: int) -> words.Validation:
    """Return ``"oob"``, the share of the rows to hold out, or None."""
    if is_word(value, OOB):
        if n_runs == 1:
            raise InputError(
                'validation="oob" needs several runs: use n_runs=10 or so, or hold out a share of '
                "the rows, as in validation=0.2"
            )
        return "oob"
    return None if value is None else checked_part("validation", value)


def _run_predictors(share: float, n_runs: int, P: int) -> int:
    """Return how many of the P predictors each run uses."""
    if n_runs == 1 and share < 1:
        raise InputError(
            f"run_predictors={share!r} would leave predictors out of the only run: use several "
            f"runs, as in n_runs=10, or predictor_fraction={share!r}, which samples for each tree"
        )
    return _share_of(P, share)


def _share_of(P: int, share: float) -> int:
    return max(1, round(share * P))


def _require_narrowable(families: Mapping[Family, float]) -> None:
    """Raise `InputError` if a family needs all columns of the design."""
    for family in families:
        if not family.narrows:
            raise InputError(
                f'projection="{family.name}" needs all predictors in every tree: leave '
                "predictor_fraction and run_predictors at 1"
            )
