"""Proximities of rows to training rows, and their map."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import scipy

from odrf import plots
from odrf.checks import checked_whole
from odrf.engine.memory import require_memory
from odrf.errors import InputError
from odrf.fits.fit import AnyFit
from odrf.fits.proximity import indicators_of
from odrf.public import public
from odrf.statistics.proximity import scaled_to_plane
from odrf.text.names import free_name
from odrf.text.summary import Report, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WORDS = {
    "plain": "share of the trees in which two rows are in one leaf",
    "oob": "share of the trees that sampled neither of two rows in which they are in one leaf",
    "weights": "weight of a training row in the prediction of a row",
}


@public
class Proximity(Report):
    """Proximities of rows to the training rows of a fit, as a sparse matrix.

    Returned by `proximity` of the results.

    Attributes
    ----------
    type : {"plain", "oob", "weights"}
        What the entries are.
    matrix : scipy.sparse.csr_array (m, n)
        The proximities.
    rows, columns : Index
        The labels of the m rows, and of the n training rows.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> proximity = forest.proximity(type="weights")
    >>> len(proximity.nearest(0, k=3))
    3
    """

    _title = "Proximities"

    def __init__(
        self, call: str, type: str, matrix: scipy.sparse.csr_array, rows: pd.Index,
        columns: pd.Index,
    ) -> None:  # fmt: skip
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

    def _facts(self) -> dict[str, str]:
        m, n = self.matrix.shape
        return {
            "Rows": str(m),
            "Training rows": str(n),
            "Type": self.type,
            "Above 0": f"{self.matrix.nnz / max(m * n, 1):.1%} of the pairs",
        }

    def _notes(self) -> tuple[str, ...]:
        return (f"An entry is the {WORDS[self.type]}.",)


@public
class RowMap(TableReport):
    """Training rows in the plane, by classical scaling of their proximities.

    Returned by `map` of the results.  The squared distance of two rows is 1 minus the share of the
    trees in which they share a leaf.

    Attributes
    ----------
    table : DataFrame
        One row for each training row: ``first`` and ``second``, the coordinates; and the response,
        with an underscore if it is called like one of them.
    explained : tuple of float
        The shares of the squared distances that the two coordinates explain.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> list(forest.map().table.columns)
    ['first', 'second', 'species']
    """

    _title = "Map of the training rows"
    _note = "Rows are near each other if they share leaves in many trees."

    def __init__(self, fit: AnyFit) -> None:
        self.call = fit.call
        plane = scaled_to_plane(
            indicators_of(fit, fit.data.X), fit.forest.n_trees, fit.control.seed
        )
        self.explained = (float(plane.share[0]), float(plane.share[1]))
        response = fit.design.response
        self._response = free_name(response.name, ("first", "second"))
        y = fit.data.y
        values = y if response.classes is None else response.classes[y.astype(int)]
        self.table = pd.DataFrame(
            {"first": plane.at[:, 0], "second": plane.at[:, 1], self._response: values},
            index=fit.data.index,
        )
        self._classes = response.classes

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the rows, coloured by the response."""
        classes = None if self._classes is None else list(self._classes)
        return plots.proximity.plot_row_map(self.table, self._response, classes, self.explained, ax)

    def _facts(self) -> dict[str, str]:
        first, second = self.explained
        return {"Rows": str(len(self.table)), "Explained": f"{first:.0%} and {second:.0%}"}

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {}
