"""Forests and trees of rows in chunks, from the arguments of `odrf.odrf` and `odrf.odt`."""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from patsy import EvalEnvironment

from odrf.checks import AUTO
from odrf.design.blocks import BlockSource, ChunkBlocks, rows_in_memory
from odrf.design.chunks import learn_streamed_design
from odrf.design.formula import read_formula
from odrf.design.partitions import PartitionBlocks
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.errors import InputError
from odrf.fits.chunks import HERE, grow_streamed
from odrf.fits.data_warnings import warn_of_chunks
from odrf.fits.partitions import ON_WORKERS
from odrf.options import words
from odrf.options.chunks import weights_column
from odrf.options.options import DataOptions, Options
from odrf.public.arguments import DASK, JOBLIB
from odrf.public.chunks import Chunks
from odrf.public.frames import active_client, is_partitioned, required_client
from odrf.results.chunks import StreamedResults


def forest_of_chunks(
    call: str,
    formula: str,
    chunks: Chunks,
    data: DataOptions,
    options: Options,
    env: EvalEnvironment,
    backend: words.BackendName,
    progress: bool,
) -> StreamedResults:
    """Return the forest of a call of `odrf.odrf` on rows in chunks."""
    weights = weights_column(data)
    client = _client(backend, chunks)
    source: BlockSource = ChunkBlocks(chunks, weights)
    if client is not None:
        source = PartitionBlocks(chunks, client, weights)
    rows = learn_streamed_design(
        formula,
        source,
        kind=data.kind,
        missing=data.missing,
        unseen=data.unseen,
        weights=weights,
        class_weights=data.class_weights,
        env=env,
        progress=progress,
    )
    warn_of_chunks(rows)
    passes = HERE if client is None else ON_WORKERS
    return StreamedResults(grow_streamed(call, rows, options, passes, progress))


def _client(backend: words.BackendName, chunks: Chunks) -> Any:
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


def sampled_table(
    formula: str,
    chunks: Chunks,
    data: DataOptions,
    seed: int,
    env: EvalEnvironment,
    progress: bool,
) -> tuple[pd.DataFrame, int]:
    """Return the rows on which `odrf.odt` grows a tree, and how many there are.

    The number is 0 if all rows fit into memory; else a sample is drawn by the `seed`.
    """
    aside = []
    for name in ("weights", *STRUCTURE_ARGUMENTS):
        value = getattr(data, name)
        if isinstance(value, str):
            aside.append(value)
        elif value is not None:
            raise InputError(
                f"{name}= with rows in chunks: make it a column of the chunks, and give its name"
            )
    names = chunks.columns()
    terms = read_formula(formula, names, env, aside)
    needed = {*terms.columns, *terms.response.columns, *aside}
    columns = [name for name in names if name in needed]
    table, n = rows_in_memory(ChunkBlocks(chunks), columns, seed, progress)
    # the formula may name columns that it leaves out: these are empty
    table = table if len(columns) == len(names) else table.reindex(columns=names)
    if len(table) == n:
        return table, 0
    warnings.warn(
        f"the tree grows on {len(table)} of {n} rows, a random sample that fits into memory: "
        "odrf() grows forests on all of them",
        UserWarning,
        stacklevel=2,
    )
    return table, n
