"""What starting the package loads, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys

import pytest

import odrf


def test_drawing_and_optimising_are_loaded_when_asked_for():
    code = (
        "import sys, odrf; heavy = ['matplotlib', 'scipy.optimize', 'scipy.stats', 'statsmodels']; "
        "print([name for name in heavy if name in sys.modules]); "
        "tree = odrf.odt('cultivar ~ .', odrf.load_data('wine'), max_leaves=2, seed=1); "
        "tree.predict(); print([name for name in heavy if name in sys.modules]); "
        "str(tree.summary()); tree.plot(); print('matplotlib.pyplot' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "[]", "True"]


def test_statistical_tests_are_loaded_when_asked_for():
    code = (
        "import sys, odrf; early = 'scipy.stats' in sys.modules; "
        "odrf.compare; print(early, 'scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_the_command_loads_no_more_than_the_package():
    code = (
        "import sys, odrf.cli; heavy = ['matplotlib', 'scipy.optimize', 'scipy.stats']; "
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]"]


@pytest.mark.parametrize("name", odrf.__all__)
def test_every_name_is_there(name):
    assert getattr(odrf, name) is not None
    assert name in dir(odrf)


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="no attribute 'forests'"):
        _ = odrf.forests
