"""Folds of whole groups, and folds in time, row by row."""

from __future__ import annotations

import numpy as np

__all__ = ["blocks", "dealt_groups", "last", "rolled"]


def dealt_groups(groups: list[int], strata: list[int], k: int, seed: int) -> list[int]:
    """The fold of each row: the largest group first, to the fold that has least of its strata."""
    n, names = len(groups), sorted(set(groups))
    place = {int(g): i for i, g in enumerate(np.random.default_rng(seed).permutation(len(names)))}
    size = {g: groups.count(g) for g in names}
    fold_of: dict[int, int] = {}
    for g in sorted(names, key=lambda g: (-size[g], place[g])):
        costs = []
        for fold in range(k):
            inside = [i for i in range(n) if fold_of.get(groups[i]) == fold]
            share = 0
            for s in set(strata):
                unit = 1024 * n // strata.count(s)
                own = sum(groups[i] == g and strata[i] == s for i in range(n))
                share += unit * own * sum(strata[i] == s for i in inside)
            costs.append((share, len(inside), fold))
        fold_of[g] = min(costs)[2]
    return [fold_of[g] for g in groups]


def blocks(order: list[int], k: int) -> list[int]:
    """The block of each row: a block ends where its share of the rows is reached."""
    times, n = sorted(set(order)), len(order)
    begins = [0]
    for j in range(1, k):
        even = sum(sum(t <= time for t in order) < j * n / k for time in times)
        begins.append(max(begins[-1] + 1, min(even, len(times) - (k - j))))
    return [sum(times.index(time) >= begin for begin in begins) - 1 for time in order]


def rolled(order: list[int], k: int) -> list[tuple[list[int], list[int]]]:
    """The numbers of the training rows and of the test rows of each fold."""
    block, folds = blocks(order, k + 1), []
    for j in range(1, k + 1):
        test = [i for i in range(len(order)) if block[i] == j]
        train = [i for i in range(len(order)) if order[i] < min(order[i] for i in test)]
        folds.append((train, test))
    return folds


def last(order: list[int], share: float) -> list[bool]:
    """Which rows are held out: from the last time back, until their share is reached."""
    held: set[int] = set()
    for time in sorted(set(order), reverse=True)[: max(1, len(set(order)) - 1)]:
        if sum(t in held for t in order) < share * len(order):
            held.add(time)
    return [time in held for time in order]
