"""What every family of projections has: a sampler of candidate directions, parameters, a source."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler
from odrf.engine.rows.rows import Rows
from odrf.engine.settings import Settings
from odrf.errors import InputError

__all__ = ["FAMILIES", "Family", "Table"]


class Table(NamedTuple):
    """What defaults depend on.

    Attributes
    ----------
    P, p : int
        Predictors and their columns.
    n_classes : int
        K; 1 for a regression.
    lone : bool
        Whether a single tree is grown.
    ranges : (p,) float64 or None
        Each column's range in training, by which it is scaled.
    grid : (int, int, int) or None
        Channels, height and width, where the data say that predictors are pixels.
    """

    P: int
    p: int
    n_classes: int
    lone: bool
    ranges: NDArray[np.float64] | None = None
    grid: tuple[int, int, int] | None = None


# The families by their names: each enters as its module is loaded.
FAMILIES: dict[str, type[Family]] = {}


@dataclass(frozen=True)
class Family(ABC):
    """A way of proposing directions.

    Attributes
    ----------
    name : str
        As ``projection=`` takes it.
    sampling_in_words, source : str
        From which distribution a direction is drawn, and who proposed it.
    by_name : bool
        Whether ``projection=`` takes its name: whether it has defaults.
    beside_singles : bool
        Whether single predictors are tried beside its directions.
    criterion : str
        The impurity for classes by which it does best: of many random directions entropy finds
        the better ones, estimated ones gain nothing by it.
    n_thresholds : "all" or int
        Cuts tried along each direction unless told otherwise: all, or so many at random.
    mixes : bool
        Whether others can be tried beside it; not where a whole tree has its way.
    narrows : bool
        Whether trees can be grown on some of the predictors as if there were no others; not where
        columns are known by their places among all.
    blended : bool
        Whether forests of it alone can be of several kinds of trees, as large ones then are by
        default.
    tasks : tuple of str
        What it can be used for.
    """

    name: ClassVar[str]
    sampling_in_words: ClassVar[str]
    source: ClassVar[str]
    by_name: ClassVar[bool] = True
    beside_singles: ClassVar[bool] = False
    criterion: ClassVar[str] = "gini"
    n_thresholds: ClassVar[str | int] = "all"
    mixes: ClassVar[bool] = True
    narrows: ClassVar[bool] = True
    blended: ClassVar[bool] = False
    tasks: ClassVar[tuple[str, ...]] = ("regression", "classification")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in cls.__dict__ and cls.by_name:
            FAMILIES[cls.name] = cls

    @abstractmethod
    def n_default(self, table: Table) -> int:
        """Return d, how many directions a node tries by default."""

    def n_distinct(self, table: Table) -> float:
        """Return how many distinct directions a node can try; infinity for most families."""
        return math.inf

    @abstractmethod
    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: Settings, n: int
    ) -> DirectionSampler:
        """Return the sampler of so many directions, with scratch for a tree of n rows."""

    @abstractmethod
    def widest(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns that a direction of a tree of n rows has."""

    def estimated(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> int:
        """Return the most columns that a direction is estimated on; 0 where none is."""
        return 0

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: Settings
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that turns the columns of one tree, or None.

        It is drawn once a tree, from its random stream `state`, which moves on; the sampler then
        has single columns of the rotated rows, as `odrf.projections.rotated.Rotated` does.
        """
        return None

    @abstractmethod
    def looked_at(self, feature_groups: FeatureGroups, settings: Settings, n: int) -> float:
        """Return about how many columns a direction looks at."""

    def settled(self, table: Table) -> Family:
        """Return the family with what it takes from the table.

        Raises
        ------
        InputError
            Unless it suits the table.
        """
        self.require(table)
        return self

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool | None:
        """Return whether every column of the design may be tried alone; None if that is not known.

        Theory on honest forests asks for it: Assumption 1 of the paper on manifold-aware forests.

        Parameters
        ----------
        number : int
            Directions that a node tries.
        p : int
            Columns.
        subset_size : "random" or int
            Predictors in a subset, where directions are estimated on subsets.
        """
        return None

    def require(self, table: Table) -> None:
        """Raise `InputError` unless the family suits the table."""
        task = "regression" if table.n_classes == 1 else "classification"
        if task not in self.tasks:
            raise InputError(
                f'projection="{self.name}" is for {self.tasks[0]}, this is a {task}: use another, '
                'such as "logistic"'
            )
