"""Selection of predictors that beat permuted copies of themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
import pandas as pd
from tqdm import tqdm

from odrf import plots
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.regrowing import permutation_rises, regrown, regrown_beside_shadows
from odrf.statistics.selection import CONFIRMED, REJECTED, TENTATIVE, decisions
from odrf.text.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ShadowSelection"]

Forest = TypeVar("Forest")


class ShadowSelection(Generic[Forest]):
    """Predictors against their shadows, as in Boruta (Kursa and Rudnicki 2010).

    `odrf.results.forest.ODRFResults.select_variables` makes it.  Each round grows a forest on the
    predictors still in play and a permuted copy of each, their shadows.  A predictor scores a hit
    if permuting it out of bag costs more than permuting any shadow does.  Binomial tests of the
    hits confirm or reject; rejected predictors leave.

    Parameters
    ----------
    fit : Fit
        The forest on all predictors.
    rounds : int
        The most rounds.
    progress : bool
        Show a progress bar.
    result : callable
        Makes a result of a fit.

    Attributes
    ----------
    fit : Fit
    rounds : int
        Rounds played.
    table : DataFrame
        One row for each predictor, the most important first: ``decision``, ``"confirmed"``,
        ``"tentative"`` or ``"rejected"``; ``hits`` in so many ``rounds``; ``importance``, the mean
        rise of the out-of-bag loss; ``shadow``, the mean of the best shadow in the same rounds.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> shadows = forest.select_variables("boruta", rounds=12)
    >>> "bmi" in shadows.selected()
    True
    """

    def __init__(
        self, fit: Fit, rounds: int, progress: bool, result: Callable[[Fit], Forest]
    ) -> None:
        self.fit, self._result = fit, result
        names, seed = fit.design.predictors, fit.control.seed
        P = len(names)
        hits, played = np.zeros(P, dtype=np.int64), np.zeros(P, dtype=np.int64)
        total, best_shadow = np.zeros(P), np.zeros(P)
        decided = [TENTATIVE] * P
        self.rounds = 0
        for number in tqdm(range(rounds), unit="round", disable=not progress):
            which = [j for j in range(P) if decided[j] != REJECTED]
            if not which or TENTATIVE not in decided:
                break
            state = np.random.SeedSequence(seed, spawn_key=(number,)).generate_state(1)
            beside = regrown_beside_shadows(fit, which, int(state[0]))
            rise = permutation_rises(beside).mean(axis=0)
            own, shadow = rise[: len(which)], float(rise[len(which) :].max())
            hits[which] += own > shadow
            played[which] += 1
            total[which] += own
            best_shadow[which] += shadow
            self.rounds += 1
            decided = _settled(decided, decisions(hits, played))
        self._decided = decided
        table = pd.DataFrame(
            {
                "decision": decided,
                "hits": hits,
                "rounds": played,
                "importance": total / np.maximum(played, 1),
                "shadow": best_shadow / np.maximum(played, 1),
            },
            index=pd.Index(names, name="predictor"),
        )
        self.table = table.sort_values("importance", ascending=False, kind="stable")

    def selected(self, tentative: bool = False) -> list[str]:
        """Return the names of the predictors confirmed, on request also of those left undecided."""
        wanted = (CONFIRMED, TENTATIVE) if tentative else (CONFIRMED,)
        names = self.fit.design.predictors
        return [name for name, said in zip(names, self._decided, strict=True) if said in wanted]

    def best(self, tentative: bool = False) -> Forest:
        """Grow the forest on the selected predictors.

        Raises
        ------
        InputError
            If there are none.
        """
        names = self.selected(tentative)
        if not names:
            raise InputError("no predictor is confirmed: use best(tentative=True), or more rounds=")
        which = [self.fit.design.predictors.index(name) for name in names]
        call = f"{self.fit.call}.select_variables('boruta').best()"
        return self._result(regrown(self.fit, which, call))

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {"Method": "shadows (Boruta)", "Rounds": str(self.rounds)}
        facts |= {
            said.capitalize(): f"{self._decided.count(said)} predictors"
            for said in (CONFIRMED, TENTATIVE, REJECTED)
        }
        note = (
            "importance is the mean rise of the out-of-bag loss when a predictor is permuted, "
            "shadow that of the best permuted copy in the same rounds."
        )
        sections = {"Predictors": self.table}
        return Summary("Variable selection", self.fit.call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each predictor's importance beside that of the best shadow.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.
        """
        return plots.plot_shadows(self.table, ax)

    def __repr__(self) -> str:
        return f"ShadowSelection: {self.rounds} rounds\n{self.table.to_string()}"


def _settled(before: list[str], now: list[str]) -> list[str]:
    """Return the decisions, of which those taken before stand."""
    return [new if old == TENTATIVE else old for old, new in zip(before, now, strict=True)]
