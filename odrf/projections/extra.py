"""Single predictors with random thresholds: extremely randomised trees."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from odrf.projections.axis import Axis
from odrf.projections.family import Table

__all__ = ["ExtraTrees"]


@dataclass(frozen=True)
class ExtraTrees(Axis):
    """Distinct single predictors with one random threshold each.

    A threshold is uniform between the least and the largest value in the node; the best of them is
    the split (Geurts, Ernst and Wehenkel 2006).  ``n_thresholds=`` tries more thresholds.  In the
    paper every tree is grown on all rows, as with ``resample="none"``.  The default is a bootstrap
    sample, as in other forests, since out-of-bag results need one.  The levels of a factor are
    ordered as in `Axis`.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> forest = odrf.odrf("cultivar ~ .", data, projection="extra", n_trees=50, seed=1)
    >>> forest.oob_error < 0.06
    True
    """

    name: ClassVar[str] = "extra"
    sampling_in_words: ClassVar[str] = "distinct unit vectors, one uniform threshold each"
    source: ClassVar[str] = "Geurts, Ernst and Wehenkel (2006)"
    n_thresholds: ClassVar[str | int] = 1

    def n_default(self, table: Table) -> int:
        """Return ⌈√P⌉ for classes, P for a regression: the K of the paper, for single trees too."""
        return table.P if table.n_classes == 1 else math.ceil(math.sqrt(table.P))
