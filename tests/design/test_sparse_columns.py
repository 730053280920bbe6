from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from patsy import EvalEnvironment

from odrf.design import build_design
from odrf.design.scaling import with_sparse_columns

# the last one is the smallest float32
values = st.sampled_from([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 2.0**-149])
shapes = st.tuples(st.integers(0, 5), st.integers(0, 12))


@given(arrays(np.float32, shapes, elements=values))
def test_the_matrix_is_found_again(X):
    again = pickle.loads(pickle.dumps(with_sparse_columns(X))).matrix()
    assert again.dtype == np.float32
    assert again.flags.c_contiguous
    np.testing.assert_array_equal(again, X)


def test_a_factor_takes_little_space():
    rng = np.random.default_rng(1)
    labels = [f"l{k}" for k in rng.integers(0, 300, 3000)]
    table = pd.DataFrame({"y": rng.normal(size=3000), "a": rng.normal(size=3000)})
    env = EvalEnvironment.capture()
    size = []
    for frame in (table, table.assign(f=labels)):
        _, training = build_design("y ~ .", frame, env=env)
        size.append(len(pickle.dumps(training)))
        again = pickle.loads(pickle.dumps(training))
        np.testing.assert_array_equal(again.X, training.X)
    assert size[1] < 1.5 * size[0]
