"""The rows and trees of a fit in a form that is updated row by row; and versions of them.

An update changes the newest version in place, and notes what the one before had.  So it takes time
of the nodes that rows reach, and an earlier fit still says what it said: its trees are turned back
when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from threading import RLock
from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from odrf.design import TrainingData
from odrf.design.updatable.updatable_rows import UpdatableRows
from odrf.engine.parallel import in_order
from odrf.engine.rows.sampling import state_of_added
from odrf.engine.trees.branching import compacted
from odrf.engine.trees.forest_arrays import Forest, joined
from odrf.engine.updatable.arrivals import Undo
from odrf.engine.updatable.plain_tree import forest_of
from odrf.engine.updatable.updatable_arrays import UpdatableCells, add_leaf_values
from odrf.engine.updatable.updatable_tree import UpdatableTree
from odrf.fits.fit import Fit
from odrf.fits.updatable.stream_record import StreamRecord

__all__ = [
    "UpdatableForest",
    "Version",
    "has_updatable_trees",
    "n_rows",
    "rows_added",
    "version_to_update",
]

# Where a forest notes the version that it belongs to.
NOTE = "_version"


class UpdatableForest:
    """Rows and trees that are updated row by row.

    Parameters
    ----------
    fit : Fit
        A fit, no tree of which is pruned.

    Attributes
    ----------
    rows : UpdatableRows
    trees : list of UpdatableTree
    states : (B, 4) uint64
        The states of the streams by which the trees draw the rows to come.
    sampled : bool
        Whether only some of the rows are kept.
    lock : RLock
        Held by the thread that updates them, or reads a version of them.
    """

    def __init__(self, fit: Fit) -> None:
        data, n, record = fit.data, len(fit.data.y), fit.stream
        numbers = np.arange(n) if record is None else record.numbers
        self.rows = UpdatableRows(data, fit.design.feature_groups, numbers)
        self.ordered = bool(fit.forest.ordered)
        if record is None:
            states = [
                state_of_added(stream, sampling, n)
                for stream, sampling in zip(fit.streams, fit.samplings, strict=True)
            ]
            self.states = np.array(states, dtype=np.uint64)
        else:
            self.states = record.states.copy()
        n_at_split = fit.forest.count if fit.n_at_split is None else fit.n_at_split
        draws, root, criterion = fit.draws, fit.forest.root, fit.control.settings.criterion

        def updatable(b: int) -> UpdatableTree:
            tree, since = compacted(fit.forest.tree(b), n_at_split[root[b] : root[b + 1]])
            counts, _ = draws.again(b)
            return UpdatableTree(tree, since, self.rows.cells, counts, fit.streams[b], criterion)

        B, size = fit.forest.n_trees, data.X.size
        self.trees = list(in_order(updatable, range(B), fit.control.n_jobs, size))
        losses = fit.arrival_losses
        if losses is None:
            losses = np.full(n - fit.control.sampling.first(n), np.nan)
        self.losses, self.n_losses = losses.copy(), len(losses)
        self.sampled = record is not None
        self.lock = RLock()

    @property
    def is_wasteful(self) -> bool:
        """Whether most of the rows, or of the nodes of a tree, have left."""
        return self.rows.is_wasteful or any(tree.is_wasteful for tree in self.trees)

    def predicted(self, cells: UpdatableCells) -> NDArray[np.float64]:
        """Return the means (m, K) of the trees for some rows, which need not be among these."""
        at = np.arange(len(cells.y))
        out = np.zeros((len(at), self.trees[0].arrays.value.shape[1]))
        for tree in self.trees:
            add_leaf_values(tree.arrays, cells, at, out)
        return out / len(self.trees)

    def append_losses(self, losses: NDArray[np.float64]) -> None:
        """Append the losses of new rows."""
        begin, end = self.n_losses, self.n_losses + len(losses)
        if end > len(self.losses):
            longer = np.empty(2 * end)
            longer[:begin] = self.losses[:begin]
            self.losses = longer
        self.losses[begin:end], self.n_losses = losses, end

    def next_version(self, before: Version) -> Version:
        """Return the version after an update to come, which trees note how to turn back.

        If the update is interrupted, `before` can be turned back, too, even while threads that
        nobody waits for are still at work; but its rows and trees are then set up anew by the next
        update.
        """
        version = Version(self, before.number + 1)
        for tree in self.trees:
            tree.undo = []
        before.newer, before.undo = version, [tree.undo for tree in self.trees]
        return version


class Version:
    """The rows and trees of one fit.

    Parameters
    ----------
    updatable : UpdatableForest
    number : int
        How many updates there have been since the rows and trees were set up.

    Attributes
    ----------
    newer : Version or None
        That of the next update.
    undo : list of lists of Undo
        How each tree is turned back from it.

    Notes
    -----
    Rows and trees of its fit keep it, and it keeps neither: so what no fit has is free at once.
    """

    def __init__(self, updatable: UpdatableForest, number: int) -> None:
        self.updatable, self.number = updatable, number
        self.newer: Version | None = None
        self.undo: list[list[Undo]] = []
        self._trees: tuple[Forest, NDArray[np.int32]] | None = None
        self._data: ref[TrainingData] | None = None
        self.settle()

    def settle(self) -> None:
        """Note what there is now."""
        updatable, rows = self.updatable, self.updatable.rows
        self.n, self.used, self.n_complete = rows.n, rows.used, rows.n_complete
        self.missing, self.empty, self.sampled = rows.missing, rows.empty, updatable.sampled
        self.n_losses = updatable.n_losses
        self.sizes = [(tree.used, tree.terms) for tree in updatable.trees]

    def of(self, fit: Fit) -> Version:
        """Let this be the version of a fit, which has read its rows and trees.

        The fit does not keep it: it needs not be turned back.
        """
        self._data = ref(fit.data)
        fit.forest.__dict__[NOTE] = ref(self)
        return self

    def is_of(self, fit: Fit) -> bool:
        """Whether the rows are those of the fit."""
        return self._data is not None and self._data() is fit.data

    def data(self) -> TrainingData:
        """Return the rows, which are read when they are needed."""
        data = TrainingData.read_by(self._read_data)
        self._data = ref(data)
        return data

    def forest(self) -> Forest:
        """Return the trees, which are read when they are needed."""
        forest = Forest.read_by(self._read_forest)
        forest.__dict__.update({NOTE: self, "ordered": np.bool_(self.updatable.ordered)})
        return forest

    def read_rest(self, fit: Fit) -> Fit:
        """Return the fit, whose numbers of rows at splits, and losses, are read when needed."""
        fit.read_rest_by(self._read_fit, "n_at_split", "arrival_losses")
        return fit

    def record(
        self, keep: int, first: int, seen: int, updates: int, arrivals: NDArray[np.float64]
    ) -> StreamRecord:
        """Return the record of the stream, the arrays of which are read when they are needed."""
        states = self.updatable.states.copy()

        def read(record: StreamRecord) -> None:
            with self.updatable.lock:
                places = self._places()
                counts = np.array([tree.arrays.times[places] for tree in self.updatable.trees])
                numbers = self.updatable.rows.numbers[places]
            record.set_fields({"numbers": numbers, "counts": counts})

        record = StreamRecord.read_by(read)
        record.__dict__.update(
            keep=keep, first=first, seen=seen, updates=updates, states=states, arrivals=arrivals
        )
        return record

    def _places(self) -> NDArray[np.int64]:
        return self.updatable.rows.places(self.used, self.number)

    def _read_data(self, data: TrainingData) -> None:
        rows = self.updatable.rows
        with self.updatable.lock:
            places = self._places()
            complete: NDArray[np.bool_] = np.ones(len(places), dtype=np.bool_)
            if not self.sampled:
                complete = rows.complete[: self.n_complete].copy()
            read = rows.training_data(places, complete, self.missing, self.empty)
        data.set_fields(_fields(read))

    def _read_forest(self, forest: Forest) -> None:
        forest.set_fields(_fields(self._trees_and_counts()[0]))

    def _read_fit(self, fit: Fit) -> None:
        known: dict[str, Any] = {"n_at_split": self._trees_and_counts()[1], "arrival_losses": None}
        if fit.stream is None:
            with self.updatable.lock:
                known["arrival_losses"] = self.updatable.losses[: self.n_losses].copy()
        fit.set_fields(known)

    def _trees_and_counts(self) -> tuple[Forest, NDArray[np.int32]]:
        """Return the trees as they were, and how many rows their nodes had at their splits."""
        with self.updatable.lock:
            if self._trees is None:
                self._trees = self._read_trees()
            return self._trees

    def _read_trees(self) -> tuple[Forest, NDArray[np.int32]]:
        undone, ordered = list(_undone(self)), self.updatable.ordered
        pairs = [
            forest_of(tree.copied(*size, [undo[b] for undo in undone]), ordered)
            for b, (tree, size) in enumerate(zip(self.updatable.trees, self.sizes, strict=True))
        ]
        forest = joined((tree for tree, _ in pairs), len(pairs))
        return forest, np.concatenate([since for _, since in pairs])


def has_updatable_trees(fit: Fit) -> bool:
    """Whether the fit is one of updatable trees, which are whole."""
    return _noted(fit) is not None


def n_rows(fit: Fit) -> int:
    """Return how many training rows a fit has; updatable ones are not read."""
    version = _noted(fit)
    return fit.data.n_rows if version is None else version.n


def rows_added(fit: Fit) -> tuple[int, int]:
    """Return how many updates there were, and how many rows have come with them."""
    if fit.stream is not None:
        return fit.stream.updates, fit.stream.seen - fit.stream.first
    n = n_rows(fit)
    return len(fit.control.batches), n - fit.control.sampling.first(n)


@contextmanager
def version_to_update(fit: Fit) -> Iterator[Version]:
    """Give the version of a fit from which it can be updated; other threads wait.

    If others were updated from it, or much has left, its rows and trees are set up anew.
    """
    version = _noted(fit)
    if version is not None:
        with version.updatable.lock:
            newest = version.newer is None and version.is_of(fit)
            if newest and not version.updatable.is_wasteful:
                yield version
                return
    updatable = UpdatableForest(fit)
    with updatable.lock:
        yield Version(updatable, 0).of(fit)


def _noted(fit: Fit) -> Version | None:
    """Return the version that the trees of a fit belong to, if there is one."""
    note: Version | ref[Version] | None = fit.forest.__dict__.get(NOTE)
    return note() if isinstance(note, ref) else note


def _undone(version: Version) -> Iterable[list[list[Undo]]]:
    """Return how trees are turned back to a version, from the newest on."""
    undone = []
    while version.newer is not None:
        undone.append(version.undo)
        version = version.newer
    return reversed(undone)


def _fields(of: Any) -> dict[str, Any]:
    return {field.name: getattr(of, field.name) for field in fields(of)}
