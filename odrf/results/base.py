"""What all results have, and what the chapters read of results for numbers and classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypedDict, TypeVar, overload

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, reports
from odrf.checks import checked_truth
from odrf.design import Design, TrainingData
from odrf.engine.trees.forest import Forest
from odrf.errors import AbsentError, InputError, installing
from odrf.fits.fit import AnyFit, StreamedFit
from odrf.fits.predicting import (
    RowsToPredict,
    as_response,
    mean_values,
    rows_of,
)
from odrf.fits.responses import (
    IN_BAG,
    asked_out_of_bag,
    leaves_rows_out,
    residuals,
    residuals_of,
    training_rows,
    with_rows_apart,
)
from odrf.public import public_method
from odrf.public.chunks import ChunkSource, chunks_to_predict
from odrf.results import absent
from odrf.results.absent import ResultsType, known
from odrf.text.summary import Card, Summary, card_as_html, card_as_text

if TYPE_CHECKING:
    from odrf.reports.data_summary import DataSummary
    from odrf.reports.importance import MeasuredImportance

CONVERTERS: dict[str, Callable[[Any], Any]] = {}
"""What makes objects of layers above of results, by name; `odrf` itself fills it."""

Rows = pd.DataFrame | None
Priors = Mapping[Any, float] | pd.Series | None
Training = Literal["out-of-bag", "in-bag"] | None
Label = Literal["response", "class"]
"""Types of predictions that are a series."""
Shares = Literal["prob", "cumulative", "trees"]
"""Types of predictions that are a data frame."""
Prediction = Label | Shares | Literal["leaf"]


class OfRows(TypedDict, total=False):
    """Options of `predict` that all results for numbers and classes have."""

    priors: Priors
    training: Training
    progress: bool


Same = TypeVar("Same", bound="AnyResults")
Value = TypeVar("Value")
AFit = TypeVar("AFit", covariant=True)


def kept(result: object, name: str, make: Callable[[], Value]) -> Value:
    """Return what `make` returned when it was first called for a result; `name` is its name."""
    made = vars(result)
    if name not in made:
        made[name] = make()
    value: Value = made[name]
    return value


class Of(Protocol[AFit]):
    """Results of a fit of a kind, such as ``Of[Fit]``."""

    @property
    def fit(self) -> AFit:
        """The fit."""


class AnyResults(metaclass=ResultsType):
    """Base class of all results, of whatever response.

    Parameters
    ----------
    fit : AnyFit
        The fit, from which the results are computed when they are needed.
    """

    fit: AnyFit
    _lacks: ClassVar[Mapping[str, str]] = {"surrogate splits": "they are of one tree: use odt()"}
    """What this kind of fits has not, and so its results lack, each with the way out."""

    def __init_subclass__(cls) -> None:
        absent.put_absent(cls)

    def __init__(self, fit: Any) -> None:
        self.fit = fit

    __dir__ = absent.there
    if not TYPE_CHECKING:  # no name that mypy does not know
        __getattr__ = absent.unknown_name
    __repr__ = card_as_text
    _repr_html_ = card_as_html

    @abstractmethod
    def _card(self) -> Card:
        """Return the short description."""

    def _shown_card(self) -> Card:
        """Return the short description; without training rows, of which it tells, a shorter one."""
        if self.rows is not None:
            return self._card()
        why = "read in chunks" if isinstance(self.fit, StreamedFit) else "left out"
        facts = {"Call": self.call, "Training rows": f"{self.nobs}, {why}"}
        return Card(type(self).__name__, facts)

    # Fit
    @property
    def call(self) -> str:
        """The call that made the fit, as text."""
        return self.fit.call

    @property
    def design(self) -> Design:
        """The design: formula, predictors, columns and response."""
        return self.fit.design

    @property
    def seed(self) -> int:
        """The seed of the fit; the same call with this seed gives the same fit."""
        return self.fit.control.seed

    @property
    def forest(self) -> Forest:
        """The trees as flat arrays."""
        return self.fit.forest

    @property
    def formula(self) -> str:
        """The formula as written."""
        return self.fit.design.formula

    @property
    def kind(self) -> str:
        """``"regression"``, ``"classification"`` or ``"survival"``."""
        return self.fit.design.response.kind

    @property
    def rows(self) -> TrainingData | None:
        """The training rows as arrays: such as `X`, `y`, `weights` and `index`.

        None if the fit does not have them: it was made or saved without them (`without_data`,
        ``save(data=False)``), or its rows came in chunks.
        """
        return self.fit.rows

    @property
    def nobs(self) -> int:
        """Number of training rows, without rows dropped for missing values."""
        return self.fit.training.n_rows

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,)."""
        return self.fit.forest.leaves()

    # Predictions
    @abstractmethod
    def predict(self, newdata: Rows = None, *args: Any, **options: Any) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows."""

    @public_method
    def predict_chunks(
        self, source: ChunkSource, type: str | None = None, *, progress: bool = False
    ) -> Iterator[pd.Series | pd.DataFrame]:
        """Predict rows in chunks, one chunk after the other.

        Parameters
        ----------
        {chunks_to_predict, type_of_chunks}
        progress : bool, default False
            Show a progress bar of the rows; how many they are is known of files, data frames and
            lists of them.

        Returns
        -------
        iterator of Series or DataFrame
            The prediction of each chunk, as of `predict`, which is computed, and errors are raised,
            when it is asked for.  Rows of data frames of pandas keep their labels; others are
            numbered from 0 on.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, max_leaves=4, seed=1)
        >>> [len(values) for values in tree.predict_chunks([data[:100], data[100:]])]
        [100, 342]
        """
        chunks = chunks_to_predict(source)
        columns = self.fit.design.schema.columns
        found = fits.chunks.chunks_predicted(
            self._of_chunk(type), columns, chunks, progress=progress
        )
        return (predicted for _, predicted in found)

    @public_method
    def predict_to_parquet(
        self,
        source: ChunkSource,
        path: str | PathLike[str],
        type: str | None = None,
        *,
        keep: Sequence[str] = (),
        progress: bool = False,
    ) -> int:
        """Predict rows in chunks, and write the predictions to a file of Parquet.

        Parameters
        ----------
        {chunks_to_predict}
        path : str or path
            The file, which is written as a whole: if this fails, what was there is unchanged.
        {type_of_chunks}
        keep : sequence of str, default ()
            Columns of the source that are written, too, before the predictions: such as an
            identifier, or the response.  Beside it the column of predictions is ``prediction``.
        progress : bool, default False
            Show a progress bar of the rows; how many they are is known of files, data frames and
            lists of them.

        Returns
        -------
        int
            The number of rows.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`; if pyarrow is not installed, or the file cannot be
            written; if `keep` has a column twice, one that the source lacks, or one that is called
            like a prediction.

        Examples
        --------
        >>> import odrf, pandas as pd, tempfile
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, max_leaves=4, seed=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = f"{folder}/predicted.parquet"
        ...     n = tree.predict_to_parquet([data[:100], data[100:]], path, keep=["progression"])
        ...     print(n, *pd.read_parquet(path))
        442 progression prediction
        """
        chunks = chunks_to_predict(source)
        columns = self.fit.design.schema.columns
        return fits.chunks.predictions_to_parquet(
            self._of_chunk(type), columns, chunks, path, keep, progress
        )

    def _of_chunk(self, type: str | None) -> Callable[[pd.DataFrame], pd.Series | pd.DataFrame]:
        return self.predict if type is None else partial(self.predict, type=type)

    # Plots and summary
    @public_method
    def summary(self, *, detail: bool = False, progress: bool = False) -> Summary:
        """Return a summary: data, options, sizes, errors, importances.

        It prints as text, and converts to HTML and LaTeX.  Of survival times, follow-up is
        estimated by the Kaplan–Meier curve of censoring (Schemper and Smith 1996, A note on
        quantifying follow-up in studies of failure time, Controlled Clinical Trials 17).

        Parameters
        ----------
        detail : bool, default False
            Also show what each predictor was taken as: the table of `data_summary`.
        {progress}

        Returns
        -------
        Summary
        """
        summary = self._summary(progress)
        if not checked_truth("detail", detail):
            return summary
        return reports.data_summary.with_data(summary, self.fit)

    @abstractmethod
    def _summary(self, progress: bool) -> Summary:
        """Return the summary without details."""

    def data_summary(self) -> DataSummary:
        """Return what each predictor was taken as, its values, and how missing values are treated.

        Returns
        -------
        DataSummary
            With ``table``, a row for each predictor, and ``summary()``.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("penguins").dropna()
        >>> fit = odrf.odt("body_mass_g ~ sex + island + year", data, seed=1)
        >>> fit.data_summary().table["taken_as"].to_dict()
        {'sex': 'factor', 'island': 'factor', 'year': 'number'}
        """
        return reports.data_summary.DataSummary(self.fit)

    # Export
    @public_method
    def save(self, path: str | PathLike[str], *, data: bool = True, progress: bool = False) -> None:
        """Save the fit to a file; `odrf.load` reads it.

        A file that exists is replaced as a whole: if saving fails, it is as it was.  The file holds
        arrays and plain text, no code; `odrf.fits.files` describes it.

        Parameters
        ----------
        path : str or path
            The file.
        data : bool, default True
            Whether the file holds the training rows.  Without them the loaded fit predicts new rows
            and shows its trees, and is smaller.  What is computed from training rows raises
            `InputError`: predictions of them, errors, importances but those of impurity, intervals,
            summaries, pruning by held-out rows, `update`, more trees, `row_predictor`, and what
            knows the shares of the classes, such as ``predict(priors=)``.  Even then the file tells
            what predictions need: the formula, the ranges and levels of columns, the values of
            leaves, and all values of a column that 32 bits cannot tell apart, such as an
            identifier.
        {progress}

        Raises
        ------
        InputError
            If the folder does not exist, or the file cannot be written; if the fit has a part of
            another library, such as a column of its type or a projection of your own class.

        Warns
        -----
        UserWarning
            If the formula uses functions of your own, or other code that `odrf.load` does not
            trust.  The file does not hold such functions; the message says how to load it.
        """
        fits.files.saving.save(
            type(self).__name__, self.fit, path, checked_truth("data", data), progress
        )

    def without_data(self: Same) -> Same:
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
        return type(self)(fits.fit.without_rows(self.fit))  # type: ignore[type-var]

    def to_sklearn(self) -> Any:
        """Return the fit as a fitted estimator of scikit-learn; it needs ``odrf[sklearn]``.

        Returns
        -------
        estimator
            One of the classes of `odrf.sklearn`, such as `odrf.sklearn.ODRFClassifier`, whose
            ``results_`` is this result.  It predicts data frames with the columns that the formula
            uses, or arrays of these columns.  Its parameters are the options of the fit, some as
            they were resolved for its data.  The formula and case weights are no parameters:
            ``clone(estimator).fit(X, y)`` uses all columns of X as they are.

        Raises
        ------
        InputError
            If scikit-learn is not installed, or the fit has offsets that are no column of its data.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("wine")
        >>> tree = odrf.odt("cultivar ~ .", data, seed=1).to_sklearn()
        >>> tree
        ODTClassifier(random_state=1)
        >>> bool(tree.score(data.drop(columns="cultivar"), data["cultivar"]) > 0.9)
        True
        """
        try:
            return CONVERTERS["sklearn"](self)
        except ModuleNotFoundError as error:
            raise InputError(
                f"to_sklearn() needs {error.name}: install it with {installing('sklearn')}"
            ) from error


class FittedResults(AnyResults):
    """Base class of the results for numbers and classes: what their chapters read of a fit.

    Parameters
    ----------
    fit : AnyFit
        The fit, from which the results are computed when they are needed.
    """

    _drawn_by: ClassVar[str] = "tree"

    # Fit
    @property
    def classes(self) -> pd.Index | None:
        """The classes, in the order of the probability columns; None for a regression."""
        return self.fit.design.response.classes

    # Predictions
    @overload
    def predict(self, newdata: Rows = ..., type: Label = ...) -> pd.Series: ...
    @overload
    def predict(
        self, newdata: Rows = ..., *, type: Literal["prob", "cumulative"]
    ) -> pd.DataFrame: ...
    @overload
    def predict(
        self, newdata: Rows = ..., type: Literal[Label, "prob", "cumulative"] = ...
    ) -> pd.Series | pd.DataFrame: ...
    @abstractmethod
    def predict(
        self, newdata: Rows = None, type: Any = "response", **options: Any
    ) -> pd.Series | pd.DataFrame:
        """Predict new rows, or the training rows."""

    @known(absent.rows)
    def fittedvalues(self) -> pd.Series:
        """Predictions for the training rows, as by `predict()`: numbers, or classes."""
        fitted = as_response(self.fit, self._trained(), self.fit.data.index)
        return with_rows_apart(self.fit, fitted, self._as_new, leaves_rows_out(self.fit))

    @known(absent.rows)
    def resid(self) -> pd.Series:
        """Residuals of the training rows, from the predictions of `predict()`.

        For a regression, response minus fitted value.  For classes, 1 minus the predicted
        probability of the observed class; missing if only rows of weight 0 have the class.
        """
        resid = pd.Series(self._own_resid, index=self.fit.data.index, name="resid")
        return with_rows_apart(self.fit, resid, self._resid_as_new, leaves_rows_out(self.fit))

    @property
    def _own_resid(self) -> NDArray[np.float64]:
        """Residuals (n,) without those of rows of weight 0."""
        return residuals(self.fit, self._trained())

    def _as_new(self, rows: pd.DataFrame) -> pd.Series:
        return self.predict(rows)

    def _resid_as_new(self, rows: pd.DataFrame) -> pd.Series:
        classes = self.kind == "classification"
        value = np.asarray(self.predict(rows, type="prob" if classes else "response"))
        y = self.fit.design.response.known_numbers(rows)
        resid = residuals_of(y, value.reshape(len(y), -1), classes)
        return pd.Series(resid, index=rows.index, name="resid")

    def _trained(self) -> NDArray[np.float64]:
        """Return mean response or class shares (n, K) as `predict()` gives for training rows."""
        oob = self._out_of_bag_asked(None, None)
        return self._in_bag if oob is None else oob

    @cached_property
    def _in_bag(self) -> NDArray[np.float64]:
        """Mean response or class shares (n, K) that all trees predict for the training rows."""
        return mean_values(self.fit, self.fit.data.X)

    def _out_of_bag_asked(
        self, newdata: pd.DataFrame | None, training: str | None
    ) -> NDArray[np.float64] | None:
        """Return the values (n, K) of training rows that are asked out of bag; else None."""
        asked_out_of_bag(training, newdata, leaves_out=False)
        return None

    def _rows(self, newdata: pd.DataFrame | None, training: str | None, type: str) -> RowsToPredict:
        """Return the rows to predict: new rows, or training rows as `training` says."""
        if type == "leaf" and newdata is None:  # a row has a leaf in every tree
            asked_out_of_bag(training, newdata, leaves_rows_out(self.fit))
            training = IN_BAG
        oob = self._out_of_bag_asked(newdata, training)
        return training_rows(self.fit, oob) if newdata is None else rows_of(self.fit, newdata)

    @property
    def _scored(self) -> NDArray[np.float64]:
        """Predicted values (n, K) of the training rows, of which scores are computed."""
        return self._in_bag

    @property
    def _scored_error(self) -> float:
        return fits.scores.mean_loss(self.fit, self._in_bag)

    @property
    def _oob_value(self) -> NDArray[np.float64]:
        """Values (n, K) of the training rows out of bag, of fits that have such rows."""
        raise AbsentError("every tree uses all rows, so that none are out of bag")

    def _require_scored(self) -> None:
        """Raise `InputError` if there are no values to score."""
        absent.rows(self)

    def _require_out_of_bag(self) -> None:
        """Raise `InputError` if no rows are out of bag."""
        absent.rows(self)

    # Importance
    @abstractmethod
    def importance(self, type: str | None = None, *args: Any, **options: Any) -> pd.DataFrame:
        """Return the importance of each predictor."""

    @abstractmethod
    def _measured_importance(self, progress: bool = False) -> MeasuredImportance:
        """Return the importances that are shown first."""
