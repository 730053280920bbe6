"""The kernels that ``roofline.py`` measures, and what each does for a row, counted in its code.

Arrays are warm, and most calls see other values than the call before, so that a processor does not
learn them.  Bytes, operations and gathers are counted as ``roofline.py`` says; an operation on 64
bits counts as two in SIMD lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import odrf
from benchmarks.speed.speed_problems import Simulation
from odrf.engine.numeric import (
    DIGITS,
    RADIX,
    digit_scratch,
    key_of,
    sort_by_digits,
    sort_keys,
    sort_lanes,
)
from odrf.engine.rows import Rows, divide, divide_columns, project
from odrf.engine.splits.cuts import write_lane
from odrf.engine.splits.histograms import MOST_BINS, bin_values, binned_cut, write_words
from odrf.engine.splits.impurity import GINI, SQUARED_ERROR, Node
from odrf.engine.splits.thresholds import best_of_lane, sums_beside
from odrf.engine.trees.routing import leaves_of, predict_row

__all__ = ["KERNELS", "Work"]

SIZES = (16, 256, 4_096, 65_536)
# Columns of a direction, of a table; classes; candidates that are sorted together.
TERMS, P, K, LANES = 3, 10, 10, 20
# Numbers of which calls take different parts.
POOL = 2**18
TREES, TRAINING_ROWS = 100, 10_000
NOTHING = np.empty(0)

Repeat = Callable[[int], object]


@dataclass(frozen=True)
class Work:
    """A kernel at work on a node of some rows, and what it does.

    Attributes
    ----------
    run, prepare : callable
        Do the work so many times; do the part of it that is not counted.
    held : float
        Bytes of all its arrays.
    once : float
        Bytes of these that are read or written at least once for a row, in one repetition.
    bytes, operations, gathers : float
        Of one row, in one repetition.
    gathered : float
        Bytes of the arrays that gathers read.
    lanes : bool
        Whether the order of the operations allows SIMD lanes.
    repeated : float
        How often a call does it for each row.
    """

    run: Repeat
    held: float
    once: float
    bytes: float
    operations: float
    gathers: float = 0.0
    gathered: float = 0.0
    lanes: bool = False
    repeated: float = 1.0
    prepare: Repeat | None = None


@cache
def pool() -> NDArray[np.float32]:
    """Return numbers between 0 and 1."""
    return np.random.default_rng(0).random(POOL, dtype=np.float32)


def rows_of(m: int) -> Rows:
    """Return m rows of P columns, as a tree has them."""
    rng = np.random.default_rng(1)
    none = np.empty((0, 0), dtype=np.int32)
    return Rows(
        rng.random((P, m), dtype=np.float32),
        np.arange(m, dtype=np.int32),
        rng.normal(size=m),
        np.ones(m),
        np.ones(m, dtype=np.int32),
        True,
        True,
        none,
        none.ravel(),
        none.ravel(),
        np.empty(0, dtype=np.float32),
    )


def node_of(m: int, classes: bool) -> Node:
    """Return a node of m rows: of a regression, or of K classes by the Gini index."""
    rng = np.random.default_rng(2)
    y = rng.integers(0, K, m).astype(float) if classes else rng.normal(size=m)
    value = np.bincount(y.astype(int), minlength=K) / m if classes else np.array([y.mean()])
    spread = 1.0 - (value * value).sum() if classes else y.var()
    weights, counts = np.ones(m), np.ones(m, dtype=np.int32)
    moments = NOTHING if classes else y - y.mean()
    criterion = GINI if classes else SQUARED_ERROR
    factor = 0.0 if classes else 1.0
    return Node(
        y, weights, counts, moments, value, float(m), m, 1e-12 * m, float(spread), factor,
        criterion, True, NOTHING,
    )  # fmt: skip


@njit(nogil=True)
def _project(rows: Any, m: Any, columns: Any, theta: Any, out: Any, times: Any) -> Any:
    for _ in range(times):
        project(rows, 0, m, columns, theta, 0, TERMS, out)


def projecting(m: int) -> Work:
    """Project the rows on a direction of three columns; ``project``.

    The sums are set to 0 (4 bytes); two terms at a time read and write them and read two columns
    (16 bytes), the last one reads one (12 bytes).  A term is a product and a sum.
    """
    rows, out = rows_of(m), np.empty(m, dtype=np.float32)
    columns, theta = np.array([[1, 4, 7]]), np.array([[0.3, -0.5, 0.8]], dtype=np.float32)
    run = lambda times: _project(rows, m, columns, theta, out, times)  # noqa: E731
    once = 4.0 * (TERMS + 1)
    return Work(run, m * once, once, 32, 2 * TERMS, lanes=True)


@njit(nogil=True)
def _network(values: Any, keys: Any, m: Any, sort: Any, times: Any) -> Any:
    for t in range(times):
        for lane in range(LANES):
            at = (t * LANES + lane) * m % (POOL - m)
            write_lane(values[at : at + m], keys, lane, LANES)
        if sort:
            sort_lanes(keys, m, LANES)


def comparators(m: int) -> int:
    """Return the number of comparisons of ``sort_lanes`` in a lane of m rows."""
    power, found = 1, 0
    while power < m:
        power *= 2
    run = power >> 1
    while run > 0:
        reach, offset, distance = power >> 1, 0, run
        while True:
            starts = range(offset, m - distance, 2 * run)
            found += sum(min(run, m - distance - i) for i in starts)
            if reach == run:
                break
            offset, distance = run, reach - run
            reach >>= 1
        run >>= 1
    return found


def sorting_together(m: int) -> Work:
    """Sort the keys of 20 candidates by a network; ``sort_lanes``, for nodes of few rows.

    A comparison reads and writes two keys (32 bytes), and takes a minimum and a maximum of 64 bits.
    """
    values, keys, each = pool(), np.empty(m * LANES, dtype=np.uint64), comparators(m) / m
    return Work(
        lambda times: _network(values, keys, m, True, times),
        8.0 * m * LANES, 8, 32 * each, 4 * each, lanes=True, repeated=LANES,
        prepare=lambda times: _network(values, keys, m, False, times),
    )  # fmt: skip


@njit(nogil=True)
def _quicksort(values: Any, keys: Any, m: Any, sort: Any, times: Any) -> Any:
    for t in range(times):
        at = t * m % (POOL - m)
        write_lane(values[at : at + m], keys, 0, 1)
        if sort:
            sort_keys(keys, m)


def sorting_alone(m: int) -> Work:
    """Sort the keys of one candidate; ``sort_keys``, for the refined cuts.

    log₂ m comparisons, the fewest that suffice; each reads a key, every other one writes one.
    """
    values, keys = pool(), np.empty(m, dtype=np.uint64)
    return Work(
        lambda times: _quicksort(values, keys, m, True, times),
        8.0 * m, 8, 12 * log2(m), log2(m),
        prepare=lambda times: _quicksort(values, keys, m, False, times),
    )  # fmt: skip


@njit(nogil=True)
def _digits(values: Any, scratch: Any, m: Any, sort: Any, times: Any) -> Any:
    for t in range(times):
        at = t * m % (POOL - m)
        write_lane(values[at : at + m], scratch.keys, 0, 1)
        if sort:
            sort_by_digits(scratch, m)


def sorting_by_digits(m: int) -> Work:
    """Sort the keys of one candidate by four digits; ``sort_by_digits``, for nodes of more rows.

    A pass reads each key and adds to the counts of its digits (72 bytes, four operations); another
    one for each digit reads the key, its place and moves it on, and writes the key there (32 bytes,
    one operation).  Counts are cleared, and read and written once more (24 bytes, one operation for
    each value of a digit).  Counts and places are found by digits, which come in random order.
    """
    keys, spare = np.empty(m, dtype=np.uint64), np.empty(m, dtype=np.uint64)
    values, scratch, counts = pool(), digit_scratch(keys, spare), DIGITS * RADIX
    return Work(
        lambda times: _digits(values, scratch, m, True, times),
        16.0 * m + 8 * counts, 16, 72 + 32 * DIGITS + 24 * counts / m, 2 * DIGITS + counts / m,
        2 * DIGITS, 8.0 * counts,
        prepare=lambda times: _digits(values, scratch, m, False, times),
    )  # fmt: skip


@njit(nogil=True)
def _scan(keys: Any, m: Any, left: Any, node: Any, times: Any) -> Any:
    total = 0.0
    for _ in range(times):
        if left is not None:
            left[:] = 0.0
        sums = sums_beside(left, node)
        gain, _ = best_of_lane(keys, 0, 1, m, left, node, sums, 5)
        total += gain
    return total


def _sorted_keys(m: int) -> NDArray[np.uint64]:
    return np.sort(np.array([key_of(x, i) for i, x in enumerate(pool()[:m])], dtype=np.uint64))


def scanning_numbers(m: int) -> Work:
    """Try every cut between sorted keys, squared error; ``_scan_moments``.

    A row reads its key, weight, multiplicity and moment, adds three numbers, and takes a gain (four
    operations) and two comparisons.
    """
    keys, node = _sorted_keys(m), node_of(m, False)
    run = lambda times: _scan(keys, m, None, node, times)  # noqa: E731
    return Work(run, 28.0 * m, 28, 28, 9, 3, 20.0 * m)


def scanning_classes(m: int) -> Work:
    """Try every cut between sorted keys, ten classes by the Gini index; ``_scan_squares``.

    A row reads its key, class and weight, and of its class the weight on the left, which it writes,
    and in the node; 13 operations change the sums, eight take the gain and compare.
    """
    keys, node, left = _sorted_keys(m), node_of(m, True), np.zeros(K)
    run = lambda times: _scan(keys, m, left, node, times)  # noqa: E731
    return Work(run, 24.0 * m + 16 * K, 24, 48, 21, 2, 16.0 * m)


def bins_for(m: int) -> int:
    """Return the number of bins that the search takes for m rows."""
    return 32 if m <= 512 else 64 if m <= 2048 else MOST_BINS


@njit(nogil=True)
def _bin(values: Any, bins: Any, m: Any, n_bins: Any, times: Any) -> Any:
    for t in range(times):
        at = t * m % (POOL - m)
        bin_values(values[at : at + m], bins, n_bins)


def binning(m: int) -> Work:
    """Find the bin of each projection; ``bin_values``.

    A pass finds the extremes (4 bytes, two operations), another one the bins (5 bytes, three).
    """
    values, bins = pool(), np.empty(m, dtype=np.uint8)
    run = lambda times: _bin(values, bins, m, bins_for(m), times)  # noqa: E731
    return Work(run, 5.0 * m, 5, 9, 5, lanes=True)


@njit(nogil=True)
def _tally(bins: Any, m: Any, node: Any, n_bins: Any, scratch: Any, times: Any) -> Any:
    words, quantum, tally, table, left = scratch
    total = 0.0
    for t in range(times):
        at = t * m % (POOL - m)
        part = bins[at : at + m]
        total += binned_cut(part, words, quantum, tally, table, left, node, n_bins, 5)[0]
    return total


def _tallying(m: int, classes: bool) -> Repeat:
    node, n_bins = node_of(m, classes), bins_for(m)
    bins = (pool() * n_bins).astype(np.uint8)
    words, left = np.empty(m, dtype=np.int64), np.empty(K) if classes else None
    quantum = 1.0 if classes else float(write_words(node, words))
    tally = np.empty(2 * MOST_BINS, dtype=np.int64)
    table = np.empty((MOST_BINS + 1, len(node.value) + 1))
    scratch = words, quantum, tally, table, left
    return lambda times: _tally(bins, m, node, n_bins, scratch, times)


def tallying_numbers(m: int) -> Work:
    """Add up the bins and try the cuts between them, squared error; ``binned_cut``.

    A row reads its bin and word, and adds to the bin (25 bytes, one operation); a bin is cleared,
    read twice, and tried (48 bytes, twelve operations).
    """
    share = bins_for(m) / m
    held = 9.0 * m + 16 * MOST_BINS
    return Work(_tallying(m, False), held, 9, 25 + 48 * share, 1 + 12 * share)


def tallying_classes(m: int) -> Work:
    """Do the same for ten classes by the Gini index.

    A row reads its bin, class and weight, and adds to the bin's class (33 bytes, one operation);
    of a bin each class is cleared, read and added to the left (40 bytes, eight operations).
    """
    share, table = K * bins_for(m) / m, 8.0 * bins_for(m) * (K + 1)
    work = 33 + 40 * share, 1 + 8 * share
    return Work(_tallying(m, True), 17.0 * m + table, 17, *work)


@njit(nogil=True)
def _move(rows: Any, m: Any, values: Any, scratch: Any, times: Any) -> Any:
    goes_left, spare, spare32, order = scratch
    for t in range(times):
        at = t * m % (POOL - m)
        divide(rows, 0, m, np.float32(0.4), values[at : at + m], goes_left, spare)
        divide_columns(rows, 0, m, goes_left, spare32, order)


def moving(m: int) -> Work:
    """Move the rows of a node to its children, with ten columns; ``divide``, ``divide_columns``.

    The sides are written (5 bytes, one comparison).  Four arrays of 24 bytes are read once and
    written twice, with their sides, and the right half is read and written again (100 bytes).  The
    order is written from the sides (10 bytes); each column reads it, is read and written, and
    copied back (24 bytes).
    """
    rows = rows_of(m)
    goes_left, order = np.empty(m, dtype=np.bool_), np.empty(m, dtype=np.int64)
    spare, spare32 = np.empty(m), np.empty(m, dtype=np.float32)
    values = pool()
    run = lambda times: _move(  # noqa: E731
        rows, m, values, (goes_left, spare, spare32, order), times
    )
    once = 24.0 + 4 * P + 4 + 1 + 8 + 8 + 4
    return Work(run, m * once, once, 5 + 100 + 10 + 24 * P, 1)


@cache
def forest() -> tuple[Any, Any, float, float]:
    """Return a forest, rows, how many nodes a row visits in a tree, and the terms of a node."""
    problem = Simulation(TRAINING_ROWS, P, 2, SIZES[-1], 0).problem()
    data = problem.X.assign(y=problem.y)
    fit = odrf.odrf("y ~ .", data, kind="classification", n_trees=TREES, seed=1, n_jobs=1)
    trees = fit.forest
    X, _ = fit.fit.design.matrix(problem.X_test)
    share = trees.count / trees.count[trees.root[:-1]].repeat(np.diff(trees.root))
    visits = share * (trees.left >= 0)
    terms = (visits * np.diff(trees.start)).sum() / visits.sum()
    return trees, X, float(visits.sum() / TREES), float(terms)


def routing(m: int) -> Work:
    """Send a batch of rows down the trees, for each node that a row visits; ``leaves_of``.

    A row's number is read, and a line of the cache with q numbers of the row; its projection is
    written and read, its number is read and written twice (24 + 64 bytes, 2·q operations and a
    comparison).
    """
    trees, X, visits, terms = forest()
    batch, packed = np.ascontiguousarray(X[:, :m]), trees.packed

    def run(times: int) -> None:
        for _ in range(times):
            leaves_of(packed, batch, slice(0, m))

    held = 4.0 * m * (P + 4) + packed.words.nbytes / TREES
    return Work(run, held, 16, 88, 2 * terms + 1, repeated=TREES * visits)


def walking(m: int) -> Work:
    """Send one row down the trees, for each node that it visits; ``predict_row``.

    The record of the node (16 + 8·q bytes) is at a random place, q numbers of the row are read, and
    the place of the walk is read and written (24 bytes); 2·q operations and a comparison.
    """
    trees, X, visits, terms = forest()
    rows = [np.ascontiguousarray(X[:, i]) for i in range(1000)]
    packed, value = trees.packed, trees.value

    def run(times: int) -> None:
        for i in range(times):
            predict_row(packed, value, rows[i % 1000])

    held, record = float(packed.words.nbytes), 16 + 8 * terms
    work = record + 24 + 4 * terms, 2 * terms + 1
    return Work(run, held, record, *work, 1, held, repeated=TREES * visits)


KERNELS: dict[str, tuple[Callable[[int], Work], tuple[int, ...]]] = {
    "projection": (projecting, SIZES),
    "sorting together": (sorting_together, (16, 64, 128)),
    "sorting alone": (sorting_alone, SIZES),
    "sorting by digits": (sorting_by_digits, SIZES[1:]),
    "cuts, numbers": (scanning_numbers, SIZES),
    "cuts, classes": (scanning_classes, SIZES),
    "bins": (binning, SIZES),
    "bin sums, numbers": (tallying_numbers, SIZES),
    "bin sums, classes": (tallying_classes, SIZES),
    "moving rows": (moving, SIZES),
    "routing": (routing, SIZES),
    "one row": (walking, (1,)),
}
"""By name what makes a kernel's work, and the numbers of rows."""
