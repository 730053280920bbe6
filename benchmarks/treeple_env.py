"""An environment for treeple, whose releases need scikit-learn 1.6."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from venv import EnvBuilder

import pandas as pd

__all__ = ["make_environment"]

REQUIREMENTS = ("treeple==0.10.3", "scikit-learn==1.6.*", f"pandas=={pd.__version__}")
"""The same pandas as here, because data frames are pickled from one to the other."""


def make_environment(folder: Path) -> Path:
    """Make the environment and return its interpreter."""
    EnvBuilder(with_pip=True).create(folder)
    binaries = "Scripts" if sys.platform == "win32" else "bin"
    python = folder.resolve() / binaries / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
    return python
