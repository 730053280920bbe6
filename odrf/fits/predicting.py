"""The types of prediction: mean or class, probabilities, leaves, predictions of each tree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_amount, checked_choice, checked_whole, is_number
from odrf.design import Response
from odrf.design.columns import listed
from odrf.design.missing import SURROGATE
from odrf.design.new_rows import RawRow, RowPlan, plan_row
from odrf.engine.factors import Layout, Matrix, layout_of, stored, with_layout
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.memory import require_memory
from odrf.engine.oob import OutOfBag, predict_out_of_bag
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.engine.trees.packing import Packed
from odrf.engine.trees.routing import leaf_nodes, predict, predict_row
from odrf.errors import InputError, nearest, warn_user
from odrf.fits.fit import AnyFit, BoostedFit, Fit
from odrf.fits.missing import (
    FillingRule,
    column_means,
    empty_columns,
    filling_rule,
    reading_empty_cells,
    with_means,
)
from odrf.public.progress import progress_bar
from odrf.statistics.calibration import estimated_priors, shifted

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]


def spread_numbers(values: NDArray, complete: Mask, empty: float = np.nan) -> NDArray:
    """Return an array (n, …) with the rows of `values` (m, …) where `complete`, else `empty`."""
    if complete.all():
        return values
    out = np.full((len(complete), *values.shape[1:]), empty)
    out[complete] = values
    return out


def class_labels(codes: Integers, response: Response) -> pd.Categorical:
    """Return the label of each class code (n,), missing where it is -1, as the response has it."""
    return pd.Categorical.from_codes(response.places[codes], dtype=response.dtype)


# Predictions for populations whose class shares differ from those of the training rows.
PRIOR_PREDICTIONS = ("response", "class", "prob", "cumulative")
# The sum of the shares may differ from 1 by this much.
ROUNDING = 1e-6


def checked_priors(priors: Any, response: Response, type: str) -> Floats | None:
    """Return the class shares (K,) in `priors`; None for None."""
    if priors is None:
        return None
    require_priors(response, "priors=")
    if type not in PRIOR_PREDICTIONS:
        raise InputError(
            f"priors= is for predictions of classes and probabilities, and type={type!r} is "
            'neither: leave priors= out, or use type="prob"'
        )
    mapping = priors.to_dict() if isinstance(priors, pd.Series) else priors
    if not isinstance(mapping, Mapping):
        raise InputError(
            f"priors={priors!r}: use a mapping of every class to its share, or the result of "
            "estimate_priors()"
        )
    return _shares(mapping, response)


def _shares(priors: Mapping[Any, Any], response: Response) -> Floats:
    labels = [] if response.classes is None else response.classes.tolist()
    for label in priors:
        if label not in labels:
            raise InputError(
                f"priors names {label!r}, which is not a class of {response.name!r}; the classes "
                f"are {listed(labels, 10)}{nearest(label, labels)}"
            )
    absent = [label for label in labels if label not in priors]
    if absent:
        raise InputError(f"priors lacks {listed(absent)}: give a share for every class")
    for label in labels:
        if not is_number(priors[label]) or not 0 < float(priors[label]) < np.inf:
            raise InputError(
                f"priors[{label!r}]={priors[label]!r}: use a positive number, for a class that is "
                "hardly there a small one, such as 1e-9"
            )
    shares = np.array([float(priors[label]) for label in labels])
    total = shares.sum()
    if abs(total - 1) > ROUNDING:
        raise InputError(f"priors add up to {total:g}, not to 1: divide each by {total:g}")
    return shares / total


def require_priors(response: Response, what: str) -> None:
    """Raise `InputError` if the response has no classes; the message says `what` needs them."""
    if response.classes is None:
        raise InputError(
            f"{what} needs classes, but {response.name!r} was fitted as a number: fit with "
            'kind="classification" if its values are classes'
        )


def with_priors(fit: AnyFit, value: Floats, priors: Floats | None) -> Floats:
    """Return the probabilities `value` (n, K), corrected to class shares `priors` unless None."""
    return value if priors is None else shifted(value, _training_priors(fit), priors)


def priors_of_rows(fit: AnyFit, shares: Floats, max_steps: Any, tolerance: Any) -> pd.Series:
    """Estimate the class shares in the population of rows with probabilities `shares` (m, K)."""
    max_steps = checked_whole("max_steps", max_steps, 1)
    tolerance = checked_amount("tolerance", tolerance)
    if len(shares) == 0:
        raise InputError(
            "newdata has no complete rows: class shares are estimated from rows without missing "
            "predictors"
        )
    estimate = estimated_priors(shares, _training_priors(fit), max_steps, tolerance)
    if not estimate.settled:
        warn_user(
            f"the class shares still change by more than {tolerance:g} after {max_steps} steps: "
            "use a larger max_steps="
        )
    return pd.Series(estimate.priors, index=fit.design.response.classes, name="prior")


def _training_priors(fit: AnyFit) -> Floats:
    """Return the class shares (K,) that the fit's probabilities are based on."""
    K = len(fit.design.response.classes)  # type: ignore[arg-type]
    if fit.votes:
        return np.full(K, 1.0 / K)  # votes of guided forests count all classes alike
    totals = np.bincount(fit.data.y.astype(np.int64), fit.data.weights, minlength=K)
    return totals / totals.sum()


# The types of prediction: mean or class, probabilities, leaves, predictions of each tree.
PREDICTIONS = ("response", "class", "prob", "cumulative", "leaf", "trees")


@dataclass(frozen=True)
class RowsToPredict:
    """Rows X (p, m) to predict, `complete` (n,); `oob` (n, K) if each by trees that missed it."""

    fit: AnyFit
    X: Matrix
    complete: Mask
    index: pd.Index
    oob: Floats | None = None


def rows_of(fit: AnyFit, newdata: pd.DataFrame) -> RowsToPredict:
    """Return the rows of `newdata`."""
    X, complete = fit.design.matrix(newdata)
    return RowsToPredict(*reading_empty_cells(fit, X), complete, newdata.index)


def predict_rows(
    rows: RowsToPredict, type: str, priors: Any = None, progress: bool = False
) -> pd.Series | pd.DataFrame:
    """Return the predictions for the rows, of a `type` of `PREDICTIONS`."""
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


def as_asked(fit: AnyFit, value: Floats, index: pd.Index, type: str) -> pd.Series | pd.DataFrame:
    """Return means or class probabilities (n, K) as a prediction of this `type`."""
    if type == "prob":
        return as_prob(fit, value, index)
    if type == "cumulative":
        cumulative = np.minimum(np.cumsum(value, axis=1), 1.0)
        return as_prob(fit, cumulative, index).iloc[:, :-1]
    return as_response(fit, value, index)


def mean_values(
    fit: AnyFit, X: Matrix, advance: Callable[[int], object] = lambda n: None
) -> Floats:
    """Return the mean response (n, 1) or the class probabilities (n, K) for predictors X (p, n)."""
    value = predict(fit.forest, X, fit.control.n_jobs, advance)
    if fit.votes and fit.design.response.classes is not None:
        # added one by one, as in other languages: NumPy adds many numbers in another order
        value /= np.cumsum(value, axis=1)[:, -1:]
    return value


def out_of_bag_values(forest: Forest, X: Matrix, unseen: Mask, n_jobs: int) -> OutOfBag:
    """Predict rows X (p, n) by the trees that did not sample them, as `unseen` (B, n) says."""
    n, K, ones = X.shape[1], forest.value.shape[1], np.ones(X.shape[1])
    result = OutOfBag(np.zeros((n, K)), np.zeros(n, dtype=np.int64), np.empty(0))
    predict_out_of_bag(forest, X, ones, ones, unseen, n_jobs, result)
    return result


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


def as_response(fit: AnyFit, value: Floats, index: pd.Index) -> pd.Series:
    """Return the mean responses (n, 1), or the classes predicted from probabilities (n, K)."""
    response = fit.design.response
    if response.classes is None:
        return pd.Series(value[:, 0], index=index, name=response.name)
    labels = class_labels(predicted_classes(value, fit.ordered), response)
    return pd.Series(labels, index=index, name=response.name)


def as_prob(fit: AnyFit, value: Floats, index: pd.Index) -> pd.DataFrame:
    """Return class probabilities (n, K) as a data frame with one column per class."""
    return pd.DataFrame(value, index=index, columns=fit.design.response.classes)


def leaf_frame(
    fit: AnyFit, rows: RowsToPredict, advance: Callable[[int], object] = lambda n: None
) -> pd.DataFrame:
    """Return the number, within its tree, of the leaf that each row reaches: a column per tree."""
    leaves = leaf_nodes(fit.forest, rows.X, fit.control.n_jobs, advance)
    leaves -= fit.forest.root[:-1]
    leaves = spread_numbers(leaves, rows.complete, -1)
    frame = pd.DataFrame(leaves, index=rows.index, columns=_tree_numbers(fit.forest))
    return frame if rows.complete.all() else frame.astype("Int64").mask(frame < 0)


def _each_tree(fit: AnyFit, rows: RowsToPredict, advance: Callable[[int], object]) -> pd.DataFrame:
    """Return the prediction of each tree; out of bag, missing where the tree sampled the row."""
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
        if fit.forest.lines is not None:
            value = mean_values(fit, rows.X)
        else:
            value = np.where(drew, np.nan, fit.forest.value[leaves, 0])
        value = spread_numbers(value, rows.complete)
        return pd.DataFrame(value, index=rows.index, columns=columns)
    codes = np.where(drew, -1, predicted_classes(fit.forest.value, fit.ordered)[leaves])
    codes = spread_numbers(codes, rows.complete, -1)
    labels = {tree: class_labels(codes[:, tree], fit.design.response) for tree in columns}
    return pd.DataFrame(labels, index=rows.index, columns=columns)


def _tree_numbers(forest: Forest) -> pd.RangeIndex:
    return pd.RangeIndex(forest.n_trees, name="tree")


# Offsets of the rows that boosted trees predict.
def offsets_of_rows(
    fit: BoostedFit,
    newdata: pd.DataFrame | None,
    rows: RowsToPredict,
    offset: str | ArrayLike | None,
) -> Floats:
    """Return the offsets of the complete rows; `offset` is the argument of `predict`."""
    if newdata is None:
        if offset is not None:
            raise InputError(
                "offset= needs newdata=: the training rows keep the offsets of the fit"
            )
        return fit.offset.values
    return fit.offset.of(newdata, offset, rows.complete)


# Fast prediction of one row at a time, without a data frame.
ROW_PREDICTIONS = ("response", "class", "prob")

SHOWN = 20


@dataclass(frozen=True)
class RowOfLines:
    """Predicts one row by the line of its leaf.

    `lines`: those of the nodes.  `layout`: that of the matrix of the predictors.  `means` (p,): of
    the columns, for cells that are missing; None if no row has such cells.
    """

    lines: LeafLines
    layout: Layout | None
    means: Floats | None

    def mean(self, packed: Packed, number: Floats, x: NDArray[np.float32]) -> Floats:
        """Return the prediction (1,) of a row x (r,); `number` (m, 1) has that of each node."""
        X = with_layout(x[:, np.newaxis], self.layout)
        if self.means is not None and np.isnan(x).any():
            X = with_means(X, empty_columns(X), self.means)
        leaf = predict_row(packed, number, np.ascontiguousarray(stored(X)[:, 0]))
        return self.lines.values(leaf.astype(np.int64), X, np.zeros(1, dtype=np.int64))


@dataclass(frozen=True, eq=False, repr=False)
class RowPredictor:
    """A function that predicts one row, as returned by ``fit.row_predictor()``.

    It returns what ``fit.predict`` returns for a data frame with this row, in a few microseconds
    instead of hundreds.  It can be pickled, with the trees but without training data; in memory it
    keeps the fit until the first row with a cell that is missing as in no training row.

    `plan`: from raw values to scaled predictors.
    `filling`: the trees for such missing cells; None unless ``missing`` is "split" or "surrogate".
    `value` (m, K): mean response, or class shares, of the nodes; of a tree of lines their numbers.
    `labels` (K,): the classes; empty for a regression.
    `votes`: whether the values are votes, to be scaled to add up to 1.
    `ordered`: whether the predicted class is the median, instead of the most probable class.
    `lines`: what predicts by the line of the leaf; None unless leaves have lines.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> fit = odrf.odrf("species ~ bill_length_mm + year + sex", penguins, missing="drop", seed=1)
    >>> species = fit.row_predictor()
    >>> species
    RowPredictor(type='response') of a row: 'bill_length_mm', 'year', 'sex'
    >>> species([39.1, 2007, "male"])
    'Adelie'
    >>> species({"sex": "female", "bill_length_mm": 48.4, "year": 2009})
    'Gentoo'
    """

    type: str
    plan: RowPlan
    packed: Packed
    filling: FillingRule | None
    value: Floats
    labels: tuple[Any, ...]
    votes: bool
    ordered: bool
    lines: RowOfLines | None = None

    @property
    def predictors(self) -> tuple[str, ...]:
        """The names of the predictors, in the order of a row's values."""
        return self.plan.design.predictors

    def __call__(self, row: RawRow) -> Any:
        """Predict one row: a raw value for each of the `predictors`, in their order or by name.

        Other names are ignored. Returns the mean response, or the class; for ``"prob"`` the
        probability of each class, by its label. With ``missing="drop"``, missing if a value of the
        row is missing.
        """
        x = self.plan.scaled(row)
        if x is None:
            return self._missing()
        mean = self._mean(x)
        if self.votes:
            mean /= np.cumsum(mean)[-1]
        numbers = mean.tolist()
        if self.type == "prob":
            return dict(zip(self.labels, numbers, strict=True))
        if self.ordered:
            return self.labels[int(predicted_classes(mean[np.newaxis], True)[0])]
        return self.labels[numbers.index(max(numbers))] if self.labels else numbers[0]

    def _mean(self, x: NDArray[np.float32]) -> Floats:
        if self.lines is not None:
            return self.lines.mean(self.packed, self.value, x)
        if self.filling is None or not np.isnan(x).any():
            return predict_row(self.packed, self.value, x)
        return self.filling.mean(self.value, x)

    def _missing(self) -> Any:
        if self.type == "prob":
            return dict.fromkeys(self.labels, np.nan)
        return np.nan

    def __repr__(self) -> str:
        return f"RowPredictor(type={self.type!r}) of a row: {listed(self.predictors, SHOWN)}"


def row_predictor(fit: AnyFit, type: str) -> RowPredictor:
    """Return the function that predicts one row of a fit, by this `type`."""
    checked_choice("type", type, ROW_PREDICTIONS)
    response = fit.design.response
    require_classes(response, type)
    labels = () if response.classes is None else tuple(response.classes.tolist())
    packed, value = fit.forest.packed_for(fit.data.X), fit.forest.value
    fills = fit.design.missing in ("split", SURROGATE)
    if fit.forest.lines is not None:
        means = column_means(fit.data) if fills else None
        lines = RowOfLines(fit.forest.lines, layout_of(fit.data.X), means)
        number = np.arange(len(value), dtype=np.float64)[:, np.newaxis]
        return RowPredictor(
            type, plan_row(fit.design), packed, None, number, (), False, False, lines
        )
    trees = packed, filling_rule(fit) if fills else None, value
    votes = fit.votes and bool(labels)
    return RowPredictor(type, plan_row(fit.design), *trees, labels, votes, fit.ordered)
