"""Values and columns in a file: rare kinds come back, and what no fit wrote is refused."""

from __future__ import annotations

import datetime
import json
import zipfile
import zlib
import zoneinfo
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.fits.files import arrays
from odrf.fits.files.archive import ArchiveReader, ArchiveWriter
from odrf.fits.files.arrays import ArrayForm, coded_array, decoded_array
from odrf.fits.files.storable_classes import bytes_in_memory
from odrf.fits.files.values import BUILDERS, SCALARS, pandas_as_fields, scalar_as_json

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "value",
    [
        pd.Period("2024-02", "M"),
        np.datetime64("2024-02-29", "D"),
        np.timedelta64(-3, "s"),
        datetime.datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=BERLIN),
        datetime.datetime(2024, 2, 29, 13, 45),
        pd.Timestamp("2024-07-01 12:00"),
        pd.Timestamp("2024-07-01 12:00", tz="Europe/Berlin").as_unit("s"),
    ],
    ids=repr,
)
def test_times_come_back(value):
    [(name, content)] = json.loads(json.dumps(scalar_as_json(value))).items()
    again = SCALARS[name](content)
    assert (type(again), repr(again)) == (type(value), repr(value))


def test_a_zone_without_a_name_is_refused():
    class Ours(datetime.tzinfo):
        def utcoffset(self, moment):
            return None if moment is None else datetime.timedelta(hours=1)

        def dst(self, moment):
            return None

    with pytest.raises(InputError, match=r"the zone .* cannot be saved: convert them"):
        scalar_as_json(datetime.datetime(2024, 1, 1, tzinfo=Ours()))


def test_numbers_of_more_digits_than_64_bits_are_of_another_kind():
    if np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("this machine has none")
    assert scalar_as_json(np.longdouble(1)) is None
    assert scalar_as_json(np.bytes_(b"x")) is None


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("timestamp", [0, "ns", "Nowhere/Land"], "the zone 'Nowhere/Land', which this machine"),
        ("timestamp", [0, "ns", 1e9], "the zone 1000000000.0, which this machine"),
        ("timestamp", [0, "Y", None], "the unknown unit 'Y'"),
        ("numpy", ["object", 1], "the unknown type 'object'"),
        ("decimal", "1" * 5001, "far too many digits"),
    ],
)
def test_values_that_no_fit_wrote_are_refused(name, content, message):
    with pytest.raises(InputError, match=message):
        SCALARS[name](content)


@pytest.mark.parametrize(
    "dtype",
    [
        "decimal128(5, 2)",
        "decimal256(50, 2)",
        "dictionary<values=string, indices=int32, ordered=0>",
        "dictionary<values=string, indices=int8, ordered=1>",
    ],
)
def test_columns_of_arrow_come_back(dtype):
    pyarrow = pytest.importorskip("pyarrow")
    if dtype.startswith("decimal"):
        make = pyarrow.decimal128 if "128" in dtype else pyarrow.decimal256
        of = make(5 if "128" in dtype else 50, 2)
        values = [Decimal("1.10"), None, Decimal("-3.00")]
    else:
        codes = pyarrow.int32() if "int32" in dtype else pyarrow.int8()
        of = pyarrow.dictionary(codes, pyarrow.string(), "ordered=1" in dtype)
        values = ["b", None, "a"]
    column = pd.array(values, dtype=pd.ArrowDtype(of))
    name, fields = pandas_as_fields(column)
    assert fields["type"] == str(column.dtype.pyarrow_dtype)  # older pandas forgets the order
    again = BUILDERS[name](**fields)
    assert again.dtype == column.dtype
    assert again.tolist() == column.tolist()


def test_columns_of_arrow_that_cannot_be_read_are_not_written(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    kind = pd.ArrowDtype(pyarrow.list_(pyarrow.int64()))
    data = pd.DataFrame({"a": np.arange(20.0), "y": np.arange(20) % 3})
    data["several"] = pd.array([[1], [2, 3]] * 10, dtype=kind)
    fit = odrf.graf("y ~ a", data, n_trees=1, seed=1)
    with pytest.raises(InputError, match=r"type list<.*>\[pyarrow\] cannot be saved: convert"):
        fit.save(tmp_path / "fit.odrf")
    with pytest.raises(InputError, match=r"the unknown type list<item: int64>\[pyarrow\]"):
        BUILDERS["ArrowArray"](np.array([None]), "list<item: int64>")


def test_a_column_of_another_library_is_refused():
    class Ours(pd.api.extensions.ExtensionDtype):
        name, type = "ours", object

    class Column(pd.api.extensions.ExtensionArray):
        dtype = Ours()

    with pytest.raises(InputError, match=r"a column of type ours cannot be saved: convert"):
        pandas_as_fields(Column())


EMPTY = np.zeros(2, dtype=np.bool_)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("MaskedArray", {"dtype": "object", "numbers": np.arange(2), "empty": EMPTY}),
        ("StringArray", {"texts": np.array(["a", "b"], object), "storage": "x", "is_nan": False}),
        (
            "DataFrame",
            {
                "columns": pd.Index(["a"]),
                "index": pd.RangeIndex(2),
                "places": ((1,),),
                "parts": (np.arange(2.0),),
                "attrs": {},
            },
        ),
        (
            "DataFrame",
            {
                "columns": pd.Index(["a", "b"]),
                "index": pd.RangeIndex(2),
                "places": ((0, 1),),
                "parts": (np.zeros((1, 2)),),
                "attrs": {},
            },
        ),
    ],
    ids=["type", "storage", "places", "shape"],
)
def test_columns_that_no_fit_wrote_are_refused(name, fields):
    with pytest.raises(ValueError, match=r"unknown type|not numbered|too few rows"):
        BUILDERS[name](**fields)


@pytest.mark.parametrize(
    "changed", [{"dtype": "<f4"}, {"shape": [2**47, 4]}, {"shape": [-1]}, {"steps": 1}]
)
def test_arrays_of_unknown_kinds_are_refused(changed):
    said = coded_array(np.arange(3.0))[0].as_json()
    assert ArrayForm.of_json(said).shape == (3,)
    with pytest.raises(InputError, match="an array of an unknown kind"):
        ArrayForm.of_json(said | changed)


def test_arrays_without_a_plain_form_are_refused():
    with pytest.raises(InputError, match=r"an array of type .* cannot be saved"):
        coded_array(np.zeros(2, dtype=[("a", "f8")]))


def in_pieces(content):
    return [content[at : at + 7].tobytes() for at in range(0, len(content), 7)]


@pytest.mark.parametrize("piece", [1, 5, 1000])
@pytest.mark.parametrize(
    ("numbers", "kept"),
    [
        (np.arange(30), "|u1"),
        (np.append(np.arange(30), -1), "|i1"),
        (np.append(np.arange(30.0), 0.1), "<f8"),
        (np.append(np.arange(30.0), 0.5), "<f4"),
        (np.append(np.arange(30.0), np.nan), "<f4"),
        (np.append(-0.0, np.arange(30.0)), "<f4"),
        (np.arange(10**6, 10**6 + 30), "<u4"),
    ],
)
def test_numbers_are_narrowed_if_the_type_holds_all(numbers, kept, piece, monkeypatch):
    monkeypatch.setattr(arrays, "PIECE", piece)
    form, content, _ = coded_array(numbers)
    assert form.kept == kept
    assert decoded_array(form, in_pieces(content)).tobytes() == numbers.tobytes()


@pytest.mark.parametrize("dtype", [np.int64, np.uint32])
def test_large_numbers_in_small_steps_are_written_as_steps(dtype):
    numbers = np.cumsum(np.random.default_rng(1).integers(1, 9, 3000)).astype(dtype)
    form, content, _ = coded_array(numbers)
    assert form.steps
    assert np.array_equal(decoded_array(form, in_pieces(content)), numbers)


def test_truth_values_are_0_or_1():
    form, content, _ = coded_array(np.array([True, False, True]))
    assert decoded_array(form, in_pieces(content)).tolist() == [True, False, True]
    content = np.where(content == 1, 2, content).astype(np.uint8)
    with pytest.raises(InputError, match="a truth value that is neither"):
        decoded_array(form, in_pieces(content))


def test_many_objects_are_written_once_each(tmp_path):
    data = pd.DataFrame({"a": np.arange(600.0), "y": np.arange(600) % 3})
    objects = ["u", "a longer text", 1.5, None, Decimal("1.10"), (1, "u")]
    data["mixed"] = pd.Series(objects * 100, dtype=object)
    fit = odrf.graf("y ~ a", data, n_trees=1, seed=1)
    fit.save(tmp_path / "fit.odrf")
    with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
        [name] = [name for name in file.namelist() if name.endswith(".jsonl")]
        assert file.read(name).count(b"\n") == len(objects) - 1
    again = odrf.load(tmp_path / "fit.odrf").fit.frame["mixed"]
    assert list(map(repr, again)) == list(map(repr, data["mixed"]))


# ------------------------------------------------------------------------------------------------
# Archives of fits: a member is what its entry says, or it is refused.
# ------------------------------------------------------------------------------------------------


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
