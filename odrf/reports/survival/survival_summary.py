"""Summaries and short descriptions of trees and forests for times to an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.response import Response
from odrf.design.subjects import last_rows, rows_a_subject, subjects_of
from odrf.fits.intervals import LEVEL
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.validation import JudgedPredictions
from odrf.reports.importance_tables import MeasuredImportance
from odrf.reports.summaries import growth_card, growth_summary
from odrf.reports.survival.scores_table import estimates_table
from odrf.statistics.survival.curves import kaplan_meier
from odrf.statistics.survival.scores import EXPLAINED, HARRELL, INTEGRATED, UNO
from odrf.text.layouts import quantity
from odrf.text.splits import number, with_limits
from odrf.text.summary import Card, Summary

__all__ = [
    "censored_in_words",
    "concordances_in_words",
    "judged_section",
    "survival_card",
    "survival_summary",
]

IN_WORDS = {
    HARRELL: "Harrell's C",
    UNO: "Uno's C",
    INTEGRATED: "Integrated Brier score",
    EXPLAINED: "Explained (Brier score)",
}
SHORT = {"out of bag": "OOB", "held out": "Held-out"}
# Columns of importances that the summary leaves out.
DETAILS = ("monte_carlo_error", "brier_std_error")
UNKNOWN = "No scores: no row out of bag has an event."
ALONE = (
    "Rows enter late, and each is taken for a subject of its own: if several are one subject's, "
    "name the subjects by groups=."
)
ENTER_LATE = (
    "Rows enter late: scores are given that no event has come by {since}, and weight rows by the "
    "inverse probability to be under observation, which must depend on neither events nor "
    "predictors."
)


def survival_summary(
    fit: SurvivalFit,
    judged: JudgedPredictions | None,
    of_causes: Mapping[str, JudgedPredictions],
    importance: MeasuredImportance,
) -> Summary:
    """Return the summary: data, options, sizes, scores, importances.

    `judged` are the training rows judging all causes as one, None if none of them has an event;
    `of_causes` are the same judging each of several.
    """
    trees = {"Trees": str(fit.forest.n_trees)} if fit.forest.n_trees > 1 else {}
    facts = {**trees, **_lifetimes(fit)}
    shown = [name for name in importance.table if name not in DETAILS]
    summary = growth_summary(
        _name(fit), fit, facts, {}, importance._replace(table=importance.table[shown])
    )
    if judged is None:
        return replace(summary, notes=(*summary.notes, UNKNOWN))
    rows, (title, table) = judged.rows, judged_section(judged)
    sections, notes = {title: table}, summary.notes
    if fit.times.start is not None and rows.groups is None:
        notes += (ALONE,)
    if of_causes:
        sections[f"Scores by cause ({_source(rows.source)})"] = _by_cause(of_causes)
    if rows.start is not None:
        notes += (ENTER_LATE.format(since=number(rows.since)),)
    if len(rows.time) < (fit.data.weights > 0).sum():
        drew = "every tree" if fit.forest.n_trees > 1 else "the tree"
        notes += (f"{quantity(len(rows.time), 'row')} judge: {drew} drew the others.",)
    return replace(summary, sections=sections | summary.sections, notes=notes)


def survival_card(fit: SurvivalFit, judged: JudgedPredictions | None) -> Card:
    """Return a short description: data, sizes, concordances; `judged` as in the summary."""
    scores = {} if judged is None else concordances_in_words(judged)
    events = {"Events": _events(fit)}
    trees = fit.forest.n_trees
    name = _name(fit) if trees == 1 else f"{_name(fit)} of {quantity(trees, 'tree')}"
    return growth_card(name, fit, {**events, **scores})


def judged_section(judged: JudgedPredictions) -> tuple[str, pd.DataFrame]:
    """Return the title and the table of all scores."""
    rows = judged.rows
    table = estimates_table(judged.scores(), LEVEL, rows.groups, rows.source)
    since = f"from {number(rows.since)} " if rows.since else "up "
    title = f"Scores ({_source(rows.source)}, times {since}to {number(rows.last_time())})"
    return title, table.rename(index=IN_WORDS)


def concordances_in_words(judged: JudgedPredictions) -> dict[str, str]:
    """Return the concordances with their intervals."""
    source, groups = judged.rows.source, judged.rows.groups
    words = SHORT.get(source, source.capitalize())
    return {
        f"{words} {IN_WORDS[name]}": with_limits(found.estimate, *found.interval(LEVEL, groups))
        for name, found in judged.concordances().items()
    }


def censored_in_words(response: Response) -> str:
    """Return the unit of times, and what means censored, to follow the number of events."""
    unit = f", times in {response.unit}" if response.unit else ""
    return unit + (f", censored: {response.censored!r}" if response.censored else "")


def _by_cause(of_causes: Mapping[str, JudgedPredictions]) -> pd.DataFrame:
    """Return C with its interval, and the scores of the incidence, one row for each cause."""
    lines = {}
    for name, judged in of_causes.items():
        found = judged.scores()
        low, high = found[UNO].interval(LEVEL, judged.rows.groups)
        numbers = {"C": found[UNO].estimate, "conf_low": low, "conf_high": high}
        scores = {INTEGRATED: found[INTEGRATED].estimate, EXPLAINED: found[EXPLAINED].estimate}
        lines[name] = {"events": int(judged.rows.happened.sum()), **numbers, **scores}
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("cause")


def _name(fit: SurvivalFit) -> str:
    return "Oblique random forest" if fit.forest.n_trees > 1 else "Oblique decision tree"


def _source(source: str) -> str:
    return source if source in SHORT else f"{source} rows"


def _events(fit: SurvivalFit) -> str:
    times = fit.times
    subjects = subjects_of(fit.data)
    if subjects is None or rows_a_subject(fit.data) == 1:
        words = f"{times.n_events} ({100 * times.n_events / len(times):.3g}%)"
    else:
        words = _events_of_subjects(times.event, subjects)
    return words + censored_in_words(fit.design.response)


def _events_of_subjects(event: NDArray[np.int64], subjects: NDArray[np.int64]) -> str:
    """Return the number of events, and the share of the subjects that have one."""
    who, count = np.unique(subjects), int(np.count_nonzero(event))
    having = len(np.unique(subjects[event > 0]))
    several = f"{count}, in " if count > having else ""
    return f"{several}{having} of {len(who)} subjects ({100 * having / len(who):.3g}%)"


def _lifetimes(fit: SurvivalFit) -> dict[str, str]:
    """Return facts about times and events of the training rows."""
    times, weights = fit.times, fit.data.weights
    unit = fit.data.weight_unit
    facts = {"Events": _events(fit)}
    if len(times.causes) > 1:
        counts = np.bincount(times.event, minlength=len(times.causes) + 1)[1:]
        words = (f"{c} {k}" for c, k in zip(times.causes, counts, strict=True))
        facts["Causes"] = ", ".join(words)
    # who has an event is lost to follow-up, and who is censored had it: reverse Kaplan–Meier
    lost = last_rows(fit.data) & (times.event == 0)
    followed = kaplan_meier(times.time, lost, weights, times.start)
    observed = kaplan_meier(times.time, times.event, weights, times.start)
    return facts | {
        "Person-time": number(float(unit * weights @ times.exposure)),
        "Median follow-up": _median(followed.quantile()),
        "Median time to event": _median(observed.quantile()),
    }


def _median(time: float) -> str:
    return number(time) if np.isfinite(time) else "not reached"
