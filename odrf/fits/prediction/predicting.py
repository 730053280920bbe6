"""The types of prediction: mean or class, probabilities, leaves, predictions of each tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import checked_choice
from odrf.design import Response
from odrf.engine.factors import Matrix
from odrf.engine.memory import require_memory
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.prediction.empty_cells import reading_empty_cells
from odrf.fits.prediction.labels import class_labels, spread_codes, spread_numbers
from odrf.fits.prediction.prior_correction import checked_priors, with_priors
from odrf.public.progress import progress_bar

__all__ = [
    "PREDICTIONS",
    "RowsToPredict",
    "as_asked",
    "as_prob",
    "as_response",
    "leaf_frame",
    "mean_values",
    "predict_rows",
    "require_classes",
    "rows_of",
]

PREDICTIONS = ("response", "class", "prob", "cumulative", "leaf", "trees")


@dataclass(frozen=True)
class RowsToPredict:
    """Rows to predict.

    Attributes
    ----------
    fit : AnyFit
        The fit that reads them: if empty cells are new, it knows their fills.
    X : (p, m) float32
        Scaled predictors of the rows that can be predicted.
    complete : (n,) bool
        Which of the n rows those are.
    index : Index of length n
    oob : (n, K) float64 or None
        Of training rows that are predicted out of bag, the mean response or the class
        probabilities, NaN for a row that every tree drew.  None: all trees predict each row.
    """

    fit: AnyFit
    X: Matrix
    complete: NDArray[np.bool_]
    index: pd.Index
    oob: NDArray[np.float64] | None = None


def rows_of(fit: AnyFit, newdata: pd.DataFrame) -> RowsToPredict:
    """Return the rows of `newdata`."""
    X, complete = fit.design.matrix(newdata)
    return RowsToPredict(*reading_empty_cells(fit, X), complete, newdata.index)


def predict_rows(
    rows: RowsToPredict, type: str, priors: Any = None, progress: bool = False
) -> pd.Series | pd.DataFrame:
    """Return the predictions for the rows.

    `type`, `priors` and `progress` are those of `odrf.results.fitted.FittedResults.predict`, as are
    the errors.
    """
    fit = rows.fit
    checked_choice("type", type, PREDICTIONS)
    require_classes(fit.design.response, type)
    shares = checked_priors(priors, fit.design.response, type)
    if rows.oob is not None and type != "trees":
        means = rows.oob
    else:
        with progress_bar(total=rows.X.shape[1], unit="row", progress=progress) as bar:
            if type == "leaf":
                leaves = leaf_frame(fit, rows, bar.update)
                return leaves if fit.forest.n_trees > 1 else leaves[0].rename("leaf")
            if type == "trees":
                return _each_tree(fit, rows, bar.update)
            means = mean_values(fit, rows.X, bar.update)
    value = with_priors(fit, means, shares)
    value = spread_numbers(value, rows.complete)
    return as_asked(fit, value, rows.index, type)


def as_asked(
    fit: AnyFit, value: NDArray[np.float64], index: pd.Index, type: str
) -> pd.Series | pd.DataFrame:
    """Return means or class probabilities (n, K) as a prediction of this `type`."""
    if type == "prob":
        return as_prob(fit, value, index)
    if type == "cumulative":
        cumulative = np.minimum(np.cumsum(value, axis=1), 1.0)
        return as_prob(fit, cumulative, index).iloc[:, :-1]
    return as_response(fit, value, index)


def mean_values(
    fit: AnyFit, X: Matrix, advance: Callable[[int], object] = lambda n: None
) -> NDArray[np.float64]:
    """Return the mean response (n, 1) or the class probabilities (n, K) for predictors X (p, n).

    `advance` is told the rows that are done.
    """
    value = predict(fit.forest, X, fit.control.n_jobs, advance)
    if fit.votes and fit.design.response.classes is not None:
        # added one by one, as in other languages: NumPy adds many numbers in another order
        value /= np.cumsum(value, axis=1)[:, -1:]
    return value


def require_classes(response: Response, type: str) -> None:
    """Raise `InputError` if `type` needs classes, or ordered classes, and there are none."""
    if type == "cumulative" and response.classes is not None and not response.ordered:
        raise InputError(
            f'type="cumulative" needs ordered classes, and those of {response.name!r} are not: '
            "make it an ordered categorical, with pandas.CategoricalDtype(…, ordered=True)"
        )
    if type in ("class", "prob", "cumulative") and response.classes is None:
        raise InputError(
            f"type={type!r} needs classes, but {response.name!r} was fitted as a number: "
            'use type="response", or fit with kind="classification"'
        )


def as_response(fit: AnyFit, value: NDArray[np.float64], index: pd.Index) -> pd.Series:
    """Return the mean responses (n, 1), or the classes predicted from probabilities (n, K)."""
    response = fit.design.response
    if response.classes is None:
        return pd.Series(value[:, 0], index=index, name=response.name)
    labels = class_labels(predicted_classes(value, fit.ordered), response)
    return pd.Series(labels, index=index, name=response.name)


def as_prob(fit: AnyFit, value: NDArray[np.float64], index: pd.Index) -> pd.DataFrame:
    """Return class probabilities (n, K) as a data frame with one column per class."""
    return pd.DataFrame(value, index=index, columns=fit.design.response.classes)


def leaf_frame(
    fit: AnyFit, rows: RowsToPredict, advance: Callable[[int], object] = lambda n: None
) -> pd.DataFrame:
    """Return the number, within its tree, of the leaf that each row reaches: a column per tree."""
    leaves = leaf_nodes(fit.forest, rows.X, fit.control.n_jobs, advance)
    leaves -= fit.forest.root[:-1]
    leaves = spread_codes(leaves, rows.complete)
    frame = pd.DataFrame(leaves, index=rows.index, columns=_tree_numbers(fit.forest))
    return frame if rows.complete.all() else frame.astype("Int64").mask(frame < 0)


def _each_tree(fit: AnyFit, rows: RowsToPredict, advance: Callable[[int], object]) -> pd.DataFrame:
    """Return the prediction of each tree; out of bag it is missing where the tree drew the row."""
    n, B = rows.X.shape[1], fit.forest.n_trees
    require_memory(
        24.0 * n * B, f"{n} predictions of each of {B} trees", "use fewer rows at a time"
    )
    leaves = leaf_nodes(fit.forest, rows.X, fit.control.n_jobs, advance)
    columns = _tree_numbers(fit.forest)
    drew = np.zeros(leaves.shape, dtype=bool)
    if rows.oob is not None and isinstance(fit, Fit):
        drew = ~fit.draws.all_unseen().T
    if fit.design.response.classes is None:
        value = np.where(drew, np.nan, fit.forest.value[leaves, 0])
        value = spread_numbers(value, rows.complete)
        return pd.DataFrame(value, index=rows.index, columns=columns)
    codes = np.where(drew, -1, predicted_classes(fit.forest.value, fit.ordered)[leaves])
    codes = spread_codes(codes, rows.complete)
    labels = {tree: class_labels(codes[:, tree], fit.design.response) for tree in columns}
    return pd.DataFrame(labels, index=rows.index, columns=columns)


def _tree_numbers(forest: Forest) -> pd.RangeIndex:
    return pd.RangeIndex(forest.n_trees, name="tree")
