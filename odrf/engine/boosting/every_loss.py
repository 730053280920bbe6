"""All losses by the names that users type."""

from __future__ import annotations

from odrf.engine.boosting.failure_time_losses import LogLogistic, LogNormal, Weibull
from odrf.engine.boosting.losses import (
    Absolute,
    Huber,
    LogisticLoss,
    Loss,
    Multinomial,
    Ordinal,
    Poisson,
    SquaredError,
)
from odrf.engine.boosting.survival_losses import Cox

__all__ = ["LOSSES"]

LOSSES: dict[str, type[Loss]] = {
    loss.name: loss
    for loss in (
        SquaredError,
        Absolute,
        Huber,
        Poisson,
        LogisticLoss,
        Multinomial,
        Ordinal,
        Cox,
        LogNormal,
        LogLogistic,
        Weibull,
    )
}
