"""A problem of which the truth is known: what is common to all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_seed, checked_whole
from odrf.design.grid import set_grid
from odrf.errors import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RESPONSE", "Problem", "View", "certain", "column_names"]

RESPONSE = "y"
# The standard error of a mean of so many numbers between 0 and 1 is below 0.001.
ERROR_ROWS = 2**18
CHUNK = 2**14
PICTURE_SEED = 0
PICTURE_ROWS = 400
PICTURE_SAMPLE = 2000

Rows = Callable[[np.random.Generator, int], NDArray[np.float64]]
Truth = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class View:
    """Where a problem is looked at in two dimensions.

    Attributes
    ----------
    low, high : float, or (p,) tuple of float
        The ends of the predictors' ranges in the picture.
    rest : float, or (p,) tuple of float
        Where the predictors stand that are not shown.
    shown : (int, int)
        Those on the two axes, from 0.
    """

    low: float | tuple[float, ...]
    high: float | tuple[float, ...]
    rest: float | tuple[float, ...]
    shown: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """How rows come about, and what is true of them.

    Problems are made by the functions of `odrf.simulate`.  The noise belongs to the problem, not
    to a sample: with another noise the probabilities of the classes and the least error would be
    others.

    Attributes
    ----------
    name : str
    p : int
        How many predictors there are: x1, …, xp.
    relevant : int
        The first so many of them have a part in the truth.
    classes : (K,) tuple of str, or None
        None for a regression.
    noise : float
        Standard deviation of the normal noise of a regression; for classes the chance that a
        label is exchanged for another, each of the others being equally likely.
    rows : callable
        From a generator and n to the predictors, (n, p) float64.
    known : callable
        From predictors (n, p) to the truth without noise: m(x), (n,); or the probabilities of the
        classes, (n, K).
    least : float or None
        The Bayes error of a classification without noise, where there is a formula.
    view : View or None
        How it is drawn; None for images.
    shape : (int, int), or None
        Height and width, where the predictors are the pixels of an image, row by row, or the
        points of a series of height 1.
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
    rows: Rows
    known: Truth
    least: float | None = None
    view: View | None = None
    shape: tuple[int, int] | None = None
    wrap: bool = False

    def __repr__(self) -> str:
        kind = "regression" if self.classes is None else f"{len(self.classes)} classes"
        return f"<Problem {self.name}: {self.p} predictors, {self.relevant} relevant; {kind}>"

    @property
    def kind(self) -> str:
        """What is predicted: "regression" or "classification"."""
        return "regression" if self.classes is None else "classification"

    @property
    def predictors(self) -> list[str]:
        """The names of the predictors, x1, …, xp."""
        return column_names(self.p)

    def sample(self, n: int, seed: Any = None) -> pd.DataFrame:
        """Draw independent rows.

        Parameters
        ----------
        n : int
            How many.
        seed : int, SeedSequence or Generator, optional
            The same seed gives the same rows.

        Returns
        -------
        DataFrame
            Columns x1, …, xp, float64, and y: float64, or categories that are text and among
            which are all classes, whether or not there are rows of them.  Where the predictors
            are pixels, ``attrs["shape"]`` holds the problem's `shape`.

        Raises
        ------
        InputError
            If n is no whole number of at least 1, or the seed is none.

        Examples
        --------
        >>> from odrf import simulate
        >>> simulate.jump(p=2).sample(2, seed=1).round(2)
             x1   x2     y
        0  0.02  0.9  1.23
        1 -0.71  0.9  1.11
        """
        n = checked_whole("n", n, 1)
        rng = np.random.default_rng(checked_seed(seed))
        X = self.rows(rng, n)
        data = pd.DataFrame(X, columns=self.predictors)
        if self.shape is not None:
            set_grid(data, 1, *self.shape)
        truth = self._noisy(self.known(X))
        if self.classes is None:
            data[RESPONSE] = truth + self.noise * rng.standard_normal(n)
        else:
            # the last class takes what is left: rounding cannot lead beyond it
            passed = np.cumsum(truth[:, :-1], axis=1) <= rng.random((n, 1))
            codes = passed.sum(axis=1)
            data[RESPONSE] = pd.Categorical.from_codes(
                codes, dtype=pd.CategoricalDtype(list(self.classes))
            )
        return data

    def truth(self, data: pd.DataFrame) -> NDArray[np.float64]:
        """Return what a predictor that knows everything but the noise would say.

        Parameters
        ----------
        data : DataFrame
            With the columns x1, …, xp; others are passed over.

        Returns
        -------
        (n,) float64
            m(x) = E(y | x), of a regression.
        (n, K) float64
            P(class | x), in the order of `classes`, noise reckoned in.  NaN in rows of which the
            problem's definition says nothing because they cannot come.

        Raises
        ------
        InputError
            If a predictor is missing, no number, or has missing values.

        Examples
        --------
        >>> from odrf import simulate
        >>> problem = simulate.orthant(p=2, noise=0.3)
        >>> problem.truth(pd.DataFrame({"x1": [0.5], "x2": [-0.5]})).round(3)
        array([[0.1, 0.7, 0.1, 0.1]])
        """
        return self._noisy(self.known(self._matrix(data)))

    @cached_property
    def bayes_error(self) -> float:
        """The least error that is possible: of classes wrongly told, or squared.

        It is exact where there is a formula, as for all problems but `random_rbf`: there it is
        the mean of 1 - max P(class | x) over 262,144 rows of a fixed seed, with a standard error
        below 0.001.  Of a regression it is the variance of the noise.
        """
        if self.classes is None:
            return self.noise**2
        least = self._estimated_least() if self.least is None else self.least
        K = len(self.classes)
        return self.noise + least * (1 - self.noise * K / (K - 1))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the truth on two of the relevant predictors, or images of each class.

        Where there are more than two predictors, the others stand still at the place which the
        title tells; where there are two, rows of a sample are drawn as dots.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default in a new figure.

        Returns
        -------
        Axes
        """
        if self.shape is not None:
            return self._plot_examples(self.shape, ax)
        view = self.view or View(0.0, 1.0, 0.5)
        low, high, rest = (np.broadcast_to(at, self.p) for at in (view.low, view.high, view.rest))
        axes = view.shown
        box = [(float(low[axis]), float(high[axis])) for axis in axes]

        def on_plane(first: NDArray, second: NDArray) -> NDArray[np.float64]:
            X = np.tile(rest, (len(first), 1)).astype(np.float64)
            X[:, axes[0]], X[:, axes[1]] = first, second
            return self._noisy(self.known(X))

        names = [self.predictors[axis] for axis in axes]
        title = self.name + _standing(self.p, axes, rest)
        dots = self.sample(PICTURE_ROWS, PICTURE_SEED) if self.p == len(axes) else None
        if self.classes is None:
            return plots.plot_surface(on_plane, box, names, title, dots, ax)
        return plots.plot_regions(on_plane, self.classes, box, names, title, dots, ax)

    def _plot_examples(self, shape: tuple[int, int], ax: Axes | None) -> Axes:
        data = self.sample(PICTURE_SAMPLE, PICTURE_SEED)
        pixels = data[self.predictors].to_numpy()
        of_class = {name: pixels[data[RESPONSE] == name] for name in self.classes or ()}
        if shape[0] > 1:
            return plots.plot_images(of_class, shape, self.name, ax)
        return (plots.plot_rings if self.wrap else plots.plot_curves)(of_class, self.name, ax)

    def _noisy(self, truth: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.classes is None or self.noise == 0:
            return truth
        return truth * (1 - self.noise) + (1 - truth) * self.noise / (len(self.classes) - 1)

    def _estimated_least(self) -> float:
        rng = np.random.default_rng(PICTURE_SEED)
        errors = [
            1 - self.known(self.rows(rng, CHUNK)).max(axis=1) for _ in range(ERROR_ROWS // CHUNK)
        ]
        return float(np.mean(errors))

    def _matrix(self, data: pd.DataFrame) -> NDArray[np.float64]:
        if not isinstance(data, pd.DataFrame):
            raise InputError(f"data must be a pandas DataFrame, not {type(data).__name__}")
        for name in self.predictors:
            if name not in data.columns:
                raise InputError(
                    f"data has no column {name!r}: {self.name} needs x1 to x{self.p}, as sample() "
                    "gives them"
                )
            if not pd.api.types.is_numeric_dtype(data[name]):
                raise InputError(f"column {name!r} holds {data[name].dtype}: use numbers")
            if data[name].isna().any():
                raise InputError(f"column {name!r} has missing values: fill in or leave them out")
        return data[self.predictors].to_numpy(dtype=np.float64)


def certain(codes: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return probabilities (n, K) of one for the classes that the codes tell."""
    return (codes[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)


def column_names(p: int) -> list[str]:
    """Return the names of p predictors."""
    return [f"x{j}" for j in range(1, p + 1)]


def _standing(p: int, shown: tuple[int, int], rest: NDArray) -> str:
    """Say where the predictors stand that are not shown."""
    others = [j for j in range(p) if j not in shown]
    if not others:
        return ""
    places = np.unique(np.round(rest[others], 6))
    if len(places) > 1:
        return ", the others in the middle of their ranges"
    names = [f"x{j + 1}" for j in others]
    listing = " = ".join(names) if len(names) < 3 else f"{names[0]} = … = {names[-1]}"
    return f", {listing} = {places[0]:.3g}".replace("-", "−")
