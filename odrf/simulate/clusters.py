"""Classes in clusters, around the vertices of a cube or random centroids.

[G] is Gupta et al., *Guided random forest and its application to data approximation*.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from odrf.checks import checked_choice
from odrf.errors import allowed
from odrf.public import public
from odrf.simulate.arguments import checked_below, checked_count, layout_generator
from odrf.simulate.problem import Problem, View, one_hot

__all__ = ["hypercube", "random_rbf"]

LABELS = ("parity", "ones")


@public
def hypercube(
    p: int = 10, labels: str = "parity", mixed: bool = False, noise: float = 0.0, layout: Any = 0
) -> Problem:
    """Points near the vertices of a hypercube ([G], section 6, Algorithm 3).

    A vertex is drawn, all equally likely.  Where it has a 0, the predictor is normal, truncated to
    (-1/2, 1/2); where it has a 1, truncated to (1/2, 3/2).  In [G] each vertex has 3 to 5 rows;
    here rows are independent, so that a sample can have any size; 4 · 2^p rows give 4 rows per
    vertex on average.  The means of the normals are drawn from the same two ranges.  In [G] so are
    the standard deviations, which would make some negative; here they are drawn from (0, 1/2) and
    (1/2, 3/2).

    Parameters
    ----------
    p : int, default 10
        Number of predictors; [G] has 3 to 15.
    labels : {"parity", "ones"}
        The class of a vertex.  ``"parity"``: "1" if its number of ones is odd, else "0".
        ``"ones"``: the number of its ones, which makes p + 1 classes.
    mixed : bool, default False
        Whether the predictors are multiplied by a random matrix, so that they are correlated.  [G]
        does not define the matrix.  Here its entries are uniform on (0, 1), which needs about as
        few principal components for nine tenths of the variance as Table 1 of [G].
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/K for K classes.
    layout : int, SeedSequence or Generator, default 0
        Seed of the means, standard deviations and matrix, which are the same in all samples of the
        problem.

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
    p = checked_count("p", p, 2)
    checked_choice("labels", labels, LABELS)
    if not isinstance(mixed, bool | np.bool_):
        raise allowed("mixed", mixed, (True, False))
    classes = ("0", "1") if labels == "parity" else tuple(str(k) for k in range(p + 1))
    noise = checked_below("noise", noise, 1 - 1 / len(classes))
    rng = layout_generator(layout)
    mean = np.array([rng.uniform(-0.5, 0.5, p), rng.uniform(0.5, 1.5, p)])
    sd = np.array([rng.uniform(0.0, 0.5, p), rng.uniform(0.5, 1.5, p)])
    matrix = rng.random((p, p)) if mixed else None
    draw = partial(_near_vertices, mean=mean, sd=sd, matrix=matrix)
    inverse = None if matrix is None else np.linalg.inv(matrix)
    truth = partial(_vertex, inverse=inverse, n_classes=len(classes))
    unit = np.ones(p) if matrix is None else matrix.sum(axis=0)
    low, high = (tuple((end * unit).tolist()) for end in (-0.5, 1.5))
    rest = tuple((0.5 * unit).tolist()) if mixed else 0.0
    return Problem("hypercube", p, p, classes, noise, draw, truth, 0.0, View(low, high, rest))


@public
def random_rbf(
    p: int = 10, classes: int = 2, centroids: int = 10, noise: float = 0.0, layout: Any = 1
) -> Problem:
    """Clusters around random centroids: Weka's RandomRBF ([G], section 7.1 and Appendix A).

    Every centroid has a location, uniform on [0, 1]^p, a class, a weight and a standard deviation,
    both uniform on (0, 1).  For a row, a centroid is drawn in proportion to the weights.  The row
    is the centroid plus a step in the direction of a point uniform on [-1, 1]^p, with normal length
    of mean 0 and the centroid's standard deviation.  It has the centroid's class.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, as in [G].
    classes : int, default 2
        Number of classes; 2 or 5 in [G].
    centroids : int, default 10
        Number of centroids, at least that of the classes; 10, 20 or 50 in [G].  The first K have
        one class each, so that every class has a centroid; the classes of the others are random.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/K for K classes.
    layout : int, SeedSequence or Generator, default 1
        Seed of the centroids, which are the same in all samples of the problem.  Weka's centroids
        differ for the same seed.

    Returns
    -------
    Problem
        The class probabilities are exact; the Bayes error is estimated, see `Problem.bayes_error`.

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
    p = checked_count("p", p, 2)
    K = checked_count("classes", classes, 2)
    C = checked_count("centroids", centroids, K)
    noise = checked_below("noise", noise, 1 - 1 / K)
    rng = layout_generator(layout)
    centroid = rng.random((C, p))
    of_class = np.concatenate([np.arange(K), rng.integers(K, size=C - K)])
    weight, sd = rng.random(C), rng.random(C)
    weight /= weight.sum()
    draw = partial(_around_centroids, centroid=centroid, weight=weight, sd=sd)
    truth = partial(
        _shares_of_centroids, centroid=centroid, weight=weight, sd=sd, of_class=of_class
    )
    names = tuple(str(k + 1) for k in range(K))
    return Problem("random RBF", p, p, names, noise, draw, truth, view=View(-0.5, 1.5, 0.5))


def _near_vertices(
    rng: np.random.Generator, n: int, mean: NDArray, sd: NDArray, matrix: NDArray | None
) -> NDArray[np.float64]:
    p = mean.shape[1]
    bit = rng.integers(2, size=(n, p))
    columns = np.arange(p)
    centre, scale = mean[bit, columns], sd[bit, columns]
    low, high = (ndtr((bit + end - centre) / scale) for end in (-0.5, 0.5))
    near = centre + scale * ndtri(low + (high - low) * rng.random(bit.shape))
    return near if matrix is None else near @ matrix


def _vertex(X: NDArray[np.float64], inverse: NDArray | None, n_classes: int) -> NDArray[np.float64]:
    ones = ((X if inverse is None else X @ inverse) > 0.5).sum(axis=1)
    return one_hot(ones % 2 if n_classes == 2 else ones, n_classes)


def _around_centroids(
    rng: np.random.Generator, n: int, centroid: NDArray, weight: NDArray, sd: NDArray
) -> NDArray[np.float64]:
    chosen = rng.choice(len(centroid), size=n, p=weight)
    direction = rng.uniform(-1.0, 1.0, (n, centroid.shape[1]))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    distance = sd[chosen] * rng.standard_normal(n)
    return centroid[chosen] + distance[:, np.newaxis] * direction


def _shares_of_centroids(
    X: NDArray[np.float64], centroid: NDArray, weight: NDArray, sd: NDArray, of_class: NDArray
) -> NDArray[np.float64]:
    """Return the class probabilities (n, K) from the densities around the centroids.

    In polar coordinates around its centroid c, the distance r of a row is half-normal.  Its
    direction has a density proportional to (r / max|x_j - c_j|)^p, the volume of a cube as seen
    from its centre, and the Jacobian is r^(1 - p).  So the density is proportional to
    r / max|x_j - c_j|^p · φ(r / s) / s.
    """
    p = X.shape[1]
    log_density = np.empty((len(X), len(centroid)))
    for c, centre in enumerate(centroid):
        difference = np.abs(X - centre)
        # kept above 0, because the density has a pole at the centroid
        distance = np.maximum(np.linalg.norm(difference, axis=1), np.finfo(np.float64).tiny)
        widest = np.maximum(difference.max(axis=1), np.finfo(np.float64).tiny)
        log_density[:, c] = np.log(distance) - p * np.log(widest) - (distance / sd[c]) ** 2 / 2
    log_density += np.log(weight / sd)
    density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    joint = density @ one_hot(of_class, int(of_class.max()) + 1)
    return joint / joint.sum(axis=1, keepdims=True)
