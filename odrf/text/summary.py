"""Summaries and short descriptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.options.sizes import CV, FIXED, FUNCTION, NONE, ONE_SE, OOB, RATE, Rule
from odrf.pruning.growth_stages import IN_WORDS
from odrf.public import public
from odrf.text import layouts
from odrf.text.splits import number

MOST_LINES = 12
# Lines of a table's headers, and of what is said of the rows left out.
AROUND = 2
# Rows that a table shows at least, where facts leave no room for more.
LEAST_ROWS = 3


def evenly_spread(n: int, most: int) -> NDArray[np.int64]:
    """Return at most so many of the places of n rows, evenly from the first to the last."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.int64))


@dataclass(frozen=True)
class Card:
    """A title, facts, and rows of a table: as text at most 12 lines of 100 characters.

    The last facts are left out if there are more than fit.  Of a `table` that is too long, the
    first rows are shown; with rows `kept`, these, and others spread over the table from its first
    row to its last.

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
        return layouts.card_as_text(self.title, self._fact_lines, self._shown, self._left_out)

    def as_html(self) -> str:
        """Return the card as HTML."""
        return layouts.card_as_html(self.title, self.facts, self._shown, self._left_out)

    def __str__(self) -> str:
        return self.as_text()

    @cached_property
    def _fact_lines(self) -> list[str]:
        room = MOST_LINES - 1 - (0 if self.table is None else AROUND + LEAST_ROWS)
        return layouts.card_facts(self.facts)[:room]

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
        spread = evenly_spread(len(self.table), count - len(kept))
        return self.table.iloc[sorted(kept | set(spread.tolist()))]

    @property
    def _left_out(self) -> int:
        return (
            0 if self.table is None or self._shown is None else len(self.table) - len(self._shown)
        )


class HasCard(Protocol):
    """What shows itself as a card."""

    def _shown_card(self) -> Card: ...


def card_as_text(shown: HasCard) -> str:
    """Return the short description as text: ``__repr__`` of results and reports."""
    return shown._shown_card().as_text()


def card_as_html(shown: HasCard) -> str:
    """Return the short description as HTML, for notebooks: their ``_repr_html_``."""
    return shown._shown_card().as_html()


# The class of all summaries: facts and tables as text, HTML and LaTeX.


@dataclass(frozen=True)
class Summary:
    """Summary of a fit: named facts and tables; ``print(summary)`` shows it as text.

    Notebooks show it as HTML.  The data frames are in `tables`.

    Parameters
    ----------
    title : str
    call : str
        The call that made the fit.
    facts : dict of str to str
        Named facts, as text shown in two columns, or in one if two would be too wide.
    sections : dict of str to DataFrame, optional
        Tables by their headings; by default none.
    notes : tuple of str, optional
        Sentences below the tables; by default none.

    Examples
    --------
    >>> summary = Summary("Tree", "odt('y ~ x', data)", {"Rows": "20", "Leaves": "3"})
    >>> print(summary)
                                          Tree
    ================================================================================
    Call     odt('y ~ x', data)
    --------------------------------------------------------------------------------
    Rows  20                                 Leaves  3
    ================================================================================
    """

    title: str
    call: str
    facts: dict[str, str]
    sections: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def _parts(self) -> tuple[str, str, dict[str, str], dict[str, pd.DataFrame], tuple[str, ...]]:
        return self.title, self.call, self.facts, self.sections, self.notes

    @property
    def tables(self) -> list[pd.DataFrame]:
        """The facts (one column ``value``) and each section's table, as data frames."""
        facts = pd.Series(self.facts, name="value", dtype=object).to_frame()
        return [facts, *(table.copy() for table in self.sections.values())]

    def as_text(self) -> str:
        """Return the summary as plain text, 80 to 100 characters wide."""
        return layouts.summary_as_text(*self._parts)

    def as_html(self) -> str:
        """Return the summary as HTML: facts and tables, with the style that notebooks show."""
        return layouts.summary_as_html(*self._parts)

    def as_latex(self) -> str:
        """Return the summary as one LaTeX table environment, for pdflatex with booktabs."""
        return layouts.summary_as_latex(*self._parts)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def _repr_latex_(self) -> str:
        return self.as_latex()


# What all reports have: a summary and a short description, made of the same parts.


@public
class Report(ABC):
    """Base class of reports: named facts, tables and notes under a title."""

    __repr__ = card_as_text
    _repr_html_ = card_as_html

    def summary(self) -> Summary:
        """Return the tables as a summary with text, HTML and LaTeX output."""
        made_from: Any = getattr(self, "fit", self)
        return Summary(self._title, made_from.call, self._facts(), self._sections(), self._notes())

    @property
    @abstractmethod
    def _title(self) -> str:
        """The title."""

    def _facts(self) -> dict[str, str]:
        return {}

    def _sections(self) -> dict[str, pd.DataFrame]:
        """Return the tables by their headings."""
        return {}

    _note: str = ""

    def _notes(self) -> tuple[str, ...]:
        return (self._note,) if self._note else ()

    def _card(self) -> Card:
        return Card(self._title, self._facts())

    def _shown_card(self) -> Card:
        return self._card()


class TableReport(Report):
    """Base class of reports of one table."""

    table: pd.DataFrame
    _heading: str = ""

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {self._heading: self.table}

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.table)


BEST = {CV: "smallest error", ONE_SE: "1-SE rule", OOB: "smallest out-of-bag error"}


def rule_in_words(rule: Rule, n: int) -> str:
    """Return how a value for n rows was determined, as text; empty without a rule.

    Examples
    --------
    >>> rule_in_words(Rule("function", "root"), 100)
    'rule root at n = 100'
    >>> rule_in_words(Rule("rate", "sqrt").found("10-fold cross-validation", 0.5), 100)
    '0.5·sqrt(n), constant by 10-fold cross-validation'
    """
    if rule.kind == NONE:
        return ""
    if rule.kind == FIXED:
        return FIXED
    if rule.kind == FUNCTION:
        return f"rule {rule.name} at n = {n}" if rule.name else f"rule at n = {n}"
    if rule.kind == RATE and rule.constant is None:
        return IN_WORDS[rule.name]
    when = ", before update()" if rule.earlier else ""
    if rule.kind == RATE:
        by = rule.found_by if rule.found_by == "out of bag" else f"by {rule.found_by}"
        return f"{number(rule.constant or 0.0, 3)}·{IN_WORDS[rule.name]}, constant {by}{when}"
    by = "" if rule.kind == OOB else f", {rule.found_by}"
    return BEST[rule.kind] + by + when
