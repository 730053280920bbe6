"""Signals end the command as they end other commands, but leave no file half written."""

from __future__ import annotations

import os
import signal
import time

import pytest

from apart import ROOT, begun, command, python, started

# Seconds to stop in; beside another worker of the tests, a process may wait for a core.
WITHIN = 2.5 if "PYTEST_XDIST_WORKER" in os.environ else 1.0
# The command, with a save that writes its first bytes and then takes its time.  It sleeps a little
# at a time: Python answers a signal that comes just before a sleep after it.
SLOW = """
import sys, time
from odrf.fits.files.archive import ArchiveWriter

def slow(self, content, memory):
    print("begun", flush=True)
    for _ in range(600):
        time.sleep(0.1)

ArchiveWriter.finish = slow
from odrf.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("sent", "status", "said"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_signal_leaves_no_file_half_written(written, tmp_path, sent, status, said):
    target = tmp_path / "fit.odrf"
    target.write_bytes(b"before")
    words = ["fit", "y ~ .", str(written), "--set", "n_trees=3", "--save", str(target)]
    with begun(["-c", SLOW, *words]) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(sent)
        _, err = process.communicate(timeout=10)
    assert process.returncode == status
    assert err == f"odrf: {said}\n"
    assert os.listdir(tmp_path) == ["fit.odrf"]
    assert target.read_bytes() == b"before"


# A large array is compressed in steps of NumPy and zlib, between which Python sees no signal.
ONE_LONG_STEP = """
import hashlib, os, sys, time
from odrf.fits.files import graph_writing, saving

def slow(array):
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 40_000_000)

def synchronised(number):
    print("begun", flush=True)
    hashlib.pbkdf2_hmac("sha256", b"", b"", 40_000_000)

if sys.argv.pop(1) == "array":
    graph_writing.coded_array = slow
else:
    saving.os.fsync = synchronised
from odrf.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("step", ["array", "disk"])
def test_an_interrupt_waits_for_no_long_step_of_a_save(written, tmp_path, step):
    target = tmp_path / "fit.odrf"
    target.write_bytes(b"before")
    words = ["fit", "y ~ .", str(written), "--set", "n_trees=30", "--save", str(target)]
    with begun(["-c", ONE_LONG_STEP, step, *words]) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        sent = time.perf_counter()
        _, err = process.communicate(timeout=30)
        seconds = time.perf_counter() - sent
    assert (process.returncode, err) == (130, "odrf: interrupted\n")
    assert seconds < WITHIN
    assert os.listdir(tmp_path) == ["fit.odrf"]
    assert target.read_bytes() == b"before"


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_signal_that_is_ignored_stays_ignored(written, tmp_path):
    """As under nohup."""
    code = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)" + SLOW.replace("600", "5")
    words = ["fit", "y ~ .", str(written), "--set", "n_trees=3", "--save", str(tmp_path / "f")]
    with begun(["-c", code, *words]) as process:
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGHUP)
        out, _ = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Oblique random forest" in out


# Ctrl-C comes when the process looks for a module.
AT_IMPORT = """
import os, signal, sys

class Interrupt:
    def find_spec(self, name, *_):
        if name == os.environ["INTERRUPTED_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("way", ["module", "script"])
@pytest.mark.parametrize("module", ["numpy", "numba", "odrf.engine.compiling", "odrf.cli.commands"])
def test_an_interrupt_while_the_command_imports_ends_it_quietly(tmp_path, way, module):
    (tmp_path / "sitecustomize.py").write_text(AT_IMPORT)
    (tmp_path / "odrf").write_text("from odrf.cli import main\nimport sys\nsys.exit(main())\n")
    start = ["-m", "odrf"] if way == "module" else [str(tmp_path / "odrf")]
    search = os.pathsep.join([str(tmp_path), str(ROOT)])
    env = {"PYTHONPATH": search, "INTERRUPTED_AT": module}
    with started([*start, "y ~ .", "absent.csv"], env=env, cwd=ROOT) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "odrf: interrupted\n")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_program_that_imports_the_package_handles_interrupts_itself():
    code = "import odrf, signal; print(signal.getsignal(signal.SIGINT).__name__)"
    assert python(code).stdout == "default_int_handler\n"


# ------------------------------------------------------------------------------------------------
# A reader that leaves, as `head` does, ends the command quietly; so does a pipe for messages.
# ------------------------------------------------------------------------------------------------


def closed():
    """Return the writing end of a pipe that nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    return writing


COMMANDS = {
    "json": lambda table: ["fit", "y ~ .", table, "--set", "n_trees=3", "--json"],
    "help": lambda table: ["--help"],
}


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_leaves_is_no_error(written, name):
    writing = closed()
    done = command(*COMMANDS[name](written), stdout=writing)
    os.close(writing)
    assert done.returncode == 1
    assert done.stderr == ""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
@pytest.mark.parametrize("arguments", [["y ~ .", "absent.csv"], ["--nothing"]])
def test_a_refusal_that_nobody_reads_has_its_status(arguments):
    writing = closed()
    done = command(*arguments, stderr=writing)
    os.close(writing)
    assert done.returncode == 2
    assert done.stdout == ""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_the_work_goes_on_when_nobody_reads_messages(written, tmp_path):
    writing = closed()
    words = ["y ~ .", written, "--trees", "3", "--progress", "--plot", tmp_path / "p.png"]
    done = command(*words, stderr=writing)
    os.close(writing)
    assert done.returncode == 0
    assert (tmp_path / "p.png").stat().st_size > 1000
    assert "Oblique random forest" in done.stdout


# ------------------------------------------------------------------------------------------------
# Ctrl-C at a thousand moments while threads work: each ends the wait, and none locks a thread.
#
# `benchmarks/reliability/faults.py` interrupts functions and methods at random moments.
# ------------------------------------------------------------------------------------------------

# A lock that stays locked is noticed at the end, when the process waits for its threads.
CODE = """
import random, signal, time
from odrf.engine.running import in_order

signal.signal(signal.SIGALRM, signal.default_int_handler)
random.seed(1)
interrupts, others, end = 0, [], time.monotonic() + 2
while time.monotonic() < end:
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-4, 4e-3))
        for _ in range(50):
            list(in_order(lambda task: time.sleep(1e-5), range(20), 2))
    except KeyboardInterrupt:
        interrupts += 1
    except RuntimeError as error:
        others.append(error)
signal.setitimer(signal.ITIMER_REAL, 0)
print(interrupts > 100, others)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_is_an_interrupt_at_any_moment():
    done = python(CODE)
    assert done.stdout == "True []\n"
    assert done.returncode == 0
