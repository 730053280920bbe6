"""A forest of rows in chunks, from the arguments of `odrf.odrf`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from patsy import EvalEnvironment

from odrf.api.growth_request import requested
from odrf.design.streamed.blocks import ChunkBlocks
from odrf.design.streamed.streamed_design import learn_streamed_design
from odrf.fits.streamed.growing_streamed import grow_streamed
from odrf.options.streamed_options import require_no_structure
from odrf.public.chunks import Chunks
from odrf.results.streamed.streamed_results import StreamedResults

__all__ = ["forest_of_chunks"]

OF_DESIGN = ("weights", "class_weights", "missing", "unseen", "kind")


def forest_of_chunks(
    function: Callable[..., Any],
    call: str,
    formula: str,
    chunks: Chunks,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    progress: bool,
) -> StreamedResults:
    """Return the forest of a call of `odrf.odrf`, the `function`, on rows in chunks."""
    require_no_structure(options)
    request = requested(function, options, {})
    arguments = {name: options[name] for name in OF_DESIGN}
    rows = learn_streamed_design(
        formula, ChunkBlocks(chunks), env=env, progress=progress, **arguments
    )
    return StreamedResults(grow_streamed(call, rows, request, progress))
