"""The options of a call as the user gave them: words, what concerns the data, and growth of trees.

The defaults are those of `odrf.odrf`.  Checks that need no data are in ``checked()``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, get_args

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
from odrf.options import words
from odrf.options.sizes import RuleFunction


@dataclass(frozen=True)
class DataOptions:
    """The arguments of all functions that concern rows and columns; each is checked where used."""

    weights: words.OfRows = None
    class_weights: words.ClassWeights = None
    groups: words.OfRows = None
    order: words.OfRows = None
    strata: words.OfRows = None
    missing: words.Missing = "split"
    unseen: words.Unseen = "missing"
    kind: words.Kind = "auto"


# Trees of a forest by default, and of one for standard errors: with 4,000 no interval of a single
# row, out of bag too, needs more in tables of about 1,000 rows; averages need 500.
TREES, TREES_FOR_INFERENCE = 500, 4000


def trees_by_default(inference: bool) -> int:
    """Return how many trees a forest has by default."""
    return TREES_FOR_INFERENCE if inference else TREES


@dataclass(frozen=True)
class Options:
    """The arguments of `odrf.odrf` that concern growth, as the user gave them.

    A tree of `odrf.odt` has ``n_trees=1`` and ``resample="none"``.  After `checked`, `n_trees` is a
    number.  `given` are the names of the arguments that were not at their defaults; `functions` are
    the functions of n among the arguments, by name.
    """

    n_trees: int | None = None
    blend: words.Switch = "auto"
    projection: words.Projection = "logistic"
    subset_size: words.SubsetSize = "random"
    n_projections: words.Number = "auto"
    n_singles: words.Number = "auto"
    max_leaves: words.LeafRule = None
    alpha: words.AlphaRule = None
    pruning: words.Pruning = "weakest_link"
    min_leaf: int = 2
    max_depth: int | None = None
    criterion: words.Criterion = "auto"
    penalty: words.Penalty = None
    n_thresholds: words.Thresholds = "auto"
    split_search: words.SplitSearch = "auto"
    resample: words.Resample = "auto"
    sample_fraction: words.ShareRule = "auto"
    honest: bool = False
    seed: Seed = None
    n_jobs: int | None = None
    inference: bool = False
    objective: words.Objective = "error"
    split_scale: words.SplitScale = "response"
    cause: str | None = None
    given: frozenset[str] = frozenset()
    functions: dict[str, RuleFunction] = field(default_factory=dict)

    @property
    def is_single_tree(self) -> bool:
        """Whether it is one tree, on all rows."""
        return self.n_trees == 1 and is_word(self.resample, "none")

    @property
    def trees(self) -> int:
        """The number of trees: `n_trees`, or as many as there are by default."""
        return trees_by_default(self.inference) if self.n_trees is None else self.n_trees

    def checked(self) -> Options:
        """Return the options after the checks that need no data; `resolve` has the others.

        Raises `InputError`, which names the option and says what to use, if one is invalid.
        """
        depth = self.max_depth
        return replace(
            self,
            n_trees=checked_whole("n_trees", self.trees, 1, MOST),
            blend=checked_switch("blend", self.blend),
            objective=checked_choice("objective", self.objective, get_args(words.Objective)),
            split_scale=checked_choice("split_scale", self.split_scale, get_args(words.SplitScale)),
            pruning=checked_choice("pruning", self.pruning, get_args(words.Pruning)),
            min_leaf=checked_whole("min_leaf", self.min_leaf, 1),
            max_depth=None if depth is None else checked_whole("max_depth", depth, 0),
            penalty=checked_choice("penalty", self.penalty, (None, "aic", "bic")),
            split_search=checked_choice("split_search", self.split_search, (AUTO, "exact")),
            resample=checked_choice("resample", self.resample, get_args(words.Resample)),
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
