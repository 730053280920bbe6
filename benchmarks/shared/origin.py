"""Where results come from: the state of this repository, and the machine."""

from __future__ import annotations

import os
import platform
import subprocess
from functools import cache
from pathlib import Path

__all__ = ["commit", "machine"]


@cache
def commit() -> str:
    """Return the commit of this repository, "-dirty" if files differ; empty without git."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return asked.stdout.strip()


@cache
def machine() -> str:
    """Return processor and number of cores."""
    return f"{_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    described = Path("/proc/cpuinfo")  # Linux, where platform.processor() says little
    if described.exists():
        for line in described.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
