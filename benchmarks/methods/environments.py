"""Environments for libraries that cannot share one with the others.

treeple's releases need scikit-learn 1.6.  The anchors bring PyTorch, which takes gigabytes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from venv import EnvBuilder

import pandas as pd

from benchmarks.methods.anchors import ANCHORS

__all__ = ["REQUIREMENTS", "SEPARATE", "make_environment"]

REQUIREMENTS = {
    "treeple": ("treeple==0.10.3", "scikit-learn==1.6.*"),
    "anchors": (
        "catboost==1.2.10",
        "chimeraboost==0.34.0",
        "interpret-core==0.7.8",
        "lightgbm==4.6.0",
        "perpetual==2.3.0",
        "pytabkit==1.7.3",
        "xrfm==0.4.5",
    ),
}
"""What each environment holds, beside pandas and pyarrow: data frames are pickled from here."""
SEPARATE = {"treeple": "treeple"} | dict.fromkeys(ANCHORS, "anchors")
"""The environment of each method that needs one."""


def make_environment(name: str, folder: Path) -> Path:
    """Make one of the environments and return its interpreter."""
    EnvBuilder(with_pip=True).create(folder)
    binaries = "Scripts" if sys.platform == "win32" else "bin"
    python = folder.resolve() / binaries / "python"
    packages = [*REQUIREMENTS[name], f"pandas=={pd.__version__}", "pyarrow"]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return python
