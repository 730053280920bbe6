"""`Problem`: sampling, truth, Bayes error and picture of a simulated problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import MOST, Seed, checked_seed, checked_whole, is_number
from odrf.design.variables import set_grid
from odrf.engine.running import one_thread
from odrf.errors import InputError, no_frame
from odrf.public import public, public_method, respelled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


RESPONSE = "y"
# The standard error of a mean of this many numbers between 0 and 1 is below 0.001.
ERROR_ROWS = 2**18
CHUNK = 2**14
PICTURE_SEED = 0
MOST_ROWS = 10**9
PICTURE_ROWS = 400
PICTURE_SAMPLE = 2000

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]
Truth = Callable[[NDArray[np.float64]], NDArray[np.float64]]
Ends = float | tuple[float, ...]


@dataclass(frozen=True)
class View:
    """How a problem is drawn: ranges of predictors, values of the `rest`, and those `shown`."""

    low: Ends
    high: Ends
    rest: Ends
    shown: tuple[int, int] = (0, 1)


class Simulated:
    """What simulated problems of all kinds have: named predictors, and draws of them."""

    name: str
    p: int
    draw_predictors: Draw

    @property
    def predictors(self) -> list[str]:
        """The names of the predictors, x1, …, xp."""
        return [f"x{j}" for j in range(1, self.p + 1)]

    def _drawn(
        self, n: int, seed: Seed
    ) -> tuple[np.random.Generator, NDArray[np.float64], pd.DataFrame]:
        """Return the predictors of n new rows, (n, p), also as a table, and the generator."""
        n = checked_whole("n", n, 1, MOST_ROWS)
        rng = np.random.default_rng(checked_seed(seed))
        X = self.draw_predictors(rng, n)
        return rng, X, pd.DataFrame(X, columns=self.predictors)

    def _matrix(self, data: pd.DataFrame) -> NDArray[np.float64]:
        """Return the predictors as an array (n, p); raise `InputError` if they are not there."""
        if not isinstance(data, pd.DataFrame):
            raise no_frame("data", data)
        for name in self.predictors:
            if name not in data.columns:
                raise InputError(
                    f"data has no column {name!r}: {self.name} needs the columns x1 to "
                    f"x{self.p}, as sample() returns them"
                )
            if not isinstance(data[name], pd.Series):
                raise InputError(
                    f"data has more than one column named {name!r}: rename or drop the others"
                )
            if not pd.api.types.is_numeric_dtype(data[name]):
                raise InputError(f"column {name!r} holds {data[name].dtype}: use numbers")
            if data[name].isna().any():
                raise InputError(
                    f"column {name!r} has missing values: fill them in or drop these rows"
                )
        return data[self.predictors].to_numpy(dtype=np.float64)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Problem(Simulated):
    """A simulated problem: draws samples and gives their truth.

    Problems are made by the functions of `odrf.simulate`.  The noise is part of the problem, not
    of a sample: the class probabilities and the Bayes error depend on it.

    Attributes
    ----------
    name : str
    p : int
        Number of predictors x1, …, xp.
    relevant : int
        Number of relevant predictors, which are the first ones; for images and series p.
    classes : (K,) tuple of str, or None
        None for a regression.
    noise : float
        For a regression the standard deviation of the normal noise.  For classes the probability
        that a label is replaced by one of the others, all equally likely.
    draw_predictors : callable
        Takes a generator and n, and returns the predictors of n rows, (n, p) float64.
    noiseless_truth : callable
        Takes predictors (n, p) and returns the truth without noise: m(x), (n,), or the class
        probabilities, (n, K).
    noiseless_error : float or None
        The Bayes error of a classification without noise, if there is a formula.
    view : View or None
        How the problem is drawn; None for images and series.
    shape : (int, int), or None
        Height and width, if the predictors are the pixels of an image, row by row, or the points
        of a series, which has height 1.
    wrap : bool
        Whether the last pixel is a neighbour of the first.

    Examples
    --------
    >>> from odrf import simulate
    >>> problem = simulate.friedman1()
    >>> problem
    <Problem friedman1: 10 predictors, 5 relevant; regression>
    >>> data = problem.sample(100, seed=1)
    >>> data.shape
    (100, 11)
    >>> problem.truth(data).shape
    (100,)
    >>> problem.bayes_error
    1.0
    """

    name: str
    p: int
    relevant: int
    classes: tuple[str, ...] | None
    noise: float
    draw_predictors: Draw
    noiseless_truth: Truth
    noiseless_error: float | None = None
    view: View | None = None
    shape: tuple[int, int] | None = None
    wrap: bool = False

    def __repr__(self) -> str:
        kind = "regression" if self.classes is None else f"{len(self.classes)} classes"
        return f"<Problem {self.name}: {self.p} predictors, {self.relevant} relevant; {kind}>"

    @property
    def kind(self) -> str:
        """Kind of the response: "regression" or "classification"."""
        return "regression" if self.classes is None else "classification"

    @respelled(by_name=("seed",))
    @public_method
    @one_thread()
    def sample(self, n: int, *, seed: Seed = None) -> pd.DataFrame:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            Number of rows.
        seed : int, SeedSequence or Generator, optional
            The same seed gives the same rows.

        Returns
        -------
        DataFrame
            Columns x1, …, xp, float64, and y.  For a regression y is float64; for classes it is
            categorical, with all classes as text categories, also those without rows.  If the
            predictors are pixels or a series, ``attrs["shape"]`` is the problem's `shape`.

        Raises
        ------
        InputError
            If n is no whole number of at least 1, or the seed is invalid.

        Examples
        --------
        >>> from odrf import simulate
        >>> simulate.jump(p=2).sample(2, seed=1).round(2)
             x1   x2     y
        0  0.02  0.9  1.23
        1 -0.71  0.9  1.11
        """
        rng, X, data = self._drawn(n, seed)
        if self.shape is not None:
            set_grid(data, 1, *self.shape)
        truth = self._noisy(self.noiseless_truth(X))
        if self.classes is None:
            data[RESPONSE] = truth + self.noise * rng.standard_normal(len(X))
        else:
            classes = pd.CategoricalDtype(list(self.classes))
            codes = drawn_codes(rng, truth)
            data[RESPONSE] = pd.Categorical.from_codes(codes, dtype=classes)
        return data

    @one_thread()
    def truth(self, data: pd.DataFrame) -> NDArray[np.float64]:
        """Return the regression function, or the class probabilities, at the rows of `data`.

        Parameters
        ----------
        data : DataFrame
            With the columns x1, …, xp; others are ignored.

        Returns
        -------
        (n,) float64
            For a regression: m(x) = E(y | x).
        (n, K) float64
            For classes: P(class | x) in the order of `classes`, including the noise.  NaN where
            the problem defines no class, such as outside the disc of `rings`.

        Raises
        ------
        InputError
            If a predictor has no column or two, is not numeric, or has missing values.

        Examples
        --------
        >>> import pandas as pd
        >>> from odrf import simulate
        >>> problem = simulate.orthant(p=2, noise=0.3)
        >>> problem.truth(pd.DataFrame({"x1": [0.5], "x2": [-0.5]})).round(3)
        array([[0.1, 0.7, 0.1, 0.1]])
        """
        return self._noisy(self.noiseless_truth(self._matrix(data)))

    @cached_property
    def bayes_error(self) -> float:
        """The smallest possible misclassification rate, or mean squared error.

        For a regression it is the variance of the noise.  For classes it is exact, except for
        `random_rbf`, where it is the mean of 1 - max P(class | x) over 262,144 rows of a fixed
        seed, with a standard error below 0.001.
        """
        if self.classes is None:
            return self.noise**2
        error = self.noiseless_error
        if error is None:
            error = self._estimated_noiseless_error()
        K = len(self.classes)
        return self.noise + error * (1 - self.noise * K / (K - 1))

    @respelled(by_name=("ax",))
    @public_method
    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the truth against two predictors, or for each class examples of images or series.

        If there are more than two predictors, the others are fixed at the values in the title.  If
        there are two, the rows of a sample are drawn as dots.
        """
        if self.shape is not None:
            return self._plot_examples(self.shape, ax)
        view = self.view or View(0.0, 1.0, 0.5)
        low, high, rest = (
            np.broadcast_to(values, self.p) for values in (view.low, view.high, view.rest)
        )
        axes = view.shown
        box = [(float(low[axis]), float(high[axis])) for axis in axes]

        def on_plane(first: NDArray, second: NDArray) -> NDArray[np.float64]:
            X = np.tile(rest, (len(first), 1)).astype(np.float64)
            X[:, axes[0]], X[:, axes[1]] = first, second
            return self._noisy(self.noiseless_truth(X))

        names = [self.predictors[axis] for axis in axes]
        title = self.name + _fixed_values(self.p, axes, rest)
        dots = self.sample(PICTURE_ROWS, seed=PICTURE_SEED) if self.p == len(axes) else None
        if self.classes is None:
            return plots.problems.plot_surface(on_plane, box, names, title, dots, ax)
        return plots.problems.plot_regions(on_plane, self.classes, box, names, title, dots, ax)

    def _plot_examples(self, shape: tuple[int, int], ax: Axes | None) -> Axes:
        data = self.sample(PICTURE_SAMPLE, seed=PICTURE_SEED)
        pixels = data[self.predictors].to_numpy()
        of_class = {name: pixels[data[RESPONSE] == name] for name in self.classes or ()}
        if shape[0] > 1:
            return plots.problems.plot_images(of_class, shape, self.name, ax)
        return (plots.problems.plot_rings if self.wrap else plots.problems.plot_curves)(
            of_class, self.name, ax
        )

    def _noisy(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.classes is None or self.noise == 0:
            return truth
        return truth * (1 - self.noise) + (1 - truth) * self.noise / (len(self.classes) - 1)

    def _estimated_noiseless_error(self) -> float:
        rng = np.random.default_rng(PICTURE_SEED)
        errors = [
            1 - self.noiseless_truth(self.draw_predictors(rng, CHUNK)).max(axis=1)
            for _ in range(ERROR_ROWS // CHUNK)
        ]
        return float(np.mean(errors))


def uniform_rows(p: int, low: Ends, high: Ends) -> Draw:
    """Return what draws n rows of p independent predictors, uniform between `low` and `high`."""
    return partial(_uniform, p=p, low=low, high=high)


def _uniform(
    rng: np.random.Generator, n: int, p: int, low: Ends, high: Ends
) -> NDArray[np.float64]:
    return rng.uniform(low, high, (n, p))


def one_hot(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return indicators (n, K) of class codes (n,): probability 1 for the class of each row."""
    return (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)


def drawn_codes(rng: np.random.Generator, shares: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return a code 0 … K - 1 for each row, drawn by its probabilities (n, K)."""
    # the sum leaves out the last one, so rounding cannot give a code beyond it
    passed = np.cumsum(shares[:, :-1], axis=1) <= rng.random((len(shares), 1))
    return passed.sum(axis=1)


def _fixed_values(p: int, shown: tuple[int, int], rest: NDArray) -> str:
    """Return the values of the predictors that are not on an axis, for the title."""
    others = [j for j in range(p) if j not in shown]
    if not others:
        return ""
    values = np.unique(np.round(rest[others], 6))
    if len(values) > 1:
        return ", the others in the middle of their ranges"
    names = [f"x{j + 1}" for j in others]
    listing = " = ".join(names) if len(names) < 3 else f"{names[0]} = … = {names[-1]}"
    return f", {listing} = {values[0]:.3g}".replace("-", "−")


def checked_count(argument: str, value: Any, least: int) -> int:
    """Return `value`; raise `InputError` unless it is whole, and from `least` to a million."""
    return checked_whole(argument, value, least, MOST)


def checked_range(argument: str, value: Any, least: int, most: int, what: str) -> int:
    """Return the whole number `value`; raise `InputError` if it is not from `least` to `most`.

    `what` explains the upper limit in the message.
    """
    whole = checked_count(argument, value, least)
    if whole > most:
        raise InputError(f"{argument}={value!r}: use a whole number of at most {most}, {what}")
    return whole


def checked_relevant(p: Any, relevant: Any, least: int = 1, least_p: int = 2) -> tuple[int, int]:
    """Return the numbers of predictors and of relevant ones; raise `InputError` if too small."""
    p = checked_count("p", p, least_p)
    return p, checked_range("relevant", relevant, least, p, "all predictors")


def checked_below(argument: str, value: Any, below: float) -> float:
    """Return the number `value`; raise `InputError` if it is not from 0 to below `below`."""
    if not is_number(value) or not 0 <= float(value) < below:
        raise InputError(f"{argument}={value!r}: use a number from 0 to below {below:.4g}")
    return float(value)


def layout_generator(layout: Any) -> np.random.Generator:
    """Return the generator for the random parameters of a problem, from its seed `layout`."""
    try:
        return np.random.default_rng(checked_seed(layout))
    except InputError as error:
        raise InputError(str(error).replace("seed", "layout", 1)) from None
