"""The classes that a file may hold: all parts of a fit, and nothing else."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

from odrf.design.columns import Schema
from odrf.design.design import Design, RowsApart, TrainingData
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
from odrf.engine.boosting.losses import (
    Absolute,
    Cox,
    Huber,
    LogisticLoss,
    LogLogistic,
    LogNormal,
    Multinomial,
    Ordinal,
    Poisson,
    SquaredError,
    Weibull,
)
from odrf.engine.boosting.runs import RunRows
from odrf.engine.boosting.state import Boosted, Plan
from odrf.engine.factors import Coded, Layout
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.kernel_params import GuidedSettings, Settings
from odrf.engine.resamples import Batch, Sampling
from odrf.engine.splits.surrogates import Marks, SurrogateSplits
from odrf.engine.survival.curves import LeafCurves
from odrf.engine.survival.event_ranks import EventRanks
from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    LogTimes,
    NormalError,
)
from odrf.engine.trees.forest import Forest
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.fits.blending import Blend
from odrf.fits.boosted_fit import BoostedFit
from odrf.fits.calibrating.recalibration import Recalibration
from odrf.fits.fit import Fit, Pruning
from odrf.fits.guided_fit import GuidedFit
from odrf.fits.stacked.additive_base import AdditiveBase
from odrf.fits.stacked.kernel_smoother import KernelSmoother
from odrf.fits.stacked.stacked_fit import StackedFit, StackedPart, Trial
from odrf.fits.streamed.streamed_fit import RowSums, StreamedFit
from odrf.fits.survival.boosted_survival_fit import BoostedSurvivalFit
from odrf.fits.survival.by_deviance.node_hazards import NodeHazards
from odrf.fits.survival.inference.estimand_fit import EstimandFit
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.options.boosting import BoostingControl
from odrf.options.guided import GuidedControl
from odrf.options.request import Request
from odrf.options.sizes import Rule
from odrf.options.stack import StackedControl
from odrf.options.tree import Control
from odrf.projections import FAMILIES
from odrf.projections.custom import Custom
from odrf.projections.mixture import Mixture, Share
from odrf.pruning.validation import OutOfBagChoice, SubtreePath
from odrf.statistics.calibration import LogOdds, Power, Steps
from odrf.statistics.ridge import KernelRidge
from odrf.statistics.survival.score_curves import FailureTimes, ProportionalHazards

__all__ = ["CLASSES", "field_names", "fields_set_later", "needed_fields"]

PACKAGE = __name__.partition(".")[0]

CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(Fit, GuidedFit, BoostedFit, Pruning, Blend, StreamedFit, RowSums, AllRowsFit),
        *(EstimandFit, Control, GuidedControl, BoostingControl, Request, Rule),
        *(Settings, GuidedSettings, Sampling, Batch, Plan, Mixture, Share),
        *(Absolute, Huber, LogisticLoss, Multinomial, Ordinal, Poisson, SquaredError),
        *(Cox, EventRanks, LogNormal, LogLogistic, Weibull, LogTimes),
        *(BoostedSurvivalFit, SurvivalTimes, ProportionalHazards, FailureTimes),
        *(NormalError, LogisticError, ExtremeValueError),
        *(Forest, GuidedForest, Boosted, RunRows, SurrogateSplits, Marks),
        *(Design, TrainingData, Offset, Response, Predictors, Variable, Schema, Scaling),
        *(Numbers, Indicators, Ranks, OwnRanks, Moments, Durations, Expression),
        *(Coded, Layout, RowStructure, RowsApart, SubtreePath, OutOfBagChoice),
        *(SurvivalFit, LeafCurves, NodeHazards),
        *(Recalibration, Power, Steps, LogOdds),
        *(StackedFit, StackedPart, AdditiveBase, KernelSmoother, KernelRidge, Trial),
        StackedControl,
        *(family for family in FAMILIES.values() if family.__module__.startswith(f"{PACKAGE}.")),
        Custom,
    )
}
"""The classes by their names."""


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
    if is_dataclass(kind):
        return frozenset(field.name for field in fields(kind) if not field.init)
    return frozenset()
