"""Fits in other languages: SQL, Python, C, Graphviz and ONNX.

`odrf.exports.trees` describes trees as functions of the user's columns; the others write this.
Projections are added in float32, term by term, as `odrf.engine.trees.routing` does.  So a language
that has float32 sends every row to the same leaf.
"""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.exports import c as c
    from odrf.exports import columns as columns
    from odrf.exports import export as export
    from odrf.exports import mean_prediction as mean_prediction
    from odrf.exports import onnx as onnx
    from odrf.exports import python as python
    from odrf.exports import sql as sql
    from odrf.exports import trees as trees

__getattr__ = modules_of(__name__)
