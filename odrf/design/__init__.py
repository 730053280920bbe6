"""From a formula and a data frame to the arrays of predictors and responses."""

from __future__ import annotations

from odrf.design.columns.encoding import BASIS, INDICATORS, PLAIN
from odrf.design.columns.scaling import Scaling
from odrf.design.design import Design, build_design
from odrf.design.response import Response
from odrf.design.training_data import TrainingData

__all__ = [
    "BASIS",
    "INDICATORS",
    "PLAIN",
    "Design",
    "Response",
    "Scaling",
    "TrainingData",
    "build_design",
]
