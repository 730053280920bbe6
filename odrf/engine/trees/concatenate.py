"""Trees that become a forest: their arrays appended to each other, within memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import (
    MOST_PLACES,
    in_fewer_bits,
    is_available,
    require_memory,
    require_numbers,
    times_available,
)
from odrf.engine.trees.packing import FEWER

# Arrays of nodes that mostly follow from others, so that large forests need not keep them.


def _weights(
    root: NDArray[np.integer], left: NDArray[np.integer], count: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return the weights of nodes (m,) if all rows have the weight 1."""
    return count.astype(np.float64)


def _ranks(
    root: NDArray[np.integer], left: NDArray[np.integer], count: NDArray[np.integer]
) -> NDArray[np.int32]:
    """Return the ranks of splits (m,) if they were made in the order of the nodes."""
    split = left >= 0
    ranks = np.cumsum(split, dtype=np.int32)
    if len(root) > 2:
        before = np.zeros(len(root) - 1, dtype=np.int32)
        before[1:] = ranks[root[1:-1] - 1]
        ranks -= np.repeat(before, np.diff(root))
    ranks[~split] = 0
    return ranks


FOLLOWED = "root", "left", "count"
"""The arrays of a `Forest` that others follow from."""

FOLLOWING: dict[str, Callable[..., NDArray[Any]]] = {"weight": _weights, "order": _ranks}
"""How arrays of a `Forest` follow from `FOLLOWED`."""


# The arrays of trees, appended to each other as the trees come.

# Memory is reserved for trees this much larger than the first: trees are of similar size.
ROOM = 1.25
# Arrays with an entry for each node, and arrays with an entry for each coefficient.
OF_NODES = ("left", "threshold", "value", "count", "weight", "impurity", "gain", "order")
OF_TERMS = ("index", "coef")
# Arrays whose lengths are the trees, nodes and terms; and which of these each array has.
_LENGTHS = "root", "left", "index"
_LIKE = {"root": "root", "start": "left"} | dict.fromkeys(OF_NODES, "left")
_LIKE |= dict.fromkeys(OF_TERMS, "index")


class _Trees(Protocol):
    @property
    def n_trees(self) -> int: ...

    @property
    def n_nodes(self) -> int: ...

    @property
    def root(self) -> NDArray[np.int64]: ...

    @property
    def left(self) -> NDArray[np.integer]: ...

    @property
    def start(self) -> NDArray[np.integer]: ...

    @property
    def index(self) -> NDArray[np.integer]: ...


class JoinedArrays:
    """The arrays of the trees so far, in room for about `n_trees` like the first few.

    `room`, `used`: trees, nodes and terms, each by the name of an array of such a length.
    """

    def __init__(self, first: Sequence[_Trees], n_trees: int) -> None:
        share = ROOM * n_trees / max(1, len(first))
        self.used = dict.fromkeys(_LENGTHS, 0)
        self.room = {of: int(share * sum(_length(tree, of) for tree in first)) for of in self.used}
        self._arrays: dict[str, NDArray[Any]] = {}

    def append(self, tree: _Trees, follow: set[str]) -> None:
        """Append the arrays of a tree, but for those that `follow` from others in all trees."""
        nodes = self.used["left"] + tree.n_nodes
        require_numbers(nodes, MOST_PLACES, "nodes of all trees", FEWER)
        for name, part in _moved(tree, self.used["left"], self.used["index"], follow).items():
            begin = self.used[_LIKE[name]]
            array = self._array(name, part, begin)
            if begin + len(part) > len(array):
                longer = int(ROOM * (begin + len(part)))
                array.resize((longer, *part.shape[1:]), refcheck=False)
            array[begin : begin + len(part)] = part
        self.used = {of: used + _length(tree, of) for of, used in self.used.items()}

    def _array(self, name: str, part: NDArray[Any], begin: int) -> NDArray[Any]:
        """Return the array that the part of a tree belongs to, at `begin`."""
        array = self._arrays.get(name)
        if array is None or part.itemsize > array.itemsize:  # terms are too many for 32 bits
            wider = np.empty((max(self.room[_LIKE[name]], begin) + 1, *part.shape[1:]), part.dtype)
            if begin > 0:
                wider[:begin] = self._so_far(name) if array is None else array[:begin]
            self._arrays[name] = wider
        return self._arrays[name]

    def _so_far(self, name: str) -> NDArray[Any]:
        """Return an array that followed from others in all trees so far."""
        root, left, count = (self._arrays[of][: self.used[_LIKE[of]]] for of in FOLLOWED)
        return FOLLOWING[name](np.append(root, len(left)), left, count)

    def taken(self) -> dict[str, NDArray[Any]]:
        """Return the arrays; nothing is appended afterwards."""
        for name, array in self._arrays.items():
            used = self.used[_LIKE[name]]
            last = {"root": self.used["left"], "start": self.used["index"]}.get(name)
            array.resize((used + (last is not None), *array.shape[1:]), refcheck=False)
            if last is not None:
                array[-1] = last
        return self._arrays


def concatenated_arrays(trees: Sequence[_Trees], follow: set[str]) -> dict[str, NDArray[Any]]:
    """Return the arrays of all trees at once, as `JoinedArrays` has them in the end.

    Of many small trees it is much faster, but all are in memory twice.
    """
    arrays: dict[str, NDArray[Any]] = {}
    before: dict[str, NDArray[np.int64]] = {}
    for name in ("left", "index"):
        lengths = list(map(len, map(attrgetter(name), trees)))
        before[name] = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    nodes = before["left"]
    require_numbers(int(nodes[-1]), MOST_PLACES, "nodes of all trees", FEWER)
    for name in (*OF_NODES, *OF_TERMS):
        if name not in follow:
            arrays[name] = np.concatenate(list(map(attrgetter(name), trees)))
    moved = np.repeat(nodes[:-1], np.diff(nodes)).astype(np.int32)
    arrays["left"] = np.where(arrays["left"] < 0, np.int32(-1), arrays["left"] + moved)
    # places within a tree, of which it has one more: its last is the first of the next tree
    for name, first in (("root", nodes), ("start", before["index"])):
        places = list(map(attrgetter(name), trees))
        lengths = list(map(len, places))
        moved_places = np.concatenate(places) + np.repeat(first[:-1], lengths)
        arrays[name] = np.delete(moved_places, np.cumsum(lengths[:-1], dtype=np.int64) - 1)
    arrays["start"] = in_fewer_bits(arrays["start"])
    return arrays


def _moved(tree: _Trees, nodes: int, terms: int, follow: set[str]) -> dict[str, NDArray]:
    """Return the arrays of a tree renumbered to come after so many `nodes` and `terms`.

    Those that `follow` are left out.  `root` and `start` come without their last entries.
    """
    arrays = {name: getattr(tree, name) for name in _LIKE if name not in follow}
    arrays["root"] = tree.root[:-1] + nodes
    arrays["left"] = np.where(tree.left < 0, np.int32(-1), tree.left + np.int32(nodes))
    arrays["start"] = in_fewer_bits(tree.start + np.int64(terms))[:-1]
    return arrays


def _length(tree: _Trees, of: str) -> int:
    return tree.n_trees if of == "root" else len(getattr(tree, of))


# An array that is appended to, and takes little more memory than what it holds.

# What is reserved at first, and by how much it grows: large arrays are moved without a copy.
FIRST, LARGER = 2**12, 1.05


class AppendedArray:
    """An array that grows along its first axis.

    `empty`: its type, and the sizes of its other axes.  `room`: what is reserved at first; the
    system hands it out only where it is written to.
    """

    def __init__(self, empty: NDArray[Any], room: int = FIRST) -> None:
        self._array = np.empty((room, *empty.shape[1:]), dtype=empty.dtype)
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def append(self, part: NDArray[Any]) -> None:
        """Append the entries of an array."""
        end = self._used + len(part)
        if end > len(self._array):
            room = int(LARGER * end) + 1
            self._array.resize((room, *self._array.shape[1:]), refcheck=False)
        self._array[self._used : end] = part
        self._used = end

    def taken(self) -> NDArray[Any]:
        """Return the array; nothing is appended afterwards."""
        self._array.resize((self._used, *self._array.shape[1:]), refcheck=False)
        return self._array


# Whether trees like those grown so far will all fit into memory.

# The first trees may be up to twice as large as the others.
FIRST_TREES, LARGER_AT_FIRST = 4, 2
# What is said to fit leaves a little room.
SURE = 0.95


class _Stored(Protocol):
    @property
    def nbytes(self) -> int: ...

    @property
    def left(self) -> NDArray[np.integer]: ...


Tree = TypeVar("Tree", bound=_Stored)


def within_memory(trees: Iterable[Tree], n_trees: int) -> Iterator[Tree]:
    """Yield trees until those so far show that memory does not suffice for all `n_trees`."""
    size = nodes = 0
    for number, tree in enumerate(trees, 1):
        size, nodes = size + tree.nbytes, nodes + len(tree.left)
        if number.bit_count() == 1:  # 1, 2, 4, 8, … trees
            require_memory_for_all(size, number, n_trees, nodes)
        yield tree


def require_memory_for_all(
    size: int, number: int, n_trees: int, nodes: int = 0, what: str = "the first"
) -> None:
    """Raise `MemoryError` if trees like the `number` so far, of `size` bytes, do not all fit.

    `nodes`: those of the trees so far, if it is known. `what`: which trees were taken as an
    example.
    """
    of_tree = size / number
    rest = of_tree * (n_trees - number)
    needed = rest / LARGER_AT_FIRST if number < FIRST_TREES else rest
    if is_available(needed):
        return
    share = min(1.0, max(1e-9, SURE * times_available(of_tree * n_trees)))
    fewer = max(1, min(n_trees - 1, number + int(SURE * times_available(of_tree))))
    leaves = f"{max(2, int(share * (nodes / number + 1) / 2))}" if nodes else ""
    require_memory(
        needed,
        f"{n_trees} trees like {what}",
        f"use fewer trees (n_trees={fewer}), fewer leaves (max_leaves={leaves}), "
        f"larger ones (min_leaf= about {1 / share:.1f} times as large), or fewer rows "
        f"for each tree (sample_fraction= times {share:.2g})",
    )
