"""A forest of rows in chunks, from the arguments of `odrf.odrf`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from patsy import EvalEnvironment

from odrf.api.growth_request import requested
from odrf.checks import AUTO
from odrf.design.blocks import BlockSource, ChunkBlocks
from odrf.design.chunks import learn_streamed_design
from odrf.design.partitions import PartitionBlocks
from odrf.errors import InputError
from odrf.fits.chunks import HERE, grow_streamed
from odrf.fits.data_warnings import warn_of_chunks
from odrf.fits.partitions import ON_WORKERS
from odrf.options.chunks import require_no_structure
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.chunks import Chunks
from odrf.public.frames import active_client, is_partitioned, required_client
from odrf.results.chunks import StreamedResults

__all__ = ["forest_of_chunks"]

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
