"""What a guided forest consists of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.design import Design, TrainingData
from odrf.engine.guided.guided_forest import GuidedForest
from odrf.engine.guided.guided_growth import grow_guided
from odrf.engine.randomness import streams
from odrf.engine.trees.forest_arrays import Forest
from odrf.options.guided_control import GuidedControl

__all__ = ["GuidedFit", "grow_guided_fit", "grow_guided_trees"]


@dataclass(frozen=True)
class GuidedFit:
    """Everything a result is computed from.  It pickles.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        How the formula turns a data frame into predictors and response.
    data : TrainingData
        The rows the trees were grown on.
    frame : DataFrame
        The same rows as the user gave them.
    control : GuidedControl
        Every option, resolved.
    guided : GuidedForest
        The trees.
    streams : (B, 4) uint64
        Random stream of each tree.
    further_seeds : tuple of int
        Seeds of the forests that were combined with the first, whose seed `control` has.
    votes : bool
        The values of leaves are votes: see `odrf.engine.guided.guided_forest.GuidedForest`.
    summed : bool
        Whether a prediction is the sum of the trees.
    """

    ordered: ClassVar[bool] = False
    votes: ClassVar[bool] = True
    summed: ClassVar[bool] = False

    call: str
    design: Design
    data: TrainingData
    frame: pd.DataFrame
    control: GuidedControl
    guided: GuidedForest
    streams: NDArray[np.uint64]
    further_seeds: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        """``"regression"`` or ``"classification"``."""
        return self.design.response.kind

    @property
    def forest(self) -> Forest:
        """The trees with a plane of its own for each region."""
        return self.guided.unshared


def grow_guided_fit(
    call: str,
    design: Design,
    data: TrainingData,
    frame: pd.DataFrame,
    control: GuidedControl,
    progress: bool,
) -> GuidedFit:
    """Grow the trees that the options ask for."""
    own = streams(control.seed, 0, control.n_trees)
    guided = grow_guided_trees(design, data, control, own, control.n_jobs, progress)
    return GuidedFit(call, design, data, frame, control, guided, own)


def grow_guided_trees(
    design: Design,
    data: TrainingData,
    control: GuidedControl,
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    progress: bool,
) -> GuidedForest:
    """Grow a guided tree for each of the streams (B, 4)."""
    with tqdm(total=len(tree_streams), unit="tree", disable=not progress) as bar:
        return grow_guided(
            data.X,
            data.y,
            data.weights,
            design.feature_groups,
            control.settings,
            tree_streams,
            n_jobs,
            bar.update,
        )
