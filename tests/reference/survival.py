"""Survival by the formulas: one time, one pair of rows at a time.

Weights may be complex, so that derivatives by them are exact: see `influence`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEP = 1e-30
Chance = Callable[[Any, float, bool], Any]


class Rows(NamedTuple):
    """Times, causes (0: censored), weights and entries of rows, in lists."""

    time: list[float]
    event: list[int]
    weights: list[Any]
    start: list[float]

    @property
    def numbers(self) -> range:
        return range(len(self.time))

    def present(self, i: int, t: float) -> bool:
        return self.start[i] < t <= self.time[i]

    def event_times(self) -> list[float]:
        """Distinct times of events of rows that count."""
        return sorted({
            self.time[i] for i in self.numbers if self.event[i] and self.weights[i].real > 0
        })  # fmt: skip

    def at_risk(self, t: float) -> Any:
        return sum(self.weights[i] for i in self.numbers if self.present(i, t))

    def events(self, t: float, causes: tuple[int, ...] = (1, 2)) -> Any:
        return sum(
            self.weights[i]
            for i in self.numbers
            if self.time[i] == t and self.event[i] in causes
        )  # fmt: skip

    def of(self, causes: tuple[int, ...]) -> Rows:
        """The same rows, other causes being censored."""
        return self._replace(event=[int(e in causes) for e in self.event])


def influence(function: Callable[[Rows], Any], rows: Rows) -> list[float]:
    """Each weight times the derivative by it, of a function of weights that is a quotient."""
    found = []
    for k in rows.numbers:
        if rows.weights[k] == 0:
            found.append(0.0)
            continue
        moved = [w + (1j * STEP if i == k else 0) for i, w in enumerate(rows.weights)]
        value = complex(function(rows._replace(weights=moved)))
        found.append(float(rows.weights[k].real) * value.imag / STEP)
    return found


def survival(rows: Rows, t: float) -> Any:
    product: Any = 1.0
    for u in rows.event_times():
        if u <= t:
            product *= 1 - rows.events(u) / rows.at_risk(u)
    return product


def cumulative_hazard(rows: Rows, t: float) -> Any:
    return sum(rows.events(u) / rows.at_risk(u) for u in rows.event_times() if u <= t)


def greenwood(rows: Rows, t: float) -> float:
    """Without a variance once nobody survives."""
    if survival(rows, t) == 0:
        return float("nan")
    parts = 0.0
    for u in rows.event_times():
        if u <= t:
            n, d = rows.at_risk(u), rows.events(u)
            parts += d / (n * (n - d))
    return survival(rows, t) ** 2 * parts


def observed(rows: Rows, t: float, at_it: bool) -> Any:
    """The probability not to be censored before t, or also at t; events come first."""
    product: Any = 1.0
    lost = {rows.time[i] for i in rows.numbers if not rows.event[i] and rows.weights[i].real > 0}
    for u in sorted(lost):
        if u < t or (at_it and u == t):
            leaving, staying = 0.0, 0.0
            for i in rows.numbers:
                if rows.start[i] < u and rows.time[i] == u and not rows.event[i]:
                    leaving += rows.weights[i]
                elif rows.start[i] < u < rows.time[i]:
                    staying += rows.weights[i]
            product *= staying / (leaving + staying)
    return product


def stays_at_risk(rows: Rows, i: int, t: float, cause: int, everybody: Rows) -> Any:
    """How much of a row is at risk of one cause: after an event of another one, if uncensored.

    `everybody` tells when rows are censored.
    """
    if rows.time[i] >= t:
        return 1.0
    if rows.event[i] in (0, cause):
        return 0.0
    return observed(everybody, t, False) / observed(everybody, rows.time[i], False)


def subdistribution_scores(rows: Rows, cause: int, everybody: Rows) -> list[float]:
    """Of one cause: its event, less what the row is expected to have while it is at risk."""
    scores = [float(event == cause) for event in rows.event]
    for t in rows.of((cause,)).event_times():
        present = [stays_at_risk(rows, i, t, cause, everybody) for i in rows.numbers]
        step = rows.events(t, (cause,)) / sum(
            w * y for w, y in zip(rows.weights, present, strict=True)
        )
        scores = [score - step * y for score, y in zip(scores, present, strict=True)]
    return scores


def subdistribution_log_rank(
    rows: Rows, on_left: list[bool], cause: int, everybody: Rows
) -> tuple[float, float]:
    """Of one cause: observed minus expected events on the left, and their variance."""
    difference, variance = 0.0, 0.0
    for t in rows.of((cause,)).event_times():
        at_risk = [
            rows.weights[i] * stays_at_risk(rows, i, t, cause, everybody) for i in rows.numbers
        ]
        n, d = sum(at_risk), rows.events(t, (cause,))
        share = sum(w for w, left in zip(at_risk, on_left, strict=True) if left) / n
        difference += (
            sum(
                rows.weights[i] * on_left[i]
                for i in rows.numbers
                if rows.time[i] == t and rows.event[i] == cause
            )
            - d * share
        )
        if n > 1:
            variance += d * (n - d) / (n - 1) * share * (1 - share)
    return difference, variance


def seen(rows: Rows, t: float, at_it: bool) -> Any:
    """The rows under observation at t, or from t on, for each that survives; 0 if none does."""
    present = 0.0
    for i in rows.numbers:
        inside = rows.start[i] <= t < rows.time[i] if at_it else rows.present(i, t)
        present += rows.weights[i] * inside
    alive = survival(rows, t) if at_it else survival(rows, float(np.nextafter(t, -np.inf)))
    return present / alive / sum(rows.weights) if alive != 0 else 0.0


def inverse(p: Any) -> Any:
    return 1 / p if p != 0 else 0.0


def concordance(
    rows: Rows,
    score: list[float],
    weight_of_pair: Callable[[int, int], Any] = lambda i, j: 1.0,
    cause: int | None = None,
) -> tuple[Any, Any, Any]:
    """In order, tied and compared pairs of a row with an event and one still at risk.

    With a cause, rows that had an event of another one before are compared, too.
    """
    in_order, tied, compared = 0.0, 0.0, 0.0
    for i in rows.numbers:
        if not (rows.event[i] if cause is None else rows.event[i] == cause):
            continue
        for j in rows.numbers:
            t = rows.time[i]
            later = rows.time[j] > t or (rows.time[j] == t and rows.event[j] == 0)
            spared = cause is not None and rows.event[j] not in (0, cause) and rows.time[j] <= t
            if rows.start[j] < t and (later or spared):
                weight = rows.weights[i] * rows.weights[j] * weight_of_pair(i, j)
                compared += weight
                tied += weight * (score[i] == score[j])
                in_order += weight * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
    return in_order, tied, compared


def unos(
    rows: Rows, score: list[float], tau: float, curve: Rows | None, chance: Chance = observed
) -> Any:
    """Uno's C, weighted by the curve of given rows or of these."""

    def weight(i: int, j: int) -> Any:
        G = chance(rows if curve is None else curve, rows.time[i], False)
        return inverse(G) ** 2 * (rows.time[i] < tau)

    in_order, _, compared = concordance(rows, score, weight)
    return in_order / compared if compared.real > 0 else np.nan


def wolbers(
    rows: Rows, score: list[float], tau: float, curve: Rows | None, chance: Chance = observed
) -> Any:
    """C of cause 1."""

    def weight(i: int, j: int) -> Any:
        known = rows if curve is None else curve
        spared = rows.event[j] == 2 and rows.time[j] <= rows.time[i]
        first = inverse(chance(known, rows.time[i], False))
        second = inverse(chance(known, rows.time[j], False)) if spared else first
        return first * second * (rows.time[i] < tau)

    in_order, _, compared = concordance(rows, score, weight, 1)
    return in_order / compared if compared.real > 0 else np.nan


def brier(
    rows: Rows,
    risk: list[float],
    t: float,
    causes: tuple[int, ...],
    curve: Rows | None,
    chance: Chance = observed,
) -> Any:
    known = rows if curve is None else curve
    if chance(known, t, True) == 0 and (chance is observed or survival(known, t) != 0):
        return np.nan
    total = 0.0
    for i in rows.numbers:
        if rows.time[i] > t:
            loss = risk[i] ** 2 * inverse(chance(known, t, True)) * (rows.start[i] <= t)
        elif rows.event[i]:
            loss = (risk[i] - (rows.event[i] in causes)) ** 2
            loss *= inverse(chance(known, rows.time[i], False))
        else:
            loss = 0.0
        total += rows.weights[i] * loss
    return total / sum(rows.weights)


def incidence(rows: Rows, causes: tuple[int, ...], t: float) -> Any:
    """The probability of an event of one of the causes by t."""
    total: Any = 0.0
    before: Any = 1.0
    for u in rows.event_times():
        if u <= t:
            n = rows.at_risk(u)
            total += before * rows.events(u, causes) / n
            before *= 1 - rows.events(u) / n
    return total


def variance_of_incidence(rows: Rows, causes: tuple[int, ...], t: float) -> float:
    """By the delta method, term by term."""
    total, before = 0.0, 1.0
    for u in rows.event_times():
        if u <= t:
            n, d, own = rows.at_risk(u), rows.events(u), rows.events(u, causes)
            rest = incidence(rows, causes, t) - incidence(rows, causes, u)
            if n - d > 1e-12:
                total += rest**2 * d / (n * (n - d))
            total += before**2 * own * (n - own) / n**3 - 2 * rest * before * own / n**2
            before *= 1 - d / n
    return total


def restricted_mean(rows: Rows, horizon: float) -> Any:
    ends = [0.0, *(t for t in rows.event_times() if t < horizon), horizon]
    return sum(survival(rows, a) * (b - a) for a, b in pairwise(ends))


def log_rank(rows: Rows, group: list[float], stratum: list[int]) -> tuple[Any, Any]:
    """Observed minus expected events of each group, and the covariance."""
    levels = sorted(set(group))
    difference, covariance = np.zeros(len(levels)), np.zeros((len(levels), len(levels)))
    for h in sorted(set(stratum)):
        inside = [i for i in rows.numbers if stratum[i] == h]
        part = Rows(*([column[i] for i in inside] for column in rows))
        of = {
            g: Rows(*([column[i] for i in inside if group[i] == g] for column in rows))
            for g in levels
        }
        for t in part.event_times():
            n, d = part.at_risk(t), part.events(t)
            for k, g in enumerate(levels):
                difference[k] += of[g].events(t) - d * of[g].at_risk(t) / n
                for m, other in enumerate(levels):
                    if n > 1:
                        share, second = of[g].at_risk(t) / n, of[other].at_risk(t) / n
                        covariance[k, m] += (
                            d * (n - d) / (n - 1) * share * ((k == m) - second)
                        )  # fmt: skip
    return difference, covariance


def statistic(difference: NDArray, covariance: NDArray) -> float:
    """Nearly χ² if groups do not differ."""
    return float(difference @ np.linalg.pinv(covariance, rcond=1e-9) @ difference)


def area(
    rows: Rows,
    score: list[float],
    t: float,
    causes: tuple[int, ...],
    curve: Rows | None,
    chance: Chance = observed,
) -> Any:
    """The area under the ROC curve at t, pair by pair."""
    known = rows if curve is None else curve

    def weight(i: int) -> Any:
        if rows.time[i] > t:
            return rows.weights[i] * inverse(chance(known, t, True)) * (rows.start[i] <= t)
        if rows.event[i]:
            return rows.weights[i] * inverse(chance(known, rows.time[i], False))
        return 0.0

    total, above = 0.0, 0.0
    for i in rows.numbers:
        for j in rows.numbers:
            case = rows.time[i] <= t and rows.event[i] in causes
            control = rows.time[j] > t or rows.event[j] not in (0, *causes)
            if case and control:
                pair = weight(i) * weight(j)
                total += pair
                above += pair * ((score[i] > score[j]) + (score[i] == score[j]) / 2)
    return above / total if complex(total).real > 0 else np.nan


def mean_area(
    rows: Rows,
    score: list[float],
    at: list[float],
    causes: tuple[int, ...],
    chance: Chance = observed,
) -> Any:
    last = incidence(rows, causes, at[-1])
    if complex(last).real == 0:
        return np.nan
    total, before = 0.0, 0.0
    for t in at:
        now = incidence(rows, causes, t)
        if complex(now).real != complex(before).real:
            total += area(rows, score, t, causes, None, chance) * (now - before)
        before = now
    return total / last


def pseudo_value(function: Callable[[Rows], Any], rows: Rows, k: int) -> Any:
    """By leaving out row k."""
    n = len(rows.time)
    others = Rows(*([value for i, value in enumerate(column) if i != k] for column in rows))
    return n * function(rows) - (n - 1) * function(others)


def grays_test(
    rows: Rows, group: list[float], cause: int, levels: list[float]
) -> tuple[NDArray, NDArray]:
    """Scores of the groups and their covariance, time by time; Gray (1988)."""
    K = len(levels)
    of = [
        Rows(*([c[i] for i in rows.numbers if group[i] == g] for c in rows)) for g in levels
    ]  # fmt: skip
    times = rows.event_times()
    h = np.zeros((len(times), K))
    a, c = np.zeros((2, len(times), K, K))
    score, F, grown = np.zeros(K), [0.0], np.zeros((K, K))
    before = np.ones((len(times), K))
    for m, u in enumerate(times):
        q = np.zeros(K)
        for k in range(K):
            before[m, k] = survival(of[k], np.nextafter(u, 0))
            # rows that enter after the estimate has come to 0 stand for nobody
            if of[k].at_risk(u) > 0 and before[m, k] > 0:
                h[m, k] = of[k].at_risk(u) / before[m, k]
                q[k] = h[m, k] * (1 - incidence(of[k], (cause,), np.nextafter(u, 0)))
        counted = [k for k in range(K) if before[m, k] > 0]
        d, H = sum(of[k].events(u, (cause,)) for k in counted), h[m].sum()
        step = d / H if H > 0 else 0.0
        for i in range(K):
            if q.sum() > 0:
                own = of[i].events(u, (cause,)) if i in counted else 0.0
                score[i] += own - d * q[i] / q.sum()
            for k in range(K):
                a[m, i, k] = h[m, i] * ((i == k) - (h[m, k] / H if H > 0 else 0.0))
        if F[-1] < 1 - 1e-12:
            grown += a[m] * step / (1 - F[-1])
        c[m] = grown
        F.append(F[-1] + step)
    covariance = np.zeros((K, K))
    for m, u in enumerate(times):
        counted = [k for k in range(K) if before[m, k] > 0]
        d, H = sum(of[k].events(u, (cause,)) for k in counted), h[m].sum()
        for k in range(K):
            n = of[k].at_risk(u)
            if n <= 0 or k not in counted:
                continue
            S, after = before[m, k], survival(of[k], u)
            D = grown[:, k] - c[m, :, k]
            left = (1 - F[m + 1]) / after if after > 0 else 0.0
            ties = 1 - (d - 1) / (H * S - 1) if d > 1 else 1.0
            one = a[m, :, k] + (1 - left) * D
            covariance += np.outer(one, one) * ties * S * d / (H * n)
            other = of[k].events(u) - of[k].events(u, (cause,))
            ties = 1 - (other - 1) / (n - 1) if other > 1 else 1.0
            if after > 0:
                covariance += np.outer(left * D, left * D) * ties * S**2 * other / n**2
    return score, covariance
