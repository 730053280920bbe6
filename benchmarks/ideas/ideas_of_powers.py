"""Weights of kinds of trees whose probabilities are right to a power, on open tables.

    python -m benchmarks.ideas.ideas_of_powers --out ideas_of_powers.csv [--data DIR] [--tables a,b]
                                               [--repeats 1] [--trees 400]
    python -m benchmarks.ideas.ideas_of_powers --report ideas_of_powers.csv

The mean of randomised trees is too moderate, and squared errors weigh such kinds little even where
their order of the classes is the best.  So here weights minimise the log loss of the weighted mean
to the best power.  Few pilot trees have more loss than many: to first order the excess falls with
one over their number, so that twice the loss of all trees less that of halves stands for very many.
These weights are taken always, as half of the weights, or only where they are clearly better than
the default ones.  With 100 trees of each kind, weights on few kinds would be judged by too few
trees.  Otherwise all is as in ``ideas.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy
from numpy.typing import NDArray

from benchmarks.ideas.ideas import (
    DEFAULT,
    TEST_ROWS,
    Grower,
    ideas_parser,
    loss_of,
    pilots_of,
    stacked,
    try_or_report,
)
from benchmarks.ideas.ideas_of_weights import means_of_halves
from benchmarks.shared.protocol import Partition

__all__ = ["log_losses", "losses", "weights_to_a_power"]

LEAST, POWERS = 0.02, (0.5, 12.0)
"""What is added to probabilities of 0, and the range of powers."""
PRIOR_ROWS = 60.0
"""Weights are pulled to equal ones as by so many rows."""
CLEAR = 5.0
"""So many standard errors better are weights that are clearly better: they are fitted to the same
rows."""


def losses(rows: Partition, task: str, trees: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield each idea with its loss on the test rows; nothing for numbers."""
    if task == "regression":
        return
    rows = replace(rows, test=rows.test.iloc[:TEST_ROWS])
    grower = Grower(rows, task, trees, seed)
    kinds = {name: grower.grown(kind) for name, kind in grower.kinds.items()}
    default = list(kinds.values())
    weights = stacked(grower, default)
    halves, y = means_of_halves(pilots_of(grower, kinds))
    others = weights_to_a_power(halves, y)
    gains = best_losses(weights, halves, y) - best_losses(others, halves, y)
    is_clear = gains.sum() > CLEAR * np.sqrt(len(y)) * gains.std()
    ideas = {
        DEFAULT: weights,
        "log loss to a power": others,
        "half of it": (weights + others) / 2,
        "if clearly better": others if is_clear else weights,
    }
    for idea, of_kinds in ideas.items():
        yield idea, loss_of(rows, task, default, of_kinds)


def log_losses(
    w: NDArray[np.float64], power: float, halves: NDArray[np.float64], y: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the log loss of each row (m,) to a power, as if there were very many trees.

    Parameters
    ----------
    w : (G,) float64
        Weights of the kinds.
    power : float
    halves : (2, G, m, K) float64
        As `means_of_halves` returns them.
    y : (m,) int64
    """

    def of(means: NDArray[np.float64]) -> NDArray[np.float64]:
        logs = power * np.log(np.tensordot(w, means, 1) + LEAST)
        return scipy.special.logsumexp(logs, axis=1) - logs[np.arange(len(y)), y]

    return 2 * of(halves.mean(axis=0)) - (of(halves[0]) + of(halves[1])) / 2


def best_losses(
    w: NDArray[np.float64], halves: NDArray[np.float64], y: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the losses of the rows to the power that is best on average."""
    found = scipy.optimize.minimize_scalar(
        lambda power: log_losses(w, power, halves, y).mean(), bounds=POWERS, method="bounded"
    )
    return log_losses(w, found.x, halves, y)


def weights_to_a_power(halves: NDArray[np.float64], y: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights (G,) with the least log loss to the best power."""
    G, m = halves.shape[1], len(y)
    equal = np.full(G, 1 / G)
    prior = PRIOR_ROWS / m * log_losses(equal, 2.0, halves, y).mean()

    def objective(v: NDArray[np.float64]) -> float:
        w = v[:-1] / max(v[:-1].sum(), 1e-9)
        loss = log_losses(w, float(np.exp(v[-1])), halves, y).mean()
        return float(loss + prior * ((w - equal) ** 2).sum())

    bounds = [(0.0, None)] * G + [tuple(np.log(POWERS))]
    begin = np.append(equal, np.log(2.0))
    found = scipy.optimize.minimize(objective, begin, method="L-BFGS-B", bounds=bounds).x[:-1]
    return found / found.sum() if found.sum() > 0 else equal


def main() -> int:
    """Try the weights, or report an existing csv."""
    parser = ideas_parser(__doc__ or "", "ideas_of_powers.csv")
    parser.set_defaults(trees=400)
    return try_or_report(parser.parse_args(), losses)


if __name__ == "__main__":
    sys.exit(main())
