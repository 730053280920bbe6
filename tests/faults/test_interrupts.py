"""Ctrl-C at a thousand moments while threads work: each ends the wait, and none locks a thread.

`benchmarks/reliability/faults.py` interrupts functions and methods at random moments.
"""

from __future__ import annotations

import os

import pytest

from apart import python

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
