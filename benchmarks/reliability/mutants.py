"""Small changes of the code that the tests should notice: which of a random sample they do not.

    python -m benchmarks.reliability.mutants --out mutants.csv --number 30 --seed 1
    python -m benchmarks.reliability.mutants --out mutants.csv --again  # those that survived

The changes are those of cosmic-ray: an operator, a comparison, a number or a constant is replaced,
a decorator is removed, a loop is not entered.  For each area the sample is drawn from all changes
of its modules, but not of kernels, which have twins, nor of types.  A change is made in memory, in
a process of its own, and the tests of the area run until one fails: the mutant is `killed`, or
`endless` beyond the time limit; else it `survived`, and ``reason`` says why if nothing could tell.
``first`` is what became of it before tests were added for it, when the sample of the ``seed`` was
drawn: only that is an estimate for changes that were not drawn.  A later run with the same file
does what is missing.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import random
import signal
import time
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

ROOT = Path(__file__).parents[2]
COLUMNS = [
    "area", "file", "line", "operator", "occurrence", "change", "seed", "first", "outcome",
    "reason",
]  # fmt: skip
KEY = ["file", "operator", "occurrence"]
# Other people's packages that the tests import: loaded once, before processes are forked.
LOADED = ["numpy", "pandas", "numba", "scipy.stats", "matplotlib.pyplot", "hypothesis", "patsy"]
COMPILED = {"kernel", "inlined", "part", "merged", "summing", "allocating", "njit", "overload"}


class Area(NamedTuple):
    """What is changed, and the tests that should notice, after those named like the module."""

    modules: list[str]
    tests: list[str]


AREAS = {
    "pruning": Area(["odrf/pruning"], ["tests/pruning", "tests/reports/test_paths.py"]),
    "design": Area(["odrf/design"], ["tests/design", "tests/test_kinds_of_columns.py"]),
    "options": Area(["odrf/options"], ["tests/options", "tests/api"]),
    "saving": Area(["odrf/fits/files"], ["tests/fits/files", "tests/fits/kept"]),
    "intervals": Area(
        ["odrf/fits/intervals.py", "odrf/fits/effects.py", "odrf/statistics/jackknife.py",
         "odrf/statistics/effects.py", "odrf/statistics/conformal.py"],
        ["tests/fits/test_intervals.py", "tests/reports/test_effects.py", "tests/statistics",
         "tests/results/test_effects.py"],
    ),
}  # fmt: skip


class Mutant(NamedTuple):
    """One change: the given occurrence of an operator of cosmic-ray in a file."""

    area: str
    file: str
    line: int
    operator: str
    occurrence: int


def main() -> None:
    """Try a sample of mutants that the csv does not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("mutants.csv"))
    parser.add_argument("--areas", nargs="*", choices=AREAS, default=list(AREAS))
    parser.add_argument("--number", type=int, default=40, help="mutants of each area")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=300, help="seconds for a mutant")
    parser.add_argument("--again", action="store_true", help="only those that survived")
    options = parser.parse_args()
    os.chdir(ROOT)
    for name in LOADED:
        importlib.import_module(name)
    done = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame(columns=COLUMNS)
    if options.again:
        of_area = done["area"].isin(options.areas)
        tried = done[of_area & (done["outcome"] == "survived") & done["reason"].isna()]
        todo = [Mutant(*row) for row in tried[list(Mutant._fields)].itertuples(index=False)]
    else:
        todo = [one for area in options.areas for one in sample(area, options.number, options.seed)]
        known = set(done[KEY].itertuples(index=False, name=None))
        todo = [one for one in todo if (one.file, one.operator, one.occurrence) not in known]
    for mutant in todo:
        source = Path(mutant.file).read_text(encoding="utf-8")
        changed = mutated(source, mutant)
        start = time.perf_counter()
        outcome = tried_on(Path(mutant.file), changed, tests_of(mutant), options.limit)
        same = (done[KEY] == [mutant.file, mutant.operator, mutant.occurrence]).all(axis=1)
        known_as = (options.seed, outcome)
        seed, first = done.loc[same, ["seed", "first"]].iloc[0] if same.any() else known_as
        line = [*mutant, difference(source, changed), seed, first, outcome, None]
        seconds = time.perf_counter() - start
        print(f"{outcome:9} {seconds:5.1f} s  {mutant.file}:{mutant.line}  {line[5]}", flush=True)
        done = pd.concat([done[~same], pd.DataFrame([line], columns=COLUMNS)], ignore_index=True)
        done.sort_values(["area", "file", "line", "operator"]).to_csv(options.out, index=False)


def sample(area: str, number: int, seed: int) -> list[Mutant]:
    """Draw mutants of an area, each with the same probability."""
    paths = [Path(module) for module in AREAS[area].modules]
    files = [file for path in paths for file in sorted(path.rglob("*.py")) or [path]]
    every = [mutant for file in files for mutant in mutants_of(area, file)]
    random.Random(f"{seed} {area}").shuffle(every)
    return list(islice(filter(_is_code, every), number))


def _is_code(mutant: Mutant) -> bool:
    """Whether the changed text can be compiled."""
    try:
        ast.parse(mutated(Path(mutant.file).read_text(encoding="utf-8"), mutant))
    except SyntaxError:
        return False
    return True


def mutants_of(area: str, file: Path) -> Iterator[Mutant]:
    """List all changes of a file, but for kernels and types."""
    from cosmic_ray.ast import ast_nodes, get_ast  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator, operator_names  # noqa: PLC0415

    source = file.read_text(encoding="utf-8")
    tree, excluded = get_ast(source), set(lines_left_out(source))
    for name in sorted(operator_names()):
        if get_operator(name).arguments():
            continue
        operator, occurrence = get_operator(name)(), 0
        for node in ast_nodes(tree):
            for (line, column), _ in operator.mutation_positions(node):
                if not excluded & {line, (line, column)}:
                    yield Mutant(area, str(file), line, name, occurrence)
                occurrence += 1


def lines_left_out(source: str) -> Iterator[int | tuple[int, int]]:
    """Yield the lines of kernels, and the places (line, column) of annotations."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and COMPILED & set(map(_name, node.decorator_list)):
            yield from range(node.decorator_list[0].lineno, (node.end_lineno or node.lineno) + 1)
        kinds = [getattr(node, "annotation", None), getattr(node, "returns", None)]
        for kind in kinds:
            if isinstance(kind, ast.expr):
                for line in range(kind.lineno, (kind.end_lineno or kind.lineno) + 1):
                    last = kind.end_col_offset or 0
                    yield from ((line, column) for column in range(kind.col_offset, last))


def _name(decorator: ast.expr) -> str:
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return called.id if isinstance(called, ast.Name) else ""


def mutated(source: str, mutant: Mutant) -> str:
    """Return the source with the change."""
    from cosmic_ray.mutating import mutate_code  # noqa: PLC0415
    from cosmic_ray.plugins import get_operator  # noqa: PLC0415

    changed: str = mutate_code(source, get_operator(mutant.operator)(), mutant.occurrence)
    return changed


def difference(source: str, changed: str) -> str:
    """Return the first line that differs, as it is and as it was changed."""
    pairs = zip(source.splitlines(), changed.splitlines(), strict=False)
    old, new = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    return f"{old.strip()} → {new.strip()}"


def tests_of(mutant: Mutant) -> list[str]:
    """Return the tests to run: those named after the module, then those of the area."""
    named = sorted(str(path) for path in Path("tests").rglob(f"test_{Path(mutant.file).stem}.py"))
    return [*named, *(test for test in AREAS[mutant.area].tests if Path(test).exists())]


def tried_on(file: Path, changed: str, tests: list[str], limit: float) -> str:
    """Run the tests in a process of its own, where the file has the changed text."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        _run(file.resolve(), changed, tests)
    os.setpgid(child, child)  # whoever comes first
    end = time.monotonic() + limit
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return "survived" if status == 0 else "killed"
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "endless"


def _run(file: Path, changed: str, tests: list[str]) -> None:
    """Run the tests in this process with the changed text of a file, and end it."""
    import pytest  # noqa: PLC0415

    as_it_is = SourceFileLoader.get_code

    def code_of(loader: SourceFileLoader, name: str) -> Any:
        if Path(loader.path).resolve() == file:
            return compile(changed, str(file), "exec", dont_inherit=True)
        return as_it_is(loader, name)

    SourceFileLoader.get_code = code_of  # type: ignore
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    status = 1
    try:
        always = ["-x", "-q", "-n0", "-p", "no:cacheprovider", "--hypothesis-seed=0"]
        status = int(pytest.main([*always, *tests]))
    finally:
        os._exit(status)


if __name__ == "__main__":
    main()
