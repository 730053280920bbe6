"""Trees from the arrays of a file, read one after the other into little more than they take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.memory import in_fewer_bits
from odrf.engine.trees.concatenate import FOLLOWING
from odrf.engine.trees.forest import Forest
from odrf.fits.files.archive import ArchiveReader, Part, damaged
from odrf.fits.files.array_coding import ArrayForm, decoded_array
from odrf.fits.files.soundness import require_sound_roots

__all__ = ["UnreadArray", "forest_of_fields", "trees_read", "with_left"]


class UnreadArray:
    """An array of the archive."""

    def __init__(self, archive: ArchiveReader, form: ArrayForm, part: Part) -> None:
        self.archive, self.form, self.part = archive, form, part

    def read(self) -> NDArray:
        """Return the array; raise `InputError` if it is damaged."""
        return decoded_array(self.form, self._after_header())

    def _after_header(self) -> Iterator[bytes]:
        header, start = self.form.header, b""
        for piece in self.archive.pieces(self.part):
            if len(start) == len(header):
                yield piece
                continue
            missing = len(header) - len(start)
            start += piece[:missing]
            if not header.startswith(start):
                raise damaged()
            yield piece[missing:]


def with_left(values: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of trees with the number of the left child of each node."""
    values = dict(values)
    divided, children = values.pop("divided"), values.pop("children")
    left = np.full(len(divided), -1, dtype=np.int64)
    left[divided] = children
    return {**values, "left": left}


def trees_read(
    kind: type, known: dict[str, Any], unread: Mapping[str, UnreadArray]
) -> dict[str, Any]:
    """Return the fields of trees, of which some are `known`.

    Those of a forest that follow from others are let go before the rest is read.
    """
    later = dict(unread)  # whoever is interrupted reads all of them again
    with ThreadPoolExecutor(4) as threads:

        def read(names: Iterable[str]) -> dict[str, Any]:
            some = {name: later.pop(name) for name in names if name in later}
            return dict(zip(some, threads.map(UnreadArray.read, some.values()), strict=True))

        if kind is not Forest:
            return with_left(known | read(list(later)))
        whole = with_left(known | read(("root", "divided", "children", "count")))
        whole["left"] = in_fewer_bits(whole["left"])
        require_sound_roots(whole["root"], len(whole["left"]))
        for name in FOLLOWING:
            whole |= read([name])
            if Forest.of(whole).that_follow([name]):
                del whole[name]
        return whole | read(list(later))


def forest_of_fields(fields: dict[str, Any]) -> Forest:
    """Return the forest of these fields, from which others may follow."""
    forest = Forest.of(fields)
    forest.__post_init__()  # `of` takes the fields as they are, and files may have wider numbers
    return forest
