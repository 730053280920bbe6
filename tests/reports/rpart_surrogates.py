"""Surrogates as `summary.rpart` prints them.

`STAGEC` is from the file ``tests/testall.Rout.save`` of rpart (fits 2 and 3); its table
``data/stagec.csv`` is that of rpart, on the progression of prostate cancer of 146 patients of the
Mayo Clinic, without the times.  `IRIS` is ``summary(rpart(Species ~ ., iris))``.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

__all__ = ["IRIS", "STAGEC", "Printed", "stagec"]


class Printed(NamedTuple):
    """A split and its surrogates.

    Attributes
    ----------
    rows : str
        The rows of the node, as a query.
    primary : str
        As rpart prints it.
    surrogates : list of str
        As rpart prints them: a comparison, or the side of each level, and the side; agree; adj; how
        many rows were split.
    """

    rows: str
    primary: str
    surrogates: list[str]


LEFT_OF_12 = "(g2 < 13.47 or (g2.isna() and ploidy != 'tetraploid'))"
NODE_12 = "grade > 2.5 and age > 56.5 and gleason < 7.5"

STAGEC = [
    Printed(
        "age > 0",
        "grade < 2.5 left",
        [
            "gleason < 5.5 left 0.863 0.672 0",
            "ploidy as LRR left 0.644 0.148 0",
            "g2 < 9.945 left 0.630 0.115 0",
            "age < 66.5 right 0.589 0.016 0",
        ],
    ),
    Printed(
        "grade < 2.5",
        "g2 < 11.36 left",
        ["ploidy as LR- left 0.917 0.815 0", "age < 65.5 left 0.617 0.148 1"],
    ),
    Printed(
        NODE_12,
        "g2 < 13.47 left",
        [
            "ploidy as LRL left 0.979 0.957 3",
            "age < 66.5 right 0.596 0.174 0",
            "eet < 1.5 right 0.553 0.087 0",
            "gleason < 6.5 left 0.553 0.087 0",
        ],
    ),
    Printed(
        "grade > 2.5 and age > 56.5 and gleason > 7.5",
        "g2 < 15.29 right",
        [
            "ploidy as RLR left 0.727 0.4 3",
            "gleason < 8.5 right 0.636 0.2 0",
            "age < 57.5 left 0.591 0.1 0",
            "eet < 1.5 left 0.591 0.1 0",
        ],
    ),
    Printed(
        "grade > 2.5 and age > 56.5 and gleason > 7.5",
        "g2 < 17 right",
        ["age < 57.5 left 0.682 0.125 3"],
    ),
    Printed(
        f"{NODE_12} and {LEFT_OF_12}",
        "g2 < 11.52 right",
        ["age < 70 right 0.826 0.429 2", "ploidy as RLR left 0.739 0.143 0"],
    ),
    Printed(
        f"{NODE_12} and not {LEFT_OF_12}",
        "g2 < 17.91 right",
        [
            "age < 65.5 left 0.708 0.364 1",
            "eet < 1.5 right 0.667 0.273 0",
            "gleason < 6.5 right 0.625 0.182 0",
        ],
    ),
]

IRIS = [
    Printed(
        "petal_length > 0",
        "petal_length < 2.45 left",
        [
            "petal_width < 0.8 left 1.000 1.00 0",
            "sepal_length < 5.45 left 0.920 0.76 0",
            "sepal_width < 3.35 right 0.833 0.50 0",
        ],
    ),
    Printed(
        "petal_length > 2.45",
        "petal_width < 1.75 left",
        [
            "petal_length < 4.75 left 0.91 0.804 0",
            "sepal_length < 6.15 left 0.73 0.413 0",
            "sepal_width < 2.95 left 0.67 0.283 0",
        ],
    ),
]


def stagec() -> pd.DataFrame:
    """Return the table of rpart; ploidy has the levels of rpart, in their order."""
    table = pd.read_csv(Path(__file__).parent / "data" / "stagec.csv")
    levels = ["diploid", "tetraploid", "aneuploid"]
    return table.assign(ploidy=pd.Categorical(table["ploidy"], categories=levels))
