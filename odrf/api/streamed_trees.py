"""A tree of all rows in chunks, from the arguments of `odrf.odt`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from patsy import EvalEnvironment

from odrf.api.growth_request import TREE, requested
from odrf.api.streamed_forests import OF_DESIGN
from odrf.design.streamed.streamed_design import learn_streamed_design
from odrf.fits.all_rows.growing_all_rows import grow_all_rows
from odrf.options.streamed_options import require_no_structure
from odrf.public.chunks import Chunks
from odrf.results.streamed.all_rows_results import AllRowsResults

__all__ = ["tree_of_chunks"]


def tree_of_chunks(
    function: Callable[..., Any],
    call: str,
    formula: str,
    chunks: Chunks,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    progress: bool,
) -> AllRowsResults:
    """Return the tree of a call of `odrf.odt`, the `function`, on rows in chunks."""
    require_no_structure(options)
    request = requested(function, options, TREE)
    arguments = {name: options[name] for name in OF_DESIGN}
    rows = learn_streamed_design(formula, chunks, env=env, progress=progress, **arguments)
    return AllRowsResults(grow_all_rows(call, rows, request, progress))
