"""Gathering the rows that each tree draws, block by block."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Layout, Matrix, layout_of, stored, with_layout
from odrf.engine.streamed.hashed_draws import HashedDraw

__all__ = ["Gathering", "RowBlock", "TreeRows"]


class RowBlock(NamedTuple):
    """Rows that pass by together.

    Attributes
    ----------
    numbers : (m,) uint64
        Numbers of the rows among all rows.
    X : Matrix (p, m)
        Scaled predictors.
    y : (m,) float64
        Response, or class codes.
    weights : (m,) float64
    """

    numbers: NDArray[np.uint64]
    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class TreeRows(NamedTuple):
    """The rows that one tree has drawn: X (p, s), y (s,) and weights (s,)."""

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class Gathering:
    """The rows that some trees draw, in the order of their numbers.

    Parameters
    ----------
    draw : HashedDraw
        The draws of these trees.
    n_jobs : int
        Threads.
    """

    def __init__(self, draw: HashedDraw, n_jobs: int) -> None:
        self.draw, self.n_jobs = draw, n_jobs
        self._pieces: list[list[TreeRows]] = [[] for _ in draw.keys]
        self._layout: Layout | None = None

    def add(self, block: RowBlock) -> None:
        """Keep of a block what the trees draw."""
        array, self._layout = stored(block.X), layout_of(block.X)
        drawn = self.draw.drawn(block.numbers, block.weights, self.n_jobs)
        for pieces, of_tree in zip(self._pieces, drawn, strict=True):
            rows = np.flatnonzero(of_tree)
            if len(rows):
                # by numbers of rows: several times as fast as by a mask of two dimensions
                piece = np.take(array, rows, axis=1)
                pieces.append(TreeRows(piece, block.y[rows], block.weights[rows]))

    def n_rows(self, t: int) -> int:
        """Return how many rows tree `t` of these trees has drawn."""
        return sum(len(piece.y) for piece in self._pieces[t])

    def take(self, t: int) -> TreeRows:
        """Return the rows of tree `t` of these trees, at least one, and forget them."""
        pieces, self._pieces[t] = self._pieces[t], []
        X = np.concatenate([stored(piece.X) for piece in pieces], axis=1)
        y = np.concatenate([piece.y for piece in pieces])
        weights = np.concatenate([piece.weights for piece in pieces])
        return TreeRows(with_layout(X, self._layout), y, weights)
