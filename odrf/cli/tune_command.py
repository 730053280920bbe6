"""``odrf tune``: combinations of options, by their errors."""

from __future__ import annotations

from argparse import Namespace

import odrf
from odrf.cli.as_json import records, show_json
from odrf.cli.command import (
    Command,
    CommandParser,
    add_formula,
    add_json,
    add_plot,
    add_save,
    add_seed,
    add_settings,
    add_table,
    command_parser,
)
from odrf.cli.fitting import check_save, save_to, with_seed
from odrf.cli.functions_called import KINDS_OF_FITS
from odrf.cli.messages import show
from odrf.cli.outside_formulas import require_harmless, without_names
from odrf.cli.plotting import check_plot, plot_to
from odrf.cli.set_options import read_grid, read_options
from odrf.cli.table_files import read_table
from odrf.cli.targets import check_targets
from odrf.errors import InputError

__all__ = ["TUNE"]


def _parser(name: str) -> CommandParser:
    made = command_parser(
        name,
        "Try all combinations of options, and print their errors.",
        'odrf tune "y ~ ." table.csv --grid min_leaf=2,5,10 --grid projection=axis,logistic',
    )
    add_formula(made)
    add_table(made)
    made.add_argument(
        "--model", choices=list(KINDS_OF_FITS), default="forest", help="default: %(default)s"
    )
    made.add_argument(
        "--grid",
        action="append",
        default=[],
        metavar="NAME=V1,V2,…",
        help="values to try of an option of the model, as often as needed",
    )
    add_settings(made, "tune(), such as method=cv, or of all candidates", "an option of")
    add_seed(made)
    add_save(made, "the best fit")
    add_plot(made)
    add_json(made)
    return made


def _run(options: Namespace) -> None:
    check_targets({"--plot": options.plot, "--save": options.save}, [options.table])
    check_save(options)
    check_plot(options.plot)
    if not options.grid:
        raise InputError("--grid is missing: give values to try, as in --grid min_leaf=2,5,10")
    model = KINDS_OF_FITS[options.model]
    settings = with_seed(read_options(options.settings, [odrf.tune, model]), options.seed)
    grid = read_grid(options.grid, [model])
    data = read_table(options.table, options.format)
    require_harmless(options.formula, data)
    tuning = without_names(
        odrf.tune,
        *(options.formula, data, grid),
        **{"model": model, **settings, "progress": options.progress},
    )
    if options.save is not None:
        best = tuning.best(progress=options.progress)
        save_to(options.save, best, options.without_data)
    if options.json:
        content = {
            "formula": options.formula,
            "model": options.model,
            "metric": tuning.metric.name,
            "seed": tuning.seed,
            "best_options": tuning.best_options,
            "table": records(tuning.table),
        }
        show_json("tune", {**content, "files": {"save": options.save, "plot": options.plot}})
    else:
        show(tuning.summary())
    plot_to(options.plot, tuning.plot)


TUNE = Command(_parser, _run)
