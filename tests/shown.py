"""Results and reports to look at: few or many predictors, long names, ten classes."""

from __future__ import annotations

import warnings
from functools import cache, partial

import numpy as np
import pandas as pd

import odrf

__all__ = ["MANY", "SIZES", "data_with", "reports_of", "results_of", "studies_of"]

MANY = 50
SIZES = (3, MANY)
ROWS = 160
CLASSES = [f"subspecies no. {k} of the northern islands" for k in range(10)]
LEVELS = [f"administrative district {k} (with its towns)" for k in range(4)]
NUMBER = "annual household income before tax, in thousands"
FORMULAS = {"numbers": f"`{NUMBER}` ~ .", "classes": "class ~ ."}
TREES = {"n_trees": 6, "seed": 1}


@cache
def data_with(p: int, kind: str) -> pd.DataFrame:
    """A response, and `p` predictors: numbers, a factor of two levels, and one of four."""
    rng = np.random.default_rng(p)
    names = [f"mean_concentration_in_sample_{j}_of_the_river [µg/l]" for j in range(p - 2)]
    data = pd.DataFrame(rng.normal(size=(ROWS, p - 2)), columns=names)
    data["[a] 5 % & more_or_less α-blockers $"] = rng.choice(["yes", "no"], ROWS)
    data["place of residence of the respondent"] = rng.choice(LEVELS, ROWS)
    score = data.iloc[:, : min(4, p - 2)].sum(axis=1) + rng.normal(size=ROWS) / 2
    data[NUMBER] = 1e4 * score
    data["class"] = np.array(CLASSES)[score.rank(pct=True).mul(9.99).astype(int)]
    return data.drop(columns={"numbers": "class", "classes": NUMBER}[kind])


@cache
def times_with(p: int) -> pd.DataFrame:
    """The same predictors, with survival times, of which some are censored."""
    data = data_with(p, "numbers")
    times = np.exp(-data[NUMBER].rank(pct=True)) * np.random.default_rng(p).exponential(size=ROWS)
    ends = np.random.default_rng(p + 1).exponential(size=ROWS)
    return data.drop(columns=NUMBER).assign(time=np.minimum(times, ends), event=times <= ends)


@cache
def results_of(p: int) -> dict[str, object]:
    """A result of each function, for numbers and classes, on `p` predictors."""
    out: dict[str, object] = {}
    for kind, formula in FORMULAS.items():
        data = data_with(p, kind)
        out[f"tree of {kind}"] = odrf.odt(formula, data, n_singles=0, subset_size=3, seed=1)
        out[f"forest of {kind}"] = odrf.odrf(formula, data, **TREES)
        out[f"boosted {kind}"] = odrf.odbt(formula, data, n_trees=4, seed=1)
        out[f"guided {kind}"] = odrf.graf(formula, data, **TREES)
    formula, data = FORMULAS["numbers"], data_with(p, "numbers")
    out["tree with surrogates"] = odrf.odt(formula, data, missing="surrogate", seed=1)
    out["forest of times"] = odrf.odrf("Surv(time, event) ~ .", times_with(p), **TREES)
    return out


@cache
def reports_of(p: int) -> dict[str, object]:
    """Every report on these results, whose trees are few for standard errors."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* trees are few for standard errors")
        return _reports_of(p)


def _reports_of(p: int) -> dict[str, object]:
    out: dict[str, object] = {}
    results = results_of(p)
    for kind in FORMULAS:
        tree, forest = results[f"tree of {kind}"], results[f"forest of {kind}"]
        data = data_with(p, kind).drop(columns="place of residence of the respondent")
        data = data.drop(columns="[a] 5 % & more_or_less α-blockers $")
        numbers_only = odrf.odrf(FORMULAS[kind], data, **TREES)
        out |= {
            f"pruning path of {kind}": tree.pruning_path(cv=3),
            f"training path of {kind}": tree.pruning_path("growth", cv=None),
            f"forest path of {kind}": forest.pruning_path(),
            f"growth of a tree of {kind}": tree.growth_path(cv=3),
            f"growth of a forest of {kind}": forest.growth_path(along="depth"),
            f"elimination for {kind}": forest.select_variables(drop=0.5),
            f"shadows for {kind}": forest.select_variables("boruta", rounds=2),
            f"knockoffs for {kind}": numbers_only.select_variables("knockoff", fdr=0.5),
            f"strength for {kind}": forest.strength_correlation(),
            f"projections of a tree of {kind}": tree.projection_importance(),
            f"projections of a forest of {kind}": forest.projection_importance(),
            f"consistency for {kind}": forest.consistency(),
            f"Shapley values for {kind}": forest.shap(
                data_with(p, kind).head(40), background=4, max_boxes=64
            ),
            f"a tree that imitates a forest of {kind}": forest.surrogate(3, cv=3),
            f"interaction values for {kind}": forest.shap_interactions(
                data_with(p, kind).head(2), background=2
            ),
            f"proximity for {kind}": forest.proximity(),
            f"map for {kind}": forest.map(),
            f"explanation for {kind}": forest.explain(data_with(p, kind).head(1)),
            f"comparisons for {kind}": forest.comparisons(),
            f"partial dependence of {kind}": forest.partial(forest.design.schema.columns[0]),
            f"surface of {kind}": forest.partial(list(forest.design.schema.columns[:2]), points=5),
            f"accumulated effects of {kind}": tree.ale(tree.design.schema.columns[0]),
            f"interactions of {kind}": forest.interactions(
                list(forest.design.schema.columns[-3:]), rows=6, permutations=1
            ),
            f"curves of rows of {kind}": forest.ice(forest.design.schema.columns[0], rows=20),
            f"averages for {kind}": tree.predictions(by="[a] 5 % & more_or_less α-blockers $"),
            **{f"data of {name}": results[name].data_summary() for name in results if kind in name},
            f"sensitivity for {kind}": results[f"guided {kind}"].sensitivity(),
        }
    few = results["forest of numbers"].comparisons("place of residence of the respondent")
    out["hypotheses"] = few.hypotheses(joint=True)
    out["calibration"] = results["forest of classes"].calibration()
    out["discrimination"] = results["forest of classes"].discrimination()
    of_times = results["forest of times"]
    middle = float(np.median(of_times.event_times))
    out["calibration of times"] = of_times.calibration(middle, groups=5)
    out["areas along time"] = of_times.roc(middle)
    out["curves of times"] = of_times.curves(times_with(p).head(4))
    more_trees = odrf.odrf(FORMULAS["numbers"], data_with(p, "numbers"), n_trees=30, seed=1)
    out["predictive check"] = more_trees.predictive_check(level=0.8)
    out["calibrated"] = results["forest of classes"].calibrate("platt")
    out |= _of_survival(p)
    sizes = [1, 2] if p == 3 else [1, 10, p]
    out["subset sizes"] = results["forest of classes"].strength_correlation(sizes)
    return out


def _of_survival(p: int) -> dict[str, object]:
    """Numbers and bands of the curves of a survival forest."""
    data = data_with(p, "numbers").rename(columns={NUMBER: "years"})
    data = data.assign(years=np.exp(data["years"] / 1e4), died=np.arange(ROWS) % 3 > 0)
    forest = odrf.odrf("Surv(years, died) ~ .", data, n_trees=30, inference=True, seed=1)
    number = forest.estimand("rmst", time=2)
    return {
        "number of curves": number,
        "comparisons of a number of curves": number.comparisons(),
        "survival bands": forest.bands(
            data.head(6).set_axis([f"patient no. {i} of the northern islands" for i in range(6)])
        ),
    }


@cache
def studies_of(p: int) -> dict[str, object]:
    """Every study of several models."""
    formula, data = FORMULAS["numbers"], data_with(p, "numbers")
    classes = data_with(p, "classes")
    words = "an oblique tree of at most {} leaves"
    models = {words.format(k): partial(odrf.odt, max_leaves=k) for k in (2, 3, 5)}
    grid = {
        "max_leaves": [2, 4, None],
        "min_leaf": [3, 15],
        "projection": ["axis", {"logistic": 0.5, "sparse": 0.5}],
    }
    few = {"repeats": 3, "seed": 1}
    guided = results_of(p)["guided classes"]
    return {
        "comparison": odrf.compare(formula, data, models, cv=3, seed=1),
        "comparison on tables": odrf.compare(
            formula, {f"table {k}": data[k::2] for k in range(2)}, models, cv=3, seed=1
        ),
        "comparison of two fits": odrf.compare_fits(
            *(odrf.odrf(formula, data, projection=kind, **TREES) for kind in ("axis", "sparse"))
        ),
        "comparison of two fits of classes": odrf.compare_fits(
            *(
                odrf.odrf(FORMULAS["classes"], classes, resample=kind, **TREES)
                for kind in ("bootstrap", "subsample")
            )
        ),
        "tuning of one option": odrf.tune(formula, data, {"min_leaf": [1, 9, 100]}, **TREES),
        "tuning of three options": odrf.tune(formula, data[:80], grid, **TREES),
        "foresight": odrf.foresee(formula, data, **TREES),
        "foresight of rows in chunks": odrf.foresee(formula, [data], **TREES),
        "learning curve": odrf.learning_curve(formula, data, models, sizes=[40, 60, 90], **few),
        "bias and variance": odrf.bias_variance(
            models=models, problem=(formula, data), n=[40, 60], **few
        ),
        "bias and variance at one n": odrf.bias_variance(
            models=models, problem=(FORMULAS["classes"], classes), n=40, **few
        ),
        "approximation": odrf.approximation_curve(
            guided, classes, models, fractions=(0.5, 1.0), **few
        ),
    }
