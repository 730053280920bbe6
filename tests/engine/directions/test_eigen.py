"""Jacobi's eigenvectors and singular vectors against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.engine.numeric import eigen, right_singular, spectrum_for

quick = settings(deadline=None)


def decompose(A):
    """Return eigenvalues and the eigenvectors as columns; only the lower triangle is read."""
    d = len(A)
    found = spectrum_for(d + 1)
    found.matrix[:] = np.nan
    found.matrix[:d, :d][np.tril_indices(d)] = A[np.tril_indices(d)]
    eigen(d, found)
    return found.values[:d], found.vectors[:d, :d].T


@st.composite
def symmetric(draw):
    """Of any rank and scale, with equal eigenvalues or on a coarse grid."""
    d, seed = draw(st.integers(1, 9)), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    form = draw(st.sampled_from(["any", "rank", "equal", "grid", "diagonal"]))
    A = rng.normal(size=(d, d))
    if form == "rank":
        A[:, d // 2 :] = A[:, [0]]
        A = A @ A.T
    elif form == "equal":
        vectors = np.linalg.qr(A)[0]
        A = vectors @ np.diag(rng.integers(-1, 2, d)) @ vectors.T
    elif form == "grid":
        A = rng.integers(-1, 2, (d, d)).astype(float)
    elif form == "diagonal":
        A = np.diag(np.diag(A))
    return (A + A.T) * 10.0 ** draw(st.integers(-8, 8))


@quick
@given(symmetric())
def test_eigenvalues_are_numpys_and_vectors_diagonalise(A):
    values, vectors = decompose(A)
    size = np.linalg.norm(A)
    np.testing.assert_allclose(values, np.linalg.eigh(A)[0][::-1], atol=1e-13 * size, rtol=0)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(A)), atol=1e-13)
    np.testing.assert_allclose(vectors * values @ vectors.T, A, atol=1e-13 * size, rtol=0)


def test_vectors_are_numpys_where_eigenvalues_differ():
    rng = np.random.default_rng(1)
    orthogonal = np.linalg.qr(rng.normal(size=(20, 20)))[0]
    A = orthogonal @ np.diag(np.arange(20.0)) @ orthogonal.T
    _, vectors = decompose(A)
    np.testing.assert_allclose(
        np.abs(np.linalg.eigh(A)[1][:, ::-1].T @ vectors), np.eye(20), atol=1e-12
    )


def test_nothing_happens_to_a_diagonal_matrix_but_sorting():
    values, vectors = decompose(np.diag([2.0, -1.0, 3.0, 0.0]))
    assert values.tolist() == [3.0, 2.0, 0.0, -1.0]
    assert (vectors == np.eye(4)[:, [2, 0, 3, 1]]).all()


@quick
@given(st.integers(1, 6), st.integers(1, 6), st.booleans(), st.integers(0, 2**32))
def test_singular_vectors_are_numpys(g, d, deficient, seed):
    C = np.random.default_rng(seed).normal(size=(g, d))
    if deficient:
        C[-1] = C[0]
    found = spectrum_for(d)
    few = right_singular(C, g, d, found)
    assert few == min(g, d)
    _, values, vectors = np.linalg.svd(C)
    np.testing.assert_allclose(found.values[:few], values[:few] ** 2, atol=1e-12)
    for r in range(few):
        if values[r] < 1e-3:
            continue
        length = np.linalg.norm(found.vectors[r, :d])
        assert found.vectors[r, :d] @ C.T @ C @ found.vectors[r, :d] == pytest.approx(
            length**2 * values[r] ** 2
        )
        if few == 1 or np.abs(np.delete(values, r) - values[r]).min() > 1e-3:
            assert abs(vectors[r] @ found.vectors[r, :d]) == pytest.approx(length)
