"""Classes in patterns on a plane: rings, slices of a disc, squares of a board.

[G] is Gupta et al., *Guided random forest and its application to data approximation*; its Figure
12 shows such patterns, with two classes and with more, but the paper does not define them; sizes
and numbers are our choice.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from odrf.public import public
from odrf.simulate.arguments import checked_below, checked_count
from odrf.simulate.problem import Draw, Problem, Truth, View, one_hot

__all__ = ["checkerboard", "pie", "rings"]

RINGS, SLICES = 2, 3
"""How many rings or slices each class has by default."""


@public
def rings(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Concentric rings ([G], Figure 12a and b).

    X is uniform on the disc of radius 1, which is divided into rings of equal width.  From the
    centre outwards they have the classes in turn.  Outside the disc `truth` is NaN.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of rings, counting the disc in the centre; at least K.  By default 2 K.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/K.

    Returns
    -------
    Problem
        Two predictors; outer rings have more rows.  Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.0, 0.0, 2.0], "x2": [0.1, -0.3, 0.0]})
    >>> simulate.rings().truth(places)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [nan, nan]])
    """
    K = checked_count("classes", classes, 2)
    number = RINGS * K if number is None else checked_count("number", number, K)
    return _on_plane("rings", K, noise, _disc, partial(_ring, number=number, K=K))


@public
def pie(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Slices of a pie chart ([G], Figure 12c and d).

    X is uniform on the disc of radius 1, which is divided into equal slices.  Counted
    anticlockwise from the positive x1 axis, they have the classes in turn.  Outside the disc
    `truth` is NaN.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of slices, at least K.  By default 3 K.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/K.

    Returns
    -------
    Problem
        Two predictors.  Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.5, 0.0], "x2": [0.1, 0.5]})
    >>> simulate.pie(classes=3, number=3).truth(places)
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    K = checked_count("classes", classes, 2)
    number = SLICES * K if number is None else checked_count("number", number, K)
    return _on_plane("pie", K, noise, _disc, partial(_slice, number=number, K=K))


@public
def checkerboard(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Squares of a board: exclusive or, and larger ones ([G], Figure 12e and f).

    X is uniform on (-1, 1)².  The square in column i and row j has class number (i + j) mod K.
    With two classes and two squares along a side this is exclusive or.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of squares along a side, more than K/2, so that every class has one.  By default K.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/K.

    Returns
    -------
    Problem
        Two predictors.  Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [-0.5, 0.5], "x2": [-0.5, -0.5]})
    >>> simulate.checkerboard().truth(places)
    array([[1., 0.],
           [0., 1.]])
    """
    K = checked_count("classes", classes, 2)
    number = K if number is None else checked_count("number", number, K // 2 + 1)
    return _on_plane("checkerboard", K, noise, _square, partial(_board, number=number, K=K))


def _on_plane(name: str, K: int, noise: float, draw: Draw, truth: Truth) -> Problem:
    noise = checked_below("noise", noise, 1 - 1 / K)
    names = tuple(str(k + 1) for k in range(K))
    return Problem(name, 2, 2, names, noise, draw, truth, 0.0, View(-1.0, 1.0, 0.0))


def _disc(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    radius, angle = np.sqrt(rng.random(n)), 2 * np.pi * rng.random(n)
    return radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])


def _square(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.uniform(-1.0, 1.0, (n, 2))


def _ring(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    radius = np.hypot(X[:, 0], X[:, 1])
    return _within_disc(X, np.floor(radius * number), number, K)


def _slice(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    turn = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) % 1.0
    return _within_disc(X, np.floor(turn * number), number, K)


def _within_disc(
    X: NDArray[np.float64], piece: NDArray[np.float64], number: int, K: int
) -> NDArray[np.float64]:
    """Return the class indicators of the pieces; NaN outside the disc, allowing for rounding."""
    # a row on the rim, or on the first ray, may be rounded into a piece that does not exist
    shares = one_hot(np.minimum(piece, number - 1).astype(np.int64) % K, K)
    shares[np.hypot(X[:, 0], X[:, 1]) > 1 + 1e-9] = np.nan
    return shares


def _board(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    cell = np.clip(np.floor((X + 1) / 2 * number), 0, number - 1).astype(np.int64)
    return one_hot(cell.sum(axis=1) % K, K)
