"""Sections of the report, as markdown; scores are from `scores.py`, tests from `ranks.py`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.accuracy.scores import AUC, RARE, Means, mean_scores, paired_scores
from benchmarks.methods.methods import FORESTS
from benchmarks.shared.markdown import in_bold, table
from benchmarks.shared.ranks import (
    friedman,
    mean_ranks,
    pairwise_wilcoxon,
    wilcoxon_against,
)
from odrf.evaluation.compare import critical_difference

__all__ = [
    "aucs",
    "friedman_line",
    "hard_tables",
    "mean_table",
    "not_done",
    "pairwise_table",
    "rank_table",
    "seconds",
    "wilcoxon_table",
    "worse_than",
]

MARGIN = 0.05
"""Relative difference of losses above which a method counts as worse."""


def mean_table(means: Means) -> str:
    """Mean ± standard error, the best in bold; below, averages, numbers of bests, mean ranks."""
    digits = means.measure.digits
    rounded = means.loss.round(digits)
    best = rounded.eq(rounded.min(axis=1), axis=0)
    text = means.mean.map(lambda x: f"{x:.{digits}f}") + means.se.map(
        lambda x: "" if pd.isna(x) else f" ± {x:.{digits}f}"
    )
    cells = in_bold(text, best).where(means.mean.notna(), "–")
    cells.index = [f"{name} ({means.partitions[name]})" for name in cells.index]
    return table(pd.concat([cells, _summary(means, best)]), "table (partitions)")


def _summary(means: Means, best: pd.DataFrame) -> pd.DataFrame:
    """Averages over all tables, and over those with all methods; bests; mean ranks."""
    averages = {f"average of {len(means.mean)}": means.mean.mean(skipna=False)}
    complete = means.mean.dropna()
    if 0 < len(complete) < len(means.mean):
        averages[f"average of {len(complete)} with all methods"] = complete.mean()
    bests, ranks = best.sum(), mean_ranks(means.loss)
    written = f"{{:.{means.measure.digits}f}}".format
    texts = {name: average.map(written) for name, average in averages.items()}
    texts |= {"bests": bests.map(str), "mean rank": ranks.map("{:.2f}".format)}
    winners = {
        name: (loss := means.measure.loss(average)).eq(loss.min())
        for name, average in averages.items()
    }
    winners |= {"bests": bests.eq(bests.max()), "mean rank": ranks.eq(ranks.min())}
    return in_bold(pd.DataFrame(texts).T, pd.DataFrame(winners).T).replace("nan", "–")


def rank_table(losses: pd.DataFrame, subset: Sequence[str]) -> str:
    """Mean ranks among all methods, and among the methods of a subset that have results."""
    rows = {f"all {losses.shape[1]}": mean_ranks(losses)}
    present = [method for method in subset if method in losses]
    if 1 < len(present) < losses.shape[1]:
        rows[", ".join(present)] = mean_ranks(losses[present])
    cells = pd.DataFrame(rows, losses.columns).T
    best = cells.eq(cells.min(axis=1), axis=0)
    text = cells.map(lambda x: "" if pd.isna(x) else f"{x:.2f}")
    return f"Mean ranks over {len(losses)} tables:\n\n{table(in_bold(text, best), 'among')}"


def friedman_line(losses: pd.DataFrame, level: float) -> str:
    """Friedman's test and the critical difference in a sentence."""
    statistic, p = friedman(losses)
    if np.isnan(statistic):
        return "Friedman's test needs three methods and two tables."
    tables, methods = losses.shape
    return (
        f"Friedman: χ² = {statistic:.1f} on {methods - 1} degrees of freedom, p = {_p(p)}; "
        f"critical difference of mean ranks (Nemenyi, {level:g}) "
        f"{critical_difference(methods, tables, level):.2f}."
    )


def wilcoxon_table(differences: pd.DataFrame, base: str, level: float) -> str:
    """Tests that `base` has smaller losses than each other method; significant ones in bold."""
    tests = wilcoxon_against(differences)
    cells = tests[["wins", "ties", "losses"]].astype(str)
    cells[["p", "p × methods"]] = tests[["p", "p_bonferroni"]].map(_p)
    significant = pd.DataFrame(False, cells.index, cells.columns)
    significant["p × methods"] = tests["p_bonferroni"] < level
    return (
        f"One-sided paired Wilcoxon signed-rank tests that {base} is better, corrected by "
        f"Bonferroni (bold: below {level:g}):\n\n{table(in_bold(cells, significant), 'against')}"
    )


def pairwise_table(losses: pd.DataFrame, level: float) -> str:
    """Corrected p-values that the method above is better than that on the left."""
    p = pairwise_wilcoxon(losses)
    text = p.map(lambda x: "" if pd.isna(x) else _p(x))
    return (
        "The same for every pair (p × methods that the one above is better than the one on the "
        f"left):\n\n{table(in_bold(text, p < level), 'worse')}"
    )


def worse_than(results: pd.DataFrame, means: Means, base: str, other: str) -> str:
    """Tables on which `base` is worse than `other` by the margin and by a standard error.

    The standard error is that of the mean difference over partitions.
    """
    if base not in means.mean or other not in means.mean:
        return ""
    worse = []
    for name, losses in means.loss[[base, other]].dropna().iterrows():
        scores = means.measure.loss(paired_scores(results, str(name), means.measure))
        se = float((scores[base] - scores[other]).to_frame().sem().item())
        excess = losses[base] - losses[other]
        if excess > MARGIN * losses[other] and not excess <= se:
            errors = "" if np.isnan(se) else f", {_ratio(excess, se)} standard errors"
            worse.append(f"{name} (ratio {_ratio(losses[base], losses[other])}{errors})")
    which = ", ".join(worse) if worse else "none"
    return (
        f"Tables on which {base} is worse than {other} by more than {MARGIN:.0%} and by more than "
        f"one standard error of the paired difference: {which}."
    )


def hard_tables(means: Means, base: str, names: Sequence[str]) -> str:
    """Loss of `base` on some tables over that of the best forest of another library."""
    forests = [name for name in FORESTS if name in means.loss]
    present = [name for name in names if name in means.loss.index]
    if not forests or not present or base not in means.loss:
        return ""
    losses = means.loss.loc[present, [base, *forests]]
    losses = losses[losses[base].notna() & losses[forests].notna().any(axis=1)]
    rivals = losses[forests].idxmin(axis=1)
    best = losses[forests].min(axis=1)
    written = f"{{:.{means.measure.digits}f}}".format
    cells = pd.DataFrame(
        {
            base: means.mean.loc[losses.index, base].map(written),
            "best forest": rivals.astype(str) + " " + means.measure.loss(best).map(written),
            "ratio": [_ratio(*pair) for pair in zip(losses[base], best, strict=True)],
        }
    )
    within = pd.DataFrame(False, cells.index, cells.columns)
    within["ratio"] = losses[base] <= (1 + MARGIN) * best
    loss = f"1 − {means.measure.title}" if means.measure.more_is_better else means.measure.title
    return (
        f"Hard tables: {base} beside the best forest of another library; ratio of {loss}, in bold "
        f"up to {1 + MARGIN:g}:\n\n{table(in_bold(cells, within), 'table')}"
    )


def aucs(results: pd.DataFrame) -> str:
    """AUC on tables of two classes of which one is rare."""
    rare = results[(results["classes"] == 2) & (results["rarest"] < RARE)]
    means = mean_scores(rare, AUC)
    if means.mean.empty:
        return ""
    return f"AUC where the rarer of two classes has less than {RARE:.0%}:\n\n{mean_table(means)}"


def seconds(results: pd.DataFrame) -> str:
    """Seconds of one partition of every table, by the median partition of each."""
    done = results[results["status"] == "ok"]
    medians = done.groupby(["method", "table", "protocol"], observed=True)[["fit_s", "predict_s"]]
    sums = medians.median().groupby(level="method", observed=True).agg(["sum", "size"])
    cells = pd.DataFrame(
        {
            "tables": sums["fit_s", "size"].map(str),
            "training s": sums["fit_s", "sum"].map("{:.2f}".format),
            "prediction s": sums["predict_s", "sum"].map("{:.2f}".format),
        }
    )
    threads = "/".join(map(str, sorted(results["threads"].unique())))
    return (
        "Seconds for one partition of each table, summed over tables (medians over partitions; "
        f"threads: {threads}):\n\n{table(cells, 'method')}"
    )


def not_done(results: pd.DataFrame) -> str:
    """Fits that failed or took too long, and why."""
    lines = results[results["status"] != "ok"]
    if lines.empty:
        return "Every fit came to its end."
    groups = lines.groupby(["table", "protocol", "method", "status"], observed=True)
    rows = [
        f"* {name}, {protocol}, {method}: {status}, {len(group)} partitions: "
        f"{group['message'].iloc[0]}"
        for (name, protocol, method, status), group in groups
    ]
    return "Without a result:\n\n" + "\n".join(rows)


def _p(p: float) -> str:
    return "–" if pd.isna(p) else f"{p:.1e}" if p < 1e-3 else f"{p:.3f}"


def _ratio(loss: float, other: float) -> str:
    return f"{loss / other:.2f}" if other else ("1.00" if loss == other else "∞")
