"""Survival by lifelines and scikit-survival: from the root of the project,

python tests/independent/survival_anchors.py

Both packages must be installed.  The script draws the rows, which ``survival.R`` reads, too.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from lifelines import AalenJohansenFitter, KaplanMeierFitter, NelsonAalenFitter
from lifelines.statistics import multivariate_logrank_test
from lifelines.utils import restricted_mean_survival_time
from sksurv import metrics
from sksurv.nonparametric import CensoringDistributionEstimator
from sksurv.util import Surv

HERE = Path(__file__).parent
N, TRAINING = 150, 80
# between the times of the rows
AT = np.array([0.55, 1.05, 1.55, 2.05])


def drawn():
    """Times of two causes with ties, also of events and censoring; entry between these times."""
    rng = np.random.default_rng(45)
    score = np.round(rng.normal(size=N), 1)
    group = rng.integers(0, 3, N)
    first = rng.exponential(2 * np.exp(-0.8 * score - 0.3 * group))
    second = rng.exponential(4.0, N)
    censored = rng.uniform(0.2, 4, N)
    time = np.ceil(10 * np.minimum(np.minimum(first, second), censored)) / 10
    event = np.where(censored < np.minimum(first, second), 0, np.where(first < second, 1, 2))
    start = np.maximum(np.floor(10 * time * rng.uniform(0, 0.9, N)) - 0.5, 0) / 10
    weights = np.round(rng.uniform(0.5, 2, N), 2)
    copies = rng.integers(1, 4, N)
    stratum = rng.integers(0, 2, N)
    # at time t the probability of an event of any cause, and a share of it for the first one
    risk = 1 - np.exp(-0.4 * AT * np.exp(0.5 * score[:, None]))
    columns = {f"risk{m}": np.round(risk[:, m], 4) for m in range(len(AT))}
    return pd.DataFrame(
        {
            "time": time, "event": event, "start": start, "weights": weights, "copies": copies,
            "group": group, "stratum": stratum, "score": score, **columns,
        }
    )  # fmt: skip


def curves(rows):
    """Curves at the times of events, with variances and limits."""
    found = []

    def save(what, times, values):
        found.extend((what, t, v) for t, v in zip(times, values, strict=True))

    # numbers of copies: for its variances it rounds weights at risk down
    entries = {"plain": {}, "weighted": {"weights": rows["copies"]}}
    entries["late"] = entries["weighted"] | {"entry": rows["start"]}
    for name, options in entries.items():
        times = np.unique(rows["time"][rows["event"] > 0])
        km = KaplanMeierFitter().fit(rows["time"], rows["event"] > 0, **options)
        save(f"survival {name}", times, km.survival_function_at_times(times))
        limits = km.confidence_interval_.loc[times]
        save(f"low {name}", times, limits.iloc[:, 0])
        save(f"high {name}", times, limits.iloc[:, 1])
        na = NelsonAalenFitter(nelson_aalen_smoothing=False).fit(
            rows["time"], rows["event"] > 0, **options
        )
        save(f"hazard {name}", times, na.cumulative_hazard_at_times(times))
        # no ties: it would break them at random
        distinct = rows["time"] + 1e-4 * np.arange(N)
        for cause in (1, 2):
            aj = AalenJohansenFitter().fit(
                distinct, rows["event"], event_of_interest=cause, **options
            )
            at = distinct[rows["event"] == cause].sort_values()
            save(f"incidence of {cause} {name}", at, aj.cumulative_density_.loc[at].iloc[:, 0])
            save(f"variance of {cause} {name}", at, aj.variance_.loc[at])
    km = KaplanMeierFitter().fit(rows["time"], rows["event"] > 0)
    save("restricted mean", AT, [restricted_mean_survival_time(km, t) for t in AT])
    return found


def measures(rows):
    """Measures of predictions.

    scikit-survival weights an event at T by 1/G(T), where rows censored at T have left.  Here, and
    in our package, they leave after T: therefore these are a little later.
    """
    found = []

    def save(what, values, at=AT):
        values = np.broadcast_to(np.asarray(values), (len(at),))
        found.extend((what, t, v) for t, v in zip(at, values, strict=True))

    happened = (rows["event"] > 0).to_numpy()
    response = Surv.from_arrays(happened, rows["time"])
    later = Surv.from_arrays(happened, rows["time"] + np.where(happened, 0, 1e-6))
    score = rows["score"].to_numpy()
    risk = rows[[f"risk{m}" for m in range(len(AT))]].to_numpy()
    share, in_order, not_in_order, tied, _ = metrics.concordance_index_censored(
        happened, rows["time"], score, tied_tol=0
    )
    for name, value in {
        "harrell": share, "in order": in_order, "not in order": not_in_order, "tied": tied
    }.items():  # fmt: skip
        save(name, value, [np.inf])
    train, test = slice(0, TRAINING), slice(TRAINING, None)
    for name, training, evaluated in (("", slice(None), slice(None)), (" new", train, test)):
        save(
            f"uno{name}",
            [
                metrics.concordance_index_ipcw(
                    later[training], later[evaluated], score[evaluated], t, 0
                )[0]
                for t in AT
            ],
        )
        given = (later[training], later[evaluated])
        save(f"brier{name}", metrics.brier_score(*given, 1 - risk[evaluated], AT)[1])
        integral = metrics.integrated_brier_score(*given, 1 - risk[evaluated], AT)
        save(f"integrated brier{name}", integral, [np.inf])
        areas, mean = metrics.cumulative_dynamic_auc(*given, risk[evaluated], AT)
        save(f"area{name}", areas)
        save(f"mean area{name}", mean, [np.inf])
    censoring = CensoringDistributionEstimator().fit(response)
    save("censoring", censoring.predict_proba(AT))
    for name, options in {"": {}, " weighted": {"weights": rows["copies"]}}.items():
        test = multivariate_logrank_test(rows["time"], rows["group"], happened, **options)
        save(f"log-rank{name}", test.test_statistic, [np.inf])
    return found


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    drawn().to_csv(HERE / "survival_rows.csv", index=False)
    rows = pd.read_csv(HERE / "survival_rows.csv")
    table = pd.DataFrame(curves(rows) + measures(rows), columns=["what", "at", "value"])
    table.to_csv(HERE / "survival_python.csv", index=False)
