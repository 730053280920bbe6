"""The rows a tree is grown on: bootstrap, subsample, or all; by groups, strata, order.

An honest tree uses one half of the rows that it draws to choose its splits (the shaping rows) and
the other half to compute the values of its nodes (the filling rows).

Rows that are added to a grown tree are drawn independently of each other: as often as a Poisson
variable where trees have bootstrap samples (Oza and Russell 2001), with probability `fraction`
where they have subsamples, and into either half of an honest tree with probability 1/2.  So the
result does not depend on how many batches the rows come in.

Rows of one group are resampled as one.  Groups take the place of rows in all that is said
here: the rows of a group have one count and one half.  Each stratum is drawn from, and halved, by
itself.  Of rows in time, a tree draws from those up to some time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import kernel
from odrf.engine.memory import require_memory
from odrf.engine.numeric import below, branched, shuffle_front, uniform
from odrf.engine.running import in_order


class RowCodes(NamedTuple):
    """Codes of n rows; None for what they do not have.

    `groups` (n,): rows of one group are resampled as one.  Groups that were added later have larger
    codes.  `order` (n,): rows with smaller codes are earlier in time.  `strata` (n,): each draw
    keeps the shares of the strata.
    """

    groups: NDArray[np.int64] | None = None
    order: NDArray[np.int64] | None = None
    strata: NDArray[np.int64] | None = None

    @property
    def timeless(self) -> RowCodes | None:
        """The codes without the order; None if nothing is left."""
        if self.groups is None and self.strata is None:
            return None
        return self._replace(order=None)

    def keeping(self, rows: NDArray[np.bool_]) -> RowCodes:
        """Return the codes of the `rows` (n,); some codes may then have no row."""
        return RowCodes(*(None if codes is None else codes[rows] for codes in self))

    def until(self, end: int) -> RowCodes:
        """Return the codes of the first `end` rows."""
        return RowCodes(*(None if codes is None else codes[:end] for codes in self))


# What a tree draws: rows, or whole groups of rows; of all times or of early ones; by strata.


class Units(NamedTuple):
    """The units that a tree draws from n rows: U groups, or the rows themselves.

    `of_row` (n,): the unit of each row; None if the rows are units.  `positive` (U,): which units
    have a row of positive weight.  `strata` (U,): the stratum of each unit.  `begins`: the number
    of units before each batch of rows that were added later.
    """

    of_row: NDArray[np.int64] | None
    positive: NDArray[np.bool_]
    strata: NDArray[np.int64] | None
    begins: tuple[int, ...]

    def spread(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the count of each row (n,), which is that of its unit."""
        return counts if self.of_row is None else counts[self.of_row]


def units_of(
    weights: NDArray[np.float64], begins: tuple[int, ...], codes: RowCodes | None
) -> Units:
    """Return the units of rows with case weights (n,).

    `begins` has the number of the first row of each batch that was added later.  `codes` are
    groups and strata; the rows of a group are in one stratum.
    """
    positive = weights > 0.0
    if codes is None:
        return Units(None, positive, None, begins)
    groups, strata = codes.groups, codes.strata
    if groups is None:
        return Units(None, positive, strata, begins)
    of_groups = np.bincount(groups, positive) > 0
    if strata is not None:
        of_rows, strata = strata, np.zeros(len(of_groups), dtype=np.int64)
        strata[groups] = of_rows
    first = tuple(int(groups[:begin].max(initial=-1)) + 1 for begin in begins)
    return Units(groups, of_groups, strata, first)


def last_time(
    state: NDArray[np.uint64], order: NDArray[np.int64], candidates: NDArray[np.int64]
) -> int:
    """Return the last time from which a tree draws; its rows out of bag are the later ones.

    With probability 1/2 this is the last time of all.  Otherwise it is that of a random row in the
    later half of the `candidates`, the numbers of the rows of positive weight.  So half of the
    trees can draw any row, and rows of the later half are out of bag for some trees.
    """
    times = np.sort(order[candidates])
    first = (len(times) - 1) // 2
    drawn = first + below(state, 2 * (len(times) - first))
    return int(times[min(drawn, len(times) - 1)])


# The rows a tree is grown on: bootstrap, subsample, or all of them.

ALL_ROWS, BOOTSTRAP, SUBSAMPLE = 0, 1, 2
# A time after all others: a tree that draws from all rows has none out of bag.
NEVER = int(np.iinfo(np.int64).max)
# Keys of the streams, derived from a tree's, that draw added rows and their halves.
DRAWN, HALF = 0, 1


class Batch(NamedTuple):
    """Rows added to grown trees: number of the first, and how often each is drawn on average."""

    begin: int
    fraction: float


class Sampling(NamedTuple):
    """How each tree's rows are drawn.

    `resample`: `ALL_ROWS`, `BOOTSTRAP` (with replacement) or `SUBSAMPLE` (without).  `fraction`:
    number of rows drawn, as a share of the rows of positive weight; rounded, at least one row.
    `honest`: whether shaping and filling rows are disjoint halves of the rows drawn.  `later`: the
    rows added to the trees later; `fraction` does not apply to them.
    """

    resample: int
    fraction: float
    honest: bool = False
    later: tuple[Batch, ...] = ()

    @property
    def begins(self) -> tuple[int, ...]:
        """The number of the first row of each batch that was added later."""
        return tuple(batch.begin for batch in self.later)

    def first(self, n: int) -> int:
        """Return how many of n rows were there when the trees were first grown."""
        return self.later[0].begin if self.later else n


@kernel
def _draw(state, candidates, size, resample, counts):
    """Draw `size` of the row numbers `candidates`; add to counts (n,) how often each is drawn."""
    n, needed = len(candidates), size
    if resample == BOOTSTRAP:
        for _ in range(size):
            counts[candidates[below(state, n)]] += 1
        return
    for i in range(n):
        if uniform(state) * (n - i) < needed:
            counts[candidates[i]] = 1
            needed -= 1


@kernel
def _draw_each(state, fractions, resample, counts):
    """Draw each row `fractions` (n,) times on average; less draw a part of what more draw."""
    for i in range(len(fractions)):
        counts[i] = 0
        if resample == SUBSAMPLE:
            counts[i] += uniform(state) < fractions[i]
            continue
        # a Poisson process until 1, counted up to the fraction
        passed = -math.log(1.0 - uniform(state))
        while passed < 1.0:
            counts[i] += passed < fractions[i]
            passed -= math.log(1.0 - uniform(state))


def n_drawn(sampling: Sampling, n: int) -> int:
    """Return how many rows a tree draws from n of positive weight, counting repetitions."""
    return n if sampling.resample == ALL_ROWS else max(1, round(sampling.fraction * n))


def rows_drawn_once(sampling: Sampling, n: int) -> float:
    """Return how many different rows a tree draws of n, on average."""
    if sampling.resample == BOOTSTRAP:
        return n * -math.expm1(-sampling.fraction)
    return n * sampling.fraction if sampling.resample == SUBSAMPLE else float(n)


def n_units_drawn(sampling: Sampling, n: int) -> int:
    """Return how many of n units a tree draws; a subsample leaves out one at least."""
    some = sampling.resample == SUBSAMPLE and sampling.fraction < 1 < n
    return min(n_drawn(sampling, n), n - 1) if some else n_drawn(sampling, n)


def draw_counts(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None = None,
) -> NDArray[np.int64]:
    """Draw how often each row enters a tree, (n,); `state` (4,) is advanced, `codes` group rows."""
    if sampling.resample == ALL_ROWS and not sampling.later:
        return (weights > 0.0).astype(np.int64)
    units = units_of(weights, sampling.begins, codes)
    counts = units.spread(_draw_units(state, units, sampling, codes)[0])
    return counts if units.of_row is None else np.where(weights > 0.0, counts, 0)


def out_of_bag_rows(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None = None,
) -> NDArray[np.bool_]:
    """Return rows (n,) not drawn; of groups, no row drawn; in time, after all a tree draws from."""
    units = units_of(weights, sampling.begins, codes)
    counts, last = _draw_units(state, units, sampling, codes)
    if codes is not None and codes.order is not None:
        return codes.order > last
    return units.spread(counts) == 0


def _draw_units(
    state: NDArray[np.uint64], units: Units, sampling: Sampling, codes: RowCodes | None
) -> tuple[NDArray[np.int64], int]:
    """Draw how often each unit (U,) enters a tree; also return the last time it draws from."""
    later = _draw_later(state, len(units.positive), units, sampling)
    n = len(units.positive) - len(later)
    candidates, last = np.flatnonzero(units.positive[:n]), NEVER
    some = sampling.resample != ALL_ROWS and len(candidates) > 0
    if codes is not None and codes.order is not None and some:
        last = last_time(state, codes.order, candidates)
        candidates = candidates[codes.order[candidates] <= last]
    counts = np.zeros(len(units.positive), dtype=np.int64)
    if sampling.resample == ALL_ROWS or len(candidates) == 0:
        counts[candidates] = 1
    elif codes is None:
        _draw(state, candidates, n_drawn(sampling, len(candidates)), sampling.resample, counts)
    else:
        for part in _by_stratum(candidates, units.strata):
            _draw(state, part, n_units_drawn(sampling, len(part)), sampling.resample, counts)
    counts[n:] = np.where(units.positive[n:], later, 0)
    return counts, last


def _by_stratum(
    candidates: NDArray[np.int64], strata: NDArray[np.int64] | None
) -> list[NDArray[np.int64]]:
    """Return the candidates of each stratum, in the order of their numbers."""
    if strata is None:
        return [candidates]
    order = np.argsort(strata[candidates], kind="stable")
    ends = np.flatnonzero(np.diff(strata[candidates][order])) + 1
    return np.split(candidates[order], ends)


def _draw_later(
    state: NDArray[np.uint64], n: int, units: Units, sampling: Sampling
) -> NDArray[np.int64]:
    """Draw how often each of the last of n units, added to the tree later, enters it."""
    begins = units.begins
    counts = np.ones(n - begins[0] if begins else 0, dtype=np.int64)
    if len(counts) and sampling.resample != ALL_ROWS:
        fractions = [batch.fraction for batch in sampling.later]
        each = np.repeat(fractions, np.diff([*begins, n]))
        _draw_each(branched(state, DRAWN), each, sampling.resample, counts)
    return counts


def halved(
    state: NDArray[np.uint64], counts: NDArray[np.int64], strata: NDArray[np.int64] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Divide the rows drawn at random into halves; return the counts (n,) of each.

    The first half are the shaping rows, one more than the others if the number is odd; the second
    half are the filling rows.  All copies of a row are in the same half.  If only one row was
    drawn, it is in both.  With `strata` (n,), the rows of each are dealt out in turn.
    """
    drawn = np.flatnonzero(counts)
    if len(drawn) == 1:
        return counts, counts
    half = (len(drawn) + 1) // 2
    if strata is None:
        shuffle_front(state, drawn, half)
        shaping = drawn[:half]
    else:
        shuffle_front(state, drawn, len(drawn))
        shaping = drawn[np.argsort(strata[drawn], kind="stable")][::2]
    filling = counts.copy()
    filling[shaping] = 0
    return counts - filling, filling


def draw_halves(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw how often each row (n,) chooses splits, and counts in nodes: in both, if not honest."""
    if not sampling.honest:
        counts = draw_counts(state, weights, sampling, codes)
        return counts, counts
    coins = branched(state, HALF) if sampling.later else state
    units = units_of(weights, sampling.begins, codes)
    counts, _ = _draw_units(state, units, sampling, codes)
    n = units.begins[0] if units.begins else len(counts)
    halves = np.zeros((2, len(counts)), dtype=np.int64)
    halves[:, :n] = halved(state, counts[:n], None if units.strata is None else units.strata[:n])
    if n < len(counts):
        halves[:, n:] = counts[n:]
        fills = np.empty(len(counts) - n, dtype=np.int64)
        _draw_each(coins, np.full(len(fills), 0.5), SUBSAMPLE, fills)
        halves[1 - fills, np.arange(n, len(counts))] = 0
    if units.of_row is None:
        return halves[0], halves[1]
    used = weights > 0.0
    return np.where(used, units.spread(halves[0]), 0), np.where(used, units.spread(halves[1]), 0)


def estimation_counts(
    state: NDArray[np.uint64],
    weights: NDArray[np.float64],
    sampling: Sampling,
    codes: RowCodes | None = None,
) -> NDArray[np.int64]:
    """Draw how often each row (n,) counts in node values: the filling rows of an honest tree."""
    return draw_halves(state, weights, sampling, codes)[1]


# Subsamples of one size, drawn into the same arrays by one tree after the other.


@kernel
def draw_subsample(state, X, y, at, tree_X, tree_y):
    """Draw len(at) of n rows without replacement, each in the same way, in random order.

    The rows and their order are those of `draw_counts` and `odrf.engine.rows.gather_rows` for rows
    of weight 1, and state (4,), a random stream, is advanced as they do.  X (r, n) and y (n,) are
    all rows.  Written are the numbers of the rows drawn, at (m,), their responses, tree_y (m,),
    and their columns, tree_X (r, m), or (0, m) if these are not copied.
    """
    n, needed, place = len(y), len(at), np.uint64(0)
    for i in range(n):
        if uniform(state) * (n - i) < needed:
            at[place] = i
            place += np.uint64(1)
            needed -= 1
    shuffle_front(state, at, len(at))
    for i in range(np.uint64(len(at))):
        tree_y[i] = y[np.uint64(at[i])]
    for j in range(np.uint64(len(tree_X))):
        for i in range(np.uint64(len(at))):
            tree_X[j, i] = X[j, np.uint64(at[i])]


@kernel
def draw_out_of_bag(state, size, unseen):
    """Write the rows (n,) that `draw_subsample` of `size` does not draw from this stream."""
    n, needed = len(unseen), size
    for i in range(n):
        drawn = uniform(state) * (n - i) < needed
        unseen[i] = not drawn
        needed -= drawn


# Which rows each tree of a forest drew: the draws are repeated from its stream, not stored.

# So many rows of all trees are drawn in less than a millisecond.
FEW = 2**17


class Draws(NamedTuple):
    """What is needed to repeat how the B trees of a forest drew from n rows.

    `weights` (n,): case weights: rows of weight zero are never drawn.  `samplings`: how each tree
    draws its rows.  `streams` (B, 4): initial state of the random stream of each tree.  `n_jobs`:
    threads.  `codes`: which rows belong together.
    """

    weights: NDArray[np.float64]
    samplings: Sequence[Sampling]
    streams: NDArray[np.uint64]
    n_jobs: int
    codes: RowCodes | None = None

    def again(self, b: int) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """Return how often tree `b` drew each row (n,), and the state (4,) of its stream then."""
        state = self.streams[b].copy()
        return draw_counts(state, self.weights, self.samplings[b], self.codes), state

    def filling(self, b: int) -> NDArray[np.int64]:
        """Return how often each row (n,) counts in the nodes of tree `b`; 0 if it chose splits."""
        return estimation_counts(
            self.streams[b].copy(), self.weights, self.samplings[b], self.codes
        )

    def unseen(self, b: int) -> NDArray[np.bool_]:
        """Return the mask (n,) of the rows out of bag for tree `b`, see `out_of_bag_rows`."""
        return self.unseen_again(b)[0]

    def unseen_again(self, b: int) -> tuple[NDArray[np.bool_], NDArray[np.uint64]]:
        """Return `unseen`, and the state (4,) of the stream of tree `b` after its draw."""
        state = self.streams[b].copy()
        return out_of_bag_rows(state, self.weights, self.samplings[b], self.codes), state

    def all_unseen(self) -> NDArray[np.bool_]:
        """Return the mask (B, n) of the out-of-bag rows of each tree."""
        apart = self.codes is None and bool((self.weights > 0.0).all())
        B, n = len(self.streams), len(self.weights)
        require_memory(
            float(B) * n,
            f"which of {n} rows each of {B} trees drew",
            "use fewer trees (n_trees=) or rows",
        )
        out: NDArray[np.bool_] = np.empty((B, n), dtype=np.bool_)

        def write(b: int) -> None:
            sampling = self.samplings[b]
            if apart and sampling.resample == SUBSAMPLE and not sampling.later:
                draw_out_of_bag(self.streams[b].copy(), n_drawn(sampling, n), out[b])
            else:
                out[b] = self.unseen(b)

        # to start threads takes longer than few draws
        n_jobs = self.n_jobs if B * n > FEW else 1
        for _ in in_order(write, range(B), n_jobs):
            pass
        return out
