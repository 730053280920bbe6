"""Learning curves: error against the number of training rows, and its power law."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar, nnls
from scipy.stats import norm
from scipy.stats import t as student

from odrf import plots
from odrf.api.forests import odrf
from odrf.checks import (
    MOST,
    Seed,
    checked_seed,
    checked_whole,
    is_list,
    is_number,
    is_whole,
)
from odrf.design.folds import last_times, strata_cells
from odrf.design.functions import environment
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric, metric_for
from odrf.evaluation.models import (
    UNNAMED,
    BesideFormula,
    RowSplit,
    Scoring,
    Task,
    arguments_given,
    check_formulas,
    check_predicted,
    each_in_turn,
    means_over_repeats,
    read_models,
    read_task,
    two_seeds,
)
from odrf.public import public
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Range of c: a slower rate cannot be told from a constant, a faster one does not occur.
SLOWEST, FASTEST, STEPS = 0.02, 2.0, 40
CLOSE = 1e-3


class PowerLaw(NamedTuple):
    """error(n) = a + b·n^(-c); a ≥ 0 is the error in the limit of many rows."""

    a: float
    b: float
    c: float

    @property
    def is_at_an_end(self) -> bool:
        """Whether c, if it matters, is the slowest or fastest rate that is tried."""
        return self.b > 0 and not (1 + CLOSE) * SLOWEST < self.c < (1 - CLOSE) * FASTEST

    def error(self, n: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return the error at n rows."""
        return np.asarray(self.a + self.b * np.asarray(n, dtype=float) ** -self.c)


def fit_power_law(n: NDArray[np.float64], error: NDArray[np.float64]) -> PowerLaw:
    """Return the power law with the least sum of squared relative errors.

    `n` (k,) are numbers of rows, `error` (k,) the errors at them.  For a given c the non-negative
    a and b are found by least squares; c is found by a one-dimensional search.  An error of 0 is
    compared with the smallest of the others.  If all are 0, so are a and b, and c is meaningless.
    """
    positive = error > 0
    if not positive.any():
        return PowerLaw(0.0, 0.0, SLOWEST)
    scale = 1.0 / np.where(positive, error, error[positive].min())

    def fit_at(c: float) -> tuple[PowerLaw, float]:
        power = (n / n.max()) ** -c
        columns = np.column_stack([np.ones_like(power), power]) * scale[:, None]
        (a, b), residual_norm = nnls(columns, error * scale)
        return PowerLaw(float(a), float(b * n.max() ** c), c), float(residual_norm)

    rates = np.geomspace(SLOWEST, FASTEST, STEPS)
    best = int(np.argmin([fit_at(c)[1] for c in rates]))
    bounds = rates[max(best - 1, 0)], rates[min(best + 1, STEPS - 1)]
    search = minimize_scalar(lambda c: fit_at(c)[1], bounds=bounds, method="bounded")
    return fit_at(float(search.x))[0]


def bootstrap_power_laws(
    n: NDArray[np.float64], errors: NDArray[np.float64], draws: int, seed: int
) -> list[PowerLaw]:
    """Return power laws of means over repeats drawn with replacement; errors is (repeats, k)."""
    rng = np.random.default_rng(seed)
    repeats = len(errors)
    chosen = rng.integers(0, repeats, (draws, repeats))
    means = np.array([errors[rows].mean(axis=0) for rows in chosen])
    # Few repeats have few different means.
    different, which = np.unique(means, axis=0, return_inverse=True)
    laws = [fit_power_law(n, mean) for mean in different]
    return [laws[k] for k in which.ravel()]


def bootstrap_levels(repeats: int, level: float) -> tuple[float, float]:
    """Return the percentiles between which the draws of a bootstrap of few repeats are an interval.

    The deviations of R drawn repeats are √((R - 1)/R) times as large as they should be, and normal
    where Student's t with R - 1 degrees of freedom is right.  These percentiles make up for both
    where the estimate is a mean (Hesterberg 2015, "expanded percentiles").  There are two or more
    repeats: one tells nothing.

    References
    ----------
    Hesterberg (2015), What teachers should know about the bootstrap: resampling in the
    undergraduate statistics curriculum, The American Statistician 69, 371-386.
    """
    width = np.sqrt(repeats / (repeats - 1)) * student.isf((1 - level) / 2, repeats - 1)
    tail = float(norm.sf(width))
    return tail, 1 - tail


DRAWS, LEVEL = 200, 0.95
EXTRAPOLATION = 10.0
POINTS = 60


@public
@dataclass(eq=False, repr=False)
class LearningCurve(Report):
    """Errors of models against the number of training rows.  Made by `odrf.learning_curve`.

    Attributes
    ----------
    errors : DataFrame
        The error of each model (columns) in each repeat at each n.  Indexed by ``repeat``, from 1,
        and ``n``.
    metric : Metric
    formula : str
    n_test : int
        Number of test rows; if repeats have different numbers, the largest.
    seed : int
    """

    errors: pd.DataFrame
    metric: Metric
    formula: str
    n_test: int
    seed: int

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.errors.columns)

    @property
    def n(self) -> NDArray[np.float64]:
        """Numbers of training rows (k,)."""
        return self.errors.index.get_level_values("n").unique().to_numpy(dtype=float)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Mean error, ``error``, and its standard error over repeats, ``std_error``.

        Indexed by ``model`` and ``n``.  The standard error is NaN if there is one repeat only.
        """
        return means_over_repeats(self.errors, ["model", "n"])

    @cached_property
    def law(self) -> pd.DataFrame:
        """The power law a + b·n^(-c) of each model, with 95 % intervals for a and c.

        Columns ``a``, ``b``, ``c``, ``a_conf_low``, ``a_conf_high``, ``c_conf_low`` and
        ``c_conf_high``.  The intervals are bootstrap intervals over repeats, with percentiles that
        allow for few of them.  With such percentiles an interval for a mean of 5 normal values
        contains the true mean with a probability of about 90 % instead of 95 %, of 10 or more with
        nearly 95 % (``tests/evaluation/test_power_law.py``).  The intervals reflect how the rows
        were divided into training and test rows, not how the table was sampled.  They are NaN if
        there is one repeat only.
        """
        lines = []
        for model in self.models:
            law, resampled = self._laws[model], self._bootstrap_laws[model]
            low_a, high_a = self._interval([drawn.a for drawn in resampled])
            low_c, high_c = self._interval([drawn.c for drawn in resampled])
            lines.append((*law, low_a, high_a, low_c, high_c))
        names = ["a", "b", "c", "a_conf_low", "a_conf_high", "c_conf_low", "c_conf_high"]
        return pd.DataFrame(lines, index=pd.Index(self.models, name="model"), columns=names)

    @cached_property
    def _laws(self) -> dict[str, PowerLaw]:
        return {model: fit_power_law(self.n, self._of(model).mean(axis=0)) for model in self.models}

    @cached_property
    def _bootstrap_laws(self) -> dict[str, list[PowerLaw]]:
        return {
            model: bootstrap_power_laws(self.n, self._of(model), DRAWS, self.seed)
            for model in self.models
        }

    def _interval(self, values: list[float] | NDArray[np.float64]) -> tuple[NDArray, NDArray]:
        """Return the ends of the bootstrap interval of values by draws, along their first axis."""
        if self._repeats == 1:
            unknown = np.nan * np.mean(values, axis=0)
            return unknown, unknown
        levels = bootstrap_levels(self._repeats, LEVEL)
        low, high = np.quantile(np.asarray(values), levels, axis=0)
        return low, high

    @property
    def _repeats(self) -> int:
        return len(self.errors) // len(self.n)

    def _of(self, model: str) -> NDArray[np.float64]:
        """Return the errors (repeats, k) of a model."""
        return self.errors[model].to_numpy().reshape(-1, len(self.n))

    def extrapolate(self, n: float) -> pd.DataFrame:
        """Return the error that the power law gives for each model at n rows.

        Parameters
        ----------
        n : float
            The number of training rows.

        Returns
        -------
        DataFrame
            One row for each model; columns ``error``, and ``conf_low`` and ``conf_high``, the ends
            of a 95 % bootstrap interval over repeats, NaN if there is one repeat only.

        Raises
        ------
        InputError
            If n is not a finite number above 0.
        """
        if not is_number(n) or not 0 < float(n) < math.inf:
            raise InputError(f"n={n!r}: use a number of rows above 0")
        lines = [
            (
                float(self._laws[model].error(n)),
                *self._interval([float(law.error(n)) for law in self._bootstrap_laws[model]]),
            )
            for model in self.models
        ]
        index = pd.Index(self.models, name="model")
        return pd.DataFrame(lines, index=index, columns=["error", "conf_low", "conf_high"])

    @property
    def call(self) -> str:
        """The call that made the curve."""
        return f"learning_curve({self.formula!r}, data, …, seed={self.seed})"

    @property
    def _title(self) -> str:
        return "Learning curve"

    def _sections(self) -> dict[str, pd.DataFrame]:
        many = EXTRAPOLATION * float(self.n.max())
        beyond = self.extrapolate(many).dropna(axis=1, how="all")
        return {
            "Power law: error = a + b·n^(-c)": self.law.dropna(axis=1, how="all"),
            f"At n = {many:.0f}, ten times the rows": beyond,
            "Mean errors": self.table["error"].unstack("n")[[int(n) for n in self.n]],
        }

    def _notes(self) -> tuple[str, ...]:
        notes = ["Intervals are 95 % bootstrap intervals over repeats."]
        if self._repeats == 1:
            notes = ["There are no intervals, because there is one repeat only."]
        ends = [name for name, law in self._laws.items() if law.is_at_an_end]
        if ends:
            notes.append(
                f"c is sought from {SLOWEST} to {FASTEST:g}, and is at an end of this range for "
                f"{', '.join(map(str, ends))}: do not rely on that law for more rows."
            )
        return tuple(notes)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw errors and power laws against n, on logarithmic axes, up to ten times the rows.

        If a mean error is 0, the axis of the errors is linear.  Bars are one standard error to
        either side; bands are 95 % bootstrap intervals.
        """
        n = np.geomspace(self.n.min(), EXTRAPOLATION * self.n.max(), POINTS)
        curves = {}
        for model in self.models:
            low, high = self._interval(
                np.array([law.error(n) for law in self._bootstrap_laws[model]])
            )
            curves[model] = pd.DataFrame(
                {"n": n, "error": self._laws[model].error(n), "conf_low": low, "conf_high": high}
            )
        return plots.evaluation.plot_learning(self.table, curves, self.metric.words, ax)

    def _card(self) -> Card:
        law = self.law.dropna(axis=1, how="all")
        return Card("Learning curve: error = a + b·n^(-c)", self._facts(), law)

    def _facts(self) -> dict[str, str]:
        return {
            "Metric": self.metric.words,
            "Test rows": str(self.n_test),
            "Training rows": f"{self.n.min():.0f} to {self.n.max():.0f}",
            "Repeats": str(self._repeats),
        }


SIZES, FEWEST_ROWS, TEST_SHARE = 8, 20, 0.25
FEWEST_SIZES = 3


@public
def learning_curve(
    formula: str,
    data: pd.DataFrame,
    models: Mapping[str, Any] | None = None,
    *,
    sizes: str | Sequence[int] = "geometric",
    repeats: int = 5,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> LearningCurve:
    """Estimate how the error of models falls with the number of training rows.

    A quarter of the rows is held out.  Models are fitted to nested samples of the other rows and
    evaluated on that quarter.  The power law error(n) = a + b·n^(-c) is fitted to the mean errors.

    Parameters
    ----------
    {formula, data}
    models : mapping of str to model, optional
        {about models}

        By default the forest of `odrf`.
    sizes : "geometric" or sequence of int, default "geometric"
        Numbers of training rows; 3 or more different ones.  By default 8 from 20 to three quarters
        of the table, in geometric progression.
    repeats : int, default 5
        How often the rows are divided anew into training and test rows.
    {metric}
        Only metrics for which smaller is better, and whose values are at least 0, as those of the
        power law.
    {groups}
        Whole groups are held out, about a quarter of the rows.  Training samples take one group
        after the other, the last one in part.
    {order}
        The last quarter of the rows is held out, each time, and training samples are random rows
        before it.
    {strata}
        Test rows and training samples keep the shares of the strata.
    {seed}
    n_jobs : int, optional
        Threads, one training sample each; by default all cores, or as many as ``OMP_NUM_THREADS``
        says.  Models have their own threads beside these.
    {progress}

    Returns
    -------
    LearningCurve
        With ``table``, ``law``, ``extrapolate(n)``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> curve = odrf.learning_curve("progression ~ .", data, {"tree": odrf.odt}, seed=1)
    >>> curve.law.columns.tolist()
    ['a', 'b', 'c', 'a_conf_low', 'a_conf_high', 'c_conf_low', 'c_conf_high']
    """
    env = environment(2)
    named_models = read_models({"odrf": odrf} if models is None else models, fewest=1)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    structure = arguments_given(groups=groups, order=order, strata=strata)
    task = read_task(
        UNNAMED, formula, data, env, BesideFormula(structure, formulas=formulas), with_times=True
    )
    loss = metric_for(metric, task.response.kind, task.n_classes)
    if loss.greater_is_better:
        raise InputError(
            f"metric={metric!r} grows with accuracy: use a metric for which smaller is better, "
            'such as the default, "auto"'
        )
    check_predicted(named_models, loss)
    check_formulas(named_models, [task], env)
    seed = checked_seed(seed)
    drawn = [_draw(task, seed, r) for r in range(checked_whole("repeats", repeats, 1, MOST))]
    n_test = max(len(rows.test) for rows in drawn)
    train_sizes = _train_sizes(sizes, min(len(rows.train) for rows in drawn))
    samples = [
        RowSplit(task, rows.train[:size], rows.test, rows.seed, f"{size} rows")
        for rows in drawn
        for size in train_sizes
    ]
    errors_on = partial(_errors, Scoring(named_models, loss, env))
    lines = each_in_turn(errors_on, samples, n_jobs, "size", progress)
    repeated = range(1, len(drawn) + 1)
    index = pd.MultiIndex.from_product([repeated, train_sizes], names=["repeat", "n"])
    errors = pd.DataFrame(lines, index=index, columns=pd.Index(list(named_models), name="model"))
    return LearningCurve(errors, loss, formula, n_test, seed)


def _train_sizes(sizes: str | Sequence[int], most: int) -> list[int]:
    """Return the numbers of training rows in rising order; raise `InputError` if invalid."""
    if isinstance(sizes, str):
        if sizes != "geometric":
            raise InputError(f'sizes={sizes!r}: use "geometric" or a list of numbers of rows')
        fewest = min(FEWEST_ROWS, most)
        geometric = sorted({round(size) for size in np.geomspace(fewest, most, SIZES).tolist()})
        if len(geometric) < FEWEST_SIZES:
            raise InputError(
                f"{most} training rows are too few for sizes from {FEWEST_ROWS} on: give sizes=, "
                f"a list of {FEWEST_SIZES} or more numbers of rows"
            )
        return geometric
    listed: list[Any] = list(sizes) if is_list(sizes) else []
    whole = all(is_whole(size) for size in listed)
    different = sorted(set(listed)) if whole else []
    if len(different) < FEWEST_SIZES or different[0] < 2 or different[-1] > most:
        raise InputError(
            f"sizes={sizes!r}: use {FEWEST_SIZES} or more whole numbers of rows from 2 to {most}, "
            "the rows that are not held out"
        )
    return [int(size) for size in different]


def _draw(task: Task, seed: int, repeat: int) -> RowSplit:
    """Divide the rows; training rows are in the order in which samples grow.

    Every run of consecutive rows has the shares of classes and strata, and the rows of a group
    follow each other.  If the rows have an order, the last ones test.
    """
    row_seed, model_seed = two_seeds(seed, repeat)
    rows, n = task.rows, len(task.y)
    groups, times = rows.groups, rows.order
    units = np.arange(n) if groups is None else groups
    first = np.unique(units, return_index=True)[1]
    cells = strata_cells(rows)[first]
    place: NDArray[np.float64] = np.random.default_rng(row_seed).random(len(first))
    if cells.any():
        for cell in np.unique(cells):
            of_cell = np.flatnonzero(cells == cell)
            rank = np.argsort(np.argsort(place[of_cell]))
            place[of_cell] = (rank + place[of_cell]) / len(of_cell)
    order = np.argsort(place[units], kind="stable")
    tests = np.arange(n) < max(1, round(TEST_SHARE * n))
    if times is not None:
        tests = last_times(times, TEST_SHARE)[order]
    elif groups is not None:
        tests = np.isin(groups[order], groups[order[tests]])
    return RowSplit(task, order[~tests], order[tests], model_seed, "")


def _errors(scoring: Scoring, rows: RowSplit) -> list[float]:
    """Return each model's error on the test rows; raise `InputError` if one is below 0."""
    errors = scoring.scores(rows)
    for name, error in zip(scoring.named_models, errors, strict=True):
        if error < 0:
            raise InputError(
                f"metric {scoring.metric.name!r} is {error:.3g} for model {name!r} on "
                f"{rows.where}: use a metric of at least 0, as the power law has no values below 0"
            )
    return errors
