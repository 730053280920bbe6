"""How long would 10⁹ rows take on 1,000 workers, how much would move, and what breaks first?

    python -m benchmarks.many_rows.thousand_workers --out thousand_workers.csv
    python -m benchmarks.many_rows.thousand_workers --report thousand_workers.csv

A simulation of the passes of a forest on a Dask cluster, from what ``dask_workers.py`` has measured
on one machine: the seconds of a task of each kind, for each row, or row and tree; the bytes of a
tree; and what a scheduler takes for a task.  Seconds of growth are those measured times the ratio
of the rows of a tree, to the power ``POWER``, which is that of the largest two runs of
``benchmarks/many_rows/results/streamed.csv``.

What is assumed: each worker has one processor as fast as the measured one, ``MEMORY`` bytes, and a
network of ``NETWORK`` bytes a second in and out; the scheduler hands out one task after the other;
a task takes the mean time times a log-normal factor of standard deviation ``SPREAD``; a share
``SLOW`` of the workers takes ``SLOWNESS`` times as long.  A worker asks for the pieces of a tree
from all others at the same time.  Tasks go to the first worker that is free.

``limits`` names what does not fit: the memory of a worker, which has to hold its rows, what is
drawn, a growing tree, and the whole forest when rows are evaluated; or that of the scheduler
(``SCHEDULER_MEMORY``), at the bytes that a task was measured to take.
"""

from __future__ import annotations

import heapq
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks.many_rows.streamed import P
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf.engine.chunks import growth_bytes

# Rows of the fits that were measured, and rows of their trees.
MEASURED_ROWS, MEASURED_DRAWN = 1_000_000, 200_000
POWER, NETWORK, MEMORY, SCHEDULER_MEMORY = 1.42, 1.25e9, 16e9, 64e9
SPREAD, SLOW, SLOWNESS = 0.2, 0.01, 3.0
ROWS, WORKERS = 10**9, (1, 10, 100, 1000)
DEFAULT, SMALL = ROWS**0.85 / ROWS, 0.001
COLUMNS = [
    "rows", "workers", "partitions", "trees", "drawn", "leaf_rows", "tasks", "scheduler_seconds",
    "see", "draw", "gather", "grow", "evaluate", "hours", "hours_even", "moved_terabytes",
    "worker_gigabytes", "scheduler_gigabytes", "limits",
]  # fmt: skip
CASES = [
    *[(ROWS, workers, 1000, 500, SMALL, 5) for workers in WORKERS],
    (ROWS, 1000, 10_000, 500, SMALL, 5),
    (ROWS, 1000, 100_000, 500, SMALL, 5),
    (ROWS, 1000, 1000, 500, DEFAULT, 5),
    (ROWS, 1000, 1000, 500, DEFAULT, 1000),
    (ROWS, 1000, 1000, 5000, SMALL, 5),
]


class Costs(NamedTuple):
    """What was measured.

    Attributes
    ----------
    see, draw, evaluate : float
        Seconds of a row, or of a row and a tree.
    grow : float
        Seconds of a tree of ``MEASURED_DRAWN`` rows.
    scheduling, of_task : float
        Seconds and bytes that a scheduler takes for a task.
    of_node : float
        Bytes of a node.
    """

    see: float
    draw: float
    evaluate: float
    grow: float
    scheduling: float
    of_task: float
    of_node: float


def measured(tasks: pd.DataFrame, tree_bytes: float) -> Costs:
    """Return the costs that the tasks of one worker had; a tree had ``tree_bytes``."""
    of_one = tasks[tasks["workers"] == 1].groupby("what").mean(numeric_only=True)
    trees = of_one["tasks"].to_dict()["grow tree"]
    worked = of_one["tasks"] * of_one["seconds"] * of_one["processor_share"]
    total: dict[str, float] = {str(what): float(value) for what, value in worked.items()}
    scheduling = tasks[tasks["what"] == "scheduling"]
    pairs = MEASURED_ROWS * trees
    nodes = 2 * MEASURED_DRAWN / 6.25  # leaves of five rows or more hold 6.25 on average
    return Costs(
        total["see rows"] / MEASURED_ROWS,
        total["draw rows"] / pairs,
        total["evaluate rows"] / pairs,
        total["grow tree"] / trees,
        float(scheduling["seconds"].mean()),
        float(scheduling["bytes"].mean()),
        tree_bytes / nodes,
    )


def makespan(
    n_tasks: int, seconds: float, speeds: np.ndarray, between: float, rng: np.random.Generator
) -> float:
    """Return when the last of some tasks ends, of which one is handed out every `between` seconds.

    A task takes `seconds` times a random factor, divided by the speed of its worker.
    """
    factors = np.exp(rng.normal(-(SPREAD**2) / 2, SPREAD, n_tasks))
    free = [(0.0, w) for w in range(len(speeds))]
    last = 0.0
    for i in range(n_tasks):
        at, worker = heapq.heappop(free)
        end = max(at, i * between) + seconds * factors[i] / speeds[worker]
        heapq.heappush(free, (end, worker))
        last = max(last, end)
    return last


def simulated(
    costs: Costs, seed: int, n: int, workers: int, partitions: int, trees: int, share: float,
    leaf_rows: int,
) -> tuple:  # fmt: skip
    """Return the values of the columns after the first six.

    A tree needs a task for each partition, which picks what was drawn there.
    """
    rng = np.random.default_rng(seed)
    slow = np.where(np.arange(workers) < int(SLOW * workers), 1 / SLOWNESS, 1.0)
    of_part, drawn = n / partitions, n * share
    of_rows = drawn * (4.0 * P + 16)
    of_tree = 2 * drawn / (1.25 * leaf_rows) * costs.of_node
    growth = costs.grow * (drawn / MEASURED_DRAWN) ** POWER
    pieces = partitions * trees
    n_tasks = 6 * partitions + pieces + 2 * trees

    def passes(speeds: np.ndarray) -> list[float]:
        apart = costs.scheduling
        see = makespan(partitions, of_part * costs.see, speeds, apart, rng)
        draw = makespan(partitions, of_part * trees * costs.draw, speeds, apart, rng)
        # a worker takes its trees from the network; a tree waits for all its pieces
        gather = np.ceil(trees / workers) * of_rows / NETWORK
        grow = makespan(trees, growth, speeds, partitions * apart, rng)
        copies = trees * of_tree / NETWORK * np.log2(workers + 1)
        evaluate = copies + makespan(
            partitions, of_part * trees * costs.evaluate, speeds, apart, rng
        )
        returned = trees * of_tree / NETWORK
        return [see, draw, gather, grow, evaluate + returned]

    found, even = passes(slow), passes(np.ones(workers))
    moved = trees * of_rows + trees * of_tree * (1 + workers) + partitions * 65_536 * 4.0 * P
    held = n * (4.0 * P + 4) / workers
    drawing = trees * of_rows / workers + of_rows + growth_bytes(drawn, P, 1)
    most = held + max(drawing, trees * of_tree)
    of_scheduler = n_tasks * costs.of_task
    limits = [
        name
        for name, broken in (
            ("rows of a worker", held > MEMORY),
            ("drawn rows and growth", held + drawing > MEMORY),
            ("forest of a worker", held + trees * of_tree > MEMORY),
            ("scheduler", of_scheduler > SCHEDULER_MEMORY),
        )
        if broken
    ]
    return (
        n_tasks, n_tasks * costs.scheduling, *found, sum(found) / 3600, sum(even) / 3600,
        moved / 1e12, most / 1e9, of_scheduler / 1e9, "; ".join(limits) or "none",
    )  # fmt: skip


def report(lines: pd.DataFrame) -> str:
    """Write the simulated figures as markdown."""
    shown = {}
    for number, line in enumerate(lines.to_dict("records")):
        shown[str(number)] = {
            "workers": f"{line['workers']:,}",
            "partitions": f"{line['partitions']:,}",
            "trees": f"{line['trees']:,}",
            "rows a tree": f"{line['rows'] * line['drawn']:,.0f}",
            "rows a leaf": str(line["leaf_rows"]),
            "tasks": f"{line['tasks']:,}",
            "scheduler (s)": f"{line['scheduler_seconds']:,.0f}",
            "hours": f"{line['hours']:.2f}",
            "without slow workers": f"{line['hours_even']:.2f}",
            "moved (TB)": f"{line['moved_terabytes']:.2f}",
            "a worker (GB)": f"{line['worker_gigabytes']:.1f}",
            "scheduler (GB)": f"{line['scheduler_gigabytes']:.1f}",
            "what does not fit": line["limits"],
        }
    return markdown_table(pd.DataFrame(shown).T, "case")


def main() -> int:
    """Simulate the cases, or report an existing csv."""
    here = Path(__file__).parent / "results"
    arguments = parser(__doc__ or "", "thousand_workers.csv", repeats=1, trees=0)
    arguments.add_argument("--measured", type=Path, default=here / "distributed_tasks.csv")
    arguments.add_argument("--fits", type=Path, default=here / "distributed.csv")
    options = arguments.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    fit = pd.read_csv(options.fits).dropna(subset="returned").iloc[0]
    costs = measured(pd.read_csv(options.measured), fit["returned"] * 2**20 / fit["trees"])
    print(costs)

    def lines_of(*case: float) -> list[tuple]:
        return [simulated(costs, options.seed, *case)]  # type: ignore[arg-type]

    print(report(go_on(options.out, COLUMNS, CASES, lines_of)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
