"""Families of projections: the distributions from which candidate directions are drawn.

Many extensions of random forests differ only in the distribution of candidate directions (Tomita
et al. 2020).  ``projection=`` of `odrf.odt`, `odrf.odrf` and `odrf.odbt` takes

- the name of a family, such as ``"sparse"``,
- an object of one of these classes, to set its parameters,
- a mapping of families to their shares of the candidates, to mix them, or
- a function of a node's rows, see `Custom`; it draws random numbers by `uniform` and `below`.

To add a family, write a module here and import its class below.
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
