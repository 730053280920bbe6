"""Groups of tables: by rows, predictors, factors and noise."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.shared.protocol import LARGEST_TRAINING_SET

__all__ = ["groups_of_tables"]

FEW_ROWS, FEW_PREDICTORS, MANY_PREDICTORS = 500, 10, 50
# Losses of the best method: the relative error of numbers, the error in per cent of classes.
LITTLE_NOISE = {"regression": 0.1, "classification": 5.0}


def groups_of_tables(folder: Path, best: pd.Series) -> dict[str, list[str]]:
    """Return the tables of each group, of those that the index has.

    Parameters
    ----------
    folder : Path
        The data folder, whose ``index.csv`` says how large the tables are.
    best : Series
        The smallest loss that any method has on each table (index).
    """
    index = pd.read_csv(folder / "index.csv", index_col="name")
    index = index.loc[index.index.intersection(best.index, sort=False)]
    train = (2 * index["n"] // 3).clip(upper=LARGEST_TRAINING_SET)
    p, factors = index["p"], index["n_categorical"]
    quiet = best[index.index] < index["task"].map(LITTLE_NOISE)
    most = LARGEST_TRAINING_SET
    groups = {
        f"fewer than {FEW_ROWS} training rows": train < FEW_ROWS,
        f"{FEW_ROWS} to {most - 1:,}": (train >= FEW_ROWS) & (train < most),
        f"{most:,} or more": train == most,
        f"at most {FEW_PREDICTORS} predictors": p <= FEW_PREDICTORS,
        f"{FEW_PREDICTORS + 1} to {MANY_PREDICTORS}": (p > FEW_PREDICTORS) & (p <= MANY_PREDICTORS),
        f"more than {MANY_PREDICTORS}": p > MANY_PREDICTORS,
        "only numbers": factors == 0,
        "factors, fewer than half": (factors > 0) & (2 * factors < p),
        "factors, half or more": 2 * factors >= p,
        "little noise": quiet,
        "much noise": ~quiet,
    }
    return {name: list(index.index[inside]) for name, inside in groups.items()}
