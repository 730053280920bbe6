"""Sums over the rows beyond planes: the same for every library and kernel."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apart import script
from devices import numpy_device, planes_and_rows
from guided_problems import guided_problems, sampled
from odrf import simulate
from odrf.engine.guided import device as beyond_planes
from odrf.engine.guided.device import Device, as_integers, running_sums
from odrf.engine.trees.routing import leaf_nodes
from odrf.options.guided import LIBRARIES, device_of

SIMULATED = Path(__file__).parents[2] / "simulated_cuda.py"
SEEDS = st.integers(0, 2**32 - 1)


@settings(max_examples=60, deadline=None)
@given(SEEDS)
def test_sums_are_those_of_the_twin(seed):
    case, device = planes_and_rows(seed), numpy_device()
    assert case.sums(device).tolist() == case.expected(device)


def test_planes_are_evaluated_in_parts_if_there_are_many(monkeypatch):
    whole = [planes_and_rows(seed).sums(numpy_device()).tolist() for seed in range(40)]
    for most in (1, 50, 100):
        monkeypatch.setattr(beyond_planes, "MOST_PROJECTIONS", most)
        assert [planes_and_rows(seed).sums(numpy_device()).tolist() for seed in range(40)] == whole


@settings(max_examples=20, deadline=None)
@given(SEEDS)
def test_sums_need_no_more_than_the_array_api(seed):
    strict = pytest.importorskip("array_api_strict")
    case, device = planes_and_rows(seed), Device(strict, None, np.asarray, running_sums)
    assert case.sums(device).tolist() == case.expected(device)


def test_the_kernel_for_cuda_gives_the_same_sums_and_trees():
    """By Numba's simulator, which every machine has."""
    done = script(SIMULATED, env={"NUMBA_ENABLE_CUDASIM": "1"})
    assert (done.returncode, done.stdout) == (0, "the same\n"), done.stderr


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("by_kernel", [True, False])
def test_sums_are_the_same_on_a_device(library, by_kernel):
    found = pytest.importorskip(library)
    if not found.cuda.is_available():
        pytest.skip("no device for CUDA")
    device = device_of(library)
    assert device.add_up is not running_sums
    device = device if by_kernel else device._replace(add_up=running_sums)
    for seed in range(100):
        case = planes_and_rows(seed, 5000)
        assert case.sums(device).tolist() == case.sums(numpy_device()).tolist()


@pytest.mark.parametrize("library", LIBRARIES)
def test_trees_of_a_device_are_nearly_those_of_the_processor(library):
    """Apart from the rounding of projections: so here nothing rounds."""
    found = pytest.importorskip(library)
    if not found.cuda.is_available():
        pytest.skip("no device for CUDA")
    problem = sampled(simulate.hypercube(3), 500, 1)
    one, other = problem.grow(4, n_jobs=2), problem.grow(4, n_jobs=2, device=device_of(library))
    assert one.n_planes.min() > 10
    same = one.left == other.left if len(one.left) == len(other.left) else np.zeros(1)
    assert same.mean() > 0.9


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-1e200, 1e200), min_size=1, max_size=20))
def test_numbers_are_rounded_little(numbers):
    integers, unit = as_integers(np.array(numbers))
    assert abs(sum(map(int, integers))) < 2**62
    scale = sum(abs(Fraction(number)) for number in numbers)
    for number, integer in zip(numbers, integers, strict=True):
        error = abs(Fraction(int(integer)) * Fraction(unit) - Fraction(number))
        assert error <= max(scale / 2**60, Fraction(2) ** -1000)


def test_weights_of_few_bits_are_not_rounded():
    numbers = np.random.default_rng(1).integers(0, 2**20, 10_000) / 2**10
    integers, unit = as_integers(numbers)
    assert (integers * unit == numbers).all()


# ------------------------------------------------------------------------------------------------
# Guided trees whose planes are evaluated on a device, here by NumPy, against the compiled ones.
# ------------------------------------------------------------------------------------------------

WEIGHTS = {
    "equal": lambda rng, n: np.ones(n),
    "of few bits": lambda rng, n: rng.integers(0, 9, n) / 8,
    "any": lambda rng, n: rng.random(n) + 0.5,
}


@pytest.mark.parametrize("weights", list(WEIGHTS))
@pytest.mark.parametrize(
    "problem",
    [
        simulate.hypercube(4),
        simulate.hypercube(3, labels="ones"),
        simulate.pie(classes=3, number=6),
        simulate.random_rbf(classes=5),
        simulate.friedman1(5),
    ],
    ids=lambda problem: f"{problem.name} {problem.kind}",
)
def test_trees_are_the_same(problem, weights):
    for seed in range(2):
        grown = sampled(problem, 150, seed, from_region=bool(seed), min_split=5)
        grown.weights[:] = WEIGHTS[weights](np.random.default_rng(seed), 150)
        one, other = grown.grow(n_trees=3), grown.grow(n_trees=3, n_jobs=2, device=numpy_device())
        assert one.n_planes.min() > 5
        assert one.left.tobytes() == other.left.tobytes()
        assert one.coef.tobytes() == other.coef.tobytes()
        assert one.threshold.tobytes() == other.threshold.tobytes()
        assert one.value.tobytes() == other.value.tobytes()


@settings(max_examples=40, deadline=None)
@given(guided_problems())
def test_an_impure_leaf_has_few_rows_or_equal_ones(problem):
    forest = problem.grow(device=numpy_device())
    X = problem.X[forest.columns][:, problem.weights > 0]
    leaves = leaf_nodes(forest.unshared, problem.X[:, problem.weights > 0], 1)[:, 0]
    impure = (forest.impurity > 0) & (forest.count >= problem.settings.min_split)
    for leaf in np.flatnonzero(impure & (forest.left < 0)):
        assert (np.ptp(X[:, leaves == leaf], axis=1) < 1e-5).all()


def test_the_columns_of_the_caller_are_left_as_they_are():
    grown = sampled(simulate.hypercube(3), 60, 1)
    before = grown.X.copy()
    grown.grow(device=numpy_device())
    assert (before == grown.X).all()
