"""The nested subtrees of a tree and their errors on held-out rows, as one table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.errors import InputError
from odrf.pruning.choosing import CHOICES, chosen_row
from odrf.pruning.held_out import HeldOut
from odrf.pruning.subtrees import Subtrees

__all__ = ["SubtreePath", "subtree_path"]


@dataclass(frozen=True, eq=False)
class SubtreePath:
    """The subtrees of a tree that are optimal for some complexity parameter α.

    Attributes
    ----------
    rule : {"weakest_link", "growth"}
        Which subtrees are candidates.
    loss : {"error", "impurity", "log_rank"}
        How the training error is measured.
    by : str
        Which rows were held out, in words; empty if none were.
    critical : (m,) float64
        The critical α of each split of the tree.
    table : DataFrame
        The table of `odrf.reports.pruning_path.PruningPath`.
    """

    rule: str
    loss: str
    by: str
    critical: NDArray[np.float64]
    table: pd.DataFrame

    @property
    def is_evaluated(self) -> bool:
        """Whether the subtrees were evaluated on held-out rows."""
        return "xerror" in self.table

    def row(self, rule: str) -> int:
        """Return the number of the table's row that `rule`, "min" or "1se", chooses.

        Raises
        ------
        InputError
            If `rule` is unknown, or no rows were held out.
        """
        checked_choice("rule", rule, CHOICES)
        if not self.is_evaluated:
            raise InputError(
                f'rule="{rule}" needs errors on held-out rows: make the path with cv=10 or newdata='
            )
        return chosen_row(self.table, rule, "xerror", "xstd")

    def alpha(self, rule: str) -> float:
        """Return the smallest α that leads to the subtree chosen by `rule`."""
        return float(self.table["alpha"].iloc[self.row(rule)])


def subtree_path(
    subtrees: Subtrees, rule: str, loss: str, unit: float, held_out: HeldOut | None, by: str
) -> SubtreePath:
    """Return the path of the `subtrees`; errors on held-out rows are divided by `unit`."""
    root = subtrees.error[-1]
    table = pd.DataFrame(
        {
            "alpha": subtrees.alpha,
            "leaves": subtrees.leaves,
            "error": subtrees.error,
            "relative_error": subtrees.error / root if root > 0 else 0.0,
        }
    )
    if held_out is not None:
        unit = unit if unit > 0 else 1.0
        table["xerror"] = held_out.mean / unit
        table["xstd"] = held_out.standard_error / unit
    return SubtreePath(rule, loss, by, subtrees.critical, table)
