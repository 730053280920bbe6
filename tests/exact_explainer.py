"""Shapley values by the exact explainer of the package shap, whose loops are not compiled here.

It calls them for few rows: to compile them takes longer than all the values.
"""

from __future__ import annotations

import importlib
import warnings

import numpy as np
import pandas as pd
import pytest
from numba.core.registry import CPUDispatcher

from shapley_fits import outputs

__all__ = ["by_exact_explainer", "three"]

COMPILED = ["shap.maskers._tabular", "shap.utils._masked_model", "shap.explainers._exact"]


def three(values):
    return values if values.ndim == 3 else values[:, :, np.newaxis]


def by_exact_explainer(fit, new, background, monkeypatch):
    """The values (m, P, K) of the new rows; shap sees cells as codes of their values."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap = pytest.importorskip("shap")
    for module in map(importlib.import_module, COMPILED):
        for name, value in list(vars(module).items()):
            if isinstance(value, CPUDispatcher):
                monkeypatch.setattr(module, name, value.py_func)
    both = pd.concat([new, background])
    coded = {name: pd.factorize(both[name], use_na_sentinel=False) for name in both}

    def predict(numbers):
        columns = {
            name: np.asarray(values)[numbers[:, j].astype(int)]
            for j, (name, (_, values)) in enumerate(coded.items())
        }
        return outputs(fit)(pd.DataFrame(columns))

    codes = np.column_stack([numbers for numbers, _ in coded.values()]).astype(float)
    masker = shap.maskers.Independent(codes[len(new) :], max_samples=len(background))
    return three(shap.explainers.Exact(predict, masker)(codes[: len(new)]).values)
