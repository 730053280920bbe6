"""The result of `odrf.foresee`: memory, file and time of a fit that was not made."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from odrf.engine.memory import in_bytes
from odrf.evaluation.foresight.forecast import Bytes, Forecast
from odrf.public import public
from odrf.text.card import Card, Carded
from odrf.text.quantity import quantity
from odrf.text.summary import Summary

__all__ = ["Foresight"]

MEGABYTE = 1e6
SHORT, MINUTE, HOUR = 0.1, 60.0, 3600.0
# The options by which fits have fewer trees, and those by which they have smaller ones.
OF_NUMBER, OF_SIZES = "n_trees", ("max_leaves", "min_leaf", "min_split")


@public
@dataclass(frozen=True, eq=False, repr=False)
class Foresight(Carded):
    """What a fit will take, returned by `odrf.foresee`.

    Attributes
    ----------
    call : str
        The call of the fit.
    peak_bytes : float
        Memory that the call takes where it takes most, in addition to what the process has.
    fit_bytes : float
        Memory of the fit, with its training rows, as long as nothing is asked of it.  Fits on rows
        in chunks keep no rows; such forests have the trees as predictions read them from the start.
    file_bytes : float
        The file that `save` writes.
    seconds : float
        Time of the call, when its functions are compiled.
    predict_bytes : float
        Memory that the first prediction adds to the fit; 0 if it adds nothing.
    oob_bytes : float
        Memory that out-of-bag predictions take while they are made; 0 if there are none.
    free_bytes : float
        Memory that the process may still take; infinity where the system does not tell.
    n_trees : int
        Trees of the fit, of boosted trees those of all rounds; of `odrf.auto` trees of its forest.
    leaves : float
        Leaves of a tree, on average.
    pilots : str
        The trees that were grown to find this out.
    parts : dict of str to tuple
        The bytes of each part: during growth, in the fit, in the file.
    notes : tuple of str
    limits : tuple of str
        The options of the function that limit the number of trees or their sizes.
    trees_of_round : int
        Trees of a round of boosting, that is, of 1 in the option `n_trees`; 1 for other fits.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> foresight = odrf.foresee("progression ~ .", data, n_trees=200, seed=1)
    >>> foresight.fits, foresight.n_trees
    (True, 200)
    >>> foresight.table.columns.tolist()
    ['MB during growth', 'MB in the fit', 'MB in the file']
    """

    call: str
    peak_bytes: float
    fit_bytes: float
    file_bytes: float
    seconds: float
    predict_bytes: float
    oob_bytes: float
    free_bytes: float
    n_trees: int
    leaves: float
    pilots: str
    parts: dict[str, Bytes]
    notes: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    trees_of_round: int = 1

    @classmethod
    def of(cls, call: str, forecast: Forecast, free: float, options: Iterable[str]) -> Foresight:
        """Return the result for a call, if so many bytes are `free`; `options` are those it has."""
        growing, fitted, saved = (sum(each) for each in zip(*forecast.parts.values(), strict=True))
        return cls(
            call,
            growing,
            fitted,
            saved,
            forecast.seconds,
            forecast.predicting,
            forecast.out_of_bag,
            free,
            forecast.n_trees,
            forecast.leaves,
            forecast.pilots,
            forecast.parts,
            forecast.notes,
            tuple(name for name in (OF_NUMBER, *OF_SIZES) if name in set(options)),
            forecast.trees_of_round,
        )

    @property
    def fits(self) -> bool:
        """Whether there is memory enough for the call."""
        return self.peak_bytes <= self.free_bytes

    @property
    def table(self) -> pd.DataFrame:
        """Megabytes (10⁶ bytes) of each part of the fit, and of all of it.

        Columns ``MB during growth``, ``MB in the fit`` and ``MB in the file``.
        """
        lines = {**self.parts, "all": (self.peak_bytes, self.fit_bytes, self.file_bytes)}
        columns = ["MB during growth", "MB in the fit", "MB in the file"]
        table = pd.DataFrame(lines.values(), index=pd.Index(lines, name="part"), columns=columns)
        return table / MEGABYTE

    def summary(self) -> Summary:
        """Return the table and what else is known, as a summary."""
        table = {"Memory and file": self._sizes()}
        return Summary("What a fit will take", self.call, self._facts(), table, self._sentences())

    def _card(self) -> Card:
        return Card("What a fit will take", self._facts(), self._sizes())

    def _sizes(self) -> pd.DataFrame:
        """Return the table in words, each size in a unit that suits it."""
        words = (self.table * MEGABYTE).map(in_bytes)
        return words.rename(columns=lambda column: column.removeprefix("MB "))

    def _facts(self) -> dict[str, str]:
        facts = {
            "Time": in_time(self.seconds),
            "Memory at its peak": in_bytes(self.peak_bytes),
            "Free memory": in_bytes(self.free_bytes),
            "Fit in memory": in_bytes(self.fit_bytes),
            "File": in_bytes(self.file_bytes),
            "Trees": f"{self.n_trees} of {self.leaves:,.0f} leaves",
        }
        if self.predict_bytes:
            facts["First prediction"] = f"{in_bytes(self.predict_bytes)} more"
        if self.oob_bytes:
            facts["Out-of-bag rows"] = f"{in_bytes(self.oob_bytes)} more"
        return facts | {"Known from": self.pilots}

    def _sentences(self) -> tuple[str, ...]:
        """Return what to say below the table."""
        if self.fits:
            return self.notes
        return (f"It does not fit into memory: {self._smaller()}.", *self.notes)

    def _smaller(self) -> str:
        """Return what would fit into memory."""
        share = self.free_bytes / self.peak_bytes
        leaves = f"{self.leaves * share:,.0f} leaves"
        sizes = ", ".join(f"{name}=" for name in self.limits if name in OF_SIZES)
        if OF_NUMBER not in self.limits:
            return f"a tree of about {leaves} would ({sizes})"
        of_round = self.trees_of_round
        number = max(1, int(self.n_trees * share / of_round))
        fewer = quantity(number, "tree" if of_round == 1 else "round")
        or_smaller = f", or trees of {leaves} ({sizes})" if sizes else ""
        return f"about {fewer} would ({OF_NUMBER}=){or_smaller}"


def in_time(seconds: float) -> str:
    """Return a time in words: seconds, minutes or hours."""
    if seconds < SHORT:
        return f"less than {SHORT} s"
    if seconds < MINUTE:
        return f"{seconds:.1f} s"
    return f"{seconds / MINUTE:.1f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"
