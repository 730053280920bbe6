"""Classification problems: planes, clusters, and patterns.

[T] is Tomita et al., *Sparse projection oblique randomer forests*, JMLR 21 (2020).
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
from odrf.simulate.problem import (
    Draw,
    Problem,
    Truth,
    View,
    checked_below,
    checked_count,
    checked_range,
    checked_relevant,
    layout_generator,
    one_hot,
    uniform_rows,
)

TWO = ("0", "1")
# 2^12 probabilities of each row
MOST_ORTHANTS = 12


@public
def sparse_parity(p: int = 20, relevant: int = 3, noise: float = 0.0) -> Problem:
    """Parity of the number of positive relevant predictors ([T], section 4.2).

    X is uniform on (-1, 1)^p; the class is "1" where an odd number of the first `relevant`
    predictors is above zero, else "0".  Any smaller subset of them carries no information on the
    class.

    Parameters
    ----------
    p : int, default 20
        Number of predictors, as in [T].
    relevant : int, default 3
        Number of relevant predictors, as in [T].
    {noise}

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> data = simulate.sparse_parity(p=4).sample(3, seed=2)
    >>> odd = (data[["x1", "x2", "x3"]] > 0).sum(axis=1) % 2
    >>> bool((data["y"] == odd.astype(str)).all())
    True
    """
    p, relevant = checked_relevant(p, relevant)
    noise = checked_below("noise", noise, 1 / 2)
    truth = partial(_odd, relevant=relevant)
    # the picture of Figure 2A; the others are not fixed at 0, where the class changes
    draw, view = uniform_rows(p, -1.0, 1.0), View(-1.0, 1.0, -0.5)
    return Problem("sparse parity", p, relevant, TWO, noise, draw, truth, 0.0, view)


@public
def orthant(p: int = 6, noise: float = 0.0) -> Problem:
    """One class for each of the 2^p orthants ([T], section 4.2).

    X is uniform on (-1, 1)^p; the class is 1 + Σ 2^(j - 1) over the predictors j above zero.
    [T] does not say how the orthants are numbered.

    Parameters
    ----------
    p : int, default 6
        Number of predictors, as in [T]; at most 12, which makes 4096 classes.
    noise : float, default 0.0
        Probability that a label is replaced by one of the others, below 1 - 1/2^p.

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> simulate.orthant(p=2).classes
    ('1', '2', '3', '4')
    """
    p = checked_range("p", checked_count("p", p, 2), 2, MOST_ORTHANTS, "which makes 4096 classes")
    classes = tuple(str(k + 1) for k in range(2**p))
    noise = checked_below("noise", noise, 1 - 1 / len(classes))
    draw, view = uniform_rows(p, -1.0, 1.0), View(-1.0, 1.0, -0.5)
    return Problem("orthant", p, p, classes, noise, draw, _orthant_of, 0.0, view)


@public
def trunk(p: int = 10, noise: float = 0.0) -> Problem:
    """Two normal classes, each predictor less informative than the one before ([T], section 4.2).

    Class "1" is normal with mean μ = (1, 1/√2, …, 1/√p) and identity covariance, class "0" with
    mean -μ; both are equally likely.  The Bayes rule is the plane μᵀx = 0, its error Φ(-‖μ‖).
    The problem is due to Trunk, IEEE PAMI 1 (1979) 306–307.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, as in [T].
    {noise}

    {about problem}

    Examples
    --------
    >>> from odrf import simulate
    >>> round(simulate.trunk().bayes_error, 4)
    0.0435
    """
    p = checked_count("p", p, 2)
    noise = checked_below("noise", noise, 1 / 2)
    mean = 1 / np.sqrt(np.arange(1, p + 1))
    error = float(ndtr(-np.linalg.norm(mean)))
    draw, truth = partial(_two_normals, mean=mean), partial(_normal_shares, mean=mean)
    return Problem("Trunk", p, p, TWO, noise, draw, truth, error, View(-4.0, 4.0, 0.0))


@public
def biau(stripes: int | None = None, noise: float = 0.0) -> Problem:
    """Stripes and a checkerboard: axis-parallel forests are not consistent ([T], Figure 1).

    X is uniform on [0, 1]² ∪ [1, 2]² ∪ [2, 3]².  The first square has vertical stripes, the last
    one horizontal stripes, and the middle one is a 2 × 2 checkerboard.  A greedy axis-parallel
    split decreases the impurity in the stripes, but not in the middle square, where the error stays
    1/2; the overall error is at least 1/6 (Biau, Devroye and Lugosi, JMLR 9 (2008) 2015–2033).
    Rows lie in the three squares only; elsewhere `truth` is NaN.  The first stripe, and the
    lower left of the checkerboard, have class "0".

    Parameters
    ----------
    stripes : int, optional
        Number of stripes of equal width in a square, at least 2.  By default there are infinitely
        many, as in the definition.  The sources do not give their widths; here the k-th has width
        2^-k, so that there are stripes at every scale.
    {noise}

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.2, 0.6, 1.2, 0.5], "x2": [0.3, 0.3, 1.2, 1.5]})
    >>> simulate.biau().truth(places)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [ 1.,  0.],
           [nan, nan]])
    """
    if stripes is not None:
        stripes = checked_count("stripes", stripes, 2)
    noise = checked_below("noise", noise, 1 / 2)
    truth = partial(_striped, stripes=stripes)
    return Problem("Biau", 2, 2, TWO, noise, _three_squares, truth, 0.0, View(0.0, 3.0, 0.0))


def _odd(X: NDArray[np.float64], relevant: int) -> NDArray[np.float64]:
    return one_hot((X[:, :relevant] > 0).sum(axis=1) % 2, 2)


def _orthant_of(X: NDArray[np.float64]) -> NDArray[np.float64]:
    p = X.shape[1]
    return one_hot((X > 0) @ 2 ** np.arange(p), 2**p)


def _two_normals(rng: np.random.Generator, n: int, mean: NDArray) -> NDArray[np.float64]:
    side = rng.choice([-1.0, 1.0], size=(n, 1))
    return side * mean + rng.standard_normal((n, len(mean)))


def _normal_shares(X: NDArray[np.float64], mean: NDArray) -> NDArray[np.float64]:
    # the log odds of class "1" are 2μᵀx, so P("1" | x) - P("0" | x) = tanh(μᵀx)
    difference = np.tanh(X @ mean)
    return np.column_stack([(1 - difference) / 2, (1 + difference) / 2])


def _three_squares(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    return rng.random((n, 2)) + rng.integers(3, size=(n, 1))


def _striped(X: NDArray[np.float64], stripes: int | None) -> NDArray[np.float64]:
    square = np.floor(X)
    inside = (square[:, 0] == square[:, 1]) & (square[:, 0] >= 0) & (square[:, 0] <= 2)
    which = square[inside, 0]
    position = X[inside] - square[inside]
    board = np.floor(2 * position).sum(axis=1)
    vertical, horizontal = (_stripe(position[:, axis], stripes) for axis in (0, 1))
    number = np.select([which == 0, which == 1], [vertical, board], horizontal)
    shares = np.full(X.shape, np.nan)
    shares[inside] = one_hot(number.astype(np.int64) % 2, 2)
    return shares


def _stripe(position: NDArray[np.float64], stripes: int | None) -> NDArray[np.float64]:
    """Return the number, from 0, of the stripe of each position in [0, 1)."""
    if stripes is not None:
        return np.floor(position * stripes)
    return np.floor(-np.log2(1 - position))


# Classes in clusters, around the vertices of a cube or random centroids.
#
# [G] is Gupta et al., *Guided random forest and its application to data approximation*.

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
    {noise}
    layout : int, SeedSequence or Generator, default 0
        Seed of the means, standard deviations and matrix, which are the same in all samples of the
        problem.

    {about problem}

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
    of mean 0 and the centroid's standard deviation.  It has the centroid's class.  The class
    probabilities are exact; the Bayes error is estimated, see `Problem.bayes_error`.

    Parameters
    ----------
    p : int, default 10
        Number of predictors, as in [G].
    classes : int, default 2
        Number of classes; 2 or 5 in [G].
    centroids : int, default 10
        Number of centroids, at least that of the classes; 10, 20 or 50 in [G].  The first K have
        one class each, so that every class has a centroid; the classes of the others are random.
    {noise}
    layout : int, SeedSequence or Generator, default 1
        Seed of the centroids, which are the same in all samples of the problem.  Weka's centroids
        differ for the same seed.

    {about problem}

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


# Classes in patterns on a plane: rings, slices of a disc, squares of a board.
#
# [G] is Gupta et al., *Guided random forest and its application to data approximation*; its Figure
# 12 shows such patterns, with two classes and with more, but the paper does not define them; sizes
# and numbers are our choice.

RINGS, SLICES = 2, 3
"""How many rings or slices each class has by default."""


@public
def rings(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Concentric rings ([G], Figure 12a and b).

    X is uniform on the disc of radius 1, which is divided into rings of equal width.  From the
    centre outwards they have the classes in turn; outer rings have more rows.  Outside the disc
    `truth` is NaN.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of rings, counting the disc in the centre; at least K.  By default 2 K.
    {noise}

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.0, 0.0, 2.0], "x2": [0.1, -0.3, 0.0]})
    >>> simulate.rings().truth(places)
    array([[ 1.,  0.],
           [ 0.,  1.],
           [nan, nan]])
    """
    K = checked_count("classes", classes, 2)
    number = RINGS * K if number is None else checked_count("number", number, K)
    return _on_plane("rings", K, noise, _disc, partial(_ring, number=number, K=K))


@public
def pie(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Slices of a pie chart ([G], Figure 12c and d).

    X is uniform on the disc of radius 1, which is divided into equal slices.  Counted
    anticlockwise from the positive x1 axis, they have the classes in turn.  Outside the disc
    `truth` is NaN.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of slices, at least K.  By default 3 K.
    {noise}

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [0.5, 0.0], "x2": [0.1, 0.5]})
    >>> simulate.pie(classes=3, number=3).truth(places)
    array([[1., 0., 0.],
           [1., 0., 0.]])
    """
    K = checked_count("classes", classes, 2)
    number = SLICES * K if number is None else checked_count("number", number, K)
    return _on_plane("pie", K, noise, _disc, partial(_slice, number=number, K=K))


@public
def checkerboard(classes: int = 2, number: int | None = None, noise: float = 0.0) -> Problem:
    """Squares of a board: exclusive or, and larger ones ([G], Figure 12e and f).

    X is uniform on (-1, 1)².  The square in column i and row j has class number (i + j) mod K.
    With two classes and two squares along a side this is exclusive or.

    Parameters
    ----------
    classes : int, default 2
        K, 2 or more.
    number : int, optional
        Number of squares along a side, more than K/2, so that every class has one.  By default K.
    {noise}

    {about problem}

    Examples
    --------
    >>> import pandas as pd
    >>> from odrf import simulate
    >>> places = pd.DataFrame({"x1": [-0.5, 0.5], "x2": [-0.5, -0.5]})
    >>> simulate.checkerboard().truth(places)
    array([[1., 0.],
           [0., 1.]])
    """
    K = checked_count("classes", classes, 2)
    number = K if number is None else checked_count("number", number, K // 2 + 1)
    draw, truth = uniform_rows(2, -1.0, 1.0), partial(_board, number=number, K=K)
    return _on_plane("checkerboard", K, noise, draw, truth)


def _on_plane(name: str, K: int, noise: float, draw: Draw, truth: Truth) -> Problem:
    noise = checked_below("noise", noise, 1 - 1 / K)
    names = tuple(str(k + 1) for k in range(K))
    return Problem(name, 2, 2, names, noise, draw, truth, 0.0, View(-1.0, 1.0, 0.0))


def _disc(rng: np.random.Generator, n: int) -> NDArray[np.float64]:
    radius, angle = np.sqrt(rng.random(n)), 2 * np.pi * rng.random(n)
    return radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])


def _ring(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    radius = np.hypot(X[:, 0], X[:, 1])
    return _within_disc(X, np.floor(radius * number), number, K)


def _slice(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    turn = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) % 1.0
    return _within_disc(X, np.floor(turn * number), number, K)


def _within_disc(
    X: NDArray[np.float64], piece: NDArray[np.float64], number: int, K: int
) -> NDArray[np.float64]:
    """Return the class indicators of the pieces; NaN outside the disc, allowing for rounding."""
    # a row on the rim, or on the first ray, may be rounded into a piece that does not exist
    shares = one_hot(np.minimum(piece, number - 1).astype(np.int64) % K, K)
    shares[np.hypot(X[:, 0], X[:, 1]) > 1 + 1e-9] = np.nan
    return shares


def _board(X: NDArray[np.float64], number: int, K: int) -> NDArray[np.float64]:
    cell = np.clip(np.floor((X + 1) / 2 * number), 0, number - 1).astype(np.int64)
    return one_hot(cell.sum(axis=1) % K, K)
