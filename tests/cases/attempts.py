"""A call is tried: it answers, is refused by name, or its outcome is unexplained."""

from __future__ import annotations

import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odrf.errors import InputError

__all__ = ["SLOW", "Attempts"]

# A call that computes for longer is too long, unless code was compiled; one that takes LONGEST is
# ended.
SECONDS, LONGEST = 20, 200
SLOW = f"it takes more than {SECONDS} seconds"


@dataclass
class Attempts:
    """What was tried, how often, and what came of it that nothing explains."""

    show: bool = False
    unexplained: list[str] = field(default_factory=list)
    n: int = 0
    refused: int = 0

    def add(self, words: str) -> None:
        """Note something that should not be."""
        self.unexplained.append(words)

    def answer(self, question: str, call: Callable[[], Any], refusable: bool = True) -> Any:
        """Return the answer of a call; None where it has none.

        What is not `refusable` has an answer always, such as the text of a result.
        """
        begin, begin_cpu = time.perf_counter(), time.process_time()
        self.n += 1
        try:
            with _limits():
                return call()
        except (InputError, MemoryError) as refusal:
            self.refused += 1
            if not refusable:
                self.add(f"{question}: refused: {refusal}")
            elif len(str(refusal)) < 20:
                self.add(f"{question}: refused without words: {refusal}")
            elif self.show:
                print(f"    {question}: {refusal}")
        except Exception as error:
            self.add(f"{question}: {type(error).__name__} at {_place(error)}: {str(error)[:150]}")
            if self.show:
                traceback.print_exc()
        finally:
            if _is_slow(begin, begin_cpu):
                self.add(f"{question}: {SLOW}")
        return None


def _is_slow(begin: float, begin_cpu: float) -> bool:
    # The clock of the processor is asked seldom: it is a slow one.
    return time.perf_counter() - begin > SECONDS and time.process_time() - begin_cpu > SECONDS


def _place(error: Exception) -> str:
    """Return the last line of the package that the error went through, and where it was raised."""
    lines = traceback.extract_tb(error.__traceback__)
    ours = [line for line in lines if "/odrf/" in line.filename] or lines
    places = dict.fromkeys(
        f"{Path(one.filename).name}:{one.lineno}" for one in (ours[-1], lines[-1])
    )
    return " in ".join(reversed(list(places)))


@contextmanager
def _limits() -> Iterator[None]:
    """Raise an error where a call takes too long or warns of more than users should know."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it runs for more than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=UserWarning)
            warnings.filterwarnings("ignore", ".* is an old spelling and will go", FutureWarning)
            warnings.filterwarnings("error", "Attempting to set identical", UserWarning)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
