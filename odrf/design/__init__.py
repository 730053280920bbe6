"""From a formula and a data frame to the arrays of predictors and responses.

A formula (`odrf.design.formula`) becomes terms; their expressions are evaluated by patsy
(`odrf.design.evaluation`), those of files by trusted functions only (`odrf.design.trusted`). The
values of an atom become columns of numbers (`odrf.design.encoding`), scaled to [0, 1]
(`odrf.design.scaling`), in one matrix (`odrf.design.predictors`). `Surv(time, event)` becomes
times (`odrf.design.survival_times`). `odrf.design.design` keeps what is needed to do the same
with new rows. Rows in chunks are cut into blocks of one size (`odrf.design.blocks`), of which a
profile is learned first (`odrf.design.column_profile`), so that nothing depends on the chunks.
"""

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
