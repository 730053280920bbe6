"""Tables in partitions where no client of Dask is active."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError

pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")


Client = pytest.importorskip("distributed").Client


def test_partitions_are_read_in_this_process():
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(90, 3)), columns=list("yab"))
    frame = dd.from_pandas(data, npartitions=3)
    fit = odrf.odrf("y ~ a + b", frame, n_trees=4, seed=2)
    here = odrf.odrf("y ~ a + b", [data], n_trees=4, seed=2)
    assert fit.oob_scores.equals(here.oob_scores)
    assert fit.predict(data).equals(here.predict(data))
    assert fit.predict(frame).compute().equals(here.predict(data))
    with pytest.raises(InputError, match=r"client = Client\(\)"):
        odrf.odrf("y ~ a", frame, backend="dask")


def test_a_client_for_asynchronous_code_is_refused(monkeypatch):
    monkeypatch.setattr(Client, "current", lambda: SimpleNamespace(asynchronous=True))
    frame = dd.from_pandas(pd.DataFrame({"y": [1.0, 2.0], "a": [1.0, 2.0]}), npartitions=2)
    for backend in ("auto", "dask"):
        with pytest.raises(InputError, match=r"needs a client that waits: use Client\("):
            odrf.odrf("y ~ a", frame, backend=backend)


def test_a_tree_reads_partitions_one_by_one():
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(90, 3)), columns=list("yab"))
    tree = odrf.odt("y ~ a + b", dd.from_pandas(data, npartitions=3), seed=1)
    assert tree.predict(data).equals(odrf.odt("y ~ a + b", [data], seed=1).predict(data))


def test_other_fits_take_all_partitions_into_memory():
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(90, 3)), columns=list("yab"))
    fit = odrf.graf("y ~ a + b", dd.from_pandas(data, npartitions=3), n_trees=3, seed=1)
    here = odrf.graf("y ~ a + b", data, n_trees=3, seed=1)
    assert fit.predict(data).equals(here.predict(data))
