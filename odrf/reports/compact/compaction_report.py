"""What a compact fit has kept, its size, and how much its predictions differ."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from odrf.engine.memory import in_bytes
from odrf.engine.trees.compact_forest import CompactForest
from odrf.errors import InputError
from odrf.fits.fit import AnyFit
from odrf.public import public
from odrf.text.card import Card, Carded
from odrf.text.summary import Summary
from odrf.text.wording import number

__all__ = ["CompactionReport"]

MEGABYTE = 1e6


@public
class CompactionReport(Carded):
    """What a compact fit has kept, returned by ``compaction()``.

    Parameters
    ----------
    fit : AnyFit
        A compact fit.

    Attributes
    ----------
    fit : AnyFit
    table : DataFrame
        Megabytes (10⁶ bytes) and bytes per leaf of the trees before, with the layout that
        predictions add to them, and of the compact trees, which are in this layout.
    changes : DataFrame
        The largest and the mean change of a value of a leaf, and of a prediction of training rows.
        The second row is missing if the fit had no training rows.

    Raises
    ------
    InputError
        The fit is not compact.
    """

    def __init__(self, fit: AnyFit) -> None:
        forest = fit.forest
        if not isinstance(forest, CompactForest):
            raise InputError("compaction(): the fit is not compact: use compact() first")
        self.fit, self._forest = fit, forest

    @cached_property
    def table(self) -> pd.DataFrame:
        """Size of the trees before and after."""
        forest = self._forest
        levels = 0 if forest.level_words is None else forest.level_words.nbytes
        layout = forest.at.nbytes + forest.words.nbytes + levels
        before = forest.compaction.before
        sizes = {
            "trees before": before,
            "with the layout for predictions": before + layout,
            "compact trees": forest.nbytes,
        }
        table = pd.DataFrame({"bytes": sizes}).rename_axis("what")
        leaves = int(forest.leaves().sum())
        return pd.DataFrame(
            {"MB": table["bytes"] / MEGABYTE, "bytes per leaf": table["bytes"] / leaves}
        )

    @cached_property
    def changes(self) -> pd.DataFrame:
        """Changes of leaf values and predictions."""
        said = self._forest.compaction
        lines = {"value of a leaf": (said.leaf_largest, said.leaf_mean)}
        if said.rows:
            lines["prediction"] = said.largest, said.mean
        return pd.DataFrame(lines, index=["largest change", "mean change"]).T

    def summary(self) -> Summary:
        """Return sizes and changes as a summary."""
        changes = self.changes.map(number)
        sections = {"Size": self._sizes(), "Changes": changes}
        return Summary("Compact trees", self.fit.call, self._facts, sections, self._notes)

    @property
    def _facts(self) -> dict[str, str]:
        forest, data = self._forest, self.fit.data
        steps = "65,536 steps" if forest.compaction.bits == 16 else "32 bits"
        kept = "" if data.has_rows else ", left out"
        return {
            "Trees": str(forest.n_trees),
            "Leaves": f"{int(forest.leaves().sum()):,}",
            "Training rows": f"{data.n_rows}{kept}",
            "Values of leaves": f"{len(forest.value):,} different ones, of {steps}",
            "Largest change": f"{number(forest.compaction.leaf_largest)} of a leaf",
        }

    @property
    def _notes(self) -> tuple[str, ...]:
        rows = self._forest.compaction.rows
        if not rows:
            return ("A mean of trees changes by no more than the value of a leaf.",)
        return (f"Changes of predictions are those of {rows:,} training rows, by all trees.",)

    def _card(self) -> Card:
        return Card(f"Compact trees: {self.fit.call}", self._facts, self._sizes())

    def _sizes(self) -> pd.DataFrame:
        """Return the table in words, each size in a unit that suits it."""
        table = self.table
        per_leaf = table["bytes per leaf"].map("{:,.1f}".format)
        return pd.DataFrame(
            {"size": (table["MB"] * MEGABYTE).map(in_bytes), "bytes per leaf": per_leaf}
        )
