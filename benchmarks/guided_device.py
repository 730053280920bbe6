"""Seconds to grow guided forests by the ways in which planes are evaluated, and their agreement.

    python benchmarks/guided_device.py --out guided_device.csv [--repeats 2] [--trees 4]
    python benchmarks/guided_device.py --report guided_device.csv

On Weka's RandomRBF with 50 centroids and 5 classes, from 1,000 to `--rows` training rows, of 10 and
of 60 predictors that all trees use:

* plain: compiled kernels that pass over the regions which a plane misses (``batched=False``);
* batched: one matrix product a step, then compiled kernels (``batched=True``);
* arrays: the path of a device with arrays of NumPy in the place of those of a device;
* cuda: ``device="cuda"``, on machines that have one.

All grow the same trees on one thread of the host, apart from the rounding of the product.  Measured
are seconds of growth, Cohen's κ on 5,000 test rows, and the share of them that have the class which
the plain forest predicts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import array_api_compat.numpy
import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score

from markdown import table as markdown_table
from odrf import InputError, graf, simulate
from odrf.engine.guided.beyond_planes import Device, running_sums
from odrf.engine.guided.guided_growth import grow_guided
from odrf.fits.guided_fit import GuidedFit
from odrf.options.devices import device_for
from odrf.results import GRAFResults
from runs import go_on, parser

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
PREDICTORS = (10, 60)
TEST_ROWS = 5_000
PLAIN, BATCHED, ARRAYS, CUDA = "plain", "batched", "arrays", "cuda"
COLUMNS = ["predictors", "rows", "repeat", "way", "seconds", "planes", "kappa", "agreement"]


def ways() -> dict[str, Device | None]:
    """Return the ways of this machine, and the device of each."""
    arrays = Device(array_api_compat.numpy, None, np.asarray, running_sums)
    found: dict[str, Device | None] = {PLAIN: None, BATCHED: None, ARRAYS: arrays}
    try:
        return found | {CUDA: device_for("cuda")}
    except InputError as error:
        print(error, file=sys.stderr)
        return found


def grown(fit: GuidedFit, way: str, device: Device | None) -> tuple[GRAFResults, float]:
    """Grow the trees of a fit again in one of the ways; return the fit, and seconds."""
    settings = fit.control.settings._replace(batched=way == BATCHED)
    data, began = fit.data, time.perf_counter()
    guided = grow_guided(
        data.X, data.y, data.weights, fit.design.feature_groups, settings, fit.streams, 1,
        lambda: None, device,
    )  # fmt: skip
    return GRAFResults(replace(fit, guided=guided)), time.perf_counter() - began


def lines_of(
    predictors: int, rows: int, repeat: int, *, trees: int, seed: int
) -> Iterator[tuple[str, float, float, float, float]]:
    """Yield a line for each way: seconds, planes a tree, κ and agreement."""
    problem = simulate.random_rbf(p=predictors, classes=5, centroids=50)
    data = problem.sample(rows, seed=seed + 2 * repeat)
    test = problem.sample(TEST_ROWS, seed=seed + 2 * repeat + 1)
    fit = graf("y ~ .", data, n_trees=trees, subspace="all", trials=10, seed=repeat, n_jobs=1).fit
    plain = None
    for way, device in ways().items():
        grown(replace(fit, streams=fit.streams[:1]), way, device)  # compiles, warms up
        result, seconds = grown(fit, way, device)
        predicted = result.predict(test)
        plain = predicted if plain is None else plain
        kappa = cohen_kappa_score(test["y"].astype(str), predicted.astype(str))
        planes = float(result.n_planes.mean())
        yield way, seconds, planes, kappa, float(np.mean(predicted == plain))


def report(lines: pd.DataFrame) -> str:
    """Write seconds, κ and agreement by predictors and rows, as markdown."""
    texts = []
    for predictors, of_size in lines.groupby("predictors"):
        means = of_size.groupby(["rows", "way"], sort=False)[COLUMNS[4:]].mean().unstack()
        shown = pd.DataFrame(index=means.index)
        shown["planes a tree"] = [f"{value:.0f}" for value in means["planes"][PLAIN]]
        for way in of_size["way"].unique():
            shown[f"{way}, s"] = [f"{value:.3g}" for value in means["seconds"][way]]
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
