"""The short form, without a command's name: ``odrf "y ~ ." table.csv``."""

from __future__ import annotations

import argparse
from argparse import Namespace
from pathlib import Path
from typing import Any

from odrf.api.warming import compile_beforehand
from odrf.cli.command import (
    EXIT_CODES,
    Command,
    CommandParser,
    add_format,
    add_formula,
    add_out,
    add_plot,
)
from odrf.cli.fitting import check_files, fit_tables, write_fit
from odrf.cli.functions_called import KINDS_OF_FITS
from odrf.version import __version__

__all__ = ["SHORT_FORM"]

# What the short form has no option for.
WITHOUT = {"save": None, "load": None, "without_data": False, "json": False}

EPILOG = f"""\
example:
  odrf "diagnosis ~ ." breast_cancer.csv --plot forest.png

commands, each with its own --help:
  odrf fit      fit a forest, with all its options; save it, draw it, predict
  odrf forest | tree | boost | graf | auto
                the same for a forest, one tree, boosted trees, a guided forest, several
                models together
  odrf predict  predict the rows of a table by a saved fit
  odrf prune    show the pruning path of a saved fit, and prune it
  odrf compare  compare models by cross-validation on the same folds
  odrf tune     try combinations of options

{EXIT_CODES}
"""


class _Warm(argparse.Action):
    """``--warm``, which needs no formula and no table."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Compile, and exit."""
        compile_beforehand()
        parser.exit()


def _parser(_: str) -> CommandParser:
    made = CommandParser(
        prog="odrf",
        description="Fit an oblique forest, or one oblique tree, and print its summary.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    made.add_argument(
        "--warm",
        action=_Warm,
        nargs=0,
        help="compile what trees and forests need, and exit; else the first fits do, for minutes "
        "in all",
    )
    add_formula(made)
    made.add_argument("table", type=Path, help=".csv, .tsv (also compressed), .parquet, or -")
    add_format(made)
    size = made.add_mutually_exclusive_group()
    size.add_argument("--tree", action="store_true", help="fit one tree, no forest")
    size.add_argument("--trees", type=int, default=500, metavar="N", help="default: %(default)s")
    made.add_argument(
        "--kind",
        choices=["auto", "regression", "classification"],
        default="auto",
        help="kind of model (default: by the type of the response's column)",
    )
    made.add_argument(
        "--missing",
        choices=["split", "surrogate", "median", "drop", "raise"],
        default="split",
        help="missing values: keep them, keep them by surrogate splits (with --tree), fill by "
        "medians, drop rows, or an error (default: %(default)s)",
    )
    made.add_argument("--seed", type=int, metavar="N", help="makes the fit reproducible")
    made.add_argument("--progress", action="store_true", help="show a progress bar for a forest")
    add_plot(made)
    made.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    add_out(made, "")
    return made


def _run(options: Namespace) -> None:
    options = Namespace(**WITHOUT, **vars(options))
    check_files(options)
    settings = {"kind": options.kind, "missing": options.missing, "seed": options.seed}
    if options.tree:
        options.progress = False  # as the option says: a bar is for a forest
    else:
        settings["n_trees"] = options.trees
    function = KINDS_OF_FITS["tree" if options.tree else "forest"]
    fit, new = fit_tables(function, settings, options)
    write_fit("odrf", fit, new, options)


SHORT_FORM = Command(_parser, _run)
