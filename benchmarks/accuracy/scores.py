"""Scores of a run's csv: the score of each protocol, and its means over partitions.

To rank methods and to take ratios, scores are turned into losses: RPE and misclassification rate
are losses, κ and AUC become 1 − κ and 1 − AUC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pandas as pd

__all__ = [
    "AUC",
    "BESIDE",
    "MEASURES",
    "RARE",
    "Means",
    "Measure",
    "mean_scores",
    "paired_scores",
    "read_results",
]

Frame = TypeVar("Frame", pd.Series, pd.DataFrame)

KEY = ["table", "protocol", "partition", "method", "seed"]
RARE = 0.1
"""If a class has a smaller share of the rows, AUC is reported beside the error."""


@dataclass(frozen=True)
class Measure:
    """A score: its column in the csv, its name, decimals, and whether more is better."""

    column: str
    title: str
    digits: int
    more_is_better: bool = False

    def loss(self, scores: Frame) -> Frame:
        """Turn scores into losses, or losses back into scores."""
        return 1 - scores if self.more_is_better else scores


RPE = Measure("rpe", "RPE", 4)
ERROR = Measure("error_percent", "error %", 2)
RAE = Measure("rae", "relative absolute error", 4)
LOG_LOSS = Measure("log_loss", "log loss", 4)
BRIER = Measure("brier", "Brier score", 4)
KAPPA = Measure("kappa", "Cohen's κ", 3, more_is_better=True)
AUC = Measure("auc", "AUC", 3, more_is_better=True)
MEASURES = {
    ("Z", "regression"): RPE,
    ("Z", "classification"): ERROR,
    ("A", "regression"): RPE,
    ("A", "classification"): ERROR,
    ("T", "classification"): KAPPA,
    ("G", "classification"): KAPPA,
}
"""Score of each protocol for each task."""
BESIDE = {"regression": (RAE,), "classification": (LOG_LOSS, BRIER)}
"""Other scores of protocol Z: absolute errors, and scores of probabilities instead of labels."""


@dataclass(frozen=True)
class Means:
    """Means over partitions, one row for each table and one column for each method.

    Attributes
    ----------
    measure : Measure
    mean, se : DataFrame
        Mean and its standard error; NaN if a method has no result.
    partitions : Series
        Number of partitions that the means of each table are over.
    """

    measure: Measure
    mean: pd.DataFrame
    se: pd.DataFrame
    partitions: pd.Series

    @property
    def loss(self) -> pd.DataFrame:
        """The means as losses."""
        return self.measure.loss(self.mean)


def read_results(paths: Sequence[Path], methods: Sequence[str] | None = None) -> pd.DataFrame:
    """Read csv files; of fits with the same key only the last one is kept.

    Parameters
    ----------
    paths : sequence of Path
    methods : sequence of str, optional
        Methods to keep, in the order of the report; by default all.
    """
    lines = pd.concat([pd.read_csv(path) for path in paths], ignore_index=True)
    lines = lines.drop_duplicates(KEY, keep="last")
    order = list(methods) if methods is not None else lines["method"].unique().tolist()
    lines = lines[lines["method"].isin(order)]
    return lines.assign(method=pd.Categorical(lines["method"], order))


def paired_scores(results: pd.DataFrame, table: str, measure: Measure) -> pd.DataFrame:
    """Scores of one table: one row for each partition, one column for each method.

    Methods with results on at least half of the partitions are kept, and partitions on which all
    these methods have results.
    """
    lines = results[(results["table"] == table) & results[measure.column].notna()]
    scores = lines.pivot_table(
        index=["seed", "partition"], columns="method", values=measure.column, observed=True
    )
    enough = scores.notna().mean() >= 0.5
    return scores.loc[:, enough].dropna()


def mean_scores(results: pd.DataFrame, measure: Measure) -> Means:
    """Average the scores of each table over its partitions."""
    scores = {table: paired_scores(results, table, measure) for table in results["table"].unique()}
    scores = {table: paired for table, paired in scores.items() if not paired.empty}
    methods = [
        name
        for name in results["method"].cat.categories
        if any(name in paired for paired in scores.values())
    ]
    return Means(
        measure,
        pd.DataFrame({table: paired.mean() for table, paired in scores.items()}, methods).T,
        pd.DataFrame({table: paired.sem() for table, paired in scores.items()}, methods).T,
        pd.Series({table: len(paired) for table, paired in scores.items()}, dtype=int),
    )
