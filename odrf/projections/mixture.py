"""Sampler mixtures: how many candidates of which family a node tries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.checks import AUTO, MOST, checked_whole, is_number, is_whole, is_word
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler, begins, draws
from odrf.engine.kernel_params import NO_LIMIT, KernelParams
from odrf.engine.numeric import apportion
from odrf.engine.rows import Rows
from odrf.errors import InputError, allowed
from odrf.projections.axis import Axis, AxisSampler, begin_axis, draw_axis
from odrf.projections.base import FAMILIES, Family, Table
from odrf.projections.custom import Custom
from odrf.projections.regression import EstimatedSampler, Logistic, draw_estimated
from odrf.projections.sparse import Sparse, SparseSampler, begin_sparse, draw_sparse

# Single, sparse and estimated directions as one sampler.
# Most forests mix these, those of the default among them.  With one sampler, whose parts may have 0
# candidates, all of them share one compiled kernel.


class UsualSampler(NamedTuple):
    """First single predictors, then sparse directions, then estimated ones.

    `number`: number of all candidates; a round has candidates of one part only.
    """

    number: int
    axis: DirectionSampler
    sparse: DirectionSampler
    estimated: DirectionSampler


@begins(UsualSampler)
def _begin(sampler, state, proposals):
    begin_axis(sampler.axis, state, proposals)
    begin_sparse(sampler.sparse, state, proposals)


@draws(UsualSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    axis, sparse, estimated = sampler.axis, sampler.sparse, sampler.estimated
    if first < axis.number:
        return draw_axis(axis, state, rows, lo, m, n_rows, first, feature_groups, proposals, work)
    before = axis.number
    if first < before + sparse.number:
        n, following = draw_sparse(
            sparse, state, rows, lo, m, n_rows, first - before, feature_groups, proposals, work
        )
        return n, before + following
    before += sparse.number
    n, following = draw_estimated(
        estimated, state, rows, lo, m, n_rows, first - before, feature_groups, proposals, work
    )
    return n, before + following


# Sampler mixtures: how many candidates of which family a node tries.

# Predictors tried singly beside directions in a forest, or √P if more.
MANY_SINGLES = 60
# The samplers that every tree has, and a family to make each where the mixture has none.
USUAL: dict[type, Family] = {
    AxisSampler: Axis(),
    SparseSampler: Sparse(),
    EstimatedSampler: Logistic(),
}


class Share(NamedTuple):
    """A family and the number of its directions that a node tries."""

    family: Family
    number: int


@dataclass(frozen=True)
class Mixture:
    """The families from which the candidates of a forest are drawn.

    `shares`: single predictors come first.
    """

    shares: tuple[Share, ...]

    @property
    def n_singles(self) -> int:
        """Number of predictors tried singly at a node."""
        return sum(share.number for share in self.shares if isinstance(share.family, Axis))

    @property
    def n_directions(self) -> int:
        """Number of other directions tried at a node."""
        return sum(share.number for share in self.shares) - self.n_singles

    @property
    def name(self) -> str:
        """The names of the families, without that of single predictors if there are others."""
        oblique = [family.name for family, _ in self.shares if not isinstance(family, Axis)]
        return " + ".join(oblique or [family.name for family, _ in self.shares])

    @property
    def on_subsets(self) -> bool:
        """Whether directions are estimated on random subsets of the predictors."""
        return any(family.on_subsets for family, _ in self.shares)

    @property
    def rotates(self) -> bool:
        """Whether the columns of whole trees are rotated."""
        return not self.shares[0].family.mixes

    def single_columns(self, p: int, subset_size: str | int) -> bool | None:
        """Return whether each of the p columns can be drawn as a direction; None if unknown."""
        of_shares = [
            family.single_columns(number, p, subset_size)
            for family, number in self.shares
            if number > 0
        ]
        return True if any(of_shares) else None if None in of_shares else False

    def samplers(
        self, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> tuple[DirectionSampler, ...]:
        """Return the samplers of a tree of n rows.

        Samplers of single, sparse and estimated directions are always among them, with 0 candidates
        if not used: so all mixtures of these share one compiled kernel.
        """
        usual: dict[type, DirectionSampler] = {}
        others = []
        for family, number in self.shares:
            sampler = family.sampler(number, feature_groups, settings, n)
            if type(sampler) in USUAL and type(sampler) not in usual:
                usual[type(sampler)] = sampler
            else:
                others.append(sampler)
        for kind, family in USUAL.items():
            usual.setdefault(kind, family.sampler(0, feature_groups, settings, n))
        axis, sparse, estimated = map(usual.__getitem__, USUAL)
        every_cut = settings.exact_rows == NO_LIMIT and self.n_directions == 0
        if every_cut and isinstance(axis, AxisSampler):
            # the best of all splits, of whatever predictor: levels in the order of all rows
            axis = axis._replace(few=NO_LIMIT, direction_rows=NO_LIMIT)
        number = axis.number + sparse.number + estimated.number
        return UsualSampler(number, axis, sparse, estimated), *others

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
    ) -> NDArray[np.float32] | None:
        """Return the matrix that rotates a tree's columns; None if no family has one."""
        return self.shares[0].family.rotation(state, rows, settings)

    def widest(
        self, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> tuple[int, int]:
        """Return the most columns that a direction of a tree of n rows has.

        Also the most on which one is estimated; 0 if none is estimated.
        """
        widest = estimated = 0
        for family, _ in self.shares:
            of_family = family.widest(feature_groups, settings, n)
            widest = max(widest, of_family)
            if family.is_estimated:
                estimated = max(estimated, of_family)
        return widest, estimated

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return about how many columns the candidates of a node read, counting repetitions."""
        columns = 0.0
        for family, number in self.shares:
            columns += number * family.columns_read(feature_groups, settings, n)
        return columns


def read_projection(value: Any) -> dict[Family, float]:
    """Return the families of ``projection=`` and their shares.

    `value`: the shares need not add up to 1.  Raises `InputError` if the value is none of these.
    """
    if not isinstance(value, Mapping):
        return {_family(value): 1.0}
    if not value:
        raise InputError(
            "projection={} is empty: give families and their shares, as in "
            '{"axis": 0.5, "logistic": 0.5}'
        )
    shares: dict[Family, float] = {}
    for name, share in value.items():
        shares[_family(name)] = _share(name, share)
    return shares


def without_share(value: Any) -> Any:
    """Return ``projection=`` with a single family in place of a mapping of it to its share.

    Raises `InputError`: the family or its share is invalid.
    """
    if not isinstance(value, Mapping) or len(read_projection(value)) > 1:
        return value
    return next(iter(value))


def _share(name: Any, value: Any) -> float:
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise InputError(f"projection: the share of {name!r} is {value!r}: use a number above 0")
    return float(value)


def _family(value: Any) -> Family:
    if isinstance(value, Family):
        return value
    if isinstance(value, type) and issubclass(value, Family):
        raise InputError(f"projection={value.__name__} is a class: write {value.__name__}()")
    if callable(value):
        return Custom(value)
    if not isinstance(value, str) or value not in FAMILIES:
        raise allowed("projection", value, FAMILIES)
    return FAMILIES[value]()


def mixture_for(
    families: Mapping[Family, float], n_singles: Any, n_projections: Any, table: Table
) -> Mixture:
    """Return how many directions of each family a node tries.

    `families`: as `read_projection` gives them.  `n_singles`, `n_projections`: number of predictors
    tried singly, and of other directions; with several families, n_projections is the number of all
    candidates.  `table`: what defaults depend on.  Raises `InputError` if a number is out of range,
    or does not apply to the family.
    """
    families = {family.settled(table): share for family, share in families.items()}
    if len(families) > 1:
        return _several(families, n_singles, n_projections, table)
    family = next(iter(families))
    if isinstance(family, Axis):
        if not _left_out(n_projections):
            raise InputError(
                f'n_projections={n_projections!r} does not go with projection="{family.name}", '
                "which tries single predictors only: leave it out, or choose another projection"
            )
        singles = family.n_default(table) if is_word(n_singles, AUTO) else n_singles
        return Mixture((_directions_of(family, checked_whole("n_singles", singles, 1), table),))
    count = family.n_default(table) if is_word(n_projections, AUTO) else n_projections
    directions = _directions_of(family, checked_whole("n_projections", count, 1, MOST), table)
    if family.beside_singles:
        singles = n_singles
        if is_word(singles, AUTO):
            singles = table.P if table.single_tree else max(MANY_SINGLES, math.ceil(table.P**0.5))
        singles = checked_whole("n_singles", singles, 0)
        return Mixture((_directions_of(Axis(), singles, table), directions))
    if not _left_out(n_singles):
        mix = f', or mix: projection={{"axis": 0.5, "{family.name}": 0.5}}'
        raise InputError(
            f'n_singles={n_singles!r} does not go with projection="{family.name}": '
            f"leave it out{mix if family.mixes else ''}"
        )
    return Mixture((directions,))


def _left_out(number: Any) -> bool:
    return is_word(number, AUTO) or (is_whole(number) and number == 0)


def _directions_of(family: Family, number: int, table: Table) -> Share:
    """Return `number` directions of a family, or all distinct ones if fewer."""
    return Share(family, int(min(number, family.n_distinct(table))))


def _several(
    families: Mapping[Family, float], n_singles: Any, n_projections: Any, table: Table
) -> Mixture:
    if not is_word(n_singles, AUTO):
        raise InputError(
            f'n_singles={n_singles!r} does not go with several families: give "axis" a share'
        )
    for family in families:
        if not family.mixes:
            raise InputError(
                f'projection="{family.name}" rotates the columns of whole trees and cannot be '
                "mixed with other families: use it alone"
            )
    total = n_projections
    if is_word(total, AUTO):
        total = sum(family.n_default(table) for family in families)
    total = checked_whole("n_projections", total, len(families), MOST)
    weights = np.array(list(families.values()))
    counts = np.maximum(apportion(weights / weights.sum(), total), 1)
    shares = [
        _directions_of(family, number, table)
        for family, number in zip(families, counts.tolist(), strict=True)
    ]
    shares.sort(key=lambda share: not isinstance(share.family, Axis))
    return Mixture(tuple(shares))
