"""Classes whose boundaries are planes: sparse parity, orthant, Trunk, Biau.

[T] is Tomita et al., *Sparse projection oblique randomer forests*, JMLR 21 (2020).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from odrf.public import public
from odrf.simulate.arguments import checked_below, checked_count, checked_range
from odrf.simulate.problem import Problem, View, one_hot

__all__ = ["biau", "orthant", "sparse_parity", "trunk"]

TWO = ("0", "1")
# 2^12 probabilities of each row
MOST_ORTHANTS = 12


@public
def sparse_parity(p: int = 20, relevant: int = 3, noise: float = 0.0) -> Problem:
    """Parity of the number of positive relevant predictors ([T], section 4.2).

    X is uniform on (-1, 1)^p; the class is "1" where an odd number of the first `relevant`
    predictors is above zero, else "0".  Any smaller subset of them carries no information on the
    class.

    Parameters
    ----------
    p : int, default 20
        Number of predictors, as in [T].
    relevant : int, default 3
        Number of relevant predictors, as in [T].
    noise : float, default 0.0
        Probability that a label is flipped, below 1/2.

    Returns
    -------
    Problem
        Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> data = simulate.sparse_parity(p=4).sample(3, seed=2)
    >>> odd = (data[["x1", "x2", "x3"]] > 0).sum(axis=1) % 2
    >>> bool((data["y"] == odd.astype(str)).all())
    True
    """
    p = checked_count("p", p, 2)
    relevant = checked_range("relevant", relevant, 1, p, "all predictors")
    noise = checked_below("noise", noise, 1 / 2)
    truth = partial(_odd, relevant=relevant)
    # the picture of Figure 2A; the others are not fixed at 0, where the class changes
    view = View(-1.0, 1.0, -0.5)
    return Problem("sparse parity", p, relevant, TWO, noise, partial(_cube, p=p), truth, 0.0, view)


@public
def orthant(p: int = 6, noise: float = 0.0) -> Problem:
    """One class for each of the 2^p orthants ([T], section 4.2).

    X is uniform on (-1, 1)^p; the class is 1 + Σ 2^(j - 1) over the predictors j above zero.
    [T] does not say how the orthants are numbered.

    Parameters
    ----------
    p : int, default 6
        Number of predictors, as in [T]; at most 12, which makes 4096 classes.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/2^p.

    Returns
    -------
    Problem
        Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> simulate.orthant(p=2).classes
    ('1', '2', '3', '4')
    """
    p = checked_range("p", checked_count("p", p, 2), 2, MOST_ORTHANTS, "which makes 4096 classes")
    classes = tuple(str(k + 1) for k in range(2**p))
    noise = checked_below("noise", noise, 1 - 1 / len(classes))
    view = View(-1.0, 1.0, -0.5)
    return Problem("orthant", p, p, classes, noise, partial(_cube, p=p), _orthant_of, 0.0, view)


@public
def trunk(p: int = 10, noise: float = 0.0) -> Problem:
    """Two normal classes, each predictor less informative than the one before ([T], section 4.2).

    Class "1" is normal with mean μ = (1, 1/√2, …, 1/√p) and identity covariance, class "0" with
    mean -μ; both are equally likely.  The Bayes rule is the plane μᵀx = 0, its error Φ(-‖μ‖).
    The problem is due to Trunk, IEEE PAMI 1 (1979) 306–307.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, as in [T].
    noise : float, default 0.0
        Probability that a label is flipped, below 1/2.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> round(simulate.trunk().bayes_error, 4)
    0.0435
    """
    p = checked_count("p", p, 2)
    noise = checked_below("noise", noise, 1 / 2)
    mean = 1 / np.sqrt(np.arange(1, p + 1))
    error = float(ndtr(-np.linalg.norm(mean)))
    draw, truth = partial(_two_normals, mean=mean), partial(_normal_shares, mean=mean)
    return Problem("Trunk", p, p, TWO, noise, draw, truth, error, View(-4.0, 4.0, 0.0))


@public
def biau(stripes: int | None = None, noise: float = 0.0) -> Problem:
    """Stripes and a checkerboard: axis-parallel forests are not consistent ([T], Figure 1).

    X is uniform on [0, 1]² ∪ [1, 2]² ∪ [2, 3]².  The first square has vertical stripes, the last
    one horizontal stripes, and the middle one is a 2 × 2 checkerboard.  A greedy axis-parallel
    split decreases the impurity in the stripes, but not in the middle square, where the error stays
    1/2; the overall error is at least 1/6 (Biau, Devroye and Lugosi, JMLR 9 (2008) 2015–2033).
    Rows are drawn in the three squares only; elsewhere `truth` is NaN.

    Parameters
    ----------
    stripes : int, optional
        Number of stripes of equal width in a square, at least 2.  By default there are infinitely
        many, as in the definition.  The sources do not give their widths; here the k-th has width
        2^-k, so that there are stripes at every scale.
    noise : float, default 0.0
        Probability that a label is flipped, below 1/2.

    Returns
    -------
    Problem
        Two predictors, as in [T].  The first stripe, and the lower left of the checkerboard, have
        class "0".  Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.2, 0.6, 1.2, 0.5], "x2": [0.3, 0.3, 1.2, 1.5]})
    >>> simulate.biau().truth(places)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [ 1.,  0.],
           [nan, nan]])
    """
    if stripes is not None:
        stripes = checked_count("stripes", stripes, 2)
    noise = checked_below("noise", noise, 1 / 2)
    truth = partial(_striped, stripes=stripes)
    return Problem("Biau", 2, 2, TWO, noise, _three_squares, truth, 0.0, View(0.0, 3.0, 0.0))


def _cube(rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    return rng.uniform(-1.0, 1.0, (n, p))


def _odd(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return one_hot((X[:, :relevant] > 0).sum(axis=1) % 2, 2)


def _orthant_of(X: NDArray[np.float64]) -> NDArray[np.float64]:
    p = X.shape[1]
    return one_hot((X > 0) @ 2 ** np.arange(p), 2**p)


def _two_normals(rng: np.random.Generator, n: int, mean: NDArray) -> NDArray[np.float64]:
    side = rng.choice([-1.0, 1.0], size=(n, 1))
    return side * mean + rng.standard_normal((n, len(mean)))


def _normal_shares(X: NDArray[np.float64], mean: NDArray) -> NDArray[np.float64]:
    # the log odds of class "1" are 2μᵀx, so P("1" | x) - P("0" | x) = tanh(μᵀx)
    difference = np.tanh(X @ mean)
    return np.column_stack([(1 - difference) / 2, (1 + difference) / 2])


def _three_squares(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.random((n, 2)) + rng.integers(3, size=(n, 1))


def _striped(X: NDArray[np.float64], stripes: int | None) -> NDArray[np.float64]:
    square = np.floor(X)
    inside = (square[:, 0] == square[:, 1]) & (square[:, 0] >= 0) & (square[:, 0] <= 2)
    which = square[inside, 0]
    position = X[inside] - square[inside]
    board = np.floor(2 * position).sum(axis=1)
    vertical, horizontal = (_stripe(position[:, axis], stripes) for axis in (0, 1))
    number = np.select([which == 0, which == 1], [vertical, board], horizontal)
    shares = np.full(X.shape, np.nan)
    shares[inside] = one_hot(number.astype(np.int64) % 2, 2)
    return shares


def _stripe(position: NDArray[np.float64], stripes: int | None) -> NDArray[np.float64]:
    """Return the number, from 0, of the stripe of each position in [0, 1)."""
    if stripes is not None:
        return np.floor(position * stripes)
    return np.floor(-np.log2(1 - position))
