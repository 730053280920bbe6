"""What is foreseen of fits on rows in chunks is what they take; the rows are read no more often."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from patsy import EvalEnvironment

import odrf
from odrf.design.streamed import blocks
from odrf.design.streamed.blocks import ChunkBlocks
from odrf.design.streamed.streamed_design import learn_streamed_design
from odrf.engine.memory import resident_memory
from odrf.errors import InputError
from odrf.evaluation.foresight import of_all_rows, of_streamed, sampled_blocks
from odrf.evaluation.foresight.sampled_blocks import SampledBlocks
from odrf.fits.all_rows import growing_all_rows
from odrf.fits.files.costs import bytes_in_memory
from odrf.public.chunks import Chunks


def table(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((n, 5))).add_prefix("x")
    data["f"] = pd.Categorical([f"l{k}" for k in rng.integers(9, size=n)])
    y = data.x0 + data.x1 * data.x2 + rng.normal(size=n) / 4
    data.loc[rng.random(n) < 0.05, "x4"] = np.nan
    return data.assign(y=y, k=pd.qcut(y, 3, labels=list("abc")).astype(str))


DATA = table()
NUMBERS, CLASSES = DATA.drop(columns="k"), DATA.drop(columns="y")
COMMON = {"seed": 1, "n_jobs": 1}
CASES = {
    "numbers": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 40}, 0.05),
    "classes": ("k ~ .", CLASSES, odrf.odrf, {"n_trees": 40, "class_weights": "balanced"}, 0.05),
    "few trees": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 6, "min_leaf": 5}, 0.25),
    "honest": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 40, "honest": True}, 0.1),
    "small share": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 40, "sample_fraction": 0.1}, 0.1),
    "tree": ("y ~ .", NUMBERS, odrf.odt, {"alpha": None}, 0.25),
    "tree of classes": ("k ~ .", CLASSES, odrf.odt, {"alpha": 0.0, "min_leaf": 9}, 0.25),
}
# A tree of so few rows is foreseen by one of 500.
OF_FILES = {"tree": 0.6, "tree of classes": 0.6}


def chunks(data):
    return [data[:900], data[900:901], data[901:]]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Cut rows into several blocks, of which the sample keeps some."""
    for module in (blocks, of_streamed):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 512)


@pytest.mark.parametrize("name", CASES)
def test_fit_and_file_are_as_large_as_foreseen(name, tmp_path):
    formula, data, model, options, within = CASES[name]
    foresight = odrf.foresee(formula, chunks(data), model=model, **options, **COMMON)
    fit = model(formula, chunks(data), **options, **COMMON)
    trees = foresight.parts["trees"]
    assert trees.fitted == pytest.approx(bytes_in_memory(fit.fit), rel=within)
    fit.save(tmp_path / "fit.odrf")
    size = (tmp_path / "fit.odrf").stat().st_size
    assert foresight.file_bytes == pytest.approx(size, rel=OF_FILES.get(name, within + 0.15))
    assert foresight.leaves == pytest.approx(fit.n_leaves.mean(), rel=within)
    assert foresight.n_trees == fit.forest.n_trees
    assert foresight.call == fit.call
    assert foresight.peak_bytes >= trees.fitted
    assert 0 < foresight.seconds < 60
    assert foresight.fits


def test_kept_bytes_are_those_of_the_trees_and_of_what_judged_the_rows():
    foresight = odrf.foresee("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    fit = odrf.odrf("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    kept = next(iter(vars(fit.forest)["_packed_for_codes"].values()))
    packed = kept.root.nbytes + kept.words.nbytes
    assert foresight.parts[of_streamed.PACKED].fitted == pytest.approx(packed, rel=0.1)
    assert foresight.predict_bytes == 0


@pytest.mark.parametrize("model", [odrf.odrf, odrf.odt])
def test_rows_are_read_as_often_as_the_design_needs(model):
    walked = []

    def read():
        walked.append(1)
        return iter(chunks(NUMBERS))

    odrf.foresee("y ~ .", read, model=model, **({"n_trees": 5} if model is odrf.odrf else {}))
    # names of columns, the design, and the means of the column with empty cells
    assert len(walked) == 3


def test_memory_decides_how_often_rows_are_gathered():
    one = odrf.foresee("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    few = odrf.foresee("y ~ .", Chunks(chunks(NUMBERS), memory=3e6), n_trees=40, **COMMON)
    assert "all chunks once" in one.notes[0]
    assert " times, and judged once" in few.notes[0]
    deep = {"n_trees": 200, "max_leaves": 4, **COMMON}
    one = odrf.foresee("y ~ .", chunks(NUMBERS), **deep)
    few = odrf.foresee("y ~ .", Chunks(chunks(NUMBERS), memory=6e6), **deep)
    assert "drawn rows of 200 trees" in one.parts
    assert few.peak_bytes < one.peak_bytes


def test_a_sample_that_is_smaller_than_a_tree_gives_power_laws(monkeypatch):
    monkeypatch.setattr(sampled_blocks, "MOST", 1500)
    monkeypatch.setattr(sampled_blocks, "FEWEST", 100)
    foresight = odrf.foresee("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    fit = odrf.odrf("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    assert foresight.leaves == pytest.approx(fit.n_leaves.mean(), rel=0.1)
    assert "those of trees on 1,500 rows" in foresight.notes[1]
    assert foresight.pilots.startswith("3 trees on 300, 750, 1,500 rows")


@pytest.mark.parametrize("most", [100, 700, 10**6])
def test_the_sample_has_the_rows_with_the_smallest_hashes(most, monkeypatch):
    monkeypatch.setattr(sampled_blocks, "MOST", most)
    monkeypatch.setattr(sampled_blocks, "FEWEST", 1)

    def sample_of(parts):
        seen = SampledBlocks(ChunkBlocks(Chunks(parts)))
        numbers = list(seen.over_blocks("see", lambda given, block: len(block), None, ["y", "x0"]))
        assert sum(numbers) == 6000
        assert (
            list(seen.over_blocks("see", lambda given, block: len(block), None, ["y"])) == numbers
        )
        assert seen.reading >= 0 and seen.resident > 0
        assert seen.columns() == NUMBERS.columns.tolist() and seen.memory is None
        return seen.sample()

    one, other = sample_of(chunks(NUMBERS)), sample_of([NUMBERS])
    pd.testing.assert_frame_equal(one, other)
    assert len(one) == min(most, 6000)
    assert one.index.tolist() == list(range(len(one)))
    if most < 6000:  # random, not the first rows
        first = NUMBERS["y"].isin(one["y"]).to_numpy()[: 6000 - most].sum()
        assert 0.5 * most < first < most
    else:
        assert sorted(one["y"]) == sorted(NUMBERS["y"])


def test_wide_rows_have_a_smaller_sample(monkeypatch):
    monkeypatch.setattr(sampled_blocks, "MOST_BYTES", 16 * 800)
    monkeypatch.setattr(sampled_blocks, "FEWEST", 10)
    seen = SampledBlocks(ChunkBlocks(Chunks(chunks(NUMBERS))))
    assert len(list(seen.over_blocks("see", lambda given, block: 1, None, ["y", "x0"]))) == 12
    assert len(seen.sample()) == 800


def test_a_tree_of_more_rows_than_grow_in_memory(monkeypatch):
    for module in (growing_all_rows, of_all_rows):
        monkeypatch.setattr(module, "rows_that_fit", lambda stored, classes: 1000)
    options = {"model": odrf.odt, "alpha": None, "min_leaf": 5, **COMMON}
    foresight = odrf.foresee("y ~ .", chunks(NUMBERS), **options)
    fit = odrf.odt("y ~ .", chunks(NUMBERS), alpha=None, min_leaf=5, **COMMON)
    assert fit.fit.levels > 1
    assert foresight.leaves == pytest.approx(fit.n_leaves.mean(), rel=0.25)
    assert "levels have more rows than grow in memory" in foresight.notes[0]
    rows = foresight.parts["rows in memory"].growing / (4 * fit.design.n_terms + 16)
    assert rows == pytest.approx(6000, rel=0.25)


def test_rows_held_out_are_counted():
    foresight = odrf.foresee("y ~ .", chunks(NUMBERS), model=odrf.odt, **COMMON)
    fit = odrf.odt("y ~ .", chunks(NUMBERS), **COMMON)
    of_row = 4 * fit.design.n_terms + 16
    assert foresight.parts["rows held out"].growing == pytest.approx(600 * of_row, rel=0.01)
    assert "pruned" in foresight.notes[-1]


def test_lines_are_extended():
    assert of_all_rows.at_all_by_line([100, 300, 600], [2.0, 4.0, 7.0], 10_000) == pytest.approx(
        101
    )
    assert of_all_rows.at_all_by_line([100], [2.0], 200) == 4.0
    assert of_all_rows.at_all_by_line([100, 200], [2.0, 1.0], 1000) >= 0


def test_what_chunks_do_not_have_is_refused_as_by_the_fit():
    parts = chunks(NUMBERS)
    with pytest.raises(InputError, match="sample_fraction=1 with rows in chunks"):
        odrf.foresee("y ~ .", parts, sample_fraction=1.0)
    with pytest.raises(InputError, match="blend=True with rows in chunks"):
        odrf.foresee("y ~ .", parts, blend=True)
    with pytest.raises(InputError, match="honest=True with rows in chunks"):
        odrf.foresee("y ~ .", parts, model=odrf.odt, honest=True)
    with pytest.raises(InputError, match="groups= with rows in chunks"):
        odrf.foresee("y ~ .", parts, groups="f")
    with pytest.raises(InputError, match="surrogate"):
        odrf.foresee("y ~ .", parts, missing="surrogate")
    with pytest.raises(InputError, match="walked only once"):
        odrf.foresee("y ~ .", iter(parts))
    for model in (odrf.odbt, odrf.graf, odrf.auto):
        with pytest.raises(InputError, match="data"):
            odrf.foresee("y ~ .", parts, model=model)


def test_data_frames_of_dask_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    data = dask.from_map(lambda i: NUMBERS[:0], [0], meta=NUMBERS[:0])
    with pytest.raises(InputError, match=r"Dask is not foreseen.*Parquet"):
        odrf.foresee("y ~ .", data)


def test_a_sample_without_weight_is_refused():
    data = NUMBERS.assign(w=0.0)
    data.loc[[5, 6], "w"] = 1.0
    seen = SampledBlocks(ChunkBlocks(Chunks(chunks(data))))
    rows = of_streamed_rows(data, seen)
    with pytest.raises(InputError, match="none with a response and a positive weight"):
        of_streamed.weighted_rows(rows, data[100:200].reset_index(drop=True))
    assert len(of_streamed.weighted_rows(rows, data[:200]).y) == 2


def of_streamed_rows(data, seen):
    return learn_streamed_design(
        "y ~ x0 + x1", seen, kind="auto", missing="split", unseen="missing", weights="w",
        class_weights=None, env=EvalEnvironment.capture(),
    )  # fmt: skip


def test_weights_count():
    data = NUMBERS.assign(w=(np.arange(6000) % 3 > 0).astype(float))
    foresight = odrf.foresee("y ~ .", chunks(data), weights="w", n_trees=40, **COMMON)
    fit = odrf.odrf("y ~ .", chunks(data), weights="w", n_trees=40, **COMMON)
    assert foresight.leaves == pytest.approx(fit.n_leaves.mean(), rel=0.05)


def test_the_system_says_what_is_resident(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("Name:\tpython\nVmRSS:\t    2048 kB\n")
    assert resident_memory(tmp_path) == 2048 * 1024
    assert resident_memory(tmp_path / "proc") == 0.0
