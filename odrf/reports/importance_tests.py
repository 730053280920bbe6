"""Tests of the importance of variables, and selection by knockoffs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_choice, checked_part, is_list
from odrf.design.new_rows import touched, variables
from odrf.engine.running import one_thread
from odrf.errors import InputError, nearest, warn_user
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.growing import refit_on_some
from odrf.fits.importance_tests import DRAWS, knockoff_differences, loss_rises
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.effects import NUMBERS
from odrf.statistics.importance_tests import (
    ADJUSTMENTS,
    ROW_TESTS,
    WILCOXON,
    evaluated_differences,
    knockoff_threshold,
    knockoff_values,
)
from odrf.text.layouts import quantity
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


Forest = TypeVar("Forest")


def knockoff_table(fit: Fit) -> pd.DataFrame:
    """Return importances less those of knockoffs, in the columns of tests, the largest first."""
    W = knockoff_differences(fit)
    table = pd.DataFrame(np.nan, index=range(len(W)), columns=list(NUMBERS))
    table["estimate"] = W
    table.insert(0, "term", list(fit.design.predictors))
    table["p_adjusted"] = knockoff_values(W)
    return table.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)


@public
class KnockoffSelection(TableReport, Generic[Forest]):
    """Predictors selected by their knockoffs, with a bound of the false discovery rate.

    Candès, Fan, Janson and Lv (2018).  Returned by
    `odrf.results.forest.ODRFResults.select_variables`.  A knockoff stands to the other predictors
    as its predictor does, but was drawn without the response: by a Gaussian copula with shrunken
    covariance.  A forest on all predictors and knockoffs gives the importance of each.  Where a
    predictor tells nothing beside the others, its knockoff is as likely the more important one; so
    the knockoffs that win count the false discoveries.

    Attributes
    ----------
    fit : Fit
    fdr : float
        The bound of the false discovery rate.
    table : DataFrame
        One row for each predictor, the largest difference first.  Columns: ``selected``;
        ``importance``, that of the predictor less that of its knockoff; ``fdr``, the smallest bound
        at which it is selected, 1 for none.
    threshold : float
        The difference from which on predictors are selected; infinite if none is.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes").drop(columns="sex")
    >>> forest = odrf.odrf("progression ~ .", data, n_trees=25, seed=1)
    >>> list(forest.select_variables("knockoff", fdr=0.3).table.columns)
    ['selected', 'importance', 'fdr']
    """

    _title = "Variable selection"
    _heading = "Predictors"
    _note = (
        "importance is that of the predictor less that of its knockoff, fdr the smallest bound "
        "at which it is selected."
    )

    def __init__(self, fit: Fit, fdr: float, result: Callable[[Fit], Forest]) -> None:
        self.fit, self.fdr, self._result = fit, fdr, result
        of_knockoffs = knockoff_table(fit)
        difference = of_knockoffs["estimate"].to_numpy()
        self.threshold = knockoff_threshold(difference, fdr)
        self.table = pd.DataFrame(
            {
                "selected": difference >= self.threshold,
                "importance": difference,
                "fdr": of_knockoffs["p_adjusted"].to_numpy(),
            },
            index=pd.Index(of_knockoffs["term"], name="predictor"),
        )

    def selected(self) -> list[str]:
        """Return the names of the selected predictors, in the order of the formula."""
        names = set(self.table.index[self.table["selected"]])
        return [name for name in self.fit.design.predictors if name in names]

    def best(self, *, progress: bool = False) -> Forest:
        """Grow the forest again on the selected predictors.

        Parameters
        ----------
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults

        Raises
        ------
        InputError
            If no predictors are selected.
        """
        names = self.selected()
        if not names:
            way = ", nor at a larger one: too few are more important than their knockoffs"
            if self.table["fdr"].min() < 1:
                way = ": use a larger one, such as the smallest in the column fdr of table"
            raise InputError(f"no predictor is selected at fdr={self.fdr:g}{way}")
        which = [self.fit.design.predictors.index(name) for name in names]
        call = f"{self.fit.call}.select_variables('knockoff').best()"
        return self._result(refit_on_some(self.fit, which, call, progress))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the importance of each predictor less that of its knockoff, and the threshold."""
        decisions = self.table["selected"].map({True: "selected", False: "not selected"})
        words = "importance less that of the knockoff"
        return plots.importance.plot_selection(self.table, decisions, words, self.threshold, ax)

    def _card(self) -> Card:
        return Card("Selection of predictors by knockoffs", self._selection(), self.table)

    def _facts(self) -> dict[str, str]:
        return {"Method": "knockoffs", **self._selection()}

    def _selection(self) -> dict[str, str]:
        least = "none" if np.isinf(self.threshold) else f"{self.threshold:.3g}"
        # a rate of at most fdr supposes one false discovery
        fewest, selected = int(np.ceil(1 / self.fdr)), quantity(len(self.selected()), "predictor")
        if fewest > len(self.table):
            selected += f": at this rate {fewest} or more are selected, or none; use a larger fdr="
        return {
            "False discovery rate": f"at most {self.fdr:g}",
            "Threshold": least,
            "Selected": selected,
        }


def importance_tests(
    fit: AnyFit, type: str, test: str, adjust: str | None,
    groups: Mapping[str, Sequence[str]] | None, level: float, progress: bool = False,
    cause: str | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Return a test of each variable, or set of variables, the largest estimate first.

    `cause`: of survival times, the one whose incidence is evaluated; None: every event.
    """
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - slow to load

    checked_choice("test", test, ROW_TESTS)
    checked_choice("adjust", adjust, (*ADJUSTMENTS, None))
    checked_part("level", level)
    sets = sets_of_variables(fit, groups)
    with progress_bar(total=len(sets), unit="term", progress=progress) as bar:
        n_draws = 1 if test == WILCOXON else DRAWS
        losses = loss_rises(fit, list(sets.values()), type, n_draws, bar.update, cause)
    structure = fit.data.structure
    known = None if structure is None else structure.groups
    units = losses.rows if known is None else known[losses.rows]
    if len(np.unique(units)) < 2:
        raise InputError("tests of importance need two rows or groups that are held out")
    weights = fit.data.weights[losses.rows]
    lines = [
        evaluated_differences(rise, weights, units, test, level, losses.inflation)
        for rise in losses.rises
    ]
    table = pd.DataFrame(lines, columns=NUMBERS)
    table.insert(0, "term", list(sets))
    p = table["p_value"].to_numpy()
    table["p_adjusted"] = p if adjust is None else multipletests(p, method=ADJUSTMENTS[adjust])[1]
    return table.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)


def sets_of_variables(
    fit: AnyFit, groups: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Return what is tested, by name: the sets in `groups`, and each variable in none of them."""
    names = variables(fit.design)
    sets: dict[str, list[str]] = {}
    for name, members in ({} if groups is None else _mapping(groups)).items():
        for member in members:
            _require_free(member, names, sets)
        sets[str(name)] = list(members)
    taken = {member for members in sets.values() for member in members}
    single = {name: [name] for name in names if name not in taken and touched(fit.design, name)}
    for name in sets:
        if name in single:
            raise InputError(
                f"groups=: the set {name!r} has the name of a variable in none of the sets: give "
                "it another name"
            )
    return sets | single


def _mapping(groups: Any) -> Mapping[str, Sequence[str]]:
    lists = isinstance(groups, Mapping) and all(
        is_list(members) and len(members) for members in groups.values()
    )
    if not lists:
        raise InputError(
            f"groups={groups!r}: use a mapping of names to lists of columns, such as "
            '{"size": ["height", "weight"]}'
        )
    return dict(groups)


def _require_free(member: Any, names: Sequence[str], sets: Mapping[str, Sequence[str]]) -> None:
    if member not in names:
        raise InputError(
            f"groups=: no predictor is computed from {member!r}: use columns of the data that the "
            f"formula names{nearest(str(member), names)}"
        )
    if any(member in members for members in sets.values()):
        raise InputError(f"groups=: {member!r} is in two sets: leave it in one of them")


STRONG = 0.8


@one_thread()
def warn_of_correlation(fit: Fit) -> None:
    """Warn of the most correlated two predictors that are numbers, if they are at least 0.8."""
    design, X = fit.design, fit.data.X
    plain = np.flatnonzero((np.diff(design.first) == 1) & (design.types == 0))
    values = np.array([X[int(design.first[j])] for j in plain], dtype=np.float64)
    if len(plain) < 2 or values.shape[1] < 2:
        return
    centred = values - values.mean(axis=1, keepdims=True)
    length = np.sqrt((centred**2).sum(axis=1))
    centred = centred[length > 0] / length[length > 0, None]
    plain = plain[length > 0]
    correlation = np.triu(centred @ centred.T, 1)
    if len(plain) < 2 or np.abs(correlation).max() < STRONG:
        return
    a, b = np.unravel_index(np.argmax(np.abs(correlation)), correlation.shape)
    names = [design.predictors[plain[j]] for j in (a, b)]
    warn_user(
        f"{names[0]!r} and {names[1]!r} have a correlation of {correlation[a, b]:.2f}: permuting "
        "one of them makes rows that do not occur, and divides what both tell; "
        'importance("conditional") draws it given the others'
    )
