"""What a fit consists of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.rows.draws import Draws
from odrf.engine.rows.sampling import Sampling
from odrf.engine.trees.forest_arrays import Forest
from odrf.fits.blending import Blend
from odrf.options.control import Control
from odrf.options.request import Request
from odrf.pruning.subtree_path import SubtreePath

__all__ = ["AnyControl", "AnyFit", "Fit", "Pruning"]


class AnyControl(Protocol):
    """Which options all fits have."""

    @property
    def seed(self) -> int:
        """What repeats the fit."""

    @property
    def n_jobs(self) -> int:
        """Threads."""


class AnyFit(Protocol):
    """What predictions, importances and reports ask of a fit, however its trees were grown."""

    votes: ClassVar[bool]
    summed: ClassVar[bool]

    @property
    def ordered(self) -> bool:
        """Whether its classes are ordered, and their median is what it says."""

    @property
    def kind(self) -> str:
        """``"regression"`` or ``"classification"``."""

    @property
    def call(self) -> str:
        """The call that made it, as shown in summaries."""

    @property
    def design(self) -> Design:
        """How the formula turns a data frame into predictors and response."""

    @property
    def data(self) -> TrainingData:
        """The rows the trees were grown on."""

    @property
    def forest(self) -> Forest:
        """The trees."""

    @property
    def control(self) -> AnyControl:
        """Every option, resolved."""


@dataclass(frozen=True)
class Pruning:
    """How a fit was pruned.

    Attributes
    ----------
    grown : Fit
        The fit before.
    by_options : bool
        Whether the options of the fit asked for it, and so would again for other trees or rows.
    path : SubtreePath or None
        The subtrees that it was chosen from.
    """

    grown: Fit
    by_options: bool
    path: SubtreePath | None


@dataclass(frozen=True)
class Fit:
    """Everything a result is computed from.  It pickles.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        How the formula turns a data frame into predictors and response.
    data : TrainingData
        The rows the trees were grown on.
    control : Control
        Every option, resolved.
    forest : Forest
        The trees; an oblique decision tree is a forest of one.
    streams : (B, 4) uint64
        Random stream of each tree, from which its resample can be drawn again.
    request : Request
        What the call asked for, functions of n replaced by what they gave: enough to grow the
        like from other predictors, and, by its functions, to go on growing on further rows.
    blend : Blend or None
        How a forest of several kinds of trees came about.
    kinds : dict
        The options of each kind, by its name; empty where there is no blend.
    further_seeds : tuple of int
        Seeds of the forests that were combined with the first, whose seed `control` has.
    changes : DataFrame or None
        What the last update changed, a row for each tree.
    n_at_split : (m,) int32, optional
        How many rows each node had when its split was made, where that was not at first.
    pruning : Pruning or None
        How it was pruned, if it was.
    votes : bool
        Whether the values of leaves are votes, to be scaled so that they add up to 1.
    summed : bool
        Whether a prediction is the sum of the trees, not their mean.
    """

    votes: ClassVar[bool] = False
    summed: ClassVar[bool] = False

    call: str
    design: Design
    data: TrainingData
    control: Control
    forest: Forest
    streams: NDArray[np.uint64]
    request: Request
    blend: Blend | None = None
    kinds: dict[str, Control] = field(default_factory=dict)
    further_seeds: tuple[int, ...] = ()
    changes: pd.DataFrame | None = None
    n_at_split: NDArray[np.int32] | None = None
    pruning: Pruning | None = None

    @property
    def kind(self) -> str:
        """``"regression"`` or ``"classification"``."""
        return self.design.response.kind

    @property
    def ordered(self) -> bool:
        """Whether its trees grew by the impurity of ordered classes: they say their median."""
        return bool(self.forest.ordered)

    @property
    def samplings(self) -> list[Sampling]:
        """How each tree's rows were drawn."""
        if self.blend is None:
            return [self.control.sampling] * self.forest.n_trees
        of_kind = [control.sampling for control in self.kinds.values()]
        return [of_kind[g] for g in self.blend.of_tree]

    @property
    def draws(self) -> Draws:
        """Which rows each tree drew."""
        return Draws(self.data.weights, self.samplings, self.streams, self.control.n_jobs)

    @property
    def first_grown(self) -> Fit:
        """The fit before any pruning."""
        return self if self.pruning is None else self.pruning.grown.first_grown
