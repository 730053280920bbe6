"""Options: as the user gave them, then resolved for the data at hand, then as kernels take them.

Each function has a frozen dataclass of its arguments (`odrf.options.options`, and of the others
`odrf.options.boosting`, `odrf.options.guided`, `odrf.options.stack`), whose method ``checked()``
has the checks that need no data.  With the data it becomes a dataclass of resolved options, which
holds the numbers for the kernels (`odrf.engine.kernel_params`).  Options that may depend on n,
such as `alpha="1/sqrt(n)"`, are rules (`odrf.options.sizes`).
"""
