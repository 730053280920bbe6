"""The arrays of trees, appended to each other as the trees come."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from odrf.engine.joining.following_arrays import FOLLOWED, FOLLOWING
from odrf.engine.limits import MOST_PLACES, in_fewer_bits, require_numbers
from odrf.engine.trees.packing import FEWER

__all__ = ["OF_NODES", "OF_TERMS", "ROOM", "JoinedArrays", "concatenated_arrays"]

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
    """The arrays of the trees so far, in room for more.

    Memory is reserved for trees like the first few; the system hands it out only where it is
    written to.

    Parameters
    ----------
    first : sequence of Forest
        The first trees.
    n_trees : int
        About how many trees are expected.

    Attributes
    ----------
    room, used : dict of str to int
        Trees, nodes and terms, each by the name of an array of such a length.
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
    """Return the arrays of all trees at once, but for those that `follow` from others in all.

    As `JoinedArrays` has them in the end.  Of many small trees it is much faster, but all are in
    memory twice.
    """
    nodes = _before([tree.n_nodes for tree in trees])
    terms = _before([len(tree.index) for tree in trees])
    require_numbers(int(nodes[-1]), MOST_PLACES, "nodes of all trees", FEWER)
    arrays: dict[str, NDArray[Any]] = {
        name: np.concatenate([getattr(tree, name) for tree in trees])
        for name in (*OF_NODES, *OF_TERMS)
        if name not in follow
    }
    moved = np.repeat(nodes[:-1], np.diff(nodes)).astype(np.int32)
    arrays["left"] = np.where(arrays["left"] < 0, np.int32(-1), arrays["left"] + moved)
    arrays["root"] = _ends_moved([tree.root for tree in trees], nodes)
    arrays["start"] = in_fewer_bits(_ends_moved([tree.start for tree in trees], terms))
    return arrays


def _before(lengths: Sequence[int]) -> NDArray[np.int64]:
    """Return how many come before each tree, and how many there are."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _ends_moved(
    ends: Sequence[NDArray[np.integer]], before: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the places of all trees, each of which has one more than places of its own."""
    first = [of_tree[:-1] + at for of_tree, at in zip(ends, before, strict=False)]
    return np.concatenate([*first, before[-1:]])


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
