"""What tests have in common: who runs them and when, drawings closed, small fits to look at."""

from __future__ import annotations

import gc
import importlib.util
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

import odrf
from blends import with_few_pilots, with_quick_stacks
from together import place_of, unit_of
from weekly import is_weekly

# Imports build objects that stay: looking for garbage among them takes seconds.
gc.disable()

# Tests look at what is written to stderr; that kernels are compiled depends on their order.
os.environ["ODRF_QUIET"] = "1"
# Processes that tests start would compile all modules anew, which takes each of them half a second.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Processes that tests start use this package too: an installed copy would be compiled once more.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# polars and DuckDB cannot be had for a Python without the global interpreter lock.
OF_POLARS = ["design/test_memory.py", "estimators/test_survival.py", "estimators/test_tools.py"]
OF_POLARS += ["public/test_chunks.py", "public/test_frames.py"]
OF_DUCKDB = ["exports/test_sql.py", "exports/test_random_tables.py"]
NEEDING = {"polars": OF_POLARS, "duckdb": OF_DUCKDB}
collect_ignore = [
    path for name, paths in NEEDING.items() if not importlib.util.find_spec(name) for path in paths
]

# Kernels compile within an example, and other tests run beside it: time says nothing of it.  Once a
# week tests try as many examples as they say, or 500 where they say nothing.
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("usual", max_examples=12, **UNHURRIED)
settings.register_profile("thorough", max_examples=500, **UNHURRIED)
settings.load_profile("usual")


def pytest_configure(config):
    """With a seed, draw examples that do not depend on what this process has imported.

    Some of the numbers that Hypothesis tries are those written in modules that are loaded.  Which
    these are depends on the tests that ran before in the same process, thus on their times.
    """
    if config.getoption("hypothesis_seed", None) is not None:
        providers._get_local_constants = Constants


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each process a group, or else a file, at a time, in the order of collection."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling  # noqa: PLC0415

    class ByKernels(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return unit_of(nodeid)

    config.option.loadscopereorder = False
    return ByKernels(config, log)


def with_few_examples(item):
    """Let a property test try no more examples than the profile says, whatever it says itself."""
    test = getattr(item, "obj", None)
    test = getattr(test, "__func__", test)
    found = getattr(test, "_hypothesis_internal_use_settings", None)
    if found is not None and found.max_examples > settings.default.max_examples:
        few = settings(found, max_examples=settings.default.max_examples)
        test._hypothesis_internal_use_settings = few


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Put the groups first, in their order, and their files in the order of the group.

    Those of tests/weekly.py get the marker ``weekly``: see `markers` in pyproject.toml.
    """
    for item in items:
        if is_weekly(item.nodeid):
            item.add_marker(pytest.mark.weekly)
        with_few_examples(item)
    items.sort(key=lambda item: place_of(item.nodeid.split("::")[0]))


def pytest_collection_finish():
    """Look for garbage seldom: the compiler builds millions of objects that stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(25_000, 50, 100)
    gc.enable()


@pytest.fixture(autouse=True)
def closed_figures():
    """Close what a test draws."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def few_pilots():
    """Blends of few pilot trees: see `with_few_pilots`."""
    with with_few_pilots():
        yield


@pytest.fixture
def quick_stacks():
    """Stacks with few pilot trees and rounds: see `with_quick_stacks`."""
    with with_quick_stacks():
        yield


@pytest.fixture(scope="session")
def table():
    """120 rows with a number, three classes, a factor and two numeric predictors."""
    rng = np.random.default_rng(3)
    data = pd.DataFrame(
        {
            "a": rng.normal(size=120),
            "b": rng.normal(size=120) * 100,
            "f": rng.choice(["x", "y", "z"], 120),
        },
        index=[f"row{i}" for i in range(120)],
    )
    score = data["a"] + data["b"] / 100 + (data["f"] == "x")
    data["y"] = score + rng.normal(size=120) / 4
    data["c"] = np.select([score < 0, score < 1], ["low", "mid"], "top")
    return data


@pytest.fixture(scope="session")
def number_tree(table):
    return odrf.odt("y ~ a + b + f", table, alpha=None, seed=1)


@pytest.fixture(scope="session")
def class_tree(table):
    return odrf.odt("c ~ a + b + f", table, alpha=None, seed=1)


@pytest.fixture(scope="session")
def number_forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=12, seed=1)


@pytest.fixture(scope="session")
def class_forest(table):
    return odrf.odrf("c ~ a + b + f", table, n_trees=12, seed=1)
