"""Summaries, nodes, scores and importances of fits to survival times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.design import last_rows, rows_a_subject, subjects_of
from odrf.design.response import Response
from odrf.engine.survival.curve_numbers import incidence_at, quantile_at, time_of_incidence
from odrf.errors import InputError
from odrf.fits.intervals import LEVEL
from odrf.fits.scores import explained_part
from odrf.fits.survival import validation
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.fit import SurvivalFit
from odrf.fits.survival.hazards import NodeHazards, cause_numbers
from odrf.pruning.complexity import root_errors
from odrf.reports import summaries
from odrf.reports.importance import MeasuredImportance, impurity_table
from odrf.reports.paths import PruningPath
from odrf.reports.tree import node_columns, rules_with
from odrf.statistics.calibration import normal_or_t
from odrf.statistics.survival.curves import kaplan_meier
from odrf.statistics.survival.pseudo_values import RowwiseEstimate
from odrf.statistics.survival.score_curves import FailureTimes
from odrf.statistics.survival.scores import EXPLAINED, HARRELL, INTEGRATED, UNO
from odrf.text.layouts import quantity
from odrf.text.splits import number, with_limits
from odrf.text.summary import Card, Summary

# The table of the scores of predicted survival.


def estimates_table(
    estimates: Mapping[str, RowwiseEstimate], level: float, groups: NDArray[np.int64] | None,
    source: str,
) -> pd.DataFrame:  # fmt: skip
    """Return estimates with their intervals, one row each; `source`: the name of the index.

    Errors of 0 are blank, with the intervals: no row has an influence, as with a single event,
    which does not make the estimate certain.  `groups` (n,): rows that are not independent.
    """
    lines = {
        name: (
            one.estimate,
            one.std_error_of_groups(groups),
            *one.interval(level, groups),
        )
        for name, one in estimates.items()
    }
    columns = ["estimate", "std_error", "conf_low", "conf_high"]
    table = pd.DataFrame.from_dict(lines, orient="index", columns=columns)
    table.loc[~(table["std_error"] > 0), columns[1:]] = np.nan
    return table.rename_axis(index=source)


# Summaries and short descriptions of trees and forests for survival times.

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
    fit: SurvivalFit, evaluated: validation.EvaluatedPredictions | None,
    of_causes: Mapping[str, validation.EvaluatedPredictions], importance: MeasuredImportance,
) -> Summary:  # fmt: skip
    """Return the summary: data, options, sizes, scores, importances.

    `evaluated`: all causes as one; None if no row that evaluates has an event.
    """
    trees = {"Trees": str(fit.forest.n_trees)} if fit.forest.n_trees > 1 else {}
    facts = {**trees, **_lifetimes(fit)}
    shown = [name for name in importance.table if name not in DETAILS]
    summary = summaries.growth_summary(
        _name(fit), fit, facts, {}, importance._replace(table=importance.table[shown])
    )
    if evaluated is None:
        return replace(summary, notes=(*summary.notes, UNKNOWN))
    rows, (title, table) = evaluated.rows, evaluated_section(evaluated)
    sections, notes = {title: table}, summary.notes
    if fit.times.start is not None and rows.groups is None:
        notes += (ALONE,)
    if of_causes:
        sections[f"Scores by cause ({_source(rows.source)})"] = _by_cause(of_causes)
    if rows.start is not None:
        notes += (ENTER_LATE.format(since=number(rows.since)),)
    if len(rows.time) < (fit.data.weights > 0).sum():
        drew = "every tree" if fit.forest.n_trees > 1 else "the tree"
        notes += (f"{quantity(len(rows.time), 'row')} evaluate: {drew} sampled the others.",)
    return replace(summary, sections=sections | summary.sections, notes=notes)


def survival_card(fit: SurvivalFit, evaluated: validation.EvaluatedPredictions | None) -> Card:
    """Return a short description: data, sizes, concordances; `evaluated` as in the summary."""
    scores = {} if evaluated is None else concordances_in_words(evaluated)
    events = {"Events": _events(fit)}
    trees = fit.forest.n_trees
    name = _name(fit) if trees == 1 else f"{_name(fit)} of {quantity(trees, 'tree')}"
    return summaries.growth_card(name, fit, {**events, **scores})


def evaluated_section(evaluated: validation.EvaluatedPredictions) -> tuple[str, pd.DataFrame]:
    """Return the title and the table of all scores."""
    rows = evaluated.rows
    table = estimates_table(evaluated.scores(), LEVEL, rows.groups, rows.source)
    since = f"from {number(rows.since)} " if rows.since else "up "
    title = f"Scores ({_source(rows.source)}, times {since}to {number(rows.last_time())})"
    return title, table.rename(index=IN_WORDS)


def concordances_in_words(evaluated: validation.EvaluatedPredictions) -> dict[str, str]:
    """Return the concordances with their intervals."""
    source, groups = evaluated.rows.source, evaluated.rows.groups
    words = SHORT.get(source, source.capitalize())
    return {
        f"{words} {IN_WORDS[name]}": with_limits(one.estimate, *one.interval(LEVEL, groups))
        for name, one in evaluated.concordances().items()
    }


def censored_in_words(response: Response) -> str:
    """Return the unit of times, and what means censored, to follow the number of events."""
    unit = f", times in {response.unit}" if response.unit else ""
    return unit + (f", censored: {response.censored!r}" if response.censored else "")


def _by_cause(of_causes: Mapping[str, validation.EvaluatedPredictions]) -> pd.DataFrame:
    """Return C with its interval, and the scores of the incidence, one row for each cause."""
    lines = {}
    for name, evaluated in of_causes.items():
        scored = evaluated.scores()
        low, high = scored[UNO].interval(LEVEL, evaluated.rows.groups)
        numbers = {"C": scored[UNO].estimate, "conf_low": low, "conf_high": high}
        scores = {INTEGRATED: scored[INTEGRATED].estimate, EXPLAINED: scored[EXPLAINED].estimate}
        lines[name] = {"events": int(evaluated.rows.happened.sum()), **numbers, **scores}
    return pd.DataFrame.from_dict(lines, orient="index").rename_axis("cause")


def _name(fit: SurvivalFit) -> str:
    return summaries.kind_of_trees(
        fit, "random forest" if fit.forest.n_trees > 1 else "decision tree"
    )


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
        "Median survival time": _median(observed.quantile()),
    }


def _median(time: float) -> str:
    return number(time) if np.isfinite(time) else "not reached"


# The nodes of a tree for survival times, as a table and as indented text.

MEDIAN = "median time"
LEGEND = "node) split  n, {events}, {curve}, hazard relative to that of all rows;  * marks a leaf"


def hazards_of(fit: SurvivalFit) -> NodeHazards:
    """Return the hazards of the nodes of a tree; raise `InputError` for a forest."""
    if fit.hazards is None:
        raise InputError("a forest has no hazards of nodes: use a tree of odt()")
    return fit.hazards


def counted_by_cause(fit: SurvivalFit) -> dict[str, NDArray[np.float64]]:
    """Return the events (m,) of each of several causes in nodes, unless the file is too old."""
    counted = hazards_of(fit).events_of_cause * fit.training.weight_unit
    return dict(zip(fit.design.response.causes, counted.T, strict=False))


def median_times(fit: SurvivalFit) -> NDArray[np.float64]:
    """Return the median time (m,) to the event, or the cause, in each node; inf if never."""
    if fit.control.cause is None:
        return quantile_at(fit.curves, fit.event_times, 0.5)
    return time_of_incidence(fit.curves, _cause_of(fit), fit.event_times, 0.5)


def hazard_nodes(fit: SurvivalFit) -> pd.DataFrame:
    """Return one row for each node that rows can reach."""
    tree, hazards, unit = fit.forest, hazards_of(fit), fit.training.weight_unit
    node = np.flatnonzero(tree.depth() >= 0)
    events, person_time = hazards.events[node], hazards.person_time[node]
    rate = np.divide(events, person_time, out=np.full(len(node), np.nan), where=person_time > 0)
    table = node_columns(tree, node, unit) | {
        "events": events * unit,
        "person_time": person_time * unit,
        "rate": rate,
        "median": median_times(fit)[node],
        "relative_hazard": hazards.relative[node],
        "log_rank": np.where(tree.is_split(), hazards.log_rank, np.nan)[node],
    }
    if len(hazards.subjects):
        table["subjects"] = hazards.subjects[node]
    for code, (cause, counted) in enumerate(counted_by_cause(fit).items()):
        incidence = incidence_at(fit.curves, code, len(fit.event_times))
        table |= {f"events({cause})": counted[node], f"incidence({cause})": incidence[node]}
    return pd.DataFrame(table, index=pd.Index(node, name="node"))


def hazard_rules(fit: SurvivalFit, digits: int, max_terms: int | None) -> str:
    """Return a line for each node, children under their parent."""
    hazards, unit, cause = hazards_of(fit), fit.training.weight_unit, fit.control.cause
    by_cause = counted_by_cause(fit) if cause is None else {}
    if cause is None:
        name, curve = "median", median_times(fit)
        legend = LEGEND.format(events="events (by cause)" if by_cause else "events", curve=MEDIAN)
    else:
        name, curve = "incidence", incidence_at(fit.curves, _cause_of(fit), len(fit.event_times))
        last = number(float(fit.event_times[-1]), digits)
        legend = LEGEND.format(events=f"events of {cause!r}", curve=f"their incidence by {last}")

    def figures(node: int) -> str:
        counted = ", ".join(f"{c}: {number(float(k[node]), digits)}" for c, k in by_cause.items())
        events = number(float(hazards.events[node] * unit), digits)
        subjects = [f"subjects = {hazards.subjects[node]}"] if len(hazards.subjects) else []
        return "  ".join(
            [
                *subjects,
                f"events = {events}{f' ({counted})' if counted else ''}",
                f"{name} = {number(float(curve[node]), digits)}",
                f"hazard = {number(float(hazards.relative[node]), digits)}",
            ]
        )

    if len(hazards.subjects):
        legend = legend.replace("n,", "n, subjects,", 1)
    return rules_with(fit.forest, fit.design, digits, max_terms, legend, figures)


def _cause_of(fit: SurvivalFit) -> int:
    """Return the number, from 0, of the cause that a tree is about."""
    return int(cause_numbers(fit.control.cause, fit.design.response.causes)[0])


# What the summary of a tree for survival times says beside that of a forest.

MOST_LEAVES = 12
NEVER = "A median is inf where less than half had the event by the last event time."
CHOSEN_BY_THEM = (
    "The rows that chose the splits also give scores, hazards and importances, which look better "
    "than they are: see pruning_path() and score(newdata)."
)
# Of a tree of a forest, rows that it did not sample give the scores.
SCORED_BY_OTHERS = (
    "The rows that chose the splits also give hazards and importances, which look better than they "
    "are."
)


def deviance_measured(fit: SurvivalFit) -> MeasuredImportance:
    """Return the exponential deviance that the splits on each predictor remove."""
    return MeasuredImportance(impurity_table(fit), "exponential deviance removed")


def survival_tree_summary(
    fit: SurvivalFit, evaluated: validation.EvaluatedPredictions | None,
    of_causes: Mapping[str, validation.EvaluatedPredictions], path: PruningPath[Any] | None,
) -> Summary:  # fmt: skip
    """Return the summary of a tree; `path` is the pruning path that it was chosen from, if any."""
    summary = survival_summary(fit, evaluated, of_causes, deviance_measured(fit))
    facts = {**summary.facts, **_training(fit), **summaries.held_out_scores(fit, path)}
    leaves = _leaves(fit)
    infinite = any(np.isinf(table.get("median", 0.0)).any() for table in leaves.values())
    by_others = evaluated is not None and evaluated.rows.source == validation.OUT_OF_BAG_ROWS
    chosen = SCORED_BY_OTHERS if by_others else CHOSEN_BY_THEM
    notes = (*summary.notes, chosen, *([NEVER] if infinite else []))
    return replace(summary, facts=facts, sections=summary.sections | leaves, notes=notes)


def _training(fit: SurvivalFit) -> dict[str, str]:
    """Return the deviance of the training rows, as one number for each row."""
    forest = fit.forest
    leaf = (forest.left < 0) & (forest.depth() >= 0)
    deviance = float((forest.weight * forest.impurity)[leaf].sum() / forest.weight[0])
    root = float(root_errors(forest)[0])
    explained = {"Deviance explained": f"{explained_part(deviance, root):.3f}"} if root > 0 else {}
    return {"Training deviance": number(deviance), **explained}


def _columns(fit: SurvivalFit) -> list[str]:
    """Return what leaves show: of a tree about one cause its incidence in place of a median."""
    size = ["count", *(["subjects"] if len(hazards_of(fit).subjects) else [])]
    cause, several = fit.control.cause, [f"events({name})" for name in counted_by_cause(fit)]
    if cause is not None:
        return [*size, "events", "rate", f"incidence({cause})", "relative_hazard"]
    return [*size, "events", *several, "rate", "median", "relative_hazard"]


def _leaves(fit: SurvivalFit) -> dict[str, pd.DataFrame]:
    """Return the leaves, the largest hazard first; of many leaves, those at both ends."""
    nodes = hazard_nodes(fit)
    leaves = nodes[nodes["leaf"]][_columns(fit)]
    leaves = leaves.sort_values("relative_hazard", ascending=False, kind="stable")
    title = "Leaves, the largest hazard first"
    if len(leaves) > MOST_LEAVES:
        half = MOST_LEAVES // 2
        title += f" ({MOST_LEAVES} of {len(leaves)}, those at both ends)"
        leaves = pd.concat([leaves.head(half), leaves.tail(half)])
    return {title: leaves}


UNKNOWN_OF_BOOSTED = "No scores: no row that evaluates has an event."
CURVES = {
    "out of bag": "calibrated by out-of-bag scores",
    "held out": "calibrated by the rows held out",
    "training": "of training scores, too far apart; n_runs=10 or validation=0.2 calibrates them",
}


def boosted_survival_summary(
    fit: BoostedSurvivalFit,
    evaluated: validation.EvaluatedPredictions | None,
    importance: MeasuredImportance,
) -> Summary:
    """Return the summary; `evaluated` are the validation rows, None if none has an event."""
    facts = _boosted_events(fit) | summaries.boosted_facts(fit, _curves(fit))
    scores = {} if evaluated is None else dict([evaluated_section(evaluated)])
    sections, name = scores | summaries.loss_section(fit), summaries.boosted_trees(fit)
    summary = summaries.fit_summary(name, fit, facts, sections, importance)
    unknown = (UNKNOWN_OF_BOOSTED,) if evaluated is None else ()
    return replace(summary, notes=summary.notes + unknown)


def boosted_survival_card(
    fit: BoostedSurvivalFit, evaluated: validation.EvaluatedPredictions | None
) -> Card:
    """Return a short description: data, sizes, concordances; `evaluated` as in the summary."""
    scores = {} if evaluated is None else concordances_in_words(evaluated)
    return summaries.card_of_rounds(fit, str(fit.n_rounds), scores, _boosted_events(fit))


def _boosted_events(fit: BoostedSurvivalFit) -> dict[str, str]:
    events = f"{fit.times.n_events} at {quantity(len(fit.event_times), 'time')}"
    return {"Events": events + censored_in_words(fit.design.response)}


def _curves(fit: BoostedSurvivalFit) -> dict[str, str]:
    facts = {"Curves": CURVES[fit.evaluated]}
    if isinstance(fit.curves, FailureTimes):
        facts["Scale"] = number(fit.curves.scale)
    return facts


# Tables of what each predictor adds to predicted survival.

BY_THEIR_OWN_ROWS = (
    "The rows that chose the splits also evaluate their importances, which favours predictors of "
    "many values: none out of bag has an event."
)
FALL = "fall of {} when permuted, out of bag"


def permutation_measured(
    fit: SurvivalFit, evaluated: validation.EvaluatedPredictions, progress: bool
) -> MeasuredImportance:
    """Return by how much out-of-bag scores fall when a predictor is permuted, largest first."""
    losses, groups = (
        validation.losses_when_permuted(evaluated, fit.control.seed, progress),
        evaluated.rows.groups,
    )
    estimate, error, of_permutations = _importance_columns(losses.concordance, groups)
    reach = normal_or_t(LEVEL, groups) * error
    columns = {
        "importance": estimate,
        "std_error": error,
        "conf_low": estimate - reach,
        "conf_high": estimate + reach,
        "monte_carlo_error": of_permutations,
    }
    columns["brier_rise"], columns["brier_std_error"], _ = _importance_columns(losses.brier, groups)
    table = pd.DataFrame(columns, index=pd.Index(fit.design.predictors, name="predictor"))
    table = table.sort_values("importance", ascending=False, kind="stable")
    rows = evaluated.rows
    who = "Uno's C"
    if rows.cause is not None:
        who = f"C of {fit.design.response.causes[rows.cause - 1]}"
    return MeasuredImportance(table, FALL.format(who))


def survival_impurity_measured(fit: SurvivalFit) -> MeasuredImportance:
    """Return the decrease of the squared error of log-rank scores by splits, largest first."""
    measure = "squared error of log-rank scores removed"
    return MeasuredImportance(impurity_table(fit), measure, (BY_THEIR_OWN_ROWS,))


def _importance_columns(
    losses: list[validation.RepeatedEstimate], groups: NDArray[np.int64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return estimates, standard errors over rows and permutations, those over permutations."""
    means = [loss.mean for loss in losses]
    estimate = np.array([mean.estimate for mean in means])
    of_rows = np.array([mean.std_error_of_groups(groups) for mean in means])
    of_permutations = np.array([loss.monte_carlo_error for loss in losses])
    return estimate, np.hypot(of_rows, of_permutations), of_permutations
