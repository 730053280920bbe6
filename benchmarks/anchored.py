"""The forest and `odrf.auto` beside the strongest other methods, on the same partitions.

    python benchmarks/anchored.py stacks.csv anchors.csv [more.csv] [--methods catboost,realmlp]

The first csv is that of ``stacks.py``, the others are of ``accuracy.py``.  The report, in markdown,
has the losses of each table, mean ranks, one-sided Wilcoxon signed-rank tests (corrected by Holm)
that `auto` and the forest are better, and the tables on which `auto` is far behind the best.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import pandas as pd
from statsmodels.stats.multitest import multipletests

from markdown import in_bold, table
from ranks import mean_ranks, relative_differences, wilcoxon_against

OWN = {"together": "auto", "forest": "odrf"}
LOSSES = {"loss": "relative error, or error %", "log_loss": "log loss of classes"}
FAR_BEHIND, FEWEST_TABLES, DIGITS = 1.1, 5, 6


def losses_of(stacks: pd.DataFrame, others: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the losses of methods (columns) on tables (rows).

    Of each table the partitions count on which most methods have a result.
    """
    own = stacks[stacks["model"].isin(OWN)].assign(method=lambda lines: lines["model"].map(OWN))
    done = others[(others["status"] == "ok") & (others["protocol"] == "Z")]
    lines = pd.concat([own, done], ignore_index=True)
    lines["loss"] = lines["rpe"].fillna(lines["error_percent"])
    # the digits of the first file, so that equal losses are equal
    lines[measure] = lines[measure].map(f"{{:.{DIGITS}g}}".format).astype(float)
    found = lines.pivot_table(index=["table", "partition"], columns="method", values=measure)
    found = found.dropna(subset=list(OWN.values()))
    known: pd.Series = found.notna().sum(axis=1)
    return found[known == known.groupby("table").transform("max")].groupby("table").mean()


def report(stacks: pd.DataFrame, others: pd.DataFrame) -> str:
    """Return the comparisons by error, and for classes by log loss, as markdown."""
    parts = []
    for measure, title in LOSSES.items():
        losses = losses_of(stacks, others, measure)
        order = [*OWN.values(), *sorted(map(str, set(losses) - set(OWN.values())))]
        losses = losses[[method for method in order if losses[method].notna().any()]]
        complete = losses.dropna()
        parts.append(f"**{title}**, of methods on {len(losses)} tables:\n\n{_each(losses)}")
        if len(complete) >= FEWEST_TABLES:
            ranks = mean_ranks(complete).sort_values()
            cells = ranks.map("{:.2f}".format).to_frame("mean rank")
            parts.append(f"Mean ranks, {len(complete)} tables:\n\n{table(cells, 'method')}")
            parts += [_tests(losses, own) for own in OWN.values()]
        parts.append(_far_behind(losses))
    return "\n\n".join(parts)


def _each(losses: pd.DataFrame) -> str:
    text = losses.map(lambda loss: "–" if pd.isna(loss) else f"{loss:.4g}")
    return table(in_bold(text, losses.eq(losses.min(axis=1), axis=0)), "table")


def _tests(losses: pd.DataFrame, own: str) -> str:
    """Test one of this package's methods against each other method."""
    against = losses.drop(columns=[name for name in OWN.values() if name != own])
    tests = wilcoxon_against(relative_differences(against, own))
    cells = tests[["wins", "ties", "losses"]].astype(str)
    cells["p"] = tests["p"].map("{:.2g}".format)
    cells["p, Holm"] = [f"{p:.2g}" for p in multipletests(tests["p"], method="holm")[1]]
    return f"Tests that {own} is better than each other method:\n\n{table(cells, 'against')}"


def _far_behind(losses: pd.DataFrame) -> str:
    best = losses.drop(columns=list(OWN.values())).min(axis=1)
    ratio = (losses["auto"] / best).sort_values(ascending=False)
    far = [f"{name} ({each:.2f})" for name, each in ratio[ratio > FAR_BEHIND].items()]
    return f"Ratio of auto to the best other method above {FAR_BEHIND}: {', '.join(far) or 'none'}."


def main() -> int:
    """Print the report."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("stacks", type=Path, help="csv of stacks.py")
    asked.add_argument("others", type=Path, nargs="+", help="csv files of accuracy.py")
    asked.add_argument("--methods", help="names with commas between them; by default all")
    options = asked.parse_args()
    others = pd.concat([pd.read_csv(path) for path in options.others], ignore_index=True)
    others = others[~others["method"].isin(OWN.values())]
    if options.methods is not None:
        others = others[others["method"].isin(options.methods.split(","))]
    print(report(pd.read_csv(options.stacks), others))
    return 0


if __name__ == "__main__":
    sys.exit(main())
