"""Single predictions explained: splits, neighbours, nearest changes, and Shapley values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from odrf import fits, reports
from odrf.checks import (
    MOST,
    Seed,
    checked_above_0,
    checked_jobs,
    checked_seed,
    checked_whole,
    require_default,
)
from odrf.errors import InputError
from odrf.fits.fit import raw_rows
from odrf.public import public_method
from odrf.results.base import FittedResults

if TYPE_CHECKING:
    from odrf.fits.shapley import HowToShare
    from odrf.reports.explain import Explanation
    from odrf.reports.shapley import ShapleyInteractions, ShapleyValues

USUAL_BOXES, MOST_BOXES, FEWEST_DRAWS = 4096, 2**20, 2


def explain(
    self: FittedResults,
    row: pd.DataFrame | Mapping[str, Any] | pd.Series,
    *,
    change: float | None = None,
    nearest: int = 5,
) -> Explanation:
    """Explain the prediction of one row: its splits, its neighbours, and what would change it.

    Parameters
    ----------
    row : DataFrame of one row, mapping or Series
        The row: values of the columns that predictors are computed from, and of the column that
        ``offset=`` named, if the fit has offsets.
    change : float, optional
        For numbers: by how much, above 0, the prediction must change in `Explanation.changes`.  By
        default half a standard deviation of the response.  For classes the class changes, and there
        is nothing to set.
    nearest : int, default 5
        How many neighbours are shown.

    Returns
    -------
    Explanation
        With tables of splits, neighbours, nearest changes and slopes.

    Raises
    ------
    InputError
        If `row` is not one row that can be predicted; if an argument is invalid.

    Notes
    -----
    Nearest changes are found among the values of training rows: along each variable, up to 50 of
    them, and for pairs of the six variables that move the prediction most on a coarser grid.  Each
    is a change of the prediction, checked by predicting it; a nearer one between the values that
    are tried may exist.  They describe the fit; they do not say what would happen if somebody
    changed the values.

    References
    ----------
    S. Wachter, B. Mittelstadt and C. Russell (2017). Counterfactual explanations without opening
    the black box. Harvard Journal of Law and Technology 31, 841-887.

    Examples
    --------
    >>> import odrf
    >>> penguins = odrf.load_data("penguins")
    >>> formula = "species ~ bill_length_mm + bill_depth_mm"
    >>> forest = odrf.odrf(formula, penguins, n_trees=20, seed=1)
    >>> explanation = forest.explain({"bill_length_mm": 39.0, "bill_depth_mm": 18.0})
    >>> explanation.prediction.idxmax()
    'Adelie'
    """
    if isinstance(row, Mapping | pd.Series):
        row = pd.DataFrame({name: [value] for name, value in row.items()})
    if row is None:
        raise InputError("row=None is no row: give a data frame of one row, or a mapping")
    if isinstance(row, pd.DataFrame) and len(row) != 1:
        raise InputError(f"row has {len(row)} rows: explain() takes one, such as data.iloc[[3]]")
    amount = None if change is None else checked_above_0("change", change)
    if self.classes is not None:
        require_default("change", change, None, "predictions of numbers")
    rows = raw_rows(self.fit, row)
    return reports.explain.Explanation(self.fit, rows, amount, checked_whole("nearest", nearest, 1))


@public_method
def shap(
    self: FittedResults,
    newdata: pd.DataFrame | None = None,
    *,
    background: pd.DataFrame | int | None = None,
    max_boxes: int = USUAL_BOXES,
    draws: int | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ShapleyValues:
    """Divide each prediction among the terms of the formula, by Shapley values.

    The value of a coalition of terms is the mean prediction of mixed rows: these have the
    values of the explained row for the terms of the coalition, and those of a background row
    for the others (interventional Shapley values).  The Shapley value of a term is the mean of
    what it changes as it enters, over all orders of the terms.  So the values of a row add up
    to its prediction minus the mean prediction of the background rows.

    Parameters
    ----------
    {rows_to_explain, background, max_boxes, draws}
    {seed_of_orders, threads_of_fit, progress_of_shap}

    Returns
    -------
    ShapleyValues
        With ``values``, ``std_error``, ``base``, ``table``, ``row()``, ``summary()``,
        ``plot()``, and ``to_shap()`` for the plots of the package shap.

    Raises
    ------
    InputError
        {about invalid_shap}

    Notes
    -----
    Explained are the mean response or the probabilities of the classes; of boosted trees the
    scores, as ``predict(type="link")`` gives them, without offsets.

    A factor, a basis such as ``bs(x, 4)``, and the missing values of a predictor belong to one
    term.  ``log(x)`` and ``x``, or ``a`` and ``a:b``, are terms of their own if the formula has
    both: each takes its share, and mixed rows may have values that do not go together.

    A split on several terms reads mixed rows as they are.  All coalitions go down a tree
    together: where a split depends on a term, they divide into those with it and those without.
    A leaf is reached by boxes, of all coalitions with certain terms and without certain others,
    whose Shapley values are known.  For splits on single predictors this is interventional
    TreeSHAP.  If there are too many boxes, those of little weight are not divided to the
    leaves.  The weight of a box is the share of orders that meet it: in them its terms come
    before those that it excludes.  Random orders that meet it are drawn, and their prefixes go
    down the tree together.  What is drawn adds up exactly, too.

    What is no sum or mean of trees, ``shap.PermutationExplainer`` of the package shap explains,
    from a function that predicts and a table of numbers as background.  Factors are given as
    codes, which the function turns back into levels.

    References
    ----------
    S. M. Lundberg et al. (2020). From local explanations to global understanding with
    explainable AI for trees. Nature Machine Intelligence 2.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("penguins").dropna()
    >>> forest = odrf.odrf("species ~ .", data, n_trees=20, seed=1)
    >>> shares = forest.shap(data.head(2), background=50)
    >>> shares.values.shape
    (2, 7, 3)
    >>> shares.drawn
    0.0
    """
    how = _checked(self, max_boxes, draws, seed, n_jobs)
    rows = fits.shapley.background_rows(self.fit, background)
    return reports.shapley.shapley_report(
        self.fit, fits.shapley.explained_rows(self.fit, newdata, rows, how, progress)
    )


@public_method
def shap_interactions(
    self: FittedResults,
    newdata: pd.DataFrame | None = None,
    *,
    background: pd.DataFrame | int | None = None,
    max_boxes: int = USUAL_BOXES,
    draws: int | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ShapleyInteractions:
    """Divide each prediction among the terms of the formula and their pairs.

    What two terms do together, beyond what each does alone, is their Shapley interaction index.
    One half of it is the entry of the pair (i, j), the other half that of (j, i).  The diagonal
    has the rest of the Shapley value of each term, its main effect.  So the entries of a term
    add up to its Shapley value, and all entries of a row to its prediction minus the mean
    prediction of the background rows.

    Parameters
    ----------
    {rows_to_explain, background, max_boxes, draws}
        Drawn interactions take longer than drawn values: for each order, one more for each term.
    {seed_of_orders, threads_of_fit, progress_of_shap}

    Returns
    -------
    ShapleyInteractions
        With ``values``, ``std_error``, ``table``, ``summary()``, ``plot()``, ``to_shap()``, and
        ``sums``, the Shapley values with their ``base``.

    Raises
    ------
    InputError
        {about invalid_shap}
    MemoryError
        If the values of all rows take more memory than there is.

    References
    ----------
    S. M. Lundberg et al. (2020). From local explanations to global understanding with
    explainable AI for trees. Nature Machine Intelligence 2.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + bp + ltg", data, n_trees=20, seed=1)
    >>> pairs = forest.shap_interactions(data.head(3))
    >>> own = forest.shap(data.head(3))
    >>> bool(abs(pairs.values.sum(axis=2) - own.values).max() < 1e-9)
    True
    """
    how = _checked(self, max_boxes, draws, seed, n_jobs)
    rows = fits.shapley.background_rows(self.fit, background)
    found = fits.shapley.interactions_in_rows(self.fit, newdata, rows, how, progress)
    return reports.shapley.interactions_report(self.fit, found)


def _checked(
    result: FittedResults, max_boxes: Any, draws: Any, seed: Any, n_jobs: Any
) -> HowToShare:
    """Return the options of Shapley values.

    Raises
    ------
    InputError
        An option is out of range, or predictions are no sum or mean of trees.
    """
    if fits.shapley.is_vote(result.fit):
        raise InputError(
            "shap() and shap_interactions() are for sums and means of trees, and probabilities of "
            "graf() are shares of votes: use shap.PermutationExplainer of the package shap with "
            'predict(…, type="prob"), or shap() of a forest of odrf()'
        )
    control = result.fit.control
    return fits.shapley.HowToShare(
        checked_whole("max_boxes", max_boxes, 0, MOST_BOXES),
        None if draws is None else checked_whole("draws", draws, FEWEST_DRAWS, MOST),
        control.seed if seed is None else checked_seed(seed),
        control.n_jobs if n_jobs is None else checked_jobs(n_jobs),
    )
