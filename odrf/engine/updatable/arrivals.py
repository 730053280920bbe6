"""What comes to updatable trees, by which options they grow, and what changes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import SamplerMixture
from odrf.engine.settings import Settings
from odrf.engine.updatable.updatable_arrays import UpdatableCells

__all__ = ["Arrival", "Changed", "GrowthOptions", "Undo"]


class GrowthOptions(NamedTuple):
    """By which options updatable trees of one kind grow.

    Attributes
    ----------
    feature_groups, settings, mixture
        As in `odrf.engine.growth.forest_growth.grow_forest`.
    revised : int
        As in `odrf.engine.growth.tree_update.Update`.
    """

    feature_groups: FeatureGroups
    settings: Settings
    mixture: SamplerMixture
    revised: int


class Arrival(NamedTuple):
    """Rows that come and go in one update.

    Attributes
    ----------
    number : int
        The number of the update, from 1 on.
    cells : UpdatableCells
        All training rows.
    places : (m,) int64
        Where the new rows are, ascending.
    gone : (k,) int64
        Where the rows are that leave.
    n : int
        How many rows there are afterwards.
    """

    number: int
    cells: UpdatableCells
    places: NDArray[np.int64]
    gone: NDArray[np.int64]
    n: int


class Changed(NamedTuple):
    """What an update has changed of a tree; see `odrf.engine.growth.tree_update.Updated`."""

    drawn: int
    leaves_before: int
    withdrawn: int
    revisited: int
    split: int
    leaves: int
    depth_before: int
    depth: int


class Undo(NamedTuple):
    """What turns the arrays of a tree back to what they were before an update.

    Attributes
    ----------
    nodes : (m,) int32
        The nodes that were there before and have changed.
    fields : tuple of arrays (m, …)
        What they had of `odrf.engine.updatable.updatable_tree.CHANGING`.
    """

    nodes: NDArray[np.int32]
    fields: tuple[NDArray[Any], ...]
