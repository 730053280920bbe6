"""Are patches of pixels better candidates?  The experiments of Perry (2020), Figures 1 to 4.

    python benchmarks/images.py --out images.csv [--data ../shared/data] [--problems circle,bars]
                                [--repeats 5] [--trees 100]
    python benchmarks/images.py --report images.csv --plot images.png
    python benchmarks/images.py --importance importance.png --trees 500 [--data ../shared/data]

Forests of patches (MF) against the random forest (RF) and sparse directions (SPORF), on the three
simulations of the paper and on digits, for rising numbers of training images.  Patches and numbers
of candidates d are those of its Appendix C: RF and SPORF try ⌈√p⌉ candidates at a node, MF in two
of the simulations more.  There RF and SPORF are grown with MF's d too ("RF, d", "SPORF, d"): only
so is it the patches that make the difference.  Where other sizes of patches suit the images better
than the paper's, they are tried too ("MF, own").  The third simulation, an impulse in noise, decays
as fast as the paper's formula says; "slow_impulse" is the same with a decay ten times as slow.

All trees are grown to purity with Gini's index, as in the paper.  Digits are those of MNIST, if the
data folder holds ``mnist.npz``, with its test images; else scikit-learn's, of which the last 797
are for testing.  The csv has one line for each forest: its error on the test images and the seconds
that training takes on one core, by the clock of the process.  A run goes on with the lines that a
csv lacks.
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

from images_report import plot, report
from odrf import Patch, from_images, odrf, simulate
from odrf.simulate.problem import Problem
from runs import go_on, plotting_parser

Samples = Callable[[int, int], pd.DataFrame]
SIZES = (50, 100, 200, 500, 1000, 2000, 5000)
COLUMNS = ["problem", "n", "repeat", "method", "candidates", "trees", "error", "fit_s"]
TEST_ROWS = 10_000
DIGITS_TO_TRAIN = 1000
PURE: dict[str, Any] = {"min_leaf": 1, "criterion": "gini", "n_jobs": 1, "blend": False}


@dataclass(frozen=True)
class Experiment:
    """Where images come from, and how MF looks at them.

    Attributes
    ----------
    p : int
        Pixels.
    patch : Patch
    d : int
        MF's candidates at a node.
    sizes : tuple of int
        Training images.
    train : callable
        From a size and a repeat to training images, with the class in ``y``.
    test : DataFrame
    own : Patch, optional
        Sizes that suit the images, where the paper's do not.
    """

    p: int
    patch: Patch
    d: int
    sizes: tuple[int, ...]
    train: Samples
    test: pd.DataFrame = field(repr=False)
    own: Patch | None = None

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The options of each method."""
        usual = int(np.ceil(np.sqrt(self.p)))
        found = {
            "MF": {"projection": self.patch, "n_projections": self.d},
            "RF": {"projection": "axis", "n_singles": usual},
            "SPORF": {"projection": "sparse", "n_projections": usual},
        }
        if self.d != usual:
            found["RF, d"] = {"projection": "axis", "n_singles": self.d}
            found["SPORF, d"] = {"projection": "sparse", "n_projections": self.d}
        if self.own is not None:
            found["MF, own"] = {"projection": self.own, "n_projections": self.d}
        return found


def simulated(
    problem: Problem, patch: Patch, d: int, seed: int, own: Patch | None = None
) -> Experiment:
    """Return an experiment on a simulated problem."""

    def train(n: int, repeat: int) -> pd.DataFrame:
        return problem.sample(n, seed=np.random.SeedSequence([seed, n, repeat]))

    test = problem.sample(TEST_ROWS, seed=np.random.SeedSequence([seed, 0]))
    return Experiment(problem.p, patch, d, SIZES, train, test, own)


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
    """Return images and labels to train with, then those to test with."""
    path = _mnist(data)
    if path.exists():
        with np.load(path) as arrays:
            return tuple(arrays[name] for name in ("x_train", "y_train", "x_test", "y_test"))
    found = load_digits()
    n, images, label = DIGITS_TO_TRAIN, found.images, found.target
    return images[:n], label[:n], images[n:], label[n:]


def _mnist(data: Path) -> Path:
    return data / "mnist.npz"


def experiments(options: argparse.Namespace) -> dict[str, Experiment]:
    """Return the experiments that are asked for, by the name that the csv gives them."""
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
    called = {"digits": "mnist"} if _mnist(options.data).exists() else {}
    return {called.get(name, name): known[name]() for name in options.problems.split(",")}


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the errors and times of all forests, COLUMNS, going on with the csv."""
    of = experiments(options)
    for experiment in of.values():  # compile before the clock runs
        for own in experiment.methods.values():
            odrf("y ~ .", experiment.train(50, 0), n_trees=2, seed=0, **PURE, **own)
    tasks = [
        (name, n, repeat, method)
        for name, experiment in of.items()
        for n in experiment.sizes
        if n <= options.largest
        for repeat in range(options.repeats)
        for method in experiment.methods
    ]

    def line(name: str, n: int, repeat: int, method: str) -> Iterator[tuple]:
        train, own = of[name].train(n, repeat), of[name].methods[method]
        began = time.process_time()
        forest = odrf("y ~ .", train, n_trees=options.trees, seed=repeat, **PURE, **own)
        seconds = time.process_time() - began
        test = of[name].test
        wrong = forest.predict(test).astype(str) != test["y"].astype(str)
        candidates = own.get("n_projections", own.get("n_singles"))
        yield candidates, options.trees, float(np.mean(wrong)), round(seconds, 4)

    return go_on(options.out, COLUMNS, tasks, line, digits=None)


def draw_importance(options: argparse.Namespace) -> None:
    """Draw how often forests of each kind use each pixel, on 100 threes and 100 fives."""
    images, label, _, _ = read_digits(options.data)
    rows = np.concatenate([np.flatnonzero(label == digit)[:100] for digit in (3, 5)])
    data = from_images(images[rows], label[rows].astype(str))
    p = images[0].size
    own = Experiment(p, Patch(width=(2, 5)), int(np.ceil(np.sqrt(p))), (), lambda *_: data, data)
    _, panels = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
    for panel, method in zip(panels, ("RF", "SPORF", "MF"), strict=True):
        forest = odrf(
            "y ~ .", data, n_trees=options.trees, seed=options.seed, **PURE, **own.methods[method]
        )
        forest.pixel_importance().plot_image(ax=panel)
        panel.set_title(method)
    panels[0].figure.savefig(options.importance, dpi=100)


def main() -> int:
    """Run the experiments, or report or draw what a csv holds."""
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
