"""Families of oblique splits: the laws from which candidate directions are drawn.

Extensions of random forests differ in the distribution from which candidate directions are
sampled (Tomita et al. 2020): here that is all they differ in.  ``projection=`` of `odrf.odt` and
`odrf.odrf` takes a family's name, one of these objects where it has parameters, or a mapping of
several to their shares of the candidates.  A function of a node's rows is a family, too: see
`Custom`; it draws random numbers by `uniform` and `below`.
"""

from odrf.engine.randomness import below, uniform
from odrf.projections.axis import Axis
from odrf.projections.cca import CanonicalCorrelation
from odrf.projections.custom import Custom
from odrf.projections.estimated import Discriminant, LeastSquares, Logistic
from odrf.projections.extra import ExtraTrees
from odrf.projections.family import Family
from odrf.projections.patch import Patch
from odrf.projections.pca import PrincipalComponents
from odrf.projections.pda import PenalisedDiscriminant
from odrf.projections.pursuit import ProjectionPursuit
from odrf.projections.rc import RandomCombination
from odrf.projections.ridge import Ridge
from odrf.projections.rotation import Rotation
from odrf.projections.sparse import Sparse

__all__ = [
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
    "below",
    "uniform",
]
