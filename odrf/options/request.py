"""What a call of `odt` or `odrf` asked of growth, before it is resolved for the data at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from odrf.options.rule_function import RuleFunction

__all__ = ["Request", "request_of"]


@dataclass(frozen=True)
class Request:
    """The arguments of `odrf.odrf` that concern growth, as they were given.

    Attributes
    ----------
    n_trees, blend, projection, … : Any
        See `odrf.odrf`.  A tree of `odrf.odt` has ``n_trees=1`` and ``resample="none"``.
    given : frozenset of str
        Which of them were not at their defaults.
    functions : dict
        The functions of n among them, by the names of their options.
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
    given: frozenset[str] = frozenset()
    functions: dict[str, RuleFunction] = field(default_factory=dict)

    @property
    def is_single_tree(self) -> bool:
        """Whether one tree is asked for, on all rows."""
        return bool(self.n_trees == 1 and self.resample == "none")

    def options(self) -> dict[str, Any]:
        """Return the arguments by their names."""
        return {name: getattr(self, name) for name in NAMES}

    def giving(self, **changes: Any) -> Request:
        """Return the request with these arguments given too."""
        return replace(self, given=self.given | set(changes), **changes)


NAMES = tuple(
    option.name for option in fields(Request) if option.name not in ("given", "functions")
)


def request_of(options: Mapping[str, Any], given: frozenset[str] = frozenset()) -> Request:
    """Return the request of a call with these arguments, others than those of growth left out."""
    return Request(**{name: options[name] for name in NAMES}, given=given)
