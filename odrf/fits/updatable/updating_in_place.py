"""Updates that take time of the nodes that rows reach: a row comes, and may displace another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.design.adding_rows import NewRows, encoded_rows, require_room
from odrf.engine.compiling import compiled_at_ease
from odrf.engine.growth.tree_kernel import grow_tree
from odrf.engine.parallel import in_order
from odrf.engine.rows.sampling import Batch, draw_added
from odrf.engine.settings import ON_RESPONSE
from odrf.engine.trees.forest_arrays import Forest
from odrf.engine.updatable.arrivals import Arrival, Changed, GrowthOptions
from odrf.engine.updatable.reservoir import among_smallest, hashes
from odrf.fits.fit import Fit
from odrf.fits.options_at_n import at_rows, settled_at
from odrf.fits.prediction.arriving_rows import losses_by
from odrf.fits.updatable.called import called_updated
from odrf.fits.updatable.updatable_forest import (
    UpdatableForest,
    Version,
    has_updatable_trees,
    version_to_update,
)
from odrf.options.control import Control
from odrf.options.rule import FIXED, NONE
from odrf.pruning.held_out import losses_of
from odrf.public.progress import progress_bar
from odrf.statistics.arrival import arrival_sums, fewer_blocks

__all__ = ["updated_in_place", "why_not_in_place"]

# More rows than this are worth threads.
ALONE = 64
# Errors along a stream are kept in at most this many blocks.
MOST_BLOCKS = 1024


def why_not_in_place(fit: Fit) -> str:
    """Return why the trees of a fit cannot be updated in place; empty if they can."""
    controls = list(fit.kinds.values()) or [fit.control]
    if not isinstance(fit.forest, Forest):
        return "compact trees"
    if not has_updatable_trees(fit) and fit.data.has_rows and fit.data.structure is not None:
        return "groups=, order= or strata="
    if any(control.honest for control in controls):
        return "honest=True"
    if any(control.settings.surrogates for control in controls):
        return 'missing="surrogate"'
    if any(control.mixture.rotates for control in controls):
        return "a projection= that rotates all columns"
    if any(control.settings.split_scale != ON_RESPONSE for control in controls):
        return "split_scale="
    if any(control.max_leaves_rule.kind not in (FIXED, NONE) for control in controls):
        return "max_leaves= that depends on n"
    return ""


def updated_in_place(
    fit: Fit,
    shown: Fit,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None,
    revised: int,
    keep: int | None,
    n_jobs: int,
    progress: bool,
) -> Fit:
    """Return the fit with new rows.

    Parameters
    ----------
    fit : Fit
        The fit before any pruning.
    shown : Fit
        The fit as it predicts.
    newdata, weights, n_jobs, progress
        As in `odrf.results.updatable.Updatable.update`.
    revised : int
        As in `odrf.engine.growth.tree_update.Update`.
    keep : int or None
        The most rows that are kept; None for all.
    """
    with version_to_update(fit) as before:
        updatable, n = before.updatable, before.n
        new = encoded_rows(fit.design, updatable.rows.known, newdata, weights)
        m, record = len(new.y), fit.stream
        if keep is None:
            require_room(n + m)
        seen = n if record is None else record.seen
        which, gone = _kept_of(updatable, before, fit.control.seed, seen, m, keep)
        losses = _losses_of_new(updatable, fit, shown, new)
        version = updatable.next_version(before)
        places = updatable.rows.append(new, which, seen)
        if keep is None:
            updatable.rows.append_complete(new.complete)
            updatable.append_losses(losses)
        updatable.sampled = keep is not None
        updatable.rows.leave(gone, version.number)
        n_after = updatable.rows.n
        control = at_rows(fit.control, fit.request, n, n_after)
        kinds = {name: at_rows(kind, fit.request, n, n_after) for name, kind in fit.kinds.items()}
        updates = len(control.batches) if record is None else record.updates + 1
        arrival = Arrival(updates, updatable.rows.cells, places, gone, n_after)
        changed = _stepped(
            fit, updatable, arrival, new, which, control, kinds, revised, n_jobs, progress
        )
        version.settle()
        stream, first = None, fit.control.sampling.first(n)
        if keep is not None:
            first = first if record is None else record.first
            arrivals = _arrivals(fit, losses, new.weights, n)
            stream = version.record(keep, first, seen + m, updates, arrivals)
            stay = _n_of_first(version, first)
            control = _with_rows_from(control, stay)
            kinds = {name: _with_rows_from(kind, stay) for name, kind in kinds.items()}
        return version.read_rest(
            replace(
                fit,
                call=called_updated(shown.call, weights, updates, seen + m - first, keep),
                data=version.data(),
                forest=version.forest(),
                control=control,
                kinds=kinds,
                request=settled_at(fit.request, control),
                changes=pd.DataFrame(changed, index=pd.RangeIndex(len(changed), name="tree")),
                n_at_split=None,
                arrival_losses=None,
                stream=stream,
            )
        )


def _losses_of_new(
    updatable: UpdatableForest, fit: Fit, shown: Fit, new: NewRows
) -> NDArray[np.float64]:
    """Return the losses (m,) of new rows, predicted by the fit as it is `shown`."""
    if shown is not fit:
        return losses_by(shown, new.X, new.y)
    value = updatable.predicted(updatable.rows.cells_of(new))
    return losses_of(value, new.y, fit.ordered)


def _n_of_first(version: Version, first: int) -> int:
    """Return how many rows of a version are among the `first` ones of the stream."""
    rows = version.updatable.rows
    numbers = rows.numbers[rows.places(version.used, version.number)]
    return int(np.searchsorted(numbers, first))


def _kept_of(
    updatable: UpdatableForest, before: Version, seed: int, seen: int, m: int, keep: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of m new rows are kept, and the places of those that leave for them."""
    if keep is None:
        return np.arange(m), np.empty(0, dtype=np.int64)
    rows = updatable.rows
    places = rows.places(before.used, before.number)
    old = hashes(seed, rows.numbers[places])
    among = among_smallest(np.concatenate([old, hashes(seed, seen + np.arange(m))]), keep)
    return np.flatnonzero(among[len(old) :]), places[~among[: len(old)]]


def _stepped(
    fit: Fit,
    updatable: UpdatableForest,
    arrival: Arrival,
    new: NewRows,
    which: NDArray[np.int64],
    control: Control,
    kinds: dict[str, Control],
    revised: int,
    n_jobs: int,
    progress: bool,
) -> list[Changed]:
    """Let the rows come and go in all trees; return what has changed."""
    controls: Sequence[Control] = [control]
    of_tree = np.zeros(len(updatable.trees), dtype=np.int64)
    if fit.blend is not None:
        controls, of_tree = list(kinds.values()), fit.blend.of_tree
    growing = [
        GrowthOptions(fit.design.feature_groups, each.settings, each.mixture, revised)
        for each in controls
    ]
    m = len(new.y)

    def step(b: int) -> Changed:
        sampling = controls[of_tree[b]].sampling
        fraction = sampling.later[-1].fraction
        counts = draw_added(updatable.states[b], sampling.resample, fraction, m)
        return updatable.trees[b].updated(arrival, counts[which], growing[of_tree[b]])

    changed = []
    workers = n_jobs if m + len(arrival.gone) > ALONE else 1
    with (
        compiled_at_ease(grow_tree),
        progress_bar(total=len(of_tree), unit="tree", progress=progress) as bar,
    ):
        for one in in_order(step, range(len(of_tree)), workers, m * len(arrival.cells.X)):
            changed.append(one)
            bar.update()
    return changed


def _arrivals(
    fit: Fit, losses: NDArray[np.float64], weights: NDArray[np.float64], n: int
) -> NDArray[np.float64]:
    """Return the sums of losses of all updates, with those of the last one, in few blocks."""
    sums = arrival_sums(losses, weights, np.array([len(losses)]))
    if fit.stream is not None:
        sums = np.concatenate([fit.stream.arrivals, sums])
    elif fit.arrival_losses is not None:
        sampling = fit.control.sampling
        first = sampling.first(n)
        ends = np.array([*sampling.begins[1:], n]) - first
        before = arrival_sums(fit.arrival_losses, fit.data.weights[first:], ends)
        sums = np.concatenate([before, sums])
    if len(sums) > MOST_BLOCKS:
        sums = fewer_blocks(sums, int(2 * sums[:, 0].sum() / MOST_BLOCKS))
    return sums


def _with_rows_from(control: Control, stay: int) -> Control:
    """Return the options of trees on `stay` of their first rows, and others that came later."""
    later = (Batch(stay, control.batches[-1].fraction),)
    return replace(control, sampling=control.sampling._replace(later=later))
