"""Problems of the speed benchmark: simulated tables of any size, and open tables.

A simulated table has n training rows of p predictors, uniform on [0, 1].  The response of a
regression is the sum of the first five plus 0.5 times a standard normal error; with two classes it
is whether that sum is above its median.  With K > 2 classes it is the class with the largest of K
scores; each score is a linear combination of the first five predictors, the same for any n and p,
plus a small normal error.  An open table is split once at random, with two thirds of its complete
rows for training.  A factor becomes one 0/1 column per level, so that all methods get the same
columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.tables import read_table
from odrf.options import words

__all__ = ["OpenTable", "Problem", "Simulation", "Source"]

INFORMATIVE = 5
NOISE_SD = 0.5
SCORE_NOISE_SD = 0.05


@dataclass(frozen=True)
class Problem:
    """Training and test rows.

    Attributes
    ----------
    name : str
    task : {"regression", "classification"}
    classes : int
        K; 1 for a regression.
    X, X_test : DataFrame
        Numbers only, columns ``x1`` … ``xp``.
    y, y_test : array
        The response, or the class as 0 … K - 1.
    """

    name: str
    task: words.Kind
    classes: int
    X: pd.DataFrame
    y: NDArray
    X_test: pd.DataFrame
    y_test: NDArray


@dataclass(frozen=True)
class Simulation:
    """A simulated problem; `classes` = 1 is a regression."""

    n: int
    p: int
    classes: int
    test_rows: int
    seed: int

    def problem(self) -> Problem:
        """Draw the rows."""
        rng = np.random.default_rng([self.seed, self.n, self.p])
        rows = self.n + self.test_rows
        X = rng.uniform(size=(rows, self.p))
        y = _response(X[:, :INFORMATIVE], self.classes, rng)
        return _split("simulated", X, y, self.classes, np.arange(rows), self.n)


@dataclass(frozen=True)
class OpenTable:
    """A table of a data folder, as ``tables.py`` describes it."""

    folder: Path
    name: str
    seed: int

    def problem(self) -> Problem:
        """Read the table and split it."""
        table = read_table(self.folder, self.name)
        X = pd.get_dummies(table.data.drop(columns="y"), dtype=float).to_numpy(float)
        y = table.data["y"].to_numpy()
        classes = 1
        if table.task == "classification":
            y, labels = pd.factorize(y, sort=True)
            classes = len(labels)
        order = np.random.default_rng(self.seed).permutation(len(y))
        return _split(self.name, X, y, classes, order, 2 * len(y) // 3)


Source = Simulation | OpenTable


def _response(X: NDArray, classes: int, rng: np.random.Generator) -> NDArray:
    if classes <= 2:
        total = X.sum(axis=1) + NOISE_SD * rng.standard_normal(len(X))
        return total if classes == 1 else (total > np.median(total)).astype(int)
    directions = np.random.default_rng(classes).standard_normal((X.shape[1], classes))
    directions /= np.linalg.norm(directions, axis=0)
    scores = (X - 0.5) @ directions
    scores += SCORE_NOISE_SD * rng.standard_normal(scores.shape)
    return scores.argmax(axis=1)


def _split(
    name: str, X: NDArray, y: NDArray, classes: int, order: NDArray, n_train: int
) -> Problem:
    columns = [f"x{j}" for j in range(1, X.shape[1] + 1)]
    train, test = order[:n_train], order[n_train:]
    return Problem(
        name,
        "regression" if classes == 1 else "classification",
        classes,
        pd.DataFrame(X[train], columns=columns),
        y[train],
        pd.DataFrame(X[test], columns=columns),
        y[test],
    )
