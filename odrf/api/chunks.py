"""Forests and trees of rows in chunks, from the arguments of `odrf.odrf` and `odrf.odt`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from patsy import EvalEnvironment

from odrf.api.calling import requested
from odrf.checks import AUTO, checked_seed
from odrf.design.blocks import BlockSource, ChunkBlocks, rows_in_memory
from odrf.design.chunks import learn_streamed_design
from odrf.design.formula import read_formula
from odrf.design.partitions import PartitionBlocks
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.errors import InputError
from odrf.fits.chunks import HERE, grow_streamed
from odrf.fits.data_warnings import warn_of_chunks
from odrf.fits.partitions import ON_WORKERS
from odrf.options.chunks import require_no_structure
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.chunks import Chunks
from odrf.public.frames import active_client, is_partitioned, required_client
from odrf.results.chunks import StreamedResults

# ------------------------------------------------------------------------------------------------
# A forest: each tree has the rows that it draws.
# ------------------------------------------------------------------------------------------------

OF_DESIGN = ("weights", "class_weights", "missing", "unseen", "kind")


def forest_of_chunks(
    function: Callable[..., Any],
    call: str,
    formula: str,
    chunks: Chunks,
    options: Mapping[str, Any],
    env: EvalEnvironment,
    backend: str,
    progress: bool,
) -> StreamedResults:
    """Return the forest of a call of `odrf.odrf`, the `function`, on rows in chunks."""
    require_no_structure(options)
    client = _client(backend, chunks)
    weights = options["weights"]
    source: BlockSource = ChunkBlocks(chunks, weights)
    if client is not None:
        source = PartitionBlocks(chunks, client, weights)
    request = requested(function, options, {})
    arguments = {name: options[name] for name in OF_DESIGN}
    rows = learn_streamed_design(formula, source, env=env, progress=progress, **arguments)
    warn_of_chunks(rows)
    passes = HERE if client is None else ON_WORKERS
    return StreamedResults(grow_streamed(call, rows, request, passes, progress))


def _client(backend: str, chunks: Chunks) -> Any:
    """Return the client of Dask whose workers grow the forest; None for threads of this process."""
    partitioned = is_partitioned(chunks.source)
    if backend == JOBLIB:
        raise InputError(
            f'backend="{JOBLIB}" is for a data frame in memory: rows in chunks go to other '
            f'processes as a data frame of Dask, with backend="{DASK}"'
        )
    if backend == DASK:
        if not partitioned:
            raise InputError(
                f'backend="{DASK}" with rows in chunks needs a data frame of Dask: make one, as by '
                "dask.dataframe.read_parquet(path)"
            )
        return required_client(f'backend="{DASK}"')
    if partitioned and backend == AUTO and active_client() is not None:
        return required_client("a data frame of Dask")
    return None


# ------------------------------------------------------------------------------------------------
# A tree: of all rows, or of a random sample that fits into memory.
# ------------------------------------------------------------------------------------------------


def sampled_table(
    formula: str, chunks: Chunks, options: Mapping[str, Any], env: EvalEnvironment, progress: bool
) -> tuple[pd.DataFrame, int, dict[str, Any]]:
    """Return the rows on which `odrf.odt` grows a tree, how many there are, and the options.

    The number is 0 if all rows fit into memory.  The options have the seed by which a sample was
    drawn.
    """
    of_rows = {name: options[name] for name in ("weights", *STRUCTURE_ARGUMENTS)}
    for name, value in of_rows.items():
        if value is not None and not isinstance(value, str):
            raise InputError(
                f"{name}= with rows in chunks: make it a column of the chunks, and give its name"
            )
    names, aside = chunks.columns(), [value for value in of_rows.values() if value is not None]
    terms = read_formula(formula, names, env, aside)
    needed = {*terms.columns, *terms.response.columns, *aside}
    columns = [name for name in names if name in needed]
    options = {**options, "seed": checked_seed(options["seed"])}
    table, n = rows_in_memory(ChunkBlocks(chunks), columns, options["seed"], progress)
    # the formula may name columns that it leaves out: these are empty
    table = table if len(columns) == len(names) else table.reindex(columns=names)
    if len(table) == n:
        return table, 0, options
    warnings.warn(
        f"the tree grows on {len(table)} of {n} rows, a random sample that fits into memory: "
        "odrf() grows forests on all of them",
        UserWarning,
        stacklevel=2,
    )
    return table, n, options
