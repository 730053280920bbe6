"""Ideas for the splits of the default forest that were tried and not kept, on open tables.

    python -m benchmarks.ideas.ideas_of_splits --out ideas_of_splits.csv [--data DIR] [--tables a,b]
                                               [--repeats 1] [--trees 100] [--ideas A,B]
    python -m benchmarks.ideas.ideas_of_splits --report ideas_of_splits.csv

As in ``ideas.py``, each idea is one more kind of tree, or two, beside those of the default forest:
directions of projection pursuit, random rotations of three columns, estimated directions of nearly
all pairs of predictors, many sparse directions where predictors are few, and responses drawn in at
each node (``ideas_of_nodes.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from benchmarks.ideas.ideas import (
    DEFAULT,
    MANY_DIRECTIONS,
    TEST_ROWS,
    Grower,
    Grown,
    ideas_parser,
    loss_of,
    stacked,
    try_or_report,
)
from benchmarks.ideas.ideas_of_nodes import robust_forest, within_three_columns
from benchmarks.shared.protocol import Partition
from odrf.options.kinds import GREEDY_SHARE, MANY_SPARSE, RANDOM_SHARE

FEWER_DIRECTIONS = 100
FEW_PREDICTORS = 15
"""With more predictors many sparse directions are not tried."""
PAIRS, PAIRED_PREDICTORS, PAIRED_ROWS = 3, 20, 1000
"""So many directions for each pair of predictors: 19 of 20 pairs are drawn at a node.  With more
predictors or rows this is not tried."""
GREEDY: dict[str, Any] = {"resample": "subsample", "sample_fraction": GREEDY_SHARE}
RANDOM: dict[str, Any] = {
    "resample": "subsample",
    "sample_fraction": RANDOM_SHARE,
    "n_thresholds": 3,
    "min_leaf": 1,
}


def projection_pursuit(grower: Grower) -> list[Grown]:
    """Grow greedy trees on directions of projection pursuit."""
    return [grower.grown(replace(grower.options, projection="ppr", **GREEDY))]


def three_columns(grower: Grower) -> list[Grown]:
    """Grow trees with random thresholds on directions within three random columns."""
    options = RANDOM | {"projection": within_three_columns, "n_projections": MANY_SPARSE}
    return [grower.grown(replace(grower.options, **options))]


def all_pairs(grower: Grower) -> list[Grown]:
    """Grow greedy trees on nearly all pairs of predictors, if these and the rows are few."""
    n, P, _ = grower.sizes
    if not 1 < P <= PAIRED_PREDICTORS or n > PAIRED_ROWS:
        return []
    options = GREEDY | {"subset_size": 2, "n_projections": PAIRS * P * (P - 1) // 2}
    return [grower.grown(replace(grower.options, **options))]


def many_if_few(number: int, grower: Grower) -> list[Grown]:
    """Grow greedy trees on many sparse directions, for numbers, if predictors are few."""
    if grower.K > 1 or grower.sizes[1] > FEW_PREDICTORS:
        return []
    options = GREEDY | {"projection": "sparse", "n_projections": number, "min_leaf": 1}
    return [grower.grown(replace(grower.options, **options))]


def responses_drawn_in(grower: Grower) -> list[Grown]:
    """Grow trees whose splits few responses of a node cannot decide, for numbers."""
    if grower.K > 1:
        return []
    return [grower.grown(grower.kinds[name], grow=robust_forest()) for name in ("best", "random")]


IDEAS: dict[str, Callable[[Grower], list[Grown]]] = {
    "projection pursuit": projection_pursuit,
    "rotations of three columns": three_columns,
    "all pairs of few predictors": all_pairs,
    "responses drawn in at each node": responses_drawn_in,
    f"{MANY_DIRECTIONS} sparse directions if predictors are few": partial(
        many_if_few, MANY_DIRECTIONS
    ),
    f"{FEWER_DIRECTIONS} sparse directions if predictors are few": partial(
        many_if_few, FEWER_DIRECTIONS
    ),
}
"""For each idea what grows its kinds of trees: none where it is the default."""


def losses(
    chosen: list[str], rows: Partition, task: str, trees: int, seed: int
) -> Iterator[tuple[str, float]]:
    """Yield the chosen ideas with their losses on the test rows, after that of the default."""
    rows = replace(rows, test=rows.test.iloc[:TEST_ROWS])
    grower = Grower(rows, task, trees, seed)
    default = [grower.grown(kind) for kind in grower.kinds.values()]
    as_it_is = loss_of(rows, task, default, stacked(grower, default))
    yield DEFAULT, as_it_is
    for idea in chosen:
        both = [*default, *IDEAS[idea](grower)]
        if len(both) == len(default):
            yield idea, as_it_is
        else:
            yield idea, loss_of(rows, task, both, stacked(grower, both))


def main() -> int:
    """Try the ideas, or report an existing csv."""
    asked = ideas_parser(__doc__ or "", "ideas_of_splits.csv")
    asked.add_argument("--ideas", default="all", help="names with commas between them")
    options = asked.parse_args()
    chosen = list(IDEAS) if options.ideas == "all" else options.ideas.split(",")
    return try_or_report(options, partial(losses, chosen))


if __name__ == "__main__":
    sys.exit(main())
