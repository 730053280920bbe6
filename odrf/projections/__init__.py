"""Families of oblique splits: the samplers from which candidate directions are drawn.

Extensions of random forests differ in the distribution from which candidate directions are
sampled (Tomita et al. 2020): here that is all they differ in.  ``projection=`` of `odrf.odt` and
`odrf.odrf` takes a family's name, one of these objects where it has parameters, or a mapping of
several to their shares of the candidates.  A function of a node's rows is a family, too: see
`Custom`; it draws random numbers by `uniform` and `below`.

To add one: a module here, and its line below.
"""

from odrf.engine.randomness import below as below
from odrf.engine.randomness import uniform as uniform
from odrf.projections.axis import Axis as Axis
from odrf.projections.custom import Custom as Custom
from odrf.projections.estimated.cca import CanonicalCorrelation as CanonicalCorrelation
from odrf.projections.estimated.linear import Discriminant as Discriminant
from odrf.projections.estimated.linear import LeastSquares as LeastSquares
from odrf.projections.estimated.linear import Logistic as Logistic
from odrf.projections.estimated.pca import PrincipalComponents as PrincipalComponents
from odrf.projections.estimated.pda import PenalisedDiscriminant as PenalisedDiscriminant
from odrf.projections.estimated.projection_pursuit import ProjectionPursuit as ProjectionPursuit
from odrf.projections.estimated.ridge import Ridge as Ridge
from odrf.projections.extra import ExtraTrees as ExtraTrees
from odrf.projections.family import FAMILIES as FAMILIES
from odrf.projections.family import Family as Family
from odrf.projections.patch import Patch as Patch
from odrf.projections.rc import RandomCombination as RandomCombination
from odrf.projections.rotation import Rotation as Rotation
from odrf.projections.sparse import Sparse as Sparse
from odrf.projections.sphere import Sphere as Sphere
