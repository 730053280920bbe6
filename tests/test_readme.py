from __future__ import annotations

import re
from pathlib import Path

import matplotlib
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^python3 -m venv \.venv-test .*$", README, flags=re.MULTILINE)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
def test_python_block_runs(block):
    matplotlib.use("agg")
    exec(block, {})
