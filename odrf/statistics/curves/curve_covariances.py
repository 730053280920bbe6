"""Covariances of the points of predicted curves over training samples, row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.parallel import row_blocks
from odrf.engine.rows.draws import Draws
from odrf.statistics.averaged.functionals import FunctionalCovariance
from odrf.statistics.drawn_together import Stratum, pairs_of_one_stream, strata_of, unseen_units
from odrf.statistics.jackknife import deviations

__all__ = ["RowsOfTrees", "curve_covariances", "rows_of_trees"]

# Training rows whose influences are held at once.
ROWS = 4096


class RowsOfTrees(NamedTuple):
    """What the jackknife knows of the rows that trees drew; the same for all predicted rows.

    Attributes
    ----------
    kinds : (B,) int64
        The kind of each tree, from 0; trees of one kind draw in the same way.
    unseen : (B, u) bool
        Which units each tree did not draw.
    strata : list of Stratum
    pairs : list
        For each stratum, as `pairs_of_one_stream` returns them.
    """

    kinds: NDArray[np.int64]
    unseen: NDArray[np.bool_]
    strata: list[Stratum]
    pairs: list[list[tuple[NDArray[np.int64], NDArray[np.int64], float]]]


def rows_of_trees(kinds: NDArray[np.int64], draws: Draws, of_others: bool) -> RowsOfTrees:
    """Return what the jackknife knows of the rows that trees drew.

    Parameters
    ----------
    kinds : (B,) int64
    draws : Draws
        `tells_rows_apart` of `odrf.statistics.drawn_together` must be true of them.
    of_others : bool
        Whether training rows are predicted, by trees that did not draw them.
    """
    strata = strata_of(draws, of_others)
    pairs = [pairs_of_one_stream(kinds, draws, stratum) for stratum in strata]
    return RowsOfTrees(kinds, unseen_units(draws), strata, pairs)


def curve_covariances(
    values: NDArray[np.float64], rows: RowsOfTrees, used: NDArray[np.bool_] | None = None
) -> list[FunctionalCovariance]:
    """Estimate the covariances (G, G) of the points of m curves over training samples.

    Each curve is the mean over trees.  The covariance of two of its points is that of two
    functionals of the forest: see `odrf.statistics.averaged.functionals.functional_covariance`,
    which this equals for each curve.

    Parameters
    ----------
    values : (B, m, G) float64
        The curves of each tree.
    rows : RowsOfTrees
    used : (B, m) bool, optional
        The trees that predict each curve; by default all.
    """
    B, m, G = values.shape
    used = np.ones((B, m), dtype=np.bool_) if used is None else used
    deviation = deviations(values.reshape(B, m * G), rows.kinds, np.repeat(used, G, axis=1))
    raw, bias = np.zeros((2, m, G, G))
    for stratum, pairs in zip(rows.strata, rows.pairs, strict=True):
        scaled = deviation * stratum.scale[:, None]
        for some in row_blocks(stratum.end - stratum.begin, ROWS):
            here = slice(stratum.begin + some.start, stratum.begin + some.stop)
            influence = scaled.T @ rows.unseen[:, here].astype(np.float64)
            influence = influence.reshape(m, G, -1)
            raw += influence @ influence.transpose(0, 2, 1)
        for first, second, covariance in pairs:
            bias += covariance * _products(scaled[first], scaled[second], m)
    of_trees = _products(deviation, deviation, m)
    return [
        FunctionalCovariance(*parts, rows.unseen.shape[1], B)
        for parts in zip(raw, bias, of_trees, strict=True)
    ]


def _products(
    first: NDArray[np.float64], second: NDArray[np.float64], m: int
) -> NDArray[np.float64]:
    """Return sums (m, G, G) over trees of products of two points of each of m curves."""
    b = len(first)
    left = first.reshape(b, m, -1).transpose(1, 2, 0)
    return np.asarray(left @ second.reshape(b, m, -1).transpose(1, 0, 2))
