"""The command ``odrf``: fits a forest or a tree, and writes a summary, a plot and predictions."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
from matplotlib.backend_bases import FigureCanvasBase
from patsy import EvalEnvironment

from odrf import __version__, odrf, odt
from odrf.api.warming import compile_beforehand
from odrf.design import build_design
from odrf.design.columns.frame import check_frame
from odrf.design.formulas.formula import read_formula
from odrf.design.formulas.lookup import looked_up_in
from odrf.design.formulas.trusted import require_trusted
from odrf.errors import InputError, allowed
from odrf.results import ODRFResults, ODTResults

__all__ = ["main"]

OF_CLASSES = ("class", "prob")
COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip", ".zst")
READER_LEFT = 1
BAD_INPUT = 2
INTERRUPTED = 130
# Functions in a formula are looked up here: none beside those of the package.
NO_NAMES = EvalEnvironment([{}])

Results = ODTResults | ODRFResults


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the command's name; by default those of the process.

    Returns
    -------
    int
        Exit status: 0 for success; 2 for bad input, with a message on stderr; 1 if the reader of
        the summary closed the pipe before its end, as ``head`` does; 130 if interrupted by Ctrl-C.

    Raises
    ------
    SystemExit
        With status 2 for arguments that cannot be parsed, and status 0 after ``--help``.

    Examples
    --------
    >>> from odrf.cli import main
    >>> main(["y ~ .", "no-such-table.csv"])
    2
    """
    options = _parser().parse_args(argv)
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            _run(options)
        except BrokenPipeError:  # as after "| head"; without this, flushing at exit fails again
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return READER_LEFT
        except OSError as error:
            return _refuse(f"{error.filename}: {error.strerror}" if error.filename else str(error))
        except InputError as error:
            return _refuse(str(error))
        except KeyboardInterrupt:
            _report("interrupted")
            return INTERRUPTED
    return 0


class _Warm(argparse.Action):
    """``--warm``, which needs no formula and no table."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        """Compile, and exit."""
        compile_beforehand()
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="odrf",
        description="Fit an oblique forest, or one oblique tree, and print its summary.",
        epilog='example: odrf "diagnosis ~ ." breast_cancer.csv --plot forest.png',
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument(
        "--warm",
        action=_Warm,
        nargs=0,
        help="compile what trees and forests need, and exit; else the first fits do, for minutes "
        "in all",
    )
    parser.add_argument(
        "formula",
        help='the model, such as "y ~ ." or "log(y) ~ a + b"; it may use the functions of the '
        "package and the arithmetic of NumPy, no other code",
    )
    parser.add_argument("table", type=Path, help=".csv, .tsv (also compressed) or .parquet")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--tree", action="store_true", help="fit one tree, no forest")
    size.add_argument("--trees", type=int, default=500, metavar="N", help="default: %(default)s")
    parser.add_argument(
        "--kind",
        choices=["auto", "regression", "classification"],
        default="auto",
        help="kind of model (default: by the type of the response's column)",
    )
    parser.add_argument(
        "--missing",
        choices=["split", "surrogate", "median", "drop", "raise"],
        default="split",
        help="missing values: keep them, keep them by surrogate splits (with --tree), fill by "
        "medians, drop rows, or an error (default: %(default)s)",
    )
    parser.add_argument("--seed", type=int, metavar="N", help="makes the fit reproducible")
    parser.add_argument("--progress", action="store_true", help="show a progress bar for a forest")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a plot to FILE (.png, …)")
    parser.add_argument("--predict", type=Path, metavar="TABLE", help="predict the rows of TABLE")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write predictions to FILE (csv)")
    parser.add_argument(
        "--type",
        choices=["response", "class", "prob", "leaf", "trees"],
        help="what to predict (default: the response; for classes also their probabilities)",
    )
    return parser


def _run(options: argparse.Namespace) -> None:
    _check(options)
    data = _read_table(options.table)
    new = None if options.predict is None else _read_table(options.predict)
    with looked_up_in(NO_NAMES):
        _try_design(options, data, new)
        fit = _fit(options, data)
    print(fit.summary(), flush=True)
    if options.plot is not None:
        _write_plot(fit, options.plot)
        _report(f"wrote the plot to {options.plot}")
    if new is not None:
        predictions = _predictions(fit, new, options.type)
        predictions.to_csv(options.out, index_label="row")
        _report(f"wrote predictions of {len(predictions)} rows to {options.out}")


def _check(options: argparse.Namespace) -> None:
    """Raise `InputError` before fitting, if writing the results is bound to fail."""
    if (options.predict is None) != (options.out is None):
        raise InputError("--predict TABLE and --out FILE need each other: give both or neither")
    if options.type is not None and options.predict is None:
        raise InputError("--type needs --predict TABLE and --out FILE: give them, too")
    read = [path for path in (options.table, options.predict) if path is not None]
    for option, target in (("--plot", options.plot), ("--out", options.out)):
        if target is not None:
            _check_target(option, target, read)
            read.append(target)
    formats = FigureCanvasBase.get_supported_filetypes()
    if options.plot is not None and options.plot.suffix.removeprefix(".").lower() not in formats:
        raise allowed("the ending of --plot", options.plot.suffix, [f".{name}" for name in formats])
    if options.out is not None and _ending(options.out) == ".parquet":
        raise InputError(f"--out {options.out}: predictions are written as csv: use another ending")


def _check_target(option: str, target: Path, others: Sequence[Path]) -> None:
    """Raise `InputError` if a file cannot be written, or is one of the `others`."""
    if not target.parent.is_dir():
        raise InputError(f"{target}: there is no folder {target.parent}: create it first")
    if target.is_dir():
        raise InputError(f"{option} {target} is a folder: name a file in it")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise InputError(f"{option} {target} may not be written: use another file or folder")
    for other in others:
        if target.resolve() == other.resolve() or (
            target.exists() and other.exists() and target.samefile(other)
        ):
            raise InputError(
                f"{option} {target} is the same file as {other}, which would be lost: use another "
                "name"
            )


def _try_design(options: argparse.Namespace, data: pd.DataFrame, new: pd.DataFrame | None) -> None:
    """Raise `InputError` before fitting, if formula and tables do not go together."""
    check_frame(data)
    require_trusted(read_formula(options.formula, list(data.columns), NO_NAMES))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit will say it
        design, _ = build_design(
            options.formula, data, kind=options.kind, missing=options.missing, env=NO_NAMES
        )
    if new is not None:
        design.matrix(new)
    if options.type in OF_CLASSES and design.response.classes is None:
        raise InputError(f"--type {options.type} needs classes, and the response is a number")


def _ending(path: Path) -> str:
    return Path(path.stem if path.suffix in COMPRESSIONS else path.name).suffix


def _read_table(path: Path) -> pd.DataFrame:
    """Read a table; its rows are numbered from 1."""
    ending = _ending(path)
    try:
        if ending == ".parquet":
            table = pd.read_parquet(path)
        else:
            table = pd.read_csv(path, sep="\t" if ending == ".tsv" else ",")
    except Exception as error:  # whatever the readers of damaged files raise
        if isinstance(error, OSError) and error.filename:
            raise
        raise InputError(f"{path} cannot be read: {error}") from error
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="row"))


def _fit(options: argparse.Namespace, data: pd.DataFrame) -> Results:
    if options.tree:
        return odt(
            options.formula, data, kind=options.kind, missing=options.missing, seed=options.seed
        )
    return odrf(
        options.formula,
        data,
        n_trees=options.trees,
        kind=options.kind,
        missing=options.missing,
        seed=options.seed,
        progress=options.progress,
    )


def _write_plot(fit: Results, path: Path) -> None:
    matplotlib.use("agg")
    axes = np.ravel(np.asarray(fit.plot(), dtype=object))
    axes[0].figure.savefig(path, dpi=150, bbox_inches="tight")


def _predictions(fit: Results, new: pd.DataFrame, type: str | None) -> pd.DataFrame:
    if type is None and fit.kind == "classification":
        labels = pd.DataFrame({"prediction": fit.predict(new, type="class")})
        return labels.join(fit.predict(new, type="prob").add_prefix("prob_"))
    values = fit.predict(new, type=type or "response")
    return values.to_frame("prediction") if isinstance(values, pd.Series) else values


def _report(message: str) -> None:
    print(f"odrf: {message}", file=sys.stderr)


def _refuse(message: str) -> int:
    _report(f"error: {message}")
    return BAD_INPUT


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    _report(f"warning: {message}")
