"""Arrays in files: narrowed, as differences, or with their bytes apart, where that is smaller."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.errors import InputError

KNOWN_DTYPE = re.compile(
    r"\|b1|\|[iu]1|<[iu][248]|<f[248]|<c(8|16)|<[mM]8\[(\d{1,6})?(Y|M|W|D|h|m|s|ms|us|ns)\]|"
    r"<U\d{1,6}|\|S\d{1,6}"
)
# From this many numbers on, narrower types and differences are tried.
FEW = 16
# Ways to write are compared on this many bytes.
SAMPLE = 2**16
# Numbers that are checked in one batch.
PIECE = 2**18
# Looking for runs only is several times as fast as looking for any repetition, and so may take this
# much more room.
FASTER = 1.1
NARROWER: dict[str, tuple[str, ...]] = {
    "f": ("|u1", "<u2", "<u4", "<f4"),
    "u": ("|u1", "<u2", "<u4"),
    "i": ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4"),
}


@dataclass(frozen=True)
class ArrayForm:
    """How an array is written; `apart`: as an array (item size, numbers) of bytes."""

    dtype: str
    shape: tuple[int, ...]
    kept: str
    steps: bool = False
    apart: bool = False
    fortran: bool = False

    @property
    def size(self) -> int:
        """How many numbers there are."""
        return math.prod(self.shape)

    @property
    def memory(self) -> int:
        """The bytes that the array takes in memory."""
        return self.size * np.dtype(self.dtype).itemsize

    @property
    def header(self) -> bytes:
        """The first bytes of the member."""
        if self.apart:
            return npy_header("|u1", (np.dtype(self.kept).itemsize, self.size), False)
        return npy_header(self.kept, self.shape, self.fortran)

    @property
    def written(self) -> int:
        """The bytes of the member."""
        return len(self.header) + self.size * np.dtype(self.kept).itemsize

    def as_json(self) -> dict[str, Any]:
        """Return its description in the file."""
        fields: dict[str, Any] = {"dtype": self.dtype, "shape": list(self.shape), "kept": self.kept}
        marks = {"steps": self.steps, "apart": self.apart, "fortran": self.fortran}
        return fields | {name: True for name, mark in marks.items() if mark}

    @classmethod
    def of_json(cls, fields: dict[str, Any]) -> ArrayForm:
        """Return the form that a file describes; raise `InputError` if there is no such form."""
        dtype, shape, kept = fields["dtype"], fields["shape"], fields["kept"]
        marks = [fields.get(name, False) for name in ("steps", "apart", "fortran")]
        known = all(type(name) is str and KNOWN_DTYPE.fullmatch(name) for name in (dtype, kept))
        sizes = type(shape) is list and len(shape) <= 8
        sizes = sizes and all(type(size) is int and 0 <= size < 2**48 for size in shape)
        if not known or not sizes or not all(type(mark) is bool for mark in marks):
            raise InputError("it has an array of an unknown kind")
        form = cls(dtype, tuple(shape), kept, *marks)
        if form.size >= 2**48 or np.dtype(kept).itemsize > np.dtype(dtype).itemsize:
            raise InputError("it has an array of an unknown kind")
        return form


def npy_header(dtype: str, shape: tuple[int, ...], fortran: bool) -> bytes:
    """Return the header of a ``.npy`` file of version 1.0."""
    text = f"{{'descr': '{dtype}', 'fortran_order': {fortran}, 'shape': {shape}, }}"
    room = -(10 + len(text) + 1) % 64
    size = len(text) + room + 1
    return b"\x93NUMPY\x01\x00" + size.to_bytes(2, "little") + (text + " " * room + "\n").encode()


def coded_array(array: NDArray) -> tuple[ArrayForm, NDArray[np.uint8], int]:
    """Return how an array is best written, the bytes after the header, a strategy of `zlib`."""
    little = array.dtype.newbyteorder("<").str
    if not KNOWN_DTYPE.fullmatch(little):
        raise InputError(f"an array of type {array.dtype} cannot be saved")
    fortran = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    flat = np.ravel(array, order="F" if fortran else "C").astype(little, copy=False)
    kept, steps = _narrowed(flat)
    size = kept.dtype.itemsize
    first = max(len(kept) // 2 - SAMPLE // size // 2, 0)
    sample = kept[first : first + max(SAMPLE // size, 1)]
    ways = [
        (FASTER * _deflated_size(_bytes(sample), zlib.Z_DEFAULT_STRATEGY), False, 0),
        (_deflated_size(_bytes(sample), zlib.Z_RLE), False, zlib.Z_RLE),
    ]
    if 1 < size <= 16 and len(kept):
        ways.append((_deflated_size(_apart(sample), zlib.Z_RLE), True, zlib.Z_RLE))
    _, apart, strategy = min(ways)
    form = ArrayForm(little, array.shape, kept.dtype.str, steps, apart, fortran)
    return form, _apart(kept) if apart else _bytes(kept), strategy


def decoded_array(form: ArrayForm, pieces: Iterable[bytes]) -> NDArray:
    """Return the array of the bytes after the header, which come in pieces.  It can be written to.

    The bytes are put where the array ends, and converted from its beginning on: memory holds it
    once. Raises `InputError` if there are more or fewer bytes, or a truth value is neither 0 nor 1.
    """
    dtype, kept = np.dtype(form.dtype), np.dtype(form.kept)
    flat: NDArray = np.empty(form.size, dtype=dtype.newbyteorder("="))
    place = flat.view(np.uint8)[flat.nbytes - form.size * kept.itemsize :]
    _fill(place, pieces, kept.itemsize if form.apart else 1)
    if kept.kind == "b" and place.max(initial=0) > 1:
        raise InputError("it has a truth value that is neither")
    numbers = place.view(kept)
    if form.steps or kept != flat.dtype:
        last = 0
        for at in range(0, form.size, PIECE):
            some = numbers[at : at + PIECE].astype(flat.dtype)
            if form.steps:
                some[:1] += last
                some = np.cumsum(some, dtype=flat.dtype)
                last = some[-1]
            flat[at : at + PIECE] = some
    return flat.reshape(form.shape, order="F" if form.fortran else "C")


def _fill(place: NDArray[np.uint8], pieces: Iterable[bytes], parts: int) -> None:
    """Write the pieces to their place; first bytes of numbers of so many parts come first."""
    n, at = len(place) // parts, 0
    by_part = place.reshape(n, parts).T
    for piece in pieces:
        content = np.frombuffer(piece, dtype=np.uint8)
        if at + len(content) > len(place):
            raise InputError("it has an array of another size than it says")
        while len(content):
            part, first = divmod(at, n)
            some = content[: n - first]
            by_part[part, first : first + len(some)] = some
            at, content = at + len(some), content[len(some) :]
    if at < len(place):
        raise InputError("it has an array of another size than it says")


def _narrowed(flat: NDArray) -> tuple[NDArray, bool]:
    """Return an array in a narrower type that holds it, and whether as differences."""
    if len(flat) < FEW or flat.dtype.kind not in NARROWER:
        return flat, False
    narrow = _narrowest(flat)
    if flat.dtype.kind == "f" or narrow.dtype.itemsize == 1:
        return narrow, False
    # in arithmetic without a sign differences go round, and so does the sum that undoes them
    steps = flat.copy()
    steps[1:] -= flat[:-1]
    steps = _narrowest(steps)
    if steps.dtype.itemsize < narrow.dtype.itemsize:
        return steps, True
    return narrow, False


def _narrowest(flat: NDArray) -> NDArray:
    for name in NARROWER[flat.dtype.kind]:
        kept = np.dtype(name)
        if kept.itemsize >= flat.dtype.itemsize:
            continue
        if kept.kind in "iu":
            low, high = flat.min(), flat.max()
            limits = np.iinfo(kept)
            if not (low >= limits.min and high <= limits.max):
                continue
        if _holds(kept, flat):
            return flat.astype(kept)
    return flat


def _holds(kept: np.dtype, flat: NDArray) -> bool:
    """Return whether a type holds all numbers; checked in batches, to take little memory."""
    for at in range(0, len(flat), PIECE):
        piece = flat[at : at + PIECE]
        with np.errstate(all="ignore"):
            back = piece.astype(kept).astype(flat.dtype)
        if back.tobytes() != piece.tobytes():
            return False
    return True


def _apart(flat: NDArray) -> NDArray[np.uint8]:
    return np.ascontiguousarray(_bytes(flat).reshape(len(flat), -1).T).reshape(-1)


def _bytes(flat: NDArray) -> NDArray[np.uint8]:
    return np.ascontiguousarray(flat).view(np.uint8)


def _deflated_size(content: NDArray[np.uint8], strategy: int) -> int:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, 9, strategy)
    return len(packer.compress(content.data)) + len(packer.flush())


# Arrays that are made for a file, one after the other.
class MadeWhenWritten(NamedTuple):
    """An array that is no part of the fit: `make` returns it when it is written; it is not kept."""

    make: Callable[[], NDArray]
