"""A tree from the arguments of `odrf.odt`: of a data frame, or of rows in chunks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from patsy import EvalEnvironment

from odrf.api.calling import design_of, spelled_call
from odrf.api.growth_request import TREE, requested
from odrf.api.streamed_forests import OF_DESIGN
from odrf.api.survival_fits import survival_tree
from odrf.design.blocks import ChunkBlocks
from odrf.design.chunks import learn_streamed_design
from odrf.fits.all_rows.growing_all_rows import grow_all_rows
from odrf.fits.data_warnings import warn_of_chunks, warned_of_data
from odrf.fits.growing import grow_fit
from odrf.fits.pruning import sized_tree
from odrf.options.chunks import require_no_structure
from odrf.public.chunks import Chunks, chunks_of
from odrf.results.chunks import AllRowsResults
from odrf.results.tree import ODTResults

__all__ = ["fitted_tree"]


def fitted_tree(
    function: Callable[..., Any],
    formula: str,
    data: Any,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    progress: bool,
) -> ODTResults:
    """Return the tree of a call of `odrf.odt`, the `function`."""
    call, chunks = spelled_call(function, formula, options), chunks_of(data)
    if chunks is not None:
        return _tree_of_chunks(function, call, formula, chunks, options, env, progress)
    design, training = design_of(formula, data, options, env, with_times=True)
    request = requested(function, options, TREE)
    if training.times is not None:
        # a union of both types would make every use of a tree ask which one it is
        return cast("ODTResults", survival_tree(call, design, training, data, request, progress))
    fit = sized_tree(grow_fit(call, design, training, request), progress)
    return ODTResults(warned_of_data(fit, data))


def _tree_of_chunks(
    function: Callable[..., Any],
    call: str,
    formula: str,
    chunks: Chunks,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    progress: bool,
) -> AllRowsResults:
    require_no_structure(options)
    request = requested(function, options, TREE)
    arguments = {name: options[name] for name in OF_DESIGN}
    source = ChunkBlocks(chunks, options["weights"])
    rows = learn_streamed_design(formula, source, env=env, progress=progress, **arguments)
    warn_of_chunks(rows)
    return AllRowsResults(grow_all_rows(call, rows, request, progress))
