"""Tables of errors on held-out or out-of-bag rows by size, from which a size is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from odrf.checks import is_whole
from odrf.errors import InputError
from odrf.pruning.complexity import ONE_SE, chosen_row
from odrf.public import public
from odrf.text.summary import Carded

__all__ = ["CHOICES_IN_WORDS", "RULES_IN_WORDS", "ErrorTable", "shown_rows"]

SHOWN = 25
CHOICES_IN_WORDS = {"min": "Smallest error", "1se": "1-SE rule"}
RULES_IN_WORDS = {"weakest_link": "weakest link", "growth": "growth order"}


@public
class ErrorTable(Carded):
    """Base class of pruning paths, growth paths and selections of predictors.

    Attributes
    ----------
    table : DataFrame
        One row for each size: of a tree, of a forest's trees, or of a set of predictors.
    """

    table: pd.DataFrame

    def row(self, rule: str = ONE_SE) -> int:
        """Return the number of the row of `table` that the rule chooses.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            - ``"min"``: the smallest error on rows held out, or out of bag; of ties the smallest
              size.
            - ``"1se"``: the smallest size with an error at most one standard error above the
              smallest error (Breiman et al. 1984, section 3.4.3).  If one row judges, or one group,
              no standard error is known, and the smallest error decides.

        Returns
        -------
        int

        Raises
        ------
        InputError
            If `rule` is unknown, or no rows were held out.
        """
        return self._chosen_row(rule)

    def _chosen_row(self, rule: str) -> int:
        """Return the row that the rule chooses by ``error``, the largest size first."""
        return chosen_row(self.table, rule)

    def _alpha(self, k: Any) -> float:
        """Return the α in row `k`; raise `InputError` if there is no such row."""
        if not is_whole(k) or not 0 <= k < len(self.table):
            raise InputError(f"k={k!r} is not a row of the table: use 0 to {len(self.table) - 1}")
        return float(self.table["alpha"].iloc[k])


def shown_rows(table: pd.DataFrame, kept: list[int]) -> pd.DataFrame:
    """Return about `SHOWN` rows of a table, in a geometric sequence, and those labelled `kept`.

    The table goes from the smallest size to the largest, so that more small sizes are shown.
    """
    if len(table) <= SHOWN:
        return table
    positions = np.geomspace(1, len(table), SHOWN).round().astype(int) - 1
    return table[table.index.isin(table.index[positions].append(pd.Index(kept)))]
