"""Means, ranks and tests of survival models over tables."""

from __future__ import annotations

import pandas as pd

from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.ranks import by_holm, mean_ranks, wilcoxon_against

__all__ = ["report"]

MEASURES = {
    "uno": "Uno's C",
    "harrell": "Harrell's C",
    "brier": "integrated Brier score",
}
LARGER_IS_BETTER = ("uno", "harrell")


def report(lines: pd.DataFrame, base: str) -> str:
    """Return tables of each measure, with ranks and tests that the base is better."""
    parts = [_of_measure(lines, measure, base) for measure in MEASURES]
    return "\n\n".join([*parts, _seconds(lines), _failures(lines)])


def means_of(lines: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Mean of a measure over partitions: tables in the rows, systems in the columns.

    Only partitions count on which every system that has a result on the table has one.
    """
    wide = lines.pivot_table(index=["table", "partition"], columns="system", values=measure)
    some = wide.notna().groupby(level="table").transform("any")
    whole = (wide.notna() | ~some).all(axis=1)
    return wide[whole].groupby(level="table").mean()


def tests_of(means: pd.DataFrame, base: str, larger: bool) -> pd.DataFrame:
    """Ranks of all systems; wins and one-sided Wilcoxon tests of the base, corrected by Holm."""
    losses = -means if larger else means
    found = pd.DataFrame({"mean rank": mean_ranks(losses).map("{:.2f}".format)})
    found["tables"] = means.notna().sum().astype(str)
    if base not in means:
        return found.sort_values("mean rank", key=lambda ranks: ranks.astype(float))
    tests = wilcoxon_against(losses.drop(columns=base).rsub(losses[base], axis=0))
    found["won, tied, lost"] = tests[["wins", "ties", "losses"]].astype(str).agg(", ".join, axis=1)
    known = tests["p"].dropna()
    found["p"] = known.map("{:.2g}".format)
    if len(known):
        found["p, Holm"] = by_holm(known).map("{:.2g}".format)
    return found.fillna("").sort_values("mean rank", key=lambda ranks: ranks.astype(float))


def _of_measure(lines: pd.DataFrame, measure: str, base: str) -> str:
    means = means_of(lines[lines["status"] == "ok"], measure)
    larger = measure in LARGER_IS_BETTER
    best = means.max(axis=1) if larger else means.min(axis=1)
    text = means.map("{:.3f}".format).where(means.notna(), "–")
    tests = tests_of(means, base, larger)
    text = in_bold(text, means.eq(best, axis=0))[tests.index]
    return "\n\n".join(
        [
            f"## {MEASURES[measure]}, {'larger' if larger else 'smaller'} is better",
            markdown_table(text, "table"),
            f"Tests are one-sided, that {base} is better; the correction is Holm's.",
            markdown_table(tests, "system"),
        ]
    )


def _seconds(lines: pd.DataFrame) -> str:
    means = lines[lines["status"] == "ok"].groupby("system")[["fit_s", "predict_s"]].mean()
    text = means.map("{:.2f}".format)
    return f"## Seconds, mean over fits that ended\n\n{markdown_table(text, 'system')}"


def _failures(lines: pd.DataFrame) -> str:
    bad = lines[lines["status"] != "ok"]
    if bad.empty:
        return "Every fit ended in time."
    counted = bad.groupby(["system", "table", "status"]).size().reset_index(name="fits")
    words = [
        f"* {line.system} on {line.table}: {line.fits} {line.status}"
        for line in counted.itertuples(index=False)
    ]
    return "## Fits without a result\n\n" + "\n".join(words)
