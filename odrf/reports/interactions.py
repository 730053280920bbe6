"""Interactions of variables, ranked, beside what noise alone reaches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from odrf import plots
from odrf.checks import checked_truth, checked_whole, is_list
from odrf.design.encoding import unseen_levels_expected
from odrf.design.new_rows import touched, variables
from odrf.errors import InputError
from odrf.fits.curves import Interacting, grown_on_permuted, interacting, some_rows
from odrf.fits.fit import AnyFit, raw_rows
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 15
MOST_ROWS, MOST_PERMUTATIONS = 2000, 1000
NOTE = (
    "strength is the standard deviation of what is no sum of parts, in the unit of the prediction; "
    "H its share of the whole; noise the largest strength of any in a fit to permuted responses, "
    "on average over these fits."
)


@public
@dataclass(frozen=True, eq=False, repr=False)
class Interactions(Report):
    """Which variables interact, ranked by strength.

    Returned by `interactions` of all results.

    Attributes
    ----------
    call : str
    names : tuple of P str
    found : Interacting
        Their interactions.
    noise : tuple of Interacting
        Those of fits to permuted responses.
    n_rows : int
        Over how many rows predictions were averaged.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> fit = odrf.odrf("progression ~ bmi + bp + age", data, n_trees=50, seed=1)
    >>> fit.interactions(rows=30, permutations=0).table.columns.tolist()
    ['first', 'second', 'strength', 'H']
    """

    _title = "Interactions"
    _note = NOTE

    call: str
    names: tuple[str, ...]
    found: Interacting
    noise: tuple[Interacting, ...]
    n_rows: int

    @cached_property
    def table(self) -> pd.DataFrame:
        """A row for each pair of variables, the strongest first.

        Columns: ``first``, ``second``; ``strength``, the standard deviation over the rows of what
        the two add to the sum of their own effects, in the unit of the prediction; ``H``, its share
        of the standard deviation of their effects together (Friedman and Popescu 2008); ``noise``,
        the largest strength of any pair in fits to permuted responses, the mean over these.
        Without permutations there is no ``noise``.
        """
        first, second = np.array(list(combinations(self.names, 2)), dtype=object).T
        table = pd.DataFrame({"first": first, "second": second})
        return self._measured(table, "pairs")

    @cached_property
    def overall(self) -> pd.DataFrame:
        """A row for each variable: its interaction with all others.

        ``H`` is the share of the standard deviation of the predictions; other columns are as in
        `table`, with ``variable`` in place of the pair.
        """
        return self._measured(pd.DataFrame({"variable": self.names}), "overall")

    def _measured(self, table: pd.DataFrame, kind: str) -> pd.DataFrame:
        measured = pd.DataFrame(getattr(self.found, kind), columns=["strength", "H"])
        table = pd.concat([table, measured], axis=1)
        if self.noise:
            largest = [max(one.strength for one in getattr(null, kind)) for null in self.noise]
            table["noise"] = float(np.mean(largest))
        return table.sort_values("strength", ascending=False, kind="stable", ignore_index=True)

    def _facts(self) -> dict[str, str]:
        return {
            "Variables": str(len(self.names)),
            "Rows": str(self.n_rows),
            "Permutations": str(len(self.noise)),
        }

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Pairs": self.table.head(TOP), "With all others": self.overall.head(TOP)}

    def plot(self, *, overall: bool = False, ax: Axes | None = None) -> Axes:
        """Plot the strengths as dots, filled if they are above the noise, which is a line.

        Parameters
        ----------
        overall : bool, default False
            Draw the interaction of each variable with all others, not of pairs; the 30 strongest.
        {about ax}
        """
        if checked_truth("overall", overall):
            return plots.curves.plot_interactions([(name,) for name in self.overall["variable"]],
                                           self.overall, ax)  # fmt: skip
        names = list(zip(self.table["first"], self.table["second"], strict=True))
        return plots.curves.plot_interactions(names, self.table, ax)

    def _card(self) -> Card:
        return Card("Interactions", {"Rows": str(self.n_rows)}, self.table)


def interactions_of(
    fit: AnyFit, names: Any, rows: int, permutations: int, newdata: pd.DataFrame | None,
    progress: bool,
) -> Interactions:  # fmt: skip
    """Return the interactions of variables of a fit; the arguments are those of the results."""
    chosen = _chosen(fit, names)
    checked_whole("rows", rows, 2, MOST_ROWS)
    checked_whole("permutations", permutations, 0, MOST_PERMUTATIONS)
    every = raw_rows(fit, newdata)
    full = np.flatnonzero((every.weights > 0) & every.frame[chosen].notna().all(axis=1).to_numpy())
    if len(full) < 2:
        raise InputError(
            f"{len(full)} rows have values of all of {chosen}: use fewer variables=, or other rows"
        )
    rng = np.random.default_rng(np.random.SeedSequence(fit.control.seed, spawn_key=(0, 2)))
    if len(full) > rows:
        share = every.weights[full] / every.weights[full].sum()
        full = np.sort(rng.choice(full, rows, replace=False, p=share))
    few = some_rows(every, full)
    P = len(chosen)
    steps = (1 + permutations) * P * (P + 1) // 2 + permutations
    # levels of the rows themselves, of which reading the rows has warned
    with (
        unseen_levels_expected(),
        progress_bar(total=steps, unit="curve", progress=progress) as bar,
    ):
        strengths = interacting(fit, few, chosen, bar.update)
        noise = []
        for _ in range(permutations):
            null = grown_on_permuted(fit, int(rng.integers(2**63)))
            bar.update()
            noise.append(interacting(null, few, chosen, bar.update))
    return Interactions(fit.call, tuple(chosen), strengths, tuple(noise), len(full))


def _chosen(fit: AnyFit, names: Any) -> list[str]:
    """Return two or more different variables, by default all, or raise `InputError`."""
    if names is not None and not is_list(names):
        raise InputError(f"variables={names!r}: give a list of two or more names")
    chosen = [*(variables(fit.design) if names is None else names)]
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise InputError(f"variables={chosen!r}: interactions are of two or more different ones")
    touched(fit.design, *chosen)
    return chosen
