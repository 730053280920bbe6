"""Fits in other languages: SQL, Python, C, Graphviz and ONNX.

`odrf.exports.trees` describes the trees as functions of the columns of the user's data frame:
which number each column of the matrix is, and which sums of these are compared with which
thresholds.  The other modules write this description in one language each.

Projections are added in float32, term by term, as `odrf.engine.trees.routing` does.  So a language
that has float32 sends every row to the same leaf.
"""
