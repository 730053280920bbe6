"""The options of a call of `odt` or `odrf`, before they are resolved for the data at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from odrf.checks import is_whole, is_word
from odrf.options.sizes import RuleFunction
from odrf.pruning.complexity import WEAKEST_LINK


@dataclass(frozen=True)
class Options:
    """The arguments of a call of `odrf.odrf` that concern growth, as the user gave them.

    A tree of `odrf.odt` has ``n_trees=1`` and ``resample="none"``.  `given` are the names of the
    arguments that were not at their defaults; `functions` are the functions of n among the
    arguments, by name.
    """

    n_trees: Any
    blend: Any
    projection: Any
    subset_size: Any
    n_projections: Any
    n_singles: Any
    max_leaves: Any
    alpha: Any
    pruning: Any
    min_leaf: Any
    max_depth: Any
    criterion: Any
    penalty: Any
    n_thresholds: Any
    split_search: Any
    resample: Any
    sample_fraction: Any
    honest: Any
    seed: Any
    n_jobs: Any
    inference: Any = False
    objective: Any = "error"
    split_scale: Any = "response"
    cause: Any = None
    given: frozenset[str] = frozenset()
    functions: dict[str, RuleFunction] = field(default_factory=dict)

    @property
    def is_single_tree(self) -> bool:
        """Whether it is one tree, on all rows."""
        one = is_whole(self.n_trees) and self.n_trees == 1
        return bool(one and is_word(self.resample, "none"))

    def options(self) -> dict[str, Any]:
        """Return the arguments by their names."""
        return {name: getattr(self, name) for name in NAMES}

    def giving(self, **changes: Any) -> Options:
        """Return the options with these arguments, which then count as given by the user."""
        return replace(self, given=self.given | set(changes), **changes)


NAMES = tuple(
    option.name for option in fields(Options) if option.name not in ("given", "functions")
)
"""The names of the arguments."""


def given_options(options: Mapping[str, Any], given: frozenset[str] = frozenset()) -> Options:
    """Return the options of a call; arguments in `options` that do not concern growth are left out.

    `given` names those that were not at their defaults.
    """
    known = {name: options[name] for name in NAMES if name in options}
    return Options(**known, given=given)


def inner_options(
    *, n_trees: int, resample: str, min_leaf: int, seed: int, n_jobs: int, sample_fraction: Any
) -> Options:
    """Return the options of trees that are grown within another method, of unpruned oblique trees.

    All other options are as by default, but that there is no blend.
    """
    return Options(
        n_trees=n_trees,
        blend=False,
        projection="logistic",
        subset_size="random",
        n_projections="auto",
        n_singles="auto",
        max_leaves=None,
        alpha=None,
        pruning=WEAKEST_LINK,
        min_leaf=min_leaf,
        max_depth=None,
        criterion="auto",
        penalty=None,
        n_thresholds="auto",
        split_search="auto",
        resample=resample,
        sample_fraction=sample_fraction,
        honest=False,
        seed=seed,
        n_jobs=n_jobs,
    )
