"""Losses of survival times by their definitions: one row, one time, one tied event at a time."""

from __future__ import annotations

from math import erfc, exp, inf, log, pi, sqrt


def partial_log_likelihood(time, event, start, weights, scores):
    """Cox's log partial likelihood with Efron's ties, over the rows of positive weight."""
    rows = [i for i in range(len(time)) if weights[i] > 0]
    total = 0.0
    for t in sorted({time[i] for i in rows if event[i]}):
        dead = [i for i in rows if event[i] and time[i] == t]
        at_risk = [i for i in rows if start[i] < t <= time[i]]
        all_risk = sum(weights[i] * exp(scores[i]) for i in at_risk)
        dead_risk = sum(weights[i] * exp(scores[i]) for i in dead)
        d = len(dead)
        mean = sum(weights[i] for i in dead) / d
        total += sum(weights[i] * scores[i] for i in dead)
        total -= mean * sum(log(all_risk - dead_risk * tied / d) for tied in range(d))
    return total


def breslow(time, event, start, weights, scores):
    """Event times, and the cumulative baseline hazard of a score of 0 at each."""
    rows = [i for i in range(len(time)) if weights[i] > 0]
    times = sorted({time[i] for i in rows if event[i]})
    hazard, hazards = 0.0, []
    for t in times:
        dead = sum(weights[i] for i in rows if event[i] and time[i] == t)
        hazard += dead / sum(weights[i] * exp(scores[i]) for i in rows if start[i] < t <= time[i])
        hazards.append(hazard)
    return times, hazards


def over_rows(first, last, values, n_times):
    """The sum over the rows at risk, those with first ≤ r < last, for each time r."""
    rows = range(len(values))
    return [sum(values[i] for i in rows if first[i] <= r < last[i]) for r in range(n_times)]


def over_times(first, last, event, values, own):
    """The sum over the times of each row; `own` at the last one if there the row has an event."""
    return [
        sum(own[r] if e and r == b - 1 else values[r] for r in range(a, b))
        for a, b, e in zip(first, last, event, strict=True)
    ]


def density(law, z):
    """The density of the error at z."""
    if law == "lognormal":
        return exp(-(z**2) / 2) / sqrt(2 * pi)
    if law == "loglogistic":
        return exp(-z) / (1 + exp(-z)) ** 2
    return exp(z) * exp(-exp(z))


def survival(law, z):
    """The probability of a larger error than z."""
    if z == -inf:
        return 1.0
    if law == "lognormal":
        return erfc(z / sqrt(2)) / 2
    if law == "loglogistic":
        return 1 / (1 + exp(z))
    return exp(-exp(z))


def failure_time_loss(law, time, event, start, score, scale):
    """Minus the log-likelihood of one row."""
    z = (log(time) - score) / scale
    likelihood = density(law, z) / (scale * time) if event else survival(law, z)
    entry = -inf if start == 0 else (log(start) - score) / scale
    return -log(likelihood / survival(law, entry))
