"""Is the log loss out of bag that of new rows, though fewer trees predict rows out of bag?

    python -m benchmarks.errors.log_loss_out_of_bag --out log_loss_out_of_bag.csv [--repeats 20]
    python -m benchmarks.errors.log_loss_out_of_bag --report log_loss_out_of_bag.csv

A forest as grown, and a blend of kinds of trees, are fitted to samples of 200, 1,000 and 5,000 rows
of three problems.  The log loss of their probabilities out of bag is compared with that on 5,000
new rows, predicted by all trees, and by as many trees as predict a row out of bag on average: by
how much fewer trees raise it does not depend on how easy the sample's own rows are.  A probability
of 0 for the class of a row counts as 2·10⁻¹⁶, as in ``tune``: `zeros` are the shares of such rows.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.errors.optimism import simulate
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, run_or_report
from odrf import odrf
from odrf.engine.trees.routing import leaf_nodes
from odrf.results import ODRFResults
from odrf.simulate import random_rbf

ROWS = (200, 1000, 5000)
NEW_ROWS, CLASSES, SUBSETS = 5000, 10, 5
FORESTS = {"as grown": partial(odrf, blend=False), "blend": partial(odrf, blend=True)}
COLUMNS = [
    *("problem", "n", "repeat", "forest"),
    *("out_of_bag", "zeros", "new", "new_zeros", "trees", "new_by_trees"),
]


def two_classes(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows whose classes are told apart in part: error rates are about a quarter."""
    return simulate("classification", 1.0, n, rng)


def ten_classes(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows of ten neighbouring classes, of which about three are possible at each place."""
    x = rng.normal(size=(n, 8))
    score = x[:, 0] + x[:, 1] + 0.3 * rng.normal(size=n)
    ends = np.quantile(score, np.linspace(0, 1, CLASSES + 1)[1:-1])
    y = [f"class {k}" for k in np.searchsorted(ends, score)]
    return pd.DataFrame(x).add_prefix("x").assign(y=y)


def nearly_apart(n: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw rows of classes that hardly overlap."""
    return random_rbf().sample(n, seed=int(rng.integers(2**31)))


PROBLEMS = {
    "two classes": two_classes,
    "ten classes": ten_classes,
    "nearly apart": nearly_apart,
}


def log_loss(probability: NDArray[np.float64]) -> float:
    """Return the log loss of the probabilities of the rows' own classes."""
    return float(-np.mean(np.log(np.clip(probability, np.finfo(np.float64).eps, 1.0))))


def of_own_class(probability: NDArray[np.float64], classes: list[str], y: pd.Series) -> NDArray:
    """Return the probability of each row's own class."""
    codes = pd.Index(classes).get_indexer(pd.Index(y.astype(str)))
    return probability[np.arange(len(y)), codes]


def measured(
    forest: ODRFResults, train: pd.DataFrame, new: pd.DataFrame, rng: np.random.Generator
) -> tuple[float, ...]:
    """Return the log losses of a forest, and the trees that predict a row out of bag."""
    unseen = forest.oob_prob
    classes = [str(name) for name in unseen]
    known = unseen.notna().all(axis=1).to_numpy()
    own = of_own_class(unseen.to_numpy()[known], classes, train["y"][known])
    every = of_own_class(forest.predict(new, type="prob").to_numpy(), classes, new["y"])
    trees = round(float(forest.fit.draws.all_unseen().sum(axis=0).mean()))
    leaves = leaf_nodes(forest.forest, forest.design.matrix(new)[0], 1)
    few = []
    for _ in range(SUBSETS):
        drawn = rng.choice(forest.forest.n_trees, trees, replace=False)
        shares = np.mean([forest.forest.value[leaves[:, b]] for b in drawn], axis=0)
        few.append(log_loss(of_own_class(shares, classes, new["y"])))
    return (
        log_loss(own), float(np.mean(own == 0)), log_loss(every), float(np.mean(every == 0)),
        trees, float(np.mean(few)),
    )  # fmt: skip


def lines_of(options: argparse.Namespace, problem: str, n: int) -> list[tuple]:
    """Return the log losses of both forests on every sample."""
    lines = []
    for repeat in range(options.repeats):
        rng = np.random.default_rng([options.seed, n, repeat])
        rows = PROBLEMS[problem](n + NEW_ROWS, rng)
        train, new = rows[:n], rows[n:]
        for name, fit in FORESTS.items():
            forest = fit("y ~ .", train, n_trees=options.trees, seed=options.seed + repeat)
            lines.append((repeat, name, *measured(forest, train, new, rng)))
    return lines


def report(lines: pd.DataFrame) -> str:
    """Write the mean log losses, and by how much those out of bag are larger, as markdown."""
    groups = lines.assign(
        larger=lines["out_of_bag"] - lines["new"], by_trees=lines["new_by_trees"] - lines["new"]
    ).groupby(["problem", "n", "forest"], sort=False)
    means, errors = groups.mean(numeric_only=True), groups.sem(numeric_only=True)
    shown = pd.DataFrame(
        {
            "out of bag": means["out_of_bag"].map("{:.3f}".format),
            "new rows": means["new"].map("{:.3f}".format),
            "larger by": [
                f"{mean:.3f} ± {error:.3f}"
                for mean, error in zip(means["larger"], errors["larger"], strict=True)
            ],
            "by fewer trees": means["by_trees"].map("{:.4f}".format),
            "trees": means["trees"].map("{:.0f}".format),
            "0 for the class, %": (100 * means["zeros"]).map("{:.2f}".format),
            "of new rows, %": (100 * means["new_zeros"]).map("{:.2f}".format),
        }
    )
    shown.index = pd.Index([", ".join(map(str, key)) for key in means.index])
    return markdown_table(shown, "problem, rows, forest")


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    tasks = [(problem, n) for n in ROWS for problem in PROBLEMS]
    return go_on(options.out, COLUMNS, tasks, partial(lines_of, options))


def main() -> int:
    """Evaluate the forests, or report an existing csv."""
    options = parser(__doc__ or "", "log_loss_out_of_bag.csv", repeats=20, trees=500).parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
