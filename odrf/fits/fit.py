"""The fit of trees and forests, and what all fits have in common."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.resamples import Draws, Sampling
from odrf.engine.trees.forest import Forest
from odrf.fits.blending import Blend
from odrf.options.request import Request
from odrf.options.tree import Control
from odrf.pruning.validation import OutOfBagChoice, SubtreePath

__all__ = ["AnyControl", "AnyFit", "Fit", "Pruning"]


class AnyControl(Protocol):
    """The options that all fits have."""

    @property
    def seed(self) -> int:
        """The seed of the fit."""

    @property
    def n_jobs(self) -> int:
        """Threads."""


class AnyFit(Protocol):
    """What predictions, importances and reports use of a fit, however its trees were grown."""

    votes: ClassVar[bool]
    summed: ClassVar[bool]

    @property
    def ordered(self) -> bool:
        """Whether the predicted class is the median of the ordered classes."""

    @property
    def kind(self) -> str:
        """``"regression"``, ``"classification"`` or ``"survival"``."""

    @property
    def call(self) -> str:
        """The call that made it, as shown in summaries."""

    @property
    def design(self) -> Design:
        """The recipe from a data frame to predictors and response."""

    @property
    def data(self) -> TrainingData:
        """The training rows."""

    @property
    def forest(self) -> Forest:
        """The trees."""

    @property
    def control(self) -> AnyControl:
        """The options, resolved."""


@dataclass(frozen=True)
class Pruning:
    """How a fit was pruned.

    Attributes
    ----------
    grown : Fit
        The fit before pruning.
    by_options : bool
        Whether it was pruned by its options, and not by a call of `prune`, or as one tree of a
        forest that was pruned.
    path : SubtreePath or None
        The pruning path that the tree was chosen from.
    choice : OutOfBagChoice or None
        If out-of-bag rows have chosen α, what they choose for each other.
    """

    grown: Fit
    by_options: bool
    path: SubtreePath | None
    choice: OutOfBagChoice | None = None

    def of_tree(self, i: int) -> Pruning:
        """Return how tree `i` alone was pruned, by options and out-of-bag rows of the forest."""
        return Pruning(self.grown.of_tree(i), False, None)


@dataclass(frozen=True)
class Fit:
    """A fit of a tree or forest, from which results are computed.  It can be pickled.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        The recipe from a data frame to predictors and response.
    data : TrainingData
        The training rows.
    control : Control
        The options, resolved.
    forest : Forest
        The trees; an oblique decision tree is a forest of one tree.
    streams : (B, 4) uint64
        Random stream of each tree, from which its resample can be drawn again.
    request : Request
        The options of the call, functions of n replaced by their values.  With it the same model is
        grown on other predictors; its functions are evaluated again when rows are added.
    blend : Blend or None
        The kinds of the trees and their weights, in a blend.
    kinds : dict
        The options of each kind, by its name; empty without a blend.
    further_seeds : tuple of int
        In a combined forest, the seeds of the forests after the first; that of the first is in
        `control`.
    changes : DataFrame or None
        What the last update changed, one row for each tree.
    n_at_split : (m,) int32, optional
        After an update, how many rows each node had when its split was made.
    pruning : Pruning or None
        How the fit was pruned, if it was.
    scale_errors : dict
        The out-of-bag errors by which the scale of the splits was chosen; empty if it was given.
    votes : bool
        False: values of leaves are means or class shares, not votes.
    summed : bool
        False: a prediction is the mean of the trees, not their sum.
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
    scale_errors: dict[str, float] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """``"regression"``, ``"classification"`` or ``"survival"``."""
        return self.design.response.kind

    @property
    def ordered(self) -> bool:
        """Whether the trees have the ordinal impurity: the predicted class is then the median."""
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
        """What repeats the draws of all trees: which rows each of them drew."""
        data = self.data
        return Draws(data.weights, self.samplings, self.streams, self.control.n_jobs, data.codes)

    @property
    def rows_added(self) -> tuple[int, int]:
        """How many updates there were, and how many rows have come with them."""
        n = self.data.n_rows
        return len(self.control.batches), n - self.control.sampling.first(n)

    def of_tree(self, i: int) -> Fit:
        """Return the fit of tree `i` alone."""
        control = self.control
        if self.blend is not None:
            control = list(self.kinds.values())[self.blend.of_tree[i]]
        nodes = slice(*self.forest.root[i : i + 2])
        return replace(
            self,
            call=f"{self.call}.tree({i})",
            control=control.with_trees(1),
            forest=self.forest.tree(i),
            streams=self.streams[i : i + 1],
            blend=None,
            kinds={},
            pruning=None if self.pruning is None else self.pruning.of_tree(i),
            changes=None if self.changes is None else self.changes.iloc[[i]],
            n_at_split=None if self.n_at_split is None else self.n_at_split[nodes],
        )

    @property
    def first_grown(self) -> Fit:
        """The fit before any pruning."""
        return self if self.pruning is None else self.pruning.grown.first_grown
