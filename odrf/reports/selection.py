"""Selection of predictors: backward elimination, and comparison with permuted copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_truth
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.growing import refit_beside_shadows
from odrf.fits.importance_tests import EliminationSteps
from odrf.pruning.complexity import ONE_SE
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.reports.paths import CHOICES_IN_WORDS, ErrorTable, Made
from odrf.statistics.importance_tests import (
    CONFIRMED,
    REJECTED,
    TENTATIVE,
    decisions,
    fewest_rounds,
    most_important,
    steps_of_elimination,
)
from odrf.text.layouts import quantity
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@public
class ShadowSelection(TableReport, Generic[Made]):
    """Predictors compared with permuted copies of themselves, as in Boruta.

    Kursa and Rudnicki (2010).  Returned by `select_variables` of `odrf.results.forest.ODRFResults`
    and of `odrf.results.survival.forest.SurvivalForestResults`.
    Each round grows a forest on the predictors that are not rejected yet and a permuted copy of
    each, its shadow.  A predictor scores a hit if its permutation importance is larger than that of
    every shadow.  Binomial tests of the number of hits confirm or reject predictors.

    Attributes
    ----------
    fit : Fit
    rounds : int
    table : DataFrame
        One row for each predictor, the most important first.  Columns: ``decision``,
        ``"confirmed"``, ``"tentative"`` or ``"rejected"``; ``hits``, out of ``rounds``;
        ``importance``, the mean permutation importance over rounds; ``shadow``, the mean over the
        same rounds of the largest importance of a shadow.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> forest = odrf.odrf("progression ~ bmi + bp + age + glu", data, n_trees=25, seed=1)
    >>> shadows = forest.select_variables("boruta", rounds=12)
    >>> "bmi" in shadows.selected()
    True
    """

    _title = "Variable selection"
    _heading = "Predictors"

    def __init__(
        self, fit: Fit, rounds: int, progress: bool, result: Callable[[Any], Made],
        evaluated_by: EliminationSteps | None = None,
    ) -> None:  # fmt: skip
        self.fit, self._result, self._evaluated_by = fit, result, evaluated_by
        steps: EliminationSteps = (
            EliminationSteps(fit.kind) if evaluated_by is None else evaluated_by
        )
        self._grown_on = steps.grown_on
        names, seed = fit.design.predictors, fit.control.seed
        P = len(names)
        hits, n_rounds = np.zeros(P, dtype=np.int64), np.zeros(P, dtype=np.int64)
        importances, best_shadows = np.zeros(P), np.zeros(P)
        decision = [TENTATIVE] * P
        self.rounds = 0
        for number in progress_bar(range(rounds), unit="round", progress=progress):
            which = [j for j in range(P) if decision[j] != REJECTED]
            if not which or TENTATIVE not in decision:
                break
            state = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)
            with_shadows = refit_beside_shadows(fit, which, int(state[0]))
            rise = steps.importances_of(with_shadows)
            importance, best_shadow = rise[: len(which)], float(rise[len(which) :].max())
            hits[which] += importance > best_shadow
            n_rounds[which] += 1
            importances[which] += importance
            best_shadows[which] += best_shadow
            self.rounds += 1
            decision = _updated(decision, decisions(hits, n_rounds))
        self._decision = decision
        table = pd.DataFrame(
            {
                "decision": decision,
                "hits": hits,
                "rounds": n_rounds,
                "importance": importances / np.maximum(n_rounds, 1),
                "shadow": best_shadows / np.maximum(n_rounds, 1),
            },
            index=pd.Index(names, name="predictor"),
        )
        self.table = table.sort_values("importance", ascending=False, kind="stable")

    def selected(self, tentative: bool = False) -> list[str]:
        """Return the names of the confirmed predictors.

        Parameters
        ----------
        tentative : bool, default False
            Include the tentative predictors, which were neither confirmed nor rejected.

        Returns
        -------
        list of str
        """
        checked_truth("tentative", tentative)
        wanted = (CONFIRMED, TENTATIVE) if tentative else (CONFIRMED,)
        pairs = zip(self.fit.design.predictors, self._decision, strict=True)
        return [name for name, decision in pairs if decision in wanted]

    def best(self, tentative: bool = False, *, progress: bool = False) -> Made:
        """Grow the forest again on the selected predictors.

        Parameters
        ----------
        tentative : bool, default False
            Include the tentative predictors, which were neither confirmed nor rejected.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        result
            Of the class of the forest.

        Raises
        ------
        InputError
            If no predictors are selected.
        """
        names = self.selected(tentative)
        if not names:
            way = "all are rejected"
            if TENTATIVE in self._decision:
                way = 'use best(tentative=True), or select_variables("boruta") with more rounds='
            raise InputError(f"no predictor is confirmed: {way}")
        which = [self.fit.design.predictors.index(name) for name in names]
        of_best = "tentative=True" if tentative else ""
        call = f"{self.fit.call}.select_variables('boruta').best({of_best})"
        return self._result(self._grown_on(self.fit, which, call, progress))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the importance of each predictor and of the best shadow."""
        words = "increase of the out-of-bag loss when permuted"
        return plots.importance.plot_selection(self.table, self.table["decision"], words, ax=ax)

    def _facts(self) -> dict[str, str]:
        steps = self._evaluated_by
        loss = {} if steps is None else {"Loss": steps.error}
        return {
            "Method": "shadows (Boruta)", "Rounds": str(self.rounds), **loss, **self._counts()
        }  # fmt: skip

    def _notes(self) -> tuple[str, ...]:
        notes: tuple[str, ...] = (
            "importance is the mean rise of the out-of-bag loss when a predictor is permuted, "
            "shadow that of the best permuted copy in the same rounds.",
        )
        fewest = fewest_rounds(len(self.table))
        if self.rounds < fewest:
            notes += (
                f"In fewer than {fewest} rounds nothing can be confirmed or rejected: use rounds="
                f"{fewest} or more.",
            )
        return notes

    def _card(self) -> Card:
        title = f"Selection of predictors by shadows (Boruta) in {quantity(self.rounds, 'round')}"
        return Card(title, self._counts(), self.table)

    def _counts(self) -> dict[str, str]:
        """Return the number of predictors by decision."""
        return {
            decision.capitalize(): quantity(self._decision.count(decision), "predictor")
            for decision in (CONFIRMED, TENTATIVE, REJECTED)
        }


def _updated(before: list[str], now: list[str]) -> list[str]:
    """Return the decisions after a round; predictors confirmed or rejected before stay so."""
    return [new if old == TENTATIVE else old for old, new in zip(before, now, strict=True)]


@public
class Elimination(ErrorTable, Generic[Made]):
    """Backward elimination: forests on fewer and fewer predictors.

    Returned by `select_variables` of `odrf.results.forest.ODRFResults` and of
    `odrf.results.survival.forest.SurvivalForestResults`.  Each step drops the predictors
    of smallest permutation importance and grows the forest again.  The error of the chosen step is
    optimistic, because it was used for the choice; evaluate the chosen forest on new rows.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each step, from all predictors to one.  Columns: ``predictors``, their number;
        ``error``, the out-of-bag mean squared error or misclassification rate, or of survival
        times the integrated Brier score or 1 minus C; ``std_error``, its standard error over rows
        or groups; ``dropped``, the predictors that the next step drops.
    kept : list of lists of str

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> steps = forest.select_variables()
    >>> steps.table["predictors"].tolist()
    [10, 8, 7, 6, 5, 4, 3, 2, 1]
    """

    _title = "Variable selection"
    _heading = "Steps"

    def __init__(
        self, fit: Fit, drop: float, progress: bool, result: Callable[[Any], Made],
        evaluated_by: EliminationSteps | None = None,
    ) -> None:  # fmt: skip
        self.fit, self._result = fit, result
        steps_of = EliminationSteps(fit.kind) if evaluated_by is None else evaluated_by
        self._steps_of: EliminationSteps = steps_of
        names = fit.design.predictors
        which = np.arange(len(names))
        self._steps: list[list[int]] = []
        lines = []
        steps = steps_of_elimination(len(which), drop)
        with progress_bar(total=steps, unit="forest", progress=progress) as bar:
            while True:
                self._steps.append(which.tolist())
                error, std_error = steps_of.error_of(fit)
                kept = which[:0]
                if len(which) > 1:
                    kept = which[most_important(steps_of.importances_of(fit), drop)]
                dropped = [names[j] for j in which if j not in kept and len(which) > 1]
                lines.append((len(which), error, std_error, ", ".join(dropped)))
                bar.update()
                if len(which) == 1:
                    break
                which = kept
                fit = steps_of.grown_on(self.fit, which.tolist(), "")
        self.table = pd.DataFrame(lines, columns=["predictors", "error", "std_error", "dropped"])
        self.kept = [[names[j] for j in step] for step in self._steps]

    def selected(self, rule: str = ONE_SE) -> list[str]:
        """Return the names of the selected predictors.

        Parameters
        ----------
        {rule}

        Returns
        -------
        list of str

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return self.kept[self.row(rule)]

    def best(self, rule: str = ONE_SE, *, progress: bool = False) -> Made:
        """Grow the forest again on the selected predictors.

        Parameters
        ----------
        {rule}
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults or SurvivalForestResults

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        call = f"{self.fit.call}.select_variables().best({rule!r})"
        which = self._steps[self.row(rule)]
        return self._result(self._steps_of.grown_on(self.fit, which, call, progress))

    def _plot(self, rule: str, ax: Axes | None) -> Axes:
        chosen = self.row("min"), self.row(rule), CHOICES_IN_WORDS[rule]
        error = f"out-of-bag {self._steps_of.error}"
        return plots.importance.plot_elimination(self.table, *chosen, error, ax)

    def _in_words(self, row: int) -> str:
        return quantity(len(self.kept[row]), "predictor")

    def _facts(self) -> dict[str, str]:
        error = f"OOB {self._steps_of.error}"
        return {"Method": "backward elimination", "Error": error, **self._choices()}

    def _notes(self) -> tuple[str, ...]:
        return (f"The 1-SE rule keeps {', '.join(self.selected())}.",)

    def _card(self) -> Card:
        title = f"Backward elimination of predictors in {quantity(len(self.table), 'step')}"
        return Card(title, self._choices(), self.table, self._kept)
