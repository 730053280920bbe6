"""All rows in temporary files, in stripes of one size, with the node that each has reached.

Columns are kept as the 32-bit numbers that predictions read, not as numbers of bins: so each row
goes to the side of a split that predictions send it to, and branches grow as those of a data frame.

They are read with plain reads into arrays of one stripe: a file that is mapped into memory would
count as memory of the process, and the disk being full would end the process.  The files have no
name, or on Windows end with the process: so they leave nothing behind, even if it is killed.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.chunks import TreeRows
from odrf.engine.factors import Layout, Matrix, layout_of, stored, with_layout
from odrf.engine.memory import in_bytes
from odrf.errors import InputError

__all__ = ["RowFile", "Stripe", "row_file"]

# Bytes of a stripe, and the most and the fewest rows that it has: they decide in which order sums
# are added up, and so the last bits of a tree.
STRIPE, MOST, FEWEST = 2**25, 2**18, 2**12
# Bytes of a response or a weight, and of the number of a node.
NUMBER, NODE = 8, 4
# The disk keeps this much more than the file takes.
ROOM = 2**28


class Stripe(NamedTuple):
    """Rows that are read together.

    Attributes
    ----------
    begin : int
        The number of the first of them in the file.
    X : Matrix (p, m)
    y, weights : (m,) float64
    nodes : (m,) int32
        The node that each has reached.
    """

    begin: int
    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    nodes: NDArray[np.int32]


class RowFile:
    """Rows in two files: what does not change, and the nodes that they have reached.

    A stripe holds its columns of the matrix one after the other as float32, then its responses and,
    unless all are 1, its weights as float64.

    Parameters
    ----------
    rows, nodes : binary file
        Empty ones, which can be read and written.
    n_stored : int
        Rows of the matrix that `odrf.engine.factors.stored` returns.
    layout : Layout or None
    unit : bool
        Whether all weights are 1.

    Attributes
    ----------
    n : int
        Rows written so far.
    size : int
        Rows of a stripe.
    """

    def __init__(
        self,
        rows: IO[bytes],
        nodes: IO[bytes],
        n_stored: int,
        layout: Layout | None,
        unit: bool,
    ) -> None:
        self.n_stored, self.layout, self.unit, self.n = n_stored, layout, unit, 0
        self.size = int(np.clip(STRIPE // self.bytes_per_row, FEWEST, MOST))
        self._rows, self._nodes, self._lock = rows, nodes, threading.Lock()

    @property
    def bytes_per_row(self) -> int:
        """Bytes of a row, without its node."""
        return 4 * self.n_stored + NUMBER * (1 if self.unit else 2)

    @property
    def n_stripes(self) -> int:
        """Number of stripes."""
        return -(-self.n // self.size)

    def write(self, blocks: Iterable[TreeRows]) -> None:
        """Write all rows; each of them has reached node 0.

        Raises
        ------
        InputError
            The disk is full.
        """
        held: list[TreeRows] = []
        for block in blocks:  # what their source raises is no error of this file
            held.append(block)
            while sum(len(each.y) for each in held) >= self.size:
                with _full_disk_named():
                    held = self._write_stripe(held)
        with _full_disk_named():
            if any(len(each.y) for each in held):
                self._write_stripe(held)
            self._rows.flush()
            self._nodes.flush()

    def _write_stripe(self, held: list[TreeRows]) -> list[TreeRows]:
        """Write a stripe of the rows `held`, and return those that are left."""
        X = np.concatenate([stored(each.X) for each in held], axis=1)
        y = np.concatenate([each.y for each in held])
        weights = np.concatenate([each.weights for each in held])
        m = min(self.size, len(y))
        for array in (X[:, :m], y[:m], *([] if self.unit else [weights[:m]])):
            self._rows.write(np.ascontiguousarray(array).data)
        self._nodes.write(np.zeros(m, dtype=np.int32).data)
        self.n += m
        return [TreeRows(with_layout(X[:, m:], self.layout), y[m:], weights[m:])]

    def read(self, k: int) -> Stripe:
        """Return the k-th stripe; several threads may read at the same time."""
        begin = k * self.size
        m = min(self.size, self.n - begin)
        X = np.empty((self.n_stored, m), dtype=np.float32)
        y, nodes = np.empty(m), np.empty(m, dtype=np.int32)
        weights = np.ones(m) if self.unit else np.empty(m)
        with self._lock:
            self._rows.seek(begin * self.bytes_per_row)
            for array in (X, y) if self.unit else (X, y, weights):
                _fill(array, self._rows)
            self._nodes.seek(begin * NODE)
            _fill(nodes, self._nodes)
        return Stripe(begin, with_layout(X, self.layout), y, weights, nodes)

    def write_nodes(self, stripe: Stripe) -> None:
        """Write the nodes that the rows of a stripe have reached."""
        with self._lock:
            self._nodes.seek(stripe.begin * NODE)
            self._nodes.write(np.ascontiguousarray(stripe.nodes).data)


def _fill(array: NDArray[Any], file: Any) -> None:
    left = array.data.cast("B")
    while len(left):
        n = file.readinto(left)
        if not n:
            raise OSError("the temporary file of the rows is shorter than it was written")
        left = left[n:]


@contextmanager
def row_file(n: int, X: Matrix, unit: bool) -> Iterator[RowFile]:
    """Make temporary files for about n rows of matrices like X; they are gone at the end.

    They are in the folder for temporary files, which the environment variable TMPDIR names.

    Raises
    ------
    InputError
        The disk has no room for the rows.
    """
    with tempfile.TemporaryFile() as rows, tempfile.TemporaryFile() as nodes:
        file = RowFile(rows, nodes, len(stored(X)), layout_of(X), unit)
        needed = n * (file.bytes_per_row + NODE)
        free = shutil.disk_usage(tempfile.gettempdir()).free
        if needed + ROOM > free:
            raise InputError(
                f"{_elsewhere()}: it needs {in_bytes(needed)}, and {in_bytes(free)} are free"
            )
        yield file


@contextmanager
def _full_disk_named() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{_elsewhere()}: {error}") from error


def _elsewhere() -> str:
    return (
        f"a tree of all rows keeps them in a temporary file, for which {tempfile.gettempdir()!r} "
        "has no room: set the environment variable TMPDIR to another folder, or grow a forest by "
        "odrf()"
    )
