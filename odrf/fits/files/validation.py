"""Whether the contents of a file fit together, as kernels, which check nothing, need."""

from __future__ import annotations

import math
import re
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any, Literal, Union

import numpy as np
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design.design import Design, RowCounts, TrainingData
from odrf.design.encoding import Durations, Encoding, Indicators, Moments, Numbers, Ranks
from odrf.design.formula import Expression, Formula, names_in, read_formula
from odrf.design.predictors import Predictors
from odrf.design.ranks import OwnRanks
from odrf.design.response import SURVIVAL
from odrf.design.structure import STRUCTURE_ARGUMENTS, RowStructure
from odrf.design.survival_times import SurvivalTimes
from odrf.design.trusted import UNTRUSTED, untrusted_part
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.factors import EncodedColumns, Matrix, stored
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.splits.surrogates import SurrogateSplits
from odrf.engine.trees.concatenate import OF_NODES, OF_TERMS
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError, without_warnings
from odrf.fits.calibration import Recalibration
from odrf.fits.fit import BoostedFit, Fit, GuidedFit, RowSums, StreamedFit
from odrf.fits.stack.fit import StackedFit, StackedPart, Trial
from odrf.fits.stack.smoothers import KernelSmoother
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.fit import SurvivalFit
from odrf.projections.mixture import Mixture
from odrf.statistics.calibration import Power, Steps
from odrf.statistics.ridge import KERNELS
from odrf.statistics.survival.score_curves import ProportionalHazards


def require_sound_times(times: SurvivalTimes, n: int) -> None:
    """Raise `InputError` unless there is a time and an event for each of n rows."""
    causes = len(times.causes)
    _require(times.time.shape == times.event.shape == (n,) and causes > 0)
    _require(times.event.dtype == np.int64)
    _require(np.isfinite(times.time).all() and (times.time >= 0).all())
    _require(((times.event >= 0) & (times.event <= causes)).all() and times.event.any())
    if times.start is not None:
        _require(times.start.shape == (n,) and (times.start < times.time).all())
        _require((times.start >= 0).all())


def require_sound_survival(fit: SurvivalFit) -> None:
    """Raise `InputError` unless curves are made of steps at known times, which ascend in each."""
    at, (start, rank, hazard, of_cause) = fit.event_times, fit.curves
    _require(at.ndim == 1 and len(at) > 0 and (np.diff(at) > 0).all())
    _require(start.ndim == 1 and len(start) > 1 and start[0] == 0 and start[-1] == len(rank))
    _require((np.diff(start) >= 0).all() and rank.shape == hazard.shape == (len(rank),))
    _require(start.dtype == np.int64 and rank.dtype == np.int32 and hazard.dtype == np.float64)
    _require(((rank > 0) & (rank <= len(at))).all() and ((hazard > 0) & (hazard <= 1)).all())
    causes = len(fit.design.response.causes)
    _require(of_cause.shape == ((len(rank), causes) if causes > 1 else (0, 0)))
    _require((of_cause >= 0).all())
    first = np.zeros(len(rank) + 1, dtype=np.bool_)
    first[start] = True
    _require(((np.diff(rank) > 0) | first[1:-1]).all())
    _require_causes(of_cause, hazard, len(fit.design.response.causes))
    _require(fit.rows is None or fit.rows.times is not None)


def require_curves_of(fit: SurvivalFit, forest: Forest) -> None:
    """Raise `InputError` unless there is a curve for each node of the forest, and its hazard."""
    m, hazards = len(forest.left), fit.hazards
    _require(len(fit.curves.start) == m + 1)
    if hazards is not None:
        of_nodes = hazards.events, hazards.expected, hazards.person_time, hazards.relative
        _require(all(numbers.shape == (m,) for numbers in of_nodes))
        _require(hazards.log_rank.shape == (m,) and (hazards.log_rank >= 0).all())
        causes = 1 if fit.control.cause is not None else len(fit.design.response.causes)
        _require(hazards.of_cause.shape == ((m, causes) if causes > 1 else (0, 0)))
        # older files do not have these two
        _require(hazards.subjects.shape in ((m,), (0,)))
        by_cause = (m, len(fit.design.response.causes))
        _require(hazards.events_of_cause.shape in (by_cause, (0, 0)))


def _require_causes(
    of_cause: NDArray[np.float64], hazard: NDArray[np.float64], n_causes: int
) -> None:
    """Raise `InputError` unless each step is divided among the causes, if there are several."""
    shape = (0, 0) if n_causes == 1 else (len(hazard), n_causes)
    _require(of_cause.shape == shape and of_cause.dtype == np.float64)
    _require(n_causes == 1 or np.allclose(of_cause.sum(axis=1), hazard))


# Nodes whose children are checked in one batch.
NODES = 2**18
KINDS = ("regression", "classification", SURVIVAL)


def require_sound_fit(fit: Fit | GuidedFit | BoostedFit) -> None:
    """Raise `InputError` unless design, rows and options of a fit, not yet trees, fit together."""
    design, rows = fit.design, fit.rows
    _require_design(design)
    p, K, n = len(design.columns), design.response.n_classes, fit.training.n_rows
    _require_training(fit.training, p, K)
    if isinstance(fit, Fit):
        _require(fit.streams.ndim == 2 and fit.streams.shape[1] == 4)
        _require(fit.control.settings.n_classes == K and fit.control.kind in KINDS)
        if fit.blend is not None:
            _require(_within(fit.blend.of_tree, 0, len(fit.kinds)))
            _require(len(fit.blend.of_tree) == len(fit.streams))
        choice = None if fit.pruning is None else fit.pruning.choice
        if choice is not None:
            _require(choice.fold.shape == (n,) and choice.alphas.ndim == 2)
            _require(_within(choice.fold, 0, len(choice.alphas)))
        if isinstance(fit, StreamedFit) and fit.sums is not None:
            _require_sums(fit.sums, design, len(fit.streams))
        _require(isinstance(fit, SurvivalFit) == (design.response.kind == SURVIVAL))
        if isinstance(fit, SurvivalFit):
            require_sound_survival(fit)
    elif isinstance(fit, GuidedFit):
        _require(fit.streams.ndim == 2 and fit.streams.shape[1] == 4)
        _require(fit.control.settings.n_classes == K and (rows is None or len(fit.frame) >= n))
    else:
        _require(fit.held.shape == (n,) and fit.offset.values.shape == (0 if rows is None else n,))
        runs, outputs = fit.control.n_runs, fit.control.n_outputs
        _require(fit.boosted.starts.shape == (runs, outputs) and len(fit.boosted.drawn) == runs)
        for run in fit.boosted.drawn:
            _require(run.counts.shape == ((~fit.held).sum(),) and run.predictors.ndim == 1)
            _require(_within(run.predictors, 0, len(design.predictors)))
            _require(run.unseen is None or run.unseen.shape == run.counts.shape)
        if isinstance(fit, BoostedSurvivalFit):
            _require(fit.event_times.ndim == 1)
            if isinstance(fit.curves, ProportionalHazards):
                _require(fit.curves.times.ndim == 1)
                _require(fit.curves.times.shape == fit.curves.baseline.shape)


def _require_sums(sums: RowSums, design: Design, n_trees: int) -> None:
    K = design.response.n_classes
    _require(sums.error_path.shape == (n_trees,) and sums.n_evaluated >= 0)
    _require((sums.confusion is None) == (K == 1))
    _require(sums.confusion is None or sums.confusion.shape == (K, K))
    _require(sums.column_means.shape == (len(design.columns),))
    _require(sums.importance.shape == (len(design.predictors),))


def require_sound_forest(forest: Forest, p: int, K: int, n_trees: int | None) -> None:
    """Raise `InputError` unless the trees predict `K` numbers of rows of `p` columns."""
    m, z, root, left = len(forest.left), len(forest.index), forest.root, forest.left
    require_sound_roots(root, m)
    _require(len(root) == (n_trees or len(root) - 1) + 1)
    # arrays that follow from others need not be made
    of_nodes = {name: forest.in_memory()[name] for name in OF_NODES if name in forest.in_memory()}
    _require(all(len(array) == m for array in of_nodes.values()))
    _require(all(getattr(forest, name).shape == (z,) for name in OF_TERMS))
    _require(all(array.ndim == 1 for name, array in of_nodes.items() if name != "value"))
    _require(forest.value.shape == (m, K) and _within(forest.index, 0, p))
    _require(len(forest.start) == m + 1)
    _require_ranges(forest.start, z)
    _require_children(root, left)
    _require("order" not in of_nodes or _within(forest.order, 0, m + 1))
    _require(_within(forest.count, 0, 2**31))
    if forest.surrogates is not None:
        _require_surrogates(forest.surrogates, m, p)
    if forest.lines is not None:
        _require(K == 1 and len(root) == 2)
        _require_lines(forest.lines, m, p)


def require_sound_roots(root: NDArray, m: int) -> None:
    """Raise `InputError` unless trees have at least a node each, and m together."""
    _require_ranges(root, m)
    _require((np.diff(root) > 0).all())


def require_sound_guided(forest: GuidedForest, p: int, K: int, n_trees: int) -> None:
    """Raise `InputError` unless guided trees can predict, as `require_sound_forest`."""
    m, root, plane, W = len(forest.left), forest.root, forest.plane, len(forest.threshold)
    _require_ranges(root, m)
    _require((np.diff(root) > 0).all() and len(root) == n_trees + 1)
    for name in ("left", "plane", "count", "weight", "impurity"):
        _require(getattr(forest, name).shape == (m,))
    _require(forest.value.shape == (m, K))
    _require_children(root, forest.left)
    for ranges, size in (
        (forest.first_plane, W),
        (forest.first_column, len(forest.columns)),
        (forest.first_coef, len(forest.coef)),
    ):
        _require_ranges(ranges, size)
        _require(len(ranges) == len(root))
    _require((np.diff(forest.first_coef) == forest.n_planes * forest.n_columns).all())
    split = np.flatnonzero(forest.left >= 0)
    tree = np.repeat(np.arange(n_trees), np.diff(root))[split]
    inside = plane[split] >= forest.first_plane[tree]
    inside &= plane[split] < forest.first_plane[tree + 1]
    _require(inside.all() and _within(plane, -1, W) and _within(forest.columns, 0, p))


def require_sound_maps(recalibration: Recalibration) -> None:
    """Raise `InputError` unless there are maps and scores for all classes of the fit."""
    classes = recalibration.fit.design.response.classes
    _require(classes is not None)
    shape = (recalibration.fit.design.response.n_classes,)
    of_all = [isinstance(each, Power) for each in recalibration.maps]
    _require(of_all == [True] or of_all == [False] * shape[0])
    _require(recalibration.before.shape == recalibration.after.shape == shape)
    for each in recalibration.maps:
        if isinstance(each, Steps):
            _require(each.at.ndim == 1 and each.at.shape == each.value.shape and len(each.at) > 0)
            _require((np.diff(each.at) > 0).all() and (np.diff(each.value) >= 0).all())
            _require(each.value[0] >= 0 and each.value[-1] <= 1)


def require_sound_stack(fit: StackedFit) -> None:
    """Raise `InputError` unless the models of a stack are of its rows and have a weight each."""
    design, parts = fit.design, fit.parts
    _require_design(design)
    p, K, n = len(design.columns), design.response.n_classes, fit.training.n_rows
    _require_training(fit.training, p, K)
    _require(len(parts) > 0 and all(isinstance(part, StackedPart) for part in parts))
    _require(fit.weights.shape == fit.errors.shape == fit.rises.shape == (len(parts),))
    _require(all(isinstance(trial, Trial) for trial in fit.trials))
    _require((fit.weights >= 0).all() and 0 < fit.weights.max() <= 1 + 1e-9)
    _require(isinstance(fit.power, float) and 0 < fit.power < np.inf)
    _require(isinstance(parts[0].fit, Fit))
    for part in parts:
        if isinstance(part.fit, KernelSmoother):
            _require_smoother(part.fit, p, K, n)
            continue
        _require(isinstance(part.fit, Fit | BoostedFit))
        own = part.fit.design
        used = np.arange(p) if part.columns is None else part.columns
        _require(used.dtype.kind == "i" and used.ndim == 1 and _within(used, 0, p))
        _require(len(own.columns) == len(used) and own.response.n_classes == K)
        _require(part.fit.training.n_rows == n)
        _require(part.left_out is None or part.left_out.shape == (n, K))
        if part.base is not None:
            knots = part.base.knots
            _require(K == 1 and knots.ndim == 2 and knots.shape[0] == len(part.base.centre) == p)
            terms = np.where(np.isnan(knots[:, 0]), 1, knots.shape[1])
            _require(part.base.coef.shape == (terms.sum(),))
            curved = knots[~np.isnan(knots[:, 0])]
            _require((np.diff(curved, axis=1) > 0).all())
            _require(part.base.ends is None or part.base.ends.shape == (p, 2))


def _require_smoother(smoother: KernelSmoother, p: int, K: int, n: int) -> None:
    """Raise `InputError` unless a smoother is of p columns, K responses and n training rows."""
    points, ridge = smoother.points, smoother.ridge
    _require(points.ndim == 2 and len(points) > 0)
    _require(smoother.centre.shape == smoother.unit.shape == (points.shape[1],) == (p,))
    _require((smoother.unit > 0).all() and smoother.left_out.shape == (n, K))
    _require(smoother.ends is None or smoother.ends.shape == (p, 2))
    if smoother.directions is not None:
        _require(smoother.directions.ndim == 2 and len(smoother.directions) == p)
    _require(ridge.kernel in KERNELS and ridge.width > 0)
    _require(ridge.coef.shape == (len(points), K) and ridge.intercept.shape == (K,))


def _require(sound: bool | np.bool_) -> None:
    if not sound:
        raise InputError("its parts do not fit together: use a copy, or fit again")


def _within(numbers: NDArray, low: int, end: int) -> bool:
    return not numbers.size or bool(numbers.min() >= low and numbers.max() < end)


def _require_ranges(first: NDArray, end: int) -> None:
    """Raise `InputError` unless numbers ascend from 0 to `end`."""
    _require(first.ndim == 1 and len(first) > 0 and first[0] == 0 and first[-1] == end)
    _require((first[1:] >= first[:-1]).all())


def _require_children(root: NDArray, left: NDArray) -> None:
    """Raise `InputError` unless each node is a root or the child of one earlier node at most."""
    _require(left.ndim == 1)
    begin = 0
    while begin < len(root) - 1:  # some trees at a time, so that it takes little memory
        end = int(np.searchsorted(root, root[begin] + NODES, side="right")) - 1
        end = max(begin + 1, end)
        first, last = int(root[begin]), int(root[end])
        _require_own_children(root[begin : end + 1] - first, left[first:last], first)
        begin = end


def _require_own_children(root: NDArray, left: NDArray, before: int) -> None:
    """Do the same for some trees, after so many nodes of others."""
    split = np.flatnonzero(left != -1)
    child, end = left[split] - before, np.repeat(root[1:], np.diff(root))[split]
    _require(((child > split) & (child + 1 < end)).all())
    parents = np.bincount(child, minlength=len(left) + 1)
    parents[1:] += parents[:-1].copy()
    _require((parents <= 1).all() and not parents[root[:-1]].any())


def _require_surrogates(surrogates: SurrogateSplits, m: int, p: int) -> None:
    S, z = len(surrogates.threshold), len(surrogates.column)
    _require(len(surrogates.first) == m + 1 and len(surrogates.start) == S + 1)
    _require_ranges(surrogates.first, S)
    _require_ranges(surrogates.start, z)
    types = {
        "first": (np.signedinteger, m + 1), "majority_left": (np.bool_, m),
        "start": (np.signedinteger, S + 1), "threshold": (np.float32, S), "flipped": (np.bool_, S),
        "agree": (np.float64, S), "adj": (np.float64, S), "n_split": (np.int32, S),
        "column": (np.int32, z), "coef": (np.float32, z),
    }  # fmt: skip
    for name, (dtype, size) in types.items():
        array = getattr(surrogates, name)
        _require(np.issubdtype(array.dtype, dtype) and array.shape == (size,))
    marks = surrogates.marks
    P = len(marks.mark)
    _require(len(marks.first) == P + 1 and len(marks.predictor) == p)
    _require_ranges(marks.first, p)
    of_marks = {"first": np.int64, "predictor": np.int64, "mark": np.int64, "factor": np.bool_}
    _require(all(getattr(marks, name).dtype == dtype for name, dtype in of_marks.items()))
    _require(marks.mark.shape == marks.factor.shape == (P,) and marks.predictor.shape == (p,))
    _require(_within(marks.predictor, 0, P) and _within(marks.mark, -1, p))
    _require(_within(surrogates.column, 0, p))


def _require_lines(lines: LeafLines, m: int, p: int) -> None:
    """Raise `InputError` unless there is a line of the p columns for each of m nodes."""
    z = len(lines.column)
    _require(len(lines.start) == m + 1)
    _require_ranges(lines.start, z)
    types = {
        "start": (np.int64, m + 1), "column": (np.int32, z), "coef": (np.float64, z),
        "intercept": (np.float64, m), "low": (np.float64, m), "high": (np.float64, m),
        "n_parameters": (np.int32, m),
    }  # fmt: skip
    for name, (dtype, size) in types.items():
        array = getattr(lines, name)
        _require(array.dtype == dtype and array.shape == (size,))
    _require(_within(lines.column, 0, p) and (lines.low <= lines.high).all())


def _require_design(design: Design) -> None:
    recipe, p = design.recipe, len(design.columns)
    _require_recipe(recipe, p)
    scaling = design.scaling
    _require(scaling.low.shape == scaling.range.shape == scaling.holes.shape == (p,))
    schema = design.schema
    _require(len(schema.columns) == len(schema.contents) == len(schema.dtypes))
    classes = design.response.classes
    _require((design.response.kind == "classification") == (classes is not None))
    # a number of the curves of a survival forest has the causes of its events, too
    kinds = (SURVIVAL, "regression") if design.response.causes else KINDS[:2]
    _require(design.response.kind in kinds)
    _require(classes is None or (len(classes) >= 2 and classes.is_unique))


def _require_recipe(recipe: Predictors, p: int) -> None:
    P = len(recipe.terms)
    _require(len(recipe.names) == P and len(recipe.first) == P + 1 and P > 0)
    _require(recipe.types.shape == recipe.holes.shape == (P,) and _within(recipe.types, 0, 3))
    _require_ranges(recipe.first, p)
    n_variables = len(recipe.variables)
    _require(all(term and 0 <= min(term) <= max(term) < n_variables for term in recipe.terms))
    width = [variable.width for variable in recipe.variables]
    widths = [math.prod(width[v] for v in term) for term in recipe.terms]
    for j, kept in recipe.kept.items():
        _require(0 <= j < P and kept.ndim == 1 and len(kept) > 0 and (np.diff(kept) > 0).all())
        _require(kept[0] >= 0 and kept[-1] < widths[j])
        widths[j] = len(kept)
    _require((np.diff(recipe.first) == np.array(widths) + recipe.holes).all())


def _require_training(data: TrainingData | RowCounts, p: int, K: int) -> None:
    if isinstance(data, RowCounts):
        _require(min(data.n_rows, data.n_dropped) >= 0)
        return
    n = len(data.index)
    _require(data.X.shape == (p, n) and data.y.shape == data.weights.shape == (n,) and n > 0)
    _require(data.complete.ndim == 1 and int(data.complete.sum()) == n)
    _require(data.weightless is None or data.weightless.shape == data.complete.shape)
    if data.apart is not None:
        _require(data.apart.where.ndim == 1 and int((~data.apart.where).sum()) == n)
        _require(len(data.apart.where) == n + len(data.apart.frame))
    _require(np.isfinite(data.y).all() and (data.kept is None or len(data.kept) == n))
    if data.times is not None:
        require_sound_times(data.times, n)
    if data.structure is not None:
        _require_structure(data.structure, n)
    if K > 1:
        _require(_within(data.y, 0, K) and (data.y == np.floor(data.y)).all())
    _require_matrix(data.X)


def _require_structure(structure: RowStructure, n: int) -> None:
    for name in STRUCTURE_ARGUMENTS:
        codes = getattr(structure, name)
        if codes is not None:
            n_labels = len(structure.labels.get(name, ()))
            _require(codes.shape == (n,) and codes.dtype == np.int64)
            _require(_within(codes, 0, n_labels) and len(np.unique(codes)) == n_labels)


def _require_matrix(X: Matrix) -> None:
    if not isinstance(X, EncodedColumns):
        return
    r = len(stored(X))
    place, level, n_numbers = X.layout
    _require(place.shape == level.shape == (len(X),) and 0 <= n_numbers <= r)
    _require(_within(place, 0, r) and _within(level, 0, 2**24 + 1))
    _require(((level == 0) == (place < n_numbers)).all())
    for row in range(X.layout.n_numbers, r):
        codes, levels = stored(X)[row], X.layout.level[X.layout.place == row]
        _require(len(levels) > 0 and (codes == np.floor(codes)).all())
        _require(_within(codes, 0, int(levels.max()) + 1))


# What has the methods of a protocol, of all that a file can hold.
OF_PROTOCOL: dict[Any, tuple[type, ...]] = {
    Encoding: (Numbers, Indicators, Ranks, OwnRanks, Moments, Durations),
    SamplerMixture: (Mixture,),
}


def is_as_annotated(kind: type, field: str, value: Any) -> bool:
    """Return whether a value has the type of the field's annotation."""
    return _is_of(value, _annotations(kind)[field])


@cache
def _annotations(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _is_of(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = _origin_and_inner(hint)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin in (Union, types.UnionType):
        return any(_is_of(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _has_dtype(value, inner[1])
    if origin is tuple:
        return isinstance(value, tuple) and _are_of(value, inner)
    if origin in (frozenset, list):
        return isinstance(value, origin) and all(_is_of(one, inner[0]) for one in value)
    if origin in (dict, Mapping):
        pairs = value.items() if isinstance(value, dict) else ()
        sound = all(_is_of(key, inner[0]) and _is_of(one, inner[1]) for key, one in pairs)
        return isinstance(value, dict) and sound
    if origin is Callable:
        return callable(value)
    return _is_instance(value, hint)


@cache
def _origin_and_inner(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    alias = hint if origin is None else origin
    if hasattr(alias, "__value__"):  # from version 2.5 of NumPy on, NDArray is an alias by `type`
        return _origin_and_inner(alias.__value__[inner] if inner else alias.__value__)
    return origin, inner


def _are_of(values: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(_is_of(value, inner[0]) for value in values)
    return len(values) == len(inner) and all(map(_is_of, values, inner))


def _is_instance(value: Any, hint: Any) -> bool:
    if hint in OF_PROTOCOL:
        return isinstance(value, OF_PROTOCOL[hint])
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    return isinstance(value, (bool, np.bool_) if hint is bool else hint)


def _has_dtype(array: np.ndarray, hint: Any) -> bool:
    (scalar,) = typing.get_args(hint) or (Any,)
    return not isinstance(scalar, type) or issubclass(array.dtype.type, scalar)


# Whether the names and the formula of a design from a file are those of its columns and code.
# A design has the name of a column in several places, and its formula is code again when
# somebody fits by it.


def require_names_of_design(design: Design) -> None:
    """Raise `InputError` unless all that a design is computed from are columns, named alike."""
    known = set(design.schema.columns)
    recipe, response = design.recipe, design.response
    sound = len(known) == len(design.schema.columns) and known.issuperset(design.fills)
    for variable in recipe.variables:
        code = variable.evaluation
        sound &= known.issuperset(variable.columns)
        sound &= code is None or variable.name == code.expression.name
    named = [":".join(recipe.variables[v].name for v in term) for term in recipe.terms]
    sound &= list(recipe.names) == named
    if not (response.imitated or response.less or response.of_events or response.causes):
        code = response.evaluation
        named_by = response.columns if code is None else (code.expression.name,)
        sound &= (response.name,) == named_by
        sound &= code is None or response.columns == code.expression.columns
    if not sound:
        raise InputError("its names do not fit together: use a copy, or fit again")


def require_names_of_rows(design: Design, data: TrainingData) -> None:
    """Raise `InputError` unless the columns of the training rows are those of the design."""
    if data.kept is not None and not set(data.kept.columns) <= set(design.schema.columns):
        raise InputError("its names do not fit together: use a copy, or fit again")


def require_trusted_formula(design: Design) -> None:
    """Raise `InputError` if the formula has code that is neither that of the terms nor trusted.

    Names that the file does not know are columns left out, as in ``y ~ . - id``, without values.
    """
    variables = [variable.evaluation for variable in design.recipe.variables]
    evaluations = [each for each in (design.response.evaluation, *variables) if each is not None]
    columns = [*design.schema.columns, *design.response.columns]
    formula = _read(design.formula, columns)
    functions = {name for evaluation in evaluations for name in evaluation.given}
    for atom in (formula.response, *(atom for term in formula.terms for atom in term)):
        if not isinstance(atom, Expression) or atom in (each.expression for each in evaluations):
            continue
        part = untrusted_part(atom.code, columns, {}, functions)
        if part is not None:
            raise InputError(
                f"{atom.name!r} in its formula uses {part!r}, {UNTRUSTED}, and is none of its "
                "terms: load(path, trusted=True) lets fits by this formula run it; use that only "
                "for a file that you trust"
            )


def _read(formula: str, columns: list[str]) -> Formula:
    """Return the formula, read where every name in it is known."""
    names = names_in(formula)
    functions = dict.fromkeys(re.findall(r"\w+", formula))
    try:
        with without_warnings():
            return read_formula(
                formula, [*dict.fromkeys([*columns, *names])], EvalEnvironment([functions])
            )
    except InputError:
        raise InputError("its formula was never one: use a copy, or fit again") from None
