"""Foresee what a tree or a forest takes: memory, file and seconds, from a few pilot trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from math import ceil
from time import perf_counter
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import api
from odrf.api.calling import checked_options, default_options, design_of, spelled_call
from odrf.api.forests import odrf
from odrf.api.trees import odt
from odrf.checks import checked_seed, checked_truth
from odrf.design import Design, TrainingData
from odrf.design.blocks import ROWS_PER_BLOCK, BlockSource, ChunkBlocks
from odrf.design.functions import environment
from odrf.design.missing import require_no_surrogates
from odrf.engine.chunks import growth_bytes
from odrf.engine.memory import in_bytes, resident_memory, times_available
from odrf.engine.resamples import rows_drawn_once
from odrf.engine.trees.routing import predict
from odrf.errors import InputError, UnknownArgumentError
from odrf.fits.blending import pilot_trees
from odrf.fits.files.saving import saved_bytes
from odrf.fits.files.storable_classes import bytes_in_memory
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit, one_kind
from odrf.fits.pruning import FOLDS, sized_forest, sized_tree
from odrf.options.blend import FEWEST_TREES, blends
from odrf.options.chunks import streamed_request, weights_column
from odrf.options.options import NAMES, DataOptions, Options
from odrf.public import public
from odrf.public.arguments import in_partitions, suggestion
from odrf.public.chunks import ChunkSource, chunks_of
from odrf.public.frames import in_pandas, is_partitioned
from odrf.public.progress import progress_bar
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Summary, card_as_html, card_as_text

# Rows on which functions are compiled before time is taken, and those that are compressed.
WARM, WARM_BLEND, COMPRESSED_ROWS = 200, 600, 20_000
# The most pilot trees on all rows, as a share; otherwise the share of the work of three sizes.
FEWEST_PILOTS, MOST_SHARE, SMALLER_SHARE = 3, 0.1, 0.12
SIZES, FEWEST_ROWS, OF_BLEND = (0.1, 0.3, 0.6), 2000, 300_000
# Exponents: leaves grow as the rows at most, and time has a share that does not depend on them.
OF_LEAVES, OF_TIME = (0.0, 1.0), (1.0, 1.2)
# Rows of the sample of rows in chunks; bytes of response and weight, and of packed nodes by leaf.
SAMPLED, OF_ROW, PACKED = 2**18, 16.0, 40.0
TITLE, MINUTE, HOUR, SHORT = "What a fit will take", 60.0, 3600.0, 0.1


@public
@dataclass(frozen=True, eq=False, repr=False)
class Foresight:
    """What a fit will take, returned by `odrf.foresee`.

    Attributes
    ----------
    call : str
    peak_bytes : float
        Memory that the call takes where it takes most, in addition to what the process has.
    fit_bytes : float
        Memory of the fit, with its training rows; forests of rows in chunks keep none.
    file_bytes : float
        The file that `save` writes.
    seconds : float
        Time of the call, when its functions are compiled.
    free_bytes : float
        Memory that the process may still take; infinity where the system does not tell.
    n_trees : int
    leaves : float
        Leaves of a tree, on average.
    pilots : str
        The trees that were grown to find this out.
    """

    call: str
    peak_bytes: float
    fit_bytes: float
    file_bytes: float
    seconds: float
    free_bytes: float
    n_trees: int
    leaves: float
    pilots: str

    @property
    def fits(self) -> bool:
        """Whether there is memory enough for the call."""
        return self.peak_bytes <= self.free_bytes

    def summary(self) -> Summary:
        """Return what is known, and what would fit into memory if the fit does not."""
        notes = () if self.fits else (self._way_out(),)
        return Summary(TITLE, self.call, self._facts(), {}, notes)

    __repr__ = card_as_text
    _repr_html_ = card_as_html

    def _shown_card(self) -> Card:
        return Card(TITLE, self._facts())

    def _facts(self) -> dict[str, str]:
        return {
            "Time": in_time(self.seconds),
            "Memory at its peak": in_bytes(self.peak_bytes),
            "Free memory": in_bytes(self.free_bytes),
            "Fit in memory": in_bytes(self.fit_bytes),
            "File": in_bytes(self.file_bytes),
            "Trees": f"{self.n_trees} of {self.leaves:,.0f} leaves",
            "Known from": self.pilots,
        }

    def _way_out(self) -> str:
        share = self.free_bytes / self.peak_bytes
        would = f"{self.leaves * share:,.0f} leaves would (max_leaves=, min_leaf=)"
        if self.n_trees > 1:
            fewer = quantity(max(1, int(self.n_trees * share)), "tree")
            would = f"{fewer} (n_trees=), or trees of {would}"
        return f"It does not fit into memory: about {would}."


@in_partitions("data")
def foresee(
    formula: str,
    data: pd.DataFrame | ChunkSource,
    *,
    model: Callable[..., Any] = odrf,
    progress: bool = False,
    **options: Any,
) -> Foresight:
    """Foresee the memory, the file and the time of a tree or forest, without making it.

    A few pilot trees are grown and saved: of a large forest on all rows, of a tree or a small
    forest on some of them.  Leaves and seconds follow by a power law of the rows; memory and file
    by the leaves.  Of a forest of rows in chunks, pilot trees grow on a random sample of up to
    262,144.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame, path or Chunks
        The rows of the fit: whatever the function takes, but for a data frame of Dask.
    model : {odrf.odrf, odrf.odt}, default odrf.odrf
        The function that would make the fit.
    progress : bool, default False
        Show a progress bar of the pilot fits.
    **options
        Its arguments.  Trees are taken to grow in the threads of `n_jobs`, whatever `backend` is.

    Returns
    -------
    Foresight

    Raises
    ------
    InputError
        If `model` is another function, the response a survival time, an option invalid, or
        `data` a data frame of Dask, whose trees may grow on other machines.
    MemoryError
        If not even the table fits into memory, or of rows in chunks the rows of one tree.

    Notes
    -----
    Foreseen divided by found, of eleven fits of 5,000 to 400,000 rows: memory of fits 0.8 to 1.3,
    its file 0.9 to 1.2, seconds 0.7 to 1.4.  Memory at the peak was 0.9 to 1.3 of that of fits that
    take 400 MB or more; of smaller ones it may lack some 30 MB.  Leaves of trees that are pruned by
    cross-validation may be half or double.  The data frame and compilation do not count.

    Examples
    --------
    >>> import odrf
    >>> odrf.foresee("cultivar ~ .", odrf.load_data("wine"), n_trees=50, seed=1).fits
    True
    """
    if model not in (odt, odrf):
        name = getattr(model, "__name__", repr(model))
        raise InputError(
            f"model={name}: foresee() is for trees and forests, model=odrf.odt or model=odrf.odrf; "
            "fit another model on fewer rows to see what it takes"
        )
    (of_rows, given), shown = _with_defaults(model, options), checked_truth("progress", progress)
    env, chunks, call = (
        environment(2),
        chunks_of(data),
        spelled_call(model, formula, of_rows, given),
    )
    request = checked_options(model, given)
    if model is odrf:
        require_no_surrogates(of_rows.missing)
    began = perf_counter()
    if chunks is not None and model is odt:
        seed = checked_seed(request.seed)
        request = replace(request, seed=seed)
        data, _ = api.chunks.sampled_table(formula, chunks, of_rows, seed, env, shown)
        chunks = None
    if chunks is None:
        table = cast("pd.DataFrame", in_pandas(data))
        design, training = design_of(formula, table, of_rows, env, with_times=True)
        if training.times is not None:
            raise InputError(
                "the response is a survival time, and foresee() is for numbers and classes: "
                "make a forest of a few trees instead, and multiply"
            )
        rows = _Pilots(design, training, len(training.y), perf_counter() - began)
        return _foreseen(call, rows, request, shown)
    if is_partitioned(chunks.source):
        raise InputError(
            "a data frame of Dask is not foreseen, as trees may grow on other machines: write it "
            "to a folder of Parquet files, and give the path"
        )
    seen = _SampledSource(ChunkBlocks(chunks, weights_column(of_rows)))
    frame = seen.sample()
    design, training = design_of(formula, frame, of_rows, env)
    used = round(seen.n * len(training.y) / len(frame))
    request = streamed_request(request)
    share: Any = request.sample_fraction
    request = replace(request, sample_fraction=share(used) if callable(share) else share)
    return _foreseen(call, _Pilots(design, training, used, 2 * seen.of_pass, seen), request, shown)


def _with_defaults(
    model: Callable[..., Any], options: dict[str, Any]
) -> tuple[DataOptions, Options]:
    """Return the options of a model; raise `InputError` for a name that it does not have."""
    defaults = default_options(model)
    for name in options.keys() - defaults.keys():
        hint = suggestion(name, defaults)
        raise UnknownArgumentError(f"{model.__name__}() has no argument {name!r}{hint}")
    values = {**defaults, **options}
    if model is odt:
        values |= {"n_trees": 1, "resample": "none", "blend": False}
    of_rows = DataOptions(
        **{argument.name: values[argument.name] for argument in fields(DataOptions)}
    )
    return of_rows, Options(**{name: values[name] for name in NAMES if name in values})


class _Pilot(NamedTuple):
    """What pilot trees took: seconds of growth, and sizes of all of them together."""

    fit: Fit
    seconds: float
    leaves: float
    memory: float
    file: float

    def n_pilots(self, n_trees: int) -> int:
        """Return how many trees choose the shares of a blend of `n_trees`."""
        G = 0 if self.fit.blend is None else len(self.fit.blend.weights)
        return G and G * pilot_trees(len(self.fit.data.y), G, n_trees)

    def grown(self, n_trees: int) -> float:
        """Return how many trees grow for a fit of `n_trees`: pilot trees may be left out."""
        if self.fit.blend is None:
            return n_trees
        weights = self.fit.blend.weights
        return float(np.maximum(self.n_pilots(n_trees) / len(weights), n_trees * weights).sum())


class _Pilots(NamedTuple):
    """The design, rows or a sample of the n rows `seen`, and the seconds that they took."""

    design: Design
    data: TrainingData
    n: int
    seconds: float
    seen: _SampledSource | None = None


def _foreseen(call: str, rows: _Pilots, request: Options, shown: bool) -> Foresight:
    """Return what a fit takes; it is grown as on `rows.n` rows like those of `rows.data`."""
    design, data, n, seconds, seen = rows
    control, blended = one_kind(request, design, data), blends(request)
    B, jobs, tree = control.n_trees, control.n_jobs, request.is_single_tree
    # few rows need more pilot trees to find the shares of the kinds of trees of a blend
    least = max(FEWEST_TREES, OF_BLEND // n) if blended else max(FEWEST_PILOTS, jobs)
    number = min(B, least)
    of_pilots = replace(request, n_trees=number, seed=control.seed, blend=blended)
    # on fewer rows, a blend has other shares of its kinds of trees
    sizes = [len(data.y)] if blended else _pilot_rows(n, number, B, len(data.y))
    two = replace(of_pilots, n_trees=min(2, number), blend=False)
    warm = _grown(design, _random_rows(data, WARM, 0), two)
    if blended:
        _grown(design, _random_rows(data, WARM_BLEND, 0), of_pilots)
    pilots: list[_Pilot] = []
    with progress_bar(total=len(sizes), unit="fit", progress=shown) as bar:
        for size in sizes:
            pilots.append(_grown(design, _random_rows(data, size, control.seed), of_pilots))
            bar.update()
    last = pilots[-1]
    leaves = _at_rows(sizes, [each.leaves / number for each in pilots], n, OF_LEAVES)
    leaves = min(leaves, float(control.settings.max_leaves))
    growth = _at_rows(sizes, [each.seconds for each in pilots], n, OF_TIME)
    memory, file = (_at_leaves(warm, last, B * leaves, name) for name in ("memory", "file"))
    searched = tree and (control.alpha_rule.needs_search or control.max_leaves_rule.needs_search)
    abreast, kept = min(jobs, FOLDS if searched else B), FOLDS if searched else 0
    if blended:
        kept = last.n_pilots(B)
    drawn, K = rows_drawn_once(control.sampling, n), control.n_classes
    growing = abreast * growth_bytes(drawn, design.n_terms, K) + (abreast + kept) * memory / B
    of_all = bytes_in_memory(data) * n / len(data.y)
    some = _random_rows(data, COMPRESSED_ROWS, control.seed)
    of_some = saved_bytes(replace(warm.fit, training=some), True) - warm.file
    seconds += growth * last.grown(B) / last.grown(number)
    peak, kept_rows, file_rows = of_all + memory + growing, of_all, of_some * n / len(some.y)
    if seen is not None:
        kept_rows = file_rows = 0.0
        peak += seen.resident
        if not tree:  # the drawn rows of all trees wait, or those that memory allows
            of_rows = drawn * (4.0 * design.n_terms + OF_ROW)
            budget = seen.memory or times_available(1.0) / 2
            at_once = max(1, min(B, int(budget / of_rows)))
            evaluating = B * leaves * (16.0 * (K + 1) + PACKED) + ROWS_PER_BLOCK * 6.0 * B
            peak = seen.resident + memory + max(growing + at_once * of_rows, evaluating)
            seconds += ceil(B / at_once) * seen.of_pass + B * n * _evaluation_seconds(last, data)
    pilot_words = f"{quantity(number, 'tree')} on {', '.join(f'{size:,}' for size in sizes)} rows"
    kept_bytes, saved, free = kept_rows + memory, file + file_rows, times_available(1.0)
    return Foresight(call, peak, kept_bytes, saved, seconds, free, B, leaves, pilot_words)


def _grown(design: Design, data: TrainingData, request: Options) -> _Pilot:
    began, grown = perf_counter(), grow_fit("", design, data, request)
    fit = sized_tree(grown) if request.is_single_tree else sized_forest(grown)
    seconds = perf_counter() - began
    memory, leaves = bytes_in_memory(fit) - bytes_in_memory(fit.data), fit.forest.leaves().sum()
    return _Pilot(fit, seconds, float(leaves), memory, saved_bytes(fit, False))


def _evaluation_seconds(pilot: _Pilot, data: TrainingData) -> float:
    """Return the seconds that a tree takes to evaluate a row, when its trees are packed."""
    few = _random_rows(data, COMPRESSED_ROWS, 0)
    predict(pilot.fit.forest, few.X, 1)
    began = perf_counter()
    predict(pilot.fit.forest, few.X, 1)
    return (perf_counter() - began) / pilot.fit.forest.n_trees / len(few.y)


class _SampledSource:
    """Chunks that are read once: a random sample of rows, the seconds and bytes of reading."""

    def __init__(self, source: BlockSource) -> None:
        self.source, self.memory, self.n = source, source.memory, 0
        self._frames: list[pd.DataFrame] = []
        self._keys: list[NDArray[np.float64]] = []
        rng, before, began = np.random.default_rng(0), resident_memory(), perf_counter()
        self.resident = 0.0
        blocks = source.over_blocks("read rows", lambda _, block: block, None, source.columns())
        for block in blocks:
            self.n += len(block)
            self._frames.append(block)
            self._keys.append(rng.random(len(block)))
            if sum(map(len, self._keys)) > 2 * SAMPLED:
                self.sample()
            held = sum(float(frame.memory_usage().sum()) for frame in self._frames)
            self.resident = max(self.resident, resident_memory() - before - held)
        self.of_pass = perf_counter() - began

    def sample(self) -> pd.DataFrame:
        """Return the sample in random order, its rows numbered from 0 on."""
        keys = np.concatenate(self._keys)
        order = np.argsort(keys)[:SAMPLED]
        self._keys = [keys[order]]
        self._frames = [pd.concat(self._frames).iloc[order].reset_index(drop=True)]
        return self._frames[0]


def _pilot_rows(n: int, number: int, n_trees: int, available: int) -> list[int]:
    """Return the numbers of rows on which a `number` of pilot trees grow, for `n_trees` of n."""
    work = n if number <= MOST_SHARE * n_trees else SMALLER_SHARE * n * n_trees / number
    if work == n <= available:
        return [n]
    most = min(n, available)
    return sorted({min(most, round(max(FEWEST_ROWS, min(work, most)) * a)) for a in SIZES})


def _random_rows(data: TrainingData, size: int, seed: int) -> TrainingData:
    """Return `size` random rows, of positive weight if possible."""
    if size >= (n := len(data.y)):
        return data
    order = np.random.default_rng(seed).permutation(n)
    order = order[np.argsort(data.weights[order] <= 0, kind="stable")]
    return data.keeping(np.isin(np.arange(n), order[:size]))


def _at_rows(
    rows: Sequence[int], values: Sequence[float], n: float, exponents: tuple[float, float]
) -> float:
    """Return what `values` at some numbers of `rows` are at n rows, by a power law."""
    logarithms = np.log(np.maximum(values, 1e-9))
    slope = np.polyfit(np.log(rows), logarithms, 1)[0] if len(rows) > 1 else exponents[1]
    return float(values[-1] * (n / rows[-1]) ** np.clip(slope, *exponents))


def _at_leaves(small: _Pilot, large: _Pilot, leaves: float, name: str) -> float:
    """Return the bytes that all trees of so many leaves have, on the line through two fits."""
    size, more = getattr(large, name), large.leaves - small.leaves
    slope = (size - getattr(small, name)) / more if more > 0 else size / large.leaves
    return float(max(0.0, size + max(0.0, slope) * (leaves - large.leaves)))


def in_time(seconds: float) -> str:
    """Return a time in words: seconds, minutes or hours."""
    if seconds < MINUTE:
        return f"less than {SHORT} s" if seconds < SHORT else f"{seconds:.1f} s"
    return f"{seconds / MINUTE:.1f} min" if seconds < HOUR else f"{seconds / HOUR:.1f} h"
