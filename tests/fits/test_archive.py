"""Archives of fits: a member is what its entry says, or it is refused."""

from __future__ import annotations

import zlib

import pytest

from odrf.errors import InputError
from odrf.fits.files.archive import ArchiveReader, ArchiveWriter

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
