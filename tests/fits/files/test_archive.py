"""Archives of fits: a member is what its entry says, or it is refused."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from odrf.errors import InputError
from odrf.fits.files.archive import ArchiveReader, ArchiveWriter
from odrf.fits.files.storable_classes import bytes_in_memory

CONTENT = b"odrf " * 2000


@pytest.fixture(params=[True, False], ids=["packed", "as it is"])
def archive(request, tmp_path):
    path = tmp_path / "archive"
    with path.open("w+b") as file:
        writer = ArchiveWriter(file, "1.0", request.param)
        part = writer.add("text", [CONTENT[:7], CONTENT[7:]], zlib.Z_DEFAULT_STRATEGY)
        assert writer.finish(b"{}", 10_000)
    assert (part.stored < part.size) == request.param
    return ArchiveReader(path), part


def test_members_come_back(archive):
    reader, part = archive
    assert reader.read(part) == CONTENT
    assert reader.content() == b"{}"
    assert (reader.version, reader.memory) == ("1.0", 10_000)


@pytest.mark.parametrize("field", ["at", "stored", "size"])
@pytest.mark.parametrize("difference", [-1, 1, 10**6])
def test_other_sizes_and_places_are_refused(archive, field, difference):
    reader, part = archive
    wrong = part._replace(**{field: getattr(part, field) + difference})
    with pytest.raises(InputError, match="damaged"):
        reader.read(wrong)


def test_another_checksum_is_refused(archive):
    reader, part = archive
    with pytest.raises(InputError, match="damaged"):
        reader.read(part._replace(check=part.check[:-1] + "?"))


@pytest.mark.parametrize("about", [b"{", b"[]", b"7", b"{}", b"\xff", b"[" * 320])
def test_a_first_member_that_says_something_else_is_refused(archive, about, tmp_path):
    text, path = (tmp_path / "archive").read_bytes(), tmp_path / "other"
    start = text.index(b"{")
    path.write_bytes(text[:start] + about.ljust(320) + text[start + 320 :])
    with pytest.raises(InputError, match="damaged"):
        ArchiveReader(path)


def test_small_buffers_are_packed_as_one(tmp_path):
    sizes = []
    for content in ([CONTENT], [CONTENT[at : at + 100] for at in range(0, len(CONTENT), 100)]):
        with (tmp_path / str(len(content))).open("w+b") as file:
            writer = ArchiveWriter(file, "1.0", True)
            sizes.append(writer.add("text", content, zlib.Z_DEFAULT_STRATEGY).stored)
    assert sizes[0] == sizes[1]


def test_an_array_that_a_fit_has_twice_counts_once():
    one, other = np.zeros(10), np.zeros(20)
    assert bytes_in_memory([other, one, one, (one, "text")]) == 240
