"""Options: as the user gave them, and checked and resolved for the data at hand.

What a call says is a request (`odrf.options.options`), checked row by row of one table
(`odrf.options.table`).  The data decide the rest: the request becomes options that are frozen
(`odrf.options.tree`, `odrf.options.boosting`, `odrf.options.guided`, `odrf.options.stack`), and
numbers for the kernels (`odrf.engine.kernel_params`).  Options that may depend on n, such as
`alpha="1/sqrt(n)"`, are rules (`odrf.options.sizes`).
"""
