"""What nodes have in all their leaves, and what nodes without rows have from above."""

from __future__ import annotations

from odrf.engine.compiling import kernel

__all__ = ["add_up_branches", "take_from_parents"]


@kernel
def add_up_branches(left, sums):
    """Add to the sums (m, Q) of each split node those of its children, from the leaves up.

    `left` (m,) is that of a `Forest`: children have higher numbers than their parents.
    """
    for node in range(len(left) - 1, -1, -1):
        if left[node] >= 0:
            for q in range(sums.shape[1]):
                sums[node, q] += sums[left[node], q] + sums[left[node] + 1, q]


@kernel
def take_from_parents(left, weight, values):
    """Write the values (m, Q) of the parent to each node without weight, from the root down."""
    for node in range(len(left)):
        if left[node] >= 0:
            for child in range(left[node], left[node] + 2):
                if weight[child] == 0.0:
                    for q in range(values.shape[1]):
                        values[child, q] = values[node, q]
