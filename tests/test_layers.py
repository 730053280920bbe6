"""The plan of the package: who may import whom, how large files and folders are, unique names.

And that of the benchmarks: folders by subject, with imports as in the package.
"""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1] / "odrf"
BENCHMARKS = ROOT.parent / "benchmarks"

LINES, LEAST_MODULES, MOST_MODULES, LEVELS, FOLDERS = 900, 4, 25, 2, 40
# The longest chain of imports may not grow.
CHAIN = 57
# What other versions of Numba and llvmlite need not have.
PRIVATE = re.compile(r"(?:from|import) (?:numba\.(?:_|core)|llvmlite)")

# From the bottom up.  A module imports from its own layer or from one below.
LAYERS = (
    ("errors", "loading", "version"),
    ("engine", "checks", "public"),
    ("design", "projections", "pruning"),
    ("options", "text", "datasets"),
    ("statistics", "plots"),
    ("fits", "simulate"),
    ("reports", "exports"),
    ("results",),
    ("api",),
    ("evaluation", "sklearn"),
    ("__init__", "cli"),
    ("__main__",),
)
FLOOR = {package: floor for floor, packages in enumerate(LAYERS) for package in packages}
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in ROOT.rglob("*.py")
}


@cache
def trees() -> dict[str, ast.Module]:
    """Return the parsed modules."""
    return {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in FILES.items()}


@cache
def is_list(module: str) -> bool:
    """Return whether a package only lists its modules, which are imported when first used."""
    return module.endswith("__init__") and "modules_of" in FILES[module].read_text()


def used_of_lists(module: str) -> set[str]:
    """Return the modules that a module uses by the name of their package, as ``reports.curves``."""
    names = (ast.unparse(n) for n in ast.walk(trees()[module]) if isinstance(n, ast.Attribute))
    return {
        name for name in names if name in FILES and is_list(f"{name.rpartition('.')[0]}.__init__")
    }


def imported(module: str) -> set[str]:
    """Return the modules of the package that a module imports, at first use and for types too."""
    if is_list(module):
        return set()
    found = used_of_lists(module)
    for node in ast.walk(trees()[module]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "odrf":
            package = node.module.partition(".")[2]
            for alias in node.names:
                name = f"{package}.{alias.name}".lstrip(".")
                names = [name, f"{name}.__init__", package, f"{package}.__init__"]
                found.add(next((name for name in names if name in FILES), "__init__"))
    return {name for name in found - {module} if not is_list(name)}


@cache
def arrows() -> dict[str, set[str]]:
    """Return which modules each module imports."""
    return {module: imported(module) for module in FILES}


def room(module: str) -> str:
    return module.split(".")[0]


def test_every_module_belongs_to_a_layer():
    assert {room(module) for module in FILES} == set(FLOOR)


def test_no_arrow_goes_up():
    up = [
        f"{module} -> {other}"
        for module, others in arrows().items()
        for other in others
        if FLOOR[room(other)] > FLOOR[room(module)]
    ]
    assert not up


def test_there_is_no_circle_of_modules_or_of_packages():
    TopologicalSorter(arrows()).prepare()
    packages = defaultdict(set)
    for module, others in arrows().items():
        packages[room(module)] |= {room(other) for other in others} - {room(module)}
    TopologicalSorter(packages).prepare()
    number = sum(map(len, packages.values()))
    print(f"{len(packages)} packages and modules at the top, {number} arrows between them")


def folders() -> Counter[str]:
    """Return the number of modules of each folder, without the files that make it a package."""
    return Counter(module.rpartition(".")[0] for module in FILES if not module.endswith("__init__"))


def test_folders_are_few_none_is_crowded_nearly_empty_or_deep():
    modules = folders()
    assert len(modules) <= FOLDERS
    crowded = {name: number for name, number in modules.items() if number > MOST_MODULES}
    small = {name for name, number in modules.items() if number < LEAST_MODULES}
    assert not crowded
    assert not small
    assert max(name.count(".") + 1 for name in modules if name) <= LEVELS


def test_no_file_is_long():
    lengths = {module: len(path.read_text().splitlines()) for module, path in FILES.items()}
    assert max(lengths.values()) <= LINES, max(lengths, key=lengths.__getitem__)


def test_the_longest_chain_of_imports_does_not_grow():
    chain: dict[str, int] = {}
    for module in TopologicalSorter(arrows()).static_order():
        chain[module] = 1 + max((chain[other] for other in arrows()[module]), default=0)
    assert max(chain.values()) <= CHAIN


def test_names_of_public_classes_are_unique():
    names = defaultdict(list)
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                names[node.name].append(module)
    assert not {name: modules for name, modules in names.items() if len(modules) > 1}


def test_no_module_is_loaded_by_its_name_from_above():
    up = []
    for module, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and re.fullmatch(r"odrf(\.\w+)+", str(node.value)):
                other = node.value.partition(".")[2]
                if room(other) in FLOOR and FLOOR[room(other)] > FLOOR[room(module)]:
                    up.append(f"{module} -> {other}")
    assert not up


def test_what_is_private_of_numba_is_in_two_files_and_its_versions_are_bounded():
    private = [module for module, path in FILES.items() if PRIVATE.search(path.read_text())]
    assert len(private) <= 2, private
    settings = (ROOT.parent / "pyproject.toml").read_text(encoding="utf-8")
    assert re.search(r'"numba>=[\d.]+,<[\d.]+"', settings)


def scripts(folder: Path) -> list[Path]:
    """Return the files of Python in the folders of a folder."""
    return [path for path in folder.rglob("*.py") if path.parent != folder]


def test_benchmarks_lie_in_folders_by_subject_of_which_none_is_crowded():
    assert [path.name for path in BENCHMARKS.iterdir() if path.is_file()] == ["__init__.py"]
    files = Counter(path.parent for path in scripts(BENCHMARKS))
    assert {path.parent for path in files} == {BENCHMARKS}
    assert max(files.values()) <= 20, files.most_common(3)


def test_packages_of_the_benchmarks_import_nothing_where_workers_lack_this_one():
    for path in BENCHMARKS.rglob("__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert ast.get_docstring(tree), path
        assert len(tree.body) == 1, path


def test_a_script_of_the_benchmarks_is_known_by_its_name():
    names = Counter(path.stem for path in scripts(BENCHMARKS) if path.stem != "__init__")
    assert max(names.values()) == 1, names.most_common(3)


def test_there_is_no_circle_of_subjects_of_the_benchmarks():
    subjects = defaultdict(set)
    for path in scripts(BENCHMARKS):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("benchmarks."):
                subjects[path.parent.name].add(node.module.split(".")[1])
    TopologicalSorter(
        {subject: others - {subject} for subject, others in subjects.items()}
    ).prepare()
    assert subjects["shared"] == {"shared"}


def test_tests_of_benchmarks_lie_in_folders_of_the_same_subjects():
    tests = {path.stem: path.parent.name for path in scripts(ROOT.parent / "tests/benchmarks")}
    of_scripts = {f"test_{path.stem}": path.parent.name for path in scripts(BENCHMARKS)}
    assert set(tests.values()) <= set(of_scripts.values())
    both = tests.keys() & of_scripts.keys()
    assert {name: tests[name] for name in both} == {name: of_scripts[name] for name in both}
