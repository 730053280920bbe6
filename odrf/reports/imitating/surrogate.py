"""One tree that stands for a fit, and how faithful it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import pandas as pd

from odrf.fits.explain import Imitation
from odrf.public import public
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Surrogate"]


Drawn = TypeVar("Drawn")


@public
class Surrogate(Carded, Generic[Drawn]):
    """One oblique tree that imitates the predictions of a fit.

    Returned by `surrogate` of the results.

    Parameters
    ----------
    call : str
        The call that made the fit.
    imitation : Imitation
        The tree and its figures.
    tree : ODTResults
        The tree.
    own_error : float
        The error of the fit itself on its training rows.
    own_rows : str
        How these rows were predicted, in words.

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
    >>> bool(surrogate.fidelity > 0.5), bool(surrogate.tree.n_leaves[0] <= 6)
    (True, True)
    """

    def __init__(
        self, call: str, imitation: Imitation, tree: Drawn, own_error: float, own_rows: str
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

    def summary(self) -> Summary:
        """Return the figures as a summary with text, HTML and LaTeX output."""
        notes = [
            "The tree explains the fit, not the data: where the fidelity is low, do not read the "
            "fit from it."
        ]
        if self.at_zero:
            notes.append("The tree imitates predictions at an offset of 0.")
        facts = {"Leaves": str(self.n_leaves)}
        sections = {"": self.table}
        return Summary("A tree that imitates the fit", self.call, facts, sections, tuple(notes))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the tree.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return cast(Any, self.tree).plot(ax=ax)

    def _card(self) -> Card:
        leaves = quantity(self.n_leaves, "leaf", "leaves")
        return Card(f"A tree of {leaves} that imitates the fit", {}, self.table)
