"""A reader that leaves, as `head` does, ends the command quietly; so does a pipe for messages."""

from __future__ import annotations

import os

import pytest

from apart import command


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
