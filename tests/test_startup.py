"""What starting the package loads, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import odrf


@pytest.fixture(scope="module")
def loaded():
    """Which heavy modules one process has loaded after each step; to start one takes seconds."""
    code = (
        "import sys; "
        "heavy = ['matplotlib', 'scipy.optimize', 'scipy.stats', 'sklearn', 'statsmodels']; "
        "loaded = lambda: print([name for name in heavy if name in sys.modules]); "
        "import odrf; loaded(); print(sum(name.startswith('odrf') for name in sys.modules)); "
        "import odrf.cli; loaded(); "
        "of = 'cultivar ~ .', odrf.load_data('wine'); "
        "tree = odrf.odt(*of, max_leaves=2, seed=1); tree.predict(); "
        "odrf.odrf(*of, n_trees=2, seed=1).oob_error; loaded(); odrf.compare; loaded(); "
        "str(tree.summary()); tree.plot(); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    steps = "package", "modules", "command", "fit", "comparing", "plot"
    return dict(zip(steps, done.stdout.splitlines(), strict=True))


def test_drawing_and_optimising_are_loaded_when_asked_for(loaded):
    assert loaded["package"] == loaded["fit"] == "[]"
    assert loaded["plot"] == "True"


def test_the_package_loads_what_a_fit_needs(loaded):
    assert int(loaded["modules"]) <= 200


def test_statistical_tests_are_loaded_when_asked_for(loaded):
    assert loaded["package"] == loaded["fit"] == "[]"
    assert "scipy.stats" in loaded["comparing"]
    assert "statsmodels" not in loaded["comparing"]


def test_the_command_loads_no_more_than_the_package(loaded):
    assert loaded["command"] == loaded["package"] == "[]"


@pytest.mark.parametrize("name", odrf.__all__)
def test_every_name_is_there(name):
    assert getattr(odrf, name) is not None
    assert name in dir(odrf)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        _ = odrf.forests
