"""The options of a call as the user gave them: words, what concerns the data, and growth of trees.

The defaults are those of `odrf.odrf`.  Checks that need no data are in ``checked()``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from numpy.typing import ArrayLike

from odrf.checks import (
    AUTO,
    MOST,
    Seed,
    checked_choice,
    checked_switch,
    checked_truth,
    checked_whole,
    is_word,
)
from odrf.options.sizes import RuleFunction
from odrf.projections.base import Family

# Options that are words.
Auto = Literal["auto"]
Objective = Literal["error", "brier", "log_loss"]
Pruning = Literal["weakest_link", "growth"]
Criterion = Literal[
    "auto", "squared_error", "gini", "entropy", "ordinal", "log_rank", "gray", "exponential"
]
SplitScale = Literal["auto", "response", "log", "box_cox", "normal", "ranks"]
Penalty = Literal["aic", "bic"] | None
SplitSearch = Literal["auto", "exact"]
Resample = Literal["auto", "none", "bootstrap", "subsample"]
Missing = Literal["split", "surrogate", "median", "drop", "raise"]
Unseen = Literal["missing", "raise"]
Kind = Literal["auto", "regression", "classification"]
BackendName = Literal["auto", "threads", "dask", "joblib"]

# Options that are numbers, words, or functions of n.
Switch = bool | Auto
Number = int | Auto
SubsetSize = int | Literal["random"]
Thresholds = int | Literal["auto", "all"]
FunctionOfRows = Callable[[int], float]
LeafRule = int | Literal["sqrt", "n/log5"] | FunctionOfRows | None
AlphaRule = (
    float | Literal["auto", "cv", "1se", "oob", "log6/n", "1/sqrt(n)"] | FunctionOfRows | None
)
ShareRule = float | Auto | FunctionOfRows
Projection = str | Family | Callable[..., Any] | Mapping[str | Family, float]

# Options that concern the data.
OfRows = str | ArrayLike | None
ClassWeights = Literal["balanced"] | Mapping[Any, float] | None


@dataclass(frozen=True)
class DataOptions:
    """The arguments of all functions that concern rows and columns; each is checked where used."""

    weights: OfRows = None
    class_weights: ClassWeights = None
    groups: OfRows = None
    order: OfRows = None
    strata: OfRows = None
    missing: Missing = "split"
    unseen: Unseen = "missing"
    kind: Kind = "auto"


@dataclass(frozen=True)
class Options:
    """The arguments of `odrf.odrf` that concern growth, as the user gave them.

    A tree of `odrf.odt` has ``n_trees=1`` and ``resample="none"``.  `given` are the names of the
    arguments that were not at their defaults; `functions` are the functions of n among the
    arguments, by name.
    """

    n_trees: int = 500
    blend: Switch = "auto"
    projection: Projection = "logistic"
    subset_size: SubsetSize = "random"
    n_projections: Number = "auto"
    n_singles: Number = "auto"
    max_leaves: LeafRule = None
    alpha: AlphaRule = None
    pruning: Pruning = "weakest_link"
    min_leaf: int = 2
    max_depth: int | None = None
    criterion: Criterion = "auto"
    penalty: Penalty = None
    n_thresholds: Thresholds = "auto"
    split_search: SplitSearch = "auto"
    resample: Resample = "auto"
    sample_fraction: ShareRule = "auto"
    honest: bool = False
    seed: Seed = None
    n_jobs: int | None = None
    inference: bool = False
    objective: Objective = "error"
    split_scale: SplitScale = "response"
    cause: str | None = None
    given: frozenset[str] = frozenset()
    functions: dict[str, RuleFunction] = field(default_factory=dict)

    @property
    def is_single_tree(self) -> bool:
        """Whether it is one tree, on all rows."""
        return self.n_trees == 1 and is_word(self.resample, "none")

    def checked(self) -> Options:
        """Return the options after the checks that need no data; `resolve` has the others.

        Raises `InputError`, which names the option and says what to use, if one is invalid.
        """
        depth = self.max_depth
        return replace(
            self,
            n_trees=checked_whole("n_trees", self.n_trees, 1, MOST),
            blend=checked_switch("blend", self.blend),
            objective=checked_choice("objective", self.objective, get_args(Objective)),
            split_scale=checked_choice("split_scale", self.split_scale, get_args(SplitScale)),
            pruning=checked_choice("pruning", self.pruning, get_args(Pruning)),
            min_leaf=checked_whole("min_leaf", self.min_leaf, 1),
            max_depth=None if depth is None else checked_whole("max_depth", depth, 0),
            penalty=checked_choice("penalty", self.penalty, (None, "aic", "bic")),
            split_search=checked_choice("split_search", self.split_search, (AUTO, "exact")),
            resample=checked_choice("resample", self.resample, get_args(Resample)),
            honest=checked_truth("honest", self.honest),
            inference=checked_truth("inference", self.inference),
        )

    def giving(self, **changes: Any) -> Options:
        """Return the options with these arguments, which then count as given by the user."""
        return replace(self, given=self.given | set(changes), **changes)


NAMES = tuple(
    option.name for option in fields(Options) if option.name not in ("given", "functions")
)
"""The names of the arguments."""
