"""Forests of patches of pixels: the experiments of Perry (2020), Figures 1 to 4.

    python -m benchmarks.columns.images --out images.csv [--data ../shared/data]
                                        [--problems circle,bars] [--repeats 5] [--trees 100]
    python -m benchmarks.columns.images --report images.csv --plot images.png
    python -m benchmarks.columns.images --importance importance.png --trees 500
                                        [--data ../shared/data]

Forests of patches (MF) against the random forest (RF) and sparse directions (SPORF), on the three
simulations of the paper and on digits, for rising numbers of training images.  Patches and numbers
of candidates d are those of its Appendix C: RF and SPORF try ⌈√p⌉ candidates at a node, MF more in
two of the simulations.  There RF and SPORF are also grown with MF's d ("RF, d", "SPORF, d"), so
that only the patches differ.  If other sizes of patches suit the images better than those of the
paper, they are tried too ("MF, own").  In the third simulation the impulse decays as fast as the
formula of the paper says; in "slow_impulse" it decays ten times as slowly.

All trees are grown to purity with Gini's index, as in the paper.  Digits are those of MNIST, with
its test images, if the data folder holds ``mnist.npz``; otherwise scikit-learn's, of which the last
797 are test images.  The csv has one line for each forest: its error on the test images and the CPU
seconds of training on one core.  A run with an existing csv adds the missing lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from benchmarks.columns.images_report import plot, report
from benchmarks.shared.runs import go_on, plotting_parser
from odrf import Patch, from_images, odrf, simulate
from odrf.simulate.problem import Problem

Samples = Callable[[int, int], pd.DataFrame]
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
COLUMNS = ["problem", "n", "repeat", "method", "candidates", "trees", "error", "fit_s"]
TEST_ROWS = 10_000
DIGITS_TO_TRAIN = 1000
PURE: dict[str, Any] = {"min_leaf": 1, "criterion": "gini", "n_jobs": 1, "blend": False}


@dataclass(frozen=True)
class Experiment:
    """Training and test images, and the patches of MF.

    Attributes
    ----------
    p : int
        Number of pixels.
    patch : Patch
    d : int
        Number of MF's candidates at a node.
    sizes : tuple of int
        Numbers of training images.
    train : callable
        Takes a number and a repeat, and returns training images with the class in ``y``.
    test : DataFrame
    better_patch : Patch, optional
        Sizes that suit the images better than those of the paper.
    """

    p: int
    patch: Patch
    d: int
    sizes: tuple[int, ...]
    train: Samples
    test: pd.DataFrame = field(repr=False)
    better_patch: Patch | None = None

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """Options of each method."""
        usual = int(np.ceil(np.sqrt(self.p)))
        options = {
            "MF": {"projection": self.patch, "n_projections": self.d},
            "RF": {"projection": "axis", "n_singles": usual},
            "SPORF": {"projection": "sparse", "n_projections": usual},
        }
        if self.d != usual:
            options["RF, d"] = {"projection": "axis", "n_singles": self.d}
            options["SPORF, d"] = {"projection": "sparse", "n_projections": self.d}
        if self.better_patch is not None:
            options["MF, own"] = {"projection": self.better_patch, "n_projections": self.d}
        return options


def simulated(
    problem: Problem, patch: Patch, d: int, seed: int, better_patch: Patch | None = None
) -> Experiment:
    """Return an experiment on a simulated problem."""

    def train(n: int, repeat: int) -> pd.DataFrame:
        return problem.sample(n, seed=np.random.SeedSequence([seed, n, repeat]))

    test = problem.sample(TEST_ROWS, seed=np.random.SeedSequence([seed, 0]))
    return Experiment(problem.p, patch, d, SIZES, train, test, better_patch)


def digits(data: Path, seed: int) -> Experiment:
    """Return the experiment on handwritten digits."""
    images, label, test_images, test_label = read_digits(data)
    everything = from_images(images, label.astype(str))

    def train(n: int, repeat: int) -> pd.DataFrame:
        rows = np.random.default_rng([seed, n, repeat]).permutation(len(everything))[:n]
        return everything.iloc[rows]

    sizes = tuple(2 * n for n in SIZES if 2 * n <= len(images))
    p = images[0].size
    test = from_images(test_images, test_label.astype(str))
    return Experiment(p, Patch(width=(2, 5)), int(np.ceil(np.sqrt(p))), sizes, train, test)


def read_digits(data: Path) -> tuple[NDArray, NDArray, NDArray, NDArray]:
    """Return training images and labels, then test images and labels."""
    path = _mnist(data)
    if path.exists():
        with np.load(path) as arrays:
            return tuple(arrays[name] for name in ("x_train", "y_train", "x_test", "y_test"))
    digits = load_digits()
    n, images, label = DIGITS_TO_TRAIN, digits.images, digits.target
    return images[:n], label[:n], images[n:], label[n:]


def _mnist(data: Path) -> Path:
    return data / "mnist.npz"


def experiments(options: argparse.Namespace) -> dict[str, Experiment]:
    """Return the chosen experiments by their names in the csv."""
    seed = options.seed
    series, any_size = Patch(width=(2, 12)), Patch(height=(1, 28), width=(1, 28))
    pairs = Patch(width=(1, 2))
    known: dict[str, Callable[[], Experiment]] = {
        "circle": lambda: simulated(simulate.circle(), Patch(width=(3, 12), wrap=True), 50, seed),
        "bars": lambda: simulated(simulate.bars(), Patch(width=(2, 9)), 28, seed, any_size),
        "impulse": lambda: simulated(simulate.impulse(), series, 30, seed, pairs),
        "slow_impulse": lambda: simulated(simulate.impulse(decay=0.1), series, 30, seed),
        "digits": lambda: digits(options.data, seed),
    }
    renamed = {"digits": "mnist"} if _mnist(options.data).exists() else {}
    return {renamed.get(name, name): known[name]() for name in options.problems.split(",")}


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the errors and times of all forests, COLUMNS, continuing the csv."""
    chosen = experiments(options)
    for experiment in chosen.values():  # compile before the clock runs
        for method_options in experiment.methods.values():
            odrf("y ~ .", experiment.train(50, 0), n_trees=2, seed=0, **PURE, **method_options)
    tasks = [
        (name, n, repeat, method)
        for name, experiment in chosen.items()
        for n in experiment.sizes
        if n <= options.largest
        for repeat in range(options.repeats)
        for method in experiment.methods
    ]

    def line(name: str, n: int, repeat: int, method: str) -> Iterator[tuple]:
        experiment = chosen[name]
        train, method_options = experiment.train(n, repeat), experiment.methods[method]
        began = time.process_time()
        forest = odrf("y ~ .", train, n_trees=options.trees, seed=repeat, **PURE, **method_options)
        seconds = time.process_time() - began
        test = experiment.test
        wrong = forest.predict(test).astype(str) != test["y"].astype(str)
        candidates = method_options.get("n_projections", method_options.get("n_singles"))
        yield candidates, options.trees, float(np.mean(wrong)), round(seconds, 4)

    return go_on(options.out, COLUMNS, tasks, line, digits=None)


def draw_importance(options: argparse.Namespace) -> None:
    """Draw how often the forests of each method use each pixel, on 100 threes and 100 fives."""
    images, label, _, _ = read_digits(options.data)
    rows = np.concatenate([np.flatnonzero(label == digit)[:100] for digit in (3, 5)])
    data = from_images(images[rows], label[rows].astype(str))
    p = images[0].size
    d = int(np.ceil(np.sqrt(p)))
    methods = Experiment(p, Patch(width=(2, 5)), d, (), lambda *_: data, data).methods
    _, panels = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for panel, method in zip(panels, ("RF", "SPORF", "MF"), strict=True):
        forest = odrf(
            "y ~ .", data, n_trees=options.trees, seed=options.seed, **PURE, **methods[method]
        )
        forest.pixel_importance().plot_image(ax=panel)
        panel.set_title(method)
    panels[0].figure.savefig(options.importance, dpi=100)


def main() -> int:
    """Run the experiments, or report or draw an existing csv."""
    asked = plotting_parser(__doc__ or "", "images.csv", repeats=5, trees=100)
    add = asked.add_argument
    add("--importance", type=Path, help="picture of the pixels used, instead of a run")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with mnist.npz")
    every = "circle,bars,impulse,slow_impulse,digits"
    add("--problems", default=every, help="which, with commas between")
    add("--largest", type=int, default=10_000, help="leave larger samples out")
    options = asked.parse_args()
    if options.importance is not None:
        draw_importance(options)
        return 0
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines).savefig(options.plot, dpi=100)
    return 0


if __name__ == "__main__":
    sys.exit(main())
