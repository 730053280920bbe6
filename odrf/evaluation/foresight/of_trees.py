"""What a single tree will take: the same fit on fewer rows, three times."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

from odrf.design import Design, TrainingData
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.trees.packing import HEAD
from odrf.evaluation.foresight.forecast import (
    COMPRESSED_ROWS,
    Bytes,
    Forecast,
    of_training_rows,
)
from odrf.evaluation.foresight.of_forests import OF_TERM, WARM, WORD
from odrf.evaluation.foresight.pilot_rows import (
    OF_SIZES,
    OF_TIME,
    at_all_rows,
    pilot_rows,
    random_rows,
)
from odrf.fits.files.costs import bytes_in_memory
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.fits.saving import saved_bytes
from odrf.fits.sizing import FOLDS, sized_tree
from odrf.fits.survival.tree_of_times import survival_tree_of
from odrf.options.request import Request
from odrf.public.progress import progress_bar

__all__ = ["forecast_of_tree"]


class _Pilot(NamedTuple):
    """The tree of some rows."""

    fit: Fit
    seconds: float

    @property
    def splits(self) -> int:
        """Splits of the tree before it is pruned."""
        return (self.fit.forest.n_nodes - 1) // 2

    @property
    def memory(self) -> int:
        """Bytes of the fit without its rows."""
        return bytes_in_memory(self.fit) - bytes_in_memory(self.fit.data)


def forecast_of_tree(
    design: Design, data: TrainingData, request: Request, seconds: float, progress: bool = False
) -> Forecast:
    """Return what a tree on all rows will take, whose design took so many `seconds` to build.

    `progress` shows a bar of the pilot trees.
    """
    n = len(data.y)
    rows = pilot_rows(n, 1, 1)
    control = _grown(design, random_rows(data, WARM, 0), request).fit.first_grown.control
    pilots = []
    with progress_bar(total=len(rows), unit="tree", progress=progress) as bar:
        for size in rows:
            pilots.append(_grown(design, random_rows(data, size, control.seed), request))
            bar.update()
    last = pilots[-1]

    def at_n(values: list[float], slopes: tuple[float, float] = OF_SIZES) -> float:
        return at_all_rows(rows, values, n, slopes)

    splits = at_n([float(each.splits) for each in pilots])
    leaves = at_n([float(each.fit.forest.leaves()[0]) for each in pilots])
    terms = len(last.fit.forest.index) / max(1, last.splits) * splits
    of_tree = last.fit.first_grown.forest.nbytes / max(1, last.splits) * splits
    searched = control.alpha_rule.needs_search or control.max_leaves_rule.needs_search
    threads = min(control.n_jobs, FOLDS) if searched else 1
    growing = bytes_of_growth(
        data.X, design.feature_groups, control.sampling, control.settings, control.mixture,
        threads, 2 * splits + 1, terms,
    )  # fmt: skip
    kept = FOLDS * of_tree if searched else of_tree
    some = random_rows(data, COMPRESSED_ROWS, control.seed)
    own = Fit(
        "", design, some, control, last.fit.forest, last.fit.streams, last.fit.request
    )  # fmt: skip
    fitted = at_n([float(each.memory) for each in pilots])
    parts = {
        "training rows": of_training_rows(own, data, some),
        "trees": Bytes(
            fitted + kept, fitted, at_n([float(saved_bytes(each.fit, False)) for each in pilots])
        ),
        "growth": Bytes(threads * sum(growing)),
    }
    return Forecast(
        parts,
        seconds + at_n([each.seconds for each in pilots], OF_TIME),
        HEAD * WORD * splits + OF_TERM * terms,
        0.0,
        1,
        leaves,
        f"the tree of {', '.join(f'{size:,}' for size in rows)} rows",
    )


def _grown(design: Design, data: TrainingData, request: Request) -> _Pilot:
    began = perf_counter()
    grown = grow_fit("", design, data, request)
    fit = sized_tree(grown if data.times is None else survival_tree_of(grown))
    return _Pilot(fit, perf_counter() - began)
