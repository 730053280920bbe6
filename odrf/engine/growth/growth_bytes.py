"""How many bytes trees take while they grow, from the arrays that growth makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.growth.forest_growth import pays_to_copy
from odrf.engine.growth.growth_scratch import ScratchPool
from odrf.engine.growth.tree_growth import read_by_growth
from odrf.engine.growth.tree_kernel import buffers_for
from odrf.engine.memory import is_available
from odrf.engine.rows.coded import Matrix
from odrf.engine.rows.factors import n_kept
from odrf.engine.rows.sampling import Sampling, rows_drawn_once
from odrf.engine.settings import Settings

__all__ = ["GrowthBytes", "bytes_of_growth"]

# Bytes of a row of `Rows` beside its predictors: its number, response, weight and multiplicity.
OF_ROW = 4 + 8 + 8 + 4
# Bytes of a row's multiplicity in the draw of a tree, which is made of all rows.
OF_DRAW = 8


class GrowthBytes(NamedTuple):
    """The bytes that each thread takes while it grows a tree.

    Attributes
    ----------
    rows : float
        Its rows: the draw, and a copy of the predictors if that pays.
    scratch : float
        What searching takes, and the next tree uses again.
    buffers : float
        The nodes of the tree, before they are made a `Forest`.
    """

    rows: float
    scratch: float
    buffers: float


def bytes_of_growth(
    X: Matrix,
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: Settings,
    mixture: SamplerMixture,
    abreast: int,
    nodes: float,
    terms: float,
) -> GrowthBytes:
    """Return the bytes of each of `abreast` threads that grow trees of so many nodes and terms.

    The other arguments are those of `odrf.engine.growth.forest_growth.grow_forest`.
    """
    n = X.shape[1]
    array, factors = read_by_growth(X, feature_groups, mixture)
    drawn = rows_drawn_once(sampling, n)
    read = mixture.columns_read(feature_groups, settings, n)
    copied = pays_to_copy(n_kept(array, factors), read) and is_available(
        abreast * array.nbytes * drawn / n
    )
    columns = n_kept(array, factors) if copied else 0
    # arrays that are allocated and not written to take no memory
    scratch = ScratchPool(feature_groups, settings, mixture).take(n, n).scratch
    written = sum(
        each.nbytes * (drawn / n if len(each) >= n > 0 else 1.0) for each in _arrays_in(scratch)
    )
    few = buffers_for(2, 2, settings.n_classes)
    of_node = sum(each.nbytes for each in few[:-2]) / 2
    buffers = of_node * nodes + sum(each.nbytes for each in few[-2:]) / 2 * terms
    return GrowthBytes(drawn * (OF_ROW + 4 * columns) + OF_DRAW * n, written, buffers)


def _arrays_in(value: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of a named tuple, and of those in it; of several in one place the first."""
    found: dict[int, np.ndarray] = {}
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, np.ndarray):
            found.setdefault(each.__array_interface__["data"][0], each)
        elif isinstance(each, tuple):
            waiting += each
    yield from (array for array in found.values() if array.ndim)
