from __future__ import annotations

import os
from pathlib import Path

import jupytext
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
VIGNETTES = sorted((ROOT / "vignettes").glob("*.md"))


def test_there_are_vignettes():
    assert VIGNETTES


@pytest.mark.parametrize("path", VIGNETTES, ids=lambda path: path.stem)
def test_vignette_runs_from_top_to_bottom(path):
    notebook = jupytext.read(path)
    assert any(cell.cell_type == "code" for cell in notebook.cells)
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="python3",  # ipykernel makes this the interpreter that runs the tests
        resources={"metadata": {"path": str(path.parent)}},
    )
    search_path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    client.execute(env={**os.environ, "PYTHONPATH": search_path})
