from __future__ import annotations

import os
import sys
from pathlib import Path

import jupytext
import pytest
from jupyter_client.manager import KernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[1]
VIGNETTES = sorted((ROOT / "vignettes").glob("*.md"))
# DuckDB cannot be had for a Python without the global interpreter lock.
NEEDING = {"exports": "duckdb"}
# Between pages names are cleared, with a search for garbage: not among all that was imported.  Of
# the time of a blend of few rows, most is that of pilot trees: see `blends`.
AT_FIRST = """
import gc
import matplotlib.pyplot
from odrf.fits import blending
blending.MOST_PILOT = 8
gc.collect()
gc.freeze()
"""
# The page on the command line asks in a shell: see `answered`.
COMMANDS = """
import sys
sys.path.insert(0, {tests!r})
import odrf.cli
from answered import answer_commands
answer_commands({folder!r})
"""
# No names of the page before; what it has loaded is not searched once more for garbage.  To cut a
# figure to what is drawn, it would be laid out again, and few pixels are painted sooner than many.
BEFORE_A_PAGE = """%reset -f
__import__('gc').freeze()
%config InlineBackend.print_figure_kwargs = {'bbox_inches': None, 'dpi': 20}"""


def test_there_are_vignettes():
    assert VIGNETTES


@pytest.fixture(scope="module")
def process(tmp_path_factory):
    """One process for all pages: to start one and to import everything takes seconds."""
    search_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    manager = KernelManager(kernel_name="python3")  # ipykernel makes this the tests' interpreter
    env, first = {**os.environ, "PYTHONPATH": search_path}, AT_FIRST
    if sys.platform == "linux":
        env["ODRF_COMMAND"] = str(tmp_path_factory.mktemp("commands"))
        first += COMMANDS.format(tests=str(Path(__file__).parent), folder=env["ODRF_COMMAND"])
    manager.start_kernel(cwd=str(ROOT / "vignettes"), env=env)
    first = new_notebook(cells=[new_code_cell(first)])
    NotebookClient(first, km=manager, timeout=600).execute()
    yield manager
    manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.stem)
def test_vignette_runs_from_top_to_bottom(path, process):
    if path.stem in NEEDING:
        pytest.importorskip(NEEDING[path.stem])
    notebook = jupytext.read(path)
    assert any(cell.cell_type == "code" for cell in notebook.cells)
    notebook.cells.insert(0, new_code_cell(BEFORE_A_PAGE))
    NotebookClient(notebook, km=process, timeout=600).execute()
