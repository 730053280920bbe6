"""Fits written to files and read again."""

from __future__ import annotations

import copy
import errno
import math
import os
import pickle
import signal
import time
import tracemalloc
import warnings
import weakref
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import odrf
from apart import begun
from benchmarks.reliability import mutated_files
from exported import LINES, case_of_lines
from odrf import InputError
from odrf.engine.trees.forest import ARRAYS
from odrf.fits.files import archive, arrays, graph_reading, saving, validation
from odrf.fits.files.archive import ArchiveWriter
from odrf.fits.files.arrays import MadeWhenWritten
from odrf.results.tree import LineTreeResults


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "f": rng.choice(["u", "v"], 80)})
    return frame.assign(y=frame.a + (frame.f == "u"), c=np.where(frame.a > 0, "up", "down"))


@pytest.fixture(scope="module")
def small(data):
    return odrf.odt("y ~ a", data, max_leaves=3, seed=1)


@pytest.mark.parametrize(
    "fit",
    [
        lambda data: odrf.odt("np.exp(y) ~ bs(a, 4) + f", data, seed=1),
        lambda data: odrf.odt("y ~ .", data, alpha="1se", max_leaves=lambda n: n**0.9, seed=1),
        lambda data: odrf.odrf("c ~ a + f", data, n_trees=30, blend=True, seed=1),
        lambda data: odrf.odrf("y ~ a + f", data, n_trees=5, seed=1).prune(rule="oob"),
    ],
)
def test_a_fit_comes_back_as_it_was(data, tmp_path, fit):
    before = fit(data)
    before.save(tmp_path / "fit.odrf")
    after = odrf.load(str(tmp_path / "fit.odrf"))
    assert after.predict(data).equals(before.predict(data))
    assert after.call == before.call
    assert str(after.consistency().summary()) == str(before.consistency().summary())
    if before.parent is not None:
        assert np.all(after.parent.n_leaves == before.parent.n_leaves)


def test_arrays_that_are_made_for_the_file_are_let_go_one_by_one(data, tmp_path, monkeypatch):
    fit = odrf.odrf("y ~ a + f", data, n_trees=30, seed=1)
    made, alive = [], {}
    make, add = MadeWhenWritten.make.__get__, ArchiveWriter.add

    def noted(self, owner=None):
        def once():
            made.append(weakref.ref(array := make(self, owner)()))
            return array

        return once

    def adding(archive, name, content, strategy):
        alive[name.split(".", 1)[1]] = sum(each() is not None for each in made)
        return add(archive, name, content, strategy)

    monkeypatch.setattr(MadeWhenWritten, "make", property(noted))
    monkeypatch.setattr(ArchiveWriter, "add", adding)
    fit.save(tmp_path / "fit.odrf")
    assert len(made) > 4
    assert alive["Forest.divided.npy"] == alive["Forest.children.npy"] == 1
    assert max(alive.values()) == 1 and alive["Forest.value.npy"] == 0


@pytest.mark.parametrize("weights", [None, "w"])
def test_trees_are_read_into_little_more_memory_than_they_take(tmp_path, monkeypatch, weights):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"y": rng.normal(size=3000), "a": rng.random(3000), "w": 1.0})
    rows.loc[::2, "w"] = 1.0 if weights is None else 2.0
    before = odrf.odrf("y ~ a", rows, weights=weights, n_trees=40, min_leaf=1, blend=False, seed=1)
    before.save(tmp_path / "fit.odrf", data=False)
    monkeypatch.setattr(graph_reading, "LARGE", 0)
    for module, name in ((archive, "PIECE"), (arrays, "PIECE"), (validation, "NODES")):
        monkeypatch.setattr(module, name, 2**13)
    odrf.load(tmp_path / "fit.odrf").fit.forest.left  # noqa: B018
    tracemalloc.start()
    try:
        forest = odrf.load(tmp_path / "fit.odrf").fit.forest
        forest.left  # noqa: B018
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert forest.nbytes > 5_000_000
    assert peak < 1.2 * forest.nbytes
    assert forest.in_memory().keys() == before.fit.forest.in_memory().keys()
    assert ("weight" in forest.in_memory()) == (weights is not None)
    for name in ARRAYS:
        assert getattr(forest, name).tobytes() == getattr(before.fit.forest, name).tobytes()


@pytest.mark.parametrize("whole", [0, 6, 10])
def test_rows_are_read_into_little_more_memory_than_they_take(tmp_path, monkeypatch, whole):
    X = np.random.default_rng(1).random((60_000, 10)).astype(np.float32)
    X[:, :whole] = X[:, :whole] > 0.5
    rows = pd.DataFrame(X, columns=list("abcdefghij")).assign(y=np.arange(60_000.0))
    before = odrf.odt("y ~ .", rows, max_leaves=3, alpha=None, seed=1)
    before.save(tmp_path / "fit.odrf")
    for module in (archive, arrays):
        monkeypatch.setattr(module, "PIECE", 2**13)
    tracemalloc.start()
    try:
        data = odrf.load(tmp_path / "fit.odrf").fit.data
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert data.X.tobytes() == before.fit.data.X.tobytes() and data.X.flags.c_contiguous
    of_parts = max(whole, 10 - whole) if 0 < whole < 10 else 0
    assert peak < (1.4 + of_parts / 10) * data.X.nbytes + data.y.nbytes + data.weights.nbytes


def test_another_version_warns(small, tmp_path, monkeypatch):
    file = tmp_path / "fit.odrf"
    monkeypatch.setattr(saving, "__version__", "0.0.0")
    small.save(file)
    monkeypatch.undo()
    with pytest.warns(UserWarning, match=r"written by odrf 0\.0\.0") as caught:
        assert odrf.load(file).n_leaves == 3
    assert caught[0].filename == __file__


def test_what_is_no_file_or_no_mapping_is_refused(small, tmp_path):
    with pytest.raises(InputError, match="it is a folder: name a file"):
        odrf.load(tmp_path)
    small.save(tmp_path / "fit.odrf")
    with pytest.raises(InputError, match=r"functions=\[1\]: use a mapping of names to functions"):
        odrf.load(tmp_path / "fit.odrf", functions=[1])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no such file"),
        (b"a,b\n1,2\n", "is not a fit"),
        (b"", "is not a fit"),
        (b"PK\x03\x04 an archive of something else", "is not a fit"),
        (b"odrf fit with checksum, version 0.1.0\n", "is a pickle.*fit again"),
        (b"odrf fit, version 0.1.0\n", "is a pickle.*fit again"),
    ],
)
def test_files_without_a_fit(tmp_path, content, message):
    file = tmp_path / "file"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=message):
        odrf.load(file)


def test_a_file_that_cannot_be_read_is_not_called_damaged(small, tmp_path, monkeypatch):
    small.save(tmp_path / "fit.odrf")

    def refused(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(InputError, match=r"cannot be read \(Permission denied\)"):
        odrf.load(tmp_path / "fit.odrf")


@pytest.mark.parametrize("path", [None, 3, b"fit.odrf", ""])
def test_a_path_is_a_name(small, path):
    with pytest.raises(InputError, match="use the name of a file"):
        small.save(path)
    with pytest.raises(InputError, match="use the name of a file"):
        odrf.load(path)


def test_no_flipped_bit_goes_unnoticed(small, tmp_path):
    file = tmp_path / "fit.odrf"
    small.save(file)
    whole = file.read_bytes()
    for bit in np.random.default_rng(1).permutation(8 * len(whole))[:600]:
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        file.write_bytes(damaged)
        with pytest.raises(InputError, match=r"damaged|is not a fit"):
            odrf.load(file)


def test_no_shortened_or_lengthened_file_goes_unnoticed(small, tmp_path):
    file = tmp_path / "fit.odrf"
    small.save(file)
    whole = file.read_bytes()
    for size in (0, 1, 30, 120, 420, 430, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"damaged|is not a fit"):
            odrf.load(file)
    file.write_bytes(whole + b"x")
    with pytest.raises(InputError, match="damaged"):
        odrf.load(file)


class Exploit:
    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return os.mkdir, (str(self.file),)


@pytest.mark.parametrize("start", [b"", b"odrf fit, version 0.1.0\n"])
def test_a_pickle_is_refused_and_never_loaded(tmp_path, start):
    file, made = tmp_path / "fit.odrf", tmp_path / "made"
    file.write_bytes(start + pickle.dumps(Exploit(made)))
    with pytest.raises(InputError, match=r"is a pickle.*load\(\) does not read it.*fit again"):
        odrf.load(file)
    assert not made.exists()
    pickle.loads(pickle.dumps(Exploit(made)))
    assert made.exists()


SAVING = """
import sys, odrf
fit = odrf.load(sys.argv[1])
print("ready", flush=True)
while True:
    fit.save(sys.argv[1])
"""


def test_a_killed_save_leaves_a_whole_file(data, tmp_path):
    file = tmp_path / "fit.odrf"
    forest = odrf.odrf("y ~ a + f", pd.concat([data] * 20), n_trees=50, seed=1)
    forest.save(file)
    for delay in np.linspace(0.001, 0.05, 5):
        with begun(["-c", SAVING, str(file)]) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert process.returncode == -signal.SIGKILL
        assert odrf.load(file).nobs == 1600


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_file_that_was_there(small, data, tmp_path, monkeypatch, step):
    file = tmp_path / "fit.odrf"
    small.save(file)
    before = file.read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if step == "write":
        monkeypatch.setattr(saving.Path, "open", full)
    elif step == "fsync":
        monkeypatch.setattr(saving.os, "fsync", full)
    else:
        monkeypatch.setattr(saving.Path, "replace", full)
    with pytest.raises(InputError, match=r"No space left on device.*unchanged"):
        odrf.odt("y ~ a + f", data, seed=2).save(file)
    monkeypatch.undo()
    assert file.read_bytes() == before
    assert os.listdir(tmp_path) == ["fit.odrf"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux only")
def test_what_is_no_file_is_not_replaced(small, tmp_path):
    with pytest.raises(InputError, match="is no file"):
        small.save("/dev/full")
    with pytest.raises(InputError, match="is no file"):
        small.save(tmp_path)


def test_a_folder_that_does_not_exist_is_named(small, tmp_path):
    with pytest.raises(InputError, match=r"there is no folder '.*nodir': create it first"):
        small.save(tmp_path / "nodir" / "x")


@pytest.mark.parametrize("path", ["a" * 5000, "a\0b"])
def test_names_that_no_file_can_have_are_refused(small, path):
    with pytest.raises(InputError, match=r"^path='a"):
        small.save(path)


@pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")
def test_links_are_followed_and_modes_kept(small, tmp_path):
    file, link = tmp_path / "fit.odrf", tmp_path / "link"
    file.touch(0o640)
    link.symlink_to(file)
    small.save(link)
    assert link.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o640
    assert odrf.load(file).predict().equals(small.predict())


def triple(column):
    return 3 * column


def test_functions_of_the_user_are_given_when_the_fit_is_loaded(data, tmp_path):
    twice = lambda column: 2 * column  # noqa: E731
    shift = 1.5
    tree = odrf.odt("y ~ twice(a) + I(triple(a) + shift) + I(a + math.pi)", data, seed=1)
    file = tmp_path / "fit.odrf"
    with pytest.warns(UserWarning, match=r"'twice', 'triple' of your own.*'twice': twice") as said:
        tree.save(file)
    assert said[0].filename == __file__
    with pytest.raises(InputError, match=r"'twice', 'triple' of your own.*functions="):
        odrf.load(file)
    with pytest.raises(InputError, match="'triple' of your own"):
        odrf.load(file, functions={"twice": twice})
    again = odrf.load(file, functions={"twice": twice, "triple": triple})
    assert again.predict(data).equals(tree.predict(data))
    assert twice(1) == 2 and shift > 1 and math.pi > 3


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ I(a + 0*__import__('os').getpid())",
        "I(y + 0*a.__class__.__name__.__len__()) ~ f",
        "y ~ a.rolling(1).mean() + f",
        "y ~ f:I(a + np.random.normal(size=len(a)) * 0)",
    ],
)
def test_code_of_a_formula_runs_on_request_only(data, tmp_path, formula):
    frame = data.drop(columns="c")
    tree = odrf.odt(formula, frame, seed=1, max_leaves=3)
    file = tmp_path / "fit.odrf"
    with pytest.warns(UserWarning, match="trusted=True"):
        tree.save(file)
    with pytest.raises(InputError, match=r"in the formula uses.*trusted=True"):
        odrf.load(file)
    assert odrf.load(file, trusted=True).predict(frame).equals(tree.predict(frame))


def changed_file(fit, folder, change):
    """Save a fit, change the parts of its file by a function, and make all checksums right."""
    file = folder / "changed.odrf"
    fit.save(file)
    said, members, memory = mutated_files._parts(file.read_bytes())
    change(said["parts"])
    file.write_bytes(mutated_files.rewritten(said, members, memory))
    return file


def of_kind(parts, kind):
    return [part for part in parts if part["is"] == kind]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("y", "a + I(a + 0*__import__('os').getpid())"),
        ("I(y + eval('0'))", "a"),
        ("y", ". + a:I(a + unknown(a))"),
        ("y", "np.negative(a, a)"),
        ("y", "a + a.map(eval)"),
        ("y", "a + no_column + a.map(open)"),
        ("y", "a +"),
    ],
)
def test_a_formula_that_is_not_that_of_the_terms_is_checked_as_they_are(
    data, tmp_path, left, right
):
    def change(parts):
        (design,) = of_kind(parts, "Design")
        design["formula"] = f"{left} ~ {right}"

    file = changed_file(odrf.odt("y ~ a + f", data, seed=1, max_leaves=3), tmp_path, change)
    with pytest.raises(InputError, match=r"changed\.odrf' cannot be loaded: .*formula"):
        odrf.load(file)
    assert odrf.load(file, trusted=True).formula.endswith(right)


def test_formulas_of_all_forms_can_be_loaded(data, tmp_path):
    frame = data.rename(columns={"a": "odd name", "f": "class"}).assign(Δ=1.0 * data.a, inf=data.a)
    twice = lambda column: 2 * column  # noqa: E731
    cut = 0.5
    for formula in (
        "y ~ . - c - `odd name`",
        "y ~ . - twice(inf) - c",
        "y ~ (inf + Δ + class)**2 - Δ:inf",
        "np.exp(y) ~ I(inf if cut > 0 else -Δ) + Q('odd name') + twice(Δ)",
        "y ~ . - Q('odd name') + np.where(Δ > cut, np.pi, Δ) + C(`class`, levels=['u', 'v'])",
    ):
        fit = odrf.odt(formula, frame, seed=1, max_leaves=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit.save(tmp_path / "fit.odrf")
        again = odrf.load(tmp_path / "fit.odrf", functions={"twice": twice})
        assert again.predict(frame).equals(fit.predict(frame))
    assert twice(1) == 2 and cut


@pytest.mark.parametrize("kind", ["Variable", "Expression", "Predictors", "Schema", "Response"])
def test_a_name_that_is_changed_is_refused_or_said(data, tmp_path, kind):
    trees = odrf.odt("np.exp(y) ~ a:f + log(a + 9)", data, seed=1, max_leaves=4)
    plain = odrf.odt("y ~ a + f", data, seed=1, max_leaves=4)
    for fit in (trees, plain):
        for field in ("name", "names", "code", "columns"):
            for which in range(4):

                def change(parts, field=field, which=which):
                    for part in of_kind(parts, kind)[which : which + 1]:
                        value = part.get(field)
                        if isinstance(value, str):
                            part[field] = "other"
                        elif value:
                            part[field] = ["other", *value[1:]]

                file = changed_file(fit, tmp_path, change)
                with suppress(InputError):
                    again = odrf.load(file)
                    again.predict(data)
                    again.update(data.head(3))
                    str(again.summary())


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("Rule", "kind"),
        ("Rule", "name"),
        ("ResolvedOptions", "kind"),
        ("ResolvedOptions", "criterion"),
        ("Response", "kind"),
        ("Schema", "columns"),
        ("Design", "formula"),
        ("Variable", "name"),
    ],
)
@pytest.mark.parametrize("response", ["f", "y", "Surv(a, b)"])
def test_a_text_that_is_changed_is_refused_or_only_said(tmp_path, response, kind, field):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({"x": rng.normal(size=60), "a": rng.exponential(size=60) + 0.1, "b": 1})
    rows["y"], rows["f"] = rows["x"] + rng.normal(size=60), np.where(rows["x"] > 0, "u", "v")
    fit = odrf.odt(f"{response} ~ x", rows, seed=1)
    for text in ("other", ""):

        def change(parts, text=text):
            for part in of_kind(parts, kind):
                part[field] = [text] if isinstance(part.get(field), list) else text

        file = changed_file(fit, tmp_path, change)
        with suppress(InputError):
            again = odrf.load(file)
            again.predict(rows)
            str(again.summary())


def test_fits_with_functions_of_the_user_can_be_copied(data):
    twice = lambda column: 2 * column  # noqa: E731
    root = {"max_leaves": lambda n: n**0.5}
    for fit, options in (
        (odrf.odt, root),
        (odrf.odrf, {"n_trees": 5, **root}),
        (odrf.odbt, {"n_trees": 5}),
        (odrf.graf, {"n_trees": 5}),
    ):
        before = fit("y ~ twice(a) + f", data, seed=1, **options)
        assert copy.deepcopy(before).predict(data).equals(before.predict(data))
    assert twice(1) == 2


@pytest.mark.parametrize("name", LINES)
def test_a_tree_of_lines_comes_back_as_it_was(name, tmp_path):
    fit, new = case_of_lines(name)
    fit.save(tmp_path / "fit.odrf")
    again = odrf.load(tmp_path / "fit.odrf")
    assert isinstance(again, LineTreeResults) and again.lines.equals(fit.lines)
    copies = again, again.prune(3), pickle.loads(pickle.dumps(fit)), copy.deepcopy(fit)
    for each, of in zip(copies, (fit, fit.prune(3), fit, fit), strict=True):
        assert each.predict(new).equals(of.predict(new))


def test_a_tree_of_lines_predicts_without_its_rows(tmp_path):
    fit, new = case_of_lines("numbers")
    fit.save(tmp_path / "fit.odrf", data=False)
    whole = new[new[["a", "b", "f"]].notna().all(axis=1) & (new["f"] != "unseen")]
    for lean in (fit.without_data(), odrf.load(tmp_path / "fit.odrf")):
        assert lean.predict(whole).equals(fit.predict(whole))
        with pytest.raises(InputError, match="the fit has none of them"):
            lean.predict(new)
