"""The prediction of one row explained, and one tree that stands for a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.new_rows import training_frame, variables, with_levels
from odrf.engine.factors import Matrix
from odrf.engine.trees.forest import predicted_classes
from odrf.fits import explain
from odrf.fits.estimands import deviation_of, is_exact, slope_of
from odrf.fits.fit import AnyFit, BoostedFit, Fit, RawRows
from odrf.fits.proximity import PLAIN, WEIGHTS, proximities
from odrf.fits.responses import expected_response
from odrf.fits.stack.fit import StackedFit
from odrf.public import public
from odrf.text.layouts import quantity
from odrf.text.names import free_name
from odrf.text.summary import Card, Report, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# A number is changed if it moves by this share of the standard deviation of the response.
CHANGE = 0.5


@public
class Explanation(Report):
    """What there is to say of the prediction of one row.

    Returned by `explain` of the results.

    Attributes
    ----------
    row : RawRows
        The row: its variables and its scaled predictors.
    change : float or None
        By how much a number must change in `changes`.
    prediction : Series
        The mean response, or the probability of each class.
    predictors : DataFrame or None
        For each predictor, the share of ``trees`` in which a split on the row's path involves it,
        and the mean number of such ``splits``.  None for a stack, whose smoothers have no splits.
    directions : DataFrame or None
        Which predictors the splits on the paths combine, and their ``share`` of the splits.  None
        for a stack.
    rules : list of str
        Of a single tree, the splits on the row's path in words; else empty.
    neighbours : DataFrame or None
        The training rows with the largest weights in the prediction: ``weight`` and response, which
        is in ``weight_`` if it is called ``weight`` itself.  Of a guided forest, the share of trees
        in which they share a leaf with the row.  Of a number of survival curves, which is no mean
        of responses, the mean over the trees of their shares of the row's leaf.  None for boosted
        trees and for a stack.
    changes : DataFrame
        The nearest values of one variable, or of two, that change the class, or a number by
        `change`: ``variables``, ``values``, and the ``distance`` in standard deviations; a change
        of a level counts as 1.  Numbers are rounded to a thousandth of a standard deviation before
        they are predicted, so that what is shown is what was checked.
    slopes : Series or DataFrame
        For each variable with numbers, the difference of predictions at a value below and one above
        the row's, divided by their distance: the next values of training rows that are a quarter of
        a standard deviation or more away.  For classes, a column for each.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> forest = odrf.odrf("species ~ bill_length_mm + bill_depth_mm", penguins, n_trees=20, seed=1)
    >>> explanation = forest.explain(penguins.head(1))
    >>> list(explanation.predictors.index)
    ['bill_length_mm', 'bill_depth_mm']
    """

    _title = "One prediction"

    def __init__(self, fit: AnyFit, row: RawRows, change: float | None, nearest: int) -> None:
        self.call, self.row, X = fit.call, row.frame, row.X
        now = expected_response(fit, X, row.offset)[0]
        classes, name = fit.design.response.classes, fit.design.response.name
        labels = pd.Index([name]) if classes is None else classes
        self.prediction = pd.Series(now, index=labels, name="prediction")
        self.predictors: pd.DataFrame | None = None
        self.directions: pd.DataFrame | None = None
        self.rules: list[str] = []
        if not isinstance(fit, StackedFit):
            forest, nodes, trees = explain.nodes_on_paths(fit, X)
            self.predictors = explain.predictors_on_paths(fit, forest, nodes, trees)
            self.directions = explain.directions_of(fit, forest, nodes)
            single = isinstance(fit, Fit) and forest.n_trees == 1
            self.rules = explain.rules_of(fit, forest, nodes, X) if single else []
        self.neighbours = _neighbours(fit, X, nearest)
        spread = deviation_of(pd.Series(fit.data.y), fit.data.weights)
        self.change = CHANGE * spread if change is None else change

        def changed(predicted: NDArray[np.float64]) -> NDArray[np.bool_]:
            if classes is None:
                return np.asarray(np.abs(predicted[:, 0] - now[0]) >= self.change)
            ordered = bool(fit.ordered)
            own = predicted_classes(now[None], ordered)[0]
            return np.asarray(predicted_classes(predicted, ordered) != own)

        self.changes = explain.nearest_changes(fit, row, changed)
        self.slopes = _slopes(fit, row, labels)

    def _facts(self) -> dict[str, str]:
        shown = self.prediction.sort_values(ascending=False).head(4)
        return {str(label): f"{value:.4g}" for label, value in shown.items()}

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections: dict[str, pd.DataFrame] = {}
        if self.predictors is not None:
            sections["Predictors on its paths"] = self.predictors.head(10)
        sections["Nearest changes"] = self.changes.head(10)
        if len(self.slopes):
            slopes = pd.DataFrame(self.slopes)
            steepness = slopes.abs().max(axis=1).sort_values(ascending=False, kind="stable")
            sections["Slopes"] = slopes.loc[steepness.index[:10]]
        if self.neighbours is not None:
            sections["Neighbours"] = self.neighbours
        return sections

    def _notes(self) -> tuple[str, ...]:
        return (f"Path: {'; '.join(self.rules)}.",) if self.rules else ()

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.changes)


def _neighbours(fit: AnyFit, X: Matrix, nearest: int) -> pd.DataFrame | None:
    if isinstance(fit, BoostedFit | StackedFit):
        return None
    near = proximities(fit, X, WEIGHTS if isinstance(fit, Fit) else PLAIN)
    order = np.lexsort((near.indices, -near.data))[:nearest]
    at, response = near.indices[order], fit.design.response
    y = fit.data.y[at]
    values: Any = y if response.classes is None else response.classes[y.astype(np.int64)]
    columns = {"weight": near.data[order], free_name(response.name, ("weight",)): values}
    return pd.DataFrame(columns, index=fit.data.index[at])


def _slopes(fit: AnyFit, row: RawRows, labels: pd.Index) -> pd.Series | pd.DataFrame:
    training, slopes = with_levels(fit.design, training_frame(fit.design, fit.data)), {}
    for name in variables(fit.design):
        column = training[name]
        if column.dtype.kind not in "iuf" or row.frame[name].isna().any():
            continue
        if column[fit.data.weights > 0].astype(float).nunique() < 2:
            continue
        if not is_exact(column) or not is_exact(row.frame[name]):
            continue
        contrast = slope_of(name, row.frame[name], column, fit.data.weights, None)
        ends = [float(contrast.low[0]), float(contrast.high[0])]
        low, high = explain.predicted_at(fit, row, {name: ends})
        slopes[name] = (high - low) / (ends[1] - ends[0])
    index = pd.Index(list(slopes), name="variable")
    values = np.array(list(slopes.values())).reshape(len(slopes), len(labels))
    if len(labels) == 1:
        return pd.Series(values[:, 0], index=index, name="slope")
    return pd.DataFrame(values, index=index, columns=labels)


Drawn = TypeVar("Drawn")


@public
class Surrogate(TableReport, Generic[Drawn]):
    """One oblique tree that imitates the predictions of a fit.

    Returned by `surrogate` of the results.

    Attributes
    ----------
    tree : ODTResults
        The tree, with all that trees have: ``plot()``, ``rules``, ``predict()``, ``to_sql()``.
    fidelity : float
        R² with which the tree predicts the fit's predictions, on rows it was not grown on: 1 if it
        repeats them, 0 if it predicts their mean.  For classes, of their probabilities.
    agreement : float or None
        For classes, the share of these rows for which both predict the same class.
    at_zero : bool
        Whether the predictions that are imitated are those at an offset of 0: the fit has offsets.
    table : DataFrame
        These figures, and the errors of the tree and of the fit against the response; with offsets
        that of the fit alone, as the tree predicts without them.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + ltg + bp", data, n_trees=50, seed=1)
    >>> surrogate = forest.surrogate(max_leaves=6)
    >>> bool(surrogate.fidelity > 0.5), bool(surrogate.tree.n_leaves <= 6)
    (True, True)
    """

    _title = "A tree that imitates the fit"

    def __init__(
        self, call: str, imitation: explain.Imitation, tree: Drawn, own_error: float, own_rows: str
    ) -> None:
        self.call, self.tree, self.by = call, tree, imitation.by
        self.fidelity, self.agreement = imitation.fidelity, imitation.agreement
        self.at_zero = imitation.error is None
        self.n_leaves = int(imitation.fit.forest.leaves()[0])
        numbers = imitation.fit.kind == "regression"
        measure = "mean squared error" if numbers else "misclassification rate"
        what = "predictions" if numbers else "probabilities"
        rows = {f"R² of the fit's {what}": (self.fidelity, f"held out: {self.by}")}
        if self.agreement is not None:
            rows["share of rows with the same class"] = (self.agreement, f"held out: {self.by}")
        if imitation.error is not None:
            rows[f"{measure} of the tree"] = (imitation.error, f"held out: {self.by}")
        rows[f"{measure} of the fit"] = (own_error, own_rows)
        self.table = pd.DataFrame.from_dict(rows, orient="index", columns=["value", "rows"])

    def _facts(self) -> dict[str, str]:
        return {"Leaves": str(self.n_leaves)}

    def _notes(self) -> tuple[str, ...]:
        notes = (
            "The tree explains the fit, not the data: where the fidelity is low, do not read the "
            "fit from it.",
        )
        at_zero = ("The tree imitates predictions at an offset of 0.",) if self.at_zero else ()
        return (*notes, *at_zero)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the tree."""
        return cast(Any, self.tree).plot(ax=ax)

    def _card(self) -> Card:
        leaves = quantity(self.n_leaves, "leaf", "leaves")
        return Card(f"A tree of {leaves} that imitates the fit", {}, self.table)
