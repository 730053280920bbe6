"""A case: what one seed stands for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from cases.columns import choice
from cases.formulas import random_formula
from cases.options import FUNCTIONS, SURVIVAL_FUNCTIONS, random_options
from cases.tables import (
    oddly_labelled,
    random_columns,
    random_new_rows,
    random_response,
    random_weights,
)
from cases.times import random_times
from odrf.design.formula import quoted

__all__ = ["KINDS", "Case", "random_case"]

# Usual tables; tables at the limits; the same with arguments of any type and size; survival
# times in all three.
KINDS = ("moderate", "extreme", "hostile", "survival")
RESPONSE = "what is predicted"


@dataclass(frozen=True)
class Case:
    """A call of a function that fits, and rows to predict afterwards."""

    seed: int
    kind: str
    function: str
    formula: str
    data: pd.DataFrame = field(repr=False)
    new: pd.DataFrame = field(repr=False)
    options: dict[str, Any]

    @property
    def hostile(self) -> bool:
        """Whether arguments may be of any type."""
        return self.kind == "hostile" or (self.kind == "survival" and self.seed % 5 == 0)

    def fit(self) -> Any:
        """Call the function."""
        return FUNCTIONS[self.function](self.formula, self.data, **self.options)


def random_case(seed: int, kind: str) -> Case:
    """Return the case of a seed, of one of the kinds."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    of_times = kind == "survival"
    extreme = kind == "extreme" or (kind in ("hostile", "survival") and rng.random() < 0.3)
    data = random_columns(rng, extreme)
    new = random_new_rows(rng, data)
    formula = random_formula(rng, RESPONSE, list(data.columns), extreme)
    weights = random_weights(rng, len(data), extreme)
    if of_times:
        response, data = random_times(rng, data, extreme)
        formula = formula.replace(quoted(RESPONSE), response)
    else:
        data[RESPONSE] = random_response(rng, len(data), extreme)
    if rng.random() < 0.3:
        data.index = pd.Index([f"row {k}" for k in range(len(data))])
    function = choice(rng, SURVIVAL_FUNCTIONS if of_times else list(FUNCTIONS))
    hostile = (kind == "hostile" and rng.random() < 0.5) or (of_times and rng.random() < 0.1)
    options = random_options(rng, function, len(data), hostile, of_times)
    if data.isna().to_numpy().any() and rng.random() < 0.5:
        options["missing"] = "drop"
    if (
        options.get("class_weights") is not None
        and not of_times
        and data[RESPONSE].dtype == np.float64
    ):
        del options["class_weights"]
    if weights is not None and "weights" not in options:
        options["weights"] = weights
    if extreme and rng.random() < 0.05:
        data = oddly_labelled(rng, data)
    return Case(seed, kind, function, formula, data, new, {"seed": seed, "n_jobs": 1, **options})
