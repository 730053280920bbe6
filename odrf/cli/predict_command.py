"""``odrf predict``: the rows of a table, by a saved fit."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from odrf import load
from odrf.cli.as_json import records, show_json
from odrf.cli.command import (
    Command,
    CommandParser,
    add_json,
    add_out,
    add_settings,
    add_table,
    command_parser,
)
from odrf.cli.messages import show
from odrf.cli.set_options import read_options
from odrf.cli.table_files import columns_of_text, read_table
from odrf.cli.targets import check_targets
from odrf.cli.written_predictions import check_type, predicted, times_asked, write_predictions
from odrf.errors import InputError

__all__ = ["PREDICT"]


def _parser(name: str) -> CommandParser:
    made = command_parser(
        name,
        "Predict the rows of a table by a saved fit; write csv to stdout, or to a file.",
        "odrf predict model.odrf new.csv --set interval=prediction --out predictions.csv",
    )
    made.add_argument("fit", type=Path, metavar="MODEL", help="the file of the fit, from --save")
    add_table(made, "the rows to predict")
    add_settings(made, "predict(), such as interval=prediction", "an option of")
    add_out(made, "; by default to stdout")
    add_json(made)
    return made


def _run(options: Namespace) -> None:
    check_targets({"--out": options.out}, [options.fit, options.table])
    fit = load(options.fit)
    settings = read_options(options.settings, [fit.predict])
    times = times_asked(options.times)
    if times and "times" in settings:
        raise InputError("--times and --set times= are the same: leave one of them out")
    settings |= times
    check_type(options.type, options.times, fit.kind)
    new = read_table(options.table, options.format, columns_of_text(fit))
    predictions = predicted(fit, new, options.type, settings, options.progress)
    if options.out is not None:
        write_predictions(predictions, options.out)
    elif not options.json:
        show(predictions.to_csv(), end="")
    if options.json:
        content = {
            "formula": fit.formula,
            "kind": fit.kind,
            "columns": [str(column) for column in predictions.columns],
            "predictions": records(predictions),
        }
        show_json("predict", {**content, "files": {"out": options.out}})


PREDICT = Command(_parser, _run)
