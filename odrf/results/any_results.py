"""What every result tells of its fit: call, formula, trees, data; and how it is saved."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_truth
from odrf.design import Design
from odrf.engine.trees.forest import Forest
from odrf.errors import AbsentError, InputError, installing, nearest, refused_again
from odrf.fits.files.saving import save
from odrf.fits.fit import AnyFit
from odrf.public import public
from odrf.reports.data_summary import DataSummary
from odrf.results.absent import why_absent
from odrf.text.summary import Card, Carded

__all__ = ["AnyResults"]


@public
class AnyResults(Carded):
    """Base class of all results, of whatever response.

    Parameters
    ----------
    fit : AnyFit
        The fit, from which the results are computed when they are needed.
    """

    fit: AnyFit

    def __init_subclass__(cls) -> None:
        public(cls)

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            """Say why this kind of fits lacks what another kind has."""
            own = type(self).__name__
            reason = why_absent(own, name)
            if reason:
                raise AbsentError(f"{own} has no {name!r}: {reason}")
            refused_again(self, name)
            similar = nearest(name, [each for each in dir(type(self)) if each[0] != "_"])
            raise AttributeError(f"{own} has no {name!r}{similar}", name=name, obj=self)

    def _shown_card(self) -> Card:
        """Return the short description; without training rows, of which it tells, a shorter one."""
        if self.fit.data.has_rows:
            return self._card()
        facts = {"Call": self.call, "Training rows": f"{self.nobs}, {self._why_without_rows}"}
        return Card(type(self).__name__, facts)

    @property
    def _why_without_rows(self) -> str:
        return "left out"

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
    def nobs(self) -> int:
        """Number of training rows, without rows dropped for missing values."""
        return self.fit.data.n_rows

    @cached_property
    def n_leaves(self) -> NDArray[np.int64]:
        """Number of leaves of each tree (B,)."""
        return self.fit.forest.leaves()

    def save(self, path: str | PathLike[str], *, data: bool = True, progress: bool = False) -> None:
        """Save the fit to a file; `odrf.load` reads it.

        A file that exists is replaced as a whole: if saving fails, it is as it was.  The file holds
        arrays and plain text, no code; `odrf.fits.files` describes it.

        Parameters
        ----------
        path : str or path
            The file.
        data : bool, default True
            Whether the file holds the training rows.  Without them the loaded fit predicts new
            rows and shows its trees, and is smaller.  What is computed from training rows raises
            `InputError`: predictions of them, errors, importances but those of impurity, intervals,
            summaries, pruning by held-out rows, `update`, more trees, `row_predictor`, and what
            knows the shares of the classes, such as ``predict(priors=)``.  Even then the file tells
            what predictions need: the formula, the ranges and levels of columns, the values of
            leaves, and all values of a column that 32 bits cannot tell apart, such as an
            identifier.
        progress : bool, default False
            Show a progress bar: arrays are compressed, which takes seconds for large forests.

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
        save(type(self).__name__, self.fit, path, checked_truth("data", data), progress)

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
            estimators = import_module("odrf.sklearn")
        except ModuleNotFoundError as error:
            raise InputError(
                f"to_sklearn() needs {error.name}: install it with {installing('sklearn')}"
            ) from error
        return estimators.estimator_of(self)

    def data_summary(self) -> DataSummary:
        """Return what each predictor was taken as, its values, and how empty cells are treated.

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
        return DataSummary(self.fit)
