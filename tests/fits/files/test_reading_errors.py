"""What is raised if a file cannot be read, now or when its trees are first used."""

from __future__ import annotations

import pytest

import odrf
from benchmarks.reliability import mutated_files
from odrf import InputError
from odrf.fits.files import graph_reading
from odrf.fits.files.graph_reading import UnreadArray

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
