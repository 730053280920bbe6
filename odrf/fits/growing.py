"""Growing the trees of a call: trees of one kind, or a blend of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf import fits
from odrf.checks import AUTO, is_word
from odrf.design import Design, TrainingData
from odrf.design.design import rows_a_subject
from odrf.design.missing import SURROGATE
from odrf.engine import lines
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.factors import beside, with_rows
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.growth.tree_builder import Targets
from odrf.engine.numeric import streams
from odrf.engine.oob import LossIncrease, permutation_loss
from odrf.engine.resamples import SUBSAMPLE, Batch, Draws
from odrf.engine.trees.forest import Forest
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.blending import Blended, Evaluator, Kind, grow_blend, pilot_evidence
from odrf.fits.fit import Fit
from odrf.fits.stacking import mean_products, products_of_trees
from odrf.options import words
from odrf.options.blend import (
    ERROR,
    blends,
    kinds_of_survival_trees,
    kinds_of_trees,
    require_objective,
    with_leaves_for_curves,
)
from odrf.options.criteria import RESPONSE, SPLIT_SCALES, require_split_scale
from odrf.options.options import Options
from odrf.options.sizes import (
    RATE,
    RuleFunction,
    complexity_parameter,
    leaf_limit,
    rate_along,
    row_share,
)
from odrf.options.tree import ResolvedOptions, resolve
from odrf.pruning.growth_stages import LEAF_RATES
from odrf.public.progress import progress_bar

# Pilot trees of one kind are grown on each scale, and evaluated by their out-of-bag rows.
# The squared error of a forest of many such trees is estimated from products of the errors of
# different trees, as in `odrf.fits.stacking`.  Another scale than the response is taken only if its
# error is clearly smaller.
#
# The pilot trees draw few of the rows: they are quickly grown, and nearly every row evaluates pairs
# of them.  The trees of all scales draw the same rows, so that the difference of two scales varies
# little.  Their streams do not depend on the seed of the forest: forests that differ in their seeds
# alone have the same scale, and can be combined.

# Pilot trees of each scale, the share of the rows that each draws, and how many rows at most.
PILOTS, SHARE, MOST_ROWS = 24, 0.5, 5000
# Most validation rows of the pilot trees; more would change little.
EVALUATED_ROWS = 20_000
# A scale whose correlation with the response is larger chooses nearly the same splits.
ALIKE = 0.98
# The scales that are tried.  Ranks lower error on fewest tables
# (``benchmarks/options/split_scales.py``).
TRIED: tuple[words.SplitScale, ...] = ("log", "normal")
# A scale is taken if its error is smaller by so many standard errors of the difference.  Few pilot
# trees hardly ever show a whole one.
STANDARD_ERRORS = 0.5
SEED = 0


def chosen_scale(
    design: Design, data: TrainingData, control: ResolvedOptions
) -> tuple[words.SplitScale, dict[str, float]]:
    """Return the name of the chosen scale, and the errors of all scales that were compared, if any.

    `control` has the options of the pilot trees. A scale much like the response is not compared.
    """
    names = [RESPONSE, *(name for name in TRIED if _may_matter(name, data))]
    if len(names) == 1:
        return RESPONSE, {}
    of_scales, standard_errors = scale_errors(design, data, control, names)
    errors: dict[str, float] = dict(zip(names, of_scales.tolist(), strict=True))
    clearly = of_scales + STANDARD_ERRORS * standard_errors < of_scales[0]
    better = [name for name, is_better in zip(names, clearly, strict=True) if is_better]
    return min(better, key=lambda name: errors[name], default=RESPONSE), errors


def _may_matter(name: words.SplitScale, data: TrainingData) -> bool:
    """Whether splits on this scale may differ much from those on the response."""
    splitting = splitting_response(data.y, data.weights, SPLIT_SCALES[name])
    if splitting is None:
        return False
    covariance = np.cov(data.y, splitting, aweights=data.weights, ddof=0)
    spread = np.sqrt(covariance[0, 0] * covariance[1, 1])
    return bool(spread > 0 and covariance[0, 1] < ALIKE * spread)


def scale_errors(
    design: Design, data: TrainingData, control: ResolvedOptions, names: list[words.SplitScale]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return out-of-bag mean squared errors (S,) of forests on the scales of these names.

    And the standard errors (S,) of their differences from the first, which is the response.
    """
    n = len(data.y)
    sampling = control.sampling._replace(
        resample=SUBSAMPLE, fraction=min(control.sample_fraction, SHARE, MOST_ROWS / n)
    )
    tree_streams = streams(SEED, 0, PILOTS)
    at = np.unique(np.linspace(0, n - 1, min(n, EVALUATED_ROWS)).astype(np.int64))
    X, y = with_rows(data.X, at), data.y[at]
    draws = Draws(data.weights, [sampling] * PILOTS, tree_streams, control.n_jobs, data.codes)
    out_of_bag = np.take(draws.all_unseen(), at, axis=1).T
    values = []
    for name in names:
        settings = control.settings._replace(split_scale=SPLIT_SCALES[name])
        forest = grow_forest(
            data.X, data.y, data.weights, design.feature_groups, sampling, settings,
            control.mixture, tree_streams, control.n_jobs, lambda: None, data.codes,
        )  # fmt: skip
        predicted = forest.value[leaf_nodes(forest, X, control.n_jobs), 0]
        values.append((predicted - y[:, None])[:, :, None])
    groups = None if data.codes is None else data.codes.groups
    units = np.arange(len(at)) if groups is None else groups[at]
    return _compared(values, out_of_bag, data.weights[at], units)


def _compared(
    values: list[NDArray[np.float64]],
    out_of_bag: NDArray[np.bool_],
    weights: NDArray[np.float64],
    units: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the errors by the `values` (m, b, 1), errors of the trees on each scale.

    `out_of_bag` (m, b) are the out-of-bag rows of each tree, `units` (m,) which rows vary together.
    """
    products = products_of_trees(np.stack(values) * out_of_bag[:, :, None])
    errors = np.diag(mean_products(products, [out_of_bag] * len(values), weights)[0])
    n_unseen = out_of_bag.sum(axis=1)
    pairs = weights * (n_unseen * (n_unseen - 1))
    rises = weights * np.array([products[s, s] - products[0, 0] for s in range(len(values))])
    rises -= np.outer(errors - errors[0], pairs)
    squares = [np.square(np.bincount(units, rise)).sum() for rise in rises]
    total = max(pairs.sum(), np.finfo(float).tiny)
    return errors, np.sqrt(squares) / total


# Growing the trees of a call: trees of one kind, or a blend of several kinds.


def grow_fit(
    call: str, design: Design, data: TrainingData, request: Options, progress: bool = False
) -> Fit:
    """Resolve the options of a call for the data, and return the fit of its trees.

    Raises `InputError` if an option is invalid. `call` is text, for summaries.
    """
    blended, classification = blends(request), design.response.kind == "classification"
    require_objective(request.objective, classification, blended)
    require_split_scale(request.split_scale, design.response.kind, blended)
    if not blended:
        control = one_kind(request, design, data)
        tree_streams = streams(control.seed, 0, control.n_trees)
        forest = grow_alike(design, data, control, tree_streams, control.n_jobs, progress)
        return Fit(
            call, design, data, control, forest, tree_streams, _settled(request, control, False)
        )
    kinds, scale_errors = kinds_of_blend(request, design, data)
    controls, objective = list(kinds.values()), request.objective
    grown = grow_in_kinds(
        design, data, controls, controls[0].n_jobs, progress, objective=objective
    )  # fmt: skip
    return Fit(
        call, design, data, controls[0], grown.forest, grown.streams,
        _settled(request, controls[0], True), grown.blend, kinds, scale_errors=scale_errors,
    )  # fmt: skip


def _settled(request: Options, control: ResolvedOptions, blended: bool) -> Options:
    """Return the request with functions and generators replaced by the values they gave.

    Functions may not pickle, and a generator would give another seed the next time.  Whether the
    forest is a blend is fixed, for any number of trees, and so is the scale of its splits.  The
    functions are kept in `Options.functions`, for other numbers of rows.
    """
    changes: dict[str, Any] = {
        "seed": control.seed,
        "n_jobs": control.n_jobs,
        "blend": blended,
        "split_scale": control.split_scale,
    }
    functions = dict(request.functions)
    for name in ("max_leaves", "alpha", "sample_fraction"):
        value = getattr(request, name)
        if callable(value):
            functions[name] = RuleFunction(name, value)
            changes[name] = getattr(control, name)
    return replace(request, functions=functions, **changes)


def one_kind(request: Options, design: Design, data: TrainingData) -> ResolvedOptions:
    """Return the options of a forest whose trees are all of one kind."""
    plain = replace(request, resample="bootstrap") if is_word(request.resample, AUTO) else request
    if data.times is not None:
        plain = with_leaves_for_curves(plain, round(len(data.y) / rows_a_subject(data)))
    return _resolve(plain, design, data)


def targets_of(data: TrainingData, control: ResolvedOptions) -> Targets:
    """Return what the trees of these options are grown on."""
    if data.times is None:
        return Targets(data.y, data.weights)
    return fits.survival.hazards.targets_of_times(data, control)


def evaluator_of_pilots(data: TrainingData, control: ResolvedOptions) -> Evaluator:
    """Return the function that evaluates the pilot trees of a blend with these options."""
    if data.times is None:
        return pilot_evidence
    return fits.survival.blending.EvidenceOfCurves(data.times, data.weights, control.cause)


def grow_alike(
    design: Design,
    data: TrainingData,
    control: ResolvedOptions,
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    progress: bool,
) -> Forest:
    """Grow a tree for each of the streams (B, 4), all of one kind."""
    if control.leaves == "linear":
        return grown_with_lines(design, data, control, data.weights)
    y, weights, _, ranks, case_weights = targets_of(data, control)
    with progress_bar(total=len(tree_streams), unit="tree", progress=progress) as bar:
        return grow_forest(
            data.X, y, weights, design.feature_groups, control.sampling, control.settings,
            control.mixture, tree_streams, n_jobs, bar.update, data.codes, ranks, case_weights,
        )  # fmt: skip


# Leaves of a line have at least so many times the rows of `min_leaf`: a line has two parameters.
ROWS_OF_A_LINE = 3


def grown_with_lines(
    design: Design, data: TrainingData, control: ResolvedOptions, weights: NDArray[np.float64]
) -> Forest:
    """Return the tree of lines of the rows with positive weights (n,)."""
    limits = lines.growth.LineParams(
        ROWS_OF_A_LINE * control.min_leaf, control.settings.max_leaves, control.settings.max_depth
    )
    with compiled_at_ease(lines.hinges.write_hinges):
        return lines.growth.grow_line_tree(data.X, data.y, weights, design.feature_groups, limits)


def grow_in_kinds(
    design: Design,
    data: TrainingData,
    controls: Sequence[ResolvedOptions],
    n_jobs: int,
    progress: bool,
    start: Blended | None = None,
    objective: str = ERROR,
) -> Blended:
    """Grow a blend, from the options `controls` of each kind.

    Each has the number of trees of the whole forest. `start`: a smaller blend of the same options,
    whose trees need not be grown again. The weights of the kinds are chosen for the `objective`.
    """
    kinds = [Kind(control.settings, control.mixture, control.sampling) for control in controls]
    targets, n_trees = targets_of(data, controls[0]), controls[0].n_trees
    with progress_bar(total=n_trees, unit="tree", progress=progress) as bar:

        def expect(n_trees: int) -> None:
            bar.total = n_trees
            bar.refresh()

        return grow_blend(
            data.X, targets.y, targets.weights, design.feature_groups, kinds, controls[0].seed,
            n_trees, n_jobs, bar.update, start, expect, data.codes, objective, targets.ranks,
            evaluator_of_pilots(data, controls[0]),
        )  # fmt: skip


def kinds_of_blend(
    request: Options, design: Design, data: TrainingData
) -> tuple[dict[str, ResolvedOptions], dict[str, float]]:
    """Return the options of each kind of trees of a blend, by its name.

    Also the errors by which the scale of the splits was chosen, if it was.
    """
    response, n, p = design.response, len(data.y), design.n_terms
    if data.times is not None:
        kinds = kinds_of_survival_trees(request, round(n / rows_a_subject(data)), p)
    else:
        classes = response.kind == "classification"
        kinds = kinds_of_trees(request, n, len(design.predictors), p, classes, response.ordinal)
    base = _resolve(next(iter(kinds.values())), design, data)
    scale = request.split_scale
    errors: dict[str, float] = {}
    if is_word(scale, AUTO):
        scale, errors = chosen_scale(design, data, base)
    controls = {
        name: _resolve(replace(kind, seed=base.seed, split_scale=scale), design, data)
        for name, kind in kinds.items()
    }
    return controls, errors


def _resolve(request: Options, design: Design, data: TrainingData) -> ResolvedOptions:
    times = data.times
    return resolve(
        request,
        kind=design.response.kind,
        n=len(data.y),
        P=len(design.predictors),
        p=len(design.columns),
        n_classes=design.response.n_classes,
        ordinal=design.response.ordinal,
        ranges=design.scaling.range,
        grid=design.grid,
        terms=design.n_terms,
        empty=design.of_empty_cells,
        surrogates=design.missing == SURROGATE,
        causes=() if times is None else times.causes,
        truncated=times is not None and times.start is not None,
        rows_a_subject=rows_a_subject(data),
    )


# Growing a forest again with the same options on some of its predictors.

SHADOW_TREES = 100


def refit_on_some(fit: Fit, which: Sequence[int], call: str, progress: bool = False) -> Fit:
    """Grow the forest of a fit again on the predictors with the numbers `which`."""
    design = fit.design.keeping(which)
    data = replace(fit.data, X=fit.data.X[fit.design.recipe.columns_of(which)])
    return grow_fit(call, design, data, _within(fit.request, len(which)), progress)


def refit_beside_shadows(fit: Fit, which: Sequence[int], seed: int) -> Fit:
    """Grow a forest of one kind on the predictors `which` and a permuted copy of each.

    The columns of a predictor are permuted together.  The copies come last, in the same order.
    """
    rng = np.random.default_rng(seed)
    order = [rng.permutation(len(fit.data.y)) for _ in which]
    shadows = [
        with_rows(fit.data.X[fit.design.recipe.columns_of([j])], rows)
        for j, rows in zip(which, order, strict=True)
    ]
    X = beside([fit.data.X[fit.design.recipe.columns_of(which)], *shadows])
    design = fit.design.keeping([*which, *which])
    request = _within(fit.request, len(which))
    plain = replace(request, n_trees=SHADOW_TREES, blend=False, seed=seed, alpha=None)
    return grow_fit("", design, replace(fit.data, X=X), plain)


def permutation_rises(fit: Fit, progress: bool = False) -> LossIncrease:
    """Return by how much each tree's out-of-bag loss increases when a predictor is permuted."""
    data = fit.data
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        return permutation_loss(fit.forest, data.X, data.y, fit.design.first, fit.draws, bar.update)


def _within(request: Options, P: int) -> Options:
    """Return the request with a subset size of at most P predictors."""
    size = request.subset_size
    return request if isinstance(size, str) else replace(request, subset_size=min(size, P))


# The options of a fit that depend on n, evaluated again when rows are added.


def at_rows(control: ResolvedOptions, request: Options, before: int, n: int) -> ResolvedOptions:
    """Return the options of trees on n rows, the first `before` of which are not new.

    The functions of n for t_n, α_n and the share of the rows are evaluated at n.  A rate keeps its
    constant.  Raises `InputError` if a function gives an invalid value, or cannot be restored after
    loading the fit.
    """
    functions = {name: rule.function for name, rule in request.functions.items()}
    fraction = control.batches[-1].fraction if control.batches else control.sample_fraction
    leaf_rule = control.max_leaves_rule
    if "max_leaves" in functions:
        control = control.with_leaves(*leaf_limit(functions["max_leaves"], n, False))
    elif leaf_rule.kind == RATE and leaf_rule.constant is not None:
        along = rate_along(leaf_rule.constant, LEAF_RATES[leaf_rule.name], n)
        control = control.with_leaves(max(1, round(along[0])), replace(leaf_rule, along=along))
    if "alpha" in functions:
        alpha, alpha_rule = complexity_parameter(functions["alpha"], n, False)
        control = replace(control, alpha=alpha, alpha_rule=alpha_rule)
    if "sample_fraction" in functions:
        fraction, _ = row_share(functions["sample_fraction"], n)
    sampling = control.sampling._replace(later=(*control.batches, Batch(before, fraction)))
    return replace(control, sampling=sampling)


def settled_at(request: Options, control: ResolvedOptions) -> Options:
    """Return the request with the values of its functions that `control` has."""
    return replace(request, **{name: getattr(control, name) for name in request.functions})
