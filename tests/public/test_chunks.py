"""Sources of chunks: all give the same rows, and what cannot be walked twice is refused."""

from __future__ import annotations

import builtins
import importlib.util
import sys
from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import odrf
from odrf.errors import InputError
from odrf.public.chunks import Chunks, chunks_of

DATA = pd.DataFrame(
    {"y": np.arange(9) / 4, "a": [1, 2, None] * 3, 'odd "name"': list("abcabcabc"), "k": range(9)}
)


@pytest.fixture
def folder(tmp_path):
    """Rows in three files, of which the names and not the times of writing give the order."""
    for name, rows in (("c", DATA[6:]), ("a", DATA[:2]), ("b/x", DATA[2:6])):
        path = tmp_path / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        rows.to_parquet(path, index=False)
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path


def parted():
    from dask.dataframe import from_map  # noqa: PLC0415  # optional

    return from_map(lambda i: DATA[5 * i : 5 * i + 5], [0, 1], meta=DATA[:0])


def sources(folder):
    arrow, query = pa.Table.from_pandas(DATA), pl.from_pandas(DATA).lazy()
    batched = hasattr(query, "collect_batches")  # not in older versions of polars
    dask = importlib.util.find_spec("dask") and importlib.util.find_spec("distributed")
    return {
        **({"data frame of Dask": parted()} if dask else {}),
        **({"Chunks of a query": Chunks(query)} if batched else {}),
        "folder": str(folder),
        "path": folder,
        "files": [folder / "a.parquet", folder / "b", str(folder / "c.parquet")],
        "dataset": ds.dataset(arrow),
        "list": [DATA[:5], DATA[5:]],
        "several libraries": (pl.from_pandas(DATA[:5]), arrow.slice(5)),
        "function": lambda: iter([DATA[:5], DATA[5:]]),
        "partial": partial(iter, [DATA]),
        "reader of text": lambda: pd.read_csv(folder / "rows.csv", chunksize=4),
        "Chunks of a relation": Chunks(duckdb.from_arrow(arrow)),
        "Chunks of a frame": Chunks(DATA),
        "Chunks of Chunks": Chunks(Chunks(arrow)),
        "Chunks of an iterable": Chunks({0: DATA}.values()),
    }


NAMES = list(sources(Path("nowhere")))


@pytest.mark.parametrize("name", NAMES)
def test_every_source_gives_the_same_rows_again_and_again(folder, name):
    chunks = chunks_of(sources(folder)[name])
    assert chunks is not None
    assert chunks.columns() == list(DATA.columns)
    for _ in range(2):
        found = pd.concat(list(chunks.frames(["k", 'odd "name"', "a"])))
        assert found.columns.tolist() == ["k", 'odd "name"', "a"]
        assert found.index.tolist() == list(range(9))
        for column in found:
            same = found[column].astype(object).where(found[column].notna(), None)
            assert (
                same.tolist()
                == DATA[column].astype(object).where(DATA[column].notna(), None).tolist()
            )
    assert "Chunks(" in repr(chunks)


@pytest.mark.parametrize("table", [DATA, pl.from_pandas(DATA), pa.Table.from_pandas(DATA), None, 3])
def test_what_is_in_memory_or_is_no_table_is_no_source(table):
    assert chunks_of(table) is None


def test_a_relation_and_a_query_are_tables_as_before():
    relation, query = duckdb.from_df(DATA), pl.from_pandas(DATA).lazy()
    assert chunks_of(relation) is None
    assert chunks_of(query) is None
    fit = odrf.odrf("y ~ k", relation, n_trees=2, seed=1)
    assert fit.rows is not None


def test_folders_give_columns(tmp_path):
    for year in (2020, 2021):
        path = tmp_path / f"year={year}"
        path.mkdir()
        DATA.to_parquet(path / "rows.parquet", index=False)
    found = pd.concat(list(Chunks(tmp_path).frames(["year", "k"])))
    assert found["year"].tolist() == [2020] * 9 + [2021] * 9


@pytest.mark.parametrize("index", [None, "label"])
def test_row_labels_in_a_file_are_no_column(tmp_path, index):
    DATA.sample(frac=1, random_state=1).rename_axis(index=index).to_parquet(tmp_path / "a.parquet")
    assert Chunks(tmp_path).columns() == list(DATA.columns)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (iter([DATA]), "which can be walked only once"),
        ((frame for frame in [DATA]), "generator, which can be walked only once"),
        ("nowhere.parquet", "there is no such file"),
        (3, "source is a int"),
        ({"y": [1]}, "source is a dict"),
        (np.ones(3), "source is a numpy.ndarray"),
        (lambda: DATA, "returns a pandas.DataFrame"),
        (lambda: None, "returns a NoneType"),
        (lambda: 1 / 0, "the function given as data fails: ZeroDivisionError"),
        (lambda path: path, "the function given as data fails: TypeError"),
        ([1, 2], "chunk 1 of data must be a data frame"),
        ([DATA, DATA.drop(columns="k")], "chunk 2 of data lacks column 'k'"),
        ([DATA.set_axis([1, 2, 3, 4], axis=1)], "column names must be text"),
        ([DATA.set_axis(list("kkab"), axis=1)], "more than one column named 'k'"),
        ([], "no chunk"),
    ],
)
def test_what_cannot_be_read_is_said(source, words):
    def read():
        chunks = Chunks(source)
        chunks.columns()
        return list(chunks.frames(["y", "k"]))

    with pytest.raises(InputError, match=words):
        read()


def as_source(kind, parts, folder):
    """Return a source of these parts, and how it calls the second one."""
    if kind in ("list", "function"):
        return (parts if kind == "list" else lambda: iter(parts)), "chunk 2 of data"
    for i, part in enumerate(parts):
        part.to_parquet(folder / f"p{i}.parquet")
    if kind == "folder":
        return folder, f"data={str(folder / 'p1.parquet')!r}"
    files = [str(folder / f"p{i}.parquet") for i in range(len(parts))]
    return ds.dataset(files), f"data={files[1]!r}"


@pytest.mark.parametrize("kind", ["list", "function", "folder", "dataset"])
@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("fit", [odrf.odrf, odrf.odt])
def test_all_chunks_must_have_the_same_columns(tmp_path, kind, lacking, fit):
    parts = [DATA[:3], DATA[3:6], DATA[6:]]
    parts[lacking] = parts[lacking].drop(columns="k")
    source, called = as_source(kind, parts, tmp_path)
    with pytest.raises(InputError) as refused:
        fit("y ~ .", source, seed=1)
    said = "lacks column 'k'" if lacking else "has column 'k', which the first lacks"
    assert str(refused.value).startswith(f"{called} {said}")


@pytest.mark.parametrize("kind", ["list", "function", "folder"])
def test_whole_numbers_in_the_first_file_round_no_others(tmp_path, kind):
    parts = [DATA[:3], DATA[3:].assign(k=DATA["k"] + 0.5)]
    source, _ = as_source(kind, parts, tmp_path)
    found = pd.concat(list(Chunks(source).frames(["k"])))
    assert found["k"].tolist() == [0, 1, 2, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5]


@pytest.mark.parametrize("kind", ["list", "function", "folder", "dataset"])
def test_text_among_numbers_of_another_file_is_refused(tmp_path, kind):
    parts = [DATA[:3], DATA[3:].assign(k="?")]
    source, _ = as_source(kind, parts, tmp_path)
    with pytest.raises(InputError, match="'k'") as refused:
        odrf.odrf("y ~ .", source, n_trees=2, seed=1)
    assert kind != "dataset" or "p1.parquet" in str(refused.value)


@pytest.mark.parametrize("damaged", [0, 1])
def test_a_damaged_file_of_a_folder_is_named(tmp_path, damaged):
    as_source("folder", [DATA[:5], DATA[5:]], tmp_path)
    path = tmp_path / f"p{damaged}.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"p{damaged}\.parquet"):
        odrf.odrf("y ~ k", tmp_path, n_trees=2, seed=1)


@pytest.mark.parametrize("change", ["values", "order", "fewer", "more"])
def test_rows_that_change_between_passes_are_noticed(change):
    passes = []

    def rows():
        passes.append(1)
        if len(passes) <= 2:  # the names, and the first pass
            return [DATA]
        other = {
            "values": DATA.assign(k=DATA["k"] + 1),
            "order": DATA[::-1],
            "fewer": DATA[:-1],
            "more": pd.concat([DATA, DATA[:1]]),
        }
        return [other[change]]

    with pytest.raises(InputError, match="the chunks give other rows"):
        odrf.odrf("y ~ k", rows, seed=1)


def test_readers_that_a_function_has_made_are_closed(tmp_path):
    DATA.to_csv(tmp_path / "rows.csv", index=False)
    made = []

    def parts():
        made.append(pd.read_csv(tmp_path / "rows.csv", chunksize=2))
        return made[-1]

    chunks = Chunks(parts)
    assert chunks.columns() == DATA.columns.tolist()
    assert sum(map(len, chunks.frames())) == len(DATA)
    assert [reader.handles.handle.closed for reader in made] == [True, True]


def test_files_that_are_no_parquet(tmp_path):
    with pytest.raises(InputError, match=r"has no file .* lambda: pd.read_csv"):
        Chunks(tmp_path)
    path = tmp_path / "text.parquet"
    path.write_text("no rows")
    with pytest.raises(InputError, match=r"is no file of Parquet; .* lambda: pd.read_csv"):
        Chunks(path)


@pytest.mark.parametrize("memory", [0, -1, "much", True, np.inf])
def test_memory_is_a_number(memory):
    with pytest.raises(InputError, match="memory="):
        Chunks([DATA], memory=memory)


def test_without_pyarrow_the_way_out_is_said(folder, monkeypatch):
    usual = builtins.__import__

    def refuse(name, *arguments):
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return usual(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.delitem(sys.modules, "pyarrow.dataset")
    with pytest.raises(InputError, match=r'pip install "odrf\[parquet\]"'):
        Chunks(folder)


@pytest.mark.parametrize("data", [iter([DATA]), "nowhere.parquet", [1], (3,), lambda: 3])
def test_odrf_and_odt_say_what_is_wrong_with_a_source(data):
    with pytest.raises(InputError):
        odrf.odrf("y ~ k", data, n_trees=2)
    with pytest.raises(InputError):
        odrf.odt("y ~ k", data)


@pytest.mark.parametrize("make", [str, Chunks])
def test_other_functions_take_tables_only(folder, make):
    words = r"data must be a data frame, not (str|odrf\.Chunks): .*odrf\(\) read them in chunks"
    with pytest.raises(InputError, match=words):
        odrf.odbt("y ~ k", make(folder))
