"""The fit of a guided forest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.guided.growth import grow_guided
from odrf.engine.numeric import streams
from odrf.engine.trees.forest import Forest
from odrf.options.guided import GuidedControl
from odrf.options.table import device_if_there
from odrf.public.progress import progress_bar

__all__ = ["GuidedFit", "grow_guided_fit", "grow_guided_trees"]


@dataclass(frozen=True)
class GuidedFit:
    """A fit of a guided forest, from which results are computed.  It can be pickled.

    Attributes
    ----------
    call : str
        The call that made it, as shown in summaries.
    design : Design
        The recipe from a data frame to predictors and response.
    data : TrainingData
        The training rows.
    frame : DataFrame
        A copy of the training rows as the user gave them.
    control : GuidedControl
        The options, resolved.
    guided : GuidedForest
        The trees.
    streams : (B, 4) uint64
        Random stream of each tree.
    further_seeds : tuple of int
        In a combined forest, the seeds of the forests after the first; that of the first is in
        `control`.
    ordered : bool
        False: ordered classes are treated as unordered.
    reader : Forest, optional
        The trees as they read rows with empty cells that training does not have; see
        `odrf.fits.prediction.empty_cells`.
    votes : bool
        True: values of leaves are votes, which are scaled to add up to 1; see
        `odrf.engine.guided.forest.GuidedForest`.
    summed : bool
        False: a prediction is the mean of the trees, not their sum.
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
    reader: Forest | None = None

    @property
    def kind(self) -> str:
        """``"regression"`` or ``"classification"``."""
        return self.design.response.kind

    @property
    def forest(self) -> Forest:
        """The trees with a copy of its plane for each region."""
        return self.guided.unshared if self.reader is None else self.reader


def grow_guided_fit(
    call: str,
    design: Design,
    data: TrainingData,
    frame: pd.DataFrame,
    control: GuidedControl,
    progress: bool,
) -> GuidedFit:
    """Grow a guided forest; `frame` holds the training rows as the user gave them."""
    tree_streams = streams(control.seed, 0, control.n_trees)
    guided = grow_guided_trees(design, data, control, tree_streams, control.n_jobs, progress)
    return GuidedFit(call, design, data, frame, control, guided, tree_streams)


def grow_guided_trees(
    design: Design,
    data: TrainingData,
    control: GuidedControl,
    tree_streams: NDArray[np.uint64],
    n_jobs: int,
    progress: bool,
) -> GuidedForest:
    """Grow a guided tree for each of the streams (B, 4)."""
    with progress_bar(total=len(tree_streams), unit="tree", progress=progress) as bar:
        return grow_guided(
            data.X,
            data.y,
            data.weights,
            design.feature_groups,
            control.settings,
            tree_streams,
            n_jobs,
            bar.update,
            device_if_there(control.device),
        )
