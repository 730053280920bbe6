"""Growing what a call asks for: trees of one kind, or a blend of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from odrf.blending import Kind, grow_blend
from odrf.control import Control, resolve
from odrf.design import Design, TrainingData
from odrf.engine.growth import grow_forest
from odrf.engine.proposals import Blocks
from odrf.engine.randomness import streams
from odrf.kinds import BEST, blends, kinds_of_trees, require_blendable
from odrf.results.fit import Fit, Request

__all__ = ["grow_fit"]


def grow_fit(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool = False
) -> Fit:
    """Resolve the request for the data and grow its trees.

    Parameters
    ----------
    call : str
        As summaries are to show it.
    design : Design
    data : TrainingData
    request : Request
    progress : bool, default False
        Show a progress bar.

    Raises
    ------
    InputError
        Naming the option at fault.
    """
    options = request.options
    if blends(*(options[name] for name in ("blend", "n_trees", "projection", "resample"))):
        fit = _fit_blend(call, design, data, request, progress)
    else:
        fit = _fit_one_kind(call, design, data, request, progress)
    return replace(fit, request=_settled(request, fit.control))


def _settled(request: Request, control: Control) -> Request:
    """Return the request with its functions and generators replaced by what they gave.

    They may not pickle, and a generator would give something else the next time.
    """
    options = dict(request.options) | {"seed": control.seed, "n_jobs": control.n_jobs}
    for name in ("max_leaves", "alpha", "sample_fraction"):
        if callable(options[name]):
            options[name] = getattr(control, name)
    return replace(request, options=options)


def _fit_one_kind(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool
) -> Fit:
    resample = request.options["resample"]
    options = request.options | {"resample": "bootstrap" if resample == "auto" else resample}
    control = _resolve(options, design, data)
    tree_streams = streams(control.seed, 0, control.n_trees)
    with tqdm(total=control.n_trees, unit="tree", disable=not progress) as bar:
        forest = grow_forest(
            data.X,
            data.y,
            data.weights,
            Blocks(design.first, design.types),
            control.sampling(),
            control.settings(),
            control.mixture,
            tree_streams,
            control.n_jobs,
            bar.update,
        )
    return Fit(call, design, data, control, forest, tree_streams, request)


def _fit_blend(
    call: str, design: Design, data: TrainingData, request: Request, progress: bool
) -> Fit:
    classification = design.response.kind == "classification"
    n, P, p = len(data.y), len(design.predictors), len(design.columns)
    kinds = kinds_of_trees(request.options, request.given, n, P, p, classification)
    base = _resolve(kinds[BEST], design, data)
    require_blendable(base.n_trees, base.resample, request.options["projection"])
    controls = {
        name: _resolve(some | {"seed": base.seed}, design, data) for name, some in kinds.items()
    }
    with tqdm(unit="tree", disable=not progress) as bar:
        forest, tree_streams, blended = grow_blend(
            data.X,
            data.y,
            data.weights,
            Blocks(design.first, design.types),
            [
                Kind(control.settings(), control.mixture, control.sampling())
                for control in controls.values()
            ],
            base.seed,
            base.n_trees,
            base.n_jobs,
            bar.update,
        )
    return Fit(call, design, data, base, forest, tree_streams, request, blended, controls)


def _resolve(options: Mapping[str, Any], design: Design, data: TrainingData) -> Control:
    classes = design.response.classes
    return resolve(
        options,
        kind=design.response.kind,
        n=len(data.y),
        P=len(design.predictors),
        p=len(design.columns),
        n_classes=1 if classes is None else len(classes),
        ranges=design.scaling.range,
        grid=design.grid,
    )
