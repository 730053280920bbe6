"""Compiled kernels on disk, where the disk is of no use or damaged."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import config

from odrf.engine import compiling
from odrf.engine.compiling import kernel

ROOT = Path(__file__).parents[2]


def doubling():
    """A kernel, as a new process would see it."""

    @kernel
    def doubled(x):
        return 2 * x

    return doubled


def called():
    """Call the kernel; return whether its code came from the disk, and what was said."""
    doubled = doubling()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert doubled(21) == 42
        assert doubled(0.5) == 1.0
    hits = sum(doubled.stats.cache_hits.values())
    return hits == 2, [str(warning.message) for warning in caught]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compiling, "_said", [])
    return tmp_path


def files(folder, ending):
    return sorted(folder.rglob(f"*.{ending}"))


def test_code_is_kept_and_found_again(folder):
    assert called() == (False, [])
    assert called() == (True, [])
    assert len(files(folder, "nbi")) == 1 and len(files(folder, "nbc")) == 2


def flipped(content, rng):
    damaged = bytearray(content)
    damaged[rng.integers(len(content))] ^= 1 << rng.integers(8)
    return bytes(damaged)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    ("damaged", "times"),
    [
        (flipped, 10),
        (lambda content, rng: content[: rng.integers(len(content))], 10),
        (lambda content, rng: b"", 1),
        (lambda content, rng: b"no pickle at all", 1),
    ],
)
def test_damaged_files_are_written_anew(folder, monkeypatch, ending, damaged, times):
    rng = np.random.default_rng(1)
    called()
    for _ in range(times):
        monkeypatch.setattr(compiling, "_said", [])
        for file in files(folder, ending):
            file.write_bytes(damaged(file.read_bytes(), rng))
        _, said = called()
        assert len(said) <= 1
        assert all(f"{folder}" in words and "clear the folder" in words for words in said)
        assert called() == (True, [])


class Gone:
    """A class of which a later version knows nothing."""


def test_what_an_older_version_left_is_compiled_anew_without_a_word(folder, monkeypatch):
    called()
    (index,) = files(folder, "nbi")
    version = pickle.dumps(numba.__version__, protocol=-1)
    assert index.read_bytes().startswith(version)
    content = pickle.dumps(("stamp", {Gone: "name"}), protocol=4)
    index.write_bytes(version + content + compiling.MARK + compiling._checksum(content))
    monkeypatch.delattr(sys.modules[__name__], "Gone")
    assert called() == (False, [])
    assert called() == (True, [])


def test_a_list_names_no_file_that_is_not_there(folder, monkeypatch):
    """Else it could name one of an older version of the kernel."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiling._CheckedFiles, "_save_data", full)
    _, said = called()
    assert len(said) == 1
    assert "No space left on device" in said[0] and str(folder) in said[0]
    assert not files(folder, "nbi")


def test_code_of_another_process_is_not_taken_for_what_was_asked_for(folder, monkeypatch):
    """Two processes may write the first code of a function at once, each for other types."""
    one, other = (compiling._CheckedFiles(str(folder), "doubled", "stamp") for _ in range(2))
    write_list = one._save_index

    def late(overloads):
        other.save("float64", "code for float64")
        write_list(overloads)

    with monkeypatch.context() as changed:
        changed.setattr(one, "_save_index", late)
        one.save("int64", "code for int64")
    for files_of in (one, other):
        for kind in ("int64", "float64"):
            assert files_of.load(kind) in (None, f"code for {kind}")
    for kind in ("int64", "float64"):
        one.save(kind, f"code for {kind}")
    assert [other.load(kind) for kind in ("int64", "float64")] == [
        "code for int64",
        "code for float64",
    ]


def test_code_that_does_not_say_what_it_is_for_is_compiled_anew_without_a_word(folder):
    """So older versions wrote it."""
    called()
    for file in files(folder, "nbc"):
        payload = pickle.loads(file.read_bytes())[1]
        content = pickle.dumps(payload, protocol=4)
        file.write_bytes(content + compiling.MARK + compiling._checksum(content))
    assert called() == (False, [])
    assert called() == (True, [])


def test_a_full_disk_is_told_once(folder, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(compiling._CheckedFiles, "_open_for_write", full)
    assert len(called()[1]) == 1
    assert called() == (False, [])


NOWHERE = """
import warnings
from numba.core import caching

def refused(self):
    raise OSError(30, "Read-only file system")

caching._CacheLocator.ensure_cache_path = refused
import odrf, numpy as np
from odrf.engine.compiling import kernel

@kernel
def doubled(x):
    return 2 * x

print("imported")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    doubled(1), doubled(0.5)
print(len(caught), caught[0].message)
"""


def test_the_package_works_where_no_folder_can_be_written():
    done = subprocess.run(
        [sys.executable, "-c", NOWHERE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stdout.startswith("imported\n1 there is no folder"), done.stderr
    assert "NUMBA_CACHE_DIR" in done.stdout
