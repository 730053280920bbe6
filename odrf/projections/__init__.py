"""Families of projections: the distributions from which candidate directions are drawn.

Many extensions of random forests differ only in the distribution of candidate directions (Tomita
et al. 2020).  ``projection=`` of `odrf.odt`, `odrf.odrf` and `odrf.odbt` takes

- the name of a family, such as ``"sparse"``,
- an object of one of these classes, to set its parameters,
- a mapping of families to their shares of the candidates, to mix them, or
- a function of a node's rows, see `Custom`; it draws random numbers by `uniform` and `below`.

To add a family, write a module here and import its class below.
"""

from odrf.engine.numeric import below, uniform
from odrf.projections.axis import Axis, ExtraTrees
from odrf.projections.base import FAMILIES, Family
from odrf.projections.custom import Custom
from odrf.projections.discriminant import CanonicalCorrelation, PenalisedDiscriminant
from odrf.projections.patch import Patch
from odrf.projections.regression import (
    Discriminant,
    LeastSquares,
    Logistic,
    ProjectionPursuit,
    Ridge,
)
from odrf.projections.rotation import PrincipalComponents, Rotation
from odrf.projections.sparse import RandomCombination, Sparse, Sphere

__all__ = [
    "FAMILIES",
    "Axis",
    "CanonicalCorrelation",
    "Custom",
    "Discriminant",
    "ExtraTrees",
    "Family",
    "LeastSquares",
    "Logistic",
    "Patch",
    "PenalisedDiscriminant",
    "PrincipalComponents",
    "ProjectionPursuit",
    "RandomCombination",
    "Ridge",
    "Rotation",
    "Sparse",
    "Sphere",
    "below",
    "uniform",
]
