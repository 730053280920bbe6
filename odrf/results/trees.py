"""What results of trees and forests share: panels, pixels, single rows, leaving out data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import exports, fits, plots, reports
from odrf.checks import MOST, checked_jobs, checked_whole, is_word, require_default
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit, Fit
from odrf.fits.predicting import RowPredictor, row_predictor
from odrf.options.tree import ResolvedOptions
from odrf.public import public, public_method, respelled
from odrf.results.base import FittedResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.reports.consistency import ConsistencyReport
    from odrf.reports.importance import PixelImportance, ProjectionImportance


# ------------------------------------------------------------------------------------------------
# Single rows, predicted quickly; and rows predicted in other languages.
# ------------------------------------------------------------------------------------------------


class RowPredicting(FittedResults):
    """Base class of results that can predict single rows quickly, and in other languages."""

    def row_predictor(self, type: str = "response") -> RowPredictor:
        """Return a function that predicts one row at a time, in microseconds.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns for a row, as in `predict`.

        Returns
        -------
        RowPredictor
            A function of the raw values in the order of its `predictors`, or of a mapping from
            their names to values.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if the formula has terms that
            are not columns of the data, such as ``log(a)``; if the fit has no training rows.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> fit = odrf.odrf("progression ~ bmi + bp + sex", data, n_trees=20, seed=1)
        >>> progression = fit.row_predictor()
        >>> progression.predictors
        ('bmi', 'bp', 'sex')
        >>> bool(progression(data.loc[0]) == fit.predict(data)[0])
        True
        """
        return row_predictor(self.fit, type)

    def to_python(self, type: str = "response", *, name: str = "predict") -> str:
        """Return the source of a function in Python that predicts a row and needs no package.

        Its predictions are those of `predict`, bit by bit: sums are rounded to 32 bits, as the
        engine rounds them.  It takes much longer.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns, as `row_predictor` does: a number, a label, or a dictionary
            of the classes and their probabilities.
        name : str, default "predict"
            The name of the function.

        Returns
        -------
        str
            Source text of the function and what it needs.  The function takes a mapping from the
            names of the columns to the values of a row.  None, NaN and pandas' missing values are
            empty cells.  Labels that no training row has count as `predict` counts them.  Where
            ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses them, it returns None
            for a class and NaN for a number.

        Raises
        ------
        InputError
            If `type` is unknown, or needs classes in a regression; if `name` is no name; if a
            term of the formula, or a column such as a date, is unknown to other languages.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("wine")
        >>> tree = odrf.odt("cultivar ~ .", data, seed=1)
        >>> there = {}
        >>> exec(tree.to_python(), there)
        >>> bool(there["predict"](data.loc[0]) == tree.predict(data)[0])
        True
        """
        return exports.export.exported_python(self.fit, type, name)

    def to_c(self, type: str = "response", *, name: str = "predict") -> str:
        """Return the source of a function in C that predicts a row and needs no library.

        Its predictions are those of `predict`, bit by bit, with any compiler of C99 that follows
        the standard for floats: products and sums are stored in variables of 32 bits, so that they
        are never fused.  Do not compile it with ``-ffast-math``.

        Parameters
        ----------
        type : {"response", "class", "prob"}, default "response"
            What the function returns: the mean response, a double; the number of the class, an int,
            in the array ``predict_classes`` of the text; or it writes the probabilities of the
            classes to a second argument.
        name : str, default "predict"
            The name of the function, with which those of its row and its classes begin.

        Returns
        -------
        str
            Source text.  The function takes a pointer to a ``struct predict_row`` with a member
            for each column, in their order in the data: a double, NAN if the cell is empty; or a
            text in UTF-8, NULL if it is empty.  A character of a name that C does not allow is
            "_" there.  Where ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses
            them, the class is -1, and numbers are NAN.

        Raises
        ------
        InputError
            As by `to_python`; if C cannot hold a level or a class, such as whole numbers from 2**53
            on, of which a double does not tell one from the next, or levels of several types.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ bmi + bp", odrf.load_data("diabetes"), seed=1)
        >>> text = tree.to_c(name="progression")
        >>> "double progression(const struct progression_row *row) {" in text
        True
        """
        return exports.export.exported_c(self.fit, type, name)

    def to_onnx(self) -> Any:
        """Return a model of ONNX, which many programs can run; it needs ``odrf[onnx]``.

        Its predictions are those of `predict`, bit by bit, where the program adds numbers as the
        model says; onnxruntime does.

        Returns
        -------
        onnx.ModelProto
            To be written with ``onnx.save(model, path)``.  It has an input of shape (n, 1) for each
            column that the formula uses: of doubles, in which NaN is an empty cell, or of text, in
            which "" is one; True and False are 1 and 0.  For a regression it returns
            ``prediction`` (n, 1), for classes ``label`` (n,) and ``probabilities`` (n, K), numbers
            as doubles.  Where ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses
            them, numbers are NaN and labels of text ""; labels that are numbers, or True and False,
            are doubles then.

        Raises
        ------
        InputError
            If onnx is not installed; if a term of the formula, or a column such as a date, is
            unknown to ONNX; if ONNX cannot hold a name, a level or a class, such as an empty text.

        Examples
        --------
        >>> import odrf
        >>> forest = odrf.odrf("cultivar ~ .", odrf.load_data("wine"), n_trees=5, seed=1)
        >>> model = forest.to_onnx()
        >>> [output.name for output in model.graph.output]
        ['label', 'probabilities']
        """
        return exports.export.exported_onnx(self.fit)


# ------------------------------------------------------------------------------------------------
# How often the splits of a fit use each pixel.
# ------------------------------------------------------------------------------------------------


class PixelResults(FittedResults):
    """Base class of the results of trees whose splits may be on pixels."""

    fit: Fit | BoostedFit

    def pixel_importance(
        self, shape: tuple[int, int] | None = None, channels: int | None = None
    ) -> PixelImportance:
        """Return how often splits use each pixel (Perry 2020, section 3.2).

        Parameters
        ----------
        shape : (int, int), optional
            Height and width of the images; (1, T) for series of length T.  By default those of the
            fit's patches or, failing that, of its data: see `odrf.Patch`.
        channels : int, optional
            Channels of the images, with the same default.

        Returns
        -------
        PixelImportance
            With ``table``, ``images``, ``summary()`` and ``plot_image()``.

        Raises
        ------
        InputError
            If the shape is not known, or does not match the number of predictors.
        """
        return reports.importance.PixelImportance(self.fit, shape, channels)


# ------------------------------------------------------------------------------------------------
# Results that can forget their training rows.
# ------------------------------------------------------------------------------------------------

Forgotten = TypeVar("Forgotten", bound="ResultsWithoutData")


@public
class ResultsWithoutData:
    """Base class of results that can be kept without the training rows."""

    fit: Any

    def without_data(self: Forgotten) -> Forgotten:
        """Return a result that does not keep the training rows.

        As after ``save(data=False)``, it predicts new rows and shows its trees.  What is computed
        from training rows raises `InputError`: predictions of them, errors, importances but those
        of impurity, intervals, summaries, pruning by folds or rows out of bag, `update`, and more
        trees.

        Returns
        -------
        result
            Of the same class.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, seed=1).without_data()
        >>> tree.predict(data.head(3)).round(0).tolist() == tree.predict(data).round(0).tolist()[:3]
        True
        """
        return type(self)(fits.without_data.without_rows(self.fit))  # type: ignore[call-arg]


# ------------------------------------------------------------------------------------------------
# The results that trees of `odrf.odt` and forests of `odrf.odrf` share.
# ------------------------------------------------------------------------------------------------


class TreeResults(ResultsWithoutData, PixelResults, RowPredicting):
    """Base class of `ODTResults` and `ODRFResults`.

    Parameters
    ----------
    fit : Fit
        The fit, from which the results are computed when they are needed.
    """

    fit: Fit

    def __init__(self, fit: Fit) -> None:
        self.fit = fit

    @property
    def control(self) -> ResolvedOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @respelled(by_name=("resamples", "progress"))
    @public_method
    def projection_importance(
        self, top: int = 10, *, resamples: int = 0, progress: bool = False
    ) -> ProjectionImportance:
        """Return the most important directions (Tomita et al. 2020); θ and -θ count as one.

        Parameters
        ----------
        top : int, default 10
            Most directions to return.
        resamples : int, default 0
            Number of random halves of the rows on which the model is fitted again, to count on how
            many of them each direction is among the `top` again.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ProjectionImportance
            With ``table``, ``coefficients``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If `top` or `resamples` is not a whole number, or too small.
        """
        return reports.importance.ProjectionImportance(
            self.fit,
            checked_whole("top", top, 1),
            checked_whole("resamples", resamples, 0, MOST),
            progress,
        )

    def consistency(self) -> ConsistencyReport:
        """Report which consistency theorem covers this fit, and whether its conditions hold.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", data, n_trees=10, alpha="1/sqrt(n)", seed=1)
        >>> forest.consistency().conclusion[-69:]
        'if Y is sub-Gaussian and what differs does no harm, by [Z] Theorem 5.'
        """
        return reports.consistency.ConsistencyReport(
            self.fit, reports.consistency.properties_of(self.fit), self._noise_residuals()
        )

    def _check_path(self, path: Any, whole: str) -> None:
        """Raise `InputError` unless a path is None or the pruning path of this fit, a `whole`."""
        reports.paths.require_own_path(path, self.fit, whole)

    def _noise_residuals(self) -> NDArray[np.float64]:
        """Return the residuals that describe the noise best; empty for classes."""
        return self._own_resid if self.kind == "regression" else np.empty(0)


# ------------------------------------------------------------------------------------------------
# What is read of all trees of a fit: their splits as a table.
# ------------------------------------------------------------------------------------------------


class SeveralTrees(FittedResults):
    """Base class of the results of several trees of splits."""

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits of all trees, one row for each coefficient.

        Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The
        other columns are those of `ODTResults.splits`.
        """
        return reports.tree.splits_of_trees(self.fit.forest, self.fit.design)


# ------------------------------------------------------------------------------------------------
# Plots of a fit in two panels: its growth, and its importances.
# ------------------------------------------------------------------------------------------------

Drawing = tuple[str, Callable[[Any], object]]

IMPORTANCE = "importance"


class Panelled(FittedResults):
    """Base class of results that plot their growth and their importances."""

    def plot(
        self,
        kind: str | None = None,
        *,
        ax: Axes | NDArray | None = None,
        type: str | None = None,
        progress: bool = False,
    ) -> Axes | NDArray:
        """Plot the growth of the fit, the importances of its predictors, or both.

        Parameters
        ----------
        kind : str, optional
            ``"importance"``: the importances.  ``"error"``, for forests of `odrf.odrf`: the
            out-of-bag error against the number of trees.  ``"loss"``, for boosted trees: the loss
            against the number of rounds.  ``"growth"``, for guided forests: the impurity against
            the number of planes.  ``"parts"``, for `odrf.auto`: errors and weights of the models.
            By default two panels: this one, and the importances.
        ax : Axes or array of two Axes, optional
            Where to draw.  By default on a new figure.
        type : str, optional
            Which importances, as in `importance`; tests are drawn with their intervals.  By default
            those of the summary.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or shows no importances and a `type` of them is given; if `ax` has
            another number of axes.
        """
        if kind is not None and not is_word(kind, IMPORTANCE):
            require_default("type", type, None, f'kind="{IMPORTANCE}"')
        if ax is None and is_word(kind, IMPORTANCE):
            # a figure of its own is as high as its rows need
            return self._plot_importance(None, progress, type)
        name, draw = self._drawing()
        drawings: dict[str, Callable[[Any], object]] = {
            name: draw,
            IMPORTANCE: partial(self._plot_importance, progress=progress, type=type),
        }
        return plots.draw_panels(drawings, kind, ax)

    @abstractmethod
    def _drawing(self) -> Drawing:
        """Return the name of the plot of the growth, and the function that draws it on axes."""


# ------------------------------------------------------------------------------------------------
# Results of forests that can be enlarged and combined.
# ------------------------------------------------------------------------------------------------

Same = TypeVar("Same", bound="Extendable")


class Extendable(FittedResults):
    """Base class of the results of forests that can be enlarged and combined."""

    def grow(self: Same, k: int, *, n_jobs: int | None = None, progress: bool = False) -> Same:
        """Return the forest with `k` more trees, bit for bit as if all had been grown at once.

        The result equals that of the same call with `n_trees` larger by `k` and the same seed.

        Parameters
        ----------
        k : int
            Number of trees to add.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults or GRAFResults
            A new result; this one does not change.

        Raises
        ------
        InputError
            If `k` is not a whole number of at least 1; if the forest was pruned by `prune` (grow
            its ``parent`` and prune that); if it comes from `combine` or `update`.

        Notes
        -----
        Whether a forest of `odrf.odrf` is a blend is decided when it is first grown.  By default a
        forest of 50 trees is not a blend, and `grow` does not make it one.  To enlarge it to a
        blend, start with ``blend=True``.

        The number of pilot trees of a blend depends on `n_trees` for tables of more than 500 rows.
        If the larger forest has more of them, the kinds of trees are weighted again.  Their shares
        may then change, and some trees may leave the forest; otherwise all trees stay.

        A forest that was pruned by its option `alpha` is pruned again by the same rule;
        ``alpha="oob"`` chooses the α anew for the larger forest.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> small = odrf.odrf("progression ~ .", data, n_trees=10, seed=1)
        >>> large = small.grow(10)
        >>> large.call
        "odrf('progression ~ .', data, n_trees=10, seed=1).grow(10)"
        >>> once = odrf.odrf("progression ~ .", data, n_trees=20, seed=1)
        >>> large.oob_error == once.oob_error
        True
        """
        threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        return self._with_more(checked_whole("k", k, 1, MOST), threads, progress)

    def combine(self: Same, other: Same) -> Same:
        """Return a forest of the trees of both forests, which predicts the mean of all of them.

        So parts of a forest can be grown on other computers, or later, each with its own seed.

        Parameters
        ----------
        other : ODRFResults or GRAFResults
            A forest of the same function, with the same response, predictors, training rows and
            options, except `n_trees`, `seed` and `n_jobs`.

        Returns
        -------
        ODRFResults or GRAFResults
            A new result: first the trees of this forest, then those of `other`.  Its ``seed``, and
            the labels of its rows, are those of this forest.

        Raises
        ------
        InputError
            If the forests differ in anything else; the message names the first difference and why
            it matters.  If they share trees, as forests of one seed do, or if one of them was
            pruned by `prune`.

        Notes
        -----
        Out-of-bag results are those of all trees, each used on the rows that it did not draw.
        `combine` is associative.  The weights and pilot errors in a blend's ``kinds`` are means of
        those of the two forests, weighted by their numbers of trees.  Forests that were pruned by
        their option `alpha` are combined as they were before, and pruned again by the same rule.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> one, other = (odrf.odrf("progression ~ .", data, n_trees=10, seed=s) for s in (1, 2))
        >>> both = one.combine(other)
        >>> both.forest.n_trees
        20
        >>> mean = (one.predict(data) + other.predict(data)) / 2
        >>> bool(abs(both.predict(data) - mean).max() < 1e-9)
        True
        """
        if type(other) is not type(self):
            raise InputError(
                f"other={type(other).__name__}: combine() needs two forests of one function, "
                f"and this is {type(self).__name__}"
            )
        return self._with_trees_of(other)

    @abstractmethod
    def _with_more(self: Same, k: int, n_jobs: int, progress: bool) -> Same: ...

    @abstractmethod
    def _with_trees_of(self: Same, other: Same) -> Same: ...
