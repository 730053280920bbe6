"""All rows in a temporary file, in stripes of one size, with the node that each has reached.

Columns are kept as the 32-bit numbers that predictions read, not as numbers of bins: so each row
goes to the side of a split that predictions send it to, and branches grow as those of a data frame.

The file is read with plain reads into arrays of one stripe: a file that is mapped into memory would
count as memory of the process, and the disk being full would end the process.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.rows.coded import Layout, Matrix, layout_of, stored, with_layout
from odrf.engine.streamed.gathering import TreeRows
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
    """Rows in two files of a folder: what does not change, and the nodes that they have reached.

    A stripe holds its columns of the matrix one after the other as float32, then its responses and,
    unless all are 1, its weights as float64.

    Parameters
    ----------
    folder : path
        An empty folder, which belongs to the file.
    n_stored : int
        Rows of the matrix that `odrf.engine.rows.coded.stored` returns.
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

    def __init__(self, folder: Path, n_stored: int, layout: Layout | None, unit: bool) -> None:
        self.n_stored, self.layout, self.unit, self.n = n_stored, layout, unit, 0
        self.size = int(np.clip(STRIPE // self.bytes_per_row, FEWEST, MOST))
        self._rows, self._nodes = folder / "rows", folder / "nodes"

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
        try:
            with self._rows.open("wb") as file, self._nodes.open("wb") as nodes:
                for block in blocks:
                    held.append(block)
                    while sum(len(each.y) for each in held) >= self.size:
                        held = self._write_stripe(held, file, nodes)
                if any(len(each.y) for each in held):
                    self._write_stripe(held, file, nodes)
        except OSError as error:
            raise InputError(f"{_elsewhere(self._rows.parent)}: {error}") from error

    def _write_stripe(self, held: list[TreeRows], file: Any, nodes: Any) -> list[TreeRows]:
        """Write a stripe of the rows `held`, and return those that are left."""
        X = np.concatenate([stored(each.X) for each in held], axis=1)
        y = np.concatenate([each.y for each in held])
        weights = np.concatenate([each.weights for each in held])
        m = min(self.size, len(y))
        for array in (X[:, :m], y[:m], *([] if self.unit else [weights[:m]])):
            file.write(np.ascontiguousarray(array).data)
        nodes.write(np.zeros(m, dtype=np.int32).data)
        self.n += m
        return [TreeRows(with_layout(X[:, m:], self.layout), y[m:], weights[m:])]

    def read(self, k: int) -> Stripe:
        """Return the k-th stripe; several threads may read at the same time."""
        begin = k * self.size
        m = min(self.size, self.n - begin)
        X = np.empty((self.n_stored, m), dtype=np.float32)
        y, nodes = np.empty(m), np.empty(m, dtype=np.int32)
        weights = np.ones(m) if self.unit else np.empty(m)
        with self._rows.open("rb", buffering=0) as file:
            file.seek(begin * self.bytes_per_row)
            _fill(X, file)
            _fill(y, file)
            if not self.unit:
                _fill(weights, file)
        with self._nodes.open("rb", buffering=0) as file:
            file.seek(begin * NODE)
            _fill(nodes, file)
        return Stripe(begin, with_layout(X, self.layout), y, weights, nodes)

    def write_nodes(self, stripe: Stripe) -> None:
        """Write the nodes that the rows of a stripe have reached."""
        with self._nodes.open("r+b", buffering=0) as file:
            file.seek(stripe.begin * NODE)
            file.write(np.ascontiguousarray(stripe.nodes).data)


def _fill(array: NDArray[Any], file: Any) -> None:
    left = array.data.cast("B")
    while len(left):
        n = file.readinto(left)
        if not n:
            raise OSError("the temporary file of the rows is shorter than it was written")
        left = left[n:]


@contextmanager
def row_file(n: int, X: Matrix, unit: bool) -> Iterator[RowFile]:
    """Make a temporary file for about n rows of matrices like X; it is removed at the end.

    It is in the folder for temporary files, which the environment variable TMPDIR names.

    Raises
    ------
    InputError
        The disk has no room for the rows.
    """
    with TemporaryDirectory(prefix="odrf-rows-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        file = RowFile(folder, len(stored(X)), layout_of(X), unit)
        needed, free = n * (file.bytes_per_row + NODE), shutil.disk_usage(folder).free
        if needed + ROOM > free:
            raise InputError(
                f"{_elsewhere(folder)}: it needs {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB "
                "are free"
            )
        yield file


def _elsewhere(folder: Path) -> str:
    return (
        f"a tree of all rows keeps them in a temporary file, for which {str(folder.parent)!r} has "
        "no room: set the environment variable TMPDIR to another folder, or grow a forest by odrf()"
    )
