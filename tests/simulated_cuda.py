"""The kernel for CUDA, run by Numba's simulator: this file is run by a test in its own process.

Whether Numba simulates a device is decided when it is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
sys.path.insert(0, str(Path(__file__).parent))

from devices import numpy_device, planes_and_rows
from guided_problems import sampled
from odrf import simulate
from odrf.engine.guided import cuda

# Each thread of the simulator is one of Python: so blocks are small.
cuda.THREADS, cuda.ROWS_PER_THREAD = 4, 2


def sums_are_those_of_the_twin() -> None:
    device, longest = numpy_device(cuda.sums_by_blocks), 0
    for seed in range(8):
        case = planes_and_rows(seed)
        assert case.sums(device).tolist() == case.expected(device), seed
        longest = max(longest, *map(len, case.segments), 0)
    assert longest > 2 * cuda.THREADS * cuda.ROWS_PER_THREAD  # several blocks


def trees_are_those_of_running_sums() -> None:
    problem = sampled(simulate.hypercube(3), 16, 1)
    one = problem.grow(device=numpy_device())
    other = problem.grow(device=numpy_device(cuda.sums_by_blocks))
    assert one.n_planes[0] > 2
    assert one.coef.tobytes() == other.coef.tobytes()
    assert one.value.tobytes() == other.value.tobytes()


if __name__ == "__main__":
    sums_are_those_of_the_twin()
    trees_are_those_of_running_sums()
    print("the same")
