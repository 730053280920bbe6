"""A disk that is full, or a file that may grow no more: it is said, and no half of a file stays."""

from __future__ import annotations

import json
import os

import pytest

from apart import begun, command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")

# The process may write files of so many bytes; more is an error, as on a full disk.
LIMITED = """
import json, resource, signal, sys
from odrf.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))
for words in json.loads(sys.argv[1]):
    print("status", main(words), file=sys.stderr)
"""
TARGETS = {"--save": "fit.odrf", "--plot": "plot.png", "--out": "predictions.csv"}


def test_no_half_of_a_file_stays(written, tmp_path):
    """Of files that were there, and of one that was not."""
    table = str(written)
    targets = {option: tmp_path / name for option, name in TARGETS.items()}
    for target in targets.values():
        target.write_bytes(b"before")
    new = tmp_path / "new.csv"
    calls = [[option, str(target)] for option, target in [*targets.items(), ("--out", new)]]
    usual = ["fit", "y ~ .", table, "--set", "n_trees=3"]
    calls = [[*usual, *call, *["--predict", table] * (call[0] == "--out")] for call in calls]
    with begun(["-c", LIMITED, json.dumps(calls)]) as process:
        _, err = process.communicate()
    # others may speak of their own files, too, such as a count of what the tests run
    said = [line for line in err.splitlines() if line.startswith(("odrf: error", "status"))]
    for target, error, status in zip([*targets.values(), new], said[::2], said[1::2], strict=True):
        assert error.startswith("odrf: error: ") and str(target) in error
        assert "File too large" in error and status == "status 2"
    assert sorted(os.listdir(tmp_path)) == sorted(TARGETS.values())
    assert {target.read_bytes() for target in targets.values()} == {b"before"}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="Linux only")
@pytest.mark.parametrize("words", [["y ~ .", "{}", "--trees", "3"], ["--help"]])
def test_results_that_cannot_be_written_are_an_error(written, words):
    with open("/dev/full", "w") as full:
        done = command(*(word.format(written) for word in words), stdout=full)
    assert done.returncode == 2
    assert done.stderr == (
        "odrf: error: the output cannot be written (No space left on device): send it elsewhere\n"
    )


@pytest.mark.parametrize("target", ["/dev/stdout", "pipe"])
def test_what_is_no_file_is_written_to(written, tmp_path, target):
    if target == "pipe":
        target = tmp_path / "pipe"
        os.mkfifo(target)
        reading = os.open(target, os.O_RDONLY | os.O_NONBLOCK)
    words = ["y ~ .", written, "--trees", "3", "--predict", written, "--out", target]
    done = command(*words)
    assert done.returncode == 0, done.stderr
    text = done.stdout
    if target != "/dev/stdout":
        text += os.read(reading, 10**6).decode()
        os.close(reading)
    assert "row,prediction\n1," in text


def test_predictions_are_compressed_by_the_ending(written, tmp_path):
    target = tmp_path / "predictions.csv.gz"
    words = ["y ~ .", written, "--trees", "3", "--predict", written, "--out", target]
    assert command(*words).returncode == 0
    assert target.read_bytes()[:2] == b"\x1f\x8b"
