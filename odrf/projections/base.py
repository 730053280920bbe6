"""The base class of all families of projections, and checks of their parameters."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, is_dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_whole, is_number, is_whole
from odrf.engine.directions.candidates import FeatureGroups
from odrf.engine.directions.samplers import DirectionSampler
from odrf.engine.kernel_params import KernelParams
from odrf.engine.rows import Rows
from odrf.errors import InputError
from odrf.public.arguments import require_taken


class Table(NamedTuple):
    """What the defaults of a family depend on.

    `P`, `p`: number of predictors, and of their columns.
    `n_classes`: K; 1 for a regression.
    `single_tree`: whether a single tree is grown.
    `ranges` (p,): range (largest minus least value) of each column in training, by which it is
      scaled.
    `grid` (int, int, int): channels, height and width, if the data declare that predictors are
      pixels.
    `terms`: number of columns, a factor of many levels counting as one; p by default.
    `empty` (p,): which columns tell the empty cells of a predictor; None if there are none.
    """

    P: int
    p: int
    n_classes: int
    single_tree: bool
    ranges: NDArray[np.float64] | None = None
    grid: tuple[int, int, int] | None = None
    terms: int | None = None
    empty: NDArray[np.bool_] | None = None


# Fewest directions that a node tries by default.
FEWEST = 5
# What trees split.  Those of boosting and of times to an event split numbers, by regression.
SPLIT = {"regression": "numbers", "classification": "classes"}
# The families by their names; each registers itself when its module is imported.
FAMILIES: dict[str, type[Family]] = {}


@dataclass(frozen=True)
class Family(ABC):
    """A family of projections: a distribution of candidate directions, with its parameters.

    Attributes
    ----------
    name : str
        The name that users type: ``projection=name``.
    sampling_in_words, source : str
        How a direction is drawn, and the paper that proposed it.
    by_name : bool
        Whether ``projection=`` takes the name, that is, whether all parameters have defaults.
    beside_singles : bool
        Whether single predictors are tried beside its directions.
    on_subsets : bool
        Whether its directions are on subsets of predictors, whose size is ``subset_size``.
    is_estimated : bool
        Whether the coefficients of its directions are estimated, by the rows of the node.
    criterion : str
        The default impurity for classes.  It is entropy for random directions, where it finds
        better ones; estimated directions gain nothing by it.
    n_thresholds : "all" or int
        Thresholds tried along each direction by default: all cut points, or so many at random.
    mixes : bool
        Whether it can be mixed with other families; not if it rotates the columns of whole trees.
    narrows : bool
        Whether trees can be grown on a subset of the predictors; not if the family refers to
        columns by their positions among all.
    blended : bool
        Whether a forest of this family can consist of several kinds of trees, as large ones do by
        default.
    tasks : tuple of str
        ``"regression"``, ``"classification"`` or both.
    """

    name: ClassVar[str]
    sampling_in_words: ClassVar[str]
    source: ClassVar[str]
    by_name: ClassVar[bool] = True
    beside_singles: ClassVar[bool] = False
    on_subsets: ClassVar[bool] = False
    is_estimated: ClassVar[bool] = False
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

    def __new__(cls, *values: Any, **named: Any) -> Family:
        """Refuse parameters that the family does not have."""
        if is_dataclass(cls):
            require_taken(cls, values, named)
        return super().__new__(cls)

    def n_default(self, table: Table) -> int:
        """Return d, the number of directions that a node tries by default: max(5, ⌈√P⌉).

        They are few, as an estimated direction is worth many random ones.
        """
        return max(FEWEST, math.ceil(math.sqrt(table.P)))

    def n_distinct(self, table: Table) -> float:
        """Return how many distinct directions a node can try; infinity for most families."""
        return math.inf

    @abstractmethod
    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> DirectionSampler:
        """Return the sampler of `number` directions a node, with scratch for a tree of n rows."""

    @abstractmethod
    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return the most columns that a direction of a tree of n rows has."""

    def rotation(
        self, state: NDArray[np.uint64], rows: Rows, settings: KernelParams
    ) -> NDArray[np.float32] | None:
        """Return the orthogonal matrix (p, p) that rotates the columns of one tree, or None.

        It is drawn once for each tree, from its random stream `state`, which is advanced.  The
        sampler then draws single rotated columns, as in ``odrf.projections.rotation.Rotated``.
        """
        return None

    @abstractmethod
    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return the mean number of columns of a direction, about."""

    def settled(self, table: Table) -> Family:
        """Return the family with its parameters completed from the table.

        Raises
        ------
        InputError
            If the family cannot be used for the table.
        """
        self.require(table)
        return self

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool | None:
        """Return whether every column of the design can be drawn as a direction; None if unknown.

        Consistency of honest forests requires it: Assumption 1 of the paper on manifold-aware
        forests.

        Parameters
        ----------
        number : int
            Number of directions that a node tries.
        p : int
            Number of columns.
        subset_size : "random" or int
            Number of predictors in a subset, if directions are estimated on subsets.
        """
        return None

    def require(self, table: Table) -> None:
        """Raise `InputError` unless the family can be used for the table."""
        task = "regression" if table.n_classes == 1 else "classification"
        if task not in self.tasks:
            raise InputError(
                f'projection="{self.name}" is for {self.tasks[0]}, and these trees split '
                f'{SPLIT[task]}: use another family, such as "logistic"'
            )


# Checks of the parameters of families.


def share_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0, up to 1."""
    if isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0, up to 1')


def share(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number above 0, up to 1."""
    if not is_number(value) or not 0 < float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number above 0, up to 1")


def positive_or_auto(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is "auto" or a number above 0."""
    if isinstance(value, str) and value == "auto":
        return
    if not is_number(value) or not 0 < float(value) < math.inf:
        raise InputError(f'{argument}={value!r}: use "auto" or a number above 0')


def from_zero_to_one(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is a number between 0 and 1."""
    if not is_number(value) or not 0 <= float(value) <= 1:
        raise InputError(f"{argument}={value!r}: use a number between 0 and 1")


def whole_or_auto(argument: str, value: Any, least: int) -> None:
    """Raise `InputError` unless the value is "auto" or a whole number of at least `least`."""
    if not (isinstance(value, str) and value == "auto"):
        checked_whole(argument, value, least)


def grid_shape(argument: str, value: Any) -> tuple[int, int]:
    """Return a height and a width; raise `InputError` unless both are whole and at least 1."""
    if not _is_pair(value) or min(value) < 1:
        raise InputError(
            f"{argument}={value!r}: use (height, width), two whole numbers of at least 1; "
            "(1, length) for series"
        )
    return int(value[0]), int(value[1])


def require_pixels(channels: int, height: int, width: int, P: int, p: int) -> None:
    """Raise `InputError` unless the predictors are single columns, one for each pixel."""
    pixels = channels * height * width
    if not P == p == pixels:
        of = f"{channels} channels of " if channels > 1 else ""
        columns = f" of {p} columns" if p != P else ""
        raise InputError(
            f"{of}shape={(height, width)} are {pixels} pixels, but the formula has {P} predictors"
            f"{columns}: use the pixels, in the order channel, row, column, as the only predictors"
        )


def extent(argument: str, value: Any) -> tuple[int, int]:
    """Return the least and the largest length; a single number is both.

    Raise `InputError` unless they are whole, at least 1 and in order.
    """
    if is_whole(value) and value >= 1:
        return int(value), int(value)
    if not _is_pair(value) or not 1 <= value[0] <= value[1]:
        raise InputError(
            f'{argument}={value!r}: use "auto", a whole number of at least 1, or a pair '
            "(least, largest) of these"
        )
    return int(value[0]), int(value[1])


def _is_pair(value: Any) -> bool:
    return (
        isinstance(value, tuple | list)
        and len(value) == 2
        and all(is_whole(part) for part in value)
    )


# What stands for a function of the user in a fit from a file, which does not hold functions.


@dataclass(frozen=True)
class AbsentFunction:
    """A function that was not given when the fit was loaded; calling it says so."""

    name: str

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Raise `InputError`."""
        raise InputError(
            f"projection= was the function {self.name!r}, which the file does not hold: use "
            f"load(path, functions={{{self.name!r}: …}})"
        )
