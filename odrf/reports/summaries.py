"""What summaries and cards say of a tree or a forest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.routing import predict
from odrf.options.boosting_control import BoostingControl
from odrf.options.control import Control
from odrf.options.sizes import FIXED, NONE
from odrf.reports.kinds_table import kinds_table
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from odrf.fits.fit import Fit
    from odrf.fits.guided_fit import GuidedFit
    from odrf.results.base import TreeResults
    from odrf.results.fitted import FittedResults
    from odrf.results.forest import ODRFResults
    from odrf.results.tree import ODTResults

__all__ = [
    "REMOVED",
    "card",
    "data_facts",
    "forest_card",
    "forest_summary",
    "importance_section",
    "mean_and_range",
    "missing_notes",
    "seeds",
    "subset_size",
    "tree_card",
    "tree_summary",
    "tried",
]

MAX_CLASSES = 10
TOP = 10
TIMED_ROWS = 10_000
REMOVED = "impurity removed"
HONEST = "half of a tree's rows shape it, the others fill its nodes"


def tree_summary(tree: ODTResults) -> Summary:
    """Summarise a tree: data, training error, growth, importances."""
    confusion = {} if tree.classes is None else {"training rows": tree.confusion_matrix}
    return _summary("Oblique decision tree", tree, _tree_scores(tree), confusion)


def forest_summary(forest: ODRFResults) -> Summary:
    """Summarise a forest: data, out-of-bag error, growth, importances."""
    facts = {"Trees": str(forest.forest.n_trees), **_forest_scores(forest)}
    if forest.parent is not None:
        now, before = _prediction_ms(forest), _prediction_ms(forest.parent)
        facts["Prediction"] = f"{now:.3g} ms for {_timed(forest)} rows, unpruned {before:.3g}"
    confusion = {}
    if forest.classes is not None and forest.control.resample != "none":
        confusion["out of bag"] = forest.confusion_matrix
    return _summary("Oblique random forest", forest, facts, confusion)


def tree_card(tree: ODTResults) -> str:
    """Describe a tree in a few lines."""
    return _card("Oblique decision tree", tree, _tree_scores(tree))


def forest_card(forest: ODRFResults) -> str:
    """Describe a forest in a few lines."""
    name = f"Oblique random forest of {forest.forest.n_trees} trees"
    return _card(name, forest, _forest_scores(forest))


def _card(name: str, results: TreeResults, scores: dict[str, str]) -> str:
    facts = {
        "Formula": results.formula,
        "Rows": _rows(results),
        "Predictors": _predictors(results),
        "Leaves": _leaves(results),
        **scores,
    }
    return card(f"{name}: {results.kind}", facts)


def card(head: str, facts: Mapping[str, str]) -> str:
    """Write facts below each other under a head."""
    width = max(map(len, facts))
    return "\n".join([head, *(f"  {key:<{width}}  {value}" for key, value in facts.items())])


def importance_section(results: FittedResults, words: str) -> dict[str, pd.DataFrame]:
    """Return the largest importances by a title: what they are in `words`, and how many."""
    importance = results.importance()
    few = f", first {TOP} of {len(importance)} predictors" if len(importance) > TOP else ""
    return {f"Importance ({words}{few})": importance.head(TOP)}


def _summary(
    name: str,
    results: TreeResults,
    scores: dict[str, str],
    confusion: dict[str, pd.DataFrame],
) -> Summary:
    facts = {**data_facts(results), **_updates(results), **scores, **_growth_facts(results)}
    sections, notes = {}, []
    for rows, table in confusion.items():
        if len(table) > MAX_CLASSES:
            notes.append(f"The confusion matrix of {len(table)} classes: see confusion_matrix.")
        else:
            sections[f"Confusion matrix ({rows}; observed down, predicted across)"] = table
    if results.fit.blend is not None:
        sections["Kinds of trees"] = kinds_table(results.fit.blend, results.fit.kinds)
    sections |= importance_section(results, REMOVED)
    notes += missing_notes(results)
    return Summary(f"{name}: {results.kind}", results.call, facts, sections, tuple(notes))


def missing_notes(results: FittedResults) -> list[str]:
    """Return what there is to say of rows that were left out."""
    counts = results.fit.data.missing_columns.items()
    columns = ", ".join(f"{column} {count}" for column, count in counts)
    return [f"Missing values in the rows dropped: {columns}."] if columns else []


def _tree_scores(tree: ODTResults) -> dict[str, str]:
    if tree.kind == "classification":
        return {
            "Training error rate": number(tree.training_error),
            **_rank_score(tree, "training"),
        }
    return {
        "Training MSE": number(tree.training_error),
        "Training R²": f"{tree.r_squared:.3f}",
    }


def _forest_scores(forest: ODRFResults) -> dict[str, str]:
    if forest.control.resample == "none":
        return {"OOB error": 'unknown (resample="none")'}
    if forest.kind == "classification":
        return {"OOB error rate": number(forest.oob_error), **_rank_score(forest, "OOB")}
    return {"OOB MSE": number(forest.oob_error), "OOB R²": f"{forest.r_squared:.3f}"}


def _rank_score(results: TreeResults, rows: str) -> dict[str, str]:
    """Say how many ranks predicted classes are off, of three or more ordered ones."""
    if not results.design.response.ordinal:
        return {}
    return {f"Mean rank error ({rows})": number(results.mean_rank_error)}


def _timed(forest: ODRFResults) -> int:
    return min(forest.nobs, TIMED_ROWS)


def _prediction_ms(forest: ODRFResults) -> float:
    """Return the milliseconds that predicting the first training rows takes, at best of three."""
    X = np.ascontiguousarray(forest.fit.data.X[:, : _timed(forest)])

    def seconds() -> float:
        start = perf_counter()
        predict(forest.forest, X, 1)
        return perf_counter() - start

    seconds()  # the first call packs the trees
    return 1000 * min(seconds() for _ in range(3))


def data_facts(results: FittedResults) -> dict[str, str]:
    """Return response, rows and predictors of a fit in words."""
    response = results.design.response
    ordered = "ordered " if response.ordered else ""
    classes = "" if response.classes is None else f" ({len(response.classes)} {ordered}classes)"
    return {
        "Response": f"{response.name}{classes}",
        "Rows": _rows(results),
        **_class_weights(results),
        "Predictors": _predictors(results),
    }


def _class_weights(results: FittedResults) -> dict[str, str]:
    """Say what the classes were weighed by, and that errors are those of the weighed rows."""
    factors, classes = results.fit.data.class_weights, results.classes
    if factors is None or classes is None:
        return {}
    pairs = zip(classes, factors, strict=True)
    words = [f"{label} {number(float(factor))}" for label, factor in pairs]
    more = ", …" if len(words) > MAX_CLASSES else ""
    return {"Class weights": f"{', '.join(words[:MAX_CLASSES])}{more} (in all errors, too)"}


def _updates(results: TreeResults) -> dict[str, str]:
    """Return how many rows were added, where any were, and what the last of them did."""
    changes, batches = results.fit.changes, results.control.batches
    if changes is None:
        return {}
    last = results.nobs - batches[-1].begin
    several = f"{results.nobs - batches[0].begin} rows added in {len(batches)} batches, by the last"
    one = f"{last} rows added"
    leaves = [f"{changes[name].mean():.4g}" for name in ("leaves_before", "leaves")]
    words = one if len(batches) == 1 else several
    return {"Updated": f"{words}: leaves {leaves[0]} to {leaves[1]}"}


def _rows(results: FittedResults) -> str:
    dropped = results.fit.data.n_dropped
    return f"{results.nobs}" + (f" ({dropped} dropped)" if dropped else "")


def _predictors(results: FittedResults) -> str:
    p, columns = len(results.design.predictors), len(results.design.columns)
    return f"{p}" + (f" ({columns} columns)" if columns != p else "")


def _growth_facts(results: TreeResults) -> dict[str, str]:
    control, forest = results.control, results.forest
    facts = {
        "Criterion": _by_kind(results, _criterion),
        "Penalty": str(control.penalty).upper() if control.penalty else "none",
        "Resampling": _by_kind(results, _resampling),
        **({"Honest": HONEST} if control.honest else {}),
        "Seed": seeds(results.fit),
        "Projection": control.mixture.name.replace("_", " "),
        **subset_size(control),
        "Tried per node": _by_kind(results, tried),
        "Max. leaves t_n": _limit(control.max_leaves, control.max_leaves_rule),
        "Max. depth": "no limit" if control.max_depth is None else str(control.max_depth),
        "Min. leaf": _by_kind(results, lambda control: str(control.min_leaf)),
        "Leaves": _leaves(results),
        "Depth": mean_and_range(np.maximum.reduceat(forest.depth(), forest.root[:-1])),
    }
    grown = np.add.reduceat((forest.order > 0).astype(np.int64), forest.root[:-1]) + 1
    if (grown > results.n_leaves).any():
        facts["Pruned"] = f"{_price(control)}from {mean_and_range(grown)} leaves"
    return facts


def seeds(fit: Fit | GuidedFit) -> str:
    """Write the seeds of a fit: of several where forests were combined."""
    return ", ".join(str(seed) for seed in (fit.control.seed, *fit.further_seeds))


def subset_size(control: Control | BoostingControl) -> dict[str, str]:
    """Return how many predictors a direction is estimated on, where it is on a subset."""
    q = control.subset_size
    words = "random, up to n(node)^0.4" if q == "random" else str(q)
    return {"Subset size q": words} if control.mixture.on_subsets else {}


def _price(control: Control) -> str:
    if control.alpha is None:
        return ""
    said = "" if control.alpha_rule in (NONE, FIXED) else f" ({control.alpha_rule})"
    return f"alpha = {control.alpha:.4g}{said}, "


def _limit(max_leaves: int | None, rule: str) -> str:
    return rule if max_leaves is None else f"{max_leaves} ({rule})"


def _by_kind(results: TreeResults, fact: Callable[[Control], str]) -> str:
    """Return what holds for all trees, or that it depends on their kind."""
    facts = {fact(control) for control in results.fit.kinds.values() or [results.control]}
    return facts.pop() if len(facts) == 1 else "by kind of tree"


def _criterion(control: Control) -> str:
    return control.criterion.replace("_", " ")


def _resampling(control: Control) -> str:
    if control.resample == "none" or control.sample_fraction == 1:
        return control.resample
    rule = " (rule in n)" if control.sample_fraction_along else ""
    return f"{control.resample} of {100 * control.sample_fraction:.3g}% of the rows{rule}"


def tried(control: Control | BoostingControl) -> str:
    """Return how many directions a node tries."""
    return f"{control.mixture.n_singles} single, {control.mixture.n_directions} oblique"


def _leaves(results: TreeResults) -> str:
    return mean_and_range(results.n_leaves)


def mean_and_range(values: NDArray[np.int64]) -> str:
    """Write one number as it is, several as mean and range."""
    if len(values) == 1:
        return str(values[0])
    return f"{values.mean():.1f} ({values.min()} to {values.max()})"
