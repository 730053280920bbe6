"""What boosted trees will take: the first rounds, and the arrays that boosting makes."""

from __future__ import annotations

from time import perf_counter

from odrf.design import Design, TrainingData
from odrf.design.offset import Offset
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.rows.coded import stored
from odrf.engine.trees.packing import HEAD
from odrf.evaluation.foresight.forecast import (
    COMPRESSED_ROWS,
    Bytes,
    Forecast,
    of_training_rows,
)
from odrf.evaluation.foresight.of_forests import OF_TERM, WARM, WORD
from odrf.evaluation.foresight.pilot_rows import random_mask
from odrf.fits.boosted_fit import BoostedFit, grow_boosted_fit
from odrf.fits.files.costs import bytes_in_memory
from odrf.fits.saving import saved_bytes
from odrf.options.boosting_control import BoostingControl
from odrf.text.quantity import quantity

__all__ = ["forecast_of_boosting"]

# The share of the rounds that are tried, and the fewest.
SHARE, FEWEST = 0.05, 4
# Numbers of 8 bytes that a run has for each row: weight and how often it was drawn; for each of its
# K scores the score and two derivatives; and in each thread response and weights of the tree.
OF_ROW, OF_SCORE, OF_THREAD = 2, 3, 2
# Bytes of a tree of a round beside those of its arrays, until all trees are joined.
OBJECTS = 2500
# Numbers of 8 bytes for each event time: the time, twice, and the hazard until then.
OF_EVENT = 3


def forecast_of_boosting(
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: BoostingControl,
    seconds: float,
    progress: bool = False,
) -> Forecast:
    """Return what boosted trees will take, whose design took so many `seconds` to build.

    `progress` shows a bar of the first rounds.
    """
    n, R, plan = len(data.y), control.n_trees, control.plan
    rounds = min(R, max(FEWEST, round(SHARE * R)))
    _grown(design, *_some_rows(data, offset, WARM, control.seed), control, 1)
    first, of_first = _grown(design, data, offset, control, 1)
    fit, of_all = _grown(design, data, offset, control, rounds, progress)
    # where others use the processor, one round can take longer than several
    of_round = max(0.0, of_all - of_first) / max(1, rounds - 1)
    forest, of_rounds = fit.forest, plan.n_runs * plan.n_outputs
    tried, B = forest.n_trees, R * of_rounds
    of_tree = forest.nbytes / tried
    threads = min(control.n_jobs, of_rounds)
    growing = bytes_of_growth(
        data.X, design.feature_groups, plan.sampling, plan.settings, plan.mixture, threads,
        forest.n_nodes / tried, len(forest.index) / tried,
    )  # fmt: skip
    of_runs = bytes_in_memory(fit) - bytes_in_memory(data) - forest.nbytes + _of_baseline(data)
    of_scores = 8.0 * n * plan.n_runs * (OF_ROW + OF_SCORE * plan.n_outputs)
    saved = saved_bytes(fit, False)
    more = (saved - saved_bytes(first, False)) / max(1, tried - first.forest.n_trees)
    some, of_some = _some_rows(data, offset, COMPRESSED_ROWS, control.seed)
    small, _ = _grown(design, some, of_some, control, 1)
    parts = {
        "training rows": of_training_rows(small, data, some),
        "rows of the runs": Bytes(of_scores + of_runs + stored(data.X).nbytes, of_runs),
        "trees": Bytes(B * (2 * of_tree + OBJECTS), B * of_tree, saved + (B - tried) * more),
        f"growth in {quantity(threads, 'thread')}": Bytes(
            threads * (sum(growing) + 8.0 * n * OF_THREAD)
        ),
    }
    splits = int((forest.left >= 0).sum()) / tried
    return Forecast(
        parts,
        seconds + of_first + (R - 1) * of_round,
        B * (HEAD * WORD * splits + OF_TERM * len(forest.index) / tried),
        0.0,
        B,
        splits + 1,
        f"{quantity(rounds, 'round')} on {n:,} rows",
        _notes(control),
        trees_of_round=of_rounds,
    )


def _some_rows(
    data: TrainingData, offset: Offset, size: int, seed: int
) -> tuple[TrainingData, Offset]:
    """Return some random rows with their offsets."""
    if size >= len(data.y):
        return data, offset
    mask = random_mask(data, size, seed)
    return data.keeping(mask), offset.keeping(mask)


def _grown(
    design: Design,
    data: TrainingData,
    offset: Offset,
    control: BoostingControl,
    rounds: int,
    progress: bool = False,
) -> tuple[BoostedFit, float]:
    """Return the fit of the first rounds, and its seconds."""
    began = perf_counter()
    fit = grow_boosted_fit("", design, data, offset, control.with_rounds(rounds), progress)
    return fit, perf_counter() - began


def _of_baseline(data: TrainingData) -> float:
    """Return the bytes of the baseline hazard at event times; 0 if there are none."""
    return 0.0 if data.times is None else 8.0 * OF_EVENT * len(data.times.event_times)


def _notes(control: BoostingControl) -> tuple[str, ...]:
    if control.validation is None:
        return ()
    return ("All rounds are counted; validation= may end it earlier.",)
