"""What is foreseen of a fit is about what the fit takes, without the fit being made."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.memory import in_bytes, resident_memory
from odrf.engine.numeric import streams
from odrf.engine.resamples import (
    ALL_ROWS,
    BOOTSTRAP,
    SUBSAMPLE,
    Sampling,
    draw_counts,
    rows_drawn_once,
)
from odrf.errors import InputError
from odrf.evaluation import foresight as module
from odrf.fits.files.storable_classes import bytes_in_memory


def table(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((n, 5))).add_prefix("x")
    data["f"] = pd.Categorical([f"l{k}" for k in rng.integers(9, size=n)])
    y = data.x0 + data.x1 * data.x2 + rng.normal(size=n) / 4
    return data.assign(y=y, k=pd.qcut(y, 3, labels=list("abc")).astype(str))


def chunks(data):
    return [data[:900], data[900:901], data[901:]]


DATA = table()
NUMBERS, CLASSES = DATA.drop(columns="k"), DATA.drop(columns="y")
COMMON = {"seed": 1, "n_jobs": 1}
CASES = {
    "one kind": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 60, "blend": False}),
    "few trees": ("k ~ .", CLASSES, odrf.odrf, {"n_trees": 12}),
    "blend": ("y ~ .", NUMBERS[:800], odrf.odrf, {"n_trees": 100, "blend": True}),
    "few leaves": ("y ~ .", NUMBERS, odrf.odrf, {"n_trees": 60, "max_leaves": 8, "blend": False}),
    "tree": ("y ~ .", NUMBERS, odrf.odt, {"alpha": None}),
    "forest of chunks": ("k ~ .", chunks(CLASSES), odrf.odrf, {"n_trees": 40}),
}


@pytest.mark.parametrize("name", CASES)
def test_fit_and_file_are_about_as_large_as_foreseen(name, tmp_path):
    formula, data, model, options = CASES[name]
    foresight = odrf.foresee(formula, data, model=model, **options, **COMMON)
    fit = model(formula, data, **options, **COMMON)
    fit.save(tmp_path / "fit.odrf")
    size = (tmp_path / "fit.odrf").stat().st_size
    for foreseen, found in (
        (foresight.fit_bytes, bytes_in_memory(fit.fit)),
        (foresight.file_bytes, size),
        (foresight.leaves, np.mean(fit.n_leaves)),
    ):
        assert 1 / 1.5 < foreseen / found < 1.5
    assert foresight.n_trees == fit.forest.n_trees
    assert foresight.peak_bytes >= foresight.fit_bytes
    assert 0 < foresight.seconds < 60
    assert foresight.fits
    assert foresight.call == fit.call


def test_a_tree_of_chunks_is_foreseen_as_that_of_their_rows():
    options = {"model": odrf.odt, **COMMON}
    of_chunks = odrf.foresee("y ~ .", chunks(NUMBERS), **options)
    whole = odrf.foresee("y ~ .", NUMBERS, **options)
    assert of_chunks.leaves == whole.leaves
    assert of_chunks.fit_bytes == pytest.approx(whole.fit_bytes, rel=0.05)


def test_few_trees_are_grown(monkeypatch):
    grown, grow = [], module.grow_fit

    def counted(call, design, data, request):
        grown.append(request.n_trees * len(data.y))
        return grow(call, design, data, request)

    monkeypatch.setattr(module, "grow_fit", counted)
    odrf.foresee("y ~ .", NUMBERS, n_trees=400, blend=False, **COMMON)
    assert grown == [2 * 200, 3 * 3000]
    grown.clear()
    larger = pd.concat([NUMBERS] * 10, ignore_index=True)
    odrf.foresee("y ~ .", larger, model=odrf.odt, **COMMON)
    assert max(grown) <= 0.1 * len(larger)


def test_leaves_of_pruned_trees_follow_from_several_sizes():
    data = table(10_000).drop(columns="y")
    foresight = odrf.foresee("k ~ .", data, model=odrf.odt, **COMMON)
    assert foresight.pilots == "1 tree on 200, 600, 1,200 rows"
    leaves = odrf.odt("k ~ .", data, **COMMON).n_leaves
    assert 1 / 3 < foresight.leaves / leaves < 3


def test_rows_in_chunks_are_read_once():
    walked = []

    def read():
        walked.append(1)
        return iter(chunks(NUMBERS))

    odrf.foresee("y ~ .", read, n_trees=5, **COMMON)
    assert len(walked) == 2  # the names of the columns, and the rows


def test_the_sample_is_random_and_of_the_size_that_is_kept(monkeypatch):
    monkeypatch.setattr(module, "SAMPLED", 700)
    foresight = odrf.foresee("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    fit = odrf.odrf("y ~ .", chunks(NUMBERS), n_trees=40, **COMMON)
    assert foresight.leaves == pytest.approx(np.mean(fit.n_leaves), rel=0.5)
    assert foresight.file_bytes > 0


def test_what_does_not_fit_is_said_beforehand():
    for model, options, said in (
        (odrf.odrf, {"n_trees": 30}, r"about 15 trees \(n_trees=\), or trees of "),
        (odrf.odt, {}, r"about [\d,]+ leaves would \(max_leaves=, min_leaf=\)"),
    ):
        foresight = odrf.foresee("y ~ .", NUMBERS[:600], model=model, **options, **COMMON)
        assert not foresight.summary().notes
        less = replace(foresight, free_bytes=foresight.peak_bytes / 2)
        assert not less.fits
        assert re.search(said, less.summary().notes[0])


@pytest.mark.parametrize("model", [odrf.odbt, odrf.graf, odrf.auto, odrf.load])
def test_other_models_are_refused(model):
    with pytest.raises(InputError, match=rf"model={model.__name__}: foresee\(\) is for trees and"):
        odrf.foresee("y ~ .", NUMBERS, model=model)


def test_times_to_an_event_are_refused():
    lives = odrf.simulate.proportional_hazards(p=5).sample(100, seed=1)
    with pytest.raises(InputError, match=r"foresee.* is for numbers and classes"):
        odrf.foresee("Surv(time, event) ~ .", lives)


def test_options_are_those_of_the_model():
    with pytest.raises(InputError, match=r"odt\(\) has no argument 'n_trees'"):
        odrf.foresee("y ~ .", NUMBERS, model=odrf.odt, n_trees=3)
    with pytest.raises(InputError, match="did you mean 'min_leaf'"):
        odrf.foresee("y ~ .", NUMBERS, min_leafs=3)
    with pytest.raises(InputError, match="min_leaf=0"):
        odrf.foresee("y ~ .", NUMBERS, min_leaf=0)


def test_what_chunks_do_not_have_is_refused_as_by_the_fit():
    parts = chunks(NUMBERS)
    with pytest.raises(InputError, match="blend=True with rows in chunks"):
        odrf.foresee("y ~ .", parts, blend=True)
    with pytest.raises(InputError, match="groups= with rows in chunks"):
        odrf.foresee("y ~ .", parts, groups="f")
    with pytest.raises(InputError, match="surrogate"):
        odrf.foresee("y ~ .", parts, missing="surrogate")
    with pytest.raises(InputError, match="weights= with rows in chunks"):
        odrf.foresee("y ~ .", parts, model=odrf.odt, weights=np.ones(len(NUMBERS)))


def test_data_frames_of_dask_are_refused():
    dask = pytest.importorskip("dask.dataframe")
    data = dask.from_map(lambda i: NUMBERS[:0], [0], meta=NUMBERS[:0])
    with pytest.raises(InputError, match=r"Dask is not foreseen.*Parquet"):
        odrf.foresee("y ~ .", data)


@pytest.mark.parametrize("resample", [ALL_ROWS, BOOTSTRAP, SUBSAMPLE])
def test_rows_drawn_once_are_those_that_are_drawn(resample):
    sampling = Sampling(resample, 0.4)
    drawn = [
        np.count_nonzero(draw_counts(stream, np.ones(4000), sampling))
        for stream in streams(5, 0, 20)
    ]
    assert rows_drawn_once(sampling, 4000) == pytest.approx(np.mean(drawn), rel=0.02)


def test_sizes_and_times_are_in_units_that_suit_them():
    assert [in_bytes(size) for size in (0, 1, 500, 4.2e4, 2.5e6, 3e9, float("inf"))] == [
        "0 bytes", "1 byte", "500 bytes", "42.0 kB", "2.5 MB", "3.0 GB", "unknown",
    ]  # fmt: skip
    assert [module.in_time(seconds) for seconds in (0.02, 3, 90, 7200)] == [
        "less than 0.1 s", "3.0 s", "1.5 min", "2.0 h",
    ]  # fmt: skip


def test_the_system_says_what_is_resident(tmp_path):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/status").write_text("Name:\tpython\nVmRSS:\t    2048 kB\n")
    assert resident_memory(tmp_path) == 2048 * 1024
    assert resident_memory(tmp_path / "proc") == 0.0
