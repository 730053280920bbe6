"""Shapley values and interaction values."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice
from odrf.design.scaling import as_numbers
from odrf.errors import InputError, installing, nearest, without_warnings
from odrf.fits.fit import AnyFit, BoostedFit
from odrf.fits.shapley import ExplainedRows, output_names
from odrf.public import public
from odrf.statistics.shapley import Shares
from odrf.text.names import free_name, shortened_names
from odrf.text.splits import number
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


GLOBAL, ONE_ROW, ONE_TERM = "global", "row", "term"
MEAN = "mean response"


@public
@dataclass(frozen=True, eq=False, repr=False)
class ShapleyValues(Report):
    """Shapley values of n rows: prediction minus mean background prediction, divided among terms.

    Returned by ``shap()`` of a fit.  The values of a row add up to `prediction` minus `base`.

    Attributes
    ----------
    call : str
    explains : str
        What is divided: ``"mean response"``, ``"probability"`` or, of boosted trees, ``"score"``.
    values : (n, P) float64, or (n, P, K) for K classes
        What each of the P terms of the formula adds.  Boosted trees have one score of two classes,
        and with the ordinal loss K - 1 scores of K.
    std_error : as `values`
        The standard error of each value by drawing; 0 for values that are exact.
    base : (K,) float64
        The mean prediction of the background rows; K is 1 for a number.
    prediction : (n, K) float64
    data : DataFrame
        The values of the terms, one column each, with the index of the rows.
    outputs : Index
        The name of the response, or the classes (K,); of boosted trees those that have a score.
    n_background : int
        The number of background rows.
    drawn : float
        The share of pairs of a row and a background row, and of trees, of which values are drawn.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + bp + ltg", data, n_trees=20, seed=1)
    >>> shares = forest.shap(data.head(3))
    >>> shares.values.shape
    (3, 3)
    >>> added = shares.base + shares.values.sum(axis=1)
    >>> bool(abs(added - forest.predict(data.head(3))).max() < 1e-9)
    True
    """

    _title = "Shapley values"

    call: str
    explains: str
    values: NDArray[np.float64]
    std_error: NDArray[np.float64]
    base: NDArray[np.float64]
    prediction: NDArray[np.float64]
    data: pd.DataFrame
    outputs: pd.Index
    n_background: int
    drawn: float

    @property
    def terms(self) -> list[str]:
        """The terms of the formula (P,)."""
        return list(self.data.columns)

    @property
    def table(self) -> pd.DataFrame:
        """Each term with the mean of its absolute values over the rows, the largest first.

        Columns: ``mean_absolute``; ``share`` of their sum; ``std_error``, the largest of the term's
        values by drawing.  For classes, ``mean_absolute`` is the sum over the classes, and a column
        for each class follows, with an underscore if the class is called like one of these.
        """
        of_outputs = np.abs(self._three(self.values)).mean(axis=0)
        size = of_outputs.sum(axis=1)
        total = size.sum()
        columns: dict[Any, NDArray] = {
            "mean_absolute": size,
            "share": size / total if total > 0 else np.zeros(len(size)),
            "std_error": self._three(self.std_error).max(axis=(0, 2)),
        }
        if len(self.outputs) > 1:
            names = [free_name(name, tuple(columns)) for name in self.outputs]
            columns |= {name: of_outputs[:, k] for k, name in enumerate(names)}
        table = pd.DataFrame(columns, index=pd.Index(self.terms, name="term"))
        return table.sort_values("mean_absolute", ascending=False, kind="stable")

    def row(self, row: Any = None, *, output: Any = None) -> pd.DataFrame:
        """Return the values of one row, the largest in absolute value first.

        Parameters
        ----------
        row : label, optional
            The label of the row in the index of `data`; by default the first row.
        output : label, optional
            The class; by default the one with the largest prediction.

        Returns
        -------
        DataFrame
            Index: terms.  Columns: ``data``, the value of the term in the row; ``value``, what it
            adds to the prediction; ``std_error``.

        Raises
        ------
        InputError
            If there is no such row or class.
        """
        i = self._row_number(row)
        k = self._output_of_row(i, output)
        values = self._three(self.values)[i, :, k]
        table = pd.DataFrame(
            {
                "data": self.data.iloc[i].to_numpy(dtype=object),
                "value": values,
                "std_error": self._three(self.std_error)[i, :, k],
            },
            index=pd.Index(self.terms, name="term"),
        )
        return table.iloc[np.argsort(-np.abs(values), kind="stable")]

    def plot(
        self, kind: str | None = None, *, row: Any = None, term: str | None = None,
        output: Any = None, ax: Axes | None = None,
    ) -> Axes:  # fmt: skip
        """Plot the values of all terms, of one row, or of one term.

        Parameters
        ----------
        kind : {"global", "row", "term"}, optional
            By default ``"row"`` if there is one row, else ``"global"``.

            - ``"global"``: a dot for each row and term, coloured by the value of the term.  For
              classes without `output`, the mean absolute value of each term, summed over classes.
            - ``"row"``: how the terms lead from the mean background prediction to the prediction of
              one row.
            - ``"term"``: what a term adds against its value, one dot for each row.
        row : label, optional
            For ``"row"``: the label of the row in the index of `data`; by default the first row.
        term : str, optional
            For ``"term"``: by default the first term of `table`.
        output : label, optional
            The class.  By default, for ``"row"`` the class with the largest prediction; for
            ``"term"`` the class to which the term adds most, up or down.
        {about ax}

        Raises
        ------
        InputError
            If an argument is none of these.
        """
        if kind is None:
            kind = ONE_ROW if len(self.data) == 1 else GLOBAL
        checked_choice("kind", kind, (GLOBAL, ONE_ROW, ONE_TERM))
        if kind == ONE_ROW:
            i = self._row_number(row)
            k = self._output_of_row(i, output)
            start, words = float(self.base[k]), self._words(k)
            return plots.shapley.plot_shapley_row(
                self.row(row, output=self.outputs[k]), start, words, ax
            )
        if kind == ONE_TERM:
            j = self._term_number(term)
            means = np.abs(self._three(self.values)[:, j]).mean(axis=0)
            k = int(means.argmax()) if output is None else self._output_number(output)
            shown = self._three(self.values)[:, j, k]
            return plots.shapley.plot_shapley_term(self.data.iloc[:, j], shown, self._words(k), ax)
        if len(self.outputs) > 1 and output is None:
            measure = f"mean absolute Shapley value ({self.explains}), summed over the classes"
            return plots.importance.plot_importance(
                self.table["mean_absolute"], measure, ax, of="terms"
            )
        k = 0 if output is None else self._output_number(output)
        order = np.argsort(-np.abs(self._three(self.values)[:, :, k]).mean(axis=0), kind="stable")
        shown = self._three(self.values)[:, order, k]
        return plots.shapley.plot_shapley_swarm(self.data.iloc[:, order], shown, self._words(k), ax)

    def to_shap(self) -> Any:
        """Return the values as a ``shap.Explanation``, which the plots of the package shap take.

        Returns
        -------
        shap.Explanation
            ``values`` as here; ``base_values`` (n,) or (n, K); ``data`` (n, P) as numbers, with the
            number of its level for a factor; ``display_data`` as in `data`; names of terms and
            classes.

        Raises
        ------
        InputError
            If the package shap is not installed.
        """
        try:
            with without_warnings():  # shap itself uses what other packages will drop
                shap = import_module("shap")
        except ModuleNotFoundError as error:
            raise InputError(
                f"to_shap() needs {error.name}: install it with {installing('shap')}"
            ) from error
        n, several = len(self.data), len(self.outputs) > 1
        return shap.Explanation(
            values=self.values,
            base_values=np.tile(self.base, (n, 1)) if several else np.full(n, self.base[0]),
            data=np.column_stack(
                [as_numbers(self.data.iloc[:, j]) for j in range(len(self.terms))]
            ),
            display_data=self.data.to_numpy(dtype=object),
            feature_names=self.terms,
            output_names=[str(name) for name in self.outputs] if several else None,
        )

    def _facts(self) -> dict[str, str]:
        return self.facts()

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Terms": self.table}

    def _notes(self) -> tuple[str, ...]:
        return (
            f"The values of a row add up to its {self.explains} minus the mean over "
            f"{self.n_background} background rows.",
        )

    def _card(self) -> Card:
        return Card(self._title, self.facts(), self.table)

    def facts(self) -> dict[str, str]:
        """Return what was explained, and how, in words."""
        return {
            "Explained": self.explains,
            "Rows": str(len(self.data)),
            "Background rows": str(self.n_background),
            "Drawn": f"{100 * self.drawn:.3g} %" if self.drawn else "none: all are exact",
            "Largest std. error": number(float(self.std_error.max(initial=0.0))),
        }

    def _three(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values with the axis of outputs (n, P, K)."""
        return values if values.ndim == 3 else values[:, :, np.newaxis]

    def _words(self, k: int) -> str:
        """Return what is explained, in words."""
        explains = "mean" if self.explains == MEAN else self.explains
        return f"{explains} of {self.outputs[k]}"

    def _row_number(self, row: Any) -> int:
        if len(self.data) == 0:
            raise InputError("no row was explained: give newdata with at least one complete row")
        if row is None:
            return 0
        at = np.flatnonzero(self.data.index == row)
        if not len(at):
            raise InputError(f"row={row!r} is no label of the rows explained: see data.index")
        return int(at[0])

    def _term_number(self, term: str | None) -> int:
        if term is None:
            term = str(self.table.index[0])
        if term not in self.terms:
            raise InputError(
                f"term={term!r} is no term of the formula{nearest(str(term), self.terms)}"
            )
        return self.terms.index(term)

    def _output_number(self, output: Any) -> int:
        if output not in list(self.outputs):
            known = ", ".join(map(repr, self.outputs[:10]))
            raise InputError(f"output={output!r} is none of what is explained: use one of {known}")
        return list(self.outputs).index(output)

    def _output_of_row(self, i: int, output: Any) -> int:
        return int(self.prediction[i].argmax()) if output is None else self._output_number(output)


def shapley_report(fit: AnyFit, explained: ExplainedRows) -> ShapleyValues:
    """Return the report on the Shapley values of rows."""
    shares, outputs = explained.shares, output_names(fit)
    several = len(outputs) > 1
    explains = "probability" if fit.design.response.classes is not None else MEAN
    return ShapleyValues(
        call=fit.call, explains="score" if isinstance(fit, BoostedFit) else explains,
        values=shares.values if several else shares.values[:, :, 0],
        std_error=shares.std_error if several else shares.std_error[:, :, 0], base=explained.base,
        prediction=explained.predicted, data=explained.data, outputs=outputs,
        n_background=explained.n_background, drawn=float(shares.drawn),
    )  # fmt: skip


# Of each name of a pair in plots.
MOST_CHARACTERS = 12


@public
@dataclass(frozen=True, eq=False, repr=False)
class ShapleyInteractions(Report):
    """Shapley interaction values of n rows: what terms add alone, and what pairs add beyond that.

    Returned by ``shap_interactions()`` of a fit.

    Attributes
    ----------
    values : (n, P, P) float64, or (n, P, P, K) for K classes
        One half of the interaction of terms i and j is the entry [i, j], the other half [j, i]; the
        main effects of the terms are on the diagonal.  The entries of a term add up to its Shapley
        value.
    std_error : as `values`
        The standard error of each value by drawing; 0 for values that are exact.
    sums : ShapleyValues
        The Shapley values of the terms, sums of these values; with ``base``, ``prediction``,
        ``data`` and ``outputs``.  Their standard errors are upper bounds.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.friedman1().sample(200, seed=1)
    >>> forest = odrf.odrf("y ~ x1 + x2 + x4", data, n_trees=50, seed=1)
    >>> pairs = forest.shap_interactions(data.head(20), background=20)
    >>> pairs.table.loc[0, ["term", "other"]].tolist()
    ['x1', 'x2']
    """

    _title = "Shapley interaction values"
    _note = "One half of an interaction counts for each of its two terms."

    values: NDArray[np.float64]
    std_error: NDArray[np.float64]
    sums: ShapleyValues

    @property
    def table(self) -> pd.DataFrame:
        """Each pair of terms with the size of its interaction, the largest first.

        Columns: ``term`` and ``other``; ``mean_absolute``, the mean over the rows of the absolute
        value of the whole interaction, [i, j] and [j, i] together, for classes summed over these;
        ``share`` of the sum of all pairs and main effects.
        """
        terms, (first, second) = self.sums.terms, np.triu_indices(len(self.sums.terms), 1)
        sizes = np.abs(self._four()).mean(axis=0).sum(axis=-1)
        pairs, total = 2 * sizes[first, second], sizes.sum()
        table = pd.DataFrame(
            {
                "term": [terms[i] for i in first],
                "other": [terms[j] for j in second],
                "mean_absolute": pairs,
                "share": pairs / total if total > 0 else np.zeros(len(pairs)),
            }
        )
        return table.sort_values("mean_absolute", ascending=False, kind="stable", ignore_index=True)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the sizes of the 15 largest interactions."""
        table = self.table
        short = dict(
            zip(self.sums.terms, shortened_names(self.sums.terms, MOST_CHARACTERS), strict=True)
        )
        names = [
            f"{short[one]} × {short[other]}"
            for one, other in zip(table.term, table.other, strict=True)
        ]
        classes = ", summed over the classes" if len(self.sums.outputs) > 1 else ""
        measure = f"mean absolute interaction ({self.sums.explains}){classes}"
        sizes = pd.Series(table["mean_absolute"].to_numpy(), index=names)
        return plots.importance.plot_importance(sizes, measure, ax, of="pairs")

    def to_shap(self) -> Any:
        """Return the values as a ``shap.Explanation``; see `ShapleyValues.to_shap`.

        Raises
        ------
        InputError
            If the package shap is not installed.
        """
        explanation = self.sums.to_shap()
        explanation.values = self.values
        return explanation

    @property
    def call(self) -> str:
        """The call that made the fit."""
        return self.sums.call

    def _facts(self) -> dict[str, str]:
        return self.sums.facts()

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Pairs": self.table.head(15), "Terms": self.sums.table}

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.table)

    def _four(self) -> NDArray[np.float64]:
        """Return the values with the axis of outputs (n, P, P, K)."""
        return self.values if self.values.ndim == 4 else self.values[..., np.newaxis]


def interactions_report(fit: AnyFit, explained: ExplainedRows) -> ShapleyInteractions:
    """Return the report on the interaction values of rows."""
    values, errors, drawn = explained.shares
    sums = Shares(values.sum(axis=2), errors.sum(axis=2), drawn)
    several = values.shape[-1] > 1
    return ShapleyInteractions(
        values=values if several else values[..., 0],
        std_error=errors if several else errors[..., 0],
        sums=shapley_report(fit, replace(explained, shares=sums)),
    )
