"""Growing the trees of a call: trees of one kind, or a blend of several kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import AUTO, is_word
from odrf.design import Design, TrainingData
from odrf.design.missing import SURROGATE
from odrf.design.subjects import rows_a_subject
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.trees.forest import Forest
from odrf.fits.blending import Blended, Kind, grow_blend
from odrf.fits.fit import Fit
from odrf.fits.scales.choosing_scale import chosen_scale
from odrf.fits.survival.evidence_of_curves import judge_of_pilots
from odrf.fits.survival.grown_response import grown_response
from odrf.options.blend import (
    ERROR,
    blends,
    kinds_of_survival_trees,
    kinds_of_trees,
    require_blendable,
    require_objective,
    with_leaves_for_curves,
)
from odrf.options.criteria import require_split_scale
from odrf.options.request import Request
from odrf.options.sizes import RuleFunction
from odrf.options.tree import Control, resolve
from odrf.public.progress import progress_bar

__all__ = ["grow_alike", "grow_fit", "grow_in_kinds", "kinds_of_blend", "one_kind"]


def grow_fit(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool = False
) -> Fit:
    """Resolve the request for the data and grow the trees.

    Parameters
    ----------
    call : str
        The call as text, for summaries.
    design : Design
    data : TrainingData
    request : Request
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Fit

    Raises
    ------
    InputError
        If an option is invalid.  The message names it and says what to use.
    """
    blended, classification = blends(request), design.response.kind == "classification"
    require_objective(request.objective, classification, blended)
    require_split_scale(request.split_scale, design.response.kind, blended)
    if blended:
        fit = _fit_blend(call, design, data, request, progress)
    else:
        fit = _fit_one_kind(call, design, data, request, progress)
    return replace(fit, request=_settled(request, fit.control, fit.blend is not None))


def _settled(request: Request, control: Control, blended: bool) -> Request:
    """Return the request with functions and generators replaced by the values they gave.

    Functions may not pickle, and a generator would give another seed the next time.  Whether the
    forest is a blend is fixed, for any number of trees, and so is the scale of its splits.  The
    functions are kept in `Request.functions`, for other numbers of rows.
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


def one_kind(request: Request, design: Design, data: TrainingData) -> Control:
    """Return the options of a forest whose trees are all of one kind."""
    plain = replace(request, resample="bootstrap") if is_word(request.resample, AUTO) else request
    if data.times is not None:
        plain = with_leaves_for_curves(plain, round(len(data.y) / rows_a_subject(data)))
    return _resolve(plain, design, data)


def grow_alike(
    design: Design,
    data: TrainingData,
    control: Control,
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    progress: bool,
) -> Forest:
    """Grow a tree for each of the streams (B, 4), all of one kind."""
    grown = grown_response(data, control)
    with progress_bar(total=len(tree_streams), unit="tree", progress=progress) as bar:
        return grow_forest(
            data.X,
            grown.y,
            grown.weights,
            design.feature_groups,
            control.sampling,
            control.settings,
            control.mixture,
            tree_streams,
            n_jobs,
            bar.update,
            data.codes,
            grown.ranks,
            grown.case_weights(data.weights),
        )


def grow_in_kinds(
    design: Design,
    data: TrainingData,
    controls: Sequence[Control],
    n_jobs: int,
    progress: bool,
    start: Blended | None = None,
    objective: str = ERROR,
) -> Blended:
    """Grow a blend, from the options `controls` of each kind.

    Each of them has the number of trees of the whole forest.  `start` is a smaller blend of the
    same options, whose trees need not be grown again.  The weights of the kinds are chosen for the
    `objective`.
    """
    kinds = [Kind(control.settings, control.mixture, control.sampling) for control in controls]
    grown = grown_response(data, controls[0])
    with progress_bar(total=controls[0].n_trees, unit="tree", progress=progress) as bar:

        def expect(n_trees: int) -> None:
            bar.total = n_trees
            bar.refresh()

        return grow_blend(
            data.X,
            grown.y,
            grown.weights,
            design.feature_groups,
            kinds,
            controls[0].seed,
            controls[0].n_trees,
            n_jobs,
            bar.update,
            start,
            expect,
            data.codes,
            objective,
            grown.ranks,
            judge_of_pilots(data, controls[0]),
        )


def _fit_one_kind(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool
) -> Fit:
    control = one_kind(request, design, data)
    tree_streams = streams(control.seed, 0, control.n_trees)
    forest = grow_alike(design, data, control, tree_streams, control.n_jobs, progress)
    return Fit(call, design, data, control, forest, tree_streams, request)


def _fit_blend(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool
) -> Fit:
    controls, scale_errors = kinds_of_blend(request, design, data)
    base = next(iter(controls.values()))
    grown = grow_in_kinds(
        design, data, list(controls.values()), base.n_jobs, progress,
        objective=request.objective,
    )  # fmt: skip
    return Fit(
        call, design, data, base, grown.forest, grown.streams, request, grown.blend, controls,
        scale_errors=scale_errors,
    )  # fmt: skip


def kinds_of_blend(
    request: Request, design: Design, data: TrainingData
) -> tuple[dict[str, Control], dict[str, float]]:
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
    require_blendable(base.n_trees, base.resample)
    scale, scale_errors = _scale(request, design, data, base)
    controls = {
        name: _resolve(replace(kind, seed=base.seed, split_scale=scale), design, data)
        for name, kind in kinds.items()
    }
    return controls, scale_errors


def _scale(
    request: Request, design: Design, data: TrainingData, pilots: Control
) -> tuple[str, dict[str, float]]:
    """Return the scale of the splits, and the errors by which pilot trees chose it, if any did."""
    if is_word(request.split_scale, AUTO):
        return chosen_scale(design, data, pilots)
    return request.split_scale, {}


def _resolve(request: Request, design: Design, data: TrainingData) -> Control:
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
