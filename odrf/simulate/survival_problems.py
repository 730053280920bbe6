"""Survival problems whose truth is known: hazards along oblique directions, crossing, competing.

Predictors are uniform on (-1, 1)^p.  θ is the direction with equal weights for the first q
predictors and length 1, q being the number of relevant ones.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.errors import InputError
from odrf.public import public
from odrf.simulate.arguments import checked_below, checked_count, checked_range
from odrf.simulate.survival_laws import LogNormalLaw, WeibullLaw
from odrf.simulate.survival_problem import SurvivalProblem

__all__ = [
    "accelerated_failure",
    "competing_risks",
    "crossing_hazards",
    "hazard_interaction",
    "hazard_jump",
    "proportional_hazards",
]

# the hazard of every row rises as the square root of time
SHAPE = 1.5
# beyond these, times are no longer numbers that a computer has
MOST_STRENGTH = 10.0
MOST_SHAPE_STRENGTH = 2.0
MOST_SPREAD = 10.0
ORDER = "all predictors"


@public
def proportional_hazards(
    p: int = 10, relevant: int = 5, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Proportional hazards along one direction: H(t | x) = t^(3/2) exp(β θᵀx).

    Cox's model holds.  Oblique splits along θ suffice; axis-parallel splits have to approximate
    them by a staircase.

    Parameters
    ----------
    p : int, default 10
        Number of predictors.
    relevant : int, default 5
        Number q of relevant predictors.
    strength : float, default 2.0
        Log hazard ratio β of a step of length 1 along θ, from -10 to 10.  The standard
        deviation of θᵀx is √(1/3), so that of the default log hazard is 1.15.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.proportional_hazards(p=2, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [0.0], "x2": [0.0]}), [0, 1, 4]).round(4)
    array([[1.000e+00, 3.679e-01, 3.000e-04]])
    """
    p, relevant = _numbers(p, relevant, 1)
    rates = partial(_along, relevant=relevant, strength=_strength(strength))
    return _problem("proportional hazards", p, relevant, rates, _steady, censored)


@public
def crossing_hazards(
    p: int = 10, relevant: int = 5, strength: float = 1.0, censored: float = 0.3
) -> SurvivalProblem:
    """Hazards that cross: H(t | x) = t^a with the shape a = exp(β θᵀx).

    All survival curves meet at t = 1, where S = exp(-1).  Rows of a large a have few events
    before and many after, rows of a small one the reverse, so that log-rank tests have little
    power against them.

    Parameters
    ----------
    p : int, default 10
        Number of predictors.
    relevant : int, default 5
        Number q of relevant predictors.
    strength : float, default 1.0
        Change β of log a by a step of length 1 along θ, from -2 to 2.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.crossing_hazards(p=1, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [-0.9, 0.9]}), [0.5, 1, 2]).round(2)
    array([[0.47, 0.37, 0.27],
           [0.83, 0.37, 0.  ]])
    """
    p, relevant = _numbers(p, relevant, 1)
    strength = _strength(strength, MOST_SHAPE_STRENGTH)
    shape = partial(_of_direction, relevant=relevant, strength=strength)
    return _problem("crossing hazards", p, relevant, _even, shape, censored)


@public
def hazard_interaction(
    p: int = 10, strength: float = 4.0, censored: float = 0.3
) -> SurvivalProblem:
    """Two predictors that matter together: H(t | x) = t^(3/2) exp(β x1 x2).

    Neither of the two has a main effect on the log hazard: Cox's model without a product sees
    nothing.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, at least 2.
    strength : float, default 4.0
        Log hazard ratio β, from -10 to 10, between the corner x1 = x2 = 1 and the middle; the
        standard deviation of x1 x2 is 1/3.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.hazard_interaction(p=2)
    >>> problem.survival(pd.DataFrame({"x1": [0.5, 0.5], "x2": [0.5, -0.5]}), [1]).round(2)
    array([[0.07],
           [0.69]])
    """
    p = checked_count("p", p, 2)
    rates = partial(_product, strength=_strength(strength))
    return _problem("hazard interaction", p, 2, rates, _steady, censored)


@public
def hazard_jump(
    p: int = 10, relevant: int = 2, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Two groups on the sides of an oblique plane: H(t | x) = t^(3/2) exp(β 1(x1 + … + xq > 0)).

    One oblique split finds the groups.

    Parameters
    ----------
    p : int, default 10
        Number of predictors.
    relevant : int, default 2
        Number q of relevant predictors.
    strength : float, default 2.0
        Log hazard ratio β of the groups, from -10 to 10.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.hazard_jump(p=2)
    >>> problem.restricted_mean(pd.DataFrame({"x1": [0.3, 0.3], "x2": [-0.2, -0.4]}), 2).round(2)
    array([0.24, 0.88])
    """
    p, relevant = _numbers(p, relevant, 1)
    rates = partial(_beyond_plane, relevant=relevant, strength=_strength(strength))
    return _problem("hazard jump", p, relevant, rates, _steady, censored)


@public
def competing_risks(
    p: int = 10, relevant: int = 4, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Two causes whose hazards rise along directions at right angles.

    The cumulative hazard of cause k is t^(3/2) exp(β θ_kᵀx) / 2, where θ1 = θ, and θ2 is θ with
    the sign of every second weight turned.  P(T ≤ t, cause k | x) is the share of λ_k in λ1 + λ2
    times 1 - S(t | x).

    Parameters
    ----------
    p : int, default 10
        Number of predictors, at least 2.
    relevant : int, default 4
        Number q of relevant predictors, an even one.
    strength : float, default 2.0
        Log hazard ratio β of a step of length 1 along the direction of the cause, from -10
        to 10.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem
        With the causes ``"1"`` and ``"2"``.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.competing_risks(p=2, relevant=2)
    >>> data = pd.DataFrame({"x1": [0.5, 0.5], "x2": [0.5, -0.5]})
    >>> problem.cumulative_incidence(data, [1], cause="1").round(2)
    array([[0.74],
           [0.18]])
    """
    p, relevant = _numbers(p, relevant, 2)
    if relevant % 2:
        raise InputError(
            f"relevant={relevant!r}: use an even number, for directions at right angles"
        )
    rates = partial(_of_causes, relevant=relevant, strength=_strength(strength))
    return _problem("competing risks", p, relevant, rates, _steady, censored, ("1", "2"))


@public
def accelerated_failure(
    p: int = 10, relevant: int = 5, spread: float = 0.5, censored: float = 0.3
) -> SurvivalProblem:
    """Accelerated failure times: log T = sin(π θᵀx) + σ · normal.

    Hazards are not proportional: they rise and fall, and their ratios change with time.  Nor does
    the predictors' effect have the form that Cox's model supposes, a linear one.

    Parameters
    ----------
    p : int, default 10
        Number of predictors.
    relevant : int, default 5
        Number q of relevant predictors.
    spread : float, default 0.5
        Standard deviation σ of log T, above 0 and at most 10.
    censored : float, default 0.3
        Expected share of censored rows, from 0 to below 1.

    Returns
    -------
    SurvivalProblem

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.accelerated_failure(p=1, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [-0.5, 0.5]}), [1]).round(3)
    array([[0.023],
           [0.977]])
    """
    p, relevant = _numbers(p, relevant, 1)
    if not is_number(spread) or not 0 < float(spread) <= MOST_SPREAD:
        raise InputError(f"spread={spread!r}: use a number above 0 and at most {MOST_SPREAD:.4g}")
    law = LogNormalLaw(partial(_wave, relevant=relevant), float(spread))
    censored = checked_below("censored", censored, 1)
    draw = partial(_square, p=p)
    return SurvivalProblem("accelerated failure", p, relevant, None, censored, draw, law)


def _problem(
    name: str,
    p: int,
    relevant: int,
    rates: Any,
    shape: Any,
    censored: float,
    causes: tuple[str, ...] | None = None,
) -> SurvivalProblem:
    censored = checked_below("censored", censored, 1)
    law = WeibullLaw(rates, shape)
    return SurvivalProblem(name, p, relevant, causes, censored, partial(_square, p=p), law)


def _numbers(p: int, relevant: int, least: int) -> tuple[int, int]:
    """Return the numbers of predictors and of relevant ones, both of at least `least`."""
    p = checked_count("p", p, least)
    relevant = checked_range("relevant", relevant, least, p, ORDER)
    return p, relevant


def _strength(strength: float, most: float = MOST_STRENGTH) -> float:
    if not is_number(strength) or not abs(float(strength)) <= most:
        raise InputError(f"strength={strength!r}: use a number from -{most:.4g} to {most:.4g}")
    return float(strength)


def _square(rng: np.random.Generator, n: int, p: int) -> NDArray[np.float64]:
    return rng.uniform(-1.0, 1.0, (n, p))


def _projected(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return X[:, :relevant].sum(axis=1) / math.sqrt(relevant)


def _of_direction(X: NDArray[np.float64], relevant: int, strength: float) -> NDArray[np.float64]:
    return np.exp(strength * _projected(X, relevant))


def _along(X: NDArray[np.float64], relevant: int, strength: float) -> NDArray[np.float64]:
    return _of_direction(X, relevant, strength)[:, np.newaxis]


def _product(X: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    return np.exp(strength * X[:, :1] * X[:, 1:2])


def _beyond_plane(X: NDArray[np.float64], relevant: int, strength: float) -> NDArray[np.float64]:
    beyond = X[:, :relevant].sum(axis=1, keepdims=True) > 0
    return np.exp(strength * beyond)


def _of_causes(X: NDArray[np.float64], relevant: int, strength: float) -> NDArray[np.float64]:
    turned = X[:, :relevant] * np.where(np.arange(relevant) % 2, -1.0, 1.0)
    along = [_projected(Z, relevant) for Z in (X, turned)]
    return np.exp(strength * np.column_stack(along)) / 2


def _wave(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return np.sin(np.pi * _projected(X, relevant))


def _even(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ones((len(X), 1))


def _steady(X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.full(len(X), SHAPE)
