from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odrf.checks import (
    checked_amount,
    checked_jobs,
    checked_part,
    checked_seed,
    checked_share,
    checked_truth,
    checked_whole,
    is_number,
    is_whole,
    require_default,
)
from odrf.engine.running import available_cores, usual_threads
from odrf.errors import InputError


@pytest.mark.parametrize(
    ("value", "number", "whole"),
    [
        (3, True, True),
        (np.int64(3), True, True),
        (3.0, True, False),
        (np.float32(3), True, False),
        (Fraction(1, 2), True, False),
        (True, False, False),
        (np.True_, False, False),
        ("3", False, False),
        (None, False, False),
        (1j, False, False),
    ],
)
def test_numbers_and_whole_numbers(value, number, whole):
    assert (is_number(value), is_whole(value)) == (number, whole)


def test_valid_values_are_returned_as_plain_numbers():
    assert type(checked_whole("k", np.int64(2), 2)) is int
    assert type(checked_part("level", np.float32(0.5))) is float
    assert type(checked_share("learning_rate", 1)) is float
    assert type(checked_amount("noise", 0)) is float
    assert checked_truth("honest", np.True_) is True


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checked_whole("k", 1, 2), "k=1: use a whole number of at least 2"),
        (lambda: checked_whole("k", 2.0, 2), "k=2.0: use a whole number of at least 2"),
        (lambda: checked_part("level", 1), "level=1: use a number above 0 and below 1"),
        (lambda: checked_part("level", 0.0), "level=0.0: use a number"),
        (lambda: checked_part("level", float("nan")), "level=nan: use a number"),
        (lambda: checked_share("drop", 0), "drop=0: use a number above 0 and at most 1"),
        (lambda: checked_share("drop", 1.01), "drop=1.01: use a number above 0 and at most 1"),
        (lambda: checked_share("drop", float("nan")), "drop=nan: use a number"),
        (lambda: checked_share("drop", True), "drop=True: use a number"),
        (lambda: checked_amount("noise", -1), "noise=-1: use a finite number of at least 0"),
        (lambda: checked_amount("noise", float("inf")), "noise=inf: use a finite number"),
        (lambda: checked_amount("noise", True), "noise=True: use a finite number"),
        (lambda: checked_truth("honest", 1), "honest=1: use True or False"),
        (lambda: checked_seed(-1), "seed=-1: use a whole number of at least 0"),
        (lambda: checked_seed("a"), "seed='a': use a whole number"),
        (lambda: checked_jobs(0), "n_jobs=0: use a whole number of at least 1, or -1 for all"),
        (lambda: checked_jobs(-2), "n_jobs=-2: use a whole number"),
    ],
)
def test_errors_name_the_argument(check, message):
    with pytest.raises(InputError, match=message):
        check()


def test_seeds():
    assert checked_seed(7) == 7
    sequence = np.random.SeedSequence(7)
    assert checked_seed(sequence) == checked_seed(np.random.SeedSequence(7))
    assert checked_seed(sequence.spawn(1)[0]) != checked_seed(sequence)
    first, second = (checked_seed(np.random.default_rng(7)) for _ in range(2))
    assert first == second
    assert checked_seed(None) != checked_seed(None)


def test_threads():
    assert checked_jobs(None) == usual_threads()
    assert checked_jobs(-1) == available_cores()
    assert checked_jobs(3) == 3


@pytest.mark.parametrize("default", [None, "t", 0.95])
def test_an_argument_that_would_be_ignored(default):
    require_default("level", default, default, "intervals")
    for value in (0.9, "x", [0.95], np.array([0.95]), True, {}):
        with pytest.raises(InputError, match="level= is for intervals: leave level= out"):
            require_default("level", value, default, "intervals")
    require_default("level", np.float64(0.95), 0.95, "intervals")
