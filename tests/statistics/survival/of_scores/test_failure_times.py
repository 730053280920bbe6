"""Curves of accelerated failure times against SciPy's laws and numerical integrals."""

from __future__ import annotations

import numpy as np
import pytest
import scipy

from odrf.engine.survival.likelihoods import (
    ExtremeValueError,
    LogisticError,
    NormalError,
)
from odrf.statistics.survival.score_curves import FailureTimes

LAWS = {
    "lognormal": (NormalError(), lambda f, s: scipy.stats.lognorm(s, scale=np.exp(f))),
    "loglogistic": (LogisticError(), lambda f, s: scipy.stats.fisk(1 / s, scale=np.exp(f))),
    "weibull": (ExtremeValueError(), lambda f, s: scipy.stats.weibull_min(1 / s, scale=np.exp(f))),
}
TIMES = np.array([0.0, 0.1, 0.7, 1.0, 2.0, 11.0])


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("scale", [0.2, 0.7, 1.0, 1.6])
def test_curves_are_those_of_the_law(name, scale):
    law, theirs = LAWS[name]
    curves, scores = FailureTimes(law, scale), np.array([-1.0, 0.0, 0.8])
    for i, f in enumerate(scores):
        known = theirs(f, scale)
        assert curves.survivals(scores, TIMES)[i] == pytest.approx(known.sf(TIMES), rel=1e-10)
        for p in (0.01, 0.5, 0.9):
            assert curves.time_quantiles(scores, p)[i] == pytest.approx(known.ppf(p), rel=1e-10)
        for horizon in TIMES:
            area, _ = scipy.integrate.quad(known.sf, 0, horizon, epsabs=1e-12, limit=200)
            found = curves.restricted_means(scores, horizon)[i]
            assert found == pytest.approx(area, rel=1e-7, abs=1e-12)
    assert (curves.hazards(scores, TIMES)[:, 0] == 0).all()
    assert curves.risks(scores).tolist() == (-scores).tolist()
