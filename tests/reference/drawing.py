"""How a tree draws rows that belong together, group by group and stratum by stratum."""

from __future__ import annotations

import math
from itertools import groupby

from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP
from reference.randomness import DRAWN, HALF, branched, draw_alone


def draw(stream, weights, sampling, codes):
    """The counts of units, the last time that is drawn from, and the units of the rows."""
    n = len(weights)
    unit = list(range(n)) if codes.groups is None else codes.groups.tolist()
    stratum = dict(
        zip(unit, [0] * n if codes.strata is None else codes.strata.tolist(), strict=True)
    )
    begin = sampling.later[0].begin if sampling.later else n
    positive = {u for u, weight in zip(unit, weights, strict=True) if weight > 0}
    first = sorted(positive & set(unit[:begin]))
    counts = dict.fromkeys(range(max(unit) + 1), 0)
    coins, last = branched(stream, DRAWN), math.inf
    if codes.order is not None and sampling.resample != ALL_ROWS and first:
        times = sorted(codes.order[u] for u in first)
        middle = (len(times) - 1) // 2
        place = middle + stream.below(2 * (len(times) - middle))
        last = times[min(place, len(times) - 1)]
        first = [u for u in first if codes.order[u] <= last]
    if codes.strata is None:
        parts = [first]
    else:
        parts = [
            list(part)
            for _, part in groupby(sorted(first, key=lambda u: stratum[u]), lambda u: stratum[u])
        ]
    for part in parts:
        draw_part(stream, part, sampling, counts)
    known = set(unit[:begin])
    for k, batch in enumerate(sampling.later):
        end = sampling.later[k + 1].begin if k + 1 < len(sampling.later) else n
        for u in sorted(set(unit[batch.begin : end]) - known):
            if sampling.resample != ALL_ROWS:
                counts[u] = draw_alone(coins, batch.fraction, sampling)
            else:
                counts[u] = 1
            counts[u] *= u in positive
        known |= set(unit[batch.begin : end])
    return counts, last, unit


def draw_part(stream, part, sampling, counts):
    """Draw from the units of one stratum."""
    if sampling.resample == ALL_ROWS:
        counts.update(dict.fromkeys(part, 1))
        return
    if not part:
        return
    size = max(1, round(sampling.fraction * len(part)))
    if sampling.resample == BOOTSTRAP:
        for _ in range(size):
            counts[part[stream.below(len(part))]] += 1
        return
    if sampling.fraction < 1 and len(part) > 1:
        size = min(size, len(part) - 1)
    for passed, u in enumerate(part):
        if stream.uniform() * (len(part) - passed) < size:
            counts[u], size = 1, size - 1


def counts_of_rows(stream, weights, sampling, codes):
    """How often each row is drawn, and which rows are out of bag."""
    counts, last, unit = draw(stream, weights, sampling, codes)
    drawn = [counts[u] if weight > 0 else 0 for u, weight in zip(unit, weights, strict=True)]
    if codes.order is not None:
        return drawn, [bool(time > last) for time in codes.order]
    return drawn, [counts[u] == 0 for u in unit]


def halves_of_rows(stream, weights, sampling, codes):
    """How often each row shapes a tree, and how often it fills it."""
    coins = branched(stream, HALF)
    counts, _, unit = draw(stream, weights, sampling, codes)
    begin = sampling.later[0].begin if sampling.later else len(weights)
    known = set(unit[:begin])
    drawn = [u for u in sorted(known) if counts[u]]
    later = [u for u in sorted(counts) if u not in known]
    shaping, filling = dict.fromkeys(counts, 0), dict.fromkeys(counts, 0)
    if len(drawn) == 1:
        shaping[drawn[0]] = filling[drawn[0]] = counts[drawn[0]]
    else:
        half = math.ceil(len(drawn) / 2)
        if codes.strata is None:
            stream.shuffle_front(drawn, half)
            chosen = drawn[:half]
        else:
            stratum = dict(zip(unit, codes.strata.tolist(), strict=True))
            stream.shuffle_front(drawn, len(drawn))
            chosen = sorted(drawn, key=lambda u: stratum[u])[::2]
        for u in drawn:
            (shaping if u in chosen else filling)[u] = counts[u]
    for u in later:
        (filling if coins.uniform() < 0.5 else shaping)[u] = counts[u]
    return [
        [half[u] if weight > 0 else 0 for u, weight in zip(unit, weights, strict=True)]
        for half in (shaping, filling)
    ]
