"""Fits: growing, pruning, combining, updating, saving, and what they predict as arrays.

A fit holds its design, its options and its trees (`odrf.fits.fit`).  The options of a call are
resolved for the data, and trees grown by them (`odrf.fits.growing`); forests of several kinds of
trees are blends (`odrf.fits.blending`).  Options can make the fit pruned (`odrf.fits.pruning`):
errors of its subtrees on validation rows, the α that the rule chooses, and the same trees with some
splits switched off.  Rows in chunks take other passes (`odrf.fits.chunks`), on the workers of a
cluster, too (`odrf.fits.partitions`). `odrf.fits.files` describes the format of files, and how to
read one without the package.
"""
