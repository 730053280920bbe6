"""Short descriptions: what the prompt and notebooks show of a result or report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd

from odrf import text

__all__ = ["Card", "Carded"]

MOST_LINES = 12
# Lines of a table's headers, and of what is said of the rows left out.
AROUND = 2
# Rows that a table shows at least, where facts leave no room for more.
LEAST_ROWS = 3


@dataclass(frozen=True)
class Card:
    """A title, facts, and rows of a table: as text at most 12 lines of 100 characters.

    Parameters
    ----------
    title : str
    facts : dict of str to str
        Named facts; the last ones are left out if there are more than fit.
    table : DataFrame, optional
        Of a table that is too long, the first rows are shown.
    kept : tuple of int, optional
        Rows of `table` that are shown in any case; the others are then spread over the table,
        from its first row to its last.

    Examples
    --------
    >>> print(Card("Path", {"Trees": "3"}, pd.DataFrame({"leaves": range(20, 0, -1)}), (17,)))
    Path
      Trees  3
         leaves
    0        20
    3        17
    6        14
    10       10
    13        7
    16        4
    17        3
    19        1
    … 12 more rows: see table
    """

    title: str
    facts: dict[str, str] = field(default_factory=dict)
    table: pd.DataFrame | None = None
    kept: tuple[int, ...] | None = None

    def as_text(self) -> str:
        """Return the card as text of at most 12 lines."""
        return text.card_as_text(self.title, self._fact_lines, self._shown, self._left_out)

    def as_html(self) -> str:
        """Return the card as HTML."""
        return text.card_as_html(self.title, self.facts, self._shown, self._left_out)

    def __str__(self) -> str:
        return self.as_text()

    @cached_property
    def _fact_lines(self) -> list[str]:
        room = MOST_LINES - 1 - (0 if self.table is None else AROUND + LEAST_ROWS)
        return text.card_facts(self.facts)[:room]

    @cached_property
    def _shown(self) -> pd.DataFrame | None:
        """The rows of the table that there is room for."""
        return self._rows(MOST_LINES - 1 - AROUND - len(self._fact_lines))

    def _rows(self, count: int) -> pd.DataFrame | None:
        if self.table is None or len(self.table) <= count:
            return self.table
        if self.kept is None:
            return self.table.head(count)
        kept = set(self.kept[: count - 2])
        spread = np.linspace(0, len(self.table) - 1, count - len(kept)).round().astype(int)
        return self.table.iloc[sorted(kept | set(spread.tolist()))]

    @property
    def _left_out(self) -> int:
        return (
            0 if self.table is None or self._shown is None else len(self.table) - len(self._shown)
        )


class Carded(ABC):
    """Base class of what shows itself as a card."""

    @abstractmethod
    def _card(self) -> Card:
        """Return the short description."""

    def _shown_card(self) -> Card:
        """Return the card to show; a shorter one where the whole one cannot be made."""
        return self._card()

    def __repr__(self) -> str:
        return self._shown_card().as_text()

    def _repr_html_(self) -> str:
        return self._shown_card().as_html()
