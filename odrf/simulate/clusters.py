"""Classes in clusters, around the vertices of a cube or random centroids.

[G] is Gupta et al., *Guided random forest and its application to data approximation*.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from odrf.checks import checked_whole
from odrf.errors import allowed
from odrf.simulate.arguments import checked_below, layout_chance
from odrf.simulate.problem import Problem, View, certain

__all__ = ["hypercube", "random_rbf"]

LABELS = ("parity", "ones")


def hypercube(
    p: int = 10, labels: str = "parity", mixed: bool = False, noise: float = 0.0, layout: Any = 0
) -> Problem:
    """Points near the vertices of a hypercube ([G], section 6, Algorithm 3).

    A vertex is drawn, each equally likely; where it has a 0 the predictor is normal, cut off to
    (-1/2, 1/2), where it has a 1, cut off to (1/2, 3/2).  In [G] each vertex has 3 to 5 rows;
    here rows are independent, so that a sample may be of any size: 4 · 2^p rows come to the same
    on average.  Means are drawn from these same ranges; so are, in [G], the standard deviations,
    half of which would be negative: here they are drawn from (0, 1/2) and (1/2, 3/2).

    Parameters
    ----------
    p : int, default 10
        Predictors; [G] has 3 to 15.
    labels : {"parity", "ones"}
        The class of a vertex: whether the number of its ones is odd, "1", or not, "0"; or this
        number, which makes p + 1 classes.
    mixed : bool, default False
        Whether the predictors are mixed by a random matrix, so that they depend on each other.
        [G] does not say which; with entries uniform on (0, 1), as here, about as few
        principal components hold nine tenths of the variance as in its Table 1.
    noise : float, default 0.0
        Chance that a label is exchanged for one of the others, below 1 - 1/K for K classes.
    layout : int, SeedSequence or Generator, default 0
        Seed of the means, standard deviations and matrix: they belong to the problem, and stay
        the same in all its samples.

    Returns
    -------
    Problem
        Bayes error: the noise.

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> simulate.hypercube(p=3, labels="ones").classes
    ('0', '1', '2', '3')
    """
    p = checked_whole("p", p, 2)
    if labels not in LABELS:
        raise allowed("labels", labels, LABELS)
    if not isinstance(mixed, bool | np.bool_):
        raise allowed("mixed", mixed, (True, False))
    classes = ("0", "1") if labels == "parity" else tuple(str(k) for k in range(p + 1))
    noise = checked_below("noise", noise, 1 - 1 / len(classes))
    rng = layout_chance(layout)
    mean = np.array([rng.uniform(-0.5, 0.5, p), rng.uniform(0.5, 1.5, p)])
    sd = np.array([rng.uniform(0.0, 0.5, p), rng.uniform(0.5, 1.5, p)])
    matrix = rng.random((p, p)) if mixed else np.eye(p)
    rows = partial(_near_vertices, mean=mean, sd=sd, matrix=matrix)
    known = partial(_vertex, back=np.linalg.inv(matrix), n_classes=len(classes))
    ends = (-0.5 * matrix.sum(axis=0), 1.5 * matrix.sum(axis=0))
    low, high = (tuple(end.tolist()) for end in ends)
    rest = tuple((0.5 * matrix.sum(axis=0)).tolist()) if mixed else 0.0
    return Problem("hypercube", p, p, classes, noise, rows, known, 0.0, View(low, high, rest))


def random_rbf(
    p: int = 10, classes: int = 2, centroids: int = 10, noise: float = 0.0, layout: Any = 1
) -> Problem:
    """Clusters around random centroids: Weka's RandomRBF ([G], section 7.1 and Appendix A).

    Every centroid has a place, uniform on [0, 1]^p, a class, a weight and a standard deviation,
    both uniform on (0, 1).  A row chooses one of them in proportion to the weights, goes into the
    direction of a point that is uniform on [-1, 1]^p, so far as a normal number of this standard
    deviation says, and has the centroid's class.

    Parameters
    ----------
    p : int, default 10
        Predictors, as in [G].
    classes : int, default 2
        2 or 5 in [G].
    centroids : int, default 10
        10, 20 or 50 in [G]; at least as many as classes.  The first of them have the classes in
        turn, so that none is without; the others any.
    noise : float, default 0.0
        Chance that a label is exchanged for one of the others, below 1 - 1/K for K classes.
    layout : int, SeedSequence or Generator, default 1
        Seed of the centroids: they belong to the problem, and stay the same in all its samples.
        With the same number Weka draws others.

    Returns
    -------
    Problem
        The probabilities of its classes are exact; its Bayes error is estimated (see
        `Problem.bayes_error`).

    Raises
    ------
    InputError
        If an argument is out of range.

    Examples
    --------
    >>> from odrf import simulate
    >>> simulate.random_rbf(p=2, classes=5, centroids=20).classes
    ('1', '2', '3', '4', '5')
    """
    p = checked_whole("p", p, 2)
    K = checked_whole("classes", classes, 2)
    C = checked_whole("centroids", centroids, K)
    noise = checked_below("noise", noise, 1 - 1 / K)
    rng = layout_chance(layout)
    place = rng.random((C, p))
    of_class = np.concatenate([np.arange(K), rng.integers(K, size=C - K)])
    weight, sd = rng.random(C), rng.random(C)
    weight /= weight.sum()
    rows = partial(_around_centroids, place=place, weight=weight, sd=sd)
    known = partial(_centroids_near, place=place, weight=weight, sd=sd, of_class=of_class)
    names = tuple(str(k + 1) for k in range(K))
    return Problem("random RBF", p, p, names, noise, rows, known, view=View(-0.5, 1.5, 0.5))


def _near_vertices(
    rng: np.random.Generator, n: int, mean: NDArray, sd: NDArray, matrix: NDArray
) -> NDArray[np.float64]:
    bit = rng.integers(2, size=(n, len(matrix)))
    columns = np.arange(len(matrix))
    centre, scale = mean[bit, columns], sd[bit, columns]
    low, high = (ndtr((bit + end - centre) / scale) for end in (-0.5, 0.5))
    near = centre + scale * ndtri(low + (high - low) * rng.random(bit.shape))
    return near @ matrix


def _vertex(X: NDArray[np.float64], back: NDArray, n_classes: int) -> NDArray[np.float64]:
    ones = (X @ back > 0.5).sum(axis=1)
    return certain(ones % 2 if n_classes == 2 else ones, n_classes)


def _around_centroids(
    rng: np.random.Generator, n: int, place: NDArray, weight: NDArray, sd: NDArray
) -> NDArray[np.float64]:
    chosen = rng.choice(len(place), size=n, p=weight)
    direction = rng.uniform(-1.0, 1.0, (n, place.shape[1]))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    far = sd[chosen] * rng.standard_normal(n)
    return place[chosen] + far[:, np.newaxis] * direction


def _centroids_near(
    X: NDArray[np.float64], place: NDArray, weight: NDArray, sd: NDArray, of_class: NDArray
) -> NDArray[np.float64]:
    """Return the probabilities of the classes (n, K) from the densities around the centroids.

    In polar coordinates around its centroid a row's distance is half-normal, and its direction
    has the density of a cube's volume seen from the middle, (r / max|x_j - c_j|)^p; the Jacobian
    is r^(1 - p).  Together r / max|x_j - c_j|^p · φ(r / s) / s, but for a constant.
    """
    p = X.shape[1]
    log_density = np.empty((len(X), len(place)))
    for c, centre in enumerate(place):
        off = np.abs(X - centre)
        # at a centroid itself the density has a pole: nearly there it is large enough
        far = np.maximum(np.linalg.norm(off, axis=1), np.finfo(np.float64).tiny)
        widest = np.maximum(off.max(axis=1), np.finfo(np.float64).tiny)
        log_density[:, c] = np.log(far) - p * np.log(widest) - (far / sd[c]) ** 2 / 2
    log_density += np.log(weight / sd)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    joint = density @ certain(of_class, int(of_class.max()) + 1)
    return joint / joint.sum(axis=1, keepdims=True)
