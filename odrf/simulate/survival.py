"""Survival problems whose truth is known: laws, censored times, problems.

Predictors are uniform on (-1, 1)^p.  θ is the direction with equal weights for the first q
predictors and length 1, q being the number of relevant ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma, gammainc, hyp1f1, ndtr

from odrf.checks import Seed, checked_amount, is_number
from odrf.errors import InputError, allowed
from odrf.public import public, public_method, respelled
from odrf.simulate.problem import (
    Draw,
    Simulated,
    checked_below,
    checked_count,
    checked_relevant,
    drawn_codes,
    uniform_rows,
)

# Laws of a survival time given predictors: its survival curve, restricted mean and draws.
#
# Arrays in, arrays out: predictors X (n, p) and times (R,) of at least 0, all float64.

# The gamma function of a larger number than 1 + this is no number that a computer has.
MOST_INVERSE = 170.0

OfRows = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class WeibullLaw:
    """Cumulative hazards λ_k(x) t^a(x) of the causes k, all of the same shape a.

    As hazards of causes keep their ratio in time, the cause of an event does not depend on its
    time, and P(T ≤ t, cause k | x) = λ_k / Σλ · (1 - S(t | x)).  `rates` takes X, and returns
    λ_k(x), (n, K); `shape` returns a(x), (n,).
    """

    rates: OfRows
    shape: OfRows

    def survival(self, X: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(-λ tᵃ), (n, R), λ being the sum over causes."""
        total = self.rates(X).sum(axis=1)
        powers = times[np.newaxis, :] ** self.shape(X)[:, np.newaxis]
        return np.exp(-total[:, np.newaxis] * powers)

    def restricted_mean(self, X: NDArray[np.float64], until: float) -> NDArray[np.float64]:
        """Return ∫ exp(-λ tᵃ) dt from 0 to `until`, (n,), an incomplete gamma function."""
        total, shape = self.rates(X).sum(axis=1), self.shape(X)
        scale, reached = total ** (-1 / shape), total * until**shape
        with np.errstate(invalid="ignore"):
            mean = scale * gamma(1 + 1 / shape) * gammainc(1 / shape, reached)
        flat = 1 / shape > MOST_INVERSE
        # the same integral by Kummer's function, in which nothing overflows
        mean[flat] = until * np.exp(-reached[flat]) * hyp1f1(1, 1 + 1 / shape[flat], reached[flat])
        return mean

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return λ_k / Σλ, (n, K)."""
        rates = self.rates(X)
        return rates / rates.sum(axis=1, keepdims=True)

    def draw(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return times at which the cumulative hazard reaches an exponential draw, (n,)."""
        reached = rng.standard_exponential(len(X))
        return (reached / self.rates(X).sum(axis=1)) ** (1 / self.shape(X))


@dataclass(frozen=True)
class LogNormalLaw:
    """One cause, log T normal with mean m(x) and the same standard deviation for all.

    `centre` takes X, and returns m(x), (n,); `spread` is the standard deviation, above 0.
    """

    centre: OfRows
    spread: float

    def survival(self, X: NDArray[np.float64], times: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Φ((m - log t) / σ), (n, R)."""
        return ndtr((self.centre(X)[:, np.newaxis] - _log(times)) / self.spread)

    def restricted_mean(self, X: NDArray[np.float64], until: float) -> NDArray[np.float64]:
        """Return E min(T, until), (n,): the mean of times below `until`, and `until` beyond."""
        centre, spread = self.centre(X), self.spread
        late = (_log(np.array(until)) - centre) / spread
        mean = np.exp(centre + spread**2 / 2)
        return mean * ndtr(late - spread) + until * ndtr(-late)

    def shares(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ones, (n, 1)."""
        return np.ones((len(X), 1))

    def draw(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return exp(m + σ · normal), (n,)."""
        return np.exp(self.centre(X) + self.spread * rng.standard_normal(len(X)))


SurvivalLaw = WeibullLaw | LogNormalLaw
"""The laws of times that a simulated problem may have."""


def _log(times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logarithms, -inf of 0."""
    with np.errstate(divide="ignore"):
        return np.log(times)


CENSORED = "censored"
# The rate of censoring is found on rows of a fixed seed; the standard error of a share is < 0.001.
RATE_ROWS = 2**18
RATE_SEED = 0


@public
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalProblem(Simulated):
    """A simulated survival problem: draws censored times and gives the truth without censoring.

    Survival problems are made by functions of `odrf.simulate`.  A row has a time T of its event,
    and a time C at which it is lost; C is exponential and independent of everything else.  A sample
    shows min(T, C), and whether it is T.

    Attributes
    ----------
    name : str
    p : int
        Number of predictors x1, …, xp.
    relevant : int
        Number of relevant predictors; they are the first ones.
    causes : (K,) tuple of str, or None
        The causes of events if there are several that compete, else None.
    censored : float
        Expected share of censored rows, from 0 to below 1.
    draw_predictors : callable
        Takes a generator and n, and returns the predictors of n rows, (n, p) float64.
    law : object
        The law of T given predictors; its methods take arrays of predictors.

    Examples
    --------
    >>> from odrf import simulate
    >>> problem = simulate.hazard_jump(p=3)
    >>> problem
    <SurvivalProblem hazard jump: 3 predictors, 2 relevant; 30% censored>
    >>> data = problem.sample(4, seed=2)
    >>> data.round(2)
         x1    x2    x3  time  event
    0 -0.48 -0.40  0.63  0.95   True
    1 -0.82  0.20  0.46  1.05   True
    2 -0.62 -0.89 -0.45  0.10  False
    3  0.31  0.12 -0.70  0.21  False
    >>> problem.survival(data, [0.5, 1]).shape
    (4, 2)
    """

    name: str
    p: int
    relevant: int
    causes: tuple[str, ...] | None
    censored: float
    draw_predictors: Draw
    law: SurvivalLaw

    def __repr__(self) -> str:
        several = "" if self.causes is None else f"{len(self.causes)} causes, "
        return (
            f"<SurvivalProblem {self.name}: {self.p} predictors, {self.relevant} relevant; "
            f"{several}{100 * self.censored:.3g}% censored>"
        )

    @respelled(by_name=("seed",))
    @public_method
    def sample(self, n: int, *, seed: Seed = None) -> pd.DataFrame:
        """Draw independent rows, for the formula ``"Surv(time, event) ~ ."``.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int, SeedSequence or Generator, optional
            The same seed gives the same rows.

        Returns
        -------
        DataFrame
            Columns x1, …, xp and ``time``, float64, and ``event``.  An event is True or False; with
            several causes it is categorical, and its categories are ``"censored"`` and the causes.

        Raises
        ------
        InputError
            If n is no whole number of at least 1, or the seed is invalid.

        Examples
        --------
        >>> from odrf import simulate
        >>> data = simulate.competing_risks().sample(500, seed=1)
        >>> data["event"].value_counts(sort=False).to_dict()
        {'censored': 138, '1': 180, '2': 182}
        """
        rng, X, data = self._drawn(n, seed)
        time = self.law.draw(rng, X)
        # drawn in any case, so that the other draws are the same without censoring
        lost = rng.standard_exponential(len(X))
        lost = lost / self.censoring_rate if self.censored else np.full(len(X), np.inf)
        cause = drawn_codes(rng, self.law.shares(X))
        data["time"] = np.minimum(time, lost)
        data["event"] = time <= lost
        if self.causes is not None:
            kinds = pd.CategoricalDtype([CENSORED, *self.causes])
            codes = np.where(data["event"], 1 + cause, 0)
            data["event"] = pd.Categorical.from_codes(codes, dtype=kinds)
        return data

    def survival(self, data: pd.DataFrame, times: ArrayLike) -> NDArray[np.float64]:
        """Return P(T > t | x), the probability of no event up to each time.

        Parameters
        ----------
        data : DataFrame
            With the columns x1, …, xp; others are ignored.
        times : array of shape (R,)
            Times t of at least 0.

        Returns
        -------
        (n, R) float64

        Raises
        ------
        InputError
            If a predictor has no column or two, is not numeric, or has missing values; if the times
            are no finite numbers of at least 0.

        Examples
        --------
        >>> from odrf import simulate
        >>> problem = simulate.crossing_hazards()
        >>> problem.survival(problem.sample(2, seed=1), [0, 1]).round(3)
        array([[1.   , 0.368],
               [1.   , 0.368]])
        """
        return self.law.survival(self._matrix(data), _checked_times(times))

    def restricted_mean(self, data: pd.DataFrame, until: float) -> NDArray[np.float64]:
        """Return E(min(T, until) | x), the mean time without an event before a bound.

        Parameters
        ----------
        data : DataFrame
            With the columns x1, …, xp; others are ignored.
        until : float
            The bound τ, of at least 0.

        Returns
        -------
        (n,) float64
            The area under the survival curve from 0 to τ.

        Raises
        ------
        InputError
            If a predictor has no column or two, is not numeric, or has missing values; if the bound
            is no finite number of at least 0.

        Examples
        --------
        >>> from odrf import simulate
        >>> problem = simulate.proportional_hazards(strength=0)
        >>> problem.restricted_mean(problem.sample(2, seed=1), 1).round(3)
        array([0.7, 0.7])
        """
        until = checked_amount("until", until)
        return self.law.restricted_mean(self._matrix(data), until)

    def cumulative_incidence(
        self, data: pd.DataFrame, times: ArrayLike, cause: str | None = None
    ) -> NDArray[np.float64]:
        """Return P(T ≤ t, cause | x), the probability of an event of a cause up to each time.

        Parameters
        ----------
        data : DataFrame
            With the columns x1, …, xp; others are ignored.
        times : array of shape (R,)
            Times t of at least 0.
        cause : str, optional
            One of `causes`; by default events of all causes are counted.

        Returns
        -------
        (n, R) float64
            With all causes it is 1 less the survival curve; over causes the incidences add up to
            this.

        Raises
        ------
        InputError
            As by `survival`, and if there is no such cause.

        Examples
        --------
        >>> from odrf import simulate
        >>> problem = simulate.competing_risks()
        >>> data = problem.sample(1, seed=1)
        >>> both = [problem.cumulative_incidence(data, [1], cause) for cause in problem.causes]
        >>> bool(abs(sum(both) + problem.survival(data, [1]) - 1) < 1e-12)
        True
        """
        X = self._matrix(data)
        incidence = 1 - self.law.survival(X, _checked_times(times))
        if cause is None:
            return incidence
        share = self.law.shares(X)[:, self._number(cause)]
        return share[:, np.newaxis] * incidence

    @cached_property
    def censoring_rate(self) -> float:
        """The rate ρ of censoring, P(C > t) = exp(-ρt).

        It is such that, over 262,144 times of a fixed seed, the expected share of censored rows is
        `censored`; so the share that a sample is expected to have is within 0.003 of it.
        """
        if self.censored == 0:
            return 0.0
        rng = np.random.default_rng(RATE_SEED)
        time = self.law.draw(rng, self.draw_predictors(rng, RATE_ROWS))

        def surplus(log_rate: float) -> float:
            return float(-np.expm1(-np.exp(log_rate) * time).mean() - self.censored)

        # for a rate ρ the share is at most ρ E(T), and at least 1 - exp(-ρ min T)
        low = self.censored / time.mean() / 2
        high = -2 * np.log1p(-self.censored) / time.min()
        return float(np.exp(scipy.optimize.brentq(surplus, np.log(low), np.log(high))))

    def _number(self, cause: Any) -> int:
        if self.causes is None:
            raise InputError(f"cause={cause!r}: {self.name} has one cause; leave cause= out")
        if cause not in self.causes:
            raise allowed("cause", cause, self.causes)
        return self.causes.index(cause)


def _checked_times(times: Any) -> NDArray[np.float64]:
    """Return the times as an array (R,); raise `InputError` if they are no times."""
    try:
        checked = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("times holds no numbers: use a list of numbers") from error
    if checked.ndim != 1:
        raise InputError(f"times has {checked.ndim} dimensions: use a list of numbers")
    if not np.isfinite(checked).all() or (checked < 0).any():
        raise InputError("times holds values that are no times: use finite numbers of at least 0")
    return checked


# the hazard of every row rises as the square root of time
SHAPE = 1.5
# beyond these, times are no longer numbers that a computer has
MOST_STRENGTH = 10.0
MOST_SHAPE_STRENGTH = 2.0
MOST_SPREAD = 10.0


@public
def proportional_hazards(
    p: int = 10, relevant: int = 5, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Proportional hazards along one direction: H(t | x) = t^(3/2) exp(β θᵀx).

    Cox's model holds.  Oblique splits along θ suffice; axis-parallel splits have to approximate
    them by a staircase.

    Parameters
    ----------
    {p}
    relevant : int, default 5
        Number q of relevant predictors, the first ones.
    strength : float, default 2.0
        Log hazard ratio β of a step of length 1 along θ, from -10 to 10.  The standard
        deviation of θᵀx is √(1/3), so that of the default log hazard is 1.15.
    {censored}

    {about survival_problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.proportional_hazards(p=2, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [0.0], "x2": [0.0]}), [0, 1, 4]).round(4)
    array([[1.000e+00, 3.679e-01, 3.000e-04]])
    """
    p, relevant = checked_relevant(p, relevant, least_p=1)
    rates = partial(_along, relevant=relevant, strength=_strength(strength))
    return _problem("proportional hazards", p, relevant, WeibullLaw(rates, _steady), censored)


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
    {p}
    relevant : int, default 5
        Number q of relevant predictors, the first ones.
    strength : float, default 1.0
        Change β of log a by a step of length 1 along θ, from -2 to 2.
    {censored}

    {about survival_problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.crossing_hazards(p=1, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [-0.9, 0.9]}), [0.5, 1, 2]).round(2)
    array([[0.47, 0.37, 0.27],
           [0.83, 0.37, 0.  ]])
    """
    p, relevant = checked_relevant(p, relevant, least_p=1)
    strength = _strength(strength, MOST_SHAPE_STRENGTH)
    shape = partial(_of_direction, relevant=relevant, strength=strength)
    return _problem("crossing hazards", p, relevant, WeibullLaw(_even, shape), censored)


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
    {censored}

    {about survival_problem}

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
    return _problem("hazard interaction", p, 2, WeibullLaw(rates, _steady), censored)


@public
def hazard_jump(
    p: int = 10, relevant: int = 2, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Two groups on the sides of an oblique plane: H(t | x) = t^(3/2) exp(β 1(x1 + … + xq > 0)).

    One oblique split finds the groups.

    Parameters
    ----------
    {p}
    relevant : int, default 2
        Number q of relevant predictors, the first ones.
    strength : float, default 2.0
        Log hazard ratio β of the groups, from -10 to 10.
    {censored}

    {about survival_problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.hazard_jump(p=2)
    >>> problem.restricted_mean(pd.DataFrame({"x1": [0.3, 0.3], "x2": [-0.2, -0.4]}), 2).round(2)
    array([0.24, 0.88])
    """
    p, relevant = checked_relevant(p, relevant, least_p=1)
    rates = partial(_beyond_plane, relevant=relevant, strength=_strength(strength))
    return _problem("hazard jump", p, relevant, WeibullLaw(rates, _steady), censored)


@public
def competing_risks(
    p: int = 10, relevant: int = 4, strength: float = 2.0, censored: float = 0.3
) -> SurvivalProblem:
    """Two causes, "1" and "2", whose hazards rise along directions at right angles.

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
    {censored}

    {about survival_problem}

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
    p, relevant = checked_relevant(p, relevant, least=2)
    if relevant % 2:
        raise InputError(
            f"relevant={relevant!r}: use an even number, for directions at right angles"
        )
    rates = partial(_of_causes, relevant=relevant, strength=_strength(strength))
    law = WeibullLaw(rates, _steady)
    return _problem("competing risks", p, relevant, law, censored, ("1", "2"))


@public
def accelerated_failure(
    p: int = 10, relevant: int = 5, spread: float = 0.5, censored: float = 0.3
) -> SurvivalProblem:
    """Accelerated failure times: log T = sin(π θᵀx) + σ · normal.

    Hazards are not proportional: they rise and fall, and their ratios change with time.  Nor does
    the predictors' effect have the form that Cox's model supposes, a linear one.

    Parameters
    ----------
    {p}
    relevant : int, default 5
        Number q of relevant predictors, the first ones.
    spread : float, default 0.5
        Standard deviation σ of log T, above 0 and at most 10.
    {censored}

    {about survival_problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> problem = simulate.accelerated_failure(p=1, relevant=1)
    >>> problem.survival(pd.DataFrame({"x1": [-0.5, 0.5]}), [1]).round(3)
    array([[0.023],
           [0.977]])
    """
    p, relevant = checked_relevant(p, relevant, least_p=1)
    if not is_number(spread) or not 0 < float(spread) <= MOST_SPREAD:
        raise InputError(f"spread={spread!r}: use a number above 0 and at most {MOST_SPREAD:.4g}")
    law = LogNormalLaw(partial(_wave, relevant=relevant), float(spread))
    return _problem("accelerated failure", p, relevant, law, censored)


def _problem(
    name: str,
    p: int,
    relevant: int,
    law: SurvivalLaw,
    censored: float,
    causes: tuple[str, ...] | None = None,
) -> SurvivalProblem:
    censored = checked_below("censored", censored, 1)
    return SurvivalProblem(name, p, relevant, causes, censored, uniform_rows(p, -1.0, 1.0), law)


def _strength(strength: float, most: float = MOST_STRENGTH) -> float:
    if not is_number(strength) or not abs(float(strength)) <= most:
        raise InputError(f"strength={strength!r}: use a number from -{most:.4g} to {most:.4g}")
    return float(strength)


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
