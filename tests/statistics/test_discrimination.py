"""Areas, precisions, net benefits and Brier parts against plain twins and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    precision_recall_curve,
    roc_auc_score,
    roc_curve,
)

from odrf.statistics.calibration import (
    brier_parts,
    calibrated_band,
    recalibrated,
    reliability_table,
)
from odrf.statistics.discrimination import (
    area_under_roc,
    average_precision,
    bootstrapped_precision,
    net_benefit,
    thresholds_table,
)


@st.composite
def evaluated(draw):
    """Probabilities with ties, events of both sorts, and weights."""
    seed, n = draw(st.integers(0, 2**32)), draw(st.integers(4, 40))
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(n), draw(st.sampled_from([1, 8])))
    event = (rng.random(n) < p).astype(float)
    event[:2] = 0.0, 1.0
    return p, event, rng.choice([1.0, 2.5], n)


def delong(p, event):
    """DeLong's variance of the area, comparing each event with each other row."""
    yes, no = p[event > 0], p[event == 0]
    wins = (yes[:, None] > no) + 0.5 * (yes[:, None] == no)
    return wins.mean(), wins.mean(axis=1).var(ddof=1) / len(yes) + wins.mean(axis=0).var(
        ddof=1
    ) / len(no)


@settings(max_examples=60)
@given(evaluated())
def test_areas_precisions_and_scores_are_those_of_scikit_learn(rows):
    p, event, w = rows
    assert area_under_roc(p, event, w, 0.95).estimate == pytest.approx(
        roc_auc_score(event, p, sample_weight=w)
    )
    assert average_precision(p, event, w) == pytest.approx(
        average_precision_score(event, p, sample_weight=w)
    )
    parts = brier_parts(p, event, w)
    assert parts.score == pytest.approx(brier_score_loss(event, p, sample_weight=w))
    assert parts.score == pytest.approx(
        parts.miscalibration - parts.discrimination + parts.uncertainty
    )
    assert parts.miscalibration >= -1e-12
    assert parts.discrimination >= -1e-12
    theirs = IsotonicRegression().fit(p, event, sample_weight=w).predict(p)
    np.testing.assert_allclose(recalibrated(p, event, w), theirs, atol=1e-12)


@settings(max_examples=60)
@given(evaluated())
def test_the_error_of_an_area_is_delongs(rows):
    p, event, _ = rows
    if event.sum() < 2 or (1 - event).sum() < 2:
        return
    area, variance = delong(p, event)
    found = area_under_roc(p, event, np.ones(len(p)), 0.9)
    assert found.estimate == pytest.approx(area)
    assert found.std_error == pytest.approx(np.sqrt(variance), abs=1e-12)
    assert 0 <= found.conf_low <= found.estimate <= found.conf_high <= 1


@settings(max_examples=30)
@given(evaluated())
def test_curves_are_those_of_scikit_learn(rows):
    p, event, w = rows
    ours = thresholds_table(p, event, w)
    false, true, _ = roc_curve(event, p, sample_weight=w, drop_intermediate=False)
    np.testing.assert_allclose(ours["sensitivity"], true[1:], atol=1e-12)
    np.testing.assert_allclose(1 - ours["specificity"], false[1:], atol=1e-12)
    precision, recall, _ = precision_recall_curve(event, p, sample_weight=w)
    np.testing.assert_allclose(ours["precision"][::-1], precision[:-1], atol=1e-12)
    np.testing.assert_allclose(ours["sensitivity"][::-1], recall[:-1], atol=1e-12)


@settings(max_examples=30)
@given(evaluated())
def test_net_benefits_are_counted(rows):
    p, event, w = rows
    found = net_benefit(p, event, w, np.array([0.1, 0.5, 0.9]))
    for _, row in found.iterrows():
        t = row["threshold"]
        gain = sum(
            weight * (1 if happened else -t / (1 - t))
            for value, happened, weight in zip(p, event, w, strict=True)
            if value >= t
        )
        assert row["benefit"] == pytest.approx(gain / w.sum())
        everyone = np.sum(w * np.where(event > 0, 1, -t / (1 - t))) / w.sum()
        assert row["all"] == pytest.approx(everyone)


@settings(max_examples=30)
@given(evaluated(), st.integers(2, 6))
def test_bins_hold_all_rows_and_their_means(rows, bins):
    p, event, w = rows
    table = reliability_table(p, event, w, bins, 0.95)
    assert table["rows"].sum() == len(p)
    assert len(table) <= bins
    assert table["predicted"].is_monotonic_increasing
    inside = (table["conf_low"] <= table["observed"]) & (table["observed"] <= table["conf_high"])
    assert inside.all()


def test_intervals_of_areas_cover():
    rng = np.random.default_rng(1)
    hits, truth = [], 0.7602  # Φ(1/√2)
    for _ in range(400):
        event = np.repeat([0.0, 1.0], 40)
        p = rng.normal(size=80) + event
        found = area_under_roc(p, event, np.ones(80), 0.9)
        hits.append(found.conf_low <= truth <= found.conf_high)
    assert 0.86 < np.mean(hits) < 0.94


def test_separated_rows_have_an_interval_that_covers():
    p, event, ones = np.arange(12.0), np.repeat([0.0, 1.0], [7, 5]), np.ones(12)
    found = area_under_roc(p, event, ones, 0.95)
    assert (found.estimate, found.conf_high) == (1, 1)
    assert found.conf_low == pytest.approx(0.025 ** (1 / 5))  # five pairs, all in order
    mirrored = area_under_roc(-p, event, ones, 0.95)
    assert (mirrored.estimate, mirrored.conf_low) == (0, 0)
    assert mirrored.conf_high == pytest.approx(1 - found.conf_low)
    precision = bootstrapped_precision(p, event, ones, 0.95, seed=1)
    assert precision.estimate == 1
    assert np.isnan([precision.conf_low, precision.conf_high]).all()


@settings(max_examples=60)
@given(evaluated())
def test_separated_rows_never_have_an_interval_without_width(rows):
    p, event, w = rows
    for sign in (1, -1):
        area = area_under_roc(sign * event + p / 10, event, w, 0.95)
        assert area.conf_high - area.conf_low > 0.01
        assert area.std_error == 0 or np.isnan(area.std_error)
    found = bootstrapped_precision(event + p / 10, event, w, 0.95, seed=1, samples=5)
    assert found.estimate == pytest.approx(1)
    assert np.isnan([found.conf_low, found.conf_high]).all()


def test_bands_hold_curves_of_calibrated_probabilities_and_not_others():
    rng = np.random.default_rng(2)
    p = rng.random(400)
    at = np.linspace(0.2, 0.8, 7)
    inside = {}
    for name, truth in {"calibrated": p, "too large": p**2}.items():
        hits = []
        for s in range(40):
            event = (rng.random(400) < truth).astype(float)
            low, high = calibrated_band(p, np.ones(400), at, 0.9, s, samples=60)
            order = np.argsort(p)
            curve = np.interp(at, p[order], recalibrated(p, event, np.ones(400))[order])
            hits.append(((low <= curve) & (curve <= high)).mean())
        inside[name] = np.mean(hits)
    assert inside["calibrated"] > 0.83
    assert inside["too large"] < 0.5


def test_bootstrapped_precision_has_the_spread_of_samples():
    rng = np.random.default_rng(3)
    event = np.repeat([0.0, 1.0], [150, 50])

    def sample():
        return rng.normal(size=200) + 1.5 * event

    found = bootstrapped_precision(sample(), event, np.ones(200), 0.95, seed=1)
    spread = np.std([average_precision(sample(), event, np.ones(200)) for _ in range(200)])
    assert found.std_error == pytest.approx(spread, rel=0.35)
    assert found.conf_low < found.estimate < found.conf_high
