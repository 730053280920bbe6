"""Seconds to grow guided forests by the ways in which planes are evaluated, and their agreement.

    python benchmarks/guided_device.py --out guided_device.csv [--repeats 2] [--trees 4]
    python benchmarks/guided_device.py --report guided_device.csv

On Weka's RandomRBF with 50 centroids and 5 classes, from 1,000 to `--rows` training rows, of 10 and
of 60 predictors that all trees use, with as many trials:

* plain: compiled kernels that pass over the regions which a plane misses (``batched=False``);
* batched: one matrix product a step, then compiled kernels (``batched=True``);
* arrays: the path of a device with arrays of NumPy in the place of those of a device;
* cuda: ``device="cuda"``, on machines that have one.

All grow the same trees on one thread of the host, apart from the rounding of the product.  Measured
are seconds of growth (of the processor; with a device those of a clock), those of them in which the
device, or what is in its place, evaluates planes, Cohen's κ on 5,000 test rows, and the share of
them that have the class which the plain forest predicts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import array_api_compat.numpy
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from markdown import table as markdown_table
from odrf import InputError, graf, simulate
from odrf.engine.guided import on_device
from odrf.engine.guided.beyond_planes import Device, running_sums, sums_beyond
from odrf.engine.guided.guided_growth import grow_guided
from odrf.fits.guided_fit import GuidedFit
from odrf.options.devices import device_for
from odrf.results import GRAFResults
from runs import go_on, parser

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
PREDICTORS = (10, 60)
TEST_ROWS = 5_000
PLAIN, BATCHED, ARRAYS, CUDA = "plain", "batched", "arrays", "cuda"
COLUMNS = ["predictors", "rows", "repeat", "way", "seconds", "on_device"]
COLUMNS += ["planes", "kappa", "agreement"]


def ways() -> dict[str, Device | None]:
    """Return the ways of this machine, and the device of each."""
    arrays = Device(array_api_compat.numpy, None, np.asarray, running_sums)
    found: dict[str, Device | None] = {PLAIN: None, BATCHED: None, ARRAYS: arrays}
    try:
        return found | {CUDA: device_for("cuda")}
    except InputError as error:
        print(error, file=sys.stderr)
        return found


def grown(fit: GuidedFit, way: str, device: Device | None) -> tuple[GRAFResults, float, float]:
    """Grow the trees of a fit again in one of the ways; return the fit, and seconds."""
    settings, evaluating = fit.control.settings._replace(batched=way == BATCHED), 0.0
    clock = time.perf_counter if way == CUDA else time.process_time

    def timed(*args: Any) -> Any:
        nonlocal evaluating
        begun = clock()
        sums = sums_beyond(*args)
        evaluating += clock() - begun
        return sums

    vars(on_device)["sums_beyond"] = timed
    data, began = fit.data, clock()
    guided = grow_guided(
        data.X, data.y, data.weights, fit.design.feature_groups, settings, fit.streams, 1,
        lambda: None, device,
    )  # fmt: skip
    seconds = clock() - began
    return GRAFResults(replace(fit, guided=guided)), seconds, evaluating


def lines_of(
    predictors: int, rows: int, repeat: int, *, trees: int, seed: int
) -> Iterator[tuple[str, float, float, float, float, float]]:
    """Yield a line for each way: seconds, those on a device, planes a tree, κ and agreement."""
    problem = simulate.random_rbf(p=predictors, classes=5, centroids=50)
    data = problem.sample(rows, seed=seed + 2 * repeat)
    test = problem.sample(TEST_ROWS, seed=seed + 2 * repeat + 1)
    fit = graf("y ~ .", data, n_trees=trees, subspace="all", seed=repeat, n_jobs=1).fit
    plain = None
    for way, device in ways().items():
        grown(replace(fit, streams=fit.streams[:1]), way, device)  # compiles, warms up
        result, seconds, evaluating = grown(fit, way, device)
        predicted = result.predict(test)
        plain = predicted if plain is None else plain
        kappa = cohen_kappa_score(test["y"].astype(str), predicted.astype(str))
        planes = float(result.n_planes.mean())
        agreement = float(np.mean(predicted == plain))
        yield way, seconds, evaluating, planes, kappa, agreement


def report(lines: pd.DataFrame) -> str:
    """Write seconds, κ and agreement by predictors and rows, as markdown."""
    texts = []
    for predictors, of_size in lines.groupby("predictors"):
        means = of_size.groupby(["rows", "way"], sort=False)[COLUMNS[4:]].mean().unstack()
        shown = pd.DataFrame(index=means.index)
        shown["planes a tree"] = [f"{value:.0f}" for value in means["planes"][PLAIN]]
        for way in of_size["way"].unique():
            shown[f"{way}, s"] = [f"{value:.3g}" for value in means["seconds"][way]]
            if way in (ARRAYS, CUDA):
                rest = means["seconds"][way] - means["on_device"][way]
                shown[f"of these elsewhere ({way}), s"] = [f"{value:.3g}" for value in rest]
        for way in of_size["way"].unique():
            shown[f"{way}, κ"] = [f"{value:.4f}" for value in means["kappa"][way]]
        least = of_size["agreement"].min()
        texts.append(
            f"**{predictors} predictors**; at least {100 * least:.2f} % of the rows have the class "
            f"of the plain forest\n\n{markdown_table(shown, 'rows')}"
        )
    return "\n\n".join(texts)


def main() -> int:
    """Measure, or report an existing csv."""
    asked = parser(__doc__ or "", "guided_device.csv", repeats=2, trees=4)
    asked.add_argument("--rows", type=int, default=max(SIZES), help="training rows at most")
    options = asked.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    tasks = [
        (predictors, rows, repeat)
        for rows in SIZES
        for predictors in PREDICTORS
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
