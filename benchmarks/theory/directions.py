"""The most important directions of sparse oblique forests, and the Bayes error of each.

    python -m benchmarks.theory.directions --out directions.csv [--repeats 10] [--trees 200]
    python -m benchmarks.theory.directions --report directions.csv --plot directions.png

Trunk's problem of 10 predictors and 1,000 rows (Tomita et al., JMLR 21, 2020, Figure 4).  The
decrease of Gini's impurity is summed over all splits along the same direction, where θ and −θ are
the same, for RF and for SPORF with λ = 1/2.  The csv has one line for each of the ten directions
with the largest decrease: the decrease over all trees, the number of splits along the direction,
its number of predictors, the least error of any rule that uses θᵀx alone, Φ(−|θᵀμ|/‖θ‖), and θ,
of length 1 with θᵀμ ≥ 0.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, plotting_parser
from benchmarks.shared.simulated import FORESTS, TO_PURITY, draw, fitted
from benchmarks.theory.curves import line_style
from odrf.plots.style import MUTED, plain
from odrf.projections import Sparse
from odrf.results import ODRFResults
from odrf.simulate import trunk

PROBLEM, ROWS, TOP = trunk(), 1000, 10
MEAN = 1 / np.sqrt(np.arange(1, PROBLEM.p + 1))
GINI = {"criterion": "gini"}
DENSITY: dict[str, dict[str, Any]] = {"SPORF": {"projection": Sparse(0.5)}}
METHODS = {
    name: {**FORESTS[name], **TO_PURITY, **GINI, **DENSITY.get(name, {})}
    for name in ("RF", "SPORF")
}
FIGURES = ["decrease", "splits", "predictors", "bayes_error"]
COLUMNS = ["method", "repeat", "rank", *FIGURES, *PROBLEM.predictors]
SHOWN_REPEAT = 0


def top_directions(fit: ODRFResults) -> pd.DataFrame:
    """Return the directions with the largest summed decrease, the largest first."""
    top = fit.projection_importance(TOP)
    theta = top.coefficients.to_numpy().T / fit.design.scaling.range
    theta /= np.linalg.norm(theta, axis=1, keepdims=True)
    theta *= np.where(theta @ MEAN < 0, -1.0, 1.0)[:, np.newaxis]
    table = pd.DataFrame(theta, columns=PROBLEM.predictors)
    table.insert(0, "decrease", top.table["importance"].to_numpy() * fit.forest.n_trees)
    table.insert(1, "splits", top.table["splits"].to_numpy())
    table.insert(2, "predictors", (theta != 0).sum(axis=1))
    table.insert(3, "bayes_error", ndtr(-(theta @ MEAN)))
    return table


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the top directions of each method and repeat, COLUMNS, continuing the csv."""
    tasks = [(method, repeat) for repeat in range(options.repeats) for method in METHODS]

    def lines(method: str, repeat: int) -> Iterator[tuple]:
        train, seed = draw(PROBLEM, ROWS, repeat, options.seed)
        fit, _ = fitted(train, (METHODS[method], {}), options.trees, seed)
        for rank, line in enumerate(top_directions(fit).itertuples(index=False), 1):
            yield rank, *line

    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the methods and list the directions of one forest, as markdown."""
    shown = {}
    for method, of_method in lines.groupby("method", sort=False):
        of_repeat = of_method.groupby("repeat")
        shown[method] = {
            "of several predictors, %": _with_se(
                of_repeat["predictors"].agg(lambda count: 100 * (count > 1).mean()), 0
            ),
            "predictors": _with_se(of_repeat["predictors"].mean(), 1),
            "Bayes error, mean": _with_se(of_repeat["bayes_error"].mean(), 3),
            "least": _with_se(of_repeat["bayes_error"].min(), 3),
            "largest": _with_se(of_repeat["bayes_error"].max(), 3),
            "decrease per split": _with_se(
                of_repeat["decrease"].sum() / of_repeat["splits"].sum(), 3
            ),
        }
    parts = [
        f"Bayes error of the problem: {PROBLEM.bayes_error:.3f}.  "
        f"Of the {TOP} directions with the largest decrease, mean ± standard error over repeats:",
        markdown_table(pd.DataFrame.from_dict(shown, orient="index"), "method"),
    ]
    for method, shown_lines in lines[lines["repeat"] == SHOWN_REPEAT].groupby("method", sort=False):
        listed = shown_lines.assign(
            direction=[_in_words(theta) for theta in shown_lines[PROBLEM.predictors].to_numpy()],
            decrease=shown_lines["decrease"].map("{:.2f}".format),
            bayes_error=shown_lines["bayes_error"].map("{:.3f}".format),
        )
        table = listed.set_index("rank")[["direction", *FIGURES]]
        parts += [f"{method}, the first sample:", markdown_table(table, "rank")]
    return "\n\n".join(parts)


def _with_se(values: pd.Series, digits: int) -> str:
    each = values.to_numpy(dtype=float)
    return f"{each.mean():.{digits}f} ± {each.std(ddof=1) / len(each) ** 0.5:.{digits}f}"


def _in_words(theta: NDArray[np.float64]) -> str:
    """Write the signs of the coefficients, which have nearly the same size."""
    terms = [f"{'+' if weight > 0 else '−'}x{j}" for j, weight in enumerate(theta, 1) if weight]
    return " ".join(terms)


def plot(lines: pd.DataFrame, path: Path) -> None:
    """Draw the directions of one sample as heat maps, and Bayes errors over all samples."""
    figure, axes = plt.subplots(1, len(METHODS) + 1, figsize=(13.5, 4.2), layout="constrained")
    for method, ax in zip(METHODS, axes, strict=False):
        shown = lines[(lines["method"] == method) & (lines["repeat"] == SHOWN_REPEAT)]
        theta = shown.sort_values("rank")[PROBLEM.predictors].to_numpy().T
        image = ax.imshow(theta, cmap="RdBu", vmin=-1, vmax=1)
        ax.set_xticks(range(theta.shape[1]), labels=shown["rank"])
        ax.set_yticks(range(PROBLEM.p), labels=PROBLEM.predictors)
        ax.set(title=f"{method}, one sample", xlabel="rank of the direction")
    figure.colorbar(image, ax=axes[: len(METHODS)], label="coefficient", shrink=0.9)
    last = axes[-1]
    for method in METHODS:
        groups = lines[lines["method"] == method].groupby("rank")["bayes_error"]
        mean = groups.mean()
        last.errorbar(mean.index, mean, groups.sem(), label=method, **line_style(method))
    label = "all predictors"
    last.axhline(PROBLEM.bayes_error, color=MUTED, linewidth=1, linestyle=":", label=label)
    last.set(xlabel="rank of the direction", ylabel="Bayes error", ylim=(0, None))
    last.set_xticks(range(1, TOP + 1))
    last.set_title("Bayes error of each, all samples")
    last.legend(frameon=False)
    plain(last, "y")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> int:
    """Grow the forests, or report an existing csv."""
    options = plotting_parser(__doc__ or "", "directions.csv", repeats=10, trees=200).parse_args()
    lines = run(options) if options.report is None else pd.read_csv(options.report)
    print(report(lines))
    if options.plot is not None:
        plot(lines, options.plot)
    return 0


if __name__ == "__main__":
    sys.exit(main())
