"""Random calls of the command `odrf`: it ends with status 0, or 2 and a message."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cases.attempts import Attempts
from cases.case import RESPONSE
from cases.columns import Rng, choice
from cases.formulas import random_formula
from cases.tables import random_columns, random_response
from cases.times import random_times
from odrf.cli import main
from odrf.design.formula import quoted

__all__ = ["A_TABLE", "random_command", "try_commands", "write_random_files"]

FITTING = ["fit", "forest", "tree", "boost", "graf"]
COMMANDS = [*FITTING, *FITTING, "predict", "prune", "compare", "tune", ""]
SETTINGS = [
    *("min_leaf=2", "max_depth=1", "projection=axis", "projection=sparse", "alpha=none"),
    *("missing=drop", "cv=2", "cv=x", "seed=1", "min_leaf=-1", "min_leaf=1e400", "nothing=1", "x"),
    *("=", "", "class_weights=balanced", "class_weights={'u': 1}", "weights=a", "groups=zzz"),
    *("projection={'axis': 0.5", "n_trees=[2]", "interval=prediction", "level=2", "type=prob"),
    *("method=cv", "max_leaves=2", "kind=regression", "honest=true", "quantiles=[0.5]"),
]
FLAGS = [
    *(["--json"], ["--plot", "plot.png"], ["--plot", "plot.nothing"], ["--save", "made.odrf"]),
    *(["--without-data", "--save", "made.odrf"], ["--predict", "table.csv", "--out", "out.csv"]),
    *(["--predict", "absent.csv"], ["--type", "prob", "--predict", "table.csv"], ["--seed", "x"]),
    *(["--out", "no/such/folder.csv", "--predict", "table.csv"], ["--nothing"], ["--help"]),
    *(["--format", "tsv"], ["--load", "model.odrf"], ["--load", "table.csv"], ["--progress"]),
    *(["--sep", ";"], ["--sep", "ab"], ["--decimal", ","], ["--na", "?"], ["--na", ""]),
    *(["--encoding", "latin-1"], ["--encoding", "x"], ["--comment", "#"], ["--na=--"]),
    *(["--rule", "1se"], ["--alpha", "0.1"], ["--leaves", "2"], ["--newdata", "table.csv"]),
]
# How many commands are run on a table.
A_TABLE = 20
BROKEN = [
    *(b"", b"\n", b"a,b\n1", b"\xff\xfe\x00", b"a,a\n1,2\n", b'"a', b"a;b\n1;2\n", b"\0" * 9),
    *(b"# a\nb", b"#", b"\xfe\xff\0a\0,\0b", b"a,a,a\n1,1 000,?\n2,2,3\n", b"a b\n1  2\n"),
]


def write_random_files(rng: Rng, folder: Path) -> str:
    """Write a random table, and a fit if it has one, into the folder; return a formula for it."""
    data = random_columns(rng, bool(rng.random() < 0.25))
    formula = random_formula(rng, RESPONSE, list(data.columns), bool(rng.random() < 0.2))
    response = quoted(RESPONSE)
    if rng.random() < 0.2:
        response, data = random_times(rng, data, bool(rng.random() < 0.15))
        formula = formula.replace(quoted(RESPONSE), response)
    else:
        data[RESPONSE] = random_response(rng, len(data), bool(rng.random() < 0.15))
    with contextlib.suppress(ValueError):  # text that UTF-8 cannot write
        data.to_csv(folder / "table.csv", index=False)
    if rng.random() < 0.05:
        (folder / "table.csv").write_bytes(choice(rng, BROKEN))
    kind = choice(rng, ["tree", "forest", "graf"])
    few = ["--set", "alpha=none" if kind == "tree" else "n_trees=2"]
    table, model = str(folder / "table.csv"), str(folder / "model.odrf")
    _run([kind, f"{response} ~ .", table, "--save", model, *few])
    return formula


def random_command(rng: Rng, formula: str) -> list[str]:
    """Return the words of a command that reads what `write_random_files` has written."""
    name = choice(rng, COMMANDS)
    words = [name] if name else []
    if name in ("predict", "prune"):
        words += ["model.odrf", *(["table.csv"] if name == "predict" else [])]
    else:
        words += [formula, "table.csv"]
    if name == "compare":
        words += ["--model", "tree", "--model", "b=tree max_depth=2", "--set", "cv=2"]
    elif name == "tune":
        words += ["--grid", "min_leaf=2,5", "--set", "n_trees=2"]
    elif name not in ("predict", "prune", "tree"):
        words += ["--set", "n_trees=2"]
    for _ in range(choice(rng, [0, 0, 1, 2])):
        words += ["--set", choice(rng, SETTINGS)]
    for _ in range(choice(rng, [0, 0, 1, 2])):
        words += choice(rng, FLAGS)
    return words


def try_commands(seed: int, show: bool = False) -> Attempts:
    """Run the commands of a seed, on one table, in a folder of its own."""
    rng, tried = np.random.default_rng([seed, 9]), Attempts(show)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            formula = write_random_files(rng, Path(name))
            if show:
                print((Path(name) / "table.csv").read_bytes()[:500])
            for _ in range(A_TABLE):
                _try_command(random_command(rng, formula), tried, show)
        finally:
            os.chdir(here)
            plt.close("all")
    return tried


def _try_command(words: list[str], tried: Attempts, show: bool) -> None:
    """Run a command and write down what is wrong with its end."""
    if show:
        print(words)
    ended = tried.answer(f"odrf {words[0]}", lambda: _run(words))
    if ended is None:
        return
    status, told = ended
    if show:
        print(status, told)
    tried.refused += status == 2
    if status not in (0, 2):
        tried.add(f"odrf {words[0]}: status {status}: {told[-100:]}")
    if status == 2 and len(told) < 20:
        tried.add(f"odrf {words[0]}: refused without words: {told}")
    if "Traceback" in told:
        tried.add(f"odrf {words[0]}: a traceback: {told[-100:]}")


def _run(words: list[str]) -> tuple[int, str]:
    """Return the status of a command, and what it wrote to stderr."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(printed):
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
    told.flush()
    return status, told.buffer.getvalue().decode()
