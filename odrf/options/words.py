"""The types of options: words, numbers, functions of n, and what concerns the data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from numpy.typing import ArrayLike

from odrf.projections.base import Family

# Options that are words.
Auto = Literal["auto"]
Leaves = Literal["constant", "linear", "auto"]
Objective = Literal["error", "brier", "log_loss"]
Pruning = Literal["weakest_link", "growth"]
Criterion = Literal[
    "auto", "squared_error", "gini", "entropy", "ordinal", "log_rank", "gray", "exponential"
]
SplitScale = Literal["auto", "response", "log", "box_cox", "normal", "ranks"]
Penalty = Literal["aic", "bic"] | None
SplitSearch = Literal["auto", "exact"]
Resample = Literal["auto", "none", "bootstrap", "subsample"]
Missing = Literal["split", "surrogate", "median", "drop", "raise"]
Unseen = Literal["missing", "raise"]
Kind = Literal["auto", "regression", "classification"]
BackendName = Literal["auto", "threads", "dask", "joblib"]

# Options that are numbers, words, or functions of n.
Switch = bool | Auto
Number = int | Auto
SubsetSize = int | Literal["random"]
Thresholds = int | Literal["auto", "all"]
FunctionOfRows = Callable[[int], float]
LeafRule = int | Literal["sqrt", "n/log5"] | FunctionOfRows | None
AlphaRule = (
    float | Literal["auto", "cv", "1se", "oob", "log6/n", "1/sqrt(n)"] | FunctionOfRows | None
)
ShareRule = float | Auto | FunctionOfRows
Projection = str | Family | Callable[..., Any] | Mapping[str | Family, float]

# Options that concern the data.
OfRows = str | ArrayLike | None
ClassWeights = Literal["balanced"] | Mapping[Any, float] | None

# Options of boosted trees, guided forests and stacks.
LossName = Literal[
    "auto", "squared_error", "absolute", "huber", "poisson", "logistic", "multinomial", "ordinal",
    "cox", "lognormal", "loglogistic", "weibull",
]  # fmt: skip
LeafValues = Literal["newton", "refit"]
Validation = float | Literal["auto", "oob"] | None
ValidationRows = Validation | ArrayLike
Subspace = int | Literal["sqrt", "log2", "half", "all"]
Origin = Literal["data", "region"]
DeviceName = Literal["cpu", "cuda"]
Budget = float | Literal["default"]
