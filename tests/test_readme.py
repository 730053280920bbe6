from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import matplotlib
import pandas as pd
import pytest

from benchmarks.accuracy.neighbours import METHODS, PLAIN_FOREST, beside, longest_beside

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TOUR = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")


def test_ci_runs_the_test_command_of_the_readme():
    (command,) = re.findall(r"^python3 -m venv \.venv-test .*$", README, flags=re.MULTILINE)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_site_is_built_by_one_command():
    (command,) = re.findall(r"sphinx-build .*$", README, flags=re.MULTILINE)
    page = (ROOT / "docs" / "developers.md").read_text(encoding="utf-8")
    assert command in page
    assert " -W " in command


@pytest.mark.parametrize(
    ("code", "output"),
    re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", README, flags=re.DOTALL),
)
def test_python_block_prints_what_is_shown(code, output):
    matplotlib.use("agg")
    assert README.count("```python") == README.count("```text") == 1
    assert len([line for line in code.splitlines() if line]) <= 10
    with redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert printed.getvalue() == output


@pytest.mark.parametrize("block", re.findall(r"```python\n(.*?)```", TOUR, flags=re.DOTALL))
def test_python_block_of_the_tour_runs(block, few_pilots):
    matplotlib.use("agg")
    exec(block, {})


def test_there_are_blocks():
    assert "```python" in README
    assert "```python" in TOUR


def test_figures_beside_other_forests_are_those_of_the_results():
    results = pd.read_csv(
        ROOT / "benchmarks" / "accuracy" / "results" / "neighbours.csv", low_memory=False
    )
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in README.splitlines()
        if line.startswith(("| error", "| training time"))
    ]
    for column, method in zip((-2, -1), METHODS, strict=True):
        assert tuple(row[column] for row in rows) == beside(results, method)
    words = " ".join((ROOT / "vignettes" / "accuracy.md").read_text(encoding="utf-8").split())
    errors, times = beside(results, PLAIN_FOREST)
    assert (
        f"Beside the random forest of scikit-learn, {errors}; its training takes {times} the"
        in words
    )
    assert f"factors of several levels ({longest_beside(results, PLAIN_FOREST)})" in words
    of_treeple, of_ydf = (longest_beside(results, method) for method in METHODS)
    assert f"longest on the same table ({of_treeple}), beside ydf on another" in words
    assert f"beside ydf on another one ({of_ydf})" in words
