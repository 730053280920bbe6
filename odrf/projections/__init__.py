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
from odrf.projections.axis import Axis
from odrf.projections.custom import Custom
from odrf.projections.estimated.cca import CanonicalCorrelation
from odrf.projections.estimated.linear import Discriminant, LeastSquares, Logistic
from odrf.projections.estimated.pca import PrincipalComponents
from odrf.projections.estimated.pda import PenalisedDiscriminant
from odrf.projections.estimated.projection_pursuit import ProjectionPursuit
from odrf.projections.estimated.ridge import Ridge
from odrf.projections.extra import ExtraTrees
from odrf.projections.family import FAMILIES, Family
from odrf.projections.patch import Patch
from odrf.projections.rc import RandomCombination
from odrf.projections.rotation import Rotation
from odrf.projections.sparse import Sparse
from odrf.projections.sphere import Sphere

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
