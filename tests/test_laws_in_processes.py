"""Laws: a fit grown in another process, or asked there, says the same to the bit.

One process starts all others, each of which does all the work: starting one takes seconds.  Fits
are compared that were grown by the same machine code: all these processes load it from disk, where
the process of the tests may have compiled its own while another one did so, too, and two
compilations can round differently.
"""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from apart import started
from test_laws import FITS, as_numbers, predicted, table
from test_laws_of_methods import (
    ASKED,
    METHODS,
    answers,
    compared,
    fitted,
    learned,
    numbers,
    tuned,
)

Said = dict[str, np.ndarray]
# What differs between processes does not depend on the response: these are enough.
ALL = [*((name, response) for name in FITS for response in ("y", "two")), ("forest", "three")]


def grown() -> Said:
    """Return the predictions of all fits, and what methods and functions of several fits say."""
    said = {f"{name} of {of}, predicted": predicted(name, table(), of) for name, of in ALL}
    for name, of in ASKED:
        found = answers(name, fitted(name, of, table()), table())
        said |= {f"{name} of {of}, {method}": found[method] for method in found}
    for function in (compared, tuned, learned):
        said[function.__name__] = numbers(function(table()))
    return said


def asked(fits: dict[tuple[str, str], Any]) -> Said:
    """Return what fits say that another process has grown."""
    said = {}
    for (name, of), fit in fits.items():
        said[f"{name} of {of}, predicted"] = as_numbers(fit, table())
        if (name, of) in ASKED:
            found = answers(name, fit, table())
            said |= {f"{name} of {of}, {method}": found[method] for method in found}
    return said


def by_process(start: str) -> Any:
    """Return an executor of one process that is started in this way."""
    if start == "loky":
        from joblib.externals.loky import get_reusable_executor  # noqa: PLC0415

        return get_reusable_executor(1)
    return ProcessPoolExecutor(1, get_context(start))


def main(path: str, starts: list[str]) -> None:
    """Do the work in processes that are started in each way, and add what is said to the file."""
    fits, said = pickle.loads(Path(path).read_bytes())
    said["in a plain process"] = {"grown": grown(), "asked": asked(fits)}
    for start in starts:
        with by_process(start) as process:
            jobs = {"grown": process.submit(grown), "asked": process.submit(asked, fits)}
            said[start] = {what: job.result() for what, job in jobs.items()}
    Path(path).write_bytes(pickle.dumps((fits, said)))


MAIN = """
import sys
import warnings

if __name__ == "__main__":
    import test_laws_in_processes

    test_laws_in_processes.main(sys.argv[1], sys.argv[2:])
"""


def possible() -> list[str]:
    """Return the ways in which processes can be started here."""
    starts = {"fork", "spawn"}.intersection(get_all_start_methods())
    return [*sorted(starts), *(["loky"] if find_spec("joblib") else [])]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Said]]:
    """What is said in this process and in others; the first one compiles what they need."""
    folder = tmp_path_factory.mktemp("processes")
    fits = {(name, of): fitted(name, of, table()) for name, of in ALL}
    here = {"here": {"grown": grown()}}
    (folder / "said").write_bytes(pickle.dumps((fits, here)))
    (folder / "main.py").write_text(MAIN)
    search = os.pathsep.join(map(str, [Path(__file__).parent, Path(__file__).parents[1]]))
    words = [str(folder / "main.py"), str(folder / "said"), *possible()]
    with started(words, env={"PYTHONPATH": search, "PYTHONWARNINGS": "ignore"}) as process:
        _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return pickle.loads((folder / "said").read_bytes())[1]


@pytest.mark.weekly
@pytest.mark.filterwarnings("ignore:5 trees are few")
@pytest.mark.parametrize("start", ["in a plain process", *possible()])
def test_other_processes_say_the_same_to_the_bit(said, start):
    expected = {"grown": said["in a plain process"]["grown"], "asked": said["here"]["grown"]}
    for asked_or_grown, found in said[start].items():
        assert len(found) >= len(ALL) + len(ASKED) * len(METHODS)
        for what in found:
            same = expected[asked_or_grown][what]
            np.testing.assert_array_equal(found[what], same, err_msg=what)
    assert said[start]["grown"].keys() == said["here"]["grown"].keys()
