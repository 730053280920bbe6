"""A table of sizes with their errors on rows held out or out of bag, one of which is chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from odrf.errors import InputError
from odrf.pruning.choosing import MINIMUM, chosen_row

__all__ = ["CHOICES_IN_WORDS", "RULES_IN_WORDS", "ErrorTable", "some_rows"]

SHOWN = 25
CHOICES_IN_WORDS = {"min": "Smallest error", "1se": "1-SE rule"}
RULES_IN_WORDS = {"weakest_link": "weakest link", "growth": "growth order"}


class ErrorTable:
    """The part that paths of pruning and selections of predictors share.

    Attributes
    ----------
    table : DataFrame
        One row for each size, the largest first, with columns ``error`` and ``std_error``.
    """

    table: pd.DataFrame

    def row(self, rule: str = MINIMUM) -> int:
        """Return the row of the table that `rule` chooses.

        Parameters
        ----------
        rule : {"min", "1se"}, default "min"
            - ``"min"``: the smallest error, the smallest size if tied.
            - ``"1se"``: the smallest size whose error is at most one standard error above that
              (Breiman et al. 1984, section 3.4.3).

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return chosen_row(self.table, rule)

    def _alpha(self, k: Any) -> float:
        """Return the α in row `k`; raise `InputError` where there is no such row."""
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(self.table):
            raise InputError(f"k={k!r} is no row of the table: use 0 to {len(self.table) - 1}")
        return float(self.table["alpha"].iloc[k])


def some_rows(table: pd.DataFrame, kept: list[int]) -> pd.DataFrame:
    """Return about `SHOWN` rows at most: those labelled `kept` and, of the others, more above.

    The table goes from the smallest tree to the largest.
    """
    if len(table) <= SHOWN:
        return table
    spread = np.geomspace(1, len(table), SHOWN).round().astype(int) - 1
    return table[table.index.isin(table.index[spread].append(pd.Index(kept)))]
