"""The public names of this version, written down before it is released.

    python tests/public/released_names.py

writes ``tests/public/released/VERSION.txt``: a line for each public function and method, with its
arguments.  The tests hold that later versions know them all.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import odrf
from signatures import callables

RELEASED = Path(__file__).with_name("released")


def main() -> None:
    """Write the names of this version."""
    lines = [
        " ".join([name, *(each for each in inspect.signature(function).parameters)])
        for name, function in sorted(callables().items())
    ]
    RELEASED.joinpath(f"{odrf.__version__}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
