"""Summaries and short descriptions of trees and forests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.design import rows_a_subject
from odrf.engine.oob import OutOfBag
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit
from odrf.fits.pruning import cut_by_call, root_error
from odrf.fits.scores import (
    OutOfBagScores,
    confusion_table,
    explained_part,
    mean_loss,
    mean_rank_error,
    out_of_bag_scores,
    r_squared,
)
from odrf.options.boosting import REFIT, ResolvedBoostingOptions, loss_in_words, mean_loss_in_words
from odrf.options.criteria import IN_WORDS
from odrf.options.sizes import FIXED, NONE
from odrf.options.tree import ALL, ResolvedOptions
from odrf.pruning.complexity import CHOICES
from odrf.reports.data_summary import kinds_notes, kinds_table, missing_notes
from odrf.reports.importance import MeasuredImportance
from odrf.reports.paths import PruningPath
from odrf.reports.tree import surrogates_section
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, Summary, evenly_spread, rule_in_words

# The error of training rows in words, which says where they are reproduced.
#
# A tree that grows until its leaves are single rows, and boosting for many rounds, predict their
# training rows as they are.  What rounding leaves of the error is no error, and says nothing of new
# rows.

REPRODUCED = "the training rows are reproduced"
NEARLY = "the training rows are nearly reproduced"
# A share of the error of a constant that is next to nothing, and one that rounding leaves.
LITTLE, ROUNDING = 1e-3, 1e-12


def training_score(error: float, r_squared: float | None) -> dict[str, str]:
    """Return the training error, in words, under its name.

    `error`: the mean squared error or, of classes, the error rate.  `r_squared`: 1 less the share
    that the error is of that of a constant; None for classes.

    Examples
    --------
    >>> training_score(4.7e-33, 1.0)
    {'Training MSE': '0 (the training rows are reproduced)'}
    >>> training_score(0.0312, None)
    {'Training error rate': '0.0312'}
    """
    name, words = "Training MSE", number(error)
    if r_squared is None:
        name, share = "Training error rate", error
    else:
        share = 1.0 - r_squared
    if error == 0 or share < ROUNDING:
        words = f"0 ({REPRODUCED})"
    elif share < LITTLE and r_squared is not None:
        words = f"{words} ({NEARLY})"
    return {name: words}


def without_rounding(losses: pd.DataFrame) -> pd.DataFrame:
    """Return losses after 0, 1, … rounds with 0 for what rounding leaves of those at the start."""
    return losses.mask(losses.abs() < ROUNDING * losses.iloc[0].abs(), 0.0)


MAX_CLASSES = 10
TOP = 10
NOT_JUDGED = "unknown (no row of positive weight is out of bag)"
HONEST = "splits by half of a tree's rows, values by the others"
INFERENCE = "grown for standard errors"
ONE_LEAF = (
    "The tree has one leaf: no subtree is better than the root by the rule that chose its size; "
    "tree.parent has {grown} leaves."
)
CHOSEN_OUT_OF_BAG = (
    "Out-of-bag rows chose alpha. In out-of-bag results each fifth of the rows is evaluated by the "
    "choice of the others."
)
# The error on rows held out, and 1 minus its share of the root's, by the kind of response.
HELD_OUT = {
    "regression": ("MSE", "R²"),
    "classification": ("error rate", None),
    "survival": ("deviance", "deviance explained"),
}


def tree_summary(
    fit: Fit, fitted: NDArray[np.float64], path: PruningPath[Any] | None,
    importance: MeasuredImportance,
) -> Summary:  # fmt: skip
    """Return the summary of a tree, whose predictions of training rows are `fitted` (n, K).

    `path` is the pruning path that it was chosen from, if any.
    """
    confusion = {} if fit.kind == "regression" else {"training rows": confusion_table(fit, fitted)}
    scores = {**_tree_scores(fit, fitted), **held_out_scores(fit, path)}
    return growth_summary(kind_of_trees(fit, "decision tree"), fit, scores, confusion, importance)


def forest_summary(
    fit: Fit, out_of_bag: OutOfBag | None, importance: MeasuredImportance
) -> Summary:
    """Return the summary of a forest; `out_of_bag` is None if every tree uses all rows."""
    facts = {"Trees": str(fit.forest.n_trees), **_forest_scores(fit, out_of_bag)}
    confusion = {}
    evaluated = out_of_bag is not None and not np.isnan(out_of_bag.error_path[-1])
    if fit.kind == "classification" and out_of_bag is not None and evaluated:
        confusion["out of bag"] = confusion_table(fit, out_of_bag.value)
    return growth_summary(kind_of_trees(fit, "random forest"), fit, facts, confusion, importance)


def kind_of_trees(fit: Fit, name: str) -> str:
    """Return the name, after "oblique" if some splits may be on directions."""
    if fit.forest.lines is not None:
        return f"{name.capitalize()} with lines in leaves"
    only_axes = fit.blend is None and fit.control.mixture.n_directions == 0
    return name.capitalize() if only_axes else f"Oblique {name}"


def boosted_trees(fit: BoostedFit) -> str:
    """Return what boosted trees are called: oblique, if some splits may be on directions."""
    return "Boosted oblique trees" if fit.control.mixture.n_directions else "Boosted trees"


def tree_card(fit: Fit, fitted: NDArray[np.float64]) -> Card:
    """Return a short description of a tree; the arguments are those of `tree_summary`."""
    return growth_card(kind_of_trees(fit, "decision tree"), fit, _tree_scores(fit, fitted))


def forest_card(fit: Fit, out_of_bag: OutOfBag | None) -> Card:
    """Return a short description of a forest; the arguments are those of `forest_summary`."""
    name = f"{kind_of_trees(fit, 'random forest')} of {quantity(fit.forest.n_trees, 'tree')}"
    return growth_card(name, fit, _forest_scores(fit, out_of_bag))


def fit_card(
    title: str, fit: AnyFit, facts: dict[str, str], events: dict[str, str] | None = None,
    table: pd.DataFrame | None = None,
) -> Card:  # fmt: skip
    """Return a short description of a fit: its data, then further facts, and a table."""
    of_data = {
        "Formula": fit.design.formula,
        "Rows": rows_in_words(fit),
        **(events or {}),
        **weights_in_words(fit),
        "Predictors": predictors_in_words(fit),
    }
    return Card(f"{title}: {fit.kind}", of_data | facts, table)


def growth_card(name: str, fit: Fit, scores: dict[str, str]) -> Card:
    """Return a short description of grown trees, with scores in words."""
    return fit_card(name, fit, {"Leaves": mean_and_range(fit.forest.leaves()), **scores})


def importance_section(importance: MeasuredImportance) -> dict[str, pd.DataFrame]:
    """Return the largest importances under a title that says how they are measured."""
    P = len(importance.table)
    few = f", first {TOP} of {P} predictors" if P > TOP else ""
    return {f"Importance ({importance.measure}{few})": importance.table.head(TOP)}


def fit_summary(
    name: str, fit: AnyFit, facts: dict[str, str], sections: dict[str, pd.DataFrame],
    importance: MeasuredImportance, notes: tuple[str, ...] = (),
) -> Summary:  # fmt: skip
    """Return the summary of a fit: its data and importances, and what else there is.

    The `notes` are above those on importances and missing values.
    """
    return Summary(
        f"{name}: {fit.kind}", fit.call, data_facts(fit) | facts,
        sections | importance_section(importance),
        (*notes, *importance.notes, *missing_notes(fit)),
    )  # fmt: skip


def growth_summary(
    name: str, fit: Fit, scores: dict[str, str], confusion: dict[str, pd.DataFrame],
    importance: MeasuredImportance,
) -> Summary:  # fmt: skip
    """Return the summary of grown trees; `confusion`: matrices by the rows they are of."""
    facts = {**_updates(fit), **scores, **_growth_facts(fit)}
    surrogates, further = surrogates_section(fit.forest, fit.design)
    sections, notes = {}, []
    for rows, table in confusion.items():
        if len(table) > MAX_CLASSES:
            notes.append(f"The confusion matrix of {len(table)} classes: see confusion_matrix.")
        else:
            sections[f"Confusion matrix ({rows}; observed down, predicted across)"] = table
    if fit.blend is not None:
        sections["Kinds of trees"] = kinds_table(fit.blend, fit.kinds)
    summary = fit_summary(name, fit, facts, sections, importance, (*notes, *further))
    notes = list(summary.notes)
    if fit.pruning is not None and fit.pruning.choice is not None:
        notes.append(CHOSEN_OUT_OF_BAG)
    if fit.forest.n_trees == 1 and fit.pruning is not None and fit.forest.leaves()[0] == 1:
        grown = int(fit.pruning.grown.forest.leaves()[0])
        if grown > 1:
            notes.append(ONE_LEAF.format(grown=grown))
    if fit.blend is not None:
        notes += kinds_notes(fit)
    return replace(summary, sections=summary.sections | surrogates, notes=tuple(notes))


def _tree_scores(fit: Fit, fitted: NDArray[np.float64]) -> dict[str, str]:
    error = mean_loss(fit, fitted)
    if fit.kind == "classification":
        ranks = _rank_score(fit, fitted, "training")
        return {**training_score(error, None), **ranks}
    explained = r_squared(fit, error)
    return {**training_score(error, explained), "Training R²": f"{explained:.3f}"}


def held_out_scores(fit: Fit, path: PruningPath[Any] | None) -> dict[str, str]:
    """Return the error of the tree on the rows that were held out for its path, if any were.

    If these rows chose the tree, the error is that of trees which the other folds choose: the
    smallest error of a path is too small.
    """
    if path is None or not path.is_evaluated:
        return {}
    of_size = path.table[path.table["leaves"] == fit.forest.leaves()[0]]
    if of_size.empty:
        return {}
    share, std_error = of_size[["xerror", "xstd"]].iloc[0]
    by, nested = path.by, path.subtrees.nested
    for choice in CHOICES if nested else ():
        if path.row(choice) == of_size.index[0]:
            share, std_error = nested[choice]
            by = f"nested {path.by}"
            break
    root = root_error(fit) or 1.0
    error, explained = HELD_OUT[fit.kind]
    words = f"{number(share * root)} (SE {number(std_error * root)}; {by})"
    of_root = {f"Held-out {explained}": f"{explained_part(share, 1.0):.3f}"} if explained else {}
    return {f"Held-out {error}": words, **of_root}


def with_error(words: str, std_error: float | None, digits: int | None = None) -> str:
    """Return a score in words with its standard error, if that is known and not 0."""
    if std_error is None or not std_error > 0:
        return words
    return f"{words} (SE {number(std_error) if digits is None else f'{std_error:.{digits}f}'})"


def error_scores(scores: OutOfBagScores) -> dict[str, str]:
    """Return the out-of-bag error in words, with its standard error where that is known."""
    if np.isnan(scores.error):
        return {"OOB error": NOT_JUDGED}
    error = with_error(number(scores.error), scores.std_error)
    if scores.r_squared is None:
        return {"OOB error rate": error}
    explained = with_error(f"{scores.r_squared:.3f}", scores.std_error_of_r_squared, 3)
    return {"OOB MSE": error, "OOB R²": explained}


def _forest_scores(fit: Fit, out_of_bag: OutOfBag | None) -> dict[str, str]:
    if out_of_bag is None:
        why = 'resample="none"' if fit.control.resample == "none" else "every tree samples all rows"
        return {"OOB error": f"unknown ({why})"}
    scores = out_of_bag_scores(fit, out_of_bag.value)
    ranks = fit.kind == "classification" and not np.isnan(scores.error)
    return error_scores(scores) | (_rank_score(fit, out_of_bag.value, "OOB") if ranks else {})


def _rank_score(fit: Fit, value: NDArray[np.float64], rows: str) -> dict[str, str]:
    """Return the mean rank error for three or more ordered classes; `rows` names the rows."""
    if not fit.design.response.ordinal:
        return {}
    return {f"Mean rank error ({rows})": number(mean_rank_error(fit, value))}


def data_facts(fit: AnyFit) -> dict[str, str]:
    """Return the facts about response, rows and predictors of a fit."""
    response = fit.design.response
    ordered = "ordered " if response.ordered else ""
    classes = "" if response.classes is None else f" ({len(response.classes)} {ordered}classes)"
    return {
        "Response": f"{response.in_words}{classes}",
        "Rows": rows_in_words(fit),
        **_structure(fit),
        **weights_in_words(fit),
        "Predictors": predictors_in_words(fit),
    }


def _structure(fit: AnyFit) -> dict[str, str]:
    """Return the numbers of groups, times and strata, and the columns that tell them."""
    structure, facts = None if fit.rows is None else fit.rows.structure, {}
    if structure is None:
        return {}
    for name, labels in structure.labels.items():
        many = f"{len(labels)} times" if name == "order" else str(len(labels))
        column = structure.columns.get(name)
        facts[name.capitalize()] = many if column is None else f"{many} ({column})"
    return facts


def weights_in_words(fit: AnyFit) -> dict[str, str]:
    """Return the class weights, if there are any; all errors are weighted by them."""
    factors, classes = fit.training.class_weights, fit.design.response.classes
    if factors is None or classes is None:
        return {}
    pairs = zip(classes, factors, strict=True)
    words = [f"{label} {number(float(factor))}" for label, factor in pairs]
    more = ", …" if len(words) > MAX_CLASSES else ""
    return {"Class weights": f"{', '.join(words[:MAX_CLASSES])}{more} (in all errors, too)"}


def _updates(fit: Fit) -> dict[str, str]:
    """Return the number of rows added by updates, if any, and the effect of the last update."""
    changes = fit.changes
    if changes is None:
        return {}
    times, rows = fit.rows_added
    added = f"{quantity(rows, 'row')} added"
    if times > 1:
        added += f" in {times} batches, by the last"
    leaves = [f"{changes[name].mean():.4g}" for name in ("leaves_before", "leaves")]
    return {"Updated": f"{added}: leaves {leaves[0]} to {leaves[1]}"}


def rows_in_words(fit: AnyFit) -> str:
    """Return how many training rows a fit has, and how many were dropped for missing values."""
    dropped, response = fit.training.n_dropped, fit.design.response
    if response.imitated and response.classes is not None:
        return f"{fit.training.n_rows}, one for each class of a row, weighted by its probability"
    of = 0 if fit.rows is None else fit.rows.sampled_from
    sampled = f", a random sample of {of}" if of else ""
    return f"{fit.training.n_rows}{sampled}" + (f" ({dropped} dropped)" if dropped else "")


def predictors_in_words(fit: AnyFit) -> str:
    """Return how many predictors a fit has, and how many columns if these are not as many."""
    p, columns = len(fit.design.predictors), len(fit.design.columns)
    return f"{p}" + (f" ({columns} columns)" if columns != p else "")


def _known(facts: dict[str, str | None]) -> dict[str, str]:
    """Return the facts that there is something to say of."""
    return {name: words for name, words in facts.items() if words is not None}


def _growth_facts(fit: Fit) -> dict[str, str]:
    control, forest, cuts = fit.control, fit.forest, fit.control.n_thresholds
    depth, leaves = forest.depth(), forest.leaves()
    most, t_n = control.max_leaves, rule_in_words(control.max_leaves_rule, fit.training.n_rows)
    rows = fit.rows
    groups = None if rows is None or rows.structure is None else rows.structure.groups
    constant = control.leaves == "constant"
    scale = IN_WORDS.get(control.split_scale)
    by_rows = " (out-of-bag rows chose this scale)" if fit.scale_errors else ""
    facts: dict[str, str | None] = {
        "Leaves predict": None
        if constant
        else "a line, at most 5 % beyond the range of their rows",
        "Criterion": _by_kind(fit, lambda kind: kind.criterion.replace("_", " ")),
        "Splits about": f"cause {control.cause}" if control.cause else None,
        "Splits chosen on": f"{scale}{by_rows}" if scale else None,
        "Penalty": str(control.penalty).upper()
        if control.penalty
        else "none"
        if constant
        else None,
        "Resampling": _by_kind(fit, partial(_resampling, "rows" if groups is None else "groups")),
        "Honest": HONEST if control.honest else None,
        "Inference": INFERENCE if control.inference else None,
        "Seed": seeds(fit),
        "Projection": control.mixture.name.replace("_", " ") if constant else "hinges",
        "Subset size q": _subset_size(control) if constant else None,
        "Tried per node": _by_kind(fit, tried) if constant else None,
        "Thresholds": None if fit.kinds or cuts == ALL else f"{cuts} at random",
        "Max. leaves t_n": "no limit" if most is None else f"{most} ({t_n})",
        "Max. depth": "no limit" if control.max_depth is None else str(control.max_depth),
        "Min. leaf": _by_kind(
            fit, partial(_min_leaf, 1.0 if rows is None else rows_a_subject(rows))
        ),
        "Leaves": mean_and_range(leaves),
        "Depth": mean_and_range(np.maximum.reduceat(depth, forest.root[:-1])),
    }
    grown = np.add.reduceat((forest.order > 0).astype(np.int64), forest.root[:-1]) + 1
    if (grown > leaves).any():
        facts["Pruned"] = f"{_cut_by(fit)}from {mean_and_range(grown)} leaves"
    return _known(facts)


def _min_leaf(rows: float, control: ResolvedOptions) -> str:
    """Return the least size of a leaf; where a subject has several `rows`, in subjects too."""
    if rows == 1:
        return str(control.min_leaf)
    return f"{control.min_leaf} rows, as {quantity(round(control.min_leaf / rows), 'subject')} have"


def seeds(fit: Fit | GuidedFit) -> str:
    """Return the seed of a fit, or the seeds of a combined forest, as text."""
    return ", ".join(str(seed) for seed in (fit.control.seed, *fit.further_seeds))


def _subset_size(control: ResolvedOptions | ResolvedBoostingOptions) -> str | None:
    """Return the size of the random subsets that directions are estimated on, if they are."""
    words = str(control.subset_size).replace("random", "random, up to n(node)^0.4")
    return words if control.mixture.on_subsets else None


def _cut_by(fit: Fit) -> str:
    called, alpha, rule = cut_by_call(fit), fit.control.alpha, fit.control.alpha_rule
    words = "" if rule.kind in (NONE, FIXED) else f"({rule_in_words(rule, fit.training.n_rows)})"
    if called is not None:
        alpha = called[1]
        words = "" if alpha is not None and "(alpha=" in called[0] else f"by {called[0]}"
    words = words if alpha is None else f"alpha = {alpha:.4g} {words}".strip()
    return f"{words}, " if words else ""


def _by_kind(fit: Fit, fact: Callable[[ResolvedOptions], str]) -> str:
    """Return a fact if it is the same for all kinds of trees, else "by kind of tree"."""
    facts = {fact(control) for control in fit.kinds.values() or [fit.control]}
    return facts.pop() if len(facts) == 1 else "by kind of tree"


def _resampling(drawn: str, control: ResolvedOptions) -> str:
    if control.resample == "none" or control.sample_fraction == 1:
        of_groups = drawn == "groups" and control.resample != "none"
        return f"{control.resample}{' of the groups' if of_groups else ''}"
    rule = " (rule in n)" if control.sample_fraction_rule.along else ""
    return f"{control.resample} of {100 * control.sample_fraction:.3g}% of the {drawn}{rule}"


def tried(control: ResolvedOptions | ResolvedBoostingOptions) -> str:
    """Return the numbers of single predictors and directions that a node tries, as text."""
    return f"{control.mixture.n_singles} single, {control.mixture.n_directions} oblique"


def mean_and_range(values: NDArray[np.int64]) -> str:
    """Return one number as it is, several as mean and range."""
    if len(values) == 1:
        return str(values[0])
    return f"{values.mean():.1f} ({values.min()} to {values.max()})"


# Rounds of the loss path in the summary.
SHOWN = 6


def loss_path(fit: BoostedFit) -> pd.DataFrame:
    """Return the table `odrf.results.boosted.ODBTResults.loss_path`."""
    boosted = fit.boosted
    path = {"training": boosted.training}
    if len(boosted.held_out):
        path["validation" if fit.held.any() else "out-of-bag"] = boosted.held_out
    return pd.DataFrame(path, index=pd.RangeIndex(len(boosted.training), name="rounds"))


def boosted_summary(
    fit: BoostedFit, fitted: NDArray[np.float64], out_of_bag: NDArray[np.float64] | None,
    importance: MeasuredImportance,
) -> Summary:  # fmt: skip
    """Return the summary of boosted trees.

    `fitted` and `out_of_bag` (n, K) are predictions of the training rows by all runs, and by the
    runs that did not sample a row; the latter None for one run.
    """
    facts = boosted_facts(fit, _score(fit, fitted, out_of_bag))
    return fit_summary(boosted_trees(fit), fit, facts, loss_section(fit), importance)


def boosted_facts(fit: BoostedFit, scores: dict[str, str]) -> dict[str, str]:
    """Return the losses of a fit, its `scores` in words, and its options."""
    control, drawn = fit.control, fit.control.tree_predictors
    l2, share, refit = number(control.l2), control.sample_fraction, control.leaf_values == REFIT
    of_run = control.run_predictors
    all_or = "all" if of_run == len(fit.design.predictors) else str(of_run)
    runs = f"{control.n_runs}, each of a bootstrap sample and {all_or} predictors"
    facts = {
        "Rounds": _rounds(fit),
        "Trees": str(fit.forest.n_trees),
        "Runs": runs if control.n_runs > 1 else None,
        "Leaf values": "refitted with every tree" if refit else None,
        "Learning rate": None if refit else number(control.learning_rate),
        "L2 penalty": l2 if fit.loss.penalised else f"{l2} (no effect)",
        "Rows of a tree": "all" if share == 1 else f"{100 * share:.3g}% at random",
        "Predictors of a tree": None if drawn == of_run else f"{drawn} at random",
        "Offset": (fit.offset.column or "given") if fit.offset.given else None,
        "Projection": control.mixture.name.replace("_", " "),
        "Subset size q": _subset_size(control),
        "Tried per node": tried(control),
        "Max. depth": str(control.max_depth),
        "Max. leaves": None if control.max_leaves is None else f"{control.max_leaves}, best-first",
        "Min. hessian": number(control.min_hessian) if control.min_hessian > 0 else None,
        "Min. leaf": str(control.min_leaf),
        "Leaves": mean_and_range(fit.forest.leaves()),
        "Seed": str(control.seed),
    }
    return {**_losses(fit), **scores, **_known(facts)}


def loss_section(fit: BoostedFit) -> dict[str, pd.DataFrame]:
    """Return the loss path at a few rounds, with the first, the last kept and the last."""
    path = without_rounding(loss_path(fit))
    rounds = evenly_spread(len(path), SHOWN)
    shown = path.loc[sorted({*rounds.tolist(), fit.n_rounds})]
    return {f"Mean loss ({mean_loss_in_words(fit.control.loss)})": shown}


def boosted_card(
    fit: BoostedFit, fitted: NDArray[np.float64], out_of_bag: NDArray[np.float64] | None
) -> Card:
    """Return a short description of boosted trees; arguments as in `boosted_summary`."""
    return card_of_rounds(fit, _rounds(fit), _losses(fit) | _score(fit, fitted, out_of_bag))


def card_of_rounds(
    fit: BoostedFit, rounds: str, scores: dict[str, str], events: dict[str, str] | None = None
) -> Card:
    """Return a short description of boosted trees, whose number of `rounds` is in words."""
    facts = {"Rounds": rounds, "Leaves": mean_and_range(fit.forest.leaves()), **scores}
    title = f"{boosted_trees(fit)}, {loss_in_words(fit.control.loss)} loss"
    return fit_card(title, fit, facts, events)


def _rounds(fit: BoostedFit) -> str:
    kept, grown = fit.n_rounds, len(loss_path(fit)) - 1
    if fit.control.validation is None:
        return str(kept)
    held = fit.held.sum()
    rows = f"{quantity(held, 'row')} held out" if held else "rows out of bag"
    return f"{kept} of {grown}, by {rows}"


def _losses(fit: BoostedFit) -> dict[str, str]:
    """Return the losses after the last round that is kept; "–" where no row evaluates."""
    last = without_rounding(loss_path(fit)).iloc[fit.n_rounds]
    words = last.map(lambda loss: "–" if np.isnan(loss) else number(loss))
    return {f"{str(name).capitalize()} loss": word for name, word in words.items()}


def _score(
    fit: BoostedFit, fitted: NDArray[np.float64], out_of_bag: NDArray[np.float64] | None
) -> dict[str, str]:
    """Return the errors of the rows that trees grew on, of those held out, and out of bag."""
    error, of_classes = mean_loss(fit, fitted, ~fit.held), fit.kind == "classification"
    scores = training_score(error, None if of_classes else r_squared(fit, error))
    name = "error rate" if of_classes else "MSE"
    if fit.held.any():
        scores[f"Validation {name}"] = number(mean_loss(fit, fitted, fit.held))
    if out_of_bag is not None:
        oob = out_of_bag_scores(fit, out_of_bag)
        missing = {f"OOB {name}": "–"}
        scores |= missing if np.isnan(oob.error) else error_scores(oob)
    return scores


ALL_ROWS = (
    "Every tree uses all rows: no row is out of bag, and the training error is not that of new "
    "rows, which compare() estimates."
)
UNORDERED = "The planes treat ordered classes as unordered."


def guided_summary(
    fit: GuidedFit, fitted: NDArray[np.float64], importance: MeasuredImportance
) -> Summary:
    """Return the summary of a guided forest; `fitted` (n, K): predictions of the training rows."""
    control, guided = fit.control, fit.guided
    facts = {
        **_guided_score(fit, fitted),
        "Trees": str(guided.n_trees),
        "Subspace M": f"{quantity(control.subspace, 'predictor')} ({control.subspace_rule})",
        "Trials": f"{quantity(control.trials, 'plane')} per step",
        "Coefficients": f"uniform on the region's range, from the mean of the {control.origin}",
        "Min. split": str(control.min_split),
        "Seed": seeds(fit),
        "Planes": mean_and_range(guided.n_planes),
        "Inner regions": mean_and_range(guided.n_inner),
        "Leaves": mean_and_range(guided.n_leaves),
        "Regions per plane": f"{guided.n_inner.sum() / max(1, guided.n_planes.sum()):.1f}",
        "Model size": f"{guided.sizes.sum()} numbers",
    }
    notes = (ALL_ROWS, *((UNORDERED,) if fit.design.response.ordered else ()))
    return fit_summary("Guided random forest", fit, facts, {}, importance, notes)


def guided_card(fit: GuidedFit, fitted: NDArray[np.float64]) -> Card:
    """Return a short description of a guided forest; arguments as in `guided_summary`."""
    guided = fit.guided
    facts = {
        "Planes": mean_and_range(guided.n_planes),
        "Leaves": mean_and_range(guided.n_leaves),
        **_guided_score(fit, fitted),
    }
    return fit_card(f"Guided random forest of {quantity(guided.n_trees, 'tree')}", fit, facts)


def _guided_score(fit: GuidedFit, fitted: NDArray[np.float64]) -> dict[str, str]:
    error = mean_loss(fit, fitted)
    return training_score(error, None if fit.kind == "classification" else r_squared(fit, error))
