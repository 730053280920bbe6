"""Gathering the rows that each tree draws, block by block."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Matrix, layout_of, stored, with_layout
from odrf.engine.streamed.hashed_draws import HashedDraw

__all__ = ["Gathering", "RowBlock", "TreeRows", "drawn_rows", "joined_rows"]


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


def drawn_rows(block: RowBlock, draw: HashedDraw, n_jobs: int) -> list[TreeRows]:
    """Return the rows of a block that each tree draws; trees may draw none."""
    array, layout = stored(block.X), layout_of(block.X)
    found = []
    for of_tree in draw.drawn(block.numbers, block.weights, n_jobs):
        # by numbers of rows: several times as fast as by a mask of two dimensions
        rows = np.flatnonzero(of_tree)
        X = with_layout(np.take(array, rows, axis=1), layout)
        found.append(TreeRows(X, block.y[rows], block.weights[rows]))
    return found


def joined_rows(pieces: Sequence[TreeRows]) -> TreeRows:
    """Return the rows that one tree draws from all blocks, of which there is one at least."""
    X = np.concatenate([stored(piece.X) for piece in pieces], axis=1)
    y = np.concatenate([piece.y for piece in pieces])
    weights = np.concatenate([piece.weights for piece in pieces])
    return TreeRows(with_layout(X, layout_of(pieces[0].X)), y, weights)


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

    def add(self, block: RowBlock) -> None:
        """Keep of a block what the trees draw."""
        found = drawn_rows(block, self.draw, self.n_jobs)
        for pieces, piece in zip(self._pieces, found, strict=True):
            pieces.append(piece)

    def n_rows(self, t: int) -> int:
        """Return how many rows tree `t` of these trees has drawn."""
        return sum(len(piece.y) for piece in self._pieces[t])

    def take(self, t: int) -> TreeRows:
        """Return the rows of tree `t` of these trees, and forget them."""
        pieces, self._pieces[t] = self._pieces[t], []
        return joined_rows(pieces)
