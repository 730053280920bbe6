"""A folder for compiled code that is of no use costs time, and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path

import pytest

import odrf
from apart import python, started

PACKAGE = Path(odrf.__file__).parent
# Two kernels in a file: Numba keeps their code beside it, or where NUMBA_CACHE_DIR says.
KERNELS = """
from odrf.engine.compiling import kernel

@kernel
def doubled(x):
    return 2 * x

@kernel
def tripled(x):
    return 3 * x
"""
# A process of root would write where it may not: it gives these rights up.
NO_RIGHTS = """
import ctypes, os, sys
if sys.platform == "linux" and os.geteuid() == 0:
    libc = ctypes.CDLL(None)
    head, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.capget(head, rights)
    rights[0] &= ~0b110
    libc.capset(head, rights)
"""
# The folder of the package stands for the package: no more is imported than kernels need.
CALLS = f"""
import sys, types
sys.modules["odrf"] = types.ModuleType("odrf")
sys.modules["odrf"].__path__ = [{str(PACKAGE)!r}]
sys.path.insert(0, sys.argv[1])
import kernels
print(kernels.doubled(21), kernels.tripled(0.5), end=" ")
print(sum(sum(k.stats.cache_hits.values()) for k in (kernels.doubled, kernels.tripled)))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    return tmp_path


def called(folder, **env):
    """Return what a process without special rights prints, and what it says."""
    done = python(NO_RIGHTS + CALLS, folder, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def closed(folder):
    """Take away the right to write to a folder, and to what is in it."""
    for path in [*folder.rglob("*"), folder]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
@pytest.mark.parametrize("place", ["read-only", "below a file", "no home"])
def test_code_is_compiled_in_memory_and_it_is_said_once(folder, place):
    nowhere = str(folder / "kernels.py" / "below")
    where = {"NUMBA_CACHE_DIR": None, "HOME": nowhere, "XDG_CACHE_HOME": None}
    if place == "read-only":
        (folder / "cache").mkdir()
        where["NUMBA_CACHE_DIR"] = str(folder / "cache")
    if place == "below a file":
        where["NUMBA_CACHE_DIR"] = nowhere
    closed(folder)
    printed, said = called(folder, **where)
    assert printed == "42 1.5 0"
    assert said.startswith("odrf: ") and said.count("\n") == 1 and "NUMBA_CACHE_DIR" in said


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_read_only_cache_that_is_full_is_used(folder):
    home = str(folder / "kernels.py")
    where = {"NUMBA_CACHE_DIR": str(folder / "cache"), "HOME": home, "XDG_CACHE_HOME": None}
    assert called(folder, **where) == ("42 1.5 0", "")
    closed(folder)
    assert called(folder, **where) == ("42 1.5 2", "")


def test_processes_that_compile_at_once_do_not_disturb_each_other(folder):
    where = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    together = [started(["-c", CALLS, str(folder)], env=where) for _ in range(2)]
    for process in together:
        out, err = process.communicate(timeout=60)
        assert out.startswith("42 1.5 ") and not err
    done = python(CALLS, folder, env=where)
    assert (done.stdout, done.stderr) == ("42 1.5 2\n", "")


# A kernel that takes its time to compile, and says how often this process has compiled it.
SLOWLY = CALLS.replace(
    "import kernels\n",
    """
import os, time
from numba.core import event
import kernels

class Begun(event.Listener):
    def on_start(self, of):
        if of.data["dispatcher"] is kernels.doubled:
            print("compiles", flush=True)
            time.sleep(float(sys.argv[2]))
    def on_end(self, of):
        pass

event.register("numba:compile", Begun())
""",
)


def compiling(folder, seconds, **env):
    """Start a process that takes so many seconds more to compile a kernel."""
    where = {"NUMBA_CACHE_DIR": str(folder / "cache"), **env}
    return started(["-c", SLOWLY, str(folder), str(seconds)], env=where)


def test_four_processes_at_once_compile_once(folder):
    together = [compiling(folder, 2) for _ in range(4)]
    ended = [process.communicate(timeout=60) for process in together]
    assert [err for _, err in ended] == [""] * 4
    assert all(out.splitlines()[-1].startswith("42 1.5 ") for out, _ in ended)
    assert "".join(out for out, _ in ended).count("compiles") == 1


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_is_killed_leaves_no_lock(folder):
    first = compiling(folder, 30)
    assert first.stdout.readline() == "compiles\n"
    second = compiling(folder, 0)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(2)
    first.kill()
    out, err = second.communicate(timeout=30)
    assert (out.splitlines()[0], err) == ("compiles", "")
    first.communicate()


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_is_stopped_is_not_waited_for_longer_than_a_while(folder):
    first = compiling(folder, 0.5)
    assert first.stdout.readline() == "compiles\n"
    first.send_signal(signal.SIGSTOP)
    try:
        code = SLOWLY.replace(
            "import kernels\n",
            "import kernels\nfrom odrf.engine import compiling\ncompiling.LONGEST_WAIT = 1.0\n",
            1,
        )
        done = python(code, folder, 0, env={"NUMBA_CACHE_DIR": str(folder / "cache")})
    finally:
        first.send_signal(signal.SIGCONT)
    assert done.stdout.splitlines() == ["compiles", "42 1.5 0"] and not done.stderr
    assert first.communicate(timeout=30)[0].startswith("42 1.5 ")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupted_compilation_leaves_no_lock(folder):
    code = SLOWLY.replace(
        "print(kernels.doubled(21)",
        """
try:
    kernels.doubled(21)
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
print(kernels.doubled(21)""",
    )
    where = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    first = started(["-c", code, str(folder), "5"], env=where, stdin=subprocess.PIPE)
    assert first.stdout.readline() == "compiles\n"
    first.send_signal(signal.SIGINT)
    assert first.stdout.readline() == "interrupted\n"
    out, err = compiling(folder, 0).communicate(timeout=30)
    assert (out, err) == ("compiles\n42 1.5 0\n", "")
    out, err = first.communicate("go on\n", timeout=30)
    assert (out, err) == ("42 1.5 2\n", "")


def test_code_of_an_older_source_is_not_used(folder):
    where = {"NUMBA_CACHE_DIR": str(folder / "cache")}
    assert python(CALLS, folder, env=where).stdout == "42 1.5 0\n"
    (folder / "kernels.py").write_text(KERNELS.replace("2 * x", "20 * x // 10 + 1"))
    assert python(CALLS, folder, env=where).stdout == "43 1.5 0\n"
