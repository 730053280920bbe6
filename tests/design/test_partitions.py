"""Stretches of partitions give the blocks of the whole table, each row once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from odrf.design.blocks import in_blocks_of_rows
from odrf.design.partitions import block_ranges


@given(lengths=st.lists(st.integers(0, 40), max_size=8), size=st.integers(1, 20))
def test_stretches_give_the_blocks_of_all_rows(lengths, size):
    whole = pd.DataFrame({"x": np.arange(sum(lengths))})
    bounds = np.cumsum([0, *lengths])
    parts = [whole.iloc[a:b] for a, b in pairwise(bounds)]
    found = []
    for blocks_here in block_ranges(lengths, size):
        heads = [parts[i].iloc[:n] for i, n in blocks_here.heads]
        frames = [parts[blocks_here.partition].iloc[blocks_here.skipped :], *heads]
        blocks = list(in_blocks_of_rows(frames, size, blocks_here.begin))
        assert blocks[0].index[0] == blocks_here.begin
        # what comes from other partitions is less than a block
        assert sum(len(head) for head in heads) < size
        found += blocks
    twin = list(in_blocks_of_rows([whole], size))
    assert len(found) == len(twin)
    for one, other in zip(found, twin, strict=True):
        pd.testing.assert_frame_equal(one, other, check_index_type=False)
