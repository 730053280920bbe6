"""Classification problems whose predictors are pixels or points of a series.

[P] is Perry et al., *Manifold forests*; the three problems are those of its Figure 1.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from odrf.checks import checked_amount, checked_whole
from odrf.errors import InputError
from odrf.simulate.arguments import checked_below, checked_range
from odrf.simulate.problem import Problem

__all__ = ["bars", "circle", "impulse"]


def circle(p: int = 100, length: int = 5, noise: float = 0.0) -> Problem:
    """Two segments on a ring, of equal or unequal lengths ([P], section 5.1, experiment A).

    The predictors are p pixels on a ring, 1 on two segments that do not touch and 0 elsewhere.
    In class "1" both are `length` long, in class "2" one is a pixel shorter and the other a pixel
    longer.  All places that leave a pixel between them are equally likely, and so are the classes.
    `truth` is NaN in rows that are not two such segments.

    Parameters
    ----------
    p : int, default 100
        Pixels, as in [P]; at least 2 · length + 2.
    length : int, default 5
        As in [P], where class "2" has 4 and 6; at least 2.
    noise : float, default 0.0
        Chance that a label is exchanged, below 1/2.

    Returns
    -------
    Problem
        Its `shape` is (1, p), and it wraps around.  Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> problem = simulate.circle(p=12, length=3)
    >>> "".join(str(int(pixel)) for pixel in problem.sample(1, seed=1).iloc[0, :12])
    '011100111000'
    """
    length = checked_whole("length", length, 2)
    p = checked_whole("p", p, 2 * length + 2)
    noise = checked_below("noise", noise, 1 / 2)
    rows, known = partial(_segments, p=p, length=length), partial(_alike, length=length)
    classes, shape = ("1", "2"), (1, p)
    return Problem("circle", p, p, classes, noise, rows, known, 0.0, shape=shape, wrap=True)


def bars(size: int = 28, mean: float = 10.0, noise: float = 0.0) -> Problem:
    """Horizontal or vertical bars in an image ([P], section 5.1, experiment B).

    Of an image of zeros k rows (class "0") or columns (class "1") become ones, k from Poisson's
    law.  [P] does not say whether a row may be met twice: here it may, so that bars one beside
    another make wider ones and each row is met with probability 1 - exp(-mean / size), the others
    notwithstanding.  The classes come equally often.  Only images that are all zeros or all ones
    are of both classes: the Bayes error is half of how often they come.  `truth` is NaN in images
    that have no bars, but something else.

    Parameters
    ----------
    size : int, default 28
        Height and width of the images, as in [P]; the predictors are the pixels, row by row.
    mean : float, default 10.0
        Mean number of bars, as in [P]; above 0.
    noise : float, default 0.0
        Chance that a label is exchanged, below 1/2.

    Returns
    -------
    Problem
        Its `shape` is (size, size).

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> problem = simulate.bars(size=4, mean=2.0)
    >>> problem.sample(1, seed=2).iloc[0, :16].to_numpy(dtype=float).reshape(problem.shape)
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.],
           [0., 0., 0., 0.],
           [1., 1., 1., 1.]])
    >>> round(problem.bayes_error, 4)
    0.0797
    """
    size = checked_whole("size", size, 2)
    mean = checked_amount("mean", mean)
    if mean == 0:
        raise InputError("mean=0 leaves all images empty: use a number above 0")
    noise = checked_below("noise", noise, 1 / 2)
    met = -math.expm1(-mean / size)
    least = ((1 - met) ** size + met**size) / 2
    rows, known = partial(_barred, size=size, met=met), partial(_lying, size=size)
    p, shape = size * size, (size, size)
    return Problem("bars", p, p, ("0", "1"), noise, rows, known, least, shape=shape)


def impulse(
    p: int = 100, start: int = 20, height: float = 1.0, noise: float = 0.0, decay: float = 1.0
) -> Problem:
    """Noise alone, or an impulse that decays in it ([P], section 5.1, experiment C).

    Class "0" is a series of independent standard normal numbers; in class "1" the t-th has
    height · exp(-decay · (t - start)) added from t = start on.  [P] writes exp(t - 20), which
    would grow, but calls it decaying.  The classes come equally often; the Bayes error is
    Φ(-‖h‖/2), h being what is added.

    Parameters
    ----------
    p : int, default 100
        Length of the series, as in [P].
    start : int, default 20
        When the impulse begins, from 1 to p, as in [P].
    height : float, default 1.0
        The impulse's first and largest value, in standard deviations of the noise, as in [P].
    noise : float, default 0.0
        Chance that a label is exchanged, below 1/2; the noise in the series is not meant.
    decay : float, default 1.0
        How fast the impulse falls, as [P] has it: to 37 % from one point to the next.  The smaller
        it is, the more points tell the classes apart.

    Returns
    -------
    Problem
        Its `shape` is (1, p).

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> round(simulate.impulse().bayes_error, 4)
    0.2954
    >>> round(simulate.impulse(height=4.0).bayes_error, 4)
    0.0157
    >>> round(simulate.impulse(decay=0.1).bayes_error, 4)
    0.1201
    """
    p = checked_whole("p", p, 2)
    start = checked_range("start", start, 1, p, "the length of the series")
    height = checked_amount("height", height)
    noise = checked_below("noise", noise, 1 / 2)
    decay = checked_amount("decay", decay)
    late = np.arange(1, p + 1) - start
    added = np.where(late >= 0, height * np.exp(-decay * np.abs(late, dtype=np.float64)), 0.0)
    least = float(ndtr(-np.linalg.norm(added) / 2))
    rows, known = partial(_hidden, added=added), partial(_shares_of_added, added=added)
    return Problem("impulse", p, p, ("0", "1"), noise, rows, known, least, shape=(1, p))


def _segments(rng: np.random.Generator, n: int, p: int, length: int) -> NDArray[np.float64]:
    # of class "2" the shorter segment comes first; as the ring has no beginning, that is general
    first = length - rng.integers(2, size=n)
    begin = rng.integers(p, size=n)
    again = begin + first + rng.integers(1, p - 2 * length, size=n)
    pixels = np.arange(p)
    since_first = (pixels - begin[:, np.newaxis]) % p
    since_second = (pixels - again[:, np.newaxis]) % p
    second = 2 * length - first
    lit = (since_first < first[:, np.newaxis]) | (since_second < second[:, np.newaxis])
    return lit.astype(np.float64)


def _alike(X: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    lit = X == 1
    begun = lit & ~np.roll(lit, 1, axis=1)
    possible = ((X == 0) | lit).all(axis=1) & (begun.sum(axis=1) == 2)
    possible &= lit.sum(axis=1) == 2 * length
    # so many pixels in a row are lit from each on
    run = lit.copy()
    for further in range(1, length + 1):
        run &= np.roll(lit, -further, axis=1)
    longer = run.any(axis=1)
    possible &= ~(run & np.roll(lit, -length - 1, axis=1)).any(axis=1)
    shares = np.column_stack([~longer, longer]).astype(np.float64)
    shares[~possible] = np.nan
    return shares


def _barred(rng: np.random.Generator, n: int, size: int, met: float) -> NDArray[np.float64]:
    lit = np.broadcast_to((rng.random((n, size)) < met)[:, :, np.newaxis], (n, size, size))
    upright = rng.integers(2, size=n).astype(bool)
    images = np.where(upright[:, np.newaxis, np.newaxis], lit.transpose(0, 2, 1), lit)
    return images.reshape(n, size * size).astype(np.float64)


def _lying(X: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    images = X.reshape(len(X), size, size)
    lying = (images == images[:, :, :1]).all(axis=(1, 2))
    upright = (images == images[:, :1, :]).all(axis=(1, 2))
    both = lying & upright
    shares = np.column_stack([lying, upright]) * np.where(both, 0.5, 1.0)[:, np.newaxis]
    shares[~(lying | upright) | ~((X == 0) | (X == 1)).all(axis=1)] = np.nan
    return shares


def _hidden(rng: np.random.Generator, n: int, added: NDArray) -> NDArray[np.float64]:
    return rng.standard_normal((n, len(added))) + rng.integers(2, size=(n, 1)) * added


def _shares_of_added(X: NDArray[np.float64], added: NDArray) -> NDArray[np.float64]:
    log_odds = X @ added - added @ added / 2
    return np.column_stack([expit(-log_odds), expit(log_odds)])
