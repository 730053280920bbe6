"""``odrf compare``: models on the same folds."""

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
    add_seed,
    add_settings,
    add_table,
    command_parser,
)
from odrf.cli.fitting import with_seed
from odrf.cli.functions_called import read_model_words
from odrf.cli.messages import show
from odrf.cli.outside_formulas import require_harmless, without_names
from odrf.cli.plotting import check_plot, plot_to
from odrf.cli.set_options import read_options
from odrf.cli.table_files import read_table
from odrf.cli.targets import check_targets
from odrf.errors import InputError

__all__ = ["COMPARE"]


def _parser(name: str) -> CommandParser:
    made = command_parser(
        name,
        "Compare models by cross-validation, all on the same folds.",
        'odrf compare "y ~ ." table.csv --model tree --model "small=tree max_leaves=4" --set cv=5',
    )
    add_formula(made)
    add_table(made)
    made.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[NAME=]KIND …",
        dest="models",
        help="a model, given twice or more: forest, tree, boost, graf or auto, followed by its "
        "options as name=value; formula= gives it a formula of its own",
    )
    add_settings(made, "compare(), such as cv=5", "an option of")
    add_seed(made)
    add_plot(made)
    add_json(made)
    return made


def _run(options: Namespace) -> None:
    check_targets({"--plot": options.plot}, [options.table])
    check_plot(options.plot)
    settings = with_seed(read_options(options.settings, [odrf.compare]), options.seed)
    data = read_table(options.table, options.format)
    require_harmless(options.formula, data)
    models = read_model_words(options.models, data)
    if len(models) < 2:
        raise InputError("--model is needed twice or more, as in --model tree --model forest")
    comparison = without_names(
        odrf.compare, options.formula, data, models, **settings, progress=options.progress
    )
    if options.json:
        content = {
            "formula": options.formula,
            "metric": comparison.metric.name,
            "cv": comparison.cv,
            "repeats": comparison.repeats,
            "seed": comparison.seed,
            "table": records(comparison.table.rename_axis("model")),
            "pairs": records(comparison.pairs),
            "scores": records(comparison.scores),
        }
        show_json("compare", {**content, "files": {"plot": options.plot}})
    else:
        show(comparison.summary())
    plot_to(options.plot, comparison.plot)


COMPARE = Command(_parser, _run)
