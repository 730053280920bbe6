"""Proximity of rows, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from odrf import fits, reports
from odrf.checks import checked_whole
from odrf.design.new_rows import training_frame
from odrf.errors import InputError
from odrf.fits.responses import leaves_rows_out
from odrf.public import public_method
from odrf.results.base import FittedResults

if TYPE_CHECKING:
    from odrf.reports.proximity import Proximity, RowMap

FEWEST_ROWS = 4


@public_method
def proximity(
    self: FittedResults, newdata: pd.DataFrame | None = None, *, type: str = "plain"
) -> Proximity:
    """Return how near rows are to the training rows, by the leaves that they share.

    Parameters
    ----------
    newdata : DataFrame, optional
        The rows.  By default the training rows.
    type : {"plain", "oob", "weights"}, default "plain"
        - ``"plain"``: the share of the trees in which two rows are in one leaf.
        - ``"oob"``: the same among the trees that sampled neither of two training rows.
        - ``"weights"``: the weights with which the prediction is the mean of the training
          responses: they add up to 1 for each row.  Training rows are predicted out of bag, as by
          `predict`.

    Returns
    -------
    Proximity
        With the sparse `matrix` (m, n).

    Raises
    ------
    InputError
        If the type is unknown or the fit has no such proximities; of ``"plain"`` and ``"oob"``, if
        more than 2^28 pairs of rows may share a leaf, which would take gigabytes.
    MemoryError
        If the proximities take more memory than there is.

    Notes
    -----
    Memory is 12 bytes for each pair of rows that share a leaf of some tree.  Trees with small
    leaves have few of them.

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45, 5-32.

    J. S. Rhodes, A. Cutler and K. R. Moon (2023). Geometry- and accuracy-preserving random forest
    proximities. IEEE TPAMI 45, 10947-10959.

    Examples
    --------
    >>> import numpy as np
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ .", data, n_trees=20, seed=1)
    >>> weights = forest.proximity(data, type="weights").matrix
    >>> bool(np.allclose(weights @ data["progression"], forest.predict(data)))
    True
    """
    if newdata is None:
        X, rows = None, self.fit.data.index
    else:
        X, complete = self.fit.design.matrix(newdata)
        rows = newdata.index[complete]
    matrix = fits.proximity.proximities(self.fit, X, type)
    return reports.proximity.Proximity(self.call, type, matrix, rows, self.fit.data.index)


def prototypes(self: FittedResults, k: int = 3) -> pd.DataFrame:
    """Return training rows that stand for the others: of classes, k rows of each.

    Each is the row that adds most to the sum, over the rows of its class and with their weights, of
    the largest proximity to a prototype.

    Parameters
    ----------
    k : int, default 3
        How many; for classes, how many of each.

    Returns
    -------
    DataFrame
        The prototypes with their labels: the response; ``rows``, how many training rows are nearer
        to it than to the other prototypes; and the variables.  A column of the data that is called
        ``rows`` gets an underscore.

    Raises
    ------
    InputError
        If `k` is no number above 0; as by `proximity`.

    References
    ----------
    J. Bien and R. Tibshirani (2011). Prototype selection for interpretable classification.  Annals
    of Applied Statistics 5, 2403-2424.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> list(forest.prototypes(k=1)["species"])
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    k = checked_whole("k", k, 1)
    return fits.proximity.prototype_table(
        self.fit, fits.proximity.proximities(self.fit, None, fits.proximity.PLAIN), k
    )


def outliers(self: FittedResults) -> pd.DataFrame:
    """Return Breiman's outlier score of each training row, the largest first.

    The number of rows, divided by the sum of squared proximities to them; minus the median, and
    divided by the mean absolute deviation from it.  For classes, each row is compared with the rows
    of its class.  Scores above 10 are worth a look.

    Proximities are out of bag where trees sample rows: a tree that sampled a row keeps it apart
    from rows with other responses.

    Returns
    -------
    DataFrame
        ``score``, and the response, with the labels of the rows.  A response that is called
        ``score`` itself is in ``score_``.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> list(forest.outliers().columns)
    ['score', 'species']
    """
    type = fits.proximity.OOB if leaves_rows_out(self.fit) else fits.proximity.PLAIN
    return fits.proximity.outlier_table(self.fit, fits.proximity.proximities(self.fit, None, type))


def map(self: FittedResults) -> RowMap:
    """Scale the training rows to the plane: near to each other if they share leaves.

    Classical scaling of the squared distances 1 - proximity.  The proximities themselves are not
    kept in memory.

    Returns
    -------
    RowMap
        With the coordinates, and a plot coloured by the response.

    Raises
    ------
    InputError
        If there are fewer than 4 rows.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("species ~ . - year", odrf.load_data("penguins"), n_trees=20, seed=1)
    >>> len(forest.map().table) == forest.nobs
    True
    """
    if self.nobs < FEWEST_ROWS:
        raise InputError(f"a map needs {FEWEST_ROWS} rows, and the fit has {self.nobs}")
    return reports.proximity.RowMap(self.fit)


@public_method
def impute(
    self: FittedResults, data: pd.DataFrame | None = None, *, rounds: int = 3
) -> pd.DataFrame:
    """Fill missing values by the values of near training rows.

    First by the median or the most frequent level; then, in each round, by the mean or level of the
    training rows that know the cell, weighted by the share of trees in which they share a leaf with
    the row.

    This gives one likely value for each cell.  It is no multiple imputation: standard errors of
    models that use the filled cells are too small.

    Parameters
    ----------
    data : DataFrame, optional
        The rows.  By default the variables of the training rows.
    rounds : int, default 3
        How often proximities are computed again with the filled cells.

    Returns
    -------
    DataFrame
        `data` with the cells filled that predictors use; other columns stay as they are.  A column
        of numbers with missing values becomes one of floats.

    Raises
    ------
    InputError
        If `rounds` is no number above 0; if a column of `data` cannot be used.

    References
    ----------
    L. Breiman (2003). Manual on setting up, using, and understanding random forests v4.0.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> forest = odrf.odrf("species ~ . - year", penguins, n_trees=20, seed=1)
    >>> int(forest.impute(penguins)["body_mass_g"].isna().sum())
    0
    """
    rounds = checked_whole("rounds", rounds, 1)
    design = self.fit.design
    if data is None:
        return fits.proximity.imputed(self.fit, training_frame(design, self.fit.data), rounds)
    frame = design.schema.select(data)
    design.schema.check_contents(frame)
    filled = fits.proximity.imputed(self.fit, frame, rounds)
    whole = data.copy()
    for name in frame.columns:  # not by assign(), which has no column "self"
        whole[name] = filled[name]
    return whole
