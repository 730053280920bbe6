"""Classification problems whose predictors are pixels or points of a series.

[P] is Perry et al., *Manifold forests*; the three problems are those of its Figure 1.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from odrf.checks import checked_amount
from odrf.errors import InputError
from odrf.public import public
from odrf.simulate.problem import Problem, checked_below, checked_count, checked_range


@public
def circle(p: int = 100, length: int = 5, noise: float = 0.0) -> Problem:
    """Two segments on a ring, of equal or unequal lengths ([P], section 5.1, experiment A).

    The predictors are p pixels on a ring, 1 on two segments that do not touch and 0 elsewhere.  In
    class "1" both have `length` pixels; in class "2" one is a pixel shorter and the other a pixel
    longer.  All positions with at least one pixel between the segments are equally likely, and so
    are the classes.  `truth` is NaN in rows that are not two such segments.  The `shape` of the
    problem is (1, p), and `wrap` is True.

    Parameters
    ----------
    p : int, default 100
        Number of pixels, as in [P]; at least 2 · length + 2.
    length : int, default 5
        Length of the segments of class "1", as in [P], where those of class "2" have 4 and 6
        pixels; at least 2.
    {noise}

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> problem = simulate.circle(p=12, length=3)
    >>> "".join(str(int(pixel)) for pixel in problem.sample(1, seed=1).iloc[0, :12])
    '011100111000'
    """
    length = checked_count("length", length, 2)
    p = checked_count("p", p, 2 * length + 2)
    noise = checked_below("noise", noise, 1 / 2)
    draw, truth = partial(_segments, p=p, length=length), partial(_equal_lengths, length=length)
    classes, shape = ("1", "2"), (1, p)
    return Problem("circle", p, p, classes, noise, draw, truth, 0.0, shape=shape, wrap=True)


@public
def bars(size: int = 28, mean: float = 10.0, noise: float = 0.0) -> Problem:
    """Horizontal or vertical bars in an image ([P], section 5.1, experiment B).

    In an image of zeros k rows (class "0") or columns (class "1") are set to 1, where k has a
    Poisson distribution.  [P] does not say whether a row may be chosen twice.  Here it may, so each
    row is set with probability 1 - exp(-mean / size), independently of the others, and bars may be
    adjacent.  The classes are equally likely.  Only images that are all zeros or all ones occur in
    both classes; the Bayes error is half of their probability.  `truth` is NaN in images that do
    not consist of bars.  The `shape` of the problem is (size, size).

    Parameters
    ----------
    size : int, default 28
        Height and width of the images, as in [P]; the predictors are the pixels, row by row.
    mean : float, default 10.0
        Mean number of bars, as in [P]; above 0.
    {noise}

    {about problem}

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
    size = checked_count("size", size, 2)
    mean = checked_amount("mean", mean)
    if mean == 0:
        raise InputError("mean=0 leaves all images empty: use a number above 0")
    noise = checked_below("noise", noise, 1 / 2)
    chance = -math.expm1(-mean / size)
    error = ((1 - chance) ** size + chance**size) / 2
    draw, truth = partial(_bar_images, size=size, chance=chance), partial(_bar_shares, size=size)
    p, shape = size * size, (size, size)
    return Problem("bars", p, p, ("0", "1"), noise, draw, truth, error, shape=shape)


@public
def impulse(
    p: int = 100, start: int = 20, height: float = 1.0, noise: float = 0.0, decay: float = 1.0
) -> Problem:
    """Noise alone, or noise with a decaying impulse ([P], section 5.1, experiment C).

    Class "0" is a series of independent standard normal numbers.  In class "1" the impulse
    h_t = height · exp(-decay · (t - start)) is added from t = start on.  [P] writes exp(t - 20),
    which grows, but calls it decaying.  The classes are equally likely; the Bayes error is
    Φ(-‖h‖/2).  The `shape` of the problem is (1, p).

    Parameters
    ----------
    p : int, default 100
        Length of the series, as in [P].
    start : int, default 20
        First point of the impulse, from 1 to p, as in [P].
    height : float, default 1.0
        First and largest value of the impulse, in standard deviations of the noise, as in [P].
    noise : float, default 0.0
        Probability that a label is flipped, below 1/2.  It is not the noise in the series.
    decay : float, default 1.0
        Rate of decay.  With 1, as in [P], the impulse falls to 37 % from one point to the next; the
        smaller the rate, the more points are informative.

    {about problem}

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
    p = checked_count("p", p, 2)
    start = checked_range("start", start, 1, p, "the length of the series")
    height = checked_amount("height", height)
    noise = checked_below("noise", noise, 1 / 2)
    decay = checked_amount("decay", decay)
    late = np.arange(1, p + 1) - start
    added = np.where(late >= 0, height * np.exp(-decay * np.abs(late, dtype=np.float64)), 0.0)
    error = float(ndtr(-np.linalg.norm(added) / 2))
    draw, truth = partial(_series, added=added), partial(_series_shares, added=added)
    return Problem("impulse", p, p, ("0", "1"), noise, draw, truth, error, shape=(1, p))


def _segments(rng: np.random.Generator, n: int, p: int, length: int) -> NDArray[np.float64]:
    # in class "2" the first segment is the shorter one, which is general because the ring is closed
    first = length - rng.integers(2, size=n)
    start = rng.integers(p, size=n)
    second_start = start + first + rng.integers(1, p - 2 * length, size=n)
    pixels = np.arange(p)
    since_first = (pixels - start[:, np.newaxis]) % p
    since_second = (pixels - second_start[:, np.newaxis]) % p
    second = 2 * length - first
    lit = (since_first < first[:, np.newaxis]) | (since_second < second[:, np.newaxis])
    return lit.astype(np.float64)


def _equal_lengths(X: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    lit = X == 1
    starts = lit & ~np.roll(lit, 1, axis=1)
    possible = ((X == 0) | lit).all(axis=1) & (starts.sum(axis=1) == 2)
    possible &= lit.sum(axis=1) == 2 * length
    # whether length + 1 pixels are lit from each pixel on
    run = lit.copy()
    for shift in range(1, length + 1):
        run &= np.roll(lit, -shift, axis=1)
    longer = run.any(axis=1)
    possible &= ~(run & np.roll(lit, -length - 1, axis=1)).any(axis=1)
    shares = np.column_stack([~longer, longer]).astype(np.float64)
    shares[~possible] = np.nan
    return shares


def _bar_images(rng: np.random.Generator, n: int, size: int, chance: float) -> NDArray[np.float64]:
    lit = np.broadcast_to((rng.random((n, size)) < chance)[:, :, np.newaxis], (n, size, size))
    vertical = rng.integers(2, size=n).astype(bool)
    images = np.where(vertical[:, np.newaxis, np.newaxis], lit.transpose(0, 2, 1), lit)
    return images.reshape(n, size * size).astype(np.float64)


def _bar_shares(X: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    images = X.reshape(len(X), size, size)
    horizontal = (images == images[:, :, :1]).all(axis=(1, 2))
    vertical = (images == images[:, :1, :]).all(axis=(1, 2))
    both = horizontal & vertical
    shares = np.column_stack([horizontal, vertical]) * np.where(both, 0.5, 1.0)[:, np.newaxis]
    shares[~(horizontal | vertical) | ~((X == 0) | (X == 1)).all(axis=1)] = np.nan
    return shares


def _series(rng: np.random.Generator, n: int, added: NDArray) -> NDArray[np.float64]:
    return rng.standard_normal((n, len(added))) + rng.integers(2, size=(n, 1)) * added


def _series_shares(X: NDArray[np.float64], added: NDArray) -> NDArray[np.float64]:
    log_odds = X @ added - added @ added / 2
    return np.column_stack([expit(-log_odds), expit(log_odds)])
