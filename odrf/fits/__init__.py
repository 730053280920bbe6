"""Fits: growing, pruning, combining, updating, saving, and what they predict as arrays.

A fit holds its design, its options and its trees (`odrf.fits.fit`).  Options that are asked for
become options for the data at hand, and trees (`odrf.fits.growing`); forests of several kinds of
trees are blends (`odrf.fits.blending`).  If the options say so the fit is pruned
(`odrf.fits.pruning`): errors of its subtrees on rows held out, the α that the rule chooses, and the
same trees with some splits switched off.  Rows in chunks take other passes (`odrf.fits.chunks`), on
the workers of a cluster, too (`odrf.fits.partitions`).  `odrf.fits.files` describes the format of
files, and how to read one without the package.
"""
