"""Shapley values against shap's exact explainer, and drawn values against exact ones.

    python -m benchmarks.inference.shapley_exact --out shapley_exact.csv
    python -m benchmarks.inference.shapley_exact --quick

For each kind of fit, response, and 5, 8 and 10 predictors, two of them factors, with and without
empty cells: ``difference``, the largest from the values that the exact explainer of the package
shap gives; ``largest_value``; ``unexplained``, the largest difference between what the values of a
row add up to and its prediction minus the mean of the background.

Then values of more rows are drawn, by orders alone (``max_boxes=0``) and by boxes of little weight
(``max_boxes=48``).  ``drawn_values`` counts those of which the draws differ, ``within_3_se`` is the
share of them within three standard errors of the exact value, and ``squared_ratio`` the mean square
of their errors over that of the standard errors.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import odrf
from odrf.results.base import FittedResults
from odrf.results.boosted import ODBTResults

# By orders alone, and by boxes of little weight.
DRAWN = (0, 48)
# Standard errors below are those of draws that do not differ.
ROUNDING = 1e-7


def main() -> None:
    """Measure each kind of fit, and write a csv file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out")
    parser.add_argument("--predictors", type=int, nargs="+", default=[5, 8, 10])
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--background", type=int, default=10)
    parser.add_argument("--explained", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one seed, 10 rows explained")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.explained = 1, 10
    warnings.simplefilter("ignore")
    measured = []
    for p in options.predictors:
        for holes in (False, True):
            for kind, function in fits(options.trees).items():
                # those of shares of votes are not computed
                for response in ("y",) if kind == "guided" else ("y", "c"):
                    found = {"kind": kind, "response": response, "predictors": p, "empty": holes}
                    found |= measures(function, response, p, holes, options)
                    measured.append(found)
                    print(pd.Series(found).to_string(), "\n", flush=True)
                    if options.out:
                        pd.DataFrame(measured).to_csv(options.out, index=False)


def fits(trees: int) -> dict[str, Callable[..., Any]]:
    """Return functions of a formula, a table and a seed."""
    how: dict[str, Any] = {"n_trees": trees, "n_jobs": 1}
    return {
        "tree": lambda formula, table, seed: odrf.odt(formula, table, seed=seed),
        "forest": lambda formula, table, seed: odrf.odrf(formula, table, seed=seed, **how),
        "boosted": lambda formula, table, seed: odrf.odbt(formula, table, seed=seed, **how),
        "guided": lambda formula, table, seed: odrf.graf(
            formula, table, subspace="all", seed=seed, **how
        ),
    }


def made_up(n: int, p: int, holes: bool, seed: int) -> pd.DataFrame:
    """Return p predictors, of which two are factors, a number and three classes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(rng.normal(size=(n, p - 2)), columns=[f"x{j}" for j in range(1, p - 1)])
    table["few"] = rng.choice(["a", "b", "c"], n)
    table["many"] = rng.choice([f"level {k}" for k in range(9)], n)
    numbers = table.filter(regex="^x").to_numpy()
    y = numbers[:, 0] * numbers[:, 1] + numbers[:, 2:].sum(axis=1) / 2
    y = y + (table["few"] == "a") - (table["many"] < "level 3") + rng.normal(size=n) / 4
    if holes:
        table.loc[::7, "x1"], table.loc[1::5, "x3"], table.loc[3::11, "few"] = np.nan, np.nan, None
    return table.assign(y=y, c=np.select([y < -1, y < 1], ["low", "mid"], "top"))


def measures(
    function: Callable[..., Any], response: str, p: int, holes: bool, options: argparse.Namespace
) -> dict[str, float]:
    """Return what is measured of some fits of one kind."""
    differences, sizes, sums = [], [], []
    away, errors = [], []
    for seed in range(1, options.seeds + 1):
        table = made_up(options.rows, p, holes, seed)
        names = list(table.columns[:p])
        fit = function(f"{response} ~ {' + '.join(names)}", table, seed)
        new, background = table.head(options.explained), table.tail(options.background)
        exact = fit.shap(new, background=background)
        if exact.drawn > 0:
            raise SystemExit(f"of {p} predictors all values are exact, but here some are drawn")
        theirs = by_shap(fit, new[names].head(3), background[names])
        differences.append(np.abs(exact.values[:3] - theirs.reshape(exact.values[:3].shape)).max())
        sizes.append(np.abs(exact.values).max())
        sums.append(unexplained(exact))
        for max_boxes in DRAWN:
            drawn = fit.shap(new, background=background, max_boxes=max_boxes)
            sums.append(unexplained(drawn))
            known = drawn.std_error > ROUNDING
            away.append(np.abs(drawn.values - exact.values)[known])
            errors.append(drawn.std_error[known])
    far, error = np.concatenate(away), np.concatenate(errors)
    return {
        "difference": max(differences),
        "largest_value": max(sizes),
        "unexplained": max(sums),
        "drawn_values": len(far),
        "within_3_se": float((far <= 3 * error + 1e-12).mean()),
        "squared_ratio": float((far**2).sum() / (error**2).sum()),
    }


def by_shap(fit: FittedResults, new: pd.DataFrame, background: pd.DataFrame) -> NDArray[np.float64]:
    """Return the values of shap's exact explainer, which sees cells as codes of their values."""
    shap = import_module("shap")
    kind: Any = "response" if fit.classes is None else "prob"
    if isinstance(fit, ODBTResults):
        kind = "link"
    both = pd.concat([new, background])
    coded = {name: pd.factorize(both[name], use_na_sentinel=False) for name in both}

    def predict(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        columns = {
            name: np.asarray(values)[numbers[:, j].astype(int)]
            for j, (name, (_, values)) in enumerate(coded.items())
        }
        return fit.predict(pd.DataFrame(columns), kind).to_numpy()

    codes = np.column_stack([numbers for numbers, _ in coded.values()]).astype(float)
    masker = shap.maskers.Independent(codes[len(new) :], len(background))
    return shap.explainers.Exact(predict, masker)(codes[: len(new)], silent=True).values


def unexplained(found: Any) -> float:
    """Return by how much values and predictions differ at most."""
    added = found.values.sum(axis=1).reshape(len(found.data), -1) + found.base
    return float(np.abs(added - found.prediction).max())


if __name__ == "__main__":
    main()
