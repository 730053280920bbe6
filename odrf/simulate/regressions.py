"""Regression problems: additive, single-index, ridge and radial functions, steps, Friedman's.

[Z] is Zhan, Liu and Xia, *Consistency of the oblique decision tree and its random forest*: its
theorems hold for continuous functions, its corollaries for sums of functions of few predictors.
Where the literature gives no noise, its default variance is between 10 % and 20 % of the variance
of the response.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_amount
from odrf.public import public
from odrf.simulate.problem import (
    Ends,
    Problem,
    Truth,
    View,
    checked_count,
    checked_relevant,
    layout_generator,
    uniform_rows,
)

ADDITIVE_TERMS = 4
FRIEDMAN1_TERMS = 5
# ranges of the resistance, angular frequency, inductance and capacity of a circuit
CIRCUIT_LOW = (0.0, 40 * math.pi, 0.0, 1.0)
CIRCUIT_HIGH = (100.0, 560 * math.pi, 1.0, 11.0)


@public
def additive(p: int = 10, noise: float = 0.3) -> Problem:
    """Sum of functions of single predictors.

    m(x) = sin(2πx1) + 4(x2 - 1/2)² + x3 + abs(2x4 - 1), X uniform on (0, 1)^p.  Forests of
    axis-parallel trees are consistent for such functions ([Z], Corollary 1 with q = 1).

    Parameters
    ----------
    p : int, default 10
        Number of predictors, at least 4; the first four are relevant.
    noise : float, default 0.3
        Standard deviation of the normal noise.

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> place = pd.DataFrame([[0.25, 0.0, 0.5, 0.5]], columns=["x1", "x2", "x3", "x4"])
    >>> simulate.additive(p=4).truth(place)
    array([2.5])
    """
    p = checked_count("p", p, ADDITIVE_TERMS)
    return _problem("additive", p, ADDITIVE_TERMS, noise, _additive, 0.0, 1.0)


@public
def single_index(p: int = 10, relevant: int = 5, noise: float = 0.3) -> Problem:
    """One function of one direction: m(x) = sin(πθᵀx), X uniform on (-1, 1)^p.

    The direction θ has equal weights for the first `relevant` predictors and length 1.  Oblique
    splits along θ suffice; axis-parallel splits have to approximate them by a staircase.

    Parameters
    ----------
    {p}
    relevant : int, default 5
        Number q of relevant predictors, the first ones.
    noise : float, default 0.3
        Standard deviation of the normal noise.

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.single_index(p=4, relevant=4)
    >>> problem.truth(pd.DataFrame([[0.25] * 4], columns=problem.predictors))
    array([1.])
    """
    p, relevant = checked_relevant(p, relevant)
    truth = partial(_wave_along, relevant=relevant)
    return _problem("single index", p, relevant, noise, truth, -1.0, 1.0)


@public
def ridge_sum(p: int = 10, ridges: int = 3, noise: float = 0.35, layout: Any = 1) -> Problem:
    """Sum of functions of several directions, the model of projection pursuit.

    m(x) = Σ g_k(θ_kᵀx), X uniform on (-1, 1)^p.  The functions g_k are in turn sin(πt), 2|t| and
    1/(1 + exp(-8t)); the directions θ_k are uniform on the unit sphere.  The class of functions is
    that of Friedman and Stuetzle, JASA 76 (1981) 817–823, and of networks with one hidden layer.

    Parameters
    ----------
    p : int, default 10
        Number of predictors; all are relevant.
    ridges : int, default 3
        Number of directions; with 3, each function is used once.
    noise : float, default 0.35
        Standard deviation of the normal noise.
    layout : int, SeedSequence or Generator, default 1
        Seed of the directions, which are the same in all samples of the problem.

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.ridge_sum(p=2)
    >>> problem.truth(pd.DataFrame({"x1": [0.0], "x2": [0.0]}))
    array([0.5])
    """
    p = checked_count("p", p, 2)
    ridges = checked_count("ridges", ridges, 1)
    directions = layout_generator(layout).standard_normal((ridges, p))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    truth = partial(_ridges, directions=directions)
    return _problem("ridge sum", p, p, noise, truth, -1.0, 1.0)


@public
def radial(p: int = 10, relevant: int = 2, noise: float = 0.2) -> Problem:
    """Waves around a centre: m(x) = cos(πr), r being the norm of the relevant predictors.

    X is uniform on (-1, 1)^p.  No direction is preferred, so neither axis-parallel nor oblique
    splits have an advantage.

    Parameters
    ----------
    {p}
    relevant : int, default 2
        Number q of relevant predictors, the first ones.
    noise : float, default 0.2
        Standard deviation of the normal noise.

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> simulate.radial(p=2).truth(pd.DataFrame({"x1": [0.6], "x2": [0.8]}))
    array([-1.])
    """
    p, relevant = checked_relevant(p, relevant)
    truth = partial(_wave_around, relevant=relevant)
    return _problem("radial", p, relevant, noise, truth, -1.0, 1.0)


@public
def jump(p: int = 10, relevant: int = 2, noise: float = 0.25) -> Problem:
    """Step across an oblique plane: m(x) = 1 where x1 + … + xq > 0, else 0, q = `relevant`.

    X is uniform on (-1, 1)^p.  One oblique split fits m exactly.  As m is not continuous, the
    theorems of [Z] do not apply.

    Parameters
    ----------
    {p}
    relevant : int, default 2
        Number q of relevant predictors, the first ones.
    noise : float, default 0.25
        Standard deviation of the normal noise.

    {about problem}

    Examples
    --------
    >>> import odrf
    >>> from odrf import simulate
    >>> tree = odrf.odt("y ~ .", simulate.jump(p=2).sample(500, seed=1), max_leaves=2, seed=1)
    >>> tree.nodes["value"].abs().round(1).tolist()
    [0.5, 0.0, 1.0]
    """
    p, relevant = checked_relevant(p, relevant)
    return _problem("jump", p, relevant, noise, partial(_step, relevant=relevant), -1.0, 1.0)


@public
def friedman1(p: int = 10, noise: float = 1.0) -> Problem:
    """Friedman's first problem: m(x) = 10 sin(πx1x2) + 20(x3 - 1/2)² + 10x4 + 5x5.

    X is uniform on (0, 1)^p.  From Friedman, *Multivariate adaptive regression splines*, Annals of
    Statistics 19 (1991) 1–67.  The defaults, ten predictors and noise of variance 1, are his; they
    are also those of Breiman, *Bagging predictors*, Machine Learning 24 (1996) 123–140.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, at least 5; the first five are relevant.
    noise : float, default 1.0
        Standard deviation of the normal noise.

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> place = pd.DataFrame([[0.5, 1.0, 0.5, 0.0, 1.0]], columns=["x1", "x2", "x3", "x4", "x5"])
    >>> simulate.friedman1(p=5).truth(place)
    array([15.])
    """
    p = checked_count("p", p, FRIEDMAN1_TERMS)
    return _problem("friedman1", p, FRIEDMAN1_TERMS, noise, _friedman1, 0.0, 1.0)


@public
def friedman2(noise: float = 125.0) -> Problem:
    """Friedman's second, impedance of a circuit: m(x) = √(x1² + (x2x3 - 1/(x2x4))²).

    X is uniform on (0, 100) × (40π, 560π) × (0, 1) × (1, 11).  From Friedman (1991), see
    `friedman1`.

    Parameters
    ----------
    noise : float, default 125.0
        Standard deviation of the normal noise, a third of that of m(X) as in Friedman (1991).

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> simulate.friedman2().bayes_error
    15625.0
    """
    return _problem("friedman2", 4, 4, noise, _impedance, CIRCUIT_LOW, CIRCUIT_HIGH, (1, 2))


@public
def friedman3(noise: float = 0.1) -> Problem:
    """Friedman's third problem, phase of a circuit: m(x) = arctan((x2x3 - 1/(x2x4)) / x1).

    X is distributed as in `friedman2`.  From Friedman (1991), see `friedman1`.

    Parameters
    ----------
    noise : float, default 0.1
        Standard deviation of the normal noise, a third of that of m(X) as in Friedman (1991).

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> bool(simulate.friedman3(noise=0).sample(100, seed=1)["y"].max() < 1.571)
    True
    """
    return _problem("friedman3", 4, 4, noise, _phase, CIRCUIT_LOW, CIRCUIT_HIGH, (0, 2))


def _problem(
    name: str,
    p: int,
    relevant: int,
    noise: float,
    truth: Truth,
    low: Ends,
    high: Ends,
    shown: tuple[int, int] = (0, 1),
) -> Problem:
    """Return the problem whose predictors are uniform between `low` and `high`."""
    rest = tuple(((np.broadcast_to(low, p) + np.broadcast_to(high, p)) / 2).tolist())
    draw, view = uniform_rows(p, low, high), View(low, high, rest, shown)
    return Problem(name, p, relevant, None, checked_amount("noise", noise), draw, truth, view=view)


def _additive(X: NDArray[np.float64]) -> NDArray[np.float64]:
    x1, x2, x3, x4 = X[:, :ADDITIVE_TERMS].T
    return np.sin(2 * np.pi * x1) + 4 * (x2 - 0.5) ** 2 + x3 + np.abs(2 * x4 - 1)


def _wave_along(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return np.sin(np.pi * X[:, :relevant].sum(axis=1) / math.sqrt(relevant))


def _ridges(X: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.float64]:
    total = np.zeros(len(X))
    for k, t in enumerate(directions @ X.T):
        if k % 3 == 0:
            total += np.sin(np.pi * t)
        elif k % 3 == 1:
            total += 2 * np.abs(t)
        else:
            total += 1 / (1 + np.exp(-8 * t))
    return total


def _wave_around(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return np.cos(np.pi * np.linalg.norm(X[:, :relevant], axis=1))


def _step(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return (X[:, :relevant].sum(axis=1) > 0).astype(np.float64)


def _friedman1(X: NDArray[np.float64]) -> NDArray[np.float64]:
    x1, x2, x3, x4, x5 = X[:, :FRIEDMAN1_TERMS].T
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5


def _impedance(X: NDArray[np.float64]) -> NDArray[np.float64]:
    x1, x2, x3, x4 = X.T
    return np.hypot(x1, x2 * x3 - 1 / (x2 * x4))


def _phase(X: NDArray[np.float64]) -> NDArray[np.float64]:
    x1, x2, x3, x4 = X.T
    # x1 is 0 at the edge of a picture; arctan2 gives the limit there
    return np.arctan2(x2 * x3 - 1 / (x2 * x4), x1)
