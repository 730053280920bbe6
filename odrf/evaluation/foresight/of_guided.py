"""What a guided forest will take: pilot trees, and the arrays that growth makes of them."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import pandas as pd

from odrf.design import Design, TrainingData
from odrf.engine.guided.guided_bytes import GuidedSizes, bytes_of_guided_growth
from odrf.engine.trees.packing import HEAD
from odrf.evaluation.foresight.forecast import (
    COMPRESSED_ROWS,
    Bytes,
    Forecast,
    of_training_rows,
)
from odrf.evaluation.foresight.of_forests import OF_ONE_KIND, OF_TERM, WARM, WORD
from odrf.evaluation.foresight.pilot_rows import (
    OF_SIZES,
    OF_TIME,
    at_all_rows,
    pilot_rows,
    random_mask,
)
from odrf.fits.guided_fit import GuidedFit, grow_guided_fit
from odrf.fits.saving import saved_bytes
from odrf.options.guided_control import GuidedControl
from odrf.public.progress import progress_bar
from odrf.text.quantity import quantity

__all__ = ["forecast_of_guided"]

# Bytes of a region and of a term of the forest in which each region has its plane, from which
# predictions are packed.
UNSHARED_REGION, UNSHARED_TERM = 20, 8


class _Pilots(NamedTuple):
    """A guided forest of a few trees, and the seconds of each in a fit."""

    fit: GuidedFit
    seconds: float

    def mean(self, name: str) -> float:
        """Return a mean over the trees."""
        trees = self.fit.guided
        if name == "terms":
            return float((trees.n_inner * trees.n_columns).mean())
        total = {"regions": len(trees.left), "planes": len(trees.threshold), "bytes": trees.nbytes}
        return total.get(name, len(trees.columns)) / trees.n_trees


def forecast_of_guided(
    design: Design,
    data: TrainingData,
    frame: pd.DataFrame,
    control: GuidedControl,
    seconds: float,
    progress: bool = False,
) -> Forecast:
    """Return what a guided forest will take, whose design took so many `seconds` to build.

    `frame` has the training rows as the user gave them; `progress` shows a bar of the pilot trees.
    """
    n, B = len(data.y), control.n_trees
    threads = min(control.n_jobs, B)
    number = max(OF_ONE_KIND, threads)
    rows = pilot_rows(n, number, B)
    warm = _grown(design, data, frame, control, WARM, 1)
    pilots = []
    with progress_bar(total=len(rows), unit="table", progress=progress) as bar:
        for size in rows:
            pilots.append(_grown(design, data, frame, control, size, number))
            bar.update()

    def at_n(name: str) -> float:
        return at_all_rows(rows, [each.mean(name) for each in pilots], n, OF_SIZES)

    sizes = GuidedSizes(at_n("columns"), at_n("regions"), at_n("planes"))
    of_tree, last = at_n("bytes"), pilots[-1].fit
    growing = bytes_of_guided_growth(n, control.settings, sizes) + of_tree
    least = warm.fit.guided.nbytes
    of_byte = (saved_bytes(last, False) - saved_bytes(warm.fit, False)) / max(
        1, last.guided.nbytes - least
    )
    some = _some(data, frame, COMPRESSED_ROWS, control.seed)
    small = GuidedFit("", design, *some, control, warm.fit.guided, warm.fit.streams)
    parts = {
        "training rows": _with_frame(of_training_rows(small, data, some[0]), frame),
        "trees": Bytes(B * of_tree, B * of_tree, max(0.0, of_byte) * B * of_tree),
        f"growth in {quantity(threads, 'thread')}": Bytes(threads * growing),
    }
    inner = (sizes.regions - 1) / 2
    terms = at_n("terms")
    return Forecast(
        parts,
        seconds + B * at_all_rows(rows, [each.seconds for each in pilots], n, OF_TIME) / threads,
        B
        * (
            HEAD * WORD * inner
            + OF_TERM * terms
            + UNSHARED_REGION * sizes.regions
            + UNSHARED_TERM * terms
        ),
        0.0,
        B,
        inner + 1,
        f"{quantity(number, 'tree')} on {', '.join(f'{size:,}' for size in rows)} rows",
    )


def _with_frame(rows: Bytes, frame: pd.DataFrame) -> Bytes:
    """Return the bytes of training rows, with those of the copy of the frame."""
    copied = float(frame.memory_usage(deep=False).sum())
    return rows._replace(growing=rows.growing + copied, fitted=rows.fitted + copied)


def _some(
    data: TrainingData, frame: pd.DataFrame, size: int, seed: int
) -> tuple[TrainingData, pd.DataFrame]:
    """Return some random rows, and how the user gave them."""
    if size >= len(data.y):
        return data, frame
    mask = random_mask(data, size, seed)
    return data.keeping(mask), frame[mask]


def _grown(
    design: Design,
    data: TrainingData,
    frame: pd.DataFrame,
    control: GuidedControl,
    size: int,
    number: int,
) -> _Pilots:
    """Return a fit of the first trees on some rows."""
    some = _some(data, frame, size, control.seed)
    began = perf_counter()
    fit = grow_guided_fit("", design, *some, replace(control, n_trees=number), False)
    return _Pilots(fit, (perf_counter() - began) * min(control.n_jobs, number) / number)
