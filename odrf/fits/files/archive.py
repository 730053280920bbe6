"""A file of named members that is checked before it is used: a zip archive with checksums."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import weakref
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any, NamedTuple

from odrf.errors import InputError
from odrf.version import __version__

# Python's `zipfile` reads such an archive, as does every other program.  Written out here are the
# few lines that it takes, because `zipfile` cannot compress on several cores, and because the
# reader of fits must not trust the sizes in an archive: it compares these bytes with those
# of the file.

STORED, DEFLATED = 0, 8
# Numbers from here on are written in 64 bits.
LARGEST_NUMBER = 2**32 - 2
MANY_MEMBERS = 2**16 - 2
# 1 January 1980, the first date that the format knows: the same fit gives the same file.
DATE = 0x21
UTF8_NAMES = 0x800
VERSION, VERSION_64 = 20, 45


class Member(NamedTuple):
    """A member of an archive: `stored` bytes in the file, `size` bytes of content."""

    name: str
    method: int
    crc: int
    stored: int
    size: int
    offset: int


def local_header(member: Member) -> bytes:
    """Return the bytes before the content of a member."""
    large = member.stored > LARGEST_NUMBER or member.size > LARGEST_NUMBER
    extra = struct.pack("<HHQQ", 1, 16, member.size, member.stored) if large else b""
    return b"PK\x03\x04" + _common(member, large, extra) + member.name.encode() + extra


def directory_entry(member: Member) -> bytes:
    """Return the line of a member in the list of members, which follows the last of them."""
    large = max(member.stored, member.size, member.offset) > LARGEST_NUMBER
    numbers = (member.size, member.stored, member.offset)
    extra = struct.pack("<HHQQQ", 1, 24, *numbers) if large else b""
    offset = 0xFFFFFFFF if large else member.offset
    head = b"PK\x01\x02" + struct.pack("<H", VERSION_64 if large else VERSION)
    rest = struct.pack("<HHHII", 0, 0, 0, 0, offset)
    return head + _common(member, large, extra) + rest + member.name.encode() + extra


def end_of_directory(count: int, size: int, offset: int) -> bytes:
    """Return the bytes after a list of so many members and bytes, which begins at `offset`."""
    end = b""
    if count > MANY_MEMBERS or size > LARGEST_NUMBER or offset > LARGEST_NUMBER:
        numbers = (VERSION_64, VERSION_64, 0, 0, count, count, size, offset)
        end += b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, *numbers)
        end += b"PK\x06\x07" + struct.pack("<IQI", 0, offset + size, 1)
        count, size, offset = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    return end + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, size, offset, 0)


def _common(member: Member, large: bool, extra: bytes) -> bytes:
    """Return the fields that header and directory have in common."""
    sizes = (0xFFFFFFFF, 0xFFFFFFFF) if large else (member.stored, member.size)
    version, lengths = VERSION_64 if large else VERSION, (len(member.name.encode()), len(extra))
    first = version, UTF8_NAMES, member.method, 0, DATE, member.crc
    return struct.pack("<HHHHHIIIHH", *first, *sizes, *lengths)


# A file of named members that is checked before it is used: a zip archive with checksums.
FORMAT = 1
ABOUT, CONTENT = "odrf.json", "fit.json"
# The first member has this size, so that it can be written last.
ABOUT_SIZE = 320
# Digits of checksums: no damage is overlooked, and small files stay small.
DIGITS = 16
# What is compressed at once, by one thread.
CHUNK = 2**22
# What is read, or decompressed, at once.
PIECE = 2**18
# Compressed content smaller than this share of itself is worth the time of reading it.
WORTH = 0.97
# An archive may declare this many times its size in memory, and a little: more would be an attack.
# An archive that needs more is written without compression.
MOST_RATIO, LITTLE = 1000, 2**20


class NotAFit(Exception):  # noqa: N818
    """The file is no archive of a fit."""


class Part(NamedTuple):
    """Where a member is, and the first digits of the SHA-256 of its header and content."""

    file: str
    at: int
    stored: int
    size: int
    check: str


class ArchiveWriter:
    """Writes members one after the other; `finish` writes what must come first or last."""

    def __init__(self, file: IO[bytes], version: str, compress: bool) -> None:
        self._file, self._version, self._compress = file, version, compress
        self._about = Member(ABOUT, STORED, 0, ABOUT_SIZE, ABOUT_SIZE, 0)
        self._members: list[Member] = []
        self._at = len(local_header(self._about)) + ABOUT_SIZE
        file.seek(self._at)

    def add(self, name: str, content: Sequence[Any], strategy: int) -> Part:
        """Write a member whose content is that of some buffers, with this strategy of `zlib`."""
        if sum(map(len, content)) <= CHUNK:
            content = [b"".join(content)]
        crc = size = 0
        for buffer in content:
            crc, size = zlib.crc32(buffer, crc), size + len(buffer)
        method, stored = STORED, list(content)
        if self._compress:
            packed = list(_deflated(content, strategy))
            if sum(map(len, packed)) < WORTH * size:
                method, stored = DEFLATED, packed
        member = Member(name, method, crc, sum(map(len, stored)), size, self._at)
        digest = hashlib.sha256()
        for whole in [local_header(member), *stored]:
            for at in range(0, len(whole), CHUNK):  # so that an interrupt need not wait
                piece = memoryview(whole)[at : at + CHUNK]
                self._file.write(piece)
                digest.update(piece)
                self._at += len(piece)
        self._members.append(member)
        return Part(name, member.offset, member.stored, size, _check(digest))

    def finish(self, content: bytes, memory: int) -> bool:
        """Write the list of all contents, and the description; return whether a reader takes it."""
        at, digest = self._at, hashlib.sha256()
        part = self.add(CONTENT, [content], zlib.Z_DEFAULT_STRATEGY)
        self._file.seek(at)
        digest.update(self._file.read())
        first, entries = self._at, b"".join(map(directory_entry, self._members))
        digest.update(entries)
        description: dict[str, Any] = {
            "what": "odrf fit",
            "format": FORMAT,
            "version": self._version,
            "memory": memory,
            "at": at,
            "stored": part.stored,
            "size": part.size,
            "directory": first,
            "members": len(self._members) + 1,
            "bytes": first + len(entries) + len(_end(b"", first, 0, 0)),
            "rest": _check(digest),
        }
        about = _about_text(description)
        self._file.seek(first)
        self._file.write(entries + _end(about, first, len(entries), len(self._members) + 1))
        self._file.seek(0)
        self._file.write(local_header(_about_member(about)) + about)
        return memory <= _most_memory(description["bytes"])


class ArchiveReader:
    """Reads an archive that `ArchiveWriter` wrote, and uses nothing unchecked.

    The file stays open as long as this object exists. Raises `NotAFit` if it is something else, and
    `InputError` if it is damaged, or a later version wrote it.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, path.open("rb")
        weakref.finalize(self, self._file.close)
        self._lock = threading.Lock()
        self._size = os.fstat(self._file.fileno()).st_size
        start = local_header(_about_member(bytes(ABOUT_SIZE)))
        head = self._bytes(0, min(len(start) + ABOUT_SIZE, self._size))
        name = ABOUT.encode()
        if not head.startswith(start[:4]) or head[30 : 30 + len(name)] != name:
            raise NotAFit
        about = head[len(start) :]
        description = _description(about)
        if description is None or head != local_header(_about_member(about)) + about:
            raise damaged()
        if description["format"] != FORMAT:
            raise InputError(
                f"odrf {description['version']} wrote it in a form that this version, "
                f"{__version__}, does not know: install a later version"
            )
        if description["bytes"] != self._size:
            raise damaged()
        self.version, self.memory = description["version"], description["memory"]
        if self.memory > _most_memory(self._size):
            raise InputError("it says that it takes far more memory than a file of its size can")
        self._part = Part(
            CONTENT, description["at"], description["stored"], description["size"], ""
        )
        self._check_rest(description, about)

    def content(self) -> bytes:
        """Return the JSON of the fit."""
        return b"".join(self._pieces(self._part, hashlib.sha256()))

    def read(self, part: Part) -> bytes:
        """Return the content of a member; raise `InputError` if it is damaged."""
        return b"".join(self.pieces(part))

    def pieces(self, part: Part) -> Iterator[bytes]:
        """Yield the content of a member piece by piece, so that memory holds it once.

        Raises `InputError` if it is damaged, perhaps only at the end: no piece may be used before.
        """
        digest = hashlib.sha256()
        yield from self._pieces(part, digest)
        if _check(digest) != part.check:
            raise damaged()

    def _pieces(self, part: Part, digest: Any) -> Iterator[bytes]:
        header = len(local_header(Member(part.file, STORED, 0, part.stored, part.size, 0)))
        end = part.at + header + part.stored
        if part.size > self.memory or part.stored > part.size or end > self._size:
            raise damaged()
        digest.update(self._bytes(part.at, header))
        stored = self._stored(part.at + header, end, digest)
        return _unpacked(stored, part.size) if part.stored < part.size else stored

    def _stored(self, first: int, end: int, digest: Any) -> Iterator[bytes]:
        for at in range(first, end, PIECE):
            piece = self._bytes(at, min(PIECE, end - at))
            digest.update(piece)
            yield piece

    def _check_rest(self, description: dict[str, Any], about: bytes) -> None:
        """Check the rest of the file: the list of contents, and the list of members."""
        first, digest = description["directory"], hashlib.sha256()
        end = self._size - len(_end(about, first, 0, description["members"]))
        if not 0 <= description["at"] <= first <= end:
            raise damaged()
        for at in range(description["at"], end, CHUNK):
            digest.update(self._bytes(at, min(CHUNK, end - at)))
        rest = _end(about, first, end - first, description["members"])
        if _check(digest) != description["rest"] or self._bytes(end, self._size - end) != rest:
            raise damaged()

    def _bytes(self, at: int, count: int) -> bytes:
        with self._lock:
            self._file.seek(at)
            content = self._file.read(count)
        if len(content) < count:
            raise damaged()
        return content


def _unpacked(stored: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the content of a member of so many bytes, no more of them at once than a piece."""
    unpacker, left = zlib.decompressobj(-15), size
    try:
        for piece in stored:
            while content := unpacker.decompress(piece, PIECE):
                left -= len(content)
                if left < 0:
                    raise damaged()
                yield content
                piece = unpacker.unconsumed_tail
    except zlib.error:
        raise damaged() from None
    if left or not unpacker.eof:
        raise damaged()


def damaged() -> InputError:
    """Return the error for a file that is not as it was written."""
    return InputError("it is damaged: use a copy, or fit again")


def _check(digest: Any) -> str:
    return digest.hexdigest()[:DIGITS]


def _most_memory(size: int) -> int:
    return MOST_RATIO * size + LITTLE


def _about_text(description: dict[str, Any]) -> bytes:
    """Return the first member: JSON that ends with its own checksum, and spaces."""
    text = json.dumps(description)[:-1]
    text += f', "check": "{_check(hashlib.sha256(text.encode()))}"}}'
    return text.encode().ljust(ABOUT_SIZE - 1) + b"\n"


def _description(about: bytes) -> dict[str, Any] | None:
    """Return the content of the first member; None if it is not as it was written."""
    try:
        description = json.loads(about)
        description.pop("check")
        whole = _about_text(description) == about
        numbers = ("format", "memory", "at", "stored", "size", "directory", "members", "bytes")
        whole &= all(
            type(description[name]) is int and 0 <= description[name] < 2**62 for name in numbers
        )
        whole &= all(type(description[name]) is str for name in ("version", "rest"))
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None
    return description if whole else None


def _about_member(about: bytes) -> Member:
    return Member(ABOUT, STORED, zlib.crc32(about), ABOUT_SIZE, ABOUT_SIZE, 0)


def _end(about: bytes, first: int, entries: int, count: int) -> bytes:
    """Return the last bytes of the archive: the first member's line in the list, and the end."""
    line = directory_entry(_about_member(about))
    return line + end_of_directory(count, entries + len(line), first)


def _deflated(content: Sequence[Any], strategy: int) -> Iterator[bytes]:
    """Yield some buffers compressed, as one stream; large ones are divided among threads."""
    chunks = [
        memoryview(buffer)[at : at + CHUNK]
        for buffer in content
        for at in range(0, len(buffer), CHUNK)
    ]

    # 6 would take three times as long for floats, and save 2 % of their bytes
    level = 9 if len(chunks) == 1 else 4

    def pack(i: int) -> bytes:
        packer = zlib.compressobj(level, zlib.DEFLATED, -15, 9, strategy)
        last = zlib.Z_FINISH if i == len(chunks) - 1 else zlib.Z_FULL_FLUSH
        return packer.compress(chunks[i]) + packer.flush(last)

    if len(chunks) <= 2:
        yield from map(pack, range(len(chunks)))
        return
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        yield from threads.map(pack, range(len(chunks)))
