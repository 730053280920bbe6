"""From a formula and a data frame to the arrays of predictors and responses."""

from __future__ import annotations

from odrf.design.design import Design, TrainingData, build_design
from odrf.design.encoding import BASIS, INDICATORS, PLAIN
from odrf.design.response import Response
from odrf.design.scaling import Scaling

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
