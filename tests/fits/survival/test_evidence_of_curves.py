"""What blends of survival trees are chosen by, against its definition, row by row."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from competing_rows import competing_rows
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.numeric import streams
from odrf.engine.resamples import SUBSAMPLE, Sampling
from odrf.engine.survival.curves import incidence_of_trees, leaf_curves, survival_of_trees
from odrf.fits.blending import JUDGED, EvidenceOfCurves
from reference.survival import inverse, observed
from survival_rows import grown_survival_trees

B = 3


def weight_at(twin, i, t):
    """The inverse probability that the state of row i at t is seen; 0 if it is not."""
    if twin.time[i] > t:
        return inverse(observed(twin, t, True))
    return inverse(observed(twin, twin.time[i], False)) if twin.event[i] else 0.0


@settings(max_examples=30, deadline=None)
@given(rows=competing_rows(), seed=st.integers(0, 99), about=st.sampled_from(["all", "a", "one"]))
def test_errors_are_those_of_different_trees_out_of_bag(rows, seed, about):
    """Of incidences of all causes or of one; or of survival, if there is one cause."""
    table, sampling = rows.table._replace(start=None), Sampling(SUBSAMPLE, 0.6)
    names = ("event",) if about == "one" else tuple("abc"[: rows.n_causes])
    cause = table.event.astype(np.int64) if about == "one" else rows.cause
    times = SurvivalTimes(table.time, cause, None, names)
    X, forest, draws = grown_survival_trees(table, seed, sampling, B)
    judge = EvidenceOfCurves(times, table.weights, "a" if about == "a" else None)
    found = judge(
        [[forest.tree(b) for b in range(B)]], X, np.zeros(len(cause)), np.ones(len(cause)),
        [sampling], streams(seed, 0, B), 1,
    )  # fmt: skip
    at = np.unique(np.quantile(table.time[table.event], JUDGED, method="lower"))
    grid = np.searchsorted(table.event_times, at, side="right")
    curves, n = leaf_curves(forest, X, times.ranks, draws), len(cause)
    judged = {"all": range(rows.n_causes), "a": [0], "one": [None]}[about]
    twin = table.twin(np.arange(n))
    unseen = draws.all_unseen()
    total = pairs = 0.0
    for k in judged:
        of_trees = forest, curves, X, grid
        if k is None:
            values, states = survival_of_trees(*of_trees, slice(0, n)), table.time[:, None] > at
        else:
            values = incidence_of_trees(*of_trees, k, slice(0, n))
            states = (table.time[:, None] <= at) & (cause[:, None] == 1 + k)
        for i, case in enumerate(table.weights):
            weights = np.array([weight_at(twin, i, t) for t in at])
            for one, other in permutations(np.flatnonzero(unseen[:, i]), 2):
                errors = (values[one, i] - states[i]) * (values[other, i] - states[i])
                total += case * float(weights @ errors)
                pairs += case / len(judged)
    assert found.errors[0] == pytest.approx(total / pairs if pairs else 0.0, abs=1e-10)
