"""The families of projections by their names: a new one adds its line here."""

from __future__ import annotations

from odrf.projections.axis import Axis
from odrf.projections.cca import CanonicalCorrelation
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

__all__ = ["FAMILIES"]

FAMILIES: dict[str, type[Family]] = {
    family.name: family
    for family in (
        Logistic,
        LeastSquares,
        Discriminant,
        ProjectionPursuit,
        Ridge,
        CanonicalCorrelation,
        PenalisedDiscriminant,
        Sparse,
        RandomCombination,
        Rotation,
        PrincipalComponents,
        Patch,
        Axis,
        ExtraTrees,
    )
}
