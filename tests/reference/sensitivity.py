"""Sensitivity of rows by equations (30) to (33) of Gupta et al., row by row."""

from __future__ import annotations

import math

from odrf.engine.guided.forest import GuidedForest


def planes_until(guided: GuidedForest, region: int) -> int:
    """How many planes a tree had grown when it made a region: find what divided its parent."""
    for parent in range(len(guided.left)):
        if guided.left[parent] >= 0 and region in (guided.left[parent], guided.left[parent] + 1):
            tree = max(b for b in range(guided.n_trees) if guided.root[b] <= parent)
            return int(guided.plane[parent] - guided.first_plane[tree]) + 1
    return 0


def mean_sensitivity(
    leaves: list[list[int]], v: list[int], codes: list[int], order: list[int]
) -> list[float]:
    """The mean over trees; `leaves` has a list of regions for each row."""
    n, n_trees = len(codes), len(leaves[0])
    total = [0.0] * n
    for b in range(n_trees):
        theta = [0.0] * n
        for region in {leaves[i][b] for i in range(n)}:
            members = [i for i in order if leaves[i][b] == region]
            for rank, i in enumerate(members, start=1):
                theta[i] = v[region] / rank
        for i in range(n):
            of_class = sum(theta[k] for k in range(n) if codes[k] == codes[i])
            total[i] += math.log(1 + theta[i] / of_class) if of_class > 0 else 0.0
    return [value / n_trees for value in total]
