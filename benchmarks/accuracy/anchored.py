"""Methods of this package beside the strongest other methods, on the same partitions.

    python -m benchmarks.accuracy.anchored stacks.csv anchors.csv [more.csv]
                                           [--methods catboost,realmlp] [--data DIR]
    python -m benchmarks.accuracy.anchored tuned.csv --own auto_60s
    python -m benchmarks.accuracy.anchored larger.csv --protocol A
    python -m benchmarks.accuracy.anchored stacks.csv anchors.csv accuracy.csv --brief

The files are those of ``stacks.py``, whose forest and stack are `odrf` and `auto`, and of
``accuracy.py``.  The report, in markdown, has the losses of each table (errors, log losses, and of
two classes one minus the area under the ROC curve), mean ranks with Nemenyi's critical difference,
Elo ratings, mean ranks in groups of tables (where the data folder has their index), one-sided
Wilcoxon signed-rank tests (corrected by Holm) that our own methods are better, and the tables on
which the first of them is far behind the best.  With ``--brief`` it is one table: mean ranks by
each loss, and ratings and tests by error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.accuracy.elo import elo_ratings
from benchmarks.accuracy.sections import friedman_line
from benchmarks.accuracy.table_groups import groups_of_tables
from benchmarks.shared.markdown import in_bold, table
from benchmarks.shared.ranks import by_holm, mean_ranks, relative_differences, wilcoxon_against

FROM_STACKS = {"together": "auto", "forest": "odrf"}
LOSSES = {
    "loss": "relative error, or error %",
    "log_loss": "log loss of classes",
    "above_curve": "1 − AUC of two classes",
}
BRIEFLY = {"loss": "error", "log_loss": "log loss", "above_curve": "AUC"}
FAR_BEHIND, FEWEST_TABLES, DIGITS = 1.1, 5, 6
SIGNIFICANT = 0.05
# The forest of scikit-learn is the usual one; else the first method that is not ours.
ANCHOR, RATING = "rf", 1000


def lines_of(path: Path, protocol: str) -> pd.DataFrame:
    """Return the results of a protocol; a csv of ``stacks.py`` has Z only."""
    lines = pd.read_csv(path)
    if "model" in lines:
        models = lines[lines["model"].isin(FROM_STACKS)]
        return models.assign(method=models["model"].map(FROM_STACKS))
    return lines[(lines["status"] == "ok") & (lines["protocol"] == protocol)]


def losses_of(lines: pd.DataFrame, measure: str, own: Sequence[str]) -> pd.DataFrame:
    """Return the losses of methods (columns) on tables (rows) on which ours have a result.

    Of each table the partitions count on which most methods have a result.
    """
    lines = lines.assign(
        loss=lines["rpe"].fillna(lines["error_percent"]),
        above_curve=1 - _in_few_digits(lines["auc"]),
    )
    lines[measure] = _in_few_digits(lines[measure])
    found = lines.pivot_table(index=["table", "partition"], columns="method", values=measure)
    found = found.reindex(columns=found.columns.union(list(own)))  # regressions alone: no log loss
    found = found.dropna(subset=list(own))
    known: pd.Series = found.notna().sum(axis=1)
    return found[known == known.groupby("table").transform("max")].groupby("table").mean()


def _in_few_digits(values: pd.Series) -> pd.Series:
    """Return numbers with the digits of files with few, so that equal losses are equal."""
    return values.map(f"{{:.{DIGITS}g}}".format).astype(float)


def _ours_first(losses: pd.DataFrame, own: Sequence[str]) -> pd.DataFrame:
    """Return the columns of methods with a result, ours first."""
    order = [*own, *sorted(map(str, set(losses) - set(own)))]
    return losses[[method for method in order if losses[method].notna().any()]]


def brief(lines: pd.DataFrame, own: Sequence[str]) -> str:
    """Return mean ranks by each loss, and Elo ratings and tests by error, as one table."""
    shown: dict[str, pd.Series] = {}
    for measure, name in BRIEFLY.items():
        losses = _ours_first(losses_of(lines, measure, own), own)
        complete = losses.dropna()
        if len(complete) < FEWEST_TABLES:
            continue
        ranks = mean_ranks(complete)
        best = ranks.round(2) == ranks.round(2).min()
        title = f"{name}, {len(complete)} tables"
        shown[title] = in_bold(ranks.map("{:.2f}".format).to_frame(), best.to_frame()).iloc[:, 0]
        if measure != "loss":
            continue
        anchor = _anchor(complete, own)
        shown[f"Elo, {anchor} {RATING:,}"] = elo_ratings(complete, anchor, RATING)["elo"].map(
            "{:.0f}".format
        )
        for tested in own:
            shown[f"{tested} better, p"] = _tested(losses, tested, own)["p, Holm"]
    if not shown:
        return f"fewer than {FEWEST_TABLES} tables have results of all methods"
    cells = pd.DataFrame(shown).fillna("–")
    return table(cells.loc[_by_rank(cells)], "method")


def _by_rank(cells: pd.DataFrame) -> list[str]:
    """Return the methods in the order of their mean ranks by the first loss."""
    ranks = cells.iloc[:, 0].str.strip("*").replace("–", "inf").astype(float)
    return [str(method) for method in ranks.sort_values(kind="stable").index]


def report(lines: pd.DataFrame, own: Sequence[str], data: Path) -> str:
    """Return the comparisons by error, and for classes by log loss and AUC, as markdown."""
    parts = []
    for measure, title in LOSSES.items():
        losses = _ours_first(losses_of(lines, measure, own), own)
        if losses.empty:
            continue
        complete = losses.dropna()
        parts.append(f"**{title}**, of methods on {len(losses)} tables:\n\n{_each(losses)}")
        if len(complete) >= FEWEST_TABLES:
            parts += [_ranking(complete, own), friedman_line(complete, SIGNIFICANT)]
            if measure == "loss" and (data / "index.csv").exists():
                parts.append(_in_groups(complete, groups_of_tables(data, losses.min(axis=1))))
            parts += [_tests(losses, method, own) for method in own]
        parts.append(_far_behind(losses, own))
    return "\n\n".join(parts)


def _each(losses: pd.DataFrame) -> str:
    text = losses.map(lambda loss: "–" if pd.isna(loss) else f"{loss:.4g}")
    return table(in_bold(text, losses.eq(losses.min(axis=1), axis=0)), "table")


def _ranking(losses: pd.DataFrame, own: Sequence[str]) -> str:
    """Return mean ranks and Elo ratings, the best method first."""
    anchor = _anchor(losses, own)
    elo = elo_ratings(losses, anchor, RATING).map("{:.0f}".format)
    cells = mean_ranks(losses).sort_values().map("{:.2f}".format).to_frame("mean rank")
    cells["Elo"] = elo["elo"]
    cells["95 % interval"] = elo["conf_low"] + " to " + elo["conf_high"]
    title = f"Mean ranks, and Elo ratings if {anchor} has {RATING:,}, {len(losses)} tables:"
    return f"{title}\n\n{table(cells, 'method')}"


def _anchor(losses: pd.DataFrame, own: Sequence[str]) -> str:
    others = [str(method) for method in losses if method not in own]
    return ANCHOR if ANCHOR in others else others[0]


def _in_groups(losses: pd.DataFrame, groups: dict[str, list[str]]) -> str:
    inside = {name: losses.loc[losses.index.intersection(some)] for name, some in groups.items()}
    cells = pd.DataFrame(
        {f"{name} ({len(some)})": mean_ranks(some) for name, some in inside.items() if len(some)}
    ).T
    text = in_bold(cells.map("{:.2f}".format), cells.eq(cells.min(axis=1), axis=0))
    return f"Mean ranks in groups of tables (their number):\n\n{table(text, 'tables')}"


def _tests(losses: pd.DataFrame, tested: str, own: Sequence[str]) -> str:
    cells = _tested(losses, tested, own)
    return f"Tests that {tested} is better than each other method:\n\n{table(cells, 'against')}"


def _tested(losses: pd.DataFrame, tested: str, own: Sequence[str]) -> pd.DataFrame:
    """Test one of our methods against each method of others."""
    against = losses.drop(columns=[name for name in own if name != tested])
    tests = wilcoxon_against(relative_differences(against, tested))
    cells = tests[["wins", "ties", "losses"]].astype(str)
    for name, p in {"p": tests["p"], "p, Holm": by_holm(tests["p"])}.items():
        cells[name] = p.map("{:.2g}".format).where(p.notna(), "–")
    return cells


def _far_behind(losses: pd.DataFrame, own: Sequence[str]) -> str:
    best = losses.drop(columns=list(own)).min(axis=1)
    ratio = (losses[own[0]] / best).sort_values(ascending=False)
    far = [f"{name} ({each:.2f})" for name, each in ratio[ratio > FAR_BEHIND].items()]
    far_words = ", ".join(far) or "none"
    return f"Ratio of {own[0]} to the best other method above {FAR_BEHIND}: {far_words}."


def main() -> int:
    """Print the report."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("files", type=Path, nargs="+", help="csv files")
    asked.add_argument("--own", default="auto,odrf", help="our methods, with commas between them")
    asked.add_argument("--methods", help="others, with commas between them; by default all")
    asked.add_argument("--protocol", default="Z", help="of accuracy.py")
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="with index.csv")
    asked.add_argument("--brief", action="store_true", help="mean ranks and tests in one table")
    options = asked.parse_args()
    own = options.own.split(",")
    lines = pd.concat([lines_of(path, options.protocol) for path in options.files])
    # of a method that several files have, the first one counts
    lines = lines.drop_duplicates(["table", "partition", "method"], ignore_index=True)
    if options.methods is not None:
        lines = lines[lines["method"].isin([*own, *options.methods.split(",")])]
    without = set(own) - set(lines["method"])
    if without:
        asked.error(f"the files have no results of {', '.join(sorted(without))}: use --own")
    if lines["method"].isin(own).all():
        asked.error("the files have no methods of others to compare with")
    print(brief(lines, own) if options.brief else report(lines, own, options.data))
    return 0


if __name__ == "__main__":
    sys.exit(main())
