"""Results of a tree whose leaves are lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import pandas as pd

from odrf import reports
from odrf.fits.fit import Fit
from odrf.results.absent import known
from odrf.results.base import Of
from odrf.results.tree import ODTResults

OF_CONSTANTS = 'it is of trees with leaves="constant"'


@known(kept=True)
def lines(self: Of[Fit]) -> pd.DataFrame:
    """The lines of the leaves, one row for each coefficient, in the units of the data.

    A row of the data that reaches the leaf ``node`` is predicted by the sum of ``coefficient``
    times ``column``, with 1 for the intercept, but no further than 5 % beyond the range of the
    leaf's training responses.  A line is an average of that of the leaf and of those of the nodes
    above.  If training rows have missing cells, ``fill`` is what stands in place of the product
    where the cell is missing.
    """
    return reports.tree.lines_table(self.fit.forest, self.fit.design)


class LineTreeResults(ODTResults):
    """A fitted tree whose leaves are lines, as returned by ``odrf.odt(…, leaves="linear")``.

    Its chapters are those of `ODTResults`; besides, `lines` is the table of the leaves' lines.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ bmi + bp", data, leaves="linear", seed=1)
    >>> tree.n_leaves
    1
    >>> tree.lines["predictor"].tolist()
    ['(intercept)', 'bmi', 'bp']
    """

    # The tree
    lines = lines

    _lacks: ClassVar[Mapping[str, str]] = {
        "a theorem": "its theorems are about constant leaves: fit without leaves=",
        "one sum of trees": OF_CONSTANTS,
        **dict.fromkeys(("to_c", "to_onnx", "to_python"), OF_CONSTANTS),
        "rows to add": OF_CONSTANTS,
        "to_sql": OF_CONSTANTS,
    }
