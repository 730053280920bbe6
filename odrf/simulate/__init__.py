"""Simulated problems whose truth is known, for training and testing models.

Each function returns a `Problem`.  It draws samples as data frames and gives the regression
function or the class probabilities, and the Bayes error.  Functions of survival times return a
`SurvivalProblem`, which gives survival curves.

==================  ==============  =============================================================
problem             response        description
==================  ==============  =============================================================
`sparse_parity`     2 classes       few predictors are relevant, none of them alone
`orthant`           2^p classes     the true boundaries are axis-parallel
`trunk`             2 classes       one oblique plane; predictors are ever less informative
`biau`              2 classes       axis-parallel forests are not consistent
`hypercube`         2 or p + 1      all predictors are relevant, none of them alone
`random_rbf`        2 or more       clusters in many dimensions
`rings`             2 or more       concentric rings; no boundary is linear
`pie`               2 or more       slices of a disc, rays between them
`checkerboard`      2 or more       squares of a board; with two classes exclusive or
`circle`            2 classes       segments on a ring of pixels
`bars`              2 classes       horizontal and vertical bars in an image
`impulse`           2 classes       an impulse in noise
`additive`          number          a sum of functions of single predictors
`single_index`      number          one function of one direction
`ridge_sum`         number          a sum of functions of several directions
`radial`            number          waves around a centre; no direction is preferred
`friedman1`         number          Friedman's first problem, with an interaction
`friedman2`         number          Friedman's second problem, the impedance of a circuit
`friedman3`         number          Friedman's third problem, the phase of a circuit
`jump`              number          a step across an oblique plane
==================  ==============  =============================================================

========================  =======================================================================
survival times            description
========================  =======================================================================
`proportional_hazards`    hazards rise along one direction; Cox's model holds
`hazard_jump`             two groups on the sides of an oblique plane
`hazard_interaction`      two predictors matter together, neither of them alone
`crossing_hazards`        all survival curves meet in one point
`accelerated_failure`     a function of one direction makes times shorter or longer
`competing_risks`         two causes, each along a direction of its own
========================  =======================================================================

Examples
--------
>>> import odrf
>>> from odrf import simulate
>>> problem = simulate.trunk()
>>> fit = odrf.odrf("y ~ .", problem.sample(200, seed=1), n_trees=20, seed=1)
>>> test = problem.sample(1000, seed=2)
>>> error = (fit.predict(test) != test["y"]).mean()
>>> bool(error < problem.bayes_error + 0.05)
True
"""

from odrf.simulate.classes import (
    biau,
    checkerboard,
    hypercube,
    orthant,
    pie,
    random_rbf,
    rings,
    sparse_parity,
    trunk,
)
from odrf.simulate.images import bars, circle, impulse
from odrf.simulate.problem import Problem
from odrf.simulate.regressions import (
    additive,
    friedman1,
    friedman2,
    friedman3,
    jump,
    radial,
    ridge_sum,
    single_index,
)
from odrf.simulate.survival import (
    SurvivalProblem,
    accelerated_failure,
    competing_risks,
    crossing_hazards,
    hazard_interaction,
    hazard_jump,
    proportional_hazards,
)

__all__ = [
    "Problem",
    "SurvivalProblem",
    "accelerated_failure",
    "additive",
    "bars",
    "biau",
    "checkerboard",
    "circle",
    "competing_risks",
    "crossing_hazards",
    "friedman1",
    "friedman2",
    "friedman3",
    "hazard_interaction",
    "hazard_jump",
    "hypercube",
    "impulse",
    "jump",
    "orthant",
    "pie",
    "proportional_hazards",
    "radial",
    "random_rbf",
    "ridge_sum",
    "rings",
    "single_index",
    "sparse_parity",
    "trunk",
]
