"""What `.ci/kernels` changes where nothing is compiled, by NUMBA_DISABLE_JIT."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings
from numba import config

# Plain Python takes about a hundred times as long: so property tests draw few examples, and a test
# that finds no fault in so many seconds is over.
EXAMPLES, SECONDS = 5, 10
# What is about compiled code, by the file or the test.
COMPILED = {
    "test_machine_code.py": "the files of compiled code",
    "test_parts.py": "how functions are compiled",
    "test_pointers.py": "addresses of compiled code",
    "test_compiling.py": "how functions are compiled",
    "test_announcing.py": "what is said while functions are compiled",
    "test_private_names.py": "names of the compiler",
    "test_prefetching.py": "an instruction of the processor",
    "test_stopping.py": "threads at work beside the interpreter",
    "test_bounds.py": "runs as plain Python by itself",
    "test_without_compiler.py": "runs as plain Python by itself",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs compiled code; draw fewer examples of the rest."""
    if not config.DISABLE_JIT:
        return
    for item in items:
        reason = COMPILED.get(item.path.name)
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
        test: Any = getattr(item, "obj", None)
        own = getattr(test, "_hypothesis_internal_use_settings", None)
        if own is not None:
            test._hypothesis_internal_use_settings = settings(
                own, max_examples=min(EXAMPLES, own.max_examples), deadline=None
            )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """End a test that runs for long as plain Python: what it did so far was checked."""
    if not config.DISABLE_JIT:
        return (yield)

    def end(*_: Any) -> None:
        pytest.skip(f"no fault in {SECONDS} seconds as plain Python")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(SECONDS)
    try:
        return (yield)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
