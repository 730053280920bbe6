"""Signals end the command as they end other commands, but leave no file half written."""

from __future__ import annotations

import os
import signal

import pytest

from apart import begun

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

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
