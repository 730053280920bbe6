"""The classes that a file may hold, and about how much memory its parts take."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from odrf.design.columns import Schema
from odrf.design.design import Design, RowCounts, RowsApart, TrainingData
from odrf.design.encoding import Durations, Indicators, Moments, Numbers, Ranks
from odrf.design.formula import Expression
from odrf.design.predictors import Predictors
from odrf.design.ranks import OwnRanks
from odrf.design.response import Response
from odrf.design.scaling import Scaling
from odrf.design.structure import RowStructure
from odrf.design.survival_times import SurvivalTimes
from odrf.design.variables import Variable
from odrf.design.weights import Offset
from odrf.engine.boosting import losses
from odrf.engine.boosting.leaf_values import BoostingParams
from odrf.engine.boosting.runs import RunRows
from odrf.engine.boosting.state import Boosted
from odrf.engine.factors import EncodedColumns, Layout
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.kernel_params import GuidedKernelParams, KernelParams
from odrf.engine.lines.leaf_lines import LeafLines
from odrf.engine.resamples import Batch, Sampling
from odrf.engine.splits.surrogates import Marks, SurrogateSplits
from odrf.engine.survival.curves import LeafCurves
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.survival.likelihoods import ExtremeValueError, LogisticError, LogTimes, NormalError
from odrf.engine.trees.forest import Forest
from odrf.fits.blending import Blend
from odrf.fits.calibration import Recalibration
from odrf.fits.fit import BoostedFit, Fit, GuidedFit, Pruning, RowSums, StreamedFit
from odrf.fits.stack.fit import StackedFit, StackedPart, Trial
from odrf.fits.stack.smoothers import AdditiveBase, KernelSmoother
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.fit import EstimandFit, SurvivalFit
from odrf.fits.survival.hazards import NodeHazards
from odrf.options.boosting import ResolvedBoostingOptions
from odrf.options.guided import ResolvedGuidedOptions
from odrf.options.options import Options
from odrf.options.sizes import Rule
from odrf.options.stack import ResolvedStackOptions
from odrf.options.tree import ResolvedOptions
from odrf.projections import FAMILIES
from odrf.projections.custom import Custom
from odrf.projections.mixture import Mixture, Share
from odrf.pruning.validation import OutOfBagChoice, SubtreePath
from odrf.statistics.calibration import LogOdds, Power, Steps
from odrf.statistics.ridge import KernelRidge
from odrf.statistics.survival.score_curves import FailureTimes, ProportionalHazards

PACKAGE = __name__.partition(".")[0]

CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Fit, GuidedFit, BoostedFit, Pruning, Blend, StreamedFit, RowSums),
        *(EstimandFit, Options, ResolvedOptions, Rule),
        *(ResolvedBoostingOptions, ResolvedGuidedOptions, ResolvedStackOptions),
        *(KernelParams, GuidedKernelParams, Sampling, Batch, BoostingParams, Mixture, Share),
        *(losses.Absolute, losses.Huber, losses.LogisticLoss, losses.Multinomial, losses.Ordinal),
        *(losses.Poisson, losses.SquaredError, losses.Cox, losses.LogNormal, losses.LogLogistic),
        *(losses.Weibull, EventRanks, LogTimes),
        *(BoostedSurvivalFit, SurvivalTimes, ProportionalHazards, FailureTimes),
        *(NormalError, LogisticError, ExtremeValueError),
        *(Forest, GuidedForest, Boosted, RunRows, SurrogateSplits, Marks, LeafLines),
        *(Design, TrainingData, RowCounts, Offset, Response, Predictors, Variable, Schema, Scaling),
        *(Numbers, Indicators, Ranks, OwnRanks, Moments, Durations, Expression),
        *(EncodedColumns, Layout, RowStructure, RowsApart, SubtreePath, OutOfBagChoice),
        *(SurvivalFit, LeafCurves, NodeHazards),
        *(Recalibration, Power, Steps, LogOdds),
        *(StackedFit, StackedPart, AdditiveBase, KernelSmoother, KernelRidge, Trial),
        *(family for family in FAMILIES.values() if family.__module__.startswith(f"{PACKAGE}.")),
        Custom,
    )
}
"""The classes by their names."""

CLASSES |= {
    old: CLASSES[new]
    for old, new in {
        "Request": "Options",
        "Control": "ResolvedOptions",
        "BoostingControl": "ResolvedBoostingOptions",
        "GuidedControl": "ResolvedGuidedOptions",
        "StackedControl": "ResolvedStackOptions",
        "Settings": "KernelParams",
        "GuidedSettings": "GuidedKernelParams",
        "Plan": "BoostingParams",
        "Coded": "EncodedColumns",
    }.items()
}
"""Files of version 0.2 have the old names."""

ROW_COUNTS = "NoData", "WithheldData"
"""What files of versions 0.3 and 0.2 call the numbers of rows that are left out."""
CLASSES |= dict.fromkeys(ROW_COUNTS, RowCounts)
FIELDS = {"data": "training", "rows": "n_rows", "dropped": "n_dropped"}
"""Fields that have another name in files of these versions."""


def with_new_names(kind: type, values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of an object of this kind by the names that they have now."""
    now = field_names(kind)
    return {name if name in now else FIELDS.get(name, name): v for name, v in values.items()}


def field_names(kind: type) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass or named tuple."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    return tuple(getattr(kind, "_fields", ()))


@cache
def needed_fields(kind: type) -> frozenset[str]:
    """Return the names of the fields that have no default."""
    if is_dataclass(kind):
        return frozenset(
            field.name
            for field in fields(kind)
            if field.default is MISSING and field.default_factory is MISSING
        )
    defaults: dict[str, Any] = getattr(kind, "_field_defaults", {})
    return frozenset(field_names(kind)) - set(defaults)


@cache
def fields_set_later(kind: type) -> frozenset[str]:
    """Return the names of the fields that are no arguments."""
    made = fields(kind) if is_dataclass(kind) else ()
    return frozenset(field.name for field in made if not field.init)


# Bytes of a value that was read from JSON.
VALUE = 128


def cost_of_json(content: bytes) -> int:
    """Return the most that JSON takes when it has been read, by its length and its marks."""
    marks = sum(content.count(mark) for mark in (b",", b"[", b"{", b"\n"))
    return VALUE * (marks + 1) + 4 * len(content)


def cost_of_built(value: Any) -> int:
    """Return the memory of a table, series, index or column in addition to its parts."""
    if isinstance(value, pd.DataFrame):
        return int(value.memory_usage(deep=False).sum())
    if isinstance(value, pd.RangeIndex):
        return VALUE
    if isinstance(value, pd.MultiIndex):
        return sum(codes.nbytes for codes in value.codes)
    return int(value.nbytes)


def bytes_in_memory(fit: Any) -> int:
    """Return the bytes of the arrays of a fit, which take nearly all of the time of saving it."""
    sizes: dict[int, int] = {}
    waiting = [fit]
    while waiting:
        value = waiting.pop()
        if id(value) in sizes:
            continue
        is_array = isinstance(value, np.ndarray)
        sizes[id(value)] = value.nbytes if is_array else 0
        if not is_array:
            waiting += _parts(value)
    return sum(sizes.values())


def _parts(value: Any) -> list[Any]:
    if type(value) is Forest:
        return list(value.in_memory().values())
    if type(value) in (tuple, list):
        return list(value)
    return [getattr(value, name) for name in field_names(type(value))]
