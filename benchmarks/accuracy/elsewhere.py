"""Results from elsewhere, beside those of a run: published ones, and those of R packages.

``published.csv`` holds the rows of Tables 1 and 2 of Zhan, Liu and Xia whose data are open: means
over 100 partitions.  A peers file has the columns ``dataset``, ``method``, ``metric`` ("RPE" or
"MR_percent"), ``mean``, ``sd`` and ``reps``; it follows the same protocol with other partitions.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.accuracy.scores import Means
from benchmarks.shared.markdown import table

__all__ = ["NOT_COMPARABLE", "PEERS", "beside_peers", "beside_published", "read_published"]

PUBLISHED = Path(__file__).with_name("published.csv")
NOT_COMPARABLE = ("magic",)
"""Tables whose published results no method reproduces on the public data; left out of averages."""
PEERS = {
    "ODRF_PPR100": "R ODRF",
    "ODRF_Log100": "R ODRF, logistic",
    "aorsf500": "R aorsf",
    "randomForest500": "R randomForest",
}
"""Methods of a peers file that are shown, and their names in the report."""
METRICS = {"rpe": "RPE", "error_percent": "MR_percent"}


def read_published(metric: str) -> pd.DataFrame:
    """Published means: a row for each table, a column for each method."""
    figures = pd.read_csv(PUBLISHED, index_col="table")
    return figures[figures["metric"] == metric].drop(columns="metric").dropna(axis=1, how="all")


def beside_published(means: Means) -> str:
    """Published figures beside those of all methods of a run, and averages over the same tables."""
    published = read_published(means.measure.column).add_prefix("published ")
    tables = [name for name in means.mean.index if name in published.index]
    if not tables:
        return ""
    figures = means.mean.loc[tables].join(published)
    averaged = figures.drop(index=list(NOT_COMPARABLE), errors="ignore")
    figures.loc[f"average of {len(averaged)}"] = averaged.mean(skipna=False)
    note = "".join(f"; {name} left out of the average" for name in NOT_COMPARABLE if name in tables)
    return (
        f"Beside the published figures (means over 100 partitions){note}:\n\n"
        f"{_text(figures, means.measure.digits)}"
    )


def beside_peers(means: Means, base: str, file: Path) -> str:
    """Means ± standard errors of R packages beside those of `base`."""
    lines = pd.read_csv(file)
    lines = lines[lines["method"].isin(PEERS) & (lines["metric"] == METRICS[means.measure.column])]
    lines = lines[lines["dataset"].isin(means.mean.index)]
    if lines.empty:
        return ""
    digits = means.measure.digits
    lines["cell"] = _cells(lines["mean"], lines["sd"] / lines["reps"] ** 0.5, digits)
    cells = lines.pivot(index="dataset", columns="method", values="cell")
    cells = cells.reindex(columns=[name for name in PEERS if name in cells]).rename(columns=PEERS)
    cells.insert(0, base, _cells(means.mean[base], means.se[base], digits))
    return (
        "Beside R packages, from a run outside of these scripts, by the same protocol on other "
        "random partitions (mean ± standard error):\n\n" + table(cells.fillna("–"), "table")
    )


def _cells(mean: pd.Series, se: pd.Series, digits: int) -> pd.Series:
    written = f"{{:.{digits}f}}".format
    return mean.map(written) + " ± " + se.map(written)


def _text(figures: pd.DataFrame, digits: int) -> str:
    return table(figures.map(lambda x: "–" if pd.isna(x) else f"{x:.{digits}f}"), "table")
