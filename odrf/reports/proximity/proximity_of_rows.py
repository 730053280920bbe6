"""Proximities of rows to training rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import scipy

from odrf.checks import checked_whole
from odrf.engine.memory import require_memory
from odrf.errors import InputError
from odrf.public import public
from odrf.text.summary import Card, Carded, Summary

__all__ = ["Proximity"]

WORDS = {
    "plain": "share of the trees in which two rows are in one leaf",
    "oob": "share of the trees that drew neither of two rows in which they are in one leaf",
    "weights": "weight of a training row in the prediction of a row",
}


@public
class Proximity(Carded):
    """Proximities of rows to the training rows of a fit, as a sparse matrix.

    Returned by `proximity` of the results.

    Parameters
    ----------
    call : str
        The call that made the fit.
    type : {"plain", "oob", "weights"}
        What the entries are.
    matrix : scipy.sparse.csr_array (m, n)
        The proximities.
    rows, columns : Index
        The labels of the m rows, and of the n training rows.

    Attributes
    ----------
    type, matrix, rows, columns

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> proximity = forest.proximity(type="weights")
    >>> len(proximity.nearest(0, k=3))
    3
    """

    def __init__(
        self,
        call: str,
        type: str,
        matrix: scipy.sparse.csr_array,
        rows: pd.Index,
        columns: pd.Index,
    ) -> None:
        self.call, self.type, self.matrix = call, type, matrix
        self.rows, self.columns = rows, columns

    def to_frame(self) -> pd.DataFrame:
        """Return the proximities as a dense data frame (m, n), which takes 8·m·n bytes.

        Returns
        -------
        DataFrame
            Rows and columns have the labels of the rows.

        Raises
        ------
        MemoryError
            If there is less memory.
        """
        m, n = self.matrix.shape
        require_memory(
            8.0 * m * n,
            f"a data frame of {m} rows and {n} columns",
            "use the attribute matrix, which is sparse",
        )
        return pd.DataFrame(self.matrix.toarray(), index=self.rows, columns=self.columns)

    def nearest(self, row: int, k: int = 5) -> pd.Series:
        """Return the k training rows with the largest proximities to a row.

        Parameters
        ----------
        row : int
            The place of the row, from 0.
        k : int, default 5
            How many; fewer if fewer have a proximity above 0.  Of the training rows, without
            `newdata`, the row itself is left out.

        Returns
        -------
        Series
            The proximities, the largest first, with the labels of the training rows.

        Raises
        ------
        InputError
            If there is no such row, or `k` is no number above 0.
        """
        k, m = checked_whole("k", k, 1), self.matrix.shape[0]
        if not 0 <= checked_whole("row", row, 0) < m:
            raise InputError(f"row={row} is none of the {m} rows: they are counted from 0")
        own = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
        at, value = self.matrix.indices[own], self.matrix.data[own]
        if self.rows is self.columns:
            at, value = at[at != row], value[at != row]
        best = np.lexsort((at, -value))[:k]
        index = self.columns[at[best]]
        return pd.Series(value[best], index=index, name="proximity")

    def summary(self) -> Summary:
        """Return the figures as a summary with text, HTML and LaTeX output."""
        note = f"An entry is the {WORDS[self.type]}."
        return Summary("Proximities", self.call, self._facts(), notes=(note,))

    def _facts(self) -> dict[str, str]:
        m, n = self.matrix.shape
        return {
            "Rows": str(m),
            "Training rows": str(n),
            "Type": self.type,
            "Above 0": f"{self.matrix.nnz / max(m * n, 1):.1%} of the pairs",
        }

    def _card(self) -> Card:
        return Card("Proximities", self._facts())
