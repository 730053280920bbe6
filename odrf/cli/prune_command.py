"""``odrf prune``: the pruning path of a saved fit, and the fit pruned."""

from __future__ import annotations

import inspect
from argparse import Namespace
from pathlib import Path
from typing import Any

from odrf import load
from odrf.cli.as_json import records, show_json
from odrf.cli.command import (
    Command,
    CommandParser,
    add_json,
    add_plot,
    add_save,
    add_seed,
    add_settings,
    command_parser,
)
from odrf.cli.fitting import check_save, described, save_to, with_seed
from odrf.cli.messages import show
from odrf.cli.plotting import check_plot, plot_to
from odrf.cli.set_options import read_options
from odrf.cli.table_files import FORMATS, columns_of_text, read_table
from odrf.cli.targets import check_targets
from odrf.errors import InputError

__all__ = ["PRUNE"]


def _parser(name: str) -> CommandParser:
    made = command_parser(
        name,
        "Print the pruning path of a saved tree or forest; with --rule, --alpha or --leaves prune "
        "it. To prune from the largest tree, fit it with --set alpha=none.",
        "odrf prune tree.odrf --rule 1se --save pruned.odrf",
    )
    made.add_argument("fit", type=Path, metavar="MODEL", help="the file of the fit, from --save")
    size = made.add_mutually_exclusive_group()
    size.add_argument(
        "--rule",
        choices=["min", "1se", "oob"],
        help="prune by held-out errors: the smallest, the smallest size within one standard error "
        "of it, or for a forest each tree by its own rows out of bag",
    )
    size.add_argument("--alpha", type=float, help="prune at this complexity parameter")
    size.add_argument("--leaves", type=int, metavar="N", help="prune a tree to N leaves")
    made.add_argument(
        "--newdata",
        type=Path,
        metavar="TABLE",
        help="evaluate the subtrees of a tree on the rows of TABLE, in place of folds",
    )
    made.add_argument("--format", choices=FORMATS, help="format of TABLE")
    add_settings(made, "pruning_path(), such as cv=5", "an option of")
    add_seed(made)
    add_save(made, "the pruned fit")
    add_plot(made)
    add_json(made)
    return made


def _run(options: Namespace) -> None:
    choice = {name: getattr(options, name) for name in ("alpha", "leaves", "rule")}
    choice = {name: value for name, value in choice.items() if value is not None}
    if options.save is not None and not choice:
        raise InputError("--save needs --rule, --alpha or --leaves: say how to prune")
    check_targets({"--plot": options.plot, "--save": options.save}, [options.fit, options.newdata])
    check_save(options)
    check_plot(options.plot)
    fit = load(options.fit)
    _check_kind(fit, options)
    path = _path(fit, options)
    pruned = fit.prune(**choice, path=path, progress=options.progress) if choice else None
    if pruned is not None:
        save_to(options.save, pruned, options.without_data)
    if options.json:
        files = {"save": options.save, "plot": options.plot}
        chosen = None if pruned is None else {**choice, **described(pruned)}
        show_json("prune", {"path": records(path.table), "pruned": chosen, "files": files})
    else:
        show(path.summary())
        if pruned is not None:
            show(pruned.summary())
    plot_to(options.plot, path.plot)


def _check_kind(fit: Any, options: Namespace) -> None:
    """Raise `InputError` if an option is for one tree, and the fit is a forest."""
    for name, method in (("leaves", "prune"), ("newdata", "pruning_path")):
        taking = getattr(type(fit), method, None)
        if getattr(options, name) is None or taking is None:
            continue
        if name not in inspect.signature(taking).parameters:
            raise InputError(
                f"--{name} is for one tree, and {options.fit} is a forest: use --rule or --alpha"
            )


def _path(fit: Any, options: Namespace) -> Any:
    """Return the pruning path of the fit."""
    try:
        pruning_path = fit.pruning_path
    except AttributeError as error:  # some kinds of fits have none; the message says why
        raise InputError(f"{options.fit}: {error}") from None
    settings = with_seed(read_options(options.settings, [pruning_path]), options.seed)
    if options.newdata is not None:
        settings["newdata"] = read_table(options.newdata, options.format, columns_of_text(fit))
    return pruning_path(**settings, progress=options.progress)


PRUNE = Command(_parser, _run)
