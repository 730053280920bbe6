"""The commands: fit, predict, prune, tune, compare, the short form; what each of them does."""

from __future__ import annotations

import argparse
import inspect
import signal
import sys
import threading
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import odrf
from odrf import load
from odrf.api.warming import compile_beforehand
from odrf.cli.arguments import (
    EXIT_CODES,
    OF_TABLES,
    Command,
    CommandParser,
    add_formula,
    add_options,
    add_out,
    add_save,
    add_settings,
    add_table,
    command_parser,
    table_form,
)
from odrf.cli.files import check_targets, require_one_stdin
from odrf.cli.output import (
    check_kept,
    check_plot,
    check_type,
    flush_results,
    leave_no_rest,
    plot_to,
    predicted,
    records,
    report,
    show,
    show_json,
    summary_parts,
    times_argument,
    write_predictions,
)
from odrf.cli.settings import (
    KINDS_OF_FITS,
    checked_design,
    in_shell_words,
    read_grid,
    read_model_words,
    read_options,
    require_harmless,
    without_names,
)
from odrf.cli.tables import known_texts, read_table
from odrf.design.columns import TEXT, contents
from odrf.errors import InputError
from odrf.loading import INTERRUPTED, end_at_once
from odrf.options.options import TREES
from odrf.version import __version__


def check_files(options: Namespace) -> None:
    """Raise `InputError` before fitting, if writing the results is bound to fail."""
    if (options.predict is None) != (options.out is None):
        raise InputError("--predict TABLE and --out FILE need each other: give both or neither")
    if options.type is not None and options.predict is None:
        raise InputError("--type needs --predict TABLE and --out FILE: give them, too")
    if options.times is not None and options.predict is None:
        raise InputError("--times needs --predict TABLE and --out FILE: give them, too")
    if options.keep and options.predict is None:
        raise InputError("--keep needs --predict TABLE and --out FILE: give them, too")
    times_argument(options.times)
    require_one_stdin(options.table, options.predict)
    targets = {"--plot": options.plot, "--out": options.out, "--save": options.save}
    check_targets(targets, [options.table, options.predict, options.load])
    check_save(options)
    check_plot(options.plot)


def fit_tables(
    function: Callable[..., Any], settings: Mapping[str, Any], options: Namespace
) -> tuple[Any, pd.DataFrame | None]:
    """Return the fit, and the rows to predict; what can fail before the fit, fails before it."""
    data = read_table(options.table, table_form(options))
    new = rows_to_predict(
        options, [str(name) for name, column in data.items() if contents(column) == TEXT]
    )
    if new is None:
        require_harmless(options.formula, data)
    else:
        design = checked_design(options.formula, data, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the predictions will say it
            without_names(design.matrix, new)
        check_type(options.type, options.times, design.response.kind)
    fit = without_names(function, options.formula, data, **settings, progress=options.progress)
    return fit, new


def rows_to_predict(
    options: Namespace, text: Mapping[str, Iterable[str]] | Iterable[str]
) -> pd.DataFrame | None:
    """Return the rows to predict, if there are any; columns named in `text` stay text."""
    if options.predict is None:
        return None
    new = read_table(options.predict, table_form(options), text)
    check_kept(options.keep, new)
    return new


def write_fit(command: str, fit: Any, new: pd.DataFrame | None, options: Namespace) -> None:
    """Save the fit, show its summary, draw it, predict new rows: what the options ask for."""
    save_to(options.save, fit, options.without_data)
    if not options.json:
        show(fit.summary())
    plot_to(options.plot, fit.plot)
    if new is not None:
        times = times_argument(options.times)
        predictions = predicted(fit, new, options.type, times, options.progress, options.keep)
        write_predictions(predictions, options.out)
    if options.json:
        files = {name: getattr(options, name) for name in ("save", "plot", "out")}
        show_json(command, {**described(fit), **summary_parts(fit.summary()), "files": files})


def described(fit: Any) -> dict[str, Any]:
    """Return what identifies a fit."""
    return {
        "formula": fit.formula,
        "kind": fit.kind,
        "classes": fit.design.response.classes,
        "rows": fit.nobs,
        "trees": np.size(fit.n_leaves),
        "leaves": np.atleast_1d(fit.n_leaves),
        "seed": fit.seed,
    }


def check_save(options: Namespace) -> None:
    """Raise `InputError` if an option says how to save, and none to save."""
    if options.without_data and options.save is None:
        raise InputError("--without-data needs --save FILE: give it, too")


def save_to(path: Path | None, fit: Any, without_data: bool) -> None:
    """Save the fit, if that is asked for."""
    if path is not None:
        fit.save(path, data=not without_data)
        report(f"saved the fit to {path}")


def with_seed(settings: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the options with the seed of ``--seed``."""
    if seed is None:
        return settings
    if "seed" in settings:
        raise InputError("--seed and --set seed= are the same: leave one of them out")
    return {**settings, "seed": seed}


ANY = "fit"
WORDS = {
    ANY: "Fit a model, or load one, and print its summary.",
    "forest": "Fit an oblique forest and print its summary.",
    "tree": "Fit one oblique tree and print its summary.",
    "boost": "Fit boosted oblique trees and print their summary.",
    "graf": "Fit a guided forest and print its summary.",
    "auto": "Fit several models, and print a summary of their weighted mean.",
}


def _fit_parser(name: str) -> CommandParser:
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
    add_options(made, "--seed")
    add_save(made)
    add_options(made, "--plot")
    made.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    add_out(made, "; needs --predict")
    add_options(made, "--json")
    made.set_defaults(command=name)
    return made


def _run_fit(options: Namespace) -> None:
    _check(options)
    check_files(options)
    if options.load is not None:
        fit = load(options.load)
        check_type(options.type, options.times, fit.kind)
        new = rows_to_predict(options, known_texts(fit))
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


FIT = Command(_fit_parser, _run_fit)


def _compare_parser(name: str) -> CommandParser:
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
    add_options(made, "--seed", "--plot", "--json")
    return made


def _run_compare(options: Namespace) -> None:
    check_targets({"--plot": options.plot}, [options.table])
    check_plot(options.plot)
    settings = with_seed(read_options(options.settings, [odrf.compare]), options.seed)
    data = read_table(options.table, table_form(options))
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


COMPARE = Command(_compare_parser, _run_compare)


def _tune_parser(name: str) -> CommandParser:
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
    add_options(made, "--seed")
    add_save(made, "the best fit")
    add_options(made, "--plot", "--json")
    return made


def _run_tune(options: Namespace) -> None:
    check_targets({"--plot": options.plot, "--save": options.save}, [options.table])
    check_save(options)
    check_plot(options.plot)
    if not options.grid:
        raise InputError("--grid is missing: give values to try, as in --grid min_leaf=2,5,10")
    model = KINDS_OF_FITS[options.model]
    settings = with_seed(read_options(options.settings, [odrf.tune, model]), options.seed)
    grid = read_grid(options.grid, [model])
    data = read_table(options.table, table_form(options))
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


TUNE = Command(_tune_parser, _run_tune)


def _predict_parser(name: str) -> CommandParser:
    made = command_parser(
        name,
        "Predict the rows of a table by a saved fit; write csv to stdout, or to a file.",
        "odrf predict model.odrf new.csv --set interval=prediction --out predictions.csv",
    )
    made.add_argument("fit", type=Path, metavar="MODEL", help="the file of the fit, from --save")
    add_table(made, "the rows to predict")
    add_settings(made, "predict(), such as interval=prediction", "an option of")
    add_out(made, "; by default to stdout")
    add_options(made, "--json")
    return made


def _run_predict(options: Namespace) -> None:
    check_targets({"--out": options.out}, [options.fit, options.table])
    fit = load(options.fit)
    settings = read_options(options.settings, [fit.predict])
    times = times_argument(options.times)
    if times and "times" in settings:
        raise InputError("--times and --set times= are the same: leave one of them out")
    settings |= times
    check_type(options.type, options.times, fit.kind)
    new = read_table(options.table, table_form(options), known_texts(fit))
    check_kept(options.keep, new)
    predictions = predicted(fit, new, options.type, settings, options.progress, options.keep)
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


PREDICT = Command(_predict_parser, _run_predict)


def _prune_parser(name: str) -> CommandParser:
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
    add_options(made, *OF_TABLES)
    add_settings(made, "pruning_path(), such as cv=5", "an option of")
    add_options(made, "--seed")
    add_save(made, "the pruned fit")
    add_options(made, "--plot", "--json")
    return made


def _run_prune(options: Namespace) -> None:
    choice = {name: getattr(options, name) for name in ("alpha", "leaves", "rule")}
    choice = {name: value for name, value in choice.items() if value is not None}
    if options.save is not None and not choice:
        raise InputError("--save needs --rule, --alpha or --leaves: say how to prune")
    check_targets({"--plot": options.plot, "--save": options.save}, [options.fit, options.newdata])
    check_save(options)
    check_plot(options.plot)
    fit: Any = load(options.fit)  # which is checked
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
        function = getattr(type(fit), method, None)
        if getattr(options, name) is None or function is None:
            continue
        if name not in inspect.signature(function).parameters:
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
        settings["newdata"] = read_table(options.newdata, table_form(options), known_texts(fit))
    return pruning_path(**settings, progress=options.progress)


PRUNE = Command(_prune_parser, _run_prune)
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
    add_options(made, *OF_TABLES)
    size = made.add_mutually_exclusive_group()
    size.add_argument("--tree", action="store_true", help="fit one tree, no forest")
    size.add_argument("--trees", type=int, metavar="N", help=f"default: {TREES}")
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
    add_options(made, "--plot")
    made.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    add_out(made, "")
    return made


def _run_short_form(options: Namespace) -> None:
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


SHORT_FORM = Command(_parser, _run_short_form)
# Arguments for which all other commands, and the short form, have options of their names.
OWN_OPTIONS = (frozenset({"type", "seed"}), frozenset({"type", "seed", "kind", "missing"}))
READER_LEFT = 1
BAD_INPUT = 2
# A signal that ends the process gives this status and its number.
BY_SIGNAL = 128
ENDING = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP
COMMANDS: dict[str, Command] = {
    **dict.fromkeys(("fit", "forest", "tree", "boost", "graf", "auto"), FIT),
    "predict": PREDICT,
    "prune": PRUNE,
    "compare": COMPARE,
    "tune": TUNE,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments, by default those of the process, and return its status.

    This is 0 for success; 2 for bad input, with a message on stderr; 1 if the reader of the output
    closed the pipe before its end, as ``head`` does; 130 if interrupted by Ctrl-C; 143 if ended by
    SIGTERM, as ``kill`` does, and 129 by SIGHUP.  SystemExit is raised with status 2 for arguments
    that cannot be parsed, and with status 0 after ``--help``, ``--version`` and ``--warm``.

    Examples
    --------
    >>> from odrf.cli import main
    >>> main(["y ~ .", "no-such-table.csv"])
    2
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    name = arguments.pop(0) if arguments and arguments[0] in COMMANDS else ""
    own = OWN_OPTIONS[name == ""]

    def refuse(message: str) -> int:
        report(f"error: {in_shell_words(message, own)}")
        return BAD_INPUT

    def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
        report(f"warning: {in_shell_words(str(message), own)}")

    with warnings.catch_warnings(), _signals_raised():
        warnings.showwarning = show_warning
        try:
            _run(name, arguments)
        except BrokenPipeError:
            return READER_LEFT
        except OSError as error:
            return refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except InputError as error:
            return refuse(str(error))
        except MemoryError as error:
            return refuse(str(error) or "there is not enough memory")
        except KeyboardInterrupt:
            report("interrupted")
            return INTERRUPTED
        except _Ended as ended:
            report("terminated")
            return BY_SIGNAL + ended.number
        finally:
            leave_no_rest()
    return 0


def parser_of(name: str) -> CommandParser:
    """Return the parser of a command; of the short form for ``""``."""
    return _command(name).parser(name)


def _command(name: str) -> Command:
    return COMMANDS[name] if name else SHORT_FORM


def _run(name: str, arguments: Sequence[str]) -> None:
    try:
        _command(name).run(parser_of(name).read(arguments))
    finally:
        flush_results()


class _Ended(BaseException):
    """A signal is to end the process."""

    def __init__(self, number: int) -> None:
        self.number = number


@contextmanager
def _signals_raised() -> Iterator[None]:
    """Let signals that end the process raise: files that are not yet whole are then removed.

    What is ignored, as under ``nohup``, stays ignored.  Before and after, while Python starts and
    ends, Ctrl-C ends the process at once.
    """
    numbers = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    main = threading.current_thread() is threading.main_thread()
    if not main:
        numbers = []
    plain = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    at_once = main and signal.getsignal(signal.SIGINT) is end_at_once
    for number in plain:
        signal.signal(number, _raise)
    try:
        if at_once:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    finally:
        if at_once:
            signal.signal(signal.SIGINT, end_at_once)
        for number in plain:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: object) -> None:
    raise _Ended(number)
