"""Fits that are continued: with new rows, with more trees, with the trees of another forest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design import Design, TrainingData
from odrf.design.new_rows import rows_of_weight_added, with_more_rows
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.engine.growth.tree_builder import read_by_growth
from odrf.engine.growth.tree_update import Update, Updated, update_trees
from odrf.engine.guided.growth import joined_guided
from odrf.engine.kernel_params import NO_LIMIT
from odrf.engine.numeric import streams
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.fits.blending import Blend, Blended
from odrf.fits.fit import Fit, GuidedFit, grow_guided_trees
from odrf.fits.growing import at_rows, grow_alike, grow_in_kinds, one_kind, settled_at
from odrf.fits.pruning import before_pruning, sized_forest
from odrf.options.guided import ResolvedGuidedOptions
from odrf.options.sizes import RATE, rate_along
from odrf.options.tree import ResolvedOptions
from odrf.projections.mixture import Mixture
from odrf.pruning.growth_stages import ALPHA_RATES
from odrf.public.progress import progress_bar

# Updating a fit: its trees continue to grow on new rows.

# Defaults of `revise`: splits made on fewer rows are made again when enough rows have come.  The
# error of a single tree depends on each split, while a forest averages over many, and revising
# takes time.  A blend saves that of growing pilot trees again.
TREE_REVISED, BLEND_REVISED, FOREST_REVISED = 200, 100, 0
# The text of calls on earlier updates.
UPDATES = re.compile(r"\.update\((newdata(, weights=[^()]*)?|…, [\d,]+ times, [\d,]+ rows)\)$")
CHANGES = (
    "drawn", "leaves_before", "withdrawn", "revisited", "split", "leaves", "depth_before", "depth",
)  # fmt: skip


def updated_fit(
    fit: Fit,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None,
    revise: str | int,
    same_alpha: bool,
    n_jobs: int,
    progress: bool,
    sized: Callable[[Fit], Fit],
) -> Fit:
    """Return the fit updated with the rows of `newdata`.

    The arguments are those of `odrf.results.updates.Updatable.update`; `same_alpha` keeps the α
    that was chosen last. `sized` prunes the result if the options of the fit have pruned it.  Rows
    of weight 0 are not added; without others the fit is as it was.  Raises `InputError` if the
    rows, or a function of n, are invalid, or if the trees have been pruned by `prune`.
    """
    if fit.design.response.imitated:
        raise InputError(
            "update() cannot update a tree that imitates another fit: update that fit, and take "
            "its surrogate() again"
        )
    unpruned = before_pruning(fit, "update() cannot update a fit")
    _require_whole(unpruned)
    added, weights = rows_of_weight_added(fit.design, newdata, weights)
    if len(added) == 0 and len(newdata):
        return fit
    revised = _revised(fit) if isinstance(revise, str) else revise
    data = with_more_rows(fit.design, fit.data, added, weights)
    grown = _grown_on(unpruned, data, revised, n_jobs, progress)
    grown = replace(grown, call=_called(fit.call, weights, *grown.rows_added))
    if unpruned is fit:
        return grown
    if not same_alpha or not grown.control.alpha_rule.needs_search:
        return sized(grown)
    n = len(grown.data.y)
    smaller = sized(replace(grown, control=_with_known_alpha(grown.control, fit.control, n)))
    # the next update may choose α again: the trees before pruning do not have it
    pruning = smaller.pruning
    return smaller if pruning is None else replace(smaller, pruning=replace(pruning, grown=grown))


def _grown_on(fit: Fit, data: TrainingData, revised: int, n_jobs: int, progress: bool) -> Fit:
    """Return the fit with its trees grown on the rows of `data`, old and new."""
    before, n = len(fit.data.y), len(data.y)
    control = at_rows(fit.control, fit.request, before, n)
    kinds = {name: at_rows(kind, fit.request, before, n) for name, kind in fit.kinds.items()}
    updated = _updated(fit, data, control, kinds, revised, n_jobs, progress)
    return replace(
        fit,
        training=data,
        control=control,
        kinds=kinds,
        forest=joined((one.tree for one in updated), len(updated)),
        n_at_split=np.concatenate([one.n_at_split for one in updated]),
        request=settled_at(fit.request, control),
        changes=_changes(updated),
    )


def _called(call: str, weights: str | ArrayLike | None, times: int, rows: int) -> str:
    """Return the call of a fit that has been updated so many times, with so many rows in all."""
    if times > 1:
        return f"{UPDATES.sub('', call)}.update(…, {times:,} times, {rows:,} rows)"
    if weights is None:
        return f"{call}.update(newdata)"
    column = repr(weights) if isinstance(weights, str) else "…"
    return f"{call}.update(newdata, weights={column})"


def _with_known_alpha(control: ResolvedOptions, chosen: ResolvedOptions, n: int) -> ResolvedOptions:
    """Return the options with the α that `chosen` has; by a rate, with its constant at n rows."""
    alpha, rule = chosen.alpha, chosen.alpha_rule.kept()
    if rule.kind == RATE and rule.constant is not None:
        rate = ALPHA_RATES[rule.name]
        alpha = rule.constant * rate(n)
        rule = replace(rule, along=rate_along(rule.constant, rate, n))
    return replace(control, alpha=alpha, alpha_rule=rule)


def _revised(fit: Fit) -> int:
    """Return the default of `revise` for this fit."""
    if fit.blend is not None:
        return BLEND_REVISED
    return TREE_REVISED if fit.control.is_single_tree else FOREST_REVISED


def _require_whole(fit: Fit) -> None:
    """Raise `InputError` if a tree was pruned, because its leaves would be split again at once."""
    by_rate = fit.control.max_leaves_rule.kind == RATE
    if not by_rate and (fit.forest.order[fit.forest.left < 0] > 0).any():
        raise InputError(
            "update() cannot update trees that have been pruned: update the fit before pruning, "
            "and prune the result"
        )


def _updated(
    fit: Fit,
    data: TrainingData,
    control: ResolvedOptions,
    kinds: dict[str, ResolvedOptions],
    revised: int,
    n_jobs: int,
    progress: bool,
) -> list[Updated]:
    """Update the trees of each kind; return them in the order of the forest."""
    pairs = [(fit.control, control)]
    of_tree: NDArray[np.int64] = np.zeros(fit.forest.n_trees, dtype=np.int64)
    if fit.blend is not None:
        pairs = [(fit.kinds[name], kinds[name]) for name in kinds]
        of_tree = fit.blend.of_tree
    n_at_split = fit.forest.count if fit.n_at_split is None else fit.n_at_split
    by_number: dict[int, Updated] = {}
    with progress_bar(total=len(of_tree), unit="tree", progress=progress) as bar:
        for g, (old, new) in enumerate(pairs):
            numbers = np.flatnonzero(of_tree == g).tolist()
            update = Update(
                *read_by_growth(data.X, fit.design.feature_groups, new.mixture),
                data.y,
                data.weights,
                fit.design.feature_groups,
                new.sampling,
                new.settings,
                new.mixture,
                NO_LIMIT if old.max_leaves is None else old.max_leaves,
                revised,
                data.codes,
            )
            trees = [
                (fit.forest.tree(b), n_at_split[slice(*fit.forest.root[b : b + 2])])
                for b in numbers
            ]
            updated = update_trees(trees, update, fit.streams[numbers], n_jobs, bar.update)
            by_number |= dict(zip(numbers, updated, strict=True))
    return [by_number[b] for b in range(len(of_tree))]


def _changes(updated: Sequence[Updated]) -> pd.DataFrame:
    """Return what has changed, one row for each tree."""
    rows = [{name: getattr(one, name) for name in CHANGES} for one in updated]
    return pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="tree"))


# What two forests must share to be combined.


def require_combinable(first: Fit | GuidedFit, second: Fit | GuidedFit) -> None:
    """Raise `InputError` unless the trees of both can make one forest.

    That is, if the forests differ, or share trees.  The message names the first difference.
    """
    for what, why in _differences(first, second):
        raise InputError(f"combine(): the forests differ in {what}: {why}")
    shared = set(map(tuple, first.streams.tolist())) & set(map(tuple, second.streams.tolist()))
    if shared:
        raise InputError(
            f"combine(): {len(shared)} random streams are in both forests, so that trees would "
            "count twice: fit the other forest with another seed=, or use grow() for more trees"
        )


def _differences(first: Fit | GuidedFit, second: Fit | GuidedFit) -> Iterator[tuple[str, str]]:
    """Yield each difference, and why it matters."""
    yield from _of_designs(first.design, second.design)
    yield from _of_rows(first.design, first.data, second.design, second.data)
    if isinstance(first, Fit) and isinstance(second, Fit):
        batches = first.control.batches, second.control.batches
        if batches[0] != batches[1]:
            numbers = " and ".join(str([batch.begin for batch in of_fit]) for of_fit in batches)
            yield (
                f"the rows at which the batches of update() begin, {numbers}",
                "each tree samples its rows batch by batch; update both with the same batches",
            )
    why = (
        "a combined forest has one set of options, for its summary, its theory and forests grown "
        "again from it; use the mean of their predictions instead"
    )
    for what in _of_options(first, second):
        yield what, why


def _of_designs(first: Design, second: Design) -> Iterator[tuple[str, str]]:
    a, b = first.response, second.response
    why = "trees of different responses have no common prediction"
    if a.name != b.name:
        yield f"their response, {a.name!r} and {b.name!r}", why
    if a.kind != b.kind:
        yield f"their kind, {a.kind} and {b.kind}", why
    if a.classes is not None and b.classes is not None and list(a.classes) != list(b.classes):
        yield f"the classes of {a.name!r}, {list(a.classes)} and {list(b.classes)}", why
    why = "both forests must have the same columns; use the same formula and data"
    if first.predictors != second.predictors:
        yield f"their predictors, {_name_difference(first.predictors, second.predictors)}", why
    if first.columns != second.columns:
        yield f"their columns, {_name_difference(first.columns, second.columns)}", why
    if first.types.tolist() != second.types.tolist():
        yield "how their predictors become columns", why
    if first.missing != second.missing:
        words = f"missing=, {first.missing!r} and {second.missing!r}"
        yield words, "only one of them predicts rows with missing values; use the same missing="
    if first.unseen != second.unseen:
        words = f"unseen=, {first.unseen!r} and {second.unseen!r}"
        yield words, "only one of them predicts rows with new levels; use the same unseen="


def _name_difference(first: Sequence[str], second: Sequence[str]) -> str:
    """Return a name that only one of the two has, or that their order differs, in words."""
    for place, names, others in (("first", first, second), ("second", second, first)):
        alone = [name for name in names if name not in set(others)]
        if alone:
            return f"{alone[0]!r} being in the {place} only"
    return "which come in another order"


def _of_rows(
    first: Design, rows: TrainingData, second: Design, others: TrainingData
) -> Iterator[tuple[str, str]]:
    why = "out-of-bag results need all trees on the same training rows"
    if len(rows.y) != len(others.y):
        yield f"their number of rows, {len(rows.y)} and {len(others.y)}", why
        return
    if not np.array_equal(rows.y, others.y):
        name = first.response.name
        yield f"the values of the response {name!r} in {_where(rows.y != others.y)}", why
    for j, column in enumerate(first.columns):
        if (first.scaling.low[j], first.scaling.range[j]) != (
            second.scaling.low[j],
            second.scaling.range[j],
        ):
            yield f"the range of {column!r}, by which it is scaled", why
        if not np.array_equal(rows.X[j], others.X[j]):
            yield f"the values of {column!r} in {_where(rows.X[j] != others.X[j])}", why
    if not np.array_equal(rows.weights, others.weights):
        yield f"their case weights in {_where(rows.weights != others.weights)}", why
    for name in STRUCTURE_ARGUMENTS:
        one, other = (getattr(each.structure, name, None) for each in (rows, others))
        if one is None or other is None:
            if one is not other:
                yield f"{name}=, which only one of them has", why
        elif not np.array_equal(one, other):
            yield f"{name}= in {_where(one != other)}", why


def _where(differs: NDArray[np.bool_]) -> str:
    more = int(differs.sum()) - 1
    return f"row {int(np.argmax(differs))}" + (f" and {more} more" if more else "")


def _of_options(first: Fit | GuidedFit, second: Fit | GuidedFit) -> Iterator[str]:
    pairs: list[
        tuple[str, ResolvedOptions | ResolvedGuidedOptions, ResolvedOptions | ResolvedGuidedOptions]
    ]
    pairs = [("", first.control, second.control)]
    if isinstance(first, Fit) and isinstance(second, Fit):
        if (first.blend is None) != (second.blend is None):
            yield f"blend=, {first.blend is not None} and {second.blend is not None}"
        elif list(first.kinds) != list(second.kinds):
            yield f"their kinds of trees, {list(first.kinds)} and {list(second.kinds)}"
        pairs += [
            (f" of kind {name!r}", control, second.kinds[name])
            for name, control in first.kinds.items()
        ]
    for of_kind, a, b in pairs:
        for (name, value), (_, other) in zip(a.compared(), b.compared(), strict=True):
            if value != other:
                yield f"{name}={of_kind}, {_shown(value)} and {_shown(other)}"


def _shown(value: object) -> str:
    if isinstance(value, Mixture):
        return " with ".join(f"{number} of {family!r}" for family, number in value.shares)
    return repr(value)


# Combining the trees of two forests into one forest.


def combined_fits(fit: Fit, other: Fit) -> Fit:
    """Return a forest of the trees of both; if their options pruned them, it is pruned alike."""
    first = before_pruning(fit, "combine() cannot take a forest")
    second = before_pruning(other, "combine() cannot take a forest")
    require_combinable(first, second)
    both = _combined(first, second)
    return both if first is fit else sized_forest(both)


def combined_guided_fits(fit: GuidedFit, other: GuidedFit) -> GuidedFit:
    """Return a guided forest of the trees of both."""
    require_combinable(fit, other)
    return replace(
        fit,
        call=f"{fit.call}.combine({other.call})",
        control=replace(fit.control, n_trees=fit.control.n_trees + other.control.n_trees),
        guided=joined_guided([fit.guided, other.guided], 2),
        streams=np.concatenate([fit.streams, other.streams]),
        further_seeds=(*fit.further_seeds, other.control.seed, *other.further_seeds),
    )


def _combined(fit: Fit, other: Fit) -> Fit:
    n_trees, changes, n_at_split = fit.control.n_trees + other.control.n_trees, None, None
    if fit.changes is not None and other.changes is not None:
        changes = pd.concat([fit.changes, other.changes], ignore_index=True).rename_axis("tree")
    if fit.n_at_split is not None and other.n_at_split is not None:
        n_at_split = np.concatenate([fit.n_at_split, other.n_at_split])
    both = replace(
        fit,
        call=f"{fit.call}.combine({other.call})",
        control=fit.control.with_trees(n_trees),
        forest=joined([fit.forest, other.forest], 2),
        streams=np.concatenate([fit.streams, other.streams]),
        request=replace(fit.request, n_trees=n_trees),
        further_seeds=(*fit.further_seeds, other.control.seed, *other.further_seeds),
        changes=changes,
        n_at_split=n_at_split,
    )
    if fit.blend is None or other.blend is None:
        return both
    kinds = {name: control.with_trees(n_trees) for name, control in fit.kinds.items()}
    return replace(both, blend=_both_blends(fit.blend, other.blend), kinds=kinds)


def _both_blends(first: Blend, second: Blend) -> Blend:
    """Return the blend of both; weights and errors are means, weighted by numbers of trees."""
    sizes = [len(first.of_tree), len(second.of_tree)]

    def mean(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.average([a, b], axis=0, weights=sizes)

    return Blend(
        np.concatenate([first.of_tree, second.of_tree]),
        mean(first.weights, second.weights),
        mean(first.errors, second.errors),
    )


# Adding trees to a forest: those that the same call with a larger `n_trees` would have grown.


def enlarged_fit(fit: Fit, k: int, n_jobs: int, progress: bool) -> Fit:
    """Return the forest with `k` more trees; if its options pruned it, it is pruned again."""
    unpruned = before_pruning(fit, "grow() cannot enlarge a forest")
    larger = _enlarged(unpruned, k, n_jobs, progress)
    return larger if unpruned is fit else sized_forest(larger)


def enlarged_guided_fit(fit: GuidedFit, k: int, n_jobs: int, progress: bool) -> GuidedFit:
    """Return the guided forest with `k` more trees."""
    _require_one_seed(fit)
    B = fit.control.n_trees
    control = replace(fit.control, n_trees=B + k)
    tree_streams = streams(control.seed, B, B + k)
    more = grow_guided_trees(fit.design, fit.data, control, tree_streams, n_jobs, progress)
    return replace(
        fit,
        call=f"{fit.call}.grow({k})",
        control=control,
        guided=joined_guided([fit.guided, more], 2),
        streams=np.concatenate([fit.streams, tree_streams]),
    )


def _enlarged(fit: Fit, k: int, n_jobs: int, progress: bool) -> Fit:
    _require_one_seed(fit)
    if fit.control.batches:
        raise InputError(
            "grow() adds trees as if all had been grown at once, but update() has added rows to "
            "these: grow() the forest first, then update() it"
        )
    request = replace(fit.request, n_trees=fit.control.n_trees + k)
    fit = replace(fit, call=f"{fit.call}.grow({k})", request=request)
    if fit.blend is not None:
        n_trees = fit.control.n_trees + k
        kinds = {name: control.with_trees(n_trees) for name, control in fit.kinds.items()}
        start = Blended(fit.forest, fit.streams, fit.blend)
        grown = grow_in_kinds(
            fit.design, fit.data, list(kinds.values()), n_jobs, progress, start,
            fit.request.objective,
        )  # fmt: skip
        return replace(
            fit, control=fit.control.with_trees(n_trees), forest=grown.forest,
            streams=grown.streams, blend=grown.blend, kinds=kinds,
        )  # fmt: skip
    B = fit.control.n_trees
    control = fit.control.with_trees(B + k)
    # a forest of one tree tries more single predictors at a node: its tree is grown again
    first = 0 if B == 1 else B
    if first == 0:
        control = replace(control, mixture=one_kind(fit.request, fit.design, fit.data).mixture)
    tree_streams = streams(control.seed, 0, B + k)
    more = grow_alike(fit.design, fit.data, control, tree_streams[first:], n_jobs, progress)
    forest = more if first == 0 else joined([fit.forest, more], 2)
    return replace(fit, control=control, forest=forest, streams=tree_streams)


def _require_one_seed(fit: Fit | GuidedFit) -> None:
    if fit.further_seeds:
        raise InputError(
            "grow() cannot enlarge a forest that combine() made of several seeds: grow the "
            "forests that it was made of, and combine these"
        )
