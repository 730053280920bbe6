"""`SurvivalProblem`: censored times to events, and their truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from odrf.checks import Seed, checked_amount, checked_seed, checked_whole
from odrf.errors import InputError, allowed
from odrf.public import public, respelled
from odrf.simulate.problem import Draw, column_names, predictor_matrix
from odrf.simulate.survival_laws import SurvivalLaw

__all__ = ["SurvivalProblem"]

CENSORED = "censored"
MOST_ROWS = 10**9
# The rate of censoring is found on rows of a fixed seed; the standard error of a share is < 0.001.
RATE_ROWS = 2**18
RATE_SEED = 0


@public
@dataclass(frozen=True, eq=False, repr=False)
class SurvivalProblem:
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

    @property
    def predictors(self) -> list[str]:
        """The names of the predictors, x1, …, xp."""
        return column_names(self.p)

    @respelled(by_name=("seed",))
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
        n = checked_whole("n", n, 1, MOST_ROWS)
        rng = np.random.default_rng(checked_seed(seed))
        X = self.draw_predictors(rng, n)
        data = pd.DataFrame(X, columns=self.predictors)
        time = self.law.draw(rng, X)
        lost = self._lost(rng, n)
        cause = self._cause(rng, X)
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

    def _lost(self, rng: np.random.Generator, n: int) -> NDArray[np.float64]:
        """Return the times of censoring; they are drawn in any case, for the same other draws."""
        reached = rng.standard_exponential(n)
        return reached / self.censoring_rate if self.censored else np.full(n, np.inf)

    def _cause(self, rng: np.random.Generator, X: NDArray[np.float64]) -> NDArray[np.int64]:
        # the sum leaves out the last cause, so rounding cannot give a code beyond it
        passed = np.cumsum(self.law.shares(X)[:, :-1], axis=1) <= rng.random((len(X), 1))
        return passed.sum(axis=1)

    def _number(self, cause: Any) -> int:
        if self.causes is None:
            raise InputError(f"cause={cause!r}: {self.name} has one cause; leave cause= out")
        if cause not in self.causes:
            raise allowed("cause", cause, self.causes)
        return self.causes.index(cause)

    def _matrix(self, data: pd.DataFrame) -> NDArray[np.float64]:
        return predictor_matrix(data, self.p, self.name)


def _checked_times(times: Any) -> NDArray[np.float64]:
    """Return the times as an array (R,); raise `InputError` if they are no times."""
    try:
        found = np.asarray(times, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("times holds no numbers: use a list of numbers") from error
    if found.ndim != 1:
        raise InputError(f"times has {found.ndim} dimensions: use a list of numbers")
    if not np.isfinite(found).all() or (found < 0).any():
        raise InputError("times holds values that are no times: use finite numbers of at least 0")
    return found
