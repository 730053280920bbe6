"""Rows in chunks that pass by: how long reading them takes, and a random sample of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter, thread_time
from typing import TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.design.streamed.blocks import BlockSource
from odrf.engine.memory import resident_memory
from odrf.engine.randomness import stream
from odrf.engine.streamed.hashed_draws import hash_rows

__all__ = ["SampledBlocks"]

# Rows of the sample: as many, and bytes of these, as trees of some million rows have.
MOST, MOST_BYTES, FEWEST = 2**18, 2**27, 2**12
# Where the system does not tell what reading takes: copies of a block.
OF_BLOCK = 2
# The key of the hashes that choose them is of the stream of this tree, which no forest has.
SAMPLED = 2**40

Given = TypeVar("Given")
Result = TypeVar("Result")


class SampledBlocks:
    """A source of blocks that is the same as another one, and remembers.

    The sample are the rows of the first pass with the smallest hashes of their numbers.

    Parameters
    ----------
    source : BlockSource

    Attributes
    ----------
    sampling : float
        Seconds that the sample has taken.
    reading : float
        Seconds that the chunks took to come in the pass that was the fastest.
    resident : float
        Bytes that reading the chunks has added to the process, without those of the sample.
    """

    def __init__(self, source: BlockSource) -> None:
        self.source = source
        self.sampling, self.reading, self.resident = 0.0, np.inf, 0.0
        self._frames: list[pd.DataFrame] = []
        self._words: list[NDArray[np.uint64]] = []
        self._limit, self._most = np.iinfo(np.uint64).max, 0
        self._before = resident_memory()

    @property
    def memory(self) -> float | None:
        """As that of the other source."""
        return self.source.memory

    def columns(self) -> list[str]:
        """Return the names of the columns."""
        return self.source.columns()

    def over_blocks(
        self,
        what: str,
        function: Callable[[Given, pd.DataFrame], Result],
        given: Given,
        columns: Sequence[str],
    ) -> Iterator[Result]:
        """Yield ``function(given, block)`` for all blocks; see `BlockSource`."""
        first, inside, whole = not self._frames, 0.0, 0.0

        def seen(given: Given, block: pd.DataFrame) -> Result:
            nonlocal inside
            # of this thread alone: others may read the next rows meanwhile
            began = thread_time()
            if first:
                self._see(block)
                self.sampling += thread_time() - began
            found = function(given, block)
            inside += thread_time() - began
            return found

        blocks = self.source.over_blocks(what, seen, given, columns)
        while True:
            began = perf_counter()
            try:
                found = next(blocks)
            except StopIteration:
                break
            whole += perf_counter() - began
            yield found
        self.reading = min(self.reading, max(0.0, whole - inside))

    def sample(self) -> pd.DataFrame:
        """Return the sample in random order, its rows numbered from 0 on."""
        words = np.concatenate(self._words)
        order = np.argsort(words)[: self._most]
        return pd.concat(self._frames).iloc[order].reset_index(drop=True)

    def _see(self, block: pd.DataFrame) -> None:
        """Keep of a block the rows with small hashes."""
        if not self._most:
            of_row = max(1.0, float(block.memory_usage(index=False).sum()) / max(1, len(block)))
            self._most = int(np.clip(MOST_BYTES / of_row, FEWEST, MOST))
        words = np.empty(len(block), dtype=np.uint64)
        hash_rows(stream(0, SAMPLED)[0], block.index.to_numpy().astype(np.uint64), words)
        at = np.flatnonzero(words < self._limit)
        self._frames.append(block.iloc[at])
        self._words.append(words[at])
        if sum(map(len, self._words)) > 2 * self._most:
            words = np.concatenate(self._words)
            at = np.sort(np.argpartition(words, self._most)[: self._most])
            self._frames = [pd.concat(self._frames).iloc[at]]
            self._words = [words[at]]
            self._limit = self._words[0].max()
        held = sum(float(frame.memory_usage().sum()) for frame in self._frames)
        block_bytes = OF_BLOCK * float(block.memory_usage(index=False).sum())
        self.resident = max(self.resident, resident_memory() - self._before - held, block_bytes)
