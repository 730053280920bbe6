"""Sensitivity of the training rows of a guided forest."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import Seed, checked_choice, checked_seed, is_number
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.fit import GuidedFit
from odrf.public import public, public_method, respelled
from odrf.reports.summaries import TOP
from odrf.statistics.sensitivity import (
    as_probability,
    drawing_order,
    mean_sensitivity,
    planes_until,
)
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, TableReport

METHODS = {"uniform": "uniform", "sample": "by probability", "top": "most sensitive"}
"""Methods of selecting rows, and their names in plots."""

SHARES = (0.05, 0.1, 0.25, 0.5)
RANKS, DRAW = (0, 0), (0, 1)
"""Spawn keys of the fit's seed: for the order of rows within leaves, and for drawing rows."""


@public
class Sensitivity(TableReport):
    """The sensitivity of each training row (Gupta et al., section 8).

    Rows near the boundaries between classes have a large sensitivity.  Returned by
    `odrf.results.guided.GRAFResults.sensitivity`.

    Attributes
    ----------
    fit : GuidedFit
    table : DataFrame
        With the index of the training rows.  Columns: ``sensitivity`` ŝ, equation (32);
        ``probability`` p, its share of the sum, equation (33); ``rank``, 1 for the most sensitive
        row; ties are ranked in the order of the rows.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.rings().sample(300, seed=1)
    >>> found = odrf.graf("y ~ .", data, subspace="all", seed=1).sensitivity()
    >>> found.table.columns.tolist()
    ['sensitivity', 'probability', 'rank']
    >>> radius = (data["x1"] ** 2 + data["x2"] ** 2) ** 0.5
    >>> near = (radius % 0.25).sub(0.125).abs() > 0.1
    >>> bool(found.table.loc[near, "probability"].mean() > 1 / 300)
    True
    """

    _title = "Sensitivity of rows"

    def __init__(self, fit: GuidedFit) -> None:
        self.fit = fit
        n = len(fit.data.y)
        # the rows of a regression count as one class
        codes = np.zeros(n) if self._classes is None else fit.data.y
        sensitivity = mean_sensitivity(
            leaf_nodes(fit.forest, fit.data.X, fit.control.n_jobs),
            planes_until(fit.guided),
            codes.astype(np.int64),
            fit.design.response.n_classes,
            self._generator(RANKS).permutation(n),
        )
        rank = np.empty(n, dtype=np.int64)
        rank[np.argsort(-sensitivity, kind="stable")] = np.arange(1, n + 1)
        probability = as_probability(sensitivity)
        self.table = pd.DataFrame(
            {"sensitivity": sensitivity, "probability": probability, "rank": rank},
            index=fit.data.index,
        )

    @property
    def _classes(self) -> pd.Index | None:
        return self.fit.design.response.classes

    @respelled(by_name=("seed",))
    @public_method
    def order(self, method: str = "top", *, seed: Seed = None) -> NDArray[np.int64]:
        """Return the positions of all rows in the order in which they are selected.

        Parameters
        ----------
        method : {"top", "sample", "uniform"}, default "top"
            {about rows_selected}
        seed : int, SeedSequence or Generator, optional
            Seed of the sample; by default it follows from the fit's seed.

        Returns
        -------
        (n,) int64
            The first k are the rows that `GRAFResults.approximate` keeps if it keeps k rows.

        Raises
        ------
        InputError
            If `method` is unknown, or `seed` is invalid.
        """
        checked_choice("method", method, METHODS)
        if method == "top":
            return np.argsort(self.table["rank"].to_numpy(), kind="stable")
        rng = self._generator(DRAW) if seed is None else np.random.default_rng(checked_seed(seed))
        if method == "uniform":
            return rng.permutation(len(self.table))
        return drawing_order(self.table["probability"].to_numpy(), rng)

    def overlap(self, svm: Any) -> pd.Series:
        """Compare the most sensitive rows with the support vectors of a classifier (Table 2).

        Parameters
        ----------
        svm : fitted SVC, or array of int
            A classifier with the attribute ``support_``, such as scikit-learn's ``SVC``, fitted to
            the training rows in their order; or the positions of the support vectors among these
            rows, from 0.

        Returns
        -------
        Series
            ``support_vectors``, their number s; ``share``, s/n; ``overlap``, the share of the
            support vectors that are among the s most sensitive rows; ``chance``, the expected
            overlap with s rows sampled at random, s/n.

        Raises
        ------
        InputError
            If the positions are invalid, or the classifier was fitted to another number of rows.
        """
        n = len(self.table)
        at = _positions(svm, n)
        among = self.table["rank"].to_numpy()[at] <= len(at)
        values = {"support_vectors": len(at), "share": len(at) / n}
        values |= {"overlap": among.mean(), "chance": len(at) / n}
        return pd.Series(values, name="overlap")

    def _generator(self, key: tuple[int, int]) -> np.random.Generator:
        """Return the generator for a spawn key of the fit's seed; keys of trees have one number."""
        return np.random.default_rng(np.random.SeedSequence(self.fit.control.seed, spawn_key=key))

    def _sections(self) -> dict[str, pd.DataFrame]:
        first = self.table.sort_values("rank").head(TOP)
        return {"Most sensitive first": self._kept, f"First {quantity(len(first), 'row')}": first}

    def _notes(self) -> tuple[str, ...]:
        return () if self._classes is None else ("Every class has the same sum of θ/Θ.",)

    @cached_property
    def _kept(self) -> pd.DataFrame:
        """Total probability and class shares of the most sensitive rows, for some shares of n."""
        order, n = self.order("top"), len(self.table)
        lines = {}
        for fraction in (*SHARES, 1.0):
            rows = order[: rows_kept(fraction, n)]
            lines[f"{fraction:.0%} of the rows"] = {
                "probability": self.table["probability"].to_numpy()[rows].sum(),
                **self._class_shares(rows),
            }
        return pd.DataFrame.from_dict(lines, orient="index")

    def _class_shares(self, rows: NDArray[np.int64]) -> dict[str, float]:
        classes = self._classes
        if classes is None or len(classes) > TOP:
            return {}
        codes = self.fit.data.y[rows].astype(np.int64)
        shares = np.bincount(codes, minlength=len(classes)) / len(rows)
        pairs = zip(classes, shares, strict=True)
        return {f"class {label}": float(share) for label, share in pairs}

    def plot(
        self, x: str | None = None, y: str | None = None, fraction: float = 0.25, *,
        ax: NDArray | None = None,
    ) -> NDArray[np.object_]:  # fmt: skip
        """Plot the sensitivities against two predictors, and the rows that each method keeps.

        As in Figure 12 of Gupta et al.

        Parameters
        ----------
        x, y : str, optional
            Numeric columns of the data.  By default the numeric columns that the formula uses, if
            there are exactly two.
        fraction : float, default 0.25
            The share of the rows that is kept.
        ax : array of 4 Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        array of 4 Axes

        Raises
        ------
        InputError
            If `x` or `y` is not a numeric column, or is missing; if `fraction` is not above 0 and
            at most 1; if `ax` has another number of axes.
        """
        names = self._axes(x, y)
        k = rows_kept(fraction, len(self.table))
        share = f"{100 * float(fraction):.3g} %"
        kept = {f"{words}, {share}": self.order(method)[:k] for method, words in METHODS.items()}
        relative = self.table["probability"].to_numpy() * len(self.table)
        return plots.sensitivity.plot_sensitivity(
            self.fit.frame[names], relative, kept, self.fit.data.y, self._classes, ax
        )

    def _axes(self, x: str | None, y: str | None) -> list[str]:
        frame = self.fit.frame
        numeric = [
            name
            for name in self.fit.design.schema.columns
            if pd.api.types.is_numeric_dtype(frame[name])
        ]
        if x is None and y is None and len(numeric) == 2:
            return numeric
        for argument, name in (("x", x), ("y", y)):
            if not isinstance(name, str) or name not in numeric:
                listing = ", ".join(map(repr, numeric[:TOP]))
                raise InputError(
                    f"{argument}={name!r}: give x= and y=, two numeric columns of {listing}"
                )
        return [str(x), str(y)]

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.table.sort_values("rank"))

    def _facts(self) -> dict[str, str]:
        p = self.table["probability"]
        return {
            "Rows": str(len(p)),
            "Trees": str(self.fit.guided.n_trees),
            "Effective rows": f"{number(1 / float((p**2).sum()))} (1 / Σp²)",
            "Largest p": f"{number(float(p.max()) * len(p))} times the mean",
        }


def rows_kept(fraction: Any, n: int) -> int:
    """Return ⌈fraction · n⌉; raise `InputError` unless the fraction is above 0 and at most 1."""
    if not is_number(fraction) or not 0 < float(fraction) <= 1:
        raise InputError(f"fraction={fraction!r}: use a number above 0 and at most 1")
    # 0.1 · 30 is a little above 3 in floating point
    return max(1, math.ceil(round(float(fraction) * n, 6)))


def _positions(svm: Any, n: int) -> NDArray[np.int64]:
    """Return the positions of the support vectors; raise `InputError` if they are invalid."""
    n_fitted = getattr(svm, "shape_fit_", (n,))[0]
    if n_fitted != n:
        raise InputError(
            f"svm was fitted to {n_fitted} rows, the forest to {n}: fit both to the same rows in "
            "the same order"
        )
    at = np.asarray(getattr(svm, "support_", svm))
    whole = at.ndim == 1 and len(at) and np.issubdtype(at.dtype, np.integer)
    if not whole or at.min() < 0 or at.max() >= n or len(np.unique(at)) < len(at):
        raise InputError(
            "svm: use a fitted classifier with support_, or the positions of its support vectors "
            f"among the training rows, whole numbers from 0 to {n - 1}, each once"
        )
    return at.astype(np.int64)
