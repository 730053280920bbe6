"""What is read of all trees of a fit: their splits as a table."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from odrf.reports.tree import splits_of_trees
from odrf.results.fitted import FittedResults

__all__ = ["SeveralTrees"]


class SeveralTrees(FittedResults):
    """Base class of the results of several trees of splits."""

    @cached_property
    def splits(self) -> pd.DataFrame:
        """The splits of all trees, one row for each coefficient.

        Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The
        other columns are those of `ODTResults.splits`.
        """
        return splits_of_trees(self.fit.forest, self.fit.design)
