"""What a forest will take: pilot trees of each kind, and the arrays that growth makes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.apportioning import apportion
from odrf.engine.growth.forest_growth import TreeGrower
from odrf.engine.growth.growth_bytes import bytes_of_growth
from odrf.engine.parallel import in_order
from odrf.engine.randomness import streams
from odrf.engine.trees.forest_arrays import OF_NODES, OF_TERMS, Forest, joined
from odrf.engine.trees.packing import HEAD
from odrf.evaluation.foresight.forecast import (
    COMPRESSED_ROWS,
    Bytes,
    Forecast,
    of_training_rows,
)
from odrf.evaluation.foresight.of_curves import bytes_of_curves, curves_of_pilots, saved_share
from odrf.evaluation.foresight.pilot_rows import (
    OF_SIZES,
    OF_TIME,
    at_all_rows,
    pilot_rows,
    random_rows,
)
from odrf.fits.blending import pilot_trees
from odrf.fits.fit import Fit
from odrf.fits.growing import kinds_of_blend, one_kind
from odrf.fits.saving import saved_bytes
from odrf.fits.survival.evidence_of_curves import judge_of_pilots
from odrf.fits.survival.grown_response import grown_response
from odrf.options.control import Control
from odrf.options.kinds import blends
from odrf.options.request import NAMES, Request, request_of
from odrf.public.progress import progress_bar
from odrf.text.quantity import quantity

__all__ = [
    "COMPRESSED_BYTES",
    "OF_ONE_KIND",
    "OF_TERM",
    "WARM",
    "WORD",
    "forecast_of_forest",
    "root_of",
]

# Pilot trees of a forest of one kind.
OF_ONE_KIND = 3
# Trees of so many bytes together are compressed to see how large they are in a file.
COMPRESSED_BYTES = 2**21
# Rows on which kernels are compiled, or loaded, before time is taken.
WARM = 200
# Bytes of the record of a term, and of a number, in packed trees.
OF_TERM, WORD = 8, 4


class PilotTrees(NamedTuple):
    """Pilot trees of one kind, and what trees of this kind on all rows have, on average.

    Attributes
    ----------
    trees : list of Forest
        Those on the most rows.
    seconds, nodes, splits, terms : float
    whole, lean, memory : float
        Bytes of a tree as it has grown, of a pilot tree that waits, and what a tree takes in the
        forest.
    curves : float
        Bytes of the curves of its leaves; 0 if the response is no time to an event.
    """

    trees: list[Forest]
    seconds: float
    nodes: float
    splits: float
    terms: float
    whole: float
    lean: float
    memory: float
    curves: float


def forecast_of_forest(
    design: Design, data: TrainingData, request: Request, seconds: float, progress: bool = False
) -> Forecast:
    """Return what a forest will take, whose design took so many `seconds` to build.

    `progress` shows a bar of the pilot trees.
    """
    blended = blends(request)
    controls = kinds_of_blend(request, design, data)[0] if blended else {}
    kinds = list(controls.values()) or [one_kind(request, design, data)]
    base, n, G = kinds[0], len(data.y), len(kinds)
    B, jobs = base.n_trees, base.n_jobs
    of_fit = pilot_trees(n, G, B) if blended else 0
    grown = max(B, of_fit * G)
    # with other pilot trees a blend would get other shares of its kinds, and another size
    number = of_fit if blended else max(OF_ONE_KIND, min(jobs, B))
    rows = [n] if blended else pilot_rows(n, number, B)
    tables = [random_rows(data, size, base.seed) for size in rows]
    with progress_bar(total=G * len(tables) * number, unit="tree", progress=progress) as bar:
        pilots = [
            _pilots_of(control, design, tables, n, number, grown, bar.update) for control in kinds
        ]
    counts, weighing = _of_each_kind(kinds, pilots, tables[-1], request.objective)
    forest = _Forest(kinds, pilots, counts, of_fit, jobs)
    some = random_rows(data, COMPRESSED_ROWS, base.seed)
    fit = _fit_of(root_of(pilots[0].trees[0]), base, design, some)
    parts = {
        "training rows": of_training_rows(fit, data, some),
        "trees": forest.bytes()._replace(saved=_saved(pilots, kinds, counts, design, tables[-1])),
        f"growth in {quantity(min(jobs, B), 'thread')}": Bytes(forest.growing(design, data)),
    }
    if data.times is not None:
        few = pilots[0].trees[:OF_ONE_KIND]
        saved = saved_share(_fit_of(joined(few, len(few)), base, design, tables[-1]))
        parts["curves"] = bytes_of_curves(B, n, forest.mean("curves"), saved)
    out_of_bag = base.resample != "none"
    return Forecast(
        parts,
        seconds + forest.seconds + weighing,
        forest.packed,
        (B + 8.0 * (base.n_classes + 1)) * n if out_of_bag else 0.0,
        B,
        forest.mean("nodes") / 2 + 0.5,
        _in_words(number, controls, rows),
        _notes(base),
    )


def _of_each_kind(
    kinds: Sequence[Control], pilots: Sequence[PilotTrees], data: TrainingData, objective: str
) -> tuple[NDArray[np.int64], float]:
    """Return how many trees of each kind the forest has, and the seconds that took to find out."""
    base, began = kinds[0], perf_counter()
    if len(kinds) == 1:
        return np.array([base.n_trees]), 0.0
    response = grown_response(data, base)
    evidence = judge_of_pilots(data, base)(
        [each.trees for each in pilots],
        data.X,
        response.y,
        response.weights,
        [each.sampling for each in kinds],
        streams(base.seed, 0, len(pilots[0].trees)),
        base.n_jobs,
        data.codes,
    )
    counts = apportion(evidence.weights(objective), base.n_trees)
    return counts, perf_counter() - began


class _Forest(NamedTuple):
    """Kinds, their pilot trees, how many trees of each kind the forest has and its fit pilots."""

    kinds: Sequence[Control]
    pilots: Sequence[PilotTrees]
    counts: NDArray[np.int64]
    of_fit: int
    jobs: int

    def mean(self, name: str) -> float:
        """Return a mean over the trees of the forest."""
        values = [getattr(each, name) for each in self.pilots]
        return float(np.average(values, weights=self.counts))

    @property
    def n_trees(self) -> int:
        return int(self.counts.sum())

    @property
    def seconds(self) -> float:
        """Seconds of growth, of the pilot trees of the fit, too."""
        grown = np.maximum(self.counts, self.of_fit)
        return sum(int(k) * each.seconds for k, each in zip(grown, self.pilots, strict=True))

    @property
    def packed(self) -> float:
        """Bytes of the trees as predictions read them."""
        words = HEAD * WORD * self.mean("splits") + OF_TERM * self.mean("terms")
        return self.n_trees * words

    def bytes(self) -> Bytes:
        """Return the bytes of all trees."""
        fitted = self.n_trees * self.mean("memory")
        of_pilots = self.of_fit * sum(each.lean for each in self.pilots)
        # what pilot trees had is free again, but in pieces too small for the arrays of the forest
        return Bytes(fitted + of_pilots, fitted)

    def growing(self, design: Design, data: TrainingData) -> float:
        """Return the bytes of threads that grow trees, beside the trees that are complete."""
        threads = min(self.jobs, self.n_trees)
        of_kinds = [
            bytes_of_growth(
                data.X, design.feature_groups, control.sampling, control.settings,
                control.mixture, threads, pilot.nodes, pilot.terms,
            )
            for control, pilot, count in zip(self.kinds, self.pilots, self.counts, strict=True)
            if count
        ]  # fmt: skip
        trees = max(pilot.whole for pilot in self.pilots)
        rows = max(each.rows for each in of_kinds)
        # each kind keeps its scratch until the forest is grown
        kept = sum(each.scratch + each.buffers for each in of_kinds)
        return threads * (rows + kept + trees)


class _PilotsGrown(NamedTuple):
    """Trees of one kind on some rows, seconds of each tree of the forest, bytes of its curves."""

    trees: list[Forest]
    seconds: float
    curves: float


def _pilots_of(
    control: Control,
    design: Design,
    tables: Sequence[TrainingData],
    n: int,
    number: int,
    n_trees: int,
    advance: Callable[[], object],
) -> PilotTrees:
    """Grow a `number` of pilot trees on tables of rising size, for `n_trees` of n rows."""
    rows = [len(table.y) for table in tables]
    _grown(control, design, random_rows(tables[0], WARM, control.seed), 1, 1)
    found = [_grown(control, design, table, number, n_trees, advance) for table in tables]
    trees = found[-1].trees
    kept = joined(trees, number)
    splits, terms = (
        [float(np.mean([one(tree) for tree in grown.trees])) for grown in found]
        for one in (_n_splits, _n_terms)
    )
    most = min(control.settings.max_leaves, n)
    n_splits = min(at_all_rows(rows, splits, n, OF_SIZES), most - 1.0)
    ratio = n_splits / splits[-1] if splits[-1] else 1.0
    whole, lean = (
        float(np.mean([tree.nbytes for tree in some]))
        for some in (trees, [t.lean() for t in trees])
    )
    return PilotTrees(
        trees,
        at_all_rows(rows, [grown.seconds for grown in found], n, OF_TIME),
        2 * n_splits + 1,
        n_splits,
        terms[-1] * ratio,
        whole * ratio,
        lean * ratio,
        kept.nbytes / number * ratio,
        at_all_rows(rows, [grown.curves for grown in found], n, OF_SIZES),
    )


def _grown(
    control: Control,
    design: Design,
    data: TrainingData,
    number: int,
    n_trees: int,
    advance: Callable[[], object] = int,
) -> _PilotsGrown:
    """Return the first trees of a kind on some rows."""
    jobs, response = min(control.n_jobs, number), grown_response(data, control)
    tree_streams = streams(control.seed, 0, number)
    began = perf_counter()
    grow = TreeGrower(
        data.X, response.y, response.weights, design.feature_groups, control.sampling,
        control.settings, control.mixture, number, jobs, data.codes, response.ranks,
    )  # fmt: skip
    trees = []
    for tree in in_order(grow, tree_streams, jobs, data.X.size):
        trees.append(tree)
        advance()
    curves = curves_of_pilots(trees, control, data, tree_streams)
    of_one = (perf_counter() - began) / -(-number // jobs)
    return _PilotsGrown(trees, of_one / min(control.n_jobs, n_trees), curves)


def _saved(
    pilots: Sequence[PilotTrees],
    kinds: Sequence[Control],
    counts: NDArray[np.int64],
    design: Design,
    data: TrainingData,
) -> float:
    """Return the bytes that all trees, so many of each kind, add to a file."""
    whole = 0.0
    for pilot, control, count in zip(pilots, kinds, counts.tolist(), strict=True):
        if count:
            size = np.cumsum([tree.nbytes for tree in pilot.trees])
            number = max(1, int((size <= COMPRESSED_BYTES).sum()))
            few = joined(pilot.trees[:number], number)
            root = joined([root_of(pilot.trees[0])], 1)
            saved = [
                saved_bytes(_fit_of(each, control, design, data), False) for each in (few, root)
            ]
            of_byte = max(0, saved[0] - saved[1]) / float(size[number - 1])
            whole += count * of_byte * pilot.whole
    return whole


def root_of(tree: Forest) -> Forest:
    """Return a tree that is only the root of another one."""
    arrays = {name: getattr(tree, name)[:1] for name in OF_NODES}
    arrays |= {name: getattr(tree, name)[:0] for name in OF_TERMS}
    arrays |= {"left": np.array([-1]), "root": np.array([0, 1]), "start": np.zeros(2, np.int64)}
    return replace(tree, surrogates=None, **arrays)


def _fit_of(trees: Forest, control: Control, design: Design, data: TrainingData) -> Fit:
    """Return a fit of a few trees, to see how large its file is."""
    request = request_of(dict.fromkeys(NAMES))
    tree_streams = streams(control.seed, 0, trees.n_trees)
    return Fit("", design, data, control, trees, tree_streams, request)


def _n_splits(tree: Forest) -> int:
    return int((tree.left >= 0).sum())


def _n_terms(tree: Forest) -> int:
    return len(tree.index)


def _in_words(number: int, controls: Mapping[str, Control], rows: Sequence[int]) -> str:
    """Return which pilot trees were grown."""
    kinds = f" of each of {len(controls)} kinds" if controls else ""
    sizes = ", ".join(f"{size:,}" for size in rows)
    return f"{quantity(number, 'tree')}{kinds} on {sizes} rows"


def _notes(control: Control) -> tuple[str, ...]:
    if control.alpha_rule.needs_search or control.alpha is not None:
        return ("Pruning by alpha= is not counted.",)
    return ()
