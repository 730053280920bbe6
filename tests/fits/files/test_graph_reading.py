"""What a file of a fit holds, and what it does not believe."""

from __future__ import annotations

import datetime
import gzip
import io
import json
import pickle
import warnings
import zipfile
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability import mutated_files
from kept_files import KEPT, predictions
from odrf import InputError
from odrf.engine.trees.forest import Forest
from odrf.fits.files import archive, graph_reading
from odrf.fits.files import archive as zip_layout
from odrf.fits.files.graph_reading import UnreadArray
from odrf.fits.files.saving import save
from odrf.projections import Custom, Sparse, below
from odrf.projections.mixture import Mixture, Share
from odrf.results import ODRFResults
from same_parts import assert_same_parts


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "f": rng.choice(["u", "v"], 80)})
    frame["b"] = np.arange(80) * 10**9 + 2**60
    frame["day"] = pd.Timestamp("2024-02-28", tz="Europe/Berlin") + pd.to_timedelta(
        np.arange(80), "D"
    )
    frame["rank"] = pd.Categorical(
        rng.choice(["low", "mid", "top"], 80), ["low", "mid", "top"], ordered=True
    )
    frame["w"] = rng.integers(1, 4, 80)
    frame["many"] = rng.choice([f"level {i}" for i in range(9)], 80)
    frame["hole"] = np.where(rng.random(80) < 0.2, np.nan, rng.normal(size=80))
    return frame.assign(y=frame.a + (frame.f == "u"), c=np.where(frame.a > 0, "up", "down"))


def reloaded(fit, folder, **options):
    fit.save(folder / "fit.odrf")
    return odrf.load(folder / "fit.odrf", **options)


def test_numbers_beyond_64_bits_that_a_transform_adds_up_are_kept(data, tmp_path):
    a = data["a"].clip(-0.9, 0.9) * 1e250  # whose squares are beyond 1.8e308
    fit = odrf.odt("y ~ standardize(a)", data.assign(a=a), min_leaf=9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = reloaded(fit, tmp_path)
    new = pd.DataFrame({"a": a + 1e248})
    assert fit.n_leaves > 1 and again.predict(new).equals(fit.predict(new))
    assert_same_parts(again.fit.design, fit.fit.design)


FITS = {
    "tree": lambda data: odrf.odt("y ~ a + f", data, seed=1),
    "expressions": lambda data: odrf.odt(
        "np.exp(y) ~ bs(a, 4) + poly(a, 2) + center(a) + cr(a, df=3) + log(abs(a) + 2):f",
        data,
        seed=1,
        max_leaves=4,
    ),
    "dates, ranks, codes, identifiers": lambda data: odrf.odt(
        "y ~ day + rank + many + b + C(f)", data, seed=1, weights="w"
    ),
    "holes": lambda data: odrf.odt("y ~ hole + f", data, seed=1, max_leaves=4),
    "surrogates": lambda data: odrf.odt("y ~ a + hole", data, missing="surrogate", seed=1),
    "fills": lambda data: odrf.odt("y ~ hole + many + day", data, missing="median", seed=1),
    "pruned": lambda data: odrf.odt("y ~ a + f", data, alpha=None, seed=1).prune(leaves=3),
    "pruned along a path": lambda data: _along_a_path(data),
    "pruned by its options": lambda data: odrf.odt("y ~ a + f", data, alpha="1se", seed=1),
    "updated": lambda data: odrf.odt("y ~ a + f", data[:60], seed=1).update(data[60:]),
    "ordered classes": lambda data: odrf.odt("rank ~ a + f", data, seed=1, max_leaves=4),
    "class weights": lambda data: odrf.odt(
        "c ~ a + f", data, class_weights="balanced", seed=1, max_leaves=4
    ),
    "forest": lambda data: odrf.odrf("y ~ a + f", data, n_trees=5, seed=1),
    "blend": lambda data: odrf.odrf("y ~ a + f", data, n_trees=20, blend=True, seed=1),
    "combined": lambda data: odrf.odrf("y ~ a + f", data, n_trees=3, seed=1).combine(
        odrf.odrf("y ~ a + f", data, n_trees=3, seed=2)
    ),
    "pruned forest": lambda data: odrf.odrf("y ~ a + f", data, n_trees=5, seed=1).prune(rule="oob"),
    "several families": lambda data: odrf.odrf(
        "y ~ a + f", data, n_trees=3, seed=1, projection={Sparse(density=0.5): 1, "axis": 1}
    ),
    "guided": lambda data: odrf.graf("y ~ a + f", data, n_trees=3, seed=1),
    "boosted": lambda data: odrf.odbt("y ~ a + f", data, n_trees=5, seed=1),
    "boosted, held out": lambda data: odrf.odbt(
        "y ~ a + f", data, n_trees=5, validation=0.2, seed=1, offset="w"
    ),
}


def _along_a_path(data):
    tree = odrf.odt("y ~ a + f", data, alpha=None, seed=1)
    return tree.prune(leaves=3, path=tree.pruning_path(cv=None))


@pytest.mark.parametrize("name", FITS)
def test_a_fit_comes_back_part_by_part(data, tmp_path, name):
    before = FITS[name](data)
    after = reloaded(before, tmp_path)
    assert type(after) is type(before)
    assert_same_parts(before.fit, after.fit)
    assert after.predict(data.head(20)).equals(before.predict(data.head(20)))
    assert str(after.summary()) == str(before.summary())
    for part in ("parent", "path"):
        was = getattr(before, part, None)
        assert type(getattr(after, part, None)) is type(was)


def test_shared_parts_stay_shared_and_are_written_once(data, tmp_path):
    rows = pd.concat([data] * 10, ignore_index=True)
    forest = odrf.odrf("y ~ a + f", rows, n_trees=5, seed=1).prune(rule="oob")
    again = reloaded(forest, tmp_path)
    assert again.fit.data is again.parent.fit.data
    assert again.forest.coef is again.parent.forest.coef
    with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
        assert sum("TrainingData.others" in name for name in file.namelist()) == 1


EVERY_TYPE = {
    "int8": np.arange(6, dtype=np.int8),
    "uint64": np.array([0, 1, 2**63, 2**64 - 1, 5, 6], dtype=np.uint64),
    "float16": np.array([0, -0.0, np.nan, np.inf, 1.5, 2], dtype=np.float16),
    "complex": np.arange(6) * 1j,
    "bool": np.arange(6) % 2 == 0,
    "text": list("abcabc"),
    "objects": [None, "x", 1, 1.0, True, np.nan],
    "more objects": [
        Decimal("1.10"),
        Fraction(1, 3),
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=2))),
        datetime.time(1, 2, 3),
        datetime.timedelta(days=-1, microseconds=5),
    ],
    "still more": [b"\x00\xff", 2**80, (1, "x"), pd.NA, pd.NaT, "\ud800"],
    "scalars": [np.float32(0.1), np.int8(3), np.str_("x"), pd.Interval(0, 1), 1j, np.bool_(True)],
    "dates": pd.date_range("2024-01-01", periods=6),
    "seconds": pd.date_range("2024-01-01", periods=6).as_unit("s"),
    "zone": pd.date_range("2024-03-30", periods=6, tz="Europe/Berlin"),
    "offset": pd.date_range("2024-03-30", periods=6, tz="+02:30"),
    "durations": pd.to_timedelta([1, 2, None, 4, 5, 6], "min"),
    "periods": pd.period_range("2024-01", periods=6, freq="M"),
    "intervals": pd.interval_range(0, 6),
    "times apart": pd.IntervalIndex.from_breaks(pd.date_range("2024", periods=7, freq="h")),
    "category": pd.Categorical([*list("abcab"), None], list("cbad"), ordered=True),
    "category of numbers": pd.Categorical([3, 1, 2, 3, None, 1]),
    "category of intervals": pd.Categorical([*pd.interval_range(0, 2), None] * 2),
    "Int64": pd.array([1, None, 2**60, 4, 5, 6], "Int64"),
    "UInt8": pd.array([1, None, 3, 4, 5, 6], "UInt8"),
    "Float32": pd.array([0.1, None, 3, 4, 5, 6], "Float32"),
    "boolean": pd.array([True, None, False, True, True, False], "boolean"),
    "string": pd.array(["a", None, "ü", "", "e", "f"], "string"),
    "string of pyarrow": pd.array(["a", None, "ü", "", "e", "f"], "string[pyarrow]"),
    "sparse": pd.arrays.SparseArray([0.0, 0, 0, 2.5, 0, np.nan], fill_value=0.0),
    "arrow": pd.array([1, None, 3, 4, 5, 6], "int64[pyarrow]"),
    "arrow text": pd.array(["a", None, "b", "a", "b", "c"], "large_string[pyarrow]"),
    "arrow time": pd.array(
        pd.date_range("2024", periods=6, tz="UTC"), "timestamp[us, UTC][pyarrow]"
    ),
}


def test_tables_of_every_type_come_back(tmp_path):
    table = pd.DataFrame({"a": np.arange(6.0), "y": [1.0, 2, 1, 2, 1, 3]})
    table = pd.concat([table] * 3, ignore_index=True)
    for name, values in EVERY_TYPE.items():
        dtype = object if name in ("objects", "more objects", "still more", "scalars") else None
        table[name] = pd.concat([pd.Series(values, dtype=dtype)] * 3, ignore_index=True)
    table.attrs["source"] = {"year": 2024, "by": ("x", ["y"])}
    fit = odrf.graf("y ~ a", table, n_trees=1, seed=1)
    again = reloaded(fit, tmp_path).fit.frame
    pd.testing.assert_frame_equal(fit.fit.frame, again, check_exact=True)
    assert again.attrs == table.attrs
    for name in ("objects", "more objects", "still more", "scalars"):
        assert list(map(repr, again[name])) == list(map(repr, table[name]))
        assert list(map(type, again[name])) == list(map(type, table[name]))


@pytest.mark.parametrize(
    "labels",
    [
        pd.RangeIndex(5, 245, 3, name="row"),
        pd.MultiIndex.from_product([list("abcd"), range(20)], names=["x", None]),
        pd.date_range("2024-01-01", periods=80, freq="D", tz="UTC"),
        pd.Index([f"row {i}" for i in range(80)], name=("a", 1)),
        pd.CategoricalIndex(["u", "v"] * 40),
        pd.period_range("2020-01", periods=80, freq="Q"),
        pd.Index([1, "x", None, 2.5] * 20, dtype=object),
    ],
    ids=lambda labels: type(labels).__name__,
)
def test_labels_of_rows_come_back(data, tmp_path, labels):
    fit = odrf.odt("y ~ a", data.set_index(labels), max_leaves=3, seed=1)
    again = reloaded(fit, tmp_path).fit.data.index
    pd.testing.assert_index_equal(again, labels, exact="equiv", check_names=True)


class Own(Sparse):
    """A family of the user."""


def nearby(X, y, weights, rng):
    return np.array([below(rng, X.shape[1])]), np.ones(1)


def root(n):
    return n**0.5


def test_functions_of_options_are_given_when_they_are_needed(data, tmp_path):
    fit = odrf.odrf("y ~ a + f", data, n_trees=2, seed=1).fit
    mixture = Mixture((Share(Custom(nearby), 2),))
    control = replace(fit.control, mixture=mixture)
    request = replace(fit.request, projection=nearby)
    forest = ODRFResults(replace(fit, control=control, request=request))
    again = reloaded(forest, tmp_path)
    assert again.predict(data).equals(forest.predict(data))
    with pytest.raises(InputError, match=r"'nearby', which the file does not hold.*functions="):
        again.grow(1)
    given = reloaded(forest, tmp_path, functions={"nearby": nearby})
    assert given.fit.control.mixture == mixture
    assert given.fit.request.projection is nearby


def test_functions_of_n_are_given_when_they_are_needed(data, tmp_path):
    tree = odrf.odt("y ~ a + f", data[:60], max_leaves=root, seed=1)
    with pytest.raises(InputError, match=r"'root', which the file does not hold.*functions="):
        reloaded(tree, tmp_path).update(data[60:])
    given = reloaded(tree, tmp_path, functions={"root": root})
    assert_same_parts(given.update(data[60:]).fit, tree.update(data[60:]).fit)


def test_a_family_of_the_user_is_refused(data, tmp_path):
    fit = odrf.odrf("y ~ a + f", data, n_trees=2, projection=Own(), seed=1)
    with pytest.raises(InputError, match=r"Own, which a file cannot hold: use pickle or joblib"):
        fit.save(tmp_path / "fit.odrf")
    assert not list(tmp_path.iterdir())


def test_rows_can_be_left_out(data, tmp_path):
    for fit in (
        odrf.odt("y ~ a + f", data, seed=1, max_leaves=3).prune(leaves=2),
        odrf.odrf("y ~ a + f", data, n_trees=3, seed=1),
        odrf.graf("y ~ a + f", data, n_trees=3, seed=1),
        odrf.odbt("y ~ a + f", data, n_trees=3, seed=1, offset="w"),
    ):
        fit.save(tmp_path / "fit.odrf", data=False)
        again = odrf.load(tmp_path / "fit.odrf")
        new = data.head(9)
        assert again.predict(new).equals(fit.predict(new))
        assert again.nobs == 80
        assert "80, left out" in repr(again)
        assert "80, left out" in again._repr_html_()
        with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
            said = json.loads(file.read("fit.json"))
        assert not any(part["is"] == "TrainingData" for part in said["parts"])
        for needing in ("predict", "summary", "importance"):
            with pytest.raises(InputError, match=r"needs the training rows.*save\(data=False\)"):
                getattr(again, needing)()
        again.save(tmp_path / "fit.odrf")
        assert odrf.load(tmp_path / "fit.odrf").predict(new).equals(fit.predict(new))
        assert pickle.loads(pickle.dumps(again)).predict(new).equals(fit.predict(new))


def test_joblib_goes_on_working(data, tmp_path):
    joblib = pytest.importorskip("joblib")
    fit = odrf.odrf("y ~ a + f", data, n_trees=20, seed=1)
    joblib.dump(fit, tmp_path / "fit.joblib", compress=3)
    assert_same_parts(fit.fit, joblib.load(tmp_path / "fit.joblib").fit)


def test_any_program_reads_the_archive(data, tmp_path):
    fit = odrf.odrf("y ~ a + f", data, n_trees=20, seed=1)
    fit.save(tmp_path / "fit.odrf")
    with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
        assert file.testzip() is None
        said = json.loads(file.read("fit.json"))
        (forest,) = (part for part in said["parts"] if part["is"] == "Forest")
        part = said["parts"][forest["coef"]["part"]]
        array = np.load(io.BytesIO(file.read(part["file"])), allow_pickle=False)
    if part.get("apart"):
        array = array.T.copy().view(part["kept"])[:, 0]
    assert np.array_equal(array.astype(part["dtype"]), fit.forest.coef)


def test_archives_of_more_than_4_gb_have_numbers_of_64_bits(data, tmp_path, monkeypatch):
    monkeypatch.setattr(zip_layout, "LARGEST_NUMBER", 1000)
    fit = odrf.odrf("y ~ a + f", data, n_trees=20, seed=1)
    again = reloaded(fit, tmp_path)
    assert_same_parts(fit.fit, again.fit)
    with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
        assert file.testzip() is None


def test_large_trees_are_read_when_they_are_used(data, tmp_path, monkeypatch):
    monkeypatch.setattr(graph_reading, "LARGE", 0)
    for fit in (
        odrf.odrf("y ~ a + f", data, n_trees=20, seed=1),
        odrf.graf("y ~ a + f", data, n_trees=20, seed=1),
    ):
        again = reloaded(fit, tmp_path)
        trees = again.fit.guided if hasattr(again.fit, "guided") else again.fit.forest
        assert "left" not in vars(trees)
        assert again.predict(data.head()).equals(fit.predict(data.head()))
        assert "left" in vars(trees)
        assert_same_parts(fit.fit, again.fit)
        damaged = bytearray((tmp_path / "fit.odrf").read_bytes())
        with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
            (name,) = (name for name in file.namelist() if name.endswith("est.coef.npy"))
            damaged[file.getinfo(name).header_offset + 100] ^= 1
        (tmp_path / "fit.odrf").write_bytes(damaged)
        later = odrf.load(tmp_path / "fit.odrf")
        with pytest.raises(InputError, match="damaged"):
            later.predict(data.head())


def test_files_are_smaller_than_compressed_pickles(data, tmp_path):
    fit = odrf.odrf("y ~ a + f", pd.concat([data] * 5), n_trees=50, seed=1)
    fit.save(tmp_path / "fit.odrf")
    assert (tmp_path / "fit.odrf").stat().st_size < len(gzip.compress(pickle.dumps(fit, 5)))


def test_a_file_says_how_much_memory_it_takes_and_is_held_to_it(data, tmp_path):
    odrf.odt("y ~ a", data, max_leaves=3, seed=1).save(tmp_path / "fit.odrf")
    content = (tmp_path / "fit.odrf").read_bytes()
    said, members, memory = mutated_files._parts(content)
    file = tmp_path / "changed.odrf"
    file.write_bytes(mutated_files.rewritten(said, members, 10**9))
    with pytest.raises(InputError, match="far more memory than a file of its size can"):
        odrf.load(file)
    said["parts"].append({"is": "array", "dtype": "<f8", "shape": [2**40], "every": 1.0})
    file.write_bytes(mutated_files.rewritten(said, members, memory))
    with pytest.raises(InputError, match="takes more memory than it says"):
        odrf.load(file)


def test_what_compresses_too_well_is_not_compressed(data, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MOST_RATIO", 8)
    monkeypatch.setattr(archive, "LITTLE", 0)
    fit = odrf.odrf("y ~ a + f", pd.concat([data] * 20), n_trees=5, seed=1)
    with (tmp_path / "fit.odrf").open("w+b"):
        save("ODRFResults", fit.fit, tmp_path / "fit.odrf", True)
    with zipfile.ZipFile(tmp_path / "fit.odrf") as file:
        assert {member.compress_type for member in file.infolist()} == {zipfile.ZIP_STORED}


@pytest.mark.parametrize(
    "seeds", [range(200), pytest.param(range(200, 2000), marks=pytest.mark.weekly)]
)
def test_changed_files_are_refused_or_loaded(seeds, tmp_path):
    watch, outcomes = mutated_files.Watch(), set()
    files = mutated_files.fits()
    for content, rows in files:
        (tmp_path / "fit.odrf").write_bytes(content)
        assert odrf.load(tmp_path / "fit.odrf").predict(rows).notna().all()
    for seed in seeds:
        which, changed = mutated_files.mutated([content for content, _ in files], seed)
        (tmp_path / "fit.odrf").unlink()  # to write over a file, the disk is waited for
        (tmp_path / "fit.odrf").write_bytes(changed)
        outcome = mutated_files.judged(tmp_path / "fit.odrf", files[which][1], watch, False)
        assert ":" not in outcome, (seed, outcome)
        outcomes.add(outcome)
    assert outcomes >= {"refused", "loaded"}


@pytest.mark.parametrize("name", KEPT)
@pytest.mark.filterwarnings("ignore:.*was written by odrf")
def test_files_of_earlier_versions_are_loaded(name):
    fit = odrf.load(KEPT[name])
    expected = json.loads(KEPT[name].with_suffix(".json").read_text(encoding="utf-8"))
    assert predictions(fit) == pytest.approx(expected, rel=1e-6)


def test_trees_that_lead_nowhere_are_refused(data, tmp_path):
    fit = odrf.odt("y ~ a + f", data, seed=1).fit
    forest = fit.forest
    for name, at, value in [
        ("left", 0, 10**9),
        ("left", 0, 0),
        ("left", 1, int(forest.left[0])),
        ("index", 0, 99),
        ("index", 0, -1),
        ("start", 1, 10**6),
        ("root", 1, 10**6),
    ]:
        changed = getattr(forest, name).copy()
        changed[at] = value
        arrays = {field: getattr(forest, field) for field in Forest.__dataclass_fields__}
        object.__setattr__(fit, "forest", Forest(**{**arrays, name: changed}))
        save("ODTResults", fit, tmp_path / "fit.odrf", True)
        with pytest.raises(InputError, match="do not fit together"):
            odrf.load(tmp_path / "fit.odrf")


# ------------------------------------------------------------------------------------------------
# What is raised if a file cannot be read, now or when its trees are first used.
# ------------------------------------------------------------------------------------------------

OTHER = r"fit\.odrf.*that this version.*does not know.*load it with odrf 9\.9\.9, which wrote it"


@pytest.fixture
def fit():
    return odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=20, seed=1)


def of_another_version(said, members, memory, path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(odrf, "__version__", "9.9.9")
        path.write_bytes(mutated_files.rewritten(said, members, memory))


def test_what_another_version_wrote_is_not_called_damaged(fit, tmp_path, monkeypatch):
    path = tmp_path / "fit.odrf"
    fit.save(path)
    said, members, memory = mutated_files._parts(path.read_bytes())
    (forest,) = (part for part in said["parts"] if part["is"] == "Forest")
    forest["colour"] = 3
    of_another_version(said, members, memory, path, monkeypatch)
    with pytest.raises(InputError, match=OTHER):
        odrf.load(path)
    del forest["colour"]
    forest["is"] = "Wood"
    of_another_version(said, members, memory, path, monkeypatch)
    with pytest.raises(InputError, match=OTHER):
        odrf.load(path)
    path.write_bytes(mutated_files.rewritten(said, members, memory))
    with pytest.raises(InputError, match=r"it is damaged \(KeyError\): use a copy, or fit again"):
        odrf.load(path)


def test_too_little_memory_is_no_damage(fit, tmp_path, monkeypatch):
    path = tmp_path / "fit.odrf"
    fit.save(path)

    def refused(*_):
        raise MemoryError

    monkeypatch.setattr(UnreadArray, "read", refused)
    with pytest.raises(MemoryError, match=r"fit\.odrf.*more memory than is free"):
        odrf.load(path)


def test_trees_that_are_read_later_say_of_which_file_they_are(fit, tmp_path, monkeypatch):
    path = tmp_path / "fit.odrf"
    fit.save(path)
    monkeypatch.setattr(graph_reading, "LARGE", 0)
    later = odrf.load(path)
    with path.open("r+b") as file:
        file.truncate(1000)
    with pytest.raises(InputError, match=r"fit\.odrf' cannot be loaded: it is damaged"):
        later.predict()


@pytest.mark.parametrize("after", range(1, 12, 3))
def test_an_interrupted_reading_of_trees_begins_anew(fit, tmp_path, monkeypatch, after):
    path = tmp_path / "fit.odrf"
    fit.save(path)
    monkeypatch.setattr(graph_reading, "LARGE", 0)
    later, calls, read = odrf.load(path), [], UnreadArray.read

    def interrupted(self):
        calls.append(1)
        if len(calls) == after:
            raise KeyboardInterrupt
        return read(self)

    with monkeypatch.context() as patch:
        patch.setattr(UnreadArray, "read", interrupted)
        with pytest.raises(KeyboardInterrupt):
            later.predict()
    assert later.predict().equals(fit.predict())
