"""The command ``odrf``: fits, predictions, pruning, comparisons and tuning of tables in files.

What comes from the command line is text from outside: formulas use the functions of the package and
NumPy's arithmetic, and options are plain values.  Nothing of it is run as code.
"""

from odrf.cli.commands import main

__all__ = ["main"]
