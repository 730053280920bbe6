"""The class of all summaries: facts and tables as text, HTML and LaTeX."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from odrf import text
from odrf.text.contents import Contents

__all__ = ["Summary"]


@dataclass(frozen=True)
class Summary(Contents):
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

    @property
    def tables(self) -> list[pd.DataFrame]:
        """The facts (one column ``value``) and each section's table, as data frames."""
        facts = pd.Series(self.facts, name="value", dtype=object).to_frame()
        return [facts, *(table.copy() for table in self.sections.values())]

    def as_text(self) -> str:
        """Return the summary as plain text, 80 to 100 characters wide."""
        return text.summary_as_text(self)

    def as_html(self) -> str:
        """Return the summary as HTML: facts and tables, with the style that notebooks show."""
        return text.summary_as_html(self)

    def as_latex(self) -> str:
        """Return the summary as one LaTeX table environment.

        It compiles with pdflatex and the package booktabs.  Characters that pdflatex lacks are
        written by their number, such as U+4E2D.
        """
        return text.summary_as_latex(self)

    def __str__(self) -> str:
        return self.as_text()

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self.as_html()

    def _repr_latex_(self) -> str:
        return self.as_latex()
