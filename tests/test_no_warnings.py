"""No method and no plot of any result or report warns, whatever the table is like."""

from __future__ import annotations

import inspect

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.results.forest import ODRFResults
from shown import results_of

# What the package means to say is no leak: of old names, of rows that are in every tree, and of few
# trees for standard errors.
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore:.* is an old spelling:FutureWarning"),
    pytest.mark.filterwarnings("ignore:every (tree|run) sampled:UserWarning"),
    pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning"),
    # of an old matplotlib beside a new pyparsing
    pytest.mark.filterwarnings("ignore:.* deprecated( -|,) use:DeprecationWarning"),
]

SEED = 1
# How methods are called that take long, or need more than a result has.
CALLS = {
    "growth_path": {"cv": 2},
    "pruning_path": {"cv": 2},
    "select_variables": {"rounds": 2},
    "grow": {"k": 1},
    "tree": {"i": 0},
    "ale": {"variables": "a"},
    "ice": {"variable": "a"},
    "interactions": {"rows": 5, "permutations": 1},
    "partial": {"variables": "a"},
    "approximate": {"fraction": 0.5},
}
# Methods that need another result, new rows or a file, or whose result has no rows to tell of.
OTHERS = {"combine", "update", "save", "estimate_priors", "without_data"}


def plain_table():
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"a": rng.normal(size=24), "b": rng.integers(0, 3, 24), "k": 1.0})
    data["y"] = data["a"] + rng.normal(size=24) / 4
    data["c"] = np.where(data["y"] > 0, "over", "below")
    data["few"] = rng.choice(["x", "y", "z"], 24)
    return data


def perfect(data):
    return data.assign(y=data["a"].round(), c=np.where(data["a"] > 0, "over", "below"))


TABLES = {
    "plain": ("a + b + few", lambda data: data),
    "a constant predictor": ("k", lambda data: data),
    "a perfect predictor": ("a + b", perfect),
    "large numbers": ("a + b", lambda data: data.assign(a=1e9 * data["a"], y=1e12 * data["y"])),
    "small numbers": ("a + b", lambda data: data.assign(a=1e-9 * data["a"], y=1e-12 * data["y"])),
    "six rows": ("a", lambda data: data.iloc[:6].assign(c=list("xyxyxy"))),
}
FITS = {
    "odt": {},
    "odrf": {"n_trees": 4},
    "odbt": {"n_trees": 3},
    "odbt in runs": {"n_trees": 3, "n_runs": 3},
    "graf": {"n_trees": 3},
    "stump": {"max_leaves": 1},
}
FUNCTIONS = {"odbt in runs": "odbt", "stump": "odt"}


def look_at(shown, drawn, laid_out):
    """Show a result or report in every way, or all but drawings."""
    repr(shown), shown._repr_html_()
    summary = shown.summary()
    summary.as_text(), summary.as_html(), summary.as_latex()
    draw = getattr(shown, "plot", None) or getattr(shown, "plot_image", None)
    if draw is None or not drawn:
        return
    kinds = [{"kind": "importance"}] if "kind" in inspect.signature(draw).parameters else []
    for options in ({}, *kinds):
        try:
            figure = np.ravel(draw(**options))[0].figure
            if not laid_out:
                figure.set_layout_engine("none")
            figure.draw_without_rendering()
        except InputError:
            continue
        finally:
            plt.close("all")


def call_all(result, drawn, laid_out):
    """Read every attribute and call every method; look at what is returned.

    Reports of the names that are not `drawn` are shown as text alone.
    """
    for name in sorted(dir(type(result))):
        if name.startswith("_") or name in OTHERS:
            continue
        try:
            found = getattr(result, name)
            if callable(found):
                options = CALLS.get(name, {})
                allowed = inspect.signature(found).parameters
                found = found(**{key: options[key] for key in options.keys() & allowed.keys()})
        except (InputError, TypeError) as error:
            # a method that needs an argument is not called
            assert isinstance(error, InputError) or "required" in str(error), name
            continue
        if hasattr(found, "summary"):
            look_at(found, drawn(name), laid_out)
            if hasattr(found, "table") and hasattr(found, "best") and callable(found.best):
                repr(found.best())


# The scale of a response makes no difference for classes.
SCALED = ("large numbers", "small numbers")
CASES = [(fit, table, y) for fit in ("odt", "odrf") for table in TABLES for y in "yc"]
CASES += [
    (fit, table, "y" if table in SCALED else "c") for fit in ("odbt", "graf") for table in TABLES
]
CASES += [(fit, table, "y") for fit in FITS for table in ("plain", "a constant predictor")]
CASES = [
    (fit, table, y) for fit, table, y in dict.fromkeys(CASES) if y == "y" or table not in SCALED
]


@pytest.mark.parametrize("fit, table, response", CASES)
def test_methods_of_results(fit, table, response):
    predictors, change = TABLES[table]
    function = getattr(odrf, FUNCTIONS.get(fit, fit))
    result = function(f"{response} ~ {predictors}", change(plain_table()), seed=SEED, **FITS[fit])
    # half of the time is that of the layout, which depends on texts alone
    laid_out = fit == "odrf" and table == "plain" and response == "y"

    def drawn(name):
        # Drawings take most of the time. The code that draws a report is the same whatever fit it
        # is of: those that a forest has as well are drawn of forests alone, and on two tables of
        # trees, which have no standard errors. `test_legible` draws those of plain classes.
        if not hasattr(ODRFResults, name):
            return True
        if table == "plain":
            return response == "y" and fit in ("odrf", "odt")
        return fit == "odrf" or (fit == "odt" and table == "a constant predictor")

    look_at(result, True, laid_out)
    call_all(result, drawn, laid_out)


NAMES = [
    "forest of classes", "tree of numbers", "tree with surrogates", "guided classes",
    "forest of times",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_methods_of_results_with_many_classes(name):
    # `test_legible` draws all that the other two draw, and lets no warning pass either
    drawn = name in ("tree with surrogates", "guided classes")
    call_all(results_of(3)[name], drawn=lambda _: drawn, laid_out=False)


def complex_weights(data, numbers):
    odrf.odt("y ~ a", data, weights=numbers)


def complex_offset(data, numbers):
    odrf.odbt("y ~ a", data, offset=numbers)


def complex_basis(data, numbers):
    odrf.odt("y ~ poly(z, 2)", data.assign(z=numbers))


def complex_column(data, numbers):
    odrf.odt("y ~ z", data.assign(z=numbers))


def complex_response(data, numbers):
    odrf.odt("z ~ a", data.assign(z=numbers))


@pytest.mark.parametrize(
    "use", [complex_weights, complex_offset, complex_basis, complex_column, complex_response]
)
def test_complex_numbers_are_refused(use):
    data = plain_table()
    with pytest.raises(InputError, match=r"real|complex"):
        use(data, data["a"].to_numpy() + 1j)
