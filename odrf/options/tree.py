"""The options of a tree or forest, resolved for the data at hand, and frozen."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import AUTO, MOST, checked_jobs, checked_seed, checked_whole, is_word
from odrf.engine.directions.candidates import indicator_levels
from odrf.engine.kernel_params import AIC, BIC, NO_LIMIT, NO_PENALTY, ON_RESPONSE, KernelParams
from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Batch, Sampling
from odrf.errors import InputError
from odrf.options import words
from odrf.options.criteria import (
    CRITERIA_OF,
    EXPONENTIAL,
    GRAY,
    SPLIT_SCALES,
    cause_of_splits,
    criterion_of,
)
from odrf.options.options import Options
from odrf.options.sizes import FIXED, Rule, complexity_parameter, leaf_limit, row_share
from odrf.projections.base import Family, Table
from odrf.projections.mixture import Mixture, mixture_for, read_projection

RANDOM, ALL, EXACT = "random", "all", "exact"
PENALTIES = {None: NO_PENALTY, "aic": AIC, "bic": BIC}
RESAMPLES = {"none": ALL_ROWS, "bootstrap": BOOTSTRAP, "subsample": SUBSAMPLE}
SUBSAMPLE_FRACTION = 0.632
# Averaging over trees removes errors of estimated directions; those of a single tree are
# interpreted, and so are estimated on more rows and with more Newton steps.
# By whether the fit is a single tree: Newton steps and rows.
EFFORT = {True: (8, 1000), False: (2, 200)}
# For up to two classes or a number, and for more: bins of many classes cost more than sorting.
EXACT_ROWS = (64, 128)
# Single trees of up to so many rows are read, and searched exactly: of ten predictors that takes a
# tenth of a second more.  Forests and boosting would take 1.1 to 2.4 times as long at all sizes.
EXACT_TREE_ROWS = 10_000


@dataclass(frozen=True)
class ResolvedOptions:
    """The options of a tree or forest, with the values that were used.

    `kind`: ``"regression"``, ``"classification"`` or ``"survival"``.
    `mixture`: how many directions of each family a node tries.
    `settings`: the options of growth as the engine reads them.
    `sampling`: how each tree's rows are sampled.
    `split_search`: ``"exact"`` if nodes of any size try every cut point, as single trees of few
      rows do by default, else ``"auto"``.
    `pruning`: ``"weakest_link"`` or ``"growth"``: which subtrees are candidates of pruning.
    `alpha`: complexity parameter α_n.
    `max_leaves_rule`, `alpha_rule`, `sample_fraction_rule`: how t_n, α_n and the share of the
      rows were determined.
    `inference`: whether the argument `inference` is True.
    `cause`: the cause of events that splits are about; None if about all.
    `subdistribution`: whether they are about its incidence: rows stay at risk after events of
      other causes.
    `leaves`: ``"constant"``, or ``"linear"`` if leaves have lines.
    """

    kind: str
    n_trees: int
    mixture: Mixture
    settings: KernelParams
    sampling: Sampling
    split_search: str
    pruning: str
    alpha: float | None
    max_leaves_rule: Rule
    alpha_rule: Rule
    sample_fraction_rule: Rule
    seed: int
    n_jobs: int
    inference: bool = False
    cause: str | None = None
    subdistribution: bool = False
    leaves: words.Leaves = "constant"

    @property
    def n_classes(self) -> int:
        """K; 1 for a regression."""
        return self.settings.n_classes

    @property
    def criterion(self) -> str:
        """``"squared_error"``, ``"gini"``, …: the name of the impurity."""
        if self.subdistribution:
            return GRAY
        return str(_name_of(self.settings.criterion, CRITERIA_OF[self.kind]))

    @property
    def penalty(self) -> str | None:
        """``"aic"``, ``"bic"`` or None."""
        return _name_of(self.settings.penalty, PENALTIES)

    @property
    def split_scale(self) -> str:
        """``"response"``, ``"log"``, ``"box_cox"``, …: the scale on which splits are chosen."""
        return str(_name_of(self.settings.split_scale, SPLIT_SCALES))

    @property
    def subset_size(self) -> words.SubsetSize:
        """Predictors in each random subset: ``"random"`` or a number."""
        return self.settings.subset_size or "random"

    @property
    def n_thresholds(self) -> words.Thresholds:
        """Random thresholds tried along a direction, or ``"all"``."""
        return self.settings.n_thresholds or "all"

    @property
    def max_leaves(self) -> int | None:
        """t_n; None for no limit."""
        return _limit_or_none(self.settings.max_leaves)

    @property
    def min_leaf(self) -> int:
        """Fewest rows of a leaf."""
        return self.settings.min_leaf

    @property
    def max_depth(self) -> int | None:
        """Most splits between root and leaf; None for no limit."""
        return _limit_or_none(self.settings.max_depth)

    @property
    def resample(self) -> str:
        """``"bootstrap"``, ``"subsample"`` or ``"none"``."""
        return _name_of(self.sampling.resample, RESAMPLES)

    @property
    def sample_fraction(self) -> float:
        """Share of the rows that each tree draws."""
        return self.sampling.fraction

    @property
    def honest(self) -> bool:
        """Whether a half of a tree's rows chooses its splits and the other gives its values."""
        return self.sampling.honest

    @property
    def batches(self) -> tuple[Batch, ...]:
        """The batches of rows that `update` has added."""
        return self.sampling.later

    @property
    def is_single_tree(self) -> bool:
        """Whether the fit is one tree, on all rows."""
        return self.n_trees == 1 and self.resample == "none"

    def with_trees(self, n_trees: int) -> ResolvedOptions:
        """Return the options with `n_trees` trees."""
        control = replace(self, n_trees=n_trees)
        steps, rows = EFFORT[control.is_single_tree]
        settings = self.settings._replace(newton_steps=steps, direction_rows=rows)
        return replace(control, settings=settings)

    def with_leaves(self, max_leaves: int | None, rule: Rule) -> ResolvedOptions:
        """Return the options with t_n = `max_leaves`, determined by `rule`."""
        limit = NO_LIMIT if max_leaves is None else max_leaves
        settings = self.settings._replace(max_leaves=limit)
        return replace(self, settings=settings, max_leaves_rule=rule)

    def compared(self) -> list[tuple[str, Any]]:
        """Return the names and values of the options that combined forests must share."""
        names = (
            "kind", "n_classes", "subset_size", "max_leaves", "min_leaf", "max_depth", "criterion",
            "penalty", "n_thresholds", "split_search", "resample", "sample_fraction", "honest",
            "alpha", "pruning", "split_scale", "cause", "leaves",
        )  # fmt: skip
        return [
            ("projection", self.mixture),
            *((name, getattr(self, name)) for name in names),
            ("max_leaves", self.max_leaves_rule),
            ("alpha", self.alpha_rule),
            ("sample_fraction", self.sample_fraction_rule),
        ]


def resolve(
    options: Options,
    *,
    kind: str,
    n: int,
    P: int,
    p: int,
    n_classes: int,
    ordinal: bool = False,
    ranges: NDArray[np.float64] | None = None,
    grid: tuple[int, int, int] | None = None,
    terms: int | None = None,
    empty: NDArray[np.bool_] | None = None,
    surrogates: bool = False,
    causes: Sequence[str] = (),
    truncated: bool = False,
    rows_a_subject: float = 1.0,
) -> ResolvedOptions:
    """Resolve the options of a call, which are checked, for the data.

    The data have n rows, P predictors, p columns and `n_classes` classes (1 for a number or a
    time); `ordinal`: three or more ordered classes.  For `ranges`, `grid`, `terms` and `empty` see
    `odrf.projections.base.Table`.  `surrogates`: missing values go by surrogate splits.  Of
    survival times, `causes` are the causes, and `truncated` says that rows enter late.  `min_leaf`
    counts subjects, which have `rows_a_subject` rows in the mean.  Raises `InputError`, which names
    the option and says what to use, if one does not go with the data.
    """
    families = read_projection(options.projection)
    single_tree, max_depth, penalty = options.is_single_tree, options.max_depth, options.penalty
    table = Table(P, p, n_classes, options.n_trees == 1, ranges, grid, terms, empty)
    mixture = mixture_for(families, options.n_singles, options.n_projections, table)
    max_leaves, max_leaves_rule = leaf_limit(options.max_leaves, n, single_tree)
    limited = not (options.max_leaves is None and max_depth is None and penalty is None)
    alpha, alpha_rule = complexity_parameter(options.alpha, n, single_tree, limited)
    fraction, fraction_rule = _fraction(options.sample_fraction, options.resample, n)
    newton_steps, direction_rows = EFFORT[single_tree]
    exact = options.split_search == EXACT or (single_tree and n <= EXACT_TREE_ROWS)
    criterion = criterion_of(options.criterion, kind, families, ordinal)
    if criterion == EXPONENTIAL and penalty is not None:
        raise InputError(
            f'penalty="{penalty}" is not for criterion="exponential": leave it out, and prune by '
            "alpha="
        )
    if surrogates and mixture.rotates:
        raise InputError(
            'missing="surrogate": a family that rotates all predictors has splits that need every '
            'one of them: use another projection=, or missing="split"'
        )
    settings = KernelParams(
        criterion=CRITERIA_OF[kind][criterion],
        n_classes=n_classes,
        max_leaves=NO_LIMIT if max_leaves is None else max_leaves,
        min_leaf=_min_leaf(options.min_leaf, n, rows_a_subject),
        max_depth=NO_LIMIT if max_depth is None else max_depth,
        penalty=PENALTIES[penalty],
        subset_size=subset_size_of(options.subset_size, P, families),
        newton_steps=newton_steps,
        direction_rows=direction_rows,
        n_thresholds=thresholds_of(options.n_thresholds, families),
        exact_rows=NO_LIMIT if exact else EXACT_ROWS[n_classes > 2],
        indicator_levels=indicator_levels(n_classes),
        surrogates=surrogates,
        # "auto" is the response until it is chosen
        split_scale=SPLIT_SCALES.get(options.split_scale, ON_RESPONSE),
    )
    return ResolvedOptions(
        kind=kind,
        n_trees=options.trees,
        mixture=mixture,
        settings=settings,
        sampling=Sampling(RESAMPLES[options.resample], fraction, options.honest),
        split_search=EXACT if exact else AUTO,
        pruning=options.pruning,
        alpha=alpha,
        max_leaves_rule=max_leaves_rule,
        alpha_rule=alpha_rule,
        sample_fraction_rule=fraction_rule,
        seed=checked_seed(options.seed),
        n_jobs=checked_jobs(options.n_jobs),
        inference=options.inference,
        cause=cause_of_splits(options.cause, criterion, causes, truncated),
        subdistribution=criterion == GRAY,
        leaves=_leaves(options, kind, surrogates),
    )


def _name_of(code: int, codes: Mapping[Any, int]) -> Any:
    return list(codes)[list(codes.values()).index(code)]


def _limit_or_none(limit: int) -> int | None:
    return None if limit == NO_LIMIT else limit


# Options of constant leaves and their splits alone.
OF_CONSTANTS = (
    "projection", "subset_size", "n_projections", "n_singles", "criterion", "split_scale",
    "penalty", "n_thresholds", "split_search",
)  # fmt: skip


def _leaves(options: Options, kind: str, surrogates: bool) -> words.Leaves:
    """Return what leaves predict; raise `InputError` if lines do not go with the data."""
    if options.leaves == "constant":
        return options.leaves
    if kind != "regression":
        raise InputError(
            'leaves="linear" needs a response of numbers: leave it out for classes and times'
        )
    for name in OF_CONSTANTS:
        if name in options.given:
            raise InputError(
                f'{name}={getattr(options, name)!r} is for leaves="constant", and lines have their '
                "own splits: leave out one of the two"
            )
    if options.honest:
        raise InputError(
            'honest=True is for leaves="constant": a line is fitted to the rows that chose its leaf'
        )
    if surrogates:
        raise InputError(
            'missing="surrogate" is for leaves="constant", as a line needs every predictor: use '
            'missing="split"'
        )
    return options.leaves


def subset_size_of(value: words.SubsetSize, P: int, families: Collection[Family]) -> int:
    """Return the size of a random subset of predictors; 0 for random sizes.

    Raises `InputError` if it is out of range, or no family has subsets.
    """
    if is_word(value, RANDOM):
        return 0
    if isinstance(value, str):
        raise InputError(f'subset_size={value!r}: use "random" or a whole number')
    size = checked_whole("subset_size", value, 1)
    if size > P:
        raise InputError(
            f"subset_size={size} is above the number of predictors, {P}, that a tree has: "
            f'use "random" or a whole number from 1 to {P}'
        )
    if not any(family.on_subsets for family in families):
        names = ", ".join(f'"{family.name}"' for family in families)
        raise InputError(
            f"subset_size={size} does not go with projection={names}, whose directions are on no "
            "subsets of predictors: leave it out"
        )
    return size


def thresholds_of(value: words.Thresholds, families: Collection[Family]) -> int:
    """Return how many random thresholds are tried along a direction; 0 for all."""
    if is_word(value, AUTO):
        numbers = {family.n_thresholds for family in families}
        if len(numbers) > 1:
            raise InputError(
                'n_thresholds="auto": the families of projection= differ in how many thresholds '
                'they try: use "all" or a whole number'
            )
        number = numbers.pop()
        return 0 if isinstance(number, str) else number
    if is_word(value, ALL):
        return 0
    if isinstance(value, str):
        raise InputError(f'n_thresholds={value!r}: use "auto", "all" or a whole number')
    return checked_whole("n_thresholds", value, 1, MOST)


def _min_leaf(min_leaf: int, n: int, rows_a_subject: float) -> int:
    units, counted = round(n / rows_a_subject), "rows" if rows_a_subject == 1 else "subjects"
    if min_leaf > units:
        raise InputError(
            f"min_leaf={min_leaf} is above the number of {counted}, {units}: use a smaller number, "
            "such as min_leaf=1; the default is 5 for a tree, 2 for a forest"
        )
    return round(min_leaf * rows_a_subject)


def _fraction(value: words.ShareRule, resample: str, n: int) -> tuple[float, Rule]:
    if is_word(value, AUTO):
        return SUBSAMPLE_FRACTION if resample == "subsample" else 1.0, Rule(FIXED)
    if resample == "none":
        raise InputError(
            'sample_fraction= has no effect with resample="none", where each tree grows on all '
            'rows: leave it out, or use resample="subsample"'
        )
    return row_share(value, n)


# The options of a forest that is grown for standard errors.

# What other options must be, and why.
NEEDED: dict[str, tuple[Any, str]] = {
    "blend": (False, "the shares of the kinds of trees depend on the sample"),
    "resample": ("subsample", "the jackknife is too large for bootstraps"),
    "split_scale": ("response", "another scale depends on the sample"),
}
# The smaller the share, the less the jackknife exceeds the variance, and the fewer trees it needs;
# the forest's bias grows (``benchmarks/inference/effects_coverage.py``).
SHARE = 0.3


def for_inference(options: Options) -> Options:
    """Return the options of a forest whose standard errors are right, if `inference` is True.

    There are then 4,000 trees by default, of one kind, each on 30 % of the rows, drawn without
    replacement, unless `sample_fraction` is given.  Raises `InputError` if another option is given
    that contradicts it.
    """
    if not options.inference:
        return options
    for name, (value, reason) in NEEDED.items():
        if name in options.given and getattr(options, name) != value:
            raise InputError(
                f"{name}={getattr(options, name)!r} with inference=True, which needs "
                f"{name}={value!r}, because {reason}: leave out one of the two"
            )
    share = options.sample_fraction if "sample_fraction" in options.given else SHARE
    return options.giving(
        blend=False, resample="subsample", split_scale="response", sample_fraction=share
    )
