"""Seconds to grow guided forests by the ways in which planes are evaluated, and their agreement.

    python -m benchmarks.guided.guided_device --out guided_device.csv [--repeats 2] [--trees 2]
    python -m benchmarks.guided.guided_device --report guided_device.csv

On Weka's RandomRBF with 50 centroids and 5 classes, from 1,000 to `--rows` training rows, of 10, 60
and 300 predictors that all trees use, with as many trials, and of 60 with 1,000 trials:

* plain: compiled kernels that pass over the regions which a plane misses (``batched=False``);
* batched: one matrix product a step, then compiled kernels (``batched=True``);
* CuPy: ``device="cuda"``, with the kernel for CUDA that adds up;
* CuPy, running sums: the same without this kernel;
* PyTorch: ``device="cuda"`` where CuPy is not installed.

Those of a device are measured on machines that have one, where the library is installed.  All grow
the same trees, apart from the rounding of the product.  Measured are seconds of growth by the
clock, those of them in which a device evaluates planes, Cohen's κ on 5,000 test rows, and the share
of them that have the class which the plain forest predicts.  It is done on one thread of the
processor, and again on as many as it has, with `--trees` trees for each thread.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.origin import machine
from benchmarks.shared.runs import go_on, parser
from odrf import graf, simulate
from odrf.engine.guided import device as on_device
from odrf.engine.guided.device import Device, running_sums, sums_beyond
from odrf.engine.guided.growth import grow_guided
from odrf.fits.fit import GuidedFit
from odrf.options.guided import LIBRARIES, NAMES, device_of
from odrf.results import GRAFResults

SIZES = (1_000, 10_000, 100_000)
PREDICTORS_AND_TRIALS = ((10, 10), (60, 60), (60, 1000), (300, 300))
TEST_ROWS = 5_000
PLAIN, BATCHED, CUPY = "plain", "batched", NAMES["cupy"]
COLUMNS = ["predictors", "trials", "rows", "repeat", "threads", "way", "trees", "seconds"]
COLUMNS += ["on_device", "planes", "kappa", "agreement", "device", "machine"]


def ways() -> dict[str, Device | None]:
    """Return the ways of this machine, and the device of each."""
    found: dict[str, Device | None] = {PLAIN: None, BATCHED: None}
    for library in LIBRARIES:
        try:
            there = import_module(library).cuda.is_available()
        except ImportError:
            continue
        if there:
            found[NAMES[library]] = device_of(library)
    if (device := found.get(CUPY)) is not None:
        found[f"{CUPY}, running sums"] = device._replace(add_up=running_sums)
    return found


def name_of_device() -> str:
    """Return what the device calls itself; empty without one."""
    cuda = import_module("numba.cuda")
    if not cuda.is_available():
        return ""
    name = cuda.get_current_device().name
    return str(name.decode() if isinstance(name, bytes) else name)


def grown(
    fit: GuidedFit, way: str, device: Device | None, threads: int
) -> tuple[GRAFResults, float, float]:
    """Grow the trees of a fit again in one of the ways; return the fit, and seconds."""
    settings, evaluating = fit.control.settings._replace(batched=way == BATCHED), [0.0]

    def timed(*args: Any) -> Any:
        begun = time.perf_counter()
        sums = sums_beyond(*args)
        evaluating.append(time.perf_counter() - begun)
        return sums

    vars(on_device)["sums_beyond"] = timed
    data, began = fit.data, time.perf_counter()
    guided = grow_guided(
        data.X, data.y, data.weights, fit.design.feature_groups, settings, fit.streams, threads,
        lambda: None, device,
    )  # fmt: skip
    seconds = time.perf_counter() - began
    return GRAFResults(replace(fit, guided=guided)), seconds, sum(evaluating)


def lines_of(
    predictors: int, trials: int, rows: int, repeat: int, threads: int, *, trees: int, seed: int
) -> Iterator[tuple[Any, ...]]:
    """Yield a line for each way: seconds, those on a device, planes a tree, κ and agreement."""
    problem = simulate.random_rbf(p=predictors, classes=5, centroids=50)
    data = problem.sample(rows, seed=seed + 2 * repeat)
    test = problem.sample(TEST_ROWS, seed=seed + 2 * repeat + 1)
    options: dict[str, Any] = {
        "subspace": "all",
        "seed": repeat,
        "n_jobs": threads,
        "trials": trials,
    }
    few = graf("y ~ .", data.head(500), n_trees=threads, **options).fit
    fit = graf("y ~ .", data, n_trees=trees * threads, **options).fit
    plain, named = None, name_of_device()
    for way, device in ways().items():
        grown(few, way, device, threads)  # compiles, warms up
        result, seconds, evaluating = grown(fit, way, device, threads)
        predicted = result.predict(test)
        plain = predicted if plain is None else plain
        kappa = cohen_kappa_score(test["y"].astype(str), predicted.astype(str))
        planes = float(result.n_planes.mean())
        agreement = float(np.mean(predicted == plain))
        yield (
            way, trees * threads, seconds, evaluating, planes, kappa, agreement,
            named if device else "", machine(),
        )  # fmt: skip


def report(lines: pd.DataFrame) -> str:
    """Write seconds a tree, κ and agreement by threads, predictors and rows, as markdown."""
    texts = []
    each = lines.assign(
        seconds=lines["seconds"] / lines["trees"], on_device=lines["on_device"] / lines["trees"]
    )
    cases = each[["threads", "predictors", "trials"]].drop_duplicates()
    for threads, predictors, trials in cases.itertuples(index=False):
        of_size = each.query(
            "threads == @threads and predictors == @predictors and trials == @trials"
        )
        means = of_size.groupby(["rows", "way"], sort=False)[COLUMNS[7:-2]].mean().unstack()
        shown = pd.DataFrame(index=means.index)
        shown["planes a tree"] = [f"{value:.0f}" for value in means["planes"][PLAIN]]
        for way in of_size["way"].unique():
            shown[f"{way}, s"] = [f"{value:.3g}" for value in means["seconds"][way]]
            if way == CUPY and threads == 1:
                rest = means["seconds"][way] - means["on_device"][way]
                shown[f"of these elsewhere ({way}), s"] = [f"{value:.3g}" for value in rest]
        for way in of_size["way"].unique():
            shown[f"{way}, κ"] = [f"{value:.4f}" for value in means["kappa"][way]]
        least = of_size["agreement"].min()
        texts.append(
            f"**{predictors} predictors, {trials} trials, {threads} "
            f"thread{'s' * (threads > 1)}**, seconds a tree; at least {100 * least:.2f} % of the "
            f"rows have the class of the plain forest\n\n"
            f"{markdown_table(shown, 'rows')}"
        )
    return "\n\n".join(texts)


def main() -> int:
    """Measure, or report an existing csv."""
    asked = parser(__doc__ or "", "guided_device.csv", repeats=2, trees=2)
    asked.add_argument("--rows", type=int, default=max(SIZES), help="training rows at most")
    options = asked.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    cores = os.cpu_count() or 1
    tasks = [
        (predictors, trials, rows, repeat, threads)
        for threads in sorted({1, cores})
        for rows in SIZES
        for predictors, trials in PREDICTORS_AND_TRIALS
        for repeat in range(options.repeats)
        if rows <= options.rows
    ]
    lines = go_on(
        options.out, COLUMNS, tasks,
        lambda *task: lines_of(*task, trees=options.trees, seed=options.seed),
    )  # fmt: skip
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
