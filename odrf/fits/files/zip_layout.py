"""The bytes of a zip archive around the contents of its members.

Python's `zipfile` reads such an archive, as does every other program.  Written out here are the few
lines that it takes, because `zipfile` cannot compress on several cores, and because the reader of
fits must not trust what an archive says of itself: it compares these bytes with those of the file.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

__all__ = ["DEFLATED", "STORED", "Member", "directory_entry", "end_of_directory", "local_header"]

STORED, DEFLATED = 0, 8
# Numbers from here on are written in 64 bits.
LARGEST_NUMBER = 2**32 - 2
MANY_MEMBERS = 2**16 - 2
# 1 January 1980, the first date that the format knows: the same fit gives the same file.
DATE = 0x21
UTF8_NAMES = 0x800
VERSION, VERSION_64 = 20, 45


class Member(NamedTuple):
    """A member of an archive.

    Attributes
    ----------
    name : str
    method : int
        `STORED` or `DEFLATED`.
    crc : int
        CRC-32 of the content.
    stored, size : int
        Bytes in the file, and of the content.
    offset : int
        Where its header begins in the file.
    """

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
    """Return what follows a list of so many members and bytes, which begins at `offset`."""
    end = b""
    if count > MANY_MEMBERS or size > LARGEST_NUMBER or offset > LARGEST_NUMBER:
        numbers = (VERSION_64, VERSION_64, 0, 0, count, count, size, offset)
        end += b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, *numbers)
        end += b"PK\x06\x07" + struct.pack("<IQI", 0, offset + size, 1)
        count, size, offset = 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF
    return end + b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, count, count, size, offset, 0)


def _common(member: Member, large: bool, extra: bytes) -> bytes:
    """Return what header and directory say alike."""
    sizes = (0xFFFFFFFF, 0xFFFFFFFF) if large else (member.stored, member.size)
    return struct.pack(
        "<HHHHHIIIHH",
        VERSION_64 if large else VERSION,
        UTF8_NAMES,
        member.method,
        0,
        DATE,
        member.crc,
        *sizes,
        len(member.name.encode()),
        len(extra),
    )
