"""Weights of kinds of trees from the rows near the boundaries of classes, on open tables.

    python -m benchmarks.ideas.ideas_of_boundaries --out ideas_of_boundaries.csv [--data DIR]
                                                   [--tables a,b] [--repeats 1] [--trees 100]
    python -m benchmarks.ideas.ideas_of_boundaries --report ideas_of_boundaries.csv

Greedy trees are closest to the classes of rows whose labels nobody doubts, which says nothing of
the others.  So here the kinds of trees of the default forest are weighed on rows alone whose two
likeliest classes differ little (``ideas_of_weights.py``); or their weights are pulled to equal ones
less, or more.  Otherwise all is as in ``ideas.py``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

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
from benchmarks.ideas.ideas_of_weights import stacked_again, weights_near_boundaries
from benchmarks.shared.protocol import Partition

SHARES = {"three quarters": 0.75, "half": 0.5, "a quarter": 0.25}
STRENGTHS = (0.3, 3.0)
"""How strongly weights are pulled to equal ones, beside the default."""


def losses(rows: Partition, task: str, trees: int, seed: int) -> Iterator[tuple[str, float]]:
    """Yield each idea with its loss on the test rows; nothing for numbers."""
    if task == "regression":
        return
    rows = replace(rows, test=rows.test.iloc[:TEST_ROWS])
    grower = Grower(rows, task, trees, seed)
    kinds = {name: grower.grown(kind) for name, kind in grower.kinds.items()}
    default, pilots = list(kinds.values()), pilots_of(grower, kinds)
    weights = stacked(grower, default)
    yield DEFAULT, loss_of(rows, task, default, weights)
    for words, share in SHARES.items():
        others = weights_near_boundaries(pilots, weights, share)
        yield f"{words} of the rows, near boundaries", loss_of(rows, task, default, others)
    for strength in STRENGTHS:
        others = stacked_again(pilots, strength)
        idea = f"pulled to equal weights {strength:g} times as much"
        yield idea, loss_of(rows, task, default, others)


def main() -> int:
    """Try the weights, or report an existing csv."""
    options = ideas_parser(__doc__ or "", "ideas_of_boundaries.csv").parse_args()
    return try_or_report(options, losses)


if __name__ == "__main__":
    sys.exit(main())
