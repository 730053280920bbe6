"""``odrf fit``, and the same by the kind of fit: ``odrf tree``, ``boost``, ``graf``, ``auto``."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from odrf import load
from odrf.cli.command import (
    Command,
    CommandParser,
    add_formula,
    add_json,
    add_out,
    add_plot,
    add_save,
    add_seed,
    add_settings,
    add_table,
    command_parser,
)
from odrf.cli.fitting import check_files, fit_tables, rows_to_predict, with_seed, write_fit
from odrf.cli.functions_called import KINDS_OF_FITS
from odrf.cli.set_options import read_options
from odrf.cli.table_files import columns_of_text
from odrf.cli.written_predictions import check_type
from odrf.errors import InputError

__all__ = ["FIT"]

ANY = "fit"
WORDS = {
    ANY: "Fit a model, or load one, and print its summary.",
    "forest": "Fit an oblique forest and print its summary.",
    "tree": "Fit one oblique tree and print its summary.",
    "boost": "Fit boosted oblique trees and print their summary.",
    "graf": "Fit a guided forest and print its summary.",
    "auto": "Fit several models, and print a summary of their weighted mean.",
}


def _parser(name: str) -> CommandParser:
    """Return the parser; of `name`, which is ``"fit"`` or a kind of fit."""
    example = f'odrf {name} "y ~ ." table.csv --set min_leaf=5 --save model.odrf'
    made = command_parser(name, WORDS[name], example)
    add_formula(made, nargs="?")
    add_table(made, "the training rows", nargs="?")
    if name == ANY:
        kinds = list(KINDS_OF_FITS)
        made.add_argument("--model", choices=kinds, help="kind of fit (default: forest)")
        made.add_argument(
            "--load", type=Path, metavar="FILE", help="take the fit from FILE, in place of fitting"
        )
    else:
        made.set_defaults(model=name, load=None)
    add_settings(made, "that fits")
    add_seed(made)
    add_save(made)
    add_plot(made)
    made.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    add_out(made, "; needs --predict")
    add_json(made)
    made.set_defaults(command=name)
    return made


def _run(options: Namespace) -> None:
    _check(options)
    check_files(options)
    if options.load is not None:
        fit = load(options.load)
        check_type(options.type, options.times, fit.kind)
        new = rows_to_predict(options, columns_of_text(fit))
    else:
        function = KINDS_OF_FITS[options.model or "forest"]
        settings = with_seed(read_options(options.settings, [function]), options.seed)
        fit, new = fit_tables(function, settings, options)
    write_fit(options.command, fit, new, options)


def _check(options: Namespace) -> None:
    """Raise `InputError` unless there is a formula with a table, or a file, and not both."""
    if options.load is None:
        if options.table is None:
            load = ", or --load FILE" if options.command == ANY else ""
            raise InputError(f'give a formula and a table, as in "y ~ ." table.csv{load}')
        return
    fitting = {"a formula": options.formula, "--set": options.settings, "--seed": options.seed}
    for words, value in {**fitting, "--model": options.model}.items():
        if value not in (None, []):
            raise InputError(f"--load takes a fit as it is: leave {words} out")


FIT = Command(_parser, _run)
