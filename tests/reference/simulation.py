"""Simulated problems, row by row from their definitions."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

Row = list[float]


def parity(row: Row, relevant: int) -> str:
    """Whether an odd number of the relevant predictors is positive."""
    return str(len([x for x in row[:relevant] if x > 0]) % 2)


def orthant(row: Row) -> str:
    """The number of the orthant."""
    number = 1
    for j, x in enumerate(row):
        if x > 0:
            number += 2**j
    return str(number)


def stripe(at: float, stripes: int | None) -> int:
    """The stripe in which a place in [0, 1) lies, found by going through them."""
    number, begin = 0, 0.0
    width = 0.5 if stripes is None else 1 / stripes
    while at >= begin + width:
        number, begin = number + 1, begin + width
        width = width / 2 if stripes is None else width
    return number


def biau(row: Row, stripes: int | None) -> str | None:
    """The class of a place; None where none comes."""
    for square in range(3):
        if all(square <= x < square + 1 for x in row):
            x1, x2 = row[0] - square, row[1] - square
            if square == 1:
                return str(int((x1 >= 0.5) != (x2 >= 0.5)))
            return str(stripe(x1 if square == 0 else x2, stripes) % 2)
    return None


def vertex(row: Row, labels: str) -> str:
    """The class of the nearest vertex of the unit cube."""
    ones = sum(abs(x - 1) < abs(x) for x in row)
    return str(ones % 2 if labels == "parity" else ones)


def segments(ring: Row) -> list[int]:
    """The lengths of the segments of ones on a ring, the shortest first."""
    if 0 not in ring:
        return [len(ring)]
    seam = ring.index(0)
    opened = [*ring[seam:], *ring[:seam]]
    return sorted(len(list(run)) for pixel, run in groupby(opened) if pixel == 1)


def bars(image: list[Row]) -> set[str]:
    """The classes that can have made an image."""
    lines = {"0": image, "1": [list(column) for column in zip(*image, strict=True)]}
    return {name for name, rows in lines.items() if all(len(set(row)) == 1 for row in rows)}


def normal_share(row: Row, first: Row, second: Row) -> float:
    """The probability of the second of two equally likely classes with these means."""
    densities = [
        math.prod(math.exp(-((x - m) ** 2) / 2) for x, m in zip(row, mean, strict=True))
        for mean in (first, second)
    ]
    return densities[1] / sum(densities)


def around_centroids(
    rng: np.random.Generator, n: int, place: NDArray, weight: NDArray, sd: NDArray
) -> tuple[NDArray, NDArray]:
    """Rows (n, p) of Weka's RandomRBF, and the centroid of each."""
    rows, chosen = [], []
    for _ in range(n):
        c = int(np.searchsorted(np.cumsum(weight), rng.random() * weight.sum()))
        offset = rng.uniform(-1, 1, place.shape[1])
        offset *= rng.normal(0, sd[c]) / math.sqrt((offset**2).sum())
        rows.append(place[c] + offset)
        chosen.append(c)
    return np.array(rows), np.array(chosen)


def ring(row: Row, number: int, classes: int) -> str | None:
    """The class of a place, by going through the circles; None where none comes."""
    far = math.dist(row, [0.0, 0.0])
    inside = [k for k in range(number) if far < (k + 1) / number]
    return str(inside[0] % classes + 1) if inside else None


def slice_of_pie(row: Row, number: int, classes: int) -> str | None:
    """The class of a place, by going through the rays; None where none comes."""
    if math.dist(row, [0.0, 0.0]) >= 1:
        return None
    degrees = math.degrees(math.atan2(row[1], row[0]))
    degrees += 360 if degrees < 0 else 0
    passed = [k for k in range(number) if degrees >= 360 * k / number]
    return str(passed[-1] % classes + 1)


def square_of_board(row: Row, number: int, classes: int) -> str:
    """The class of a place, by going through the lines of the board."""
    lines = [2 * k / number - 1 for k in range(1, number)]
    return str(sum(x >= line for x in row for line in lines) % classes + 1)


def additive(x: Row) -> float:
    return math.sin(2 * math.pi * x[0]) + 4 * (x[1] - 0.5) ** 2 + x[2] + abs(2 * x[3] - 1)


def single_index(x: Row, relevant: int) -> float:
    weights = [1 / math.sqrt(relevant)] * relevant
    return math.sin(math.pi * sum(w * v for w, v in zip(weights, x, strict=False)))


def ridge_sum(x: Row, directions: NDArray) -> float:
    total = 0.0
    for k, direction in enumerate(directions):
        t = sum(w * v for w, v in zip(direction, x, strict=True))
        total += [math.sin(math.pi * t), 2 * abs(t), 1 / (1 + math.exp(-8 * t))][k % 3]
    return total


def radial(x: Row, relevant: int) -> float:
    return math.cos(math.pi * math.dist(x[:relevant], [0.0] * relevant))


def jump(x: Row, relevant: int) -> float:
    return 1.0 if sum(x[:relevant]) > 0 else 0.0


def friedman1(x: Row) -> float:
    waves = 10 * math.sin(math.pi * x[0] * x[1])
    return waves + 20 * (x[2] - 0.5) ** 2 + 10 * x[3] + 5 * x[4]


def friedman2(x: Row) -> float:
    return math.sqrt(x[0] ** 2 + (x[1] * x[2] - 1 / (x[1] * x[3])) ** 2)


def friedman3(x: Row) -> float:
    return math.atan((x[1] * x[2] - 1 / (x[1] * x[3])) / x[0])


def cumulative_hazards(name: str, x: Row, t: float) -> list[float]:
    """The cumulative hazard of each cause by one time, of a problem with its defaults."""
    along = {q: sum(x[:q]) / math.sqrt(q) for q in (4, 5)}
    if name == "proportional_hazards":
        return [t**1.5 * math.exp(2 * along[5])]
    if name == "hazard_jump":
        return [t**1.5 * (math.exp(2) if x[0] + x[1] > 0 else 1)]
    if name == "hazard_interaction":
        return [t**1.5 * math.exp(4 * x[0] * x[1])]
    if name == "crossing_hazards":
        return [t ** math.exp(along[5])]
    if name == "accelerated_failure":
        beyond = (math.log(t) - math.sin(math.pi * along[5])) / 0.5
        return [-math.log(math.erfc(beyond / math.sqrt(2)) / 2)]
    other = (x[0] - x[1] + x[2] - x[3]) / 2
    return [t**1.5 * math.exp(2 * direction) / 2 for direction in (along[4], other)]


def kaplan_meier(time: Row, event: list[bool], at: float) -> float:
    """The estimated share without an event by one time."""
    share = 1.0
    for t in sorted({t for t, seen in zip(time, event, strict=True) if seen and t <= at}):
        ended = sum(seen for s, seen in zip(time, event, strict=True) if s == t)
        share *= 1 - ended / sum(s >= t for s in time)
    return share
